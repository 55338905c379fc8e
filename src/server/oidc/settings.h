/* settings.h - settings of a login provider, from a file or the caller */
#ifndef PAI_SRC_SERVER_OIDC_SETTINGS_H
#define PAI_SRC_SERVER_OIDC_SETTINGS_H

#include "server/oidc/token.h"

#include <openpai/server.h>

/* Members are named as in pai_oidc_options; texts are owned, NULL: not set. */
typedef struct pai__oidc_settings {
  char *issuer, *client_id, *client_secret, *client_secret_file, *redirect_uri,
    *scope, *pages, *groups_claim, *ca_file, *domains, *groups;
  char **admins; /* ended by NULL */
  size_t nadmins;
} pai__oidc_settings;

void pai__settings_dispose(pai__oidc_settings *s, const pai_alloc *alloc);
/* Parses a settings file, pure; `path` is its name in errors, which give line
 * and column.  PAI_OK; PAI_EINVAL; PAI_ENOMEM. */
int pai__settings_parse(pai__oidc_settings *out, const pai_alloc *alloc,
                        const char *path, const char *text, size_t len,
                        pai_error **err);
/* Takes the options, then their file for what they do not set, and reads the
 * file with the secret.  PAI_OK; PAI_EINVAL; PAI_ENOTFOUND; PAI_EPERM: others
 * can read a secret; PAI_EIO; PAI_ENOMEM. */
int pai__settings_read(pai__oidc_settings *out, const pai_alloc *alloc,
                       const pai_oidc_options *opts, pai_error **err);

/* oidc/posix_file.c: reads a file as text, for pai__strfree().  No other user
 * may be able to write it, nor with `secret` to read it; *open says whether
 * others can read it. */
int pai__settings_load(char **out, const pai_alloc *alloc, const char *path,
                       bool secret, bool *open, pai_error **err);

#endif
