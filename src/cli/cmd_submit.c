/* cmd_submit.c - gives a job to the platform, and does not wait for it */
#include "job_source.h"
#include "jobs.h"
#include "secrets.h"

#include <stdlib.h>
#include <string.h>

static void print_notes(const pai_spec *spec)
{
  const char *note;

  for (size_t i = 0; (note = pai_spec_note(spec, i)) != NULL; i++)
    cli_say(PAI_LOG_INFO, note);
}

static int submit(cli_job_file *file, cli_submission *s, char **name)
{
  cli_remote r;
  int code = CLI_NO;

  s->text = file->text;
  s->len = file->len;
  s->wanted = pai_spec_name(file->spec);
  if (!s->quiet)
    print_notes(file->spec);
  if (cli_remote_open(&r, true)) {
    code = cli_submit(&r, s, name);
    if (code == CLI_OK && !cli_job_tag(&r, *name))
      cli_say(PAI_LOG_WARNING, "the job was accepted without all of its tags");
    cli_remote_close(&r);
  }
  return code;
}

int cli_submit_source(const cli_job_source *source, cli_submission *s,
                      bool json)
{
  cli_job_file file;
  char *name = NULL;
  int code = cli_job_source_open(&file, source, s->quiet);

  if (code == CLI_OK)
    code = submit(&file, s, &name);
  cli_job_file_close(&file);
  if (name == NULL)
    return code;
  if (json)
    (void)printf("{\"name\":");
  if (json)
    cli_json_string(stdout, name, strlen(name));
  (void)printf(json ? "}\n" : "%s\n", name);
  free(name);
  return code;
}

static int run(int argc, char **argv)
{
  bool json = false;
  cli_job_source source = { 0 };
  cli_submission s = { 0 };
  const cli_option options[] = {
    { "json", 0, &json, NULL },
    { "quiet", 'q', &s.quiet, NULL },
    { "name", 0, NULL, &s.name },
    { "code", 0, NULL, &s.code },
    { "param", 'p', NULL, cli_parameters.words },
    { "root", 0, NULL, &cli_root },
    { "stdin", 0, &s.input, NULL },
    { "tty", 0, &s.tty, NULL },
    { "refuse-impossible", 0, &s.refuse, NULL },
    { "clean-env", 0, &source.env.clean, NULL },
    JOB_OPTIONS,
    ENVIRONMENT_OPTIONS(source.env),
    SECRETS_OPTIONS(source.secrets),
  };
  int words;

  cli_job_source_cut(&source, &argc, argv);
  words = cli_options(&cli_submit_verb, options,
                      sizeof(options) / sizeof(options[0]), argc, argv);
  if (words == -2)
    return CLI_OK;
  source.copied = s.code != NULL;
  if (words < 0 ||
      !cli_job_source_take(&source, &cli_submit_verb, words, argv) ||
      !cli_own_job_name(s.name))
    return CLI_USAGE;
  if (!cli_is_terminal(stderr))
    s.quiet = true;
  return cli_submit_source(&source, &s, json);
}

const cli_verb cli_submit_verb = {
  .name = "submit",
  .brief = "Submit a job file or a command without waiting for the job",
  .usage = "[OPTIONS] FILE\n"
           "       openpai submit [OPTIONS] -- COMMAND...",
  .help =
    "FILE is a job file as of 'openpai run'; - reads standard input.  "
    "COMMAND\n"
    "is run as a job with one task, called after its script or program.  The\n"
    "platform is started if needed.  The job's name is printed once the job\n"
    "is stored in the platform's database: from then on the job will run\n"
    "unless somebody stops it.  Commands start in the current folder.\n"
    "\n"
    "  --json           print {\"name\": NAME}\n"
    "  -q, --quiet      print no notes (default if stderr is not a terminal)\n"
    "  --name NAME      name of the job, refused if it is taken (default: "
    "that\n"
    "                   of the file or command, with _2, _3, ... if it is\n"
    "                   taken)\n"
    "  --code DIR       folder that is copied for the job, without what its\n"
    "                   .openpaiignore names; its commands start in the copy\n"
    "  --stdin          keep the tasks' standard input open for openpai "
    "attach\n"
    "  --tty            the same, with a terminal\n"
    "  --refuse-impossible\n"
    "                   refuse a job that asks for more than the machine has\n"
    "                   (default: the job waits)\n"
    "  -p, --param NAME=VALUE\n"
    "                   parameter in place of the file's, as of "
    "run\n" SECRETS_HELP ENVIRONMENT_HELP
    "  --clean-env      of a command: pass only the variables of -e and\n"
    "                   --env-file, as of run\n" JOBS_ROOT_HELP "\n",
  .more = JOB_OPTIONS_HELP
  "\n"
  "Exit status: 0 the job was accepted, 1 the job was refused, 2 usage "
  "error\n",
  .run = run,
};
