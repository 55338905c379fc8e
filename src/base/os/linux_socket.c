/*
 * linux_socket.c - UNIX sockets with paths of any length
 *
 * An address holds about a hundred bytes.  A longer path is reached through
 * its opened folder: /proc/self/fd/N/name.
 */
#define _GNU_SOURCE /* struct ucred, accept4() */

#include "base/os/posix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Opens the folder of a path, and returns the rest of the path in *name. */
static int open_folder(const char *path, const char **name)
{
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  size_t len = slash != NULL ? (size_t)(slash - path) : 0;

  if (slash == NULL || len >= sizeof(folder)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(folder, path, len);
  folder[len] = '\0';
  *name = slash + 1;
  return open(len > 0 ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Makes the address for connect() or bind().  Close *folder, if not -1, after
 * that. */
static int make_address(struct sockaddr_un *address, int *folder,
                        const char *path)
{
  const char *name;
  int len;

  *folder = -1;
  *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
  if (strlen(path) < sizeof(address->sun_path)) {
    memcpy(address->sun_path, path, strlen(path) + 1);
    return 0;
  }
  *folder = open_folder(path, &name);
  if (*folder < 0)
    return -1;
  len = snprintf(address->sun_path, sizeof(address->sun_path),
                 "/proc/self/fd/%d/%s", *folder, name);
  if (len > 0 && (size_t)len < sizeof(address->sun_path))
    return 0;
  (void)close(*folder);
  *folder = -1;
  errno = ENAMETOOLONG;
  return -1;
}

static int new_socket(void)
{
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Closes both and keeps errno; either may be -1. */
static int give_up(int fd, int folder)
{
  int error = errno;

  if (fd >= 0)
    (void)close(fd);
  if (folder >= 0)
    (void)close(folder);
  errno = error;
  return -1;
}

int pai__socket_open(int *fd, void *address, unsigned *len, int *folder,
                     const char *path)
{
  struct sockaddr_un full;

  *fd = -1;
  if (make_address(&full, folder, path) < 0)
    return -1;
  *fd = new_socket();
  if (*fd < 0) {
    (void)give_up(-1, *folder);
    *folder = -1;
    return -1;
  }
  memcpy(address, &full, sizeof(full));
  *len = (unsigned)sizeof(full);
  return 0;
}

void pai__socket_end(int fd)
{
  (void)give_up(fd, -1);
}

int pai__socket_connect(int *fd, const char *path)
{
  struct sockaddr_un address;
  unsigned len;
  int folder;

  if (pai__socket_open(fd, &address, &len, &folder, path) < 0)
    return -1;
  if (connect(*fd, (struct sockaddr *)&address, len) < 0) {
    (void)give_up(*fd, folder);
    *fd = -1;
    return -1;
  }
  pai__socket_end(folder);
  return 0;
}

int pai__socket_listen(int *fd, const char *path, int backlog)
{
  struct sockaddr_un address;
  int folder, rc;

  *fd = -1;
  if (make_address(&address, &folder, path) < 0)
    return -1;
  *fd = new_socket();
  rc = *fd < 0 ? -1 : bind(*fd, (struct sockaddr *)&address, sizeof(address));
  /* Nobody can connect before listen(), so the initial mode does not
   * matter. */
  if (rc == 0 && (chmod(path, 0600) < 0 || listen(*fd, backlog) < 0)) {
    int error = errno;
    (void)unlink(path);
    errno = error;
    rc = -1;
  }
  if (rc < 0) {
    (void)give_up(*fd, folder);
    *fd = -1;
    return -1;
  }
  if (folder >= 0)
    (void)close(folder);
  return 0;
}

int pai__socket_accept(int *fd, int listener)
{
  *fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  return *fd < 0 ? -1 : 0;
}

static int find_peer(struct ucred *peer, int fd)
{
  socklen_t size = sizeof(*peer);

  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size);
}

int pai__socket_peer(unsigned long *user, int fd)
{
  struct ucred peer = { .uid = 0 };
  int rc = find_peer(&peer, fd);

  *user = peer.uid;
  return rc;
}

int pai__socket_peer_process(long *pid, int fd)
{
  struct ucred peer = { .pid = 0 };
  int rc = find_peer(&peer, fd);

  *pid = peer.pid;
  return rc;
}
