/* serve_oidc.h - what serve is told of a provider of OpenID Connect */
#ifndef PAI_SRC_CLI_SERVE_OIDC_H
#define PAI_SRC_CLI_SERVE_OIDC_H

#include <openpai/server.h>

#include <stdbool.h>

enum { CLI_RULES = 64 };

/* The secret is in a file or the environment: arguments are seen by all. */
typedef struct cli_oidc {
  pai_oidc_options options;
  const char *admins; /* with commas */
  char *file;         /* the root's own */
  char *secret;
  char *rules;
  const char *list[CLI_RULES + 1];
} cli_oidc;

/* Takes the root's own file where neither a file nor an issuer is named.  Where
 * the root is has been decided. */
void cli_oidc_find(cli_oidc *o);
/* Puts it into the server's options, if there is a provider, which has been
 * looked for.  False, and told. */
bool cli_oidc_read(cli_oidc *o, pai_server_options *server);
void cli_oidc_free(cli_oidc *o);
/* An option that says nothing without a provider, or NULL. */
const char *cli_oidc_stray(const cli_oidc *o);

#endif
