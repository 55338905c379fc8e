/* cmd_run.c - runs one job in the foreground */
#include "environment.h"
#include "foreground.h"
#include "one_command.h"
#include "secrets.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

static int run_file(cli_foreground *r, cli_submission *s, const char *name,
                    const char *secrets, const cli_environment *env)
{
  cli_job_file file;
  int code = CLI_BROKEN;

  if (cli_job_file_need(&file, name) == CLI_OK &&
      cli_secrets_fill(&file, secrets, false) == CLI_OK &&
      cli_environment_fill(&file, env, false) == CLI_OK) {
    r->spec = file.spec;
    s->text = file.text;
    s->len = file.len;
    code = cli_run_job(r, s);
  }
  cli_job_file_close(&file);
  return code;
}

/* The words behind "--" are a command. */
static int run_command(cli_foreground *r, cli_submission *s,
                       const cli_one_command *c, const cli_environment *env)
{
  cli_job_file job = { .text = cli_one_command_job(c) };
  pai_error *err = NULL;
  int code = CLI_BROKEN;

  if (job.text == NULL)
    return code;
  job.len = strlen(job.text);
  if (cli_environment_fill(&job, env, true) == CLI_OK) {
    s->text = job.text;
    s->len = job.len;
    if (pai_spec_parse(&r->spec, s->text, s->len, NULL, &err) == PAI_OK)
      code = cli_run_job(r, s);
    else
      cli_error(NULL, err);
  }
  pai_error_free(err);
  pai_spec_unref(r->spec);
  free(job.text);
  return code;
}

static int misused(const char *what, const char *word)
{
  cli_misused(&cli_run, what, word);
  return CLI_BROKEN;
}

static bool needs_image(const cli_one_command *c)
{
  return c->image == NULL && cli_job_runtime != NULL &&
         (strcmp(cli_job_runtime, "podman") == 0 ||
          strcmp(cli_job_runtime, "docker") == 0);
}

static int run(int argc, char **argv)
{
  bool quiet = false, verbose = false;
  const char *secrets = NULL;
  cli_foreground r = { 0 };
  cli_submission s = { 0 };
  cli_one_command c = { 0 };
  cli_environment env = { 0 };
  const cli_option options[] = {
    { "json", 0, &r.json, NULL },
    { "quiet", 'q', &quiet, NULL },
    { "verbose", 'v', &verbose, NULL },
    { "root", 0, NULL, &cli_root },
    { "param", 'p', NULL, NULL },
    { "name", 0, NULL, &s.name },
    { "code", 0, NULL, &s.code },
    { "gpus", 0, NULL, &c.gpus },
    { "cpus", 0, NULL, &c.cpus },
    { "memory", 0, NULL, &c.memory },
    { "time", 0, NULL, &c.time },
    { "image", 0, NULL, &c.image },
    { "runtime", 0, NULL, &cli_job_runtime },
    { "interactive", 'i', &s.input, NULL },
    { "tty", 't', &s.tty, NULL },
    { "clean-env", 0, &env.clean, NULL },
    ENVIRONMENT_OPTIONS(env),
    SECRETS_OPTIONS(secrets),
  };
  int behind, words;

  c.nwords = cli_cut_command(&argc, argv);
  c.words = argv + argc + 1;
  behind = c.nwords;
  words = cli_options(&cli_run, options, sizeof(options) / sizeof(options[0]),
                      argc, argv);
  if (words == -2)
    return CLI_OK;
  if (words < 0)
    return CLI_BROKEN;
  if (s.name != NULL && (!cli_job_name(s.name) || strchr(s.name, '~') != NULL))
    return CLI_BROKEN;
  if (!cli_job_runtime_good(&cli_run))
    return CLI_BROKEN;
  r.time = c.time;
  r.interactive = s.input || s.tty;
  if (r.interactive && r.json)
    return misused("with --interactive there are no lines of JSON", "--json");
  r.quiet = quiet || (!verbose && !cli_is_terminal(stderr));
  if (behind > 0 && words > 0)
    return misused("run takes a job file or a command, not both", argv[0]);
  if (behind > 0 && needs_image(&c))
    return misused("a container is of an image: --image NAME",
                   cli_job_runtime);
  if (behind > 0 && (secrets != NULL || cli_secret_file_count > 0))
    return misused("a command has no secrets of a job file",
                   "--secrets, --secret-file");
  if (behind > 0)
    return run_command(&r, &s, &c, &env);
  if (c.gpus != NULL || c.cpus != NULL || c.memory != NULL || c.time != NULL ||
      c.image != NULL || env.clean)
    return misused("this is for a command behind --",
                   "--gpus, --cpus, --memory, --time, --image, --clean-env");
  if (words == 1)
    return run_file(&r, &s, argv[0], secrets, &env);
  cli_fail(words == 0 ? "run: which job file?"
                      : "run takes one job file, not %d",
           words);
  (void)fprintf(stderr, "  help: openpai run --help\n");
  return CLI_BROKEN;
}

const cli_verb cli_run = {
  .name = "run",
  .brief = "Run a job file, or a command, and wait for its result",
  .usage = "[--json] [--quiet|--verbose] [-i|-t] [--name NAME] [--code DIR]\n"
           "            [-p NAME=VALUE]... [--secrets FILE]\n"
           "            [--secret-file NAME=FILE]... [-e NAME[=VALUE]]...\n"
           "            [--env-file FILE] [--runtime NAME] [--root DIR] FILE\n"
           "       openpai run [--gpus N] [--cpus N] [--memory SIZE] "
           "[--time TIME]\n"
           "            [--image NAME] [--clean-env] ... -- COMMAND...",
  .help =
    "FILE is a job of OpenPAI's job protocol v2, YAML or JSON, or a job\n"
    "config v1; - reads standard input.  The platform of this user runs it,\n"
    "and is started if need be.  What its tasks print is shown with the "
    "task's\n"
    "name before each line and kept in files; on a terminal a table of the\n"
    "tasks stands below it.  The first Ctrl-C stops the job,\n"
    "the second kills it; Ctrl-\\ kills it at once.  A reader of its output\n"
    "that goes away stops it, too.  If this is killed, the job goes on.\n\n"
    "  --json         print every event as one line of JSON\n"
    "  -q, --quiet    only what the tasks print, warnings and failures; the\n"
    "                 default when stderr is not a terminal\n"
    "  -v, --verbose  say what happens also when stderr is not a terminal\n"
    "  --name NAME    call the job so; without it, a name that is taken gets\n"
    "                 _2, _3, ... behind it\n"
    "  --code DIR     give it a copy of a folder, in which its commands "
    "begin\n"
    "  -i, --interactive\n"
    "                 its one task's standard input stays open, and has what "
    "is\n"
    "                 typed here; its output comes as it is.  See openpai "
    "attach\n"
    "  -t, --tty      the same, and it has this terminal\n"
    "  --root DIR     the platform's root (default: $OPENPAI_ROOT, or\n"
    "                 $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "  -p, --param NAME=VALUE\n"
    "                 a parameter in the place of the file's; may be given\n"
    "                 several times.  VALUE is text as it stands, 007 and "
    "1.10\n"
    "                 too; JSON's numbers, true, false, null, \"texts\", "
    "lists\n"
    "                 and objects are what they are there\n" SECRETS_HELP
      ENVIRONMENT_HELP
    "  --runtime NAME in what it runs, in the place of what the file says in\n"
    "                 extras.openpai.runtime and the platform otherwise has:\n"
    "                 podman, docker: containers of its images; bwrap: in a\n"
    "                 sandbox; process: as plain processes; auto: in a\n"
    "                 container if its image is at hand, else as bwrap where\n"
    "                 that works, else as process\n"
    "  -h, --help\n\n"
    "Of a command, which gets the variables of this environment, but for "
    "those of\n"
    "this session (HOME, TERM, DISPLAY, SSH_*, XDG_*, ...: see openpai(1)).  "
    "Values\n"
    "that look like secrets, as of *_TOKEN, are kept as secrets of the "
    "job:\n\n"
    "  --gpus N       GPUs that it gets; 0 without it\n"
    "  --cpus N       CPUs; 1 without it\n"
    "  --memory SIZE  as 512M or 16G; 4G without it\n"
    "  --image NAME   its image, for containers\n"
    "  --clean-env    without the variables of this environment, but for -e "
    "and\n"
    "                 --env-file\n"
    "  --time TIME    it is ended after that, with code 124: 90s, 30m, 2h, "
    "1d\n\n"
    "Exit status: 0 the job succeeded; 1 to 255 the job failed: the code\n"
    "that OpenPAI's exit spec gives the task that decided this, else that\n"
    "task's own exit code; 125 also when openpai itself failed (invalid\n"
    "file, impossible job, output that cannot be written); 128+n also when\n"
    "signal n stopped the job\n",
  .run = run,
};
