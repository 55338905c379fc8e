/* posix_stream.c - sends and receives on a connected socket */
#include "base/os/posix_socket.h"
#include "http/http.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

long pai__http_send(int fd, const char *bytes, size_t len)
{
  ssize_t n;

  do
    n = send(fd, bytes, len, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return errno == EAGAIN ? 0 : -1;
  return (long)n;
}

long pai__http_receive(int fd, char *bytes, size_t size)
{
  ssize_t n;

  do
    n = recv(fd, bytes, size, 0);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return errno == EAGAIN ? 0 : -2;
  return n == 0 ? -1 : (long)n;
}

void pai__http_end(int fd)
{
  pai__socket_end(fd);
}

int pai__http_connect_unix(int *fd, const char *path, pai_error **err)
{
  struct sockaddr_un address;
  unsigned len;
  int folder, rc, error;

  rc = pai__http_open_unix(fd, &address, &len, &folder, path, err);
  if (rc < 0)
    return rc;
  rc = connect(*fd, (struct sockaddr *)&address, len);
  error = errno;
  pai__socket_end(folder);
  rc = rc < 0 ? pai__http_fail_unix(error, path, err)
              : pai__http_check_unix(*fd, path, err);
  if (rc == PAI_OK)
    return rc;
  pai__socket_end(*fd);
  *fd = -1;
  return rc;
}
