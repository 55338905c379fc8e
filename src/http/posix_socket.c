/*
 * posix_socket.c - connects to a UNIX socket that must belong to this user, or
 * to root, who serves all users
 *
 * Whoever may write the folder could put a socket there and receive all
 * requests.  So the file must belong to one of both, and then the listener
 * must: the connection is asked for that, so there is no race.
 */

#include "base/os/posix_socket.h"
#include "base/os/posix_errno.h"
#include "http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_to_reach(const char *path, pai_error **err)
{
  (void)pai__fail(err, PAI_ENOTFOUND, "no program listens on %s", path);
  pai__error_no_answer(err, PAI_NO_ANSWER_NOT_REACHED);
  return PAI_ENOTFOUND;
}

static bool is_trusted(unsigned long user)
{
  return user == geteuid() || user == 0;
}

static int check_file(const char *path, pai_error **err)
{
  struct stat st;

  if (lstat(path, &st) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return fail_to_reach(path, err);
    return pai__fail(err, errno == EACCES ? PAI_EPERM : PAI_EIO,
                     "cannot read the attributes of %s: %s", path,
                     PAI__ERRNO_TEXT(errno));
  }
  if (!is_trusted(st.st_uid)) {
    (void)pai__fail(err, PAI_EPERM, "%s belongs to another user: %lu", path,
                    (unsigned long)st.st_uid);
    pai__error_help(err, "another user created it; nothing was sent");
    return PAI_EPERM;
  }
  if (!S_ISSOCK(st.st_mode))
    return pai__fail(err, PAI_EPERM, "%s is not a socket", path);
  return PAI_OK;
}

int pai__http_check_unix(int fd, const char *path, pai_error **err)
{
  unsigned long user;

  if (pai__socket_peer(&user, fd) < 0)
    return pai__fail(
      err, PAI_EPERM,
      "cannot determine the user of the program that listens on %s: %s", path,
      PAI__ERRNO_TEXT(errno));
  if (is_trusted(user))
    return PAI_OK;
  (void)pai__fail(err, PAI_EPERM,
                  "a program of another user listens on %s: %lu", path, user);
  pai__error_help(err, "nothing was sent to it");
  return PAI_EPERM;
}

int pai__http_fail_unix(int error, const char *path, pai_error **err)
{
  if (error == ECONNREFUSED || error == ENOENT)
    return fail_to_reach(path, err);
  if (error != EAGAIN)
    return pai__fail(err, error == EACCES ? PAI_EPERM : PAI_EIO,
                     "cannot connect to %s: %s", path, PAI__ERRNO_TEXT(error));
  (void)pai__fail(err, PAI_EBUSY,
                  "too many connections wait for an answer on %s", path);
  pai__error_retriable(err);
  return PAI_EBUSY;
}

int pai__http_open_unix(int *fd, void *address, unsigned *len, int *folder,
                        const char *path, pai_error **err)
{
  int rc = check_file(path, err);

  *fd = *folder = -1;
  if (rc < 0)
    return rc;
  if (pai__socket_open(fd, address, len, folder, path) < 0)
    return pai__http_fail_unix(errno, path, err);
  return PAI_OK;
}

int pai__http_open_socket(int family, int type, int protocol)
{
  int fd = socket(family, type, protocol);

  if (fd >= 0)
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
  return fd;
}
