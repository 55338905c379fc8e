/* cmd_spec_schema.c - the language of job files, for editors */
#include "job_file.h"

static int run(int argc, char **argv)
{
  const char *version = "v2";
  const cli_option options[] = { { "version", 0, NULL, &version } };
  int words = cli_options(&cli_spec_schema, options, 1, argc, argv);
  pai_error *err = NULL;
  int code = CLI_OK;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (words > 0 || cli_version(version) == 0) {
    cli_misused(&cli_spec_schema, "spec schema",
                words > 0 ? "it takes no file"
                          : "give --version v1 or --version v2");
    return CLI_USAGE;
  }
  if (pai_spec_schema(cli_version(version), cli_write, stdout, &err) < 0) {
    cli_error(NULL, err);
    code = CLI_NO;
  }
  pai_error_free(err);
  return code;
}

const cli_verb cli_spec_schema = {
  .name = "spec schema",
  .brief = "Print the JSON Schema of job files, for editors",
  .usage = "[--version v1|v2]",
  .help =
    "The schema finds every problem that `spec check` finds, except wrong\n"
    "references, sums and templates.\n"
    "\n"
    "  --version VERSION  v1, the job config, or v2, the job protocol "
    "(default:\n"
    "                     v2)\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 success, 1 output cannot be written, 2 usage error\n",
  .run = run,
};
