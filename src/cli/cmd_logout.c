/* cmd_logout.c - a server elsewhere forgets a token, and so does this user */
#include "accounts.h"

#include <stdlib.h>

void cli_site_leave(const cli_site *site, const char *token)
{
  cli_remote r;
  cli_answer a;

  if (!cli_remote_open_site(&r, site, token))
    return;
  cli_remote_ask(&r, &a, "DELETE", "/api/v2/authn/basic/logout", NULL, NULL,
                 0);
  if (a.status != PAI_OK && a.http != 401)
    cli_say(PAI_LOG_WARNING, "the token could not be revoked on the server: "
                             "it stays valid until it expires");
  cli_answer_free(&a);
  cli_remote_close(&r);
}

static int run_logout(int argc, char **argv)
{
  int words = cli_options(&cli_logout, NULL, 0, argc, argv), chosen;
  cli_site site;
  char *token;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_logout, words, argv, 0, 1,
                      "logout takes one alias"))
    return CLI_USAGE;
  if (words == 1)
    cli_cluster = argv[0];
  chosen = cli_site_choose(&site);
  if (chosen == 0)
    cli_misused(&cli_logout, "which server?", "an alias");
  if (chosen <= 0)
    return chosen == 0 ? CLI_USAGE : CLI_NO;
  token = cli_token_find(&site);
  if (token != NULL)
    cli_site_leave(&site, token);
  cli_token_forget(&site);
  free(token);
  cli_site_free(&site);
  return CLI_OK;
}

const cli_verb cli_logout = {
  .name = "logout",
  .brief = "Delete the token of a remote server",
  .usage = "[ALIAS]",
  .help = "The token is also revoked on the server.  The alias stays; to "
          "delete it,\n"
          "use 'openpai remote remove'.\n"
          "\n"
          "  -h, --help\n"
          "\n"
          "Exit status: 0 success, 1 no such server, 2 usage error\n",
  .run = run_logout,
};
