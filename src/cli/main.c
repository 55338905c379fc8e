/* main.c - finds the verb and runs it */
#include "remote.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether a verb asks a platform, which may be another machine's. */
static const struct {
  const cli_verb *verb;
  bool asks;
} verbs[] = {
  { &cli_run, true },
  { &cli_submit_verb, true },
  { &cli_list, true },
  { &cli_show, true },
  { &cli_logs, true },
  { &cli_exec, true },
  { &cli_attach, true },
  { &cli_ssh, true },
  { &cli_why, true },
  { &cli_wait, true },
  { &cli_stop, true },
  { &cli_retry, true },
  { &cli_clone, true },
  { &cli_rm, true },
  { &cli_prune, true },
  { &cli_tag_add, true },
  { &cli_tag_remove, true },
  { &cli_files, true },
  { &cli_cp, true },
  { &cli_events, true },
  { &cli_top, true },
  { &cli_up, false },
  { &cli_serve_verb, false },
  { &cli_down, false },
  { &cli_status, true },
  { &cli_backup, true },
  { &cli_export, true },
  { &cli_login, true },
  { &cli_logout, true },
  { &cli_remote_list, true },
  { &cli_remote_show, true },
  { &cli_remote_add, true },
  { &cli_remote_remove, true },
  { &cli_remote_use, true },
  { &cli_remote_import, true },
  { &cli_compat, true },
  { &cli_vc_list, true },
  { &cli_vc_show, true },
  { &cli_vc_add, true },
  { &cli_vc_set, true },
  { &cli_vc_stop, true },
  { &cli_vc_start, true },
  { &cli_vc_remove, true },
  { &cli_node_list, true },
  { &cli_node_show, true },
  { &cli_node_drain, true },
  { &cli_node_resume, true },
  { &cli_user_list, true },
  { &cli_user_show, true },
  { &cli_user_add, true },
  { &cli_user_set, true },
  { &cli_user_passwd, true },
  { &cli_user_remove, true },
  { &cli_user_quota, true },
  { &cli_group_list, true },
  { &cli_group_show, true },
  { &cli_group_add, true },
  { &cli_group_set, true },
  { &cli_group_remove, true },
  { &cli_token_list, true },
  { &cli_token_create, true },
  { &cli_token_revoke, true },
  { &cli_storage_list, true },
  { &cli_storage_show, true },
  { &cli_storage_add, true },
  { &cli_storage_remove, true },
  { &cli_doctor, false },
  { &cli_at, true },
  { &cli_spec_check, false },
  { &cli_spec_render, false },
  { &cli_spec_show, false },
  { &cli_spec_convert, false },
  { &cli_spec_fmt, false },
  { &cli_spec_diff, false },
  { &cli_spec_schema, false },
  { &cli_cluster_show, false },
  { &cli_cluster_check, false },
  { &cli_cluster_hived, false },
  { &cli_cluster_top, false },
  { &cli_sched_replay, true },
  { &cli_sched_show, true },
  { &cli_sched_explain, true },
  { &cli_sched_story, true },
  { &cli_sched_hived_replay, false },
  { &cli_sim_run, false },
  { &cli_sim_generate, false },
  { &cli_trace_show, false },
  { &cli_trace_convert, false },
  { &cli_when, true },
  { &cli_what_if, true },
  { &cli_fit, true },
};

/* What the verbs of a group, the first word of their names, are for. */
static const struct {
  const char *name, *what;
} groups[] = {
  { "remote", "Manage the list of remote servers" },
  { "tag", "Manage tags of jobs" },
  { "vc", "Manage virtual clusters" },
  { "node", "Manage the platform's nodes" },
  { "user", "Manage users" },
  { "group", "Manage groups of users and their rights" },
  { "token", "Manage API tokens" },
  { "storage", "Manage storages for jobs" },
  { "spec", "Check, show and convert job files" },
  { "cluster", "Show and check machines and clusters" },
  { "sched", "Replay and explain scheduler logs" },
  { "sim", "Simulate a cluster (without a verb: sim run)" },
  { "trace", "Show and convert job traces" },
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
    if (is_of(verbs[i].verb, name))
      return true;
  return false;
}

/* The verb that the words name, NULL for none; and how many of them do. */
static const cli_verb *find_verb(int count, char **words, int *used)
{
  for (size_t i = 0; count > 0 && i < VERBS; i++) {
    const char *name = verbs[i].verb->name, *last = strrchr(name, ' ');

    *used = last != NULL ? 2 : 1;
    if (last == NULL ? strcmp(name, words[0]) == 0
                     : count > 1 && is_of(verbs[i].verb, words[0]) &&
                         strcmp(last + 1, words[1]) == 0)
      return verbs[i].verb;
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
  const char *what = "Run AI jobs on this machine.";

  for (size_t i = 0; group != NULL && i < GROUPS; i++)
    if (strcmp(groups[i].name, group) == 0)
      what = groups[i].what;
  (void)fprintf(out, "usage: openpai %s%sVERB [OPTIONS] [ARGUMENTS]\n\n%s\n\n",
                group != NULL ? group : "", group != NULL ? " " : "", what);
  for (size_t i = 0; i < VERBS; i++) {
    if (group == NULL || is_of(verbs[i].verb, group))
      (void)fprintf(out, "  %-19s %s\n", verbs[i].verb->name,
                    verbs[i].verb->brief);
    /* It is longer than stdio's buffer: why it cannot be written is known only
     * by who writes that. */
    if (i % 16 == 15 && out == stdout && !cli_written())
      return;
  }
  if (group == NULL)
    (void)fprintf(out, "  %-19s %s\n\n%s\n", "help",
                  "Explain a verb: openpai help run",
                  "--cluster ALIAS, before or after a verb, uses a remote "
                  "server: see openpai help login.\n"
                  "openpai --version prints the version.");
}

/* A verb, or a group of them, that may have been meant, or NULL. */
static const char *guess(int count, char **words)
{
  bool grouped = is_group(words[0]);
  const char *word = words[grouped && count > 1 ? 1 : 0];

  for (size_t i = 0; i < VERBS; i++) {
    const char *last = strrchr(verbs[i].verb->name, ' ');

    if (grouped ? !is_of(verbs[i].verb, words[0]) : last != NULL)
      continue;
    if (cli_is_slip(word, strlen(word),
                    last != NULL ? last + 1 : verbs[i].verb->name))
      return verbs[i].verb->name;
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

/* A value of --NAME, as "--NAME VALUE" or "--NAME=VALUE"; how many words that
 * are, 0: it is another word. */
static int read_global(const char *name, int count, char **words,
                       const char **value)
{
  size_t len = strlen(name);

  if (count == 0 || strncmp(words[0], name, len) != 0)
    return 0;
  if (words[0][len] == '=') {
    *value = words[0] + len + 1;
    return 1;
  }
  if (words[0][len] != '\0' || count < 2)
    return 0;
  *value = words[1];
  return 2;
}

/* --root DIR and --cluster ALIAS before the verb. */
static void take_globals(int *count, char ***words)
{
  int used;

  do {
    used = read_global("--root", *count, *words, &cli_root);
    if (used == 0)
      used = read_global("--cluster", *count, *words, &cli_cluster);
    *count -= used;
    *words += used;
  } while (used > 0);
}

/* --cluster ALIAS behind the verb is taken out, up to a "--". */
static void take_cluster(int *count, char **words)
{
  int kept = 0, i = 0;

  while (i < *count && strcmp(words[i], "--") != 0) {
    int used = read_global("--cluster", *count - i, words + i, &cli_cluster);
    if (used == 0)
      words[kept++] = words[i++];
    i += used;
  }
  while (i < *count)
    words[kept++] = words[i++];
  words[kept] = NULL; /* a command ends there, for who does not count */
  *count = kept;
}

static bool asks_platform(const cli_verb *verb)
{
  size_t i = 0;

  while (i < VERBS && verbs[i].verb != verb)
    i++;
  return i < VERBS && verbs[i].asks;
}

/* `sim` has a --cluster of its own: a file.  What the old programs' words have
 * may be a job's command. */
static bool has_own_cluster(const cli_verb *verb)
{
  return is_of(verb, "sim") || verb == &cli_compat;
}

/* False, and told: the verb cannot be asked of the server that is named. */
static bool settle_cluster(const cli_verb *verb, int count, char **words)
{
  int last = 0;

  while (last < count && strcmp(words[last], "--") != 0)
    last++;
  if (!has_own_cluster(verb) && last > 0 &&
      strcmp(words[last - 1], "--cluster") == 0) {
    cli_misused(verb, "this option needs a value", words[last - 1]);
    return false;
  }
  if (cli_cluster != NULL && cli_root != NULL) {
    cli_misused(verb, "--root and --cluster exclude each other",
                "--root with --cluster");
    return false;
  }
  if (asks_platform(verb))
    return true;
  if (cli_cluster != NULL && strcmp(cli_cluster, CLI_HERE) != 0) {
    cli_fail("%s works on this machine only, not on the server %s", verb->name,
             cli_cluster);
    cli_help(stderr, "leave out --cluster, or do it on that machine");
    return false;
  }
  cli_cluster = CLI_HERE; /* whatever server is used else */
  return true;
}

int cli_dispatch(int count, char **words)
{
  int used = 0;
  const cli_verb *verb = find_verb(count, words, &used);

  if (verb == NULL)
    return run_words(count, words);
  words += used;
  count -= used;
  if (!has_own_cluster(verb))
    take_cluster(&count, words);
  if (!settle_cluster(verb, count, words))
    return verb == &cli_run || verb == &cli_wait || verb == &cli_exec
             ? CLI_BROKEN
             : CLI_USAGE;
  return verb->run(count + 1, words - 1);
}

/* Called by a link with the name of an old program: its words. */
static const char *old_program(int argc, char **argv)
{
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  const char *name = slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "";

  return strcmp(name, "pai") == 0 || strcmp(name, "opai") == 0 ? name : NULL;
}

/* "compat", the program, and its words. */
static int run_old(const char *program, int count, char **words)
{
  char **more = (char **)malloc(((size_t)count + 3) * sizeof(*more));
  int code;

  if (more == NULL) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  more[0] = (char *)cli_compat.name;
  more[1] = (char *)program;
  memcpy((void *)(more + 2), (void *)words, (size_t)count * sizeof(*more));
  more[count + 2] = NULL;
  code = cli_dispatch(count + 2, more);
  free((void *)more);
  return code;
}

int main(int argc, char **argv)
{
  static char room[1 << 16];
  int count = argc > 0 ? argc - 1 : 0, used = 0, code;
  const char *old = old_program(argc, argv);
  char **words = argv + argc - count;
  const cli_verb *verb;

  fill_standard_streams();
  /* An answer in one piece: why it cannot be written is known then. */
  if (!cli_is_terminal(stdout))
    (void)setvbuf(stdout, room, _IOFBF, sizeof(room));
  cli_keep_owner();
  if (old == NULL)
    take_globals(&count, &words);
  verb = old == NULL ? find_verb(count, words, &used) : NULL;
  code = old == NULL ? cli_dispatch(count, words) : run_old(old, count, words);
  if (cli_written())
    return code;
  return verb == &cli_run || verb == &cli_wait ? CLI_BROKEN : CLI_NO;
}
