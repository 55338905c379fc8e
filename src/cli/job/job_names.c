/* job_names.c - names and globs of jobs on the command line */
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

/* Takes ownership of the name. */
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

/* The same, but drops a name that is already there. */
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

/* Returns NAME for a job of this user, else USER~NAME. */
static char *short_name(const char *user, const char *name)
{
  size_t size = strlen(user) + strlen(name) + 2;
  char *out = strcmp(user, cli_user()) == 0 ? strdup(name) : malloc(size);

  if (out != NULL && strcmp(user, cli_user()) != 0)
    (void)snprintf(out, size, "%s~%s", user, name);
  return out;
}

/* Adds the matching jobs of a list; *rows is the number of jobs in the
 * list. */
static bool add_matches(cli_job_names *names, const pai_json *list,
                        const char *user, const char *glob, size_t *rows,
                        size_t *found)
{
  *rows = 0;
  for (cli_each i = cli_each_of(list, 0); cli_next(&i);) {
    const char *name = cli_json_text(list, i.at, "name");

    (*rows)++;
    if (strcmp(cli_json_text(list, i.at, "username"), user) != 0 ||
        fnmatch(glob, name, 0) != 0)
      continue;
    (*found)++;
    if (!add(names, short_name(user, name)))
      return false;
  }
  return true;
}

/* The jobs to find. */
typedef struct search {
  const char *user, *glob;
  const cli_job_filter *filter;
} search;

static bool add_page(cli_job_names *names, cli_remote *r, const search *s,
                     size_t from, size_t *rows, size_t *found)
{
  const cli_job_filter *f = s->filter;
  pai_json *list;
  bool good;

  if (!cli_call_read(
        r, &list, "jobs.list",
        cli_json_make("{\"order\":\"submissionTime,ASC\",\"offset\":%zu,"
                      "\"limit\":%d,\"username\":%s,\"state\":%s,"
                      "\"tagsContain\":%s}",
                      from, PAGE, s->user, f != NULL ? f->states : NULL,
                      f != NULL ? f->tags : NULL)))
    return false;
  good = add_matches(names, list, s->user, s->glob, rows, found);
  cli_json_free(&list);
  return good;
}

/* Prints that no job matches. */
static void tell_none(const search *s, bool of_others)
{
  const cli_job_filter *f = s->filter;
  const char *tags = f != NULL ? f->tags : NULL;

  if (strcmp(s->glob, "*") == 0)
    cli_fail("%s has no such job%s%s", s->user,
             tags != NULL ? " with tag " : "", tags != NULL ? tags : "");
  else
    cli_fail("no such job of %s matches '%s'", s->user, s->glob);
  if (f != NULL && f->states != NULL)
    (void)fprintf(
      stderr, "  help: only jobs in state %s were considered: see --state\n",
      f->states);
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
