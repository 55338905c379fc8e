/*
 * posix_user.h - users of this machine, and what is done in their name
 *
 * A process of root's that serves several users does nothing in folders that
 * are theirs with its own rights: whatever they have put there, links
 * included, leads no further than they may go themselves.
 */
#ifndef PAI_SRC_BASE_POSIX_USER_H
#define PAI_SRC_BASE_POSIX_USER_H

#include "base/base.h"

enum { PAI__GROUPS_MOST = 64, PAI__USER_NAME = 65 };

typedef struct pai__user {
  uint32_t uid, gid;
  char name[PAI__USER_NAME];
  char home[1024], shell[256];
  uint32_t groups[PAI__GROUPS_MOST]; /* more are not kept: fewer rights */
  size_t ngroups;
} pai__user;

/* A user by number.  One without an entry is called by the number, has no group
 * (65534) and no home.  PAI_OK; PAI_EPERM: the name that the number would be
 * called by is somebody else's; PAI_EINVAL: the name is too long; PAI_EIO: the
 * list of users could not be read, as when it is another machine's. */
int pai__user_by_id(pai__user *out, unsigned long uid);
/* The other way round: PAI_OK; PAI_ENOTFOUND: there is no such user; PAI_EINVAL
 * and PAI_EIO as above. */
int pai__user_by_name(pai__user *out, const char *name, pai_error **err);

/* Whether this process may become others, as root may. */
bool pai__user_is_root(void);
/* From now on this thread uses files with the user's rights only; NULL, or one
 * who is who this process is: nothing changes.  False: that cannot be had, and
 * nothing is to be done. */
bool pai__as_user(const pai__user *user);
/* It has its own rights again. */
void pai__as_self(const pai__user *user);

/* Whether all users may go through a folder and those above it; if not, *out
 * is the first that is closed, of `size` bytes. */
bool pai__is_open_to_all(const char *path, char *out, size_t size);

#endif
