/* oidc_settings.h - what is said of a provider, in a file or by the caller */
#ifndef PAI_SRC_SERVER_OIDC_SETTINGS_H
#define PAI_SRC_SERVER_OIDC_SETTINGS_H

#include "server/oidc_token.h"

#include <openpai/server.h>

/* Named as the members of pai_oidc_options; texts are owned, NULL: not said. */
typedef struct pai__oidc_settings {
  char *issuer, *client_id, *client_secret, *client_secret_file, *redirect_uri,
    *scope, *pages, *groups_claim, *ca_file, *domains, *groups;
  char **admins; /* and NULL */
  size_t nadmins;
} pai__oidc_settings;

void pai__settings_dispose(pai__oidc_settings *s, const pai_alloc *alloc);
/* Reads a file's text, pure; `path` is its name in errors, which say line and
 * column.  PAI_OK; PAI_EINVAL; PAI_ENOMEM. */
int pai__settings_parse(pai__oidc_settings *out, const pai_alloc *alloc,
                        const char *path, const char *text, size_t len,
                        pai_error **err);
/* What the options say, of the rest what their file says, and the secret that
 * is in a file.  PAI_OK; PAI_EINVAL; PAI_ENOTFOUND; PAI_EPERM: others can read
 * a secret; PAI_EIO; PAI_ENOMEM. */
int pai__settings_read(pai__oidc_settings *out, const pai_alloc *alloc,
                       const pai_oidc_options *opts, pai_error **err);

/* posix_oidc_file.c: a file's text, for pai__strfree(); `secret`: nobody but
 * this user may be able to read it, and in any case to write it; *open says
 * whether others can read it. */
int pai__settings_load(char **out, const pai_alloc *alloc, const char *path,
                       bool secret, bool *open, pai_error **err);

#endif
