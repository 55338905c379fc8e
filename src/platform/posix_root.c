/* posix_root.c - whose platform this is and where it keeps its files */
#include "platform/platform.h"

#include "base/buf.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

int pai__platform_default_root(char **out, const pai_alloc *alloc,
                               pai_error **err)
{
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  pai__buf b;

  *out = NULL;
  pai__buf_init(&b, alloc);
  if (state != NULL && state[0] == '/')
    pai__buf_printf(&b, "%s/openpai", state);
  else if (home != NULL && home[0] == '/')
    pai__buf_printf(&b, "%s/.local/state/openpai", home);
  else {
    int rc = pai__fail(err, PAI_ENOTFOUND,
                       "there is no folder to keep jobs in: HOME is not set");
    pai__error_help(err, "set HOME or XDG_STATE_HOME, or name a root");
    return rc;
  }
  *out = pai__buf_take(&b);
  return *out != NULL ? PAI_OK : pai__oom(err);
}

char *pai__platform_user_name(const pai_alloc *alloc)
{
  struct passwd entry, *found = NULL;
  char text[4096];

  if (getpwuid_r(getuid(), &entry, text, sizeof(text), &found) == 0 &&
      found != NULL)
    return pai__strdup(alloc, found->pw_name);
  return pai__strdup(alloc, "user");
}
