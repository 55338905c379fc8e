/* job_select.c - selection of the jobs for a verb: names, globs, states, tags,
 * --all */
#include "job_select.h"

#include "cells.h"
#include "secrets.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *cli_job_states(const char *list)
{
  static const char *const known[] = { "WAITING",   "RUNNING", "STOPPING",
                                       "SUCCEEDED", "FAILED",  "STOPPED",
                                       NULL };
  size_t room = strlen(list) * 4 + 64;
  char *out = calloc(1, room), *copy = strdup(list), *next = NULL, *part;

  for (part = copy != NULL ? strtok_r(copy, ",", &next) : NULL;
       out != NULL && part != NULL; part = strtok_r(NULL, ",", &next)) {
    const char *const *w = known;

    while (*w != NULL && strcasecmp(*w, part) != 0)
      w++;
    if (*w == NULL) {
      cli_fail("--state: there is no state '%s'", part);
      cli_help(stderr, "WAITING, RUNNING, STOPPING, SUCCEEDED, FAILED or "
                       "STOPPED, with commas between them");
      free(out);
      out = NULL;
    } else {
      (void)snprintf(out + strlen(out), room - strlen(out), "%s%s",
                     out[0] != '\0' ? "," : "", *w);
    }
  }
  free(copy);
  if (out != NULL && out[0] == '\0') {
    cli_fail("--state: this names no state: '%s'", list);
    free(out);
    out = NULL;
  }
  return out;
}

/* Asks "stop 3 jobs: a, b, c? [y/N]". */
static bool ask(const cli_job_names *names, const char *does)
{
  enum { SHOWN = 8 };
  char *answer, question[600];
  size_t len = 0, n = names->count;
  bool yes;

  len = (size_t)snprintf(question, sizeof(question), "%s %zu job%s:", does, n,
                         n == 1 ? "" : "s");
  for (size_t i = 0; i < n && i < SHOWN; i++) {
    int more = snprintf(question + len, sizeof(question) - len, "%s %.50s",
                        i > 0 ? "," : "", names->list[i]);

    len += more > 0 ? (size_t)more : 0;
  }
  (void)snprintf(question + len, sizeof(question) - len, "%s? [y/N]",
                 n > SHOWN ? ", ..." : "");
  answer = cli_prompt_shown(question);
  yes = answer != NULL && (answer[0] == 'y' || answer[0] == 'Y');
  free(answer);
  return yes;
}

int cli_jobs_confirm(const cli_job_names *names, const char *does,
                     const char *option, bool yes)
{
  if (yes)
    return CLI_OK;
  if (!cli_terminal_is_input() || !cli_is_terminal(stderr))
    return cli_misused(
      "without a terminal, jobs that are not named require --yes", option);
  return ask(names, does) ? CLI_OK : CLI_NO;
}

/* A change of jobs that were not named needs a confirmation. */
static int confirm(const cli_job_names *names, const cli_selection_options *s,
                   const char *does, bool named)
{
  const char *option = s->all             ? "--all"
                       : s->state != NULL ? "--state"
                       : s->tag != NULL   ? "--tag"
                                          : "a glob";

  return does == NULL || named ? CLI_OK
                               : cli_jobs_confirm(names, does, option, s->yes);
}

/* Checks that the selection options and names fit together.  `states` are
 * those of --state. */
static bool makes_sense(const cli_selection_options *s, const char *states,
                        int words, char **argv)
{
  for (int i = 0; i < words; i++)
    if (!cli_job_name(argv[i]))
      return false;
  if (s->state != NULL && states == NULL)
    return false;
  if (s->tag != NULL && s->tag[strspn(s->tag, ", ")] == '\0')
    return cli_wrong("--tag: this names no tag", s->tag);
  if (words > 0 && s->all)
    return cli_wrong("--all and names of jobs exclude each other", argv[0]);
  return words > 0 || s->all || s->state != NULL || s->tag != NULL ||
         cli_want_jobs(0, argv);
}

int cli_jobs_select(cli_job_names *out, cli_remote *r,
                    const cli_selection_options *s, const char *fit,
                    const char *does, int words, char **argv)
{
  char star[] = "*", *every[] = { star };
  bool named = words > 0;
  char *states = s->state != NULL ? cli_job_states(s->state) : NULL;
  cli_job_filter filter = { .tags = s->tag,
                            .may_be_none = s->all && does == NULL };
  int code = CLI_USAGE;

  *out = (cli_job_names){ 0 };
  for (int i = 0; i < words; i++)
    named &= !cli_is_glob(argv[i]);
  filter.states = states != NULL ? states : named ? NULL : fit;
  if (makes_sense(s, states, words, argv))
    code = cli_job_names_add(out, r, words > 0 ? argv : every,
                             words > 0 ? words : 1, &filter)
             ? confirm(out, s, does, named)
             : CLI_NO;
  free(states);
  if (code != CLI_OK)
    cli_job_names_free(out);
  return code;
}
