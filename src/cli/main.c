/* main.c - entry point of openpai: finds the verb and runs it */
#include "remote.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Whether the verb belongs to a group: "spec check" to "spec". */
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
  for (size_t i = 0; i < cli_verb_count; i++)
    if (is_of(&cli_verbs[i], name))
      return true;
  return false;
}

/* Returns the verb that the words name, or NULL; *used is how many words that
 * takes. */
static const cli_verb *find_verb(int count, char **words, int *used)
{
  static char run[] = "run";

  for (size_t i = 0; count > 0 && i < cli_verb_count; i++) {
    const char *name = cli_verbs[i].name, *last = strrchr(name, ' ');

    *used = last != NULL ? 2 : 1;
    if (last == NULL ? strcmp(name, words[0]) == 0
                     : count > 1 && is_of(&cli_verbs[i], words[0]) &&
                         strcmp(last + 1, words[1]) == 0)
      return &cli_verbs[i];
  }
  *used = 1;
  if (count > 1 && strcmp(words[0], "sim") == 0 && words[1][0] == '-' &&
      !asks_for_help(words[1])) /* `sim` without a verb means `sim run` */
    return find_verb(2, (char *[]){ words[0], run }, &(int){ 0 });
  return NULL;
}

/* Prints all verbs, or those of a group. */
static void print_overview(FILE *out, const char *group)
{
  const char *what = "Run AI jobs on this machine.";

  for (size_t i = 0; group != NULL && i < cli_group_count; i++)
    if (strcmp(cli_groups[i].name, group) == 0)
      what = cli_groups[i].what;
  (void)fprintf(out, "usage: openpai %s%sVERB [OPTIONS] [ARGUMENTS]\n\n%s\n\n",
                group != NULL ? group : "", group != NULL ? " " : "", what);
  for (size_t i = 0; i < cli_verb_count; i++) {
    if (group == NULL || is_of(&cli_verbs[i], group))
      (void)fprintf(out, "  %-19s %s\n", cli_verbs[i].name,
                    cli_verbs[i].brief);
    /* The text exceeds stdio's buffer; a flush in between keeps the errno of a
     * failed write. */
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

/* Returns the name of a similar verb or group, or NULL. */
static const char *guess(int count, char **words)
{
  bool grouped = is_group(words[0]);
  const char *word = words[grouped && count > 1 ? 1 : 0];

  for (size_t i = 0; i < cli_verb_count; i++) {
    const char *last = strrchr(cli_verbs[i].name, ' ');

    if (grouped ? !is_of(&cli_verbs[i], words[0]) : last != NULL)
      continue;
    if (cli_is_misspelling(word, strlen(word),
                           last != NULL ? last + 1 : cli_verbs[i].name))
      return cli_verbs[i].name;
  }
  for (size_t i = 0; i < cli_group_count && !grouped; i++)
    if (cli_is_misspelling(word, strlen(word), cli_groups[i].name))
      return cli_groups[i].name;
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
    (void)fputs(cli_overview, stdout);
    return CLI_OK;
  }
  if (strcmp(words[0], "--all") == 0) {
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

/* If the caller closed 0, 1 or 2, the next opened file must not get that
 * number. */
static void fill_standard_streams(void)
{
  int fd;

  do
    fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0)
    (void)close(fd);
}

/* Handles words that are not a verb. */
static int run_words(int count, char **words)
{
  if (count == 0) {
    (void)fputs(cli_overview, stderr);
    return CLI_USAGE;
  }
  if (count == 1 && is_group(words[0])) {
    print_overview(stderr, words[0]);
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

/* Reads --NAME VALUE or --NAME=VALUE.  Returns how many words that takes; 0:
 * another word. */
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

/* Takes --root DIR and --cluster ALIAS before the verb. */
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

/* Takes --cluster ALIAS after the verb, up to a "--". */
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
  words[kept] = NULL; /* terminates a command's argv */
  *count = kept;
}

/* --cluster of `sim` is an option of its own: a file. */
static bool has_own_cluster(const cli_verb *verb)
{
  return is_of(verb, "sim");
}

/* Returns false, after printing an error, if the verb cannot be used with the
 * named server. */
static bool settle_cluster(const cli_verb *verb, int count, char **words)
{
  int last = 0;

  cli_verb_now = verb;
  while (last < count && strcmp(words[last], "--") != 0)
    last++;
  if (!has_own_cluster(verb) && last > 0 &&
      strcmp(words[last - 1], "--cluster") == 0)
    return cli_wrong("this option needs a value", words[last - 1]);
  if (cli_cluster != NULL && cli_root != NULL)
    return cli_wrong("--root and --cluster exclude each other",
                     "--root with --cluster");
  if (verb->asks)
    return true;
  if (cli_cluster != NULL && strcmp(cli_cluster, CLI_HERE) != 0) {
    cli_fail("%s works on this machine only, not on the server %s", verb->name,
             cli_cluster);
    cli_help(stderr, "omit --cluster, or run the command on that machine");
    return false;
  }
  cli_cluster = CLI_HERE; /* whichever server is in use */
  return true;
}

/* Without descriptors libuv ends the process with abort(). */
static bool has_descriptors(void)
{
  enum { NEEDED = 20 };
  struct rlimit files;

  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= NEEDED)
    return true;
  cli_fail("the limit of open files is %llu: openpai needs at least %d",
           (unsigned long long)files.rlim_cur, NEEDED);
  cli_help(stderr, "raise it: ulimit -n 1024");
  return false;
}

static int dispatch(const cli_verb *verb, int count, char **words)
{
  if (!has_descriptors())
    return verb->misuse == CLI_BROKEN ? CLI_BROKEN : CLI_NO;
  if (!has_own_cluster(verb))
    take_cluster(&count, words);
  return settle_cluster(verb, count, words) ? cli_run_verb(verb, count, words)
                                            : verb->misuse;
}

/* Exit code if output was lost: `run` and `wait` otherwise return a job's
 * code. */
static int code_of_loss(const cli_verb *verb)
{
  return verb != NULL && (strcmp(verb->name, "run") == 0 ||
                          strcmp(verb->name, "wait") == 0)
           ? CLI_BROKEN
           : CLI_NO;
}

int main(int argc, char **argv)
{
  static char room[1 << 16];
  int count = argc > 0 ? argc - 1 : 0, used = 0, code;
  char **words = argv + argc - count;
  const cli_verb *verb;

  fill_standard_streams();
  /* A large buffer lets the answer be written in one piece, so that the errno
   * of a failed write is known. */
  if (!cli_is_terminal(stdout))
    (void)setvbuf(stdout, room, _IOFBF, sizeof(room));
  cli_keep_owner();
  take_globals(&count, &words);
  verb = find_verb(count, words, &used);
  code = verb != NULL ? dispatch(verb, count - used, words + used)
                      : run_words(count, words);
  return cli_written() ? code : code_of_loss(verb);
}
