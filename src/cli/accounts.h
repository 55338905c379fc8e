/* accounts.h - what the verbs about users, groups and tokens have in common */
#ifndef PAI_SRC_CLI_ACCOUNTS_H
#define PAI_SRC_CLI_ACCOUNTS_H

#include "remote.h"
#include "table.h"

/* Of a verb that asks a platform: what is last in its help. */
#define CLI_ROOT_HELP                                               \
  "  --root DIR     the platform's root (default: $OPENPAI_ROOT,\n" \
  "                 or $XDG_STATE_HOME/openpai, or\n"               \
  "                 ~/.local/state/openpai)\n"                      \
  "  -h, --help\n\n"
#define CLI_DONE_HELP \
  "Exit status: 0 success, 1 refused or not found, 2 usage error\n"

/* JSON that grows: an object, and what is in it. */
typedef struct cli_text {
  char *text;
  size_t len;
  FILE *out;
  bool more; /* what comes next is not the first */
} cli_text;

/* False, and told: no memory. */
bool cli_text_begin(cli_text *t);
/* What was written, for free(), or NULL. */
char *cli_text_end(cli_text *t);
/* An object, as the whole or behind a key. */
void cli_put_object(cli_text *t);
void cli_put_end(cli_text *t);
void cli_put_key(cli_text *t, const char *name);
/* Members; a NULL is passed over.  A list has commas. */
void cli_put_text(cli_text *t, const char *name, const char *value);
void cli_put_list(cli_text *t, const char *name, const char *list);
void cli_put_flag(cli_text *t, const char *name, bool value);
/* A list alone. */
void cli_put_items(cli_text *t, const char *list);

/* Asks with a body, which is freed and may be NULL if `has_body` is false, at
 * START/NAME/REST.  False, and told: that failed. */
bool cli_change(cli_remote *r, const char *method, const char *start,
                const char *name, const char *rest, char *body, bool has_body);
/* START/NAME/REST with its name escaped, for free(); a NULL is left out. */
char *cli_path(const char *start, const char *name, const char *rest);

/* Asks, and prints the answer as it is.  An exit code. */
int cli_print_answer(cli_remote *r, const char *path);

/* Whom a token says it is of, for free(), or NULL (cmd_token.c). */
char *cli_token_user(const char *token);

/* A verb "... list [--json]": what is at `path` as it is, or as `list` prints
 * it. */
int cli_run_list(const cli_verb *verb, int argc, char **argv, const char *path,
                 int (*list)(cli_remote *r));

/* A verb "... remove NAME...": what is done to each of them at START/NAME/REST.
 * `what` says what words it takes. */
typedef struct cli_change_of {
  const char *what, *method, *start, *rest, *body;
} cli_change_of;

int cli_run_change(const cli_verb *verb, int argc, char **argv,
                   const cli_change_of *change);

/* A password for somebody: of a file, or asked for twice, for free().  NULL,
 * and told. */
char *cli_new_password(const char *user, const char *file);

/* Whether there are so many words, from `least` to `most`; if not, that is
 * told. */
bool cli_want_words(const cli_verb *verb, int words, char **argv, int least,
                    int most, const char *what);

#endif
