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
    "config v1; - reads standard input.  The user's platform runs it, and is\n"
    "started if needed.  The output of tasks is shown with the task's name\n"
    "before each line, and kept in files; on a terminal a table of the tasks\n"
    "stands below it.  The first Ctrl-C stops the job, the second kills it;\n"
    "Ctrl-\\ kills it at once.  If the reader of the output goes away, the "
    "job\n"
    "is stopped, too.  If openpai itself is killed, the job continues.\n"
    "\n"
    "  --json         print every event as one line of JSON\n"
    "  -q, --quiet    show only output, warnings and failures (default if\n"
    "                 stderr is not a terminal)\n"
    "  -v, --verbose  show progress even if stderr is not a terminal\n"
    "  --name NAME    name of the job, refused if it is taken (default: that\n"
    "                 of the file, with _2, _3, ... if it is taken)\n"
    "  --code DIR     folder that is copied for the job; its commands start\n"
    "                 in the copy\n"
    "  -i, --interactive\n"
    "                 pass standard input to the job's only task, and show "
    "its\n"
    "                 output unchanged; see openpai attach\n"
    "  -t, --tty      the same, with this terminal\n"
    "  --root DIR     the platform's root (default: $OPENPAI_ROOT, or\n"
    "                 $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "  -p, --param NAME=VALUE\n"
    "                 parameter in place of the file's; repeatable.  VALUE "
    "is\n"
    "                 text, as 007 and 1.10; JSON numbers, true, false, "
    "null,\n"
    "                 \"texts\", lists and objects keep their "
    "type\n" SECRETS_HELP ENVIRONMENT_HELP
    "  --runtime NAME what the job runs in (default: as the file says in\n"
    "                 extras.openpai.runtime, else the platform's setting):\n"
    "                 podman, docker: containers of its images; bwrap: a\n"
    "                 sandbox; process: plain processes; auto: a container "
    "if\n"
    "                 the image is present, else bwrap if that works, else\n"
    "                 process\n"
    "  -h, --help\n"
    "\n"
    "For a command (-- COMMAND).  It gets the variables of this environment,\n"
    "except those of the session (HOME, TERM, DISPLAY, SSH_*, XDG_*, ...: "
    "see\n"
    "openpai(1)).  Variables that look like secrets, as *_TOKEN, become\n"
    "secrets of the job:\n"
    "\n"
    "  --gpus N       number of GPUs (default: 0)\n"
    "  --cpus N       number of CPUs (default: 1)\n"
    "  --memory SIZE  memory, as 512M or 16G (default: 4G)\n"
    "  --image NAME   container image\n"
    "  --clean-env    pass only the variables of -e and --env-file\n"
    "  --time TIME    time limit, as 90s, 30m, 2h or 1d; then the command is\n"
    "                 ended with code 124\n"
    "\n"
    "Exit status: 0 the job succeeded; 1 to 255 the job failed: the code\n"
    "that OpenPAI's exit spec gives the task that decided this, else that\n"
    "task's own exit code; 125 also when openpai itself failed (invalid\n"
    "file, impossible job, output that cannot be written); 128+n also when\n"
    "signal n stopped the job\n",
  .run = run,
};
