/* facade_transfer.c - the files of this machine that a client's calls read and
 * write */
#include "client_shared.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int call_write(void *user_data, const char *bytes, size_t len)
{
  Call *call = user_data;

  return call->dropped ? PAI_ECANCELED : local_add(call->local, bytes, len);
}

ptrdiff_t call_read(void *user_data, uint64_t offset, char *buffer,
                    size_t size)
{
  Call *call = user_data;
  ssize_t n;

  if (call->dropped)
    return PAI_ECANCELED;
  do
    n = pread(call->upload, buffer, size, (off_t)offset);
  while (n < 0 && errno == EINTR);
  return n > 0 ? n : PAI_EIO; /* it has become shorter */
}

void call_end_download(Call *call)
{
  if (call->local == NULL)
    return;
  if (call->status == PAI_OK)
    call->status = local_finish(call->local);
  if (call->status == PAI_EEXISTS) /* these are bytes of an old version */
    local_discard(call->local);
  if (call->status == PAI_EEXISTS && call->message == NULL)
    call->message = strdup("the file was changed while it was downloaded");
  local_close(call->local);
}

void call_close_files(Call *call)
{
  local_free(call->local);
  if (call->upload >= 0)
    (void)close(call->upload);
}
