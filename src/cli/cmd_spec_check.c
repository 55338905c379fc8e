/* cmd_spec_check.c - finds all that is wrong with job files */
#include "check.h"
#include "fix.h"

#include <string.h>

/* What a file is opened with. */
typedef struct opening {
  pai_spec_options spec;
  bool fix, tell;
} opening;

static void open_job(cli_file *file, const char *name, const void *options)
{
  const opening *o = options;
  cli_job_file job;

  if (o->fix)
    cli_fix_open(&job, name, &o->spec, o->tell);
  else
    cli_job_file_open(&job, name, &o->spec, false);
  *file = job.file; /* there is no spec */
}

/* Standard input corrected: the text on standard output, and what is left to
 * correct on standard error. */
static int fix_stdin(const opening *o, bool strict, bool quiet)
{
  const pai_diagnostic *d;
  cli_job_file job;
  int code = CLI_USAGE;

  cli_fix_open(&job, "-", &o->spec, false);
  if (job.file.report == NULL) {
    cli_say(PAI_LOG_ERROR, job.file.why);
  } else {
    if (!quiet)
      cli_print_findings(stderr, "-", job.file.report);
    code = pai_report_valid(job.file.report) ? CLI_OK : CLI_NO;
    d = pai_report_get(job.file.report, 0);
    code = strict && d != NULL ? CLI_NO : code;
  }
  cli_job_file_close(&job);
  return code;
}

/* What is wrong with the words of the command line, or NULL. */
static const char *find_misuse(const opening *o, char **names, int count,
                               bool machine)
{
  if (count == 0)
    return "which job files?";
  for (int i = 0; o->fix && i < count; i++)
    if (strcmp(names[i], "-") == 0 && (count > 1 || machine))
      return "--fix of standard input writes the job file to standard output: "
             "no other file and no --json or --sarif";
  return NULL;
}

static int run(int argc, char **argv)
{
  bool json = false, sarif = false, strict = false, hived = false;
  bool quiet = false;
  opening o = { .spec = PAI_SPEC_OPTIONS_INIT };
  const cli_option options[] = {
    { "json", 0, &json, NULL },     { "sarif", 0, &sarif, NULL },
    { "strict", 0, &strict, NULL }, { "hived", 0, &hived, NULL },
    { "quiet", 'q', &quiet, NULL }, { "fix", 0, &o.fix, NULL },
  };
  cli_check how = { .open = open_job, .options = &o };
  int words = cli_options(&cli_spec_check, options, 6, argc, argv);
  const char *wrong;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  how.form = cli_check_form(&cli_spec_check, json, sarif, quiet);
  if (how.form == NULL)
    return CLI_USAGE;
  wrong = find_misuse(&o, argv, words, json || sarif);
  if (wrong != NULL) {
    cli_misused(&cli_spec_check, "spec check", wrong);
    return CLI_USAGE;
  }
  o.spec.hived = hived;
  o.tell = !json && !sarif && !quiet && cli_is_terminal(stdout);
  how.strict = strict;
  if (o.fix && strcmp(argv[0], "-") == 0)
    return fix_stdin(&o, strict, quiet);
  return cli_check_files(&how, argv, words);
}

const cli_verb cli_spec_check = {
  .name = "spec check",
  .brief = "Check job files and list all problems",
  .usage = "[--json|--sarif|--quiet] [--fix] [--strict] [--hived] FILE...",
  .help =
    "Each FILE is a job in protocol v2 (YAML or JSON) or a job config v1; -\n"
    "reads standard input.  Errors make a file invalid.  Warnings report "
    "legal\n"
    "settings that are probably mistakes.  Values of secrets are not shown.\n"
    "\n"
    "  --json       print one JSON array with an object for each file\n"
    "  --sarif      print SARIF 2.1.0\n"
    "  -q, --quiet  print nothing; see the exit status\n"
    "  --strict     count warnings as errors for the exit status\n"
    "  --hived      also check extras.hivedScheduler, as a cluster with "
    "HiveD\n"
    "               does\n"
    "  --fix        correct the files where the correction is certain, and "
    "check\n"
    "               the result; standard input is written to standard output\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 all files valid, 1 a file is invalid or output cannot\n"
    "be written, 2 a file cannot be read or written, or usage error\n",
  .run = run,
};
