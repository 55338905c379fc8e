/* posix_socket.h - UNIX sockets, however long their paths are */
#ifndef PAI_SRC_BASE_POSIX_SOCKET_H
#define PAI_SRC_BASE_POSIX_SOCKET_H

#include "base/base.h"

/* All answer 0, or -1 and errno.  Descriptors neither block nor are they
 * inherited. */

/* A socket and the address of `path` to connect it to: room for a struct
 * sockaddr_un.  *folder, if not -1, goes when it is connected. */
int pai__socket_open(int *fd, void *address, unsigned *len, int *folder,
                     const char *path);
/* Closes what pai__socket_open() has opened; -1 is allowed. */
void pai__socket_end(int fd);
/* A connected one.  EAGAIN: as many wait there as may. */
int pai__socket_connect(int *fd, const char *path);
/* Makes the socket, for this user only.  EADDRINUSE: there is something. */
int pai__socket_listen(int *fd, const char *path, int backlog);
/* The next one who connected. */
int pai__socket_accept(int *fd, int listener);
/* The user at the other end: the one who called listen(), or connect(). */
int pai__socket_peer(unsigned long *user, int fd);
/* The process that did; 0: in another name space. */
int pai__socket_peer_process(long *pid, int fd);

#endif
