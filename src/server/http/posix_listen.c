/*
 * posix_listen.c - the UNIX socket of a server
 *
 * The socket of a dead server is replaced; one at which a server listens is
 * not.  Connecting to the socket tells which case it is.
 */
#include "base/os/posix_socket.h"
#include "base/os/posix_errno.h"
#include "server/http/conn.h"
#include "server/http/request.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096, MOST_OF_ONE = 250 /* of one user; 1,000 in total */ };

static int fail(const char *path, int error, const char *what, pai_error **err)
{
  return pai__fail(err,
                   error == EACCES || error == EPERM ? PAI_EPERM : PAI_EIO,
                   "cannot %s %s: %s", what, path, PAI__ERRNO_TEXT(error));
}

/* Removes a dead socket.  Returns PAI_OK if the path is free. */
static int make_way(const char *path, pai_error **err)
{
  struct stat st;
  int fd;

  if (lstat(path, &st) != 0)
    return errno == ENOENT ? PAI_OK : fail(path, errno, "look at", err);
  if (st.st_uid != geteuid() || !S_ISSOCK(st.st_mode)) {
    (void)pai__fail(err, PAI_EPERM, "%s is %s", path,
                    S_ISSOCK(st.st_mode) ? "another user's" : "no socket");
    pai__error_help(err, "no platform created it: check it, and remove it");
    return PAI_EPERM;
  }
  if (pai__socket_connect(&fd, path) == 0 || errno == EAGAIN) {
    if (fd >= 0)
      (void)close(fd);
    return pai__fail(err, PAI_EBUSY, "another server listens on %s", path);
  }
  if (errno != ECONNREFUSED && errno != ENOENT)
    return fail(path, errno, "connect to", err);
  if (unlink(path) != 0 && errno != ENOENT)
    return fail(path, errno, "take away", err);
  return PAI_OK;
}

static uint64_t inode_of(const char *path)
{
  struct stat st;

  return lstat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* Makes a listener of an open socket. */
static int make_listener(pai_server *server, const char *path, int fd,
                         pai_error **err)
{
  pai__server_listener *listener;
  int rc = pai__server_listener_new(&listener, server, fd, false, err);

  if (rc < 0) {
    (void)unlink(path);
    return rc;
  }
  listener->name = pai__strdup(&server->alloc, path);
  if (listener->name == NULL) {
    (void)unlink(path);
    return pai__oom(err);
  }
  listener->inode = inode_of(path);
  if (server->system && chmod(path, 0666) != 0)
    return fail(path, errno, "open", err);
  return pai__server_listener_open(listener, false, err);
}

int pai__unix_listen(pai_server *server, const char *path, pai_error **err)
{
  int fd, rc = make_way(path, err);

  if (rc < 0)
    return rc;
  if (pai__socket_listen(&fd, path, BACKLOG) == 0)
    return make_listener(server, path, fd, err);
  if (errno == EADDRINUSE) /* bound by another server just now */
    return pai__fail(err, PAI_EBUSY, "another server listens on %s", path);
  return fail(path, errno, "listen at", err);
}

/* If the root was deleted, another platform may serve at the path by now. */
void pai__unix_unlisten(pai__server_listener *listener)
{
  if (listener->fd >= 0 && listener->name != NULL &&
      inode_of(listener->name) == listener->inode)
    (void)unlink(listener->name);
}

void pai__unix_peer(unsigned long *user, int fd)
{
  if (pai__socket_peer(user, fd) < 0)
    *user = (unsigned long)-1;
}

/* The kernel keeps the credentials of each connection's peer. */
int pai__request_find_user(pai__request *r)
{
  unsigned long uid;
  int rc;

  if (r->remote || pai__socket_peer(&uid, pai__conn_fd(r->conn)) < 0)
    return PAI_EPERM;
  r->who = pai__zalloc(&r->server->alloc, sizeof(*r->who));
  if (r->who == NULL)
    return PAI_ENOMEM;
  rc = pai__user_by_id(r->who, uid);
  if (rc < 0)
    return rc;
  r->caller.self = uid == geteuid();
  r->caller.name = pai__strdup(&r->server->alloc, r->who->name);
  return r->caller.name != NULL ? PAI_OK : PAI_ENOMEM;
}

/* Returns whether the user may have one more connection, so that no user can
 * lock out the others. */
static bool may_connect(const pai__server_listener *listener,
                        unsigned long user)
{
  return user == geteuid() || (listener->server->system &&
                               pai__server_listener_count(
                                 listener, &user, sizeof(user)) < MOST_OF_ONE);
}

int pai__unix_accept(pai__server_listener *listener)
{
  const pai__log *log = &listener->server->log;
  unsigned long user;
  int fd;

  if (pai__socket_accept(&fd, listener->fd) < 0) {
    if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)
      return PAI__NONE_LEFT;
    pai__log_line(log, PAI_LOG_WARNING, "cannot accept: %s",
                  PAI__ERRNO_TEXT(errno));
    return PAI__NO_ROOM;
  }
  if (pai__socket_peer(&user, fd) == 0 && may_connect(listener, user)) {
    (void)pai__conn_new(listener, fd); /* closed if out of memory */
    return PAI__TAKEN;
  }
  pai__log_line(log, PAI_LOG_WARNING, "user %lu was refused a connection",
                user);
  (void)close(fd);
  return PAI__TAKEN;
}
