/* posix_socket.h - UNIX sockets with paths of any length */
#ifndef PAI_SRC_BASE_OS_POSIX_SOCKET_H
#define PAI_SRC_BASE_OS_POSIX_SOCKET_H

#include "base/base.h"

/* All return 0, or -1 and errno.  Descriptors are non-blocking and
 * close-on-exec. */

/* Creates a socket and the address of `path` to connect it to, in a struct
 * sockaddr_un.  Close *folder, if not -1, after connecting. */
int pai__socket_open(int *fd, void *address, unsigned *len, int *folder,
                     const char *path);
/* Closes a descriptor of pai__socket_open(); -1 is allowed. */
void pai__socket_end(int fd);
/* Connects.  EAGAIN: the listener's backlog is full. */
int pai__socket_connect(int *fd, const char *path);
/* Creates a listening socket, for this user only.  EADDRINUSE: the path
 * exists. */
int pai__socket_listen(int *fd, const char *path, int backlog);
/* Accepts the next connection. */
int pai__socket_accept(int *fd, int listener);
/* Sets the user at the other end, who called listen() or connect(). */
int pai__socket_peer(unsigned long *user, int fd);
/* Sets the pid of that process; 0: in another pid namespace. */
int pai__socket_peer_process(long *pid, int fd);

#endif
