/* accounts.h - what the verbs about users, groups and tokens have in common */
#ifndef PAI_SRC_CLI_ACCOUNTS_H
#define PAI_SRC_CLI_ACCOUNTS_H

#include "remote.h"

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

/* A table: rows of as many cells as it has columns, headings first. */
typedef struct cli_table {
  size_t columns, count;
  char **cells;
  bool failed; /* no memory */
} cli_table;

void cli_table_add(cli_table *t, const char *cell);
/* The texts of a list in JSON, with commas. */
void cli_table_add_list(cli_table *t, const cli_json *j, size_t of,
                        const char *key);
/* Prints it, and frees it. */
void cli_table_end(cli_table *t, FILE *out);
/* Frees one that was printed in another way; that memory was short is told. */
void cli_table_free(cli_table *t);

/* A password for somebody: of a file, or asked for twice, for free().  NULL,
 * and told. */
char *cli_new_password(const char *user, const char *file);

/* Whether there are so many words, from `least` to `most`; if not, that is
 * told. */
bool cli_want_words(const cli_verb *verb, int words, char **argv, int least,
                    int most, const char *what);

#endif
