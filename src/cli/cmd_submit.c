/* cmd_submit.c - gives a job to the platform, and does not wait for it */
#include "environment.h"
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

static int submit(const char *file_name, cli_submission *s,
                  const char *secrets, const cli_environment *env, bool json)
{
  cli_job_file file;
  cli_remote r;
  char *name = NULL;
  int code = cli_job_file_need(&file, file_name);

  if (code == CLI_OK)
    code = cli_secrets_fill(&file, secrets, false);
  if (code == CLI_OK)
    code = cli_environment_fill(&file, env, false);
  if (code == CLI_OK) {
    code = CLI_NO;
    s->text = file.text;
    s->len = file.len;
    s->wanted = pai_spec_name(file.spec);
    if (!s->quiet)
      print_notes(file.spec);
    if (cli_remote_open(&r, true)) {
      code = cli_submit(&r, s, &name);
      cli_remote_close(&r);
    }
  }
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
  const char *secrets = NULL;
  bool json = false;
  cli_submission s = { 0 };
  cli_environment env = { 0 };
  const cli_option options[] = {
    { "json", 0, &json, NULL },
    { "quiet", 'q', &s.quiet, NULL },
    { "name", 0, NULL, &s.name },
    { "code", 0, NULL, &s.code },
    { "param", 'p', NULL, NULL },
    { "root", 0, NULL, &cli_root },
    { "stdin", 0, &s.input, NULL },
    { "tty", 0, &s.tty, NULL },
    { "runtime", 0, NULL, &cli_job_runtime },
    { "refuse-impossible", 0, &s.refuse, NULL },
    ENVIRONMENT_OPTIONS(env),
    SECRETS_OPTIONS(secrets),
  };
  int words = cli_options(&cli_submit_verb, options,
                          sizeof(options) / sizeof(options[0]), argc, argv);

  if (words == -2)
    return CLI_OK;
  if (words != 1) {
    if (words >= 0)
      cli_misused(&cli_submit_verb, "submit takes one job file",
                  words == 0 ? "there is none" : argv[1]);
    return CLI_USAGE;
  }
  if (!cli_job_runtime_good(&cli_submit_verb))
    return CLI_USAGE;
  if (!cli_is_terminal(stderr))
    s.quiet = true;
  if (s.name != NULL && (!cli_job_name(s.name) || strchr(s.name, '~') != NULL))
    return CLI_USAGE;
  return submit(argv[0], &s, secrets, &env, json);
}

const cli_verb cli_submit_verb = {
  .name = "submit",
  .brief = "Submit a job file, and do not wait",
  .usage = "[--json] [--quiet] [--name NAME] [--code DIR] [--stdin] [--tty]\n"
           "               [-p NAME=VALUE]... [--secrets FILE]\n"
           "               [--secret-file NAME=FILE]... [-e NAME[=VALUE]]...\n"
           "               [--env-file FILE] [--runtime NAME]\n"
           "               [--refuse-impossible] [--root DIR] FILE",
  .help =
    "FILE is a job file as of 'openpai run'; - reads standard input.  The\n"
    "platform is started if needed.  The job's name is printed when the job\n"
    "is in the platform's database: from then on it is run unless somebody\n"
    "stops it.  Commands start in the current folder.\n"
    "\n"
    "  --json           print {\"name\": NAME}\n"
    "  -q, --quiet      print no notes (default if stderr is not a terminal)\n"
    "  --name NAME      name of the job, refused if it is taken (default: "
    "that\n"
    "                   of the file, with _2, _3, ... if it is taken)\n"
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
    "  --runtime NAME   what the job runs in: auto, process, bwrap, podman "
    "or\n"
    "                   docker, as of run\n" JOBS_ROOT_HELP
    "\nExit status: 0 the job was accepted, 1 the job was refused, 2 usage "
    "error\n",
  .run = run,
};
