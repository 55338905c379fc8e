/* error.c - errors with OpenPAI's status and error codes */
#include "account/inside.h"

#include <stdio.h>

int pai__as(pai_error **err, int rc, int status, const char *api)
{
  pai__error_api(err, status, api);
  return rc;
}

int pai__no_user(pai_error **err, int status, const char *name)
{
  (void)pai__fail(err, PAI_ENOTFOUND, "User %.200s is not found.", name);
  return pai__as(err, PAI_ENOTFOUND, status, "NoUserError");
}

int pai__no_group(pai_error **err, int status, const char *name)
{
  (void)pai__fail(err, PAI_ENOTFOUND, "Group %.200s is not found.", name);
  return pai__as(err, PAI_ENOTFOUND, status, "NoGroupError");
}

int pai__invalid(pai_error **err, const char *fmt, ...)
{
  char text[512];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof(text), fmt, ap);
  va_end(ap);
  (void)pai__fail(err, PAI_EINVAL, "%s", text);
  return pai__as(err, PAI_EINVAL, 400, "InvalidParametersError");
}

int pai__is_closed(pai_error **err, const char *kind, const char *name)
{
  (void)pai__fail(err, PAI_EIO,
                  "the secrets of %s %.128s cannot be decrypted with the "
                  "root's key, and are kept as they are",
                  kind, name);
  pai__error_help(err,
                  "restore the root's former key and start again; if it is "
                  "lost for good, remove the %s and create it again",
                  kind);
  return PAI_EIO;
}
