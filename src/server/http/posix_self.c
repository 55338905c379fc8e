/* posix_self.c - the user of this process */
#include "server/server.h"

#include <unistd.h>

int pai__self_name(char **out, const pai_alloc *alloc, pai_error **err)
{
  pai__user *user = pai__zalloc(alloc, sizeof(*user));
  unsigned long uid = geteuid();
  int rc = user != NULL ? pai__user_by_id(user, uid) : PAI_ENOMEM;

  if (rc == PAI_EIO) {
    (void)pai__fail(err, rc, "cannot look up the name of user %lu", uid);
    pai__error_help(
      err,
      "check that this machine's list of users can be read: getent passwd %lu",
      uid);
  } else if (rc != PAI_ENOMEM) { /* the server also works without a name */
    *out = pai__strdup(alloc, rc == PAI_OK ? user->name : "");
    rc = *out != NULL ? PAI_OK : PAI_ENOMEM;
  }
  pai__free(alloc, user, sizeof(*user));
  return rc == PAI_ENOMEM ? pai__oom(err) : rc;
}
