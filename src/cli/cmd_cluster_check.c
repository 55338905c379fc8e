/* cmd_cluster_check.c - finds all that is wrong with files of clusters */
#include "check.h"
#include "source.h"

static void open_cluster(cli_file *file, const char *name, const void *options)
{
  cli_cluster_file_open(file, NULL, name, options);
}

static int run(int argc, char **argv)
{
  bool json = false, sarif = false, strict = false, quiet = false;
  const char *form = NULL;
  const cli_option options[] = {
    { "json", 0, &json, NULL },     { "sarif", 0, &sarif, NULL },
    { "strict", 0, &strict, NULL }, { "as", 0, NULL, &form },
    { "quiet", 'q', &quiet, NULL },
  };
  cli_check how = { .open = open_cluster };
  int words = cli_options(&cli_cluster_check, options, 5, argc, argv);

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  how.form = cli_check_form(&cli_cluster_check, json, sarif, quiet);
  if (how.form == NULL || !cli_is_form(&cli_cluster_check, form))
    return CLI_USAGE;
  if (words == 0) {
    cli_misused(&cli_cluster_check, "cluster check", "which files?");
    return CLI_USAGE;
  }
  how.options = form;
  how.strict = strict;
  return cli_check_files(&how, argv, words);
}

const cli_verb cli_cluster_check = {
  .name = "cluster check",
  .brief = "Check cluster files and list all problems",
  .usage = "[--json|--sarif|--quiet] [--strict] [--as FORM] FILE...",
  .help =
    "Each FILE describes a cluster: in our own format, as HiveD's "
    "configuration,\n"
    "OpenPAI's layout.yaml, `kubectl get nodes -o json`,\n"
    "`scontrol show nodes --json`, or a node list of Alibaba's traces; - "
    "reads\n"
    "standard input.  Errors make a file invalid.  Warnings report legal\n"
    "settings that are probably mistakes.\n"
    "\n"
    "  --as FORM    format of the files: openpai, hived, layout, kubernetes,\n"
    "               slurm or alibaba (default: detected from the content)\n"
    "  --json       print one JSON array with an object for each file\n"
    "  --sarif      print SARIF 2.1.0\n"
    "  -q, --quiet  print nothing; see the exit status\n"
    "  --strict     count warnings as errors for the exit status\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 all files valid, 1 a file is invalid or output cannot\n"
    "be written, 2 a file cannot be read or usage error\n",
  .run = run,
};
