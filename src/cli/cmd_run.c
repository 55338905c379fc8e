/* cmd_run.c - runs one job in the foreground */
#include "foreground.h"
#include "job_source.h"
#include "secrets.h"
#include "session.h"

#include <string.h>

static int run_job(cli_foreground *r, cli_submission *s,
                   const cli_job_source *source)
{
  cli_job_file file;
  int code = CLI_BROKEN;

  if (cli_job_source_open(&file, source, r->quiet) == CLI_OK) {
    r->spec = file.spec;
    s->text = file.text;
    s->len = file.len;
    code = cli_run_job(r, s);
  }
  cli_job_file_close(&file);
  return code;
}

static int run(int argc, char **argv)
{
  bool quiet = false, verbose = false, detach = false;
  cli_job_source source = { 0 };
  cli_foreground r = { 0 };
  cli_submission s = { 0 };
  const cli_option options[] = {
    { "json", 0, &r.json, NULL },
    { "quiet", 'q', &quiet, NULL },
    { "verbose", 'v', &verbose, NULL },
    { "root", 0, NULL, &cli_root },
    { "param", 'p', NULL, cli_parameters.words },
    { "name", 0, NULL, &s.name },
    { "code", 0, NULL, &s.code },
    { "interactive", 'i', &s.input, NULL },
    { "tty", 't', &s.tty, NULL },
    { "detach", 'd', &detach, NULL },
    { "clean-env", 0, &source.env.clean, NULL },
    JOB_OPTIONS,
    ENVIRONMENT_OPTIONS(source.env),
    SECRETS_OPTIONS(source.secrets),
  };
  int words;

  cli_job_source_cut(&source, &argc, argv);
  words = cli_options(&cli_run, options, sizeof(options) / sizeof(options[0]),
                      argc, argv);
  if (words == -2)
    return CLI_OK;
  if (words < 0 || !cli_job_source_take(&source, &cli_run, words, argv) ||
      !cli_own_job_name(s.name))
    return CLI_BROKEN;
  r.quiet = quiet || (!verbose && !cli_is_terminal(stderr));
  r.interactive = s.input || s.tty;
  if (r.interactive && (r.json || detach)) {
    cli_misused(&cli_run, "--interactive and --tty exclude this option",
                r.json ? "--json" : "--detach");
    return CLI_BROKEN;
  }
  s.quiet = r.quiet;
  source.copied = s.code != NULL;
  if (!detach)
    return run_job(&r, &s, &source);
  return cli_submit_source(&source, &s, r.json) == CLI_OK ? CLI_OK
                                                          : CLI_BROKEN;
}

const cli_verb cli_run = {
  .name = "run",
  .brief = "Run a job file or a command, and wait for its result",
  .usage = "[OPTIONS] FILE\n"
           "       openpai run [OPTIONS] -- COMMAND...",
  .help =
    "FILE is a job in OpenPAI's job protocol v2 (YAML or JSON) or a job "
    "config\n"
    "v1; - reads standard input.  COMMAND is run as a job with one task, "
    "called\n"
    "after its script or program.  The user's platform runs the job, and is\n"
    "started if needed.  Output of a job with one task is passed on as it "
    "is,\n"
    "to standard output and standard error; with several tasks each line has\n"
    "the task's name before it.  Output is also kept in files.  On a "
    "terminal\n"
    "a table of the tasks is shown below the output.  The first Ctrl-C stops "
    "the job, the second "
    "kills\n"
    "it; Ctrl-\\ kills it at once.  The job is also stopped if the reader of\n"
    "the output goes away.  If openpai itself is killed, the job continues.\n"
    "\n"
    "  -d, --detach     submit the job, print its name, and do not wait: as\n"
    "                   openpai submit\n"
    "  --json           print every event as one line of JSON\n"
    "  -q, --quiet      show only output, warnings and failures (default if\n"
    "                   stderr is not a terminal)\n"
    "  -v, --verbose    show progress even if stderr is not a terminal\n"
    "  --name NAME      name of the job, refused if it is taken (default: "
    "that\n"
    "                   of the file or command, with _2, _3, ... if it is\n"
    "                   taken)\n"
    "  --code DIR       folder that is copied for the job; its commands "
    "start\n"
    "                   in the copy\n"
    "  -i, --interactive\n"
    "                   pass standard input to the job's only task, and show\n"
    "                   its output unchanged; see openpai attach\n"
    "  -t, --tty        the same, with this terminal\n"
    "  -p, --param NAME=VALUE\n"
    "                   parameter in place of the file's; repeatable.  VALUE\n"
    "                   is text, as 007 and 1.10; JSON numbers, true, false,\n"
    "                   null, \"texts\", lists and objects keep their "
    "type\n" SECRETS_HELP ENVIRONMENT_HELP
    "  --clean-env      of a command: pass only the variables of -e and\n"
    "                   --env-file (default: those of this environment, "
    "except\n"
    "                   those of the session: HOME, TERM, DISPLAY, SSH_*, "
    "...:\n"
    "                   see openpai(1)).  Variables that look like secrets, "
    "as\n"
    "                   *_TOKEN, become secrets of the job\n" JOBS_ROOT_HELP
    "\n",
  .more = JOB_OPTIONS_HELP
  "\n"
  "Exit status:\n"
  "  0      the job succeeded\n"
  "  1-255  the job failed: the code that OpenPAI's exit spec gives to the\n"
  "         task that decided the result, or else that task's exit status\n"
  "  124    also: the job reached its time limit\n"
  "  125    also: openpai failed (invalid file, impossible job, output "
  "that\n"
  "         cannot be written)\n"
  "  128+n  also: signal n stopped the job\n",
  .run = run,
};
