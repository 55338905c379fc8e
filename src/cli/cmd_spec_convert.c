/* cmd_spec_convert.c - a job file in the other version, or in plain form */
#include "job_file.h"

#include <stdlib.h>

/* Writes the text and returns CLI_OK, or tells on stderr what the version
 * cannot say, and returns CLI_NO. */
static int put(const cli_job_file *file, const pai_report *report,
               const char *text, size_t len)
{
  if (report != NULL)
    cli_print_findings(stderr, file->file.name, report);
  if (report != NULL && !pai_report_valid(report))
    return CLI_NO;
  (void)cli_write(stdout, text, len);
  return CLI_OK;
}

static int convert(const cli_job_file *file, pai_spec_write_options options)
{
  pai_report *report = NULL;
  pai_error *err = NULL;
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  int code = CLI_NO;

  options.report = &report;
  if (out == NULL ||
      pai_spec_write(file->spec, &options, cli_write, out, &err) < 0) {
    if (out != NULL)
      (void)fclose(out);
    cli_fail("cannot convert %s: %s", cli_shown_name(file->file.name),
             out != NULL ? pai_error_message(err) : "out of memory");
  } else if (fclose(out) != 0) {
    cli_fail("out of memory");
  } else {
    code = put(file, report, text, len);
  }
  free(text);
  pai_report_free(report);
  pai_error_free(err);
  return code;
}

static int run(int argc, char **argv)
{
  pai_spec_write_options write_options = PAI_SPEC_WRITE_OPTIONS_INIT;
  const char *to = NULL;
  bool secrets = false, json = false;
  const cli_option options[] = { { "to", 0, NULL, &to },
                                 { "json", 0, &json, NULL },
                                 { "show-secrets", 0, &secrets, NULL } };
  int words = cli_options(&cli_spec_convert, options, 3, argc, argv), code;
  cli_job_file file;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (words != 1 || cli_version(to) == 0) {
    cli_misused(&cli_spec_convert, "spec convert",
                words == 0  ? "which job file?"
                : words > 1 ? "one job file at a time"
                            : "give --to v1 or --to v2");
    return CLI_USAGE;
  }
  write_options.version = cli_version(to);
  if (json)
    write_options.format = PAI_FORMAT_JSON;
  write_options.secrets = secrets;
  code = cli_job_file_need(&file, argv[0]);
  if (code == CLI_OK)
    code = convert(&file, write_options);
  cli_job_file_close(&file);
  return code;
}

const cli_verb cli_spec_convert = {
  .name = "spec convert",
  .brief = "Convert a job file to job protocol v2 or job config v1",
  .usage = "--to v1|v2 [--json] [--show-secrets] FILE",
  .help =
    "Print the job without its comments; equal jobs give equal bytes.  "
    "Settings\n"
    "that v1 cannot express are reported on standard error.  FILE - is\n"
    "standard input.\n"
    "\n"
    "  --to VERSION    v1 or v2\n"
    "  --json          write v2 as JSON instead of YAML; v1 is always JSON\n"
    "  --show-secrets  write the values of secrets instead of asterisks\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 success, 1 the file is invalid, v1 cannot express it,\n"
    "or output cannot be written, 2 the file cannot be read or usage error\n",
  .run = run,
};
