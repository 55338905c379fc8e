/* cmd_spec_check.c - finds all that is wrong with job files */
#include "check.h"
#include "job_file.h"

static void open_job(cli_file *file, const char *name, const void *options)
{
  cli_job_file job;

  cli_job_file_open(&job, name, options, false);
  *file = job.file; /* there is no spec */
}

static int run(int argc, char **argv)
{
  bool json = false, sarif = false, strict = false, hived = false;
  bool quiet = false;
  const cli_option options[] = {
    { "json", 0, &json, NULL },     { "sarif", 0, &sarif, NULL },
    { "strict", 0, &strict, NULL }, { "hived", 0, &hived, NULL },
    { "quiet", 'q', &quiet, NULL },
  };
  pai_spec_options spec_options = PAI_SPEC_OPTIONS_INIT;
  cli_check how = { .open = open_job, .options = &spec_options };
  int words = cli_options(&cli_spec_check, options, 5, argc, argv);

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  how.form = cli_check_form(&cli_spec_check, json, sarif, quiet);
  if (how.form == NULL)
    return CLI_USAGE;
  if (words == 0) {
    cli_misused(&cli_spec_check, "spec check", "which job files?");
    return CLI_USAGE;
  }
  spec_options.hived = hived;
  how.strict = strict;
  return cli_check_files(&how, argv, words);
}

const cli_verb cli_spec_check = {
  .name = "spec check",
  .brief = "Check job files and list all problems",
  .usage = "[--json|--sarif|--quiet] [--strict] [--hived] FILE...",
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
    "  -h, --help\n"
    "\n"
    "Exit status: 0 all files valid, 1 a file is invalid or output cannot\n"
    "be written, 2 a file cannot be read or usage error\n",
  .run = run,
};
