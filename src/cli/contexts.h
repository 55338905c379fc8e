/* contexts.h - server contexts: servers with their aliases, URLs and users */
#ifndef PAI_SRC_CLI_CONTEXTS_H
#define PAI_SRC_CLI_CONTEXTS_H

#include "json.h"

/* A server.  The struct owns its strings; see cli_context_free(). */
typedef struct cli_context {
  char *alias; /* or NULL: only its URL is known */
  char *url;
  char *user;    /* or NULL: not known */
  char *ca_file; /* or NULL */
  /* virtual clusters that the user may use there, separated by commas; NULL:
   * not asked yet */
  char *vcs;
} cli_context;

/* All server contexts of $XDG_CONFIG_HOME/openpai/clusters.yaml.  That file
 * holds no secrets. */
typedef struct cli_contexts {
  cli_context *items;
  size_t count;
  /* chosen by `remote use`; NULL: the platform of this machine */
  char *current;
} cli_contexts;

/* The reserved alias for the platform of this machine. */
#define CLI_HERE "local"

/* The value of --cluster, given before or after the verb; NULL: not given. */
extern const char *cli_cluster;

/* Reads the contexts.  Returns false, after printing an error, if the file
 * exists and cannot be read. */
bool cli_contexts_load(cli_contexts *out);
void cli_contexts_free(cli_contexts *contexts);
const cli_context *cli_contexts_find(const cli_contexts *contexts,
                                     const char *alias);
/* Prints that an alias is unknown, and suggests similar aliases. */
void cli_contexts_unknown(const cli_contexts *contexts, const char *alias);

/* These functions change the file.  They return false after printing an
 * error. */
bool cli_context_put(const cli_context *context);
bool cli_context_drop(const char *alias);
/* alias == NULL: use no server. */
bool cli_context_use(const char *alias);

void cli_context_free(cli_context *s);
bool cli_context_copy(cli_context *to, const cli_context *from);
/* Returns whether a word can be an alias; if not, prints an error. */
bool cli_alias_ok(const char *alias);
/* Returns whether a word is a URL rather than an alias. */
bool cli_is_url(const char *word);

/* Chooses the server to call: --cluster, else $OPENPAI_CLUSTER unless --root
 * is given, else none if $OPENPAI_ROOT is set, else that of `remote use`.  For
 * a URL $OPENPAI_CA_FILE names the authorities to trust.
 * Returns 1 and sets *out; 0 for the platform of this machine; -1 after
 * printing an error. */
int cli_context_choose(cli_context *out);

/* --- tokens (posix_keep.c) ----------------------------------------------- */

/* Tokens are in the desktop's keyring (secret-tool(1)), else in a file that
 * only this user can read. */

/* Stores a token.  Returns false after printing an error. */
bool cli_token_keep(const cli_context *context, const char *token);
/* Returns $OPENPAI_TOKEN or the stored token, for free(); NULL: none. */
char *cli_token_find(const cli_context *s);
void cli_token_forget(const cli_context *s);
/* Writes a file that only this user can read, atomically.  Returns false after
 * printing an error. */
bool cli_write_private(const char *path, const char *text, size_t len);
/* Returns the path of a file in this program's settings folder, for free();
 * NULL after printing an error. */
char *cli_settings_path(const char *name);

#endif
