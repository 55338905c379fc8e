/* template.h - job templates: those that come with openpai, and items of the
 * marketplace */
#ifndef PAI_SRC_CLI_TEMPLATE_H
#define PAI_SRC_CLI_TEMPLATE_H

#include "json.h"
#include "remote.h"

enum {
  CLI_TEMPLATE_ID = 8,            /* least characters of an id's beginning */
  CLI_TEMPLATE_BYTES = 128 << 10, /* longest job file of an item */
  CLI_TEMPLATE_FILES = 200,       /* most files of an import, */
  CLI_TEMPLATE_LEVELS = 3         /* and its levels of folders */
};

/* --- files (posix_templates.c, posix_git.c) --- */

/* Called for each job file, by name; false ends the walk. */
typedef bool (*cli_template_cb)(void *data, const char *path, const char *text,
                                size_t len);
/* Calls back for the templates that come with openpai. */
bool cli_templates_own(cli_template_cb cb, void *data);
/* Calls back for each regular file *.yaml or *.yml of a folder and those below
 * it; follows no links.  Returns false after printing an error, or if `cb`
 * does. */
bool cli_templates_walk(const char *folder, cli_template_cb cb, void *data);
/* The same for a git repository at a URL. */
bool cli_templates_git(const char *url, cli_template_cb cb, void *data);
/* Returns whether the name is that of a job file. */
bool cli_template_is_file(const char *name);

/* --- what a job file says of itself (describe.c) --- */

typedef struct cli_template_words {
  char *name, *summary, *description; /* texts, "" if there are none */
  char *categories, *tags;            /* JSON lists */
} cli_template_words;
/* Reads it from the file: its name, description, and extras.marketplace.
 * Returns false if it is no YAML, or memory is short. */
bool cli_template_describe(cli_template_words *out, const char *text,
                           size_t len);
void cli_template_words_free(cli_template_words *words);

/* --- templates of both kinds (find.c) --- */

typedef struct cli_template_query {
  const char *text;              /* of name, author, summary or tags */
  const char *tags, *categories; /* separated by commas */
  bool mine, whole;              /* whole: with job files */
} cli_template_query;
/* Reads the templates that match, as a list of items.  Returns false after
 * printing an error. */
bool cli_templates_list(pai_json **out, const cli_template_query *query);
/* Reads one template by its name or id, as an item.  Returns false after
 * printing an error. */
bool cli_template_find(pai_json **out, const char *word);
/* Finds an item of the marketplace by its name or id.  Returns its id, for
 * free(); NULL after printing an error. */
char *cli_template_item(cli_remote *r, const char *word);

#endif
