/* sites.h - servers that this user knows by aliases, and who he is there */
#ifndef PAI_SRC_CLI_SITES_H
#define PAI_SRC_CLI_SITES_H

#include "json.h"

/* A server.  Texts are owned; cli_site_free(). */
typedef struct cli_site {
  char *alias; /* or NULL: only its URL is known */
  char *url;
  char *user;    /* or NULL: not known */
  char *ca_file; /* or NULL */
  char *vcs; /* virtual clusters that one may use there, with commas between
                    them; or NULL: nobody has asked */
} cli_site;

/* All of them, as $XDG_CONFIG_HOME/openpai/clusters.yaml has them, which holds
 * no secrets. */
typedef struct cli_sites {
  cli_site *items;
  size_t count;
  char *current; /* of `remote use`, or NULL: this machine's own platform */
} cli_sites;

/* The alias that is no server's: the platform of this machine. */
#define CLI_HERE "local"

/* --cluster as it was given, before or after the verb; NULL: it was not. */
extern const char *cli_cluster;

/* False, and told: there is a file, and it cannot be read. */
bool cli_sites_load(cli_sites *out);
void cli_sites_free(cli_sites *sites);
const cli_site *cli_sites_find(const cli_sites *sites, const char *alias);
/* Says that an alias is unknown, and which may have been meant. */
void cli_sites_unknown(const cli_sites *sites, const char *alias);

/* These change the file.  False, and told. */
bool cli_site_put(const cli_site *site);
bool cli_site_drop(const char *alias);
/* NULL: none. */
bool cli_site_use(const char *alias);

void cli_site_free(cli_site *site);
bool cli_site_copy(cli_site *to, const cli_site *from);
/* Whether a word can be an alias; if not, that is told. */
bool cli_alias_ok(const char *alias);
/* Whether it is a URL rather than an alias. */
bool cli_is_url(const char *word);

/* Which server is to be asked: --cluster, else $OPENPAI_CLUSTER unless --root is
 * given, else $OPENPAI_ROOT's, else the one of `remote use`.  1: *out; 0: the
 * platform of this machine; -1: told. */
int cli_site_choose(cli_site *out);

/* --- tokens (posix_keep.c): in the keyring of the desktop, by secret-tool(1),
 * else in a file that only this user can read --- */

/* False, and told. */
bool cli_token_keep(const cli_site *site, const char *token);
/* $OPENPAI_TOKEN, or what was kept, for free(); NULL: none. */
char *cli_token_find(const cli_site *site);
void cli_token_forget(const cli_site *site);
/* Writes a file that only this user can read, as a whole or not at all.  False,
 * and told. */
bool cli_write_private(const char *path, const char *text, size_t len);
/* A file in this program's folder of settings, for free(); NULL, and told. */
char *cli_settings_path(const char *name);

/* --- login (cmd_login.c) --- */

/* Keeps a server and a token for it that it has been asked about, or that it
 * gives for a password, of what stood on a command line, which is warned of.
 * `alias`, `user` and one of the last two may be NULL.  False, and told. */
typedef struct cli_site_login {
  const char *url, *alias, *user, *token, *password;
} cli_site_login;
bool cli_site_log_in(const cli_site_login *login);
/* The server forgets the token, if it still can (cmd_logout.c). */
void cli_site_leave(const cli_site *site, const char *token);

#endif
