/*
 * posix_listen.c - the UNIX socket where a server listens
 *
 * A socket that a dead server left behind is replaced, one that somebody
 * listens at is not: whoever connects to it is told which of both it is.
 */
#include "base/posix_socket.h"
#include "base/posix_errno.h"
#include "server/conn.h"
#include "server/request.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096, MOST_OF_ONE = 250 /* of 1,000 for all */ };

static int fail(const char *path, int error, const char *what, pai_error **err)
{
  return pai__fail(err,
                   error == EACCES || error == EPERM ? PAI_EPERM : PAI_EIO,
                   "cannot %s %s: %s", what, path, PAI__ERRNO_TEXT(error));
}

/* PAI_OK: there is nothing, or it was taken away. */
static int make_way(const char *path, pai_error **err)
{
  struct stat st;
  int fd;

  if (lstat(path, &st) != 0)
    return errno == ENOENT ? PAI_OK : fail(path, errno, "look at", err);
  if (st.st_uid != geteuid() || !S_ISSOCK(st.st_mode)) {
    (void)pai__fail(err, PAI_EPERM, "%s is %s", path,
                    S_ISSOCK(st.st_mode) ? "another user's" : "no socket");
    pai__error_help(err, "it was not made by a platform: look at it, and take "
                         "it away");
    return PAI_EPERM;
  }
  if (pai__socket_connect(&fd, path) == 0 || errno == EAGAIN) {
    if (fd >= 0)
      (void)close(fd);
    return pai__fail(err, PAI_EBUSY, "another server listens at %s", path);
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

/* The door of a socket that is there. */
static int make_door(pai_server *server, const char *path, int listener,
                     pai_error **err)
{
  pai__door *door;
  int rc = pai__door_new(&door, server, listener, false, err);

  if (rc < 0) {
    (void)unlink(path);
    return rc;
  }
  door->name = pai__strdup(&server->alloc, path);
  if (door->name == NULL) {
    (void)unlink(path);
    return pai__oom(err);
  }
  door->inode = inode_of(path);
  if (server->system && chmod(path, 0666) != 0)
    return fail(path, errno, "open", err);
  return pai__door_open(door, false, err);
}

int pai__unix_listen(pai_server *server, const char *path, pai_error **err)
{
  int fd, rc = make_way(path, err);

  if (rc < 0)
    return rc;
  if (pai__socket_listen(&fd, path, BACKLOG) == 0)
    return make_door(server, path, fd, err);
  if (errno == EADDRINUSE) /* just now */
    return pai__fail(err, PAI_EBUSY, "another server listens at %s", path);
  return fail(path, errno, "listen at", err);
}

/* If the root was deleted, another platform may serve there by now. */
void pai__unix_unlisten(pai__door *door)
{
  if (door->listener >= 0 && door->name != NULL &&
      inode_of(door->name) == door->inode)
    (void)unlink(door->name);
}

void pai__unix_peer(unsigned long *user, int fd)
{
  if (pai__socket_peer(user, fd) < 0)
    *user = (unsigned long)-1;
}

/* The kernel keeps for each connection who made it. */
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

/* Whether one more of his is taken: nobody keeps the others out. */
static bool may_connect(const pai__door *door, unsigned long user)
{
  return user == geteuid() ||
         (door->server->system &&
          pai__door_count(door, &user, sizeof(user)) < MOST_OF_ONE);
}

int pai__unix_accept(pai__door *door)
{
  const pai__log *log = &door->server->log;
  unsigned long user;
  int fd;

  if (pai__socket_accept(&fd, door->listener) < 0) {
    if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)
      return PAI__NONE_LEFT;
    pai__log_line(log, PAI_LOG_WARNING, "cannot accept: %s",
                  PAI__ERRNO_TEXT(errno));
    return PAI__NO_ROOM;
  }
  if (pai__socket_peer(&user, fd) == 0 && may_connect(door, user)) {
    (void)pai__conn_new(door, fd); /* without memory it is closed */
    return PAI__TAKEN;
  }
  pai__log_line(log, PAI_LOG_WARNING, "user %lu was refused a connection",
                user);
  (void)close(fd);
  return PAI__TAKEN;
}
