/* cmd_cluster_hived.c - writes HiveD's configuration of a cluster */
#include "source.h"

#include <stdlib.h>
#include <string.h>

/* Whether jobs would be given all that the machines of a SKU have. */
static bool is_given_away(const pai_sku_view *sku)
{
  return sku->nodes > 0 && sku->gpus > 0 &&
         ((sku->cpus != 0 && sku->used_cpus == 0) ||
          (sku->memory != 0 && sku->used_memory == 0));
}

/* The files of our own form that say so were told of when they were checked,
 * and HiveD's have no words for it. */
static void warn_of_reserves(const pai_cluster *cluster)
{
  pai_cluster_view sums = { .struct_size = sizeof(sums) };
  pai_sku_view sku = { .struct_size = sizeof(sku) };
  char what[512] = "";
  size_t found = 0;

  (void)pai_cluster_view_sums(cluster, &sums);
  if (strcmp(sums.form, "openpai") == 0 || strcmp(sums.form, "hived") == 0)
    return;
  for (size_t i = 0; pai_cluster_view_sku(cluster, i, &sku) == PAI_OK; i++)
    if (is_given_away(&sku) && found++ == 0)
      (void)snprintf(what, sizeof(what), "SKU '%.200s'", sku.name);
  if (found == 0)
    return;
  if (found > 1)
    (void)snprintf(what + strlen(what), sizeof(what) - strlen(what),
                   " and %zu more", found - 1);
  (void)snprintf(what + strlen(what), sizeof(what) - strlen(what),
                 " leave%s nothing for programs that run on each node anyway",
                 found > 1 ? "" : "s");
  cli_say(PAI_LOG_WARNING, what);
  cli_help(stderr,
           "jobs of all GPUs may not fit then; write our own form with "
           "`openpai cluster show --yaml`, add used: {cpus: 2, "
           "memory: 8G} to each SKU, and take that");
}

static int write_hived(cli_source *s, bool json, const char *file)
{
  cli_text text = { 0 };
  pai_error *err;
  int code = cli_source_to_cluster(s, NULL);

  if (code != CLI_OK)
    return code;
  if (pai_cluster_write_hived(s->cluster,
                              json ? PAI_FORMAT_JSON : PAI_FORMAT_YAML,
                              cli_text_add, &text, &err) < 0) {
    cli_error(s->name != NULL ? cli_shown_name(s->name) : NULL, err);
    pai_error_free(err);
    code = CLI_NO;
  } else {
    warn_of_reserves(s->cluster);
    code = cli_save(file, text.bytes, text.len);
  }
  free(text.bytes);
  return code;
}

static int run(int argc, char **argv)
{
  bool json = false;
  const char *form = NULL, *file = "-", **names;
  const cli_option options[] = { { "from", 0, NULL, cli_values.words },
                                 { "as", 0, NULL, &form },
                                 { "json", 0, &json, NULL },
                                 { "output", 'o', NULL, &file } };
  cli_source source;
  int words = cli_options(&cli_cluster_hived, options, 4, argc, argv), code;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (!cli_is_form(&cli_cluster_hived, form))
    return CLI_USAGE;
  names = cli_source_names(argv, words);
  if (names == NULL)
    return CLI_NO;
  code = cli_source_open(&source, names, cli_values.count + (size_t)words,
                         form, true);
  if (code == CLI_OK)
    code = write_hived(&source, json, file);
  cli_source_close(&source);
  free(names);
  return code;
}

const cli_verb cli_cluster_hived = {
  .name = "cluster hived",
  .brief = "Write a HiveD configuration for machines or a cluster",
  .usage = "[--from X]... [--as FORM] [--json] [-o FILE]",
  .help =
    "X is as for `openpai cluster show` (default: this machine).  Errors and\n"
    "warnings about X are printed on standard error.\n"
    "\n"
    "  --from X           machine or cluster; repeatable for machines\n"
    "  --as FORM          format of the cluster file\n"
    "  --json             write JSON instead of YAML\n"
    "  -o, --output FILE  file to write (default: standard output)\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 success, 1 X is invalid or has no GPUs or output\n"
    "cannot be written, 2 X cannot be read or usage error\n",
  .run = run,
};
