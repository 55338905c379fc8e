/* find.c - templates that come with openpai, and items of the marketplace, as
 * one list */
#include "template.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- what is wanted ------------------------------------------------------ */

static bool has_part(const char *text, const char *part)
{
  size_t len = strlen(part);

  for (; *text != '\0'; text++)
    if (strncasecmp(text, part, len) == 0)
      return true;
  return len == 0;
}

/* Whether the item's list has all names, separated by commas. */
static bool has_names(const pai_json *j, size_t item, const char *member,
                      const char *names)
{
  size_t len;

  for (const char *at = names; *at != '\0'; at += len + (at[len] == ',')) {
    bool found = false;

    len = strcspn(at, ",");
    for (cli_each e = cli_each_of(j, cli_json_get(j, item, member));
         !found && cli_next(&e);) {
      const char *name = cli_json_text(j, e.at, "");

      found = strlen(name) == len && strncmp(name, at, len) == 0;
    }
    if (len > 0 && !found)
      return false;
  }
  return true;
}

static bool is_wanted(const pai_json *j, size_t item,
                      const cli_template_query *q)
{
  bool found = q->text == NULL ||
               has_part(cli_json_text(j, item, "name"), q->text) ||
               has_part(cli_json_text(j, item, "author"), q->text) ||
               has_part(cli_json_text(j, item, "summary"), q->text);

  for (cli_each e = cli_each_of(j, cli_json_get(j, item, "tags"));
       !found && cli_next(&e);)
    found = has_part(cli_json_text(j, e.at, ""), q->text);
  return found && (q->tags == NULL || has_names(j, item, "tags", q->tags)) &&
         (q->categories == NULL ||
          has_names(j, item, "categories", q->categories)) &&
         (!q->mine ||
          strcmp(cli_json_text(j, item, "author"), cli_user()) == 0);
}

/* --- collecting ---------------------------------------------------------- */

typedef struct collection {
  const cli_template_query *query;
  FILE *out;
  const char *comma;
} collection;

/* Adds an item, a JSON object, if it is wanted. */
static void add(collection *c, const char *json, size_t len)
{
  pai_json *j = NULL;

  if (cli_json_read(&j, json, len) && is_wanted(j, 0, c->query)) {
    (void)fprintf(c->out, "%s%.*s", c->comma, (int)len, json);
    c->comma = ",";
  }
  cli_json_free(&j);
}

static bool add_own(void *data, const char *path, const char *text, size_t len)
{
  collection *c = data;
  cli_template_words words;
  char *json = NULL, *file = NULL;
  size_t size = 0;
  FILE *out;

  (void)path;
  if (!cli_template_describe(&words, text, len))
    return true;
  file =
    c->query->whole ? cli_json_make(",\"protocol\":%s", text) : strdup("");
  out = file != NULL ? open_memstream(&json, &size) : NULL;
  if (out != NULL) {
    cli_json_print(out, "{\"from\":\"openpai\",\"name\":%s,\"summary\":%s",
                   words.name, words.summary);
    cli_json_print(out, ",\"description\":%s", words.description);
    (void)fprintf(out, ",\"categories\":%s,\"tags\":%s%s}", words.categories,
                  words.tags, file);
    if (fclose(out) == 0)
      add(c, json, size);
  }
  free(json);
  free(file);
  cli_template_words_free(&words);
  return true;
}

/* The answer's items, each with where it is from. */
static bool add_items(collection *c, const pai_json *list)
{
  bool good = true;

  for (cli_each e = cli_each_of(list, 0); good && cli_next(&e);) {
    char *json = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&json, &size);

    good = out != NULL &&
           fputs("{\"from\":\"marketplace\",\"item\":", out) != EOF &&
           pai_json_write(list, e.at, cli_write, out, NULL) == PAI_OK;
    if (out != NULL && (fclose(out) != 0 || !good))
      good = false;
    /* {"from":"marketplace","item":{...: its members follow "from" */
    if (good) {
      static const size_t head = sizeof("{\"from\":\"marketplace\",") - 1;
      static const size_t skip = sizeof("\"item\":{") - 1;

      memmove(json + head, json + head + skip, size - head - skip + 1);
      add(c, json, size - skip);
    }
    free(json);
  }
  return good;
}

/* Without a running platform there is no marketplace, which is no failure. */
static bool add_marketplace(collection *c)
{
  char *arguments =
    cli_json_make("{\"brief\":%c}", cli_truth(!c->query->whole));
  pai_json *list = NULL;
  bool good = true;
  cli_remote r;

  if (!cli_remote_open(&r, false)) {
    free(arguments);
    return false;
  }
  if (r.root != NULL)
    good = !cli_call_quietly(&r, &list, "marketplace.list", arguments) ||
           add_items(c, list);
  else if (cli_remote_is_original(&r))
    free(arguments);
  else
    good = cli_call_read(&r, &list, "marketplace.list", arguments) &&
           add_items(c, list);
  pai_json_free(list);
  cli_remote_close(&r);
  return good;
}

bool cli_templates_list(pai_json **out, const cli_template_query *query)
{
  collection c = { .query = query, .comma = "" };
  char *json = NULL;
  size_t size = 0;
  bool good = true;

  *out = NULL;
  c.out = open_memstream(&json, &size);
  if (c.out == NULL)
    return false;
  (void)fputc('[', c.out);
  cli_makes_root = true; /* without a root there is no platform */
  if (!query->mine)
    good = cli_templates_own(add_own, &c);
  good = good && add_marketplace(&c);
  (void)fputc(']', c.out);
  if (fclose(c.out) != 0 || (good && !cli_json_read(out, json, size))) {
    cli_fail("out of memory");
    good = false;
  }
  free(json);
  return good;
}

/* --- one ----------------------------------------------------------------- */

static bool is_id(const char *id, const char *word)
{
  size_t len = strlen(word);

  return len >= CLI_TEMPLATE_ID && strncmp(id, word, len) == 0;
}

/* Returns the place of the template that a word means; PAI_JSON_NONE after
 * printing an error. */
static size_t choose(const pai_json *list, const char *word)
{
  size_t found = PAI_JSON_NONE;
  unsigned count = 0;

  for (cli_each e = cli_each_of(list, 0); cli_next(&e);)
    if (is_id(cli_json_text(list, e.at, "id"), word))
      return e.at;
  for (cli_each e = cli_each_of(list, 0); cli_next(&e);) {
    if (strcmp(cli_json_text(list, e.at, "name"), word) != 0)
      continue;
    if (strcmp(cli_json_text(list, e.at, "from"), "openpai") == 0)
      return e.at;
    found = e.at;
    count++;
  }
  if (count == 1)
    return found;
  if (count == 0) {
    cli_fail("there is no template %s", word);
    cli_help(stderr, "'openpai template list' shows the templates");
    return PAI_JSON_NONE;
  }
  cli_fail("%u templates are called %s: name one by its id", count, word);
  for (cli_each e = cli_each_of(list, 0); cli_next(&e);)
    if (strcmp(cli_json_text(list, e.at, "name"), word) == 0)
      (void)fprintf(stderr, "  %s  %s\n", cli_json_text(list, e.at, "id"),
                    cli_json_text(list, e.at, "author"));
  return PAI_JSON_NONE;
}

bool cli_template_find(pai_json **out, const char *word)
{
  const cli_template_query query = { .whole = true };
  char *json = NULL;
  size_t size = 0, place;
  pai_json *list;
  FILE *copy;
  bool good;

  *out = NULL;
  if (!cli_templates_list(&list, &query))
    return false;
  place = choose(list, word);
  copy = place != PAI_JSON_NONE ? open_memstream(&json, &size) : NULL;
  good = copy != NULL &&
         pai_json_write(list, place, cli_write, copy, NULL) == PAI_OK;
  if (copy != NULL && fclose(copy) != 0)
    good = false;
  good = good && cli_json_read(out, json, size);
  free(json);
  pai_json_free(list);
  return good;
}

char *cli_template_item(cli_remote *r, const char *word)
{
  pai_json *list;
  size_t place;
  char *id;

  if (!cli_call_read(r, &list, "marketplace.list",
                     cli_json_make("{\"brief\":true}")))
    return NULL;
  place = choose(list, word);
  id =
    place != PAI_JSON_NONE ? strdup(cli_json_text(list, place, "id")) : NULL;
  pai_json_free(list);
  return id;
}
