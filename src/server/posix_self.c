/* posix_self.c - as whom this process runs */
#include "server/server.h"

#include <unistd.h>

char *pai__self_name(const pai_alloc *alloc)
{
  pai__user *user = pai__zalloc(alloc, sizeof(*user));
  char *name = NULL;

  if (user != NULL)
    name = pai__strdup(
      alloc, pai__user_by_id(user, geteuid()) == PAI_OK ? user->name : "");
  pai__free(alloc, user, sizeof(*user));
  return name;
}
