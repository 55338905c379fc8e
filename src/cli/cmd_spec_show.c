/* cmd_spec_show.c - what a job file will do, in words and sums */
#include "job_file.h"

static int show(const pai_spec *spec, bool json)
{
  pai_error *err = NULL;
  int code = CLI_OK;

  if (pai_spec_explain(spec, json ? PAI_FORMAT_JSON : PAI_FORMAT_TEXT,
                       cli_write, stdout, &err) < 0) {
    cli_error(NULL, err);
    code = CLI_NO;
  }
  pai_error_free(err);
  return code;
}

static int run(int argc, char **argv)
{
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL } };
  int words = cli_options(&cli_spec_show, options, 1, argc, argv), code;
  cli_job_file file;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (words != 1) {
    cli_misused(&cli_spec_show, "spec show",
                words == 0 ? "which job file?" : "one job file at a time");
    return CLI_USAGE;
  }
  code = cli_job_file_need(&file, argv[0]);
  if (code == CLI_OK)
    code = show(file.spec, json);
  cli_job_file_close(&file);
  return code;
}

const cli_verb cli_spec_show = {
  .name = "spec show",
  .brief = "Explain what a job file will do",
  .usage = "[--json] FILE",
  .help =
    "Show the task roles and the resources of each task, totals, the "
    "condition\n"
    "under which the job is over, and settings without a value or an effect.\n"
    "No secrets are shown.  FILE - is standard input.\n"
    "\n"
    "  --json      print one JSON object\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 success, 1 the file is invalid or output cannot be\n"
    "written, 2 the file cannot be read or usage error\n",
  .run = run,
};
