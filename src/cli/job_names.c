/* job_names.c - names of jobs from words of a command line, which may be globs */
#include "job_names.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 5000 }; /* jobs of one answer */

bool cli_is_glob(const char *word)
{
  return word[strcspn(word, "*?[")] != '\0';
}

void cli_job_names_free(cli_job_names *names)
{
  for (size_t i = 0; i < names->count; i++)
    free(names->list[i]);
  free(names->list);
  *names = (cli_job_names){ 0 };
}

static bool out_of_memory(void)
{
  cli_fail("out of memory");
  return false;
}

/* Takes the name. */
static bool append(cli_job_names *names, char *name)
{
  if (name == NULL)
    return out_of_memory();
  if (names->count == names->cap) {
    size_t cap = names->cap * 2 + 8;
    char **grown = realloc(names->list, cap * sizeof(*grown));
    if (grown == NULL) {
      free(name);
      return out_of_memory();
    }
    names->list = grown;
    names->cap = cap;
  }
  names->list[names->count++] = name;
  return true;
}

/* The same, of one that may be there already. */
static bool add(cli_job_names *names, char *name)
{
  for (size_t i = 0; name != NULL && i < names->count; i++)
    if (strcmp(names->list[i], name) == 0) {
      free(name);
      return true;
    }
  return append(names, name);
}

bool cli_job_names_put(cli_job_names *names, const char *name)
{
  return append(names, strdup(name));
}

/* As one writes it: without the user, if that is this one. */
static char *short_name(const char *user, const char *name)
{
  size_t size = strlen(user) + strlen(name) + 2;
  char *out = strcmp(user, cli_user()) == 0 ? strdup(name) : malloc(size);

  if (out != NULL && strcmp(user, cli_user()) != 0)
    (void)snprintf(out, size, "%s~%s", user, name);
  return out;
}

/* Those of a list that match; `rows` is how many there are in it. */
static bool add_matches(cli_job_names *names, const cli_json *list,
                        const char *user, const char *glob, size_t *rows,
                        size_t *found)
{
  *rows = 0;
  for (size_t i = cli_json_first(list, 0); i != 0;
       i = cli_json_next(list, 0, i)) {
    const char *name = cli_json_text(list, i, "name");

    (*rows)++;
    if (strcmp(cli_json_text(list, i, "username"), user) != 0 ||
        fnmatch(glob, name, 0) != 0)
      continue;
    (*found)++;
    if (!add(names, short_name(user, name)))
      return false;
  }
  return true;
}

/* "&key=value" of a value that there is; false: no memory, or it is too long. */
static bool add_query(char *path, size_t size, const char *key,
                      const char *value)
{
  size_t len = strlen(path);
  char *escaped;
  int n;

  if (value == NULL)
    return true;
  escaped = cli_escape(value);
  if (escaped == NULL)
    return false;
  n = snprintf(path + len, size - len, "&%s=%s", key, escaped);
  free(escaped);
  return n > 0 && (size_t)n < size - len;
}

/* What is looked for. */
typedef struct search {
  const char *user, *glob;
  const cli_job_filter *filter;
} search;

static bool add_page(cli_job_names *names, cli_remote *r, const search *s,
                     size_t from, size_t *rows, size_t *found)
{
  const cli_job_filter *f = s->filter;
  char path[2048];
  cli_json list;
  bool good;

  (void)snprintf(path, sizeof(path),
                 "/api/v2/jobs?order=submissionTime,ASC&offset=%zu&limit=%d",
                 from, PAGE);
  if (!add_query(path, sizeof(path), "username", s->user) ||
      !add_query(path, sizeof(path), "state", f != NULL ? f->states : NULL) ||
      !add_query(path, sizeof(path), "tagsContain",
                 f != NULL ? f->tags : NULL))
    return out_of_memory();
  if (!cli_remote_get(r, &list, path))
    return false;
  good = add_matches(names, &list, s->user, s->glob, rows, found);
  cli_json_free(&list);
  return good;
}

/* Says that there are none, in the words that the user knows. */
static void tell_none(const search *s, bool of_others)
{
  const cli_job_filter *f = s->filter;
  const char *tags = f != NULL ? f->tags : NULL;

  if (strcmp(s->glob, "*") == 0)
    cli_fail("%s has no such job%s%s", s->user,
             tags != NULL ? " with tag " : "", tags != NULL ? tags : "");
  else
    cli_fail("no such job of %s matches '%s'", s->user, s->glob);
  if (of_others)
    (void)fprintf(stderr, "  help: 'openpai list --user %s' lists them\n",
                  s->user);
  else
    cli_help(stderr, "'openpai list' lists the jobs; USER~GLOB matches those "
                     "of another user");
}

static bool add_glob(cli_job_names *names, cli_remote *r, const char *word,
                     const cli_job_filter *filter)
{
  const char *tilde = strchr(word, '~');
  char *user =
    tilde != NULL ? strndup(word, (size_t)(tilde - word)) : strdup(cli_user());
  const search s = { user, tilde != NULL ? tilde + 1 : word, filter };
  size_t rows = PAGE, found = 0;
  bool good = user != NULL || out_of_memory();

  for (size_t from = 0; good && rows == PAGE; from += PAGE)
    good = add_page(names, r, &s, from, &rows, &found);
  if (good && found == 0 && (filter == NULL || !filter->may_be_none)) {
    tell_none(&s, tilde != NULL);
    good = false;
  }
  free(user);
  return good;
}

bool cli_job_names_add(cli_job_names *names, cli_remote *r, char *const *words,
                       int count, const cli_job_filter *filter)
{
  bool good = true, filtered = filter != NULL && (filter->states != NULL ||
                                                  filter->tags != NULL);

  for (int i = 0; i < count && good; i++)
    good = cli_job_name(words[i]) && (filtered || cli_is_glob(words[i])
                                        ? add_glob(names, r, words[i], filter)
                                        : add(names, strdup(words[i])));
  return good;
}
