/* job_source.c - a job that `run` or `submit` is given: a file, or a command */
#include "job_source.h"

#include "folders.h"
#include "one_command.h"
#include "secrets.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

void cli_job_source_cut(cli_job_source *s, int *argc, char **argv)
{
  s->words = cli_cut_command(argc, argv);
  s->command = argv + *argc + 1;
}

static bool misused(const cli_verb *verb, const char *what, const char *word)
{
  cli_misused(verb, what, word);
  return false;
}

static bool runs_in_engine(void)
{
  return cli_job.runtime != NULL && (strcmp(cli_job.runtime, "podman") == 0 ||
                                     strcmp(cli_job.runtime, "docker") == 0);
}

bool cli_job_source_take(cli_job_source *s, const cli_verb *verb, int words,
                         char **argv)
{
  bool command = s->words > 0;

  cli_makes_root = true;
  s->file = words > 0 ? argv[0] : NULL;
  if (command && words > 0)
    return misused(verb, "a job file and a command exclude each other",
                   argv[0]);
  if (words > 1)
    return misused(verb, "only one job file can be given", argv[1]);
  if (!command && words == 0)
    return misused(verb, "a job file, or a command after --, is needed",
                   "missing argument");
  if (!cli_job_options_good(verb))
    return false;
  if (command && cli_image.count == 0 && runs_in_engine())
    return misused(verb, "a container requires an image: --image NAME",
                   cli_job.runtime);
  if (command && (s->secrets != NULL || cli_secret_files.count > 0))
    return misused(verb, "these options require a job file",
                   "--secrets, --secret-file");
  if (!command && s->env.clean)
    return misused(verb, "this option requires a command after --",
                   "--clean-env");
  return true;
}

/* MiB of a command without --memory: as its CPUs are a part of the node's, so is
 * its memory.  -1: told. */
static long long default_memory(void)
{
  enum { EACH = 4096, LEAST = 256 };
  long long cpus = cli_job_cpus(), memory = cpus * EACH;
  cli_remote r;
  cli_answer a;
  cli_json j;

  if (!cli_remote_open(&r, true))
    return -1;
  cli_remote_ask(&r, &a, "GET", "/api/v2/status", NULL, NULL, 0);
  if (a.status == PAI_OK && cli_json_read(&j, a.body, a.len)) {
    size_t node = cli_json_get(&j, 0, "machine");
    long long all = node != 0 ? cli_json_number(&j, node, "cpus", 0) : 0,
              mb =
                node != 0 ? cli_json_number(&j, node, "memory", 0) >> 20 : 0;

    if (all > 0 && mb > 0)
      memory = cpus < all ? mb / all * cpus : mb;
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  cli_remote_close(&r);
  return memory > LEAST ? memory : LEAST;
}

static void tell_memory(long long mb)
{
  char note[120];

  (void)snprintf(note, sizeof(note),
                 "memory: %lld MiB, the share of its CPUs (--memory)", mb);
  cli_say(PAI_LOG_INFO, note);
}

/* Whether the job goes to the platform of this machine. */
static bool stays_here(void)
{
  cli_site site = { 0 };
  bool here = cli_site_choose(&site) == 0;

  cli_site_free(&site);
  return here;
}

static int open_command(cli_job_file *out, const cli_job_source *s, bool quiet)
{
  static const char name[] = "the command";
  bool given = cli_memory.count > 0;
  long long memory = given ? 1 : default_memory();
  char *text =
    memory > 0 ? cli_one_command_job(s->command, s->words, memory) : NULL;
  int code;

  *out = (cli_job_file){ .file = { .name = name } };
  if (text == NULL)
    return CLI_NO;
  /* What a container has at those paths is its image's. */
  if (stays_here() && cli_image.count == 0)
    cli_folders_find(s->command, s->words, !s->env.clean, s->copied, quiet);
  cli_job_file_take(out, name, text, strlen(text), NULL, true);
  free(text);
  code = cli_job_file_judge(out, name);
  if (code == CLI_OK && !given && !quiet)
    tell_memory(memory);
  return code;
}

int cli_job_source_open(cli_job_file *out, const cli_job_source *s, bool quiet)
{
  bool command = s->words > 0;
  int code =
    command ? open_command(out, s, quiet) : cli_job_file_need(out, s->file);

  if (code == CLI_OK && !command)
    code = cli_secrets_fill(out, s->secrets, false);
  if (code == CLI_OK)
    code = cli_environment_fill(out, &s->env, command);
  return code;
}
