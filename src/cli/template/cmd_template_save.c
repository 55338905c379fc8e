/* cmd_template_save.c - `template save`, `import` and `remove` */
#include "template.h"

#include "file.h"

#include <stdlib.h>
#include <string.h>

/* --- saving -------------------------------------------------------------- */

/* Who sees the saved items. */
typedef struct sharing {
  bool is_private;
  const char *groups; /* separated by commas, or NULL: all users */
} sharing;

/* Returns the members of a call that saves a template, for free(). */
static char *make_arguments(const cli_template_words *w, const char *text,
                            const sharing *share)
{
  char *json = NULL,
       *groups = cli_json_list(share->groups != NULL ? share->groups : "");
  size_t size = 0;
  FILE *out = groups != NULL ? open_memstream(&json, &size) : NULL;

  if (out != NULL) {
    cli_json_print(out, "\"name\":%s,\"protocol\":%s,\"summary\":%s", w->name,
                   text, w->summary);
    cli_json_print(out, ",\"description\":%s,\"isPrivate\":%c,\"isPublic\":%c",
                   w->description, cli_truth(share->is_private),
                   cli_truth(!share->is_private && share->groups == NULL));
    (void)fprintf(out, ",\"categories\":%s,\"tags\":%s,\"groupList\":%s",
                  w->categories, w->tags, groups);
    if (fclose(out) != 0) {
      free(json);
      json = NULL;
    }
  }
  free(groups);
  return json;
}

/* Finds the user's own item of this name.  Sets *id, for free(); NULL if there
 * is none.  Returns false after printing an error. */
static bool find_own(cli_remote *r, const char *name, char **id)
{
  pai_json *list;
  cli_each e;

  *id = NULL;
  if (!cli_call_read(
        r, &list, "marketplace.list",
        cli_json_make("{\"brief\":true,\"name\":%s,\"author\":%s}", name,
                      cli_user())))
    return false;
  e = cli_each_of(list, 0);
  if (cli_next(&e))
    *id = strdup(cli_json_text(list, e.at, "id"));
  pai_json_free(list);
  return true;
}

static char *wrap(const char *id, const char *members)
{
  size_t size = strlen(members) + 80;
  char *json = malloc(size);

  if (json != NULL && id != NULL)
    (void)snprintf(json, size, "{\"item\":\"%s\",%s}", id, members);
  else if (json != NULL)
    (void)snprintf(json, size, "{%s}", members);
  return json;
}

/* Creates or changes an item, and prints its id, with the file's name if that is
 * given. */
static bool save(cli_remote *r, const cli_template_words *w, const char *text,
                 const sharing *share, const char *file)
{
  char *members = make_arguments(w, text, share), *id = NULL;
  bool good = members != NULL && find_own(r, w->name, &id);
  pai_json *made = NULL;

  if (good && id != NULL) {
    good = cli_call_do(r, "marketplace.update", wrap(id, members));
  } else if (good) {
    good = cli_call_read(r, &made, "marketplace.create", wrap(NULL, members));
    if (good)
      id = strdup(cli_json_text(made, 0, "id"));
  }
  if (good && id != NULL)
    (void)printf("%s%s%s\n", id, file != NULL ? "  " : "",
                 file != NULL ? file : "");
  pai_json_free(made);
  free(members);
  free(id);
  return good;
}

static bool replace(char **to, char *text)
{
  free(*to);
  *to = text;
  return text != NULL;
}

int cli_do_template_save(const cli_template_save_args *a)
{
  const sharing share = { a->private, a->group };
  cli_template_words w = { 0 };
  char *text = NULL, *more = NULL;
  size_t len = 0, n = 0;
  bool good = true;
  cli_remote r;
  int code = cli_read(&text, &len, a->words[0], CLI_TEMPLATE_BYTES);

  if (code == CLI_OK && a->description != NULL)
    code = cli_read(&more, &n, a->description, CLI_TEMPLATE_BYTES);
  if (code != CLI_OK) {
    free(text);
    return code;
  }
  code = CLI_NO;
  if (!cli_template_describe(&w, text, len)) {
    cli_fail("%s is no job file", cli_shown_name(a->words[0]));
    cli_help(stderr, "'openpai spec check FILE' shows what is wrong");
    good = false;
  }
  if (good && a->name != NULL)
    good = replace(&w.name, strdup(a->name));
  if (good && a->summary != NULL)
    good = replace(&w.summary, strdup(a->summary));
  if (good && more != NULL)
    good = replace(&w.description, strdup(more));
  if (good && a->category != NULL)
    good = replace(&w.categories, cli_json_list(a->category));
  if (good && a->tag != NULL)
    good = replace(&w.tags, cli_json_list(a->tag));
  cli_makes_root = true;
  if (good && cli_remote_open(&r, true)) {
    if (save(&r, &w, text, &share, NULL))
      code = CLI_OK;
    cli_remote_close(&r);
  }
  cli_template_words_free(&w);
  free(more);
  free(text);
  return code;
}

int cli_do_template_remove(const cli_template_remove_args *a)
{
  int code = CLI_OK;
  cli_remote r;

  if (!cli_remote_open(&r, true))
    return CLI_NO;
  for (int i = 0; i < a->count; i++) {
    char *id = cli_template_item(&r, a->words[i]);

    if (id == NULL || !cli_call_do(&r, "marketplace.remove",
                                   cli_json_make("{\"item\":%s}", id)))
      code = CLI_NO;
    free(id);
  }
  cli_remote_close(&r);
  return code;
}

/* --- importing ----------------------------------------------------------- */

typedef struct importing {
  cli_remote *r; /* NULL: a dry run */
  sharing share;
  size_t good, bad;
} importing;

/* A refused file does not end the import. */
static bool import_file(void *data, const char *path, const char *text,
                        size_t len)
{
  importing *im = data;
  cli_template_words w;
  pai_spec *spec = NULL;
  pai_error *err = NULL;
  bool good = pai_spec_parse(&spec, text, len, NULL, &err) == PAI_OK &&
              cli_template_describe(&w, text, len);

  if (err != NULL)
    cli_error(path, err);
  pai_error_free(err);
  pai_spec_unref(spec);
  if (good && im->r == NULL)
    (void)printf("%s  %s\n", w.name, path);
  else if (good)
    good = save(im->r, &w, text, &im->share, path);
  if (good || err == NULL)
    cli_template_words_free(&w);
  im->good += good;
  im->bad += !good;
  return true;
}

static bool is_url(const char *word)
{
  return strstr(word, "://") != NULL;
}

static int import_all(importing *im, const char *from)
{
  bool good = is_url(from) ? cli_templates_git(from, import_file, im)
                           : cli_templates_walk(from, import_file, im);

  if (good && im->good + im->bad == 0) {
    cli_fail("there is no job file (*.yaml, *.yml) in %s", from);
    return CLI_NO;
  }
  if (im->bad > 0)
    cli_fail("%zu of %zu files were refused", im->bad, im->good + im->bad);
  return good && im->bad == 0 ? CLI_OK : CLI_NO;
}

int cli_do_template_import(const cli_template_import_args *a)
{
  importing im = { .share = { a->private, a->group } };
  const char *from = a->words[0];
  cli_remote r;
  int code;

  if (is_url(from) && strncmp(from, "https://", 8) != 0 &&
      strncmp(from, "ssh://", 6) != 0)
    return cli_misused("a repository's URL begins with https:// or ssh://",
                       from);
  if (a->dry_run)
    return import_all(&im, from);
  cli_makes_root = true;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  im.r = &r;
  code = import_all(&im, from);
  cli_remote_close(&r);
  return code;
}
