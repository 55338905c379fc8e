/* posix_files.c - sends files as the body of an answer */
#include "server/server.h"

#include <errno.h>
#include <unistd.h>

bool pai__files_are_sent(const pai__request *r)
{
  return r->files[0].fd >= 0 || r->files[1].fd >= 0;
}

/* Called for more bytes.  If a file was truncated or a read fails, the
 * connection closes before the announced length, which tells the client. */
static long on_room(void *request, uint64_t at, char *to, size_t max)
{
  const pai__request *r = request;
  const pai__sent_file *f = &r->files[at >= r->files[0].size];
  uint64_t from = f != r->files ? at - r->files[0].size : at,
           left = f->size - from;
  ssize_t n;

  do
    n = pread(f->fd, to, left < max ? (size_t)left : max,
              (off_t)(f->from + from));
  while (n < 0 && errno == EINTR);
  return n > 0 ? (long)n : PAI__READ_BROKEN;
}

pai__payload pai__files_payload(pai__request *r)
{
  return (pai__payload){ .size =
                           (int64_t)(r->files[0].size + r->files[1].size),
                         .read = on_room,
                         .user_data = r };
}

void pai__sent_files_close(pai__request *r)
{
  for (size_t i = 0; i < PAI__SENT_FILES; i++) {
    if (r->files[i].fd >= 0)
      (void)close(r->files[i].fd);
    r->files[i].fd = -1;
  }
}
