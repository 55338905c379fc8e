/* main.c - finds the verb and runs it */
#include "cli.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const cli_verb *const verbs[] = { &cli_run, &cli_doctor };

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static const cli_verb *find_verb(const char *name)
{
  for (size_t i = 0; i < VERBS; i++)
    if (strcmp(verbs[i]->name, name) == 0)
      return verbs[i];
  return NULL;
}

static void print_overview(FILE *out)
{
  (void)fprintf(out, "usage: openpai VERB [OPTIONS] [ARGUMENTS]\n\n"
                     "Runs AI jobs on this machine.\n\n");
  for (size_t i = 0; i < VERBS; i++)
    (void)fprintf(out, "  %-8s %s\n", verbs[i]->name, verbs[i]->brief);
  (void)fprintf(out, "  %-8s %s\n", "help",
                "Explain a verb: openpai help run");
  (void)fprintf(out, "\nopenpai --version prints the version.\n");
}

static int unknown(const char *name)
{
  cli_fail("there is no verb '%s'", name);
  (void)fprintf(stderr, "  help: openpai help lists them\n");
  return CLI_USAGE;
}

static int help(const char *name)
{
  const cli_verb *verb;

  if (name == NULL) {
    print_overview(stdout);
    return CLI_OK;
  }
  verb = find_verb(name);
  if (verb == NULL && strcmp(name, "help") == 0)
    return help(NULL);
  if (verb == NULL)
    return unknown(name);
  cli_print_help(verb, stdout);
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
static int run_word(const char *name, const char *next)
{
  if (name == NULL) {
    print_overview(stderr);
    return CLI_USAGE;
  }
  if (strcmp(name, "--version") == 0) {
    (void)printf("openpai %s\n", pai_version());
    return CLI_OK;
  }
  if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 ||
      strcmp(name, "-h") == 0)
    return help(next);
  return unknown(name);
}

int main(int argc, char **argv)
{
  const cli_verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;
  int code;

  fill_standard_streams();
  if (verb != NULL)
    code = verb->run(argc - 1, argv + 1);
  else
    code = run_word(argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : NULL);
  if (cli_written())
    return code;
  return verb == &cli_run ? CLI_BROKEN : CLI_NO;
}
