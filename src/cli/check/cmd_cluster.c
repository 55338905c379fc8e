/* cmd_cluster.c - `cluster show`, `cluster hived` and `cluster check` */
#include "check.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

static int draw_machine(const cli_source *s, int format, cli_text *text,
                        pai_error **err)
{
  pai_topology_write_options o = PAI_TOPOLOGY_WRITE_OPTIONS_INIT;

  o.format = format;
  o.marks = s->marks;
  o.mark_count = s->mark_count;
  return pai_topology_write(s->machine, &o, cli_text_add, text, err);
}

static int draw_cluster(const cli_source *s, int format, cli_text *text,
                        pai_error **err)
{
  pai_cluster_draw_options o = PAI_CLUSTER_DRAW_OPTIONS_INIT;

  o.format = format;
  o.colour = format == PAI_FORMAT_TEXT && cli_style(stdout, "c")[0] != '\0';
  return pai_cluster_draw(s->cluster, &o, cli_text_add, text, err);
}

static int put(cli_text *text, const cli_source *s,
               const cli_cluster_show_args *c, pai_error **err)
{
  int format = c->json          ? PAI_FORMAT_JSON
               : c->yaml        ? PAI_FORMAT_YAML
               : c->svg != NULL ? PAI_FORMAT_SVG
                                : PAI_FORMAT_TEXT;

  if (s->machine != NULL)
    return draw_machine(s, format, text, err);
  if (c->json || c->yaml)
    return pai_cluster_write(s->cluster, format, cli_text_add, text, err);
  return draw_cluster(s, format, text, err);
}

static int show(cli_source *s, const cli_cluster_show_args *c)
{
  cli_text text = { 0 };
  pai_error *err;
  int code = CLI_OK;

  if (c->name != NULL && s->machine == NULL)
    return cli_misused("--name is valid for one machine only", c->name);
  if (c->yaml)
    code = cli_source_to_cluster(s, c->name);
  if (code != CLI_OK)
    return code;
  if (put(&text, s, c, &err) < 0) {
    code =
      cli_fail_with(s->name != NULL ? cli_shown_name(s->name) : NULL, err);
  } else {
    code = cli_save(c->svg != NULL ? c->svg : "-", text.bytes, text.len);
  }
  free(text.bytes);
  return code;
}

int cli_do_cluster_show(const cli_cluster_show_args *a)
{
  const char **names;
  cli_source source;
  int code;

  if (!cli_is_form(a->as))
    return CLI_USAGE;
  names = cli_source_names(&a->from, a->words, a->count);
  if (names == NULL)
    return CLI_NO;
  code = cli_source_open(&source, names, a->from.count + (size_t)a->count,
                         a->as, false);
  if (code == CLI_OK)
    code = show(&source, a);
  cli_source_close(&source);
  free(names);
  return code;
}

/* Whether jobs could get all CPUs or all memory of the machines of a SKU. */
static bool is_given_away(const pai_sku_view *sku)
{
  return sku->nodes > 0 && sku->gpus > 0 &&
         ((sku->cpus != 0 && sku->used_cpus == 0) ||
          (sku->memory != 0 && sku->used_memory == 0));
}

/* Warns of SKUs that reserve nothing for other programs.  Files of our own
 * form were warned of when they were checked, and HiveD's form cannot express
 * a reserve. */
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
                 " leave%s nothing for the system's own programs",
                 found > 1 ? "" : "s");
  cli_say(PAI_LOG_WARNING, what);
  cli_help(stderr, "jobs with all GPUs of a node may then not fit; convert "
                   "the file with `openpai cluster show --yaml`, add used: "
                   "{cpus: 2, memory: 8G} to each SKU, and use the result");
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
    code =
      cli_fail_with(s->name != NULL ? cli_shown_name(s->name) : NULL, err);
  } else {
    warn_of_reserves(s->cluster);
    code = cli_save(file, text.bytes, text.len);
  }
  free(text.bytes);
  return code;
}

int cli_do_cluster_hived(const cli_cluster_hived_args *a)
{
  const char **names;
  cli_source source;
  int code;

  if (!cli_is_form(a->as))
    return CLI_USAGE;
  names = cli_source_names(&a->from, a->words, a->count);
  if (names == NULL)
    return CLI_NO;
  code = cli_source_open(&source, names, a->from.count + (size_t)a->count,
                         a->as, true);
  if (code == CLI_OK)
    code = write_hived(&source, a->json, a->output);
  cli_source_close(&source);
  free(names);
  return code;
}

static void open_cluster(cli_file *file, const char *name, const void *options)
{
  cli_cluster_file_open(file, NULL, name, options);
}

int cli_do_cluster_check(const cli_cluster_check_args *a)
{
  const cli_check how = { .open = open_cluster,
                          .options = a->as,
                          .form = cli_check_form(&a->check),
                          .strict = a->check.strict };

  return cli_is_form(a->as) ? cli_check_files(&how, a->words, a->count)
                            : CLI_USAGE;
}
