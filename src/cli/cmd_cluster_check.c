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
  .brief = "Find all that is wrong with files of clusters",
  .usage = "[--json|--sarif|--quiet] [--strict] [--as FORM] FILE...",
  .help =
    "Each FILE is a cluster: our own form, HiveD's configuration, OpenPAI's\n"
    "layout.yaml, `kubectl get nodes -o json`, `scontrol show nodes --json`,\n"
    "or a list of nodes of Alibaba's traces; - reads standard input.  Errors\n"
    "make a file invalid; warnings tell of what is legal and surely not\n"
    "meant.\n\n"
    "  --as FORM    it is of this form: openpai, hived, layout, kubernetes, "
    "slurm\n"
    "               or alibaba; without it, told by what is in the file\n"
    "  --json       print one JSON array with an object for each file\n"
    "  --sarif      print SARIF 2.1.0\n"
    "  -q, --quiet  print nothing: the exit code tells\n"
    "  --strict     warnings count as errors for the exit code\n"
    "  -h, --help\n\n"
    "Exit status: 0 all files valid, 1 a file is invalid or output cannot\n"
    "be written, 2 a file cannot be read or usage error\n",
  .run = run,
};
