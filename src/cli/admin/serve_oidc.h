/* serve_oidc.h - options of `serve` for an OpenID Connect provider */
#ifndef PAI_SRC_CLI_SERVE_OIDC_H
#define PAI_SRC_CLI_SERVE_OIDC_H

#include <openpai/server.h>

#include <stdbool.h>

enum { CLI_RULES = 64 };

/* The secret comes from a file or the environment, because other users can see
 * arguments. */
typedef struct cli_oidc {
  pai_oidc_options options;
  const char *admins; /* separated by commas */
  char *file;         /* default file of the root */
  char *secret;
  char *rules;
  const char *list[CLI_RULES + 1];
} cli_oidc;

/* Uses the root's default file if neither a file nor an issuer is given.  The
 * root must have been chosen. */
void cli_oidc_find(cli_oidc *o);
/* Puts the provider, if there is one, into the server's options.  Call
 * cli_oidc_find() first.  Returns false after printing an error. */
bool cli_oidc_read(cli_oidc *o, pai_server_options *server);
void cli_oidc_free(cli_oidc *o);
/* Returns an option that was given but requires a provider, or NULL. */
const char *cli_oidc_stray(const cli_oidc *o);

#endif
