/* main.c - finds the verb and runs it */
#include "cli.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const cli_verb *const verbs[] = {
  &cli_run,
  &cli_doctor,
  &cli_at,
  &cli_spec_check,
  &cli_spec_render,
  &cli_spec_show,
  &cli_spec_convert,
  &cli_spec_fmt,
  &cli_spec_diff,
  &cli_spec_schema,
  &cli_cluster_show,
  &cli_cluster_check,
  &cli_cluster_hived,
  &cli_cluster_top,
  &cli_sched_replay,
  &cli_sched_show,
  &cli_sched_explain,
  &cli_sched_story,
  &cli_sched_hived_replay,
  &cli_sim_run,
  &cli_sim_generate,
  &cli_trace_show,
  &cli_trace_convert,
  &cli_when,
  &cli_what_if,
  &cli_fit,
};

/* What the verbs of a group, the first word of their names, are for. */
static const struct {
  const char *name, *what;
} groups[] = {
  { "spec", "Verbs for job files." },
  { "cluster", "Verbs for machines: this one, and many together." },
  { "sched", "Verbs for schedulers." },
  { "sim", "Verbs for simulations; without one of them it is run." },
  { "trace", "Verbs for traces of jobs." },
};

enum { GROUPS = sizeof(groups) / sizeof(groups[0]) };

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

/* Whether the verb is one of a group: "spec check" of "spec". */
static bool is_of(const cli_verb *verb, const char *group)
{
  size_t len = strlen(group);

  return strncmp(verb->name, group, len) == 0 && verb->name[len] == ' ';
}

static bool asks_for_help(const char *word)
{
  return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 ||
         strcmp(word, "-h") == 0;
}

static bool is_group(const char *name)
{
  for (size_t i = 0; i < VERBS; i++)
    if (is_of(verbs[i], name))
      return true;
  return false;
}

/* The verb that the words name, NULL for none; and how many of them do. */
static const cli_verb *find_verb(int count, char **words, int *used)
{
  for (size_t i = 0; count > 0 && i < VERBS; i++) {
    const char *name = verbs[i]->name, *last = strrchr(name, ' ');

    *used = last != NULL ? 2 : 1;
    if (last == NULL ? strcmp(name, words[0]) == 0
                     : count > 1 && is_of(verbs[i], words[0]) &&
                         strcmp(last + 1, words[1]) == 0)
      return verbs[i];
  }
  *used = 1;
  return count > 1 && strcmp(words[0], "sim") == 0 && words[1][0] == '-' &&
             !asks_for_help(words[1])
           ? &cli_sim_run /* "sim --policy fifo" */
           : NULL;
}

/* All verbs, or those of a group. */
static void print_overview(FILE *out, const char *group)
{
  const char *what = "Runs AI jobs on this machine.";

  for (size_t i = 0; group != NULL && i < GROUPS; i++)
    if (strcmp(groups[i].name, group) == 0)
      what = groups[i].what;
  (void)fprintf(out, "usage: openpai %s%sVERB [OPTIONS] [ARGUMENTS]\n\n%s\n\n",
                group != NULL ? group : "", group != NULL ? " " : "", what);
  for (size_t i = 0; i < VERBS; i++)
    if (group == NULL || is_of(verbs[i], group))
      (void)fprintf(out, "  %-19s %s\n", verbs[i]->name, verbs[i]->brief);
  if (group == NULL)
    (void)fprintf(out, "  %-19s %s\n\n%s\n", "help",
                  "Explain a verb: openpai help run",
                  "openpai --version prints the version.");
}

/* A verb, or a group of them, that may have been meant, or NULL. */
static const char *guess(int count, char **words)
{
  bool grouped = is_group(words[0]);
  const char *word = words[grouped && count > 1 ? 1 : 0];

  for (size_t i = 0; i < VERBS; i++) {
    const char *last = strrchr(verbs[i]->name, ' ');

    if (grouped ? !is_of(verbs[i], words[0]) : last != NULL)
      continue;
    if (cli_is_slip(word, strlen(word),
                    last != NULL ? last + 1 : verbs[i]->name))
      return verbs[i]->name;
  }
  for (size_t i = 0; i < GROUPS && !grouped; i++)
    if (cli_is_slip(word, strlen(word), groups[i].name))
      return groups[i].name;
  return NULL;
}

static int unknown(int count, char **words)
{
  bool grouped = is_group(words[0]);
  const char *meant = guess(count, words);

  cli_fail("there is no verb '%s%s%s'", words[0],
           grouped && count > 1 ? " " : "",
           grouped && count > 1 ? words[1] : "");
  if (meant != NULL)
    (void)fprintf(stderr, "  help: did you mean 'openpai %s'?\n", meant);
  else
    (void)fprintf(stderr, "  help: openpai help%s%s lists them\n",
                  grouped ? " " : "", grouped ? words[0] : "");
  return CLI_USAGE;
}

static int help(int count, char **words)
{
  const cli_verb *verb;
  int used;

  if (count == 0 || strcmp(words[0], "help") == 0) {
    print_overview(stdout, NULL);
    return CLI_OK;
  }
  verb = find_verb(count, words, &used);
  if (verb != NULL)
    cli_print_help(verb, stdout);
  else if (count == 1 && is_group(words[0]))
    print_overview(stdout, words[0]);
  else
    return unknown(count, words);
  return CLI_OK;
}

/* A caller may have closed 0, 1 or 2; the next file opened must not become
 * one of them. */
static void fill_standard_streams(void)
{
  int fd;

  do
    fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0)
    (void)close(fd);
}

/* What is no verb of the table. */
static int run_words(int count, char **words)
{
  if (count == 0 || (count == 1 && is_group(words[0]))) {
    print_overview(stderr, count == 0 ? NULL : words[0]);
    return CLI_USAGE;
  }
  if (strcmp(words[0], "--version") == 0) {
    (void)printf("openpai %s\n", pai_version());
    return CLI_OK;
  }
  if (asks_for_help(words[0]))
    return help(count - 1, words + 1);
  if (is_group(words[0]) && asks_for_help(words[1]))
    return help(1, words);
  return unknown(count, words);
}

int main(int argc, char **argv)
{
  int count = argc > 0 ? argc - 1 : 0, used = 0, code;
  char **words = argv + argc - count;
  const cli_verb *verb = find_verb(count, words, &used);

  fill_standard_streams();
  if (verb != NULL)
    code = verb->run(count - used + 1, words + used - 1);
  else
    code = run_words(count, words);
  if (cli_written())
    return code;
  return verb == &cli_run ? CLI_BROKEN : CLI_NO;
}
