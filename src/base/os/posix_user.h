/*
 * posix_user.h - users of this machine, and file access with a user's rights
 *
 * A root process that serves several users does not use its own rights in
 * their folders: whatever they put there, links included, leads no further
 * than they may go themselves.
 */
#ifndef PAI_SRC_BASE_OS_POSIX_USER_H
#define PAI_SRC_BASE_OS_POSIX_USER_H

#include "base/base.h"

enum { PAI__GROUPS_MOST = 64, PAI__USER_NAME = 65 };

typedef struct pai__user {
  uint32_t uid, gid;
  char name[PAI__USER_NAME];
  char home[1024], shell[256];
  uint32_t groups[PAI__GROUPS_MOST]; /* others are dropped: fewer rights */
  size_t ngroups;
} pai__user;

/* Looks up a user by uid.  A uid without an entry is named by its number, has
 * group 65534 and no home.  PAI_OK; PAI_EPERM: that name belongs to another
 * user; PAI_EINVAL: the name is too long; PAI_EIO: the user database could not
 * be read, for example a remote one. */
int pai__user_by_id(pai__user *out, unsigned long uid);
/* Looks up a user by name.  PAI_OK; PAI_ENOTFOUND: no such user; PAI_EINVAL
 * and PAI_EIO as above. */
int pai__user_by_name(pai__user *out, const char *name, pai_error **err);

/* Returns whether this process may become other users, as root may. */
bool pai__user_is_root(void);
/* Makes this thread access files with the user's rights only.  NULL, or this
 * process's own user: no change.  False: it failed, and the caller must not
 * access files. */
bool pai__as_user(const pai__user *user);
/* Restores the process's own rights. */
void pai__as_self(const pai__user *user);

/* Returns whether all users may enter a folder and those above it; if not,
 * *out gets the first one that is closed, of `size` bytes. */
bool pai__is_open_to_all(const char *path, char *out, size_t size);

#endif
