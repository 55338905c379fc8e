/* cmd_cluster_show.c - draws this machine, any other, or a cluster; or writes
 * it as JSON or YAML */
#include "source.h"

#include <stdlib.h>

typedef struct choice {
  const char *form; /* of the cluster's text, or NULL */
  const char *svg;  /* where to, or NULL */
  const char *name; /* of the machine, or NULL */
  bool json, yaml;
} choice;

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

static int put(cli_text *text, const cli_source *s, const choice *c,
               pai_error **err)
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

static int show(cli_source *s, const choice *c)
{
  cli_text text = { 0 };
  pai_error *err;
  int code = CLI_OK;

  if (c->name != NULL && s->machine == NULL) {
    cli_misused(&cli_cluster_show, "--name is valid for one machine only",
                c->name);
    return CLI_USAGE;
  }
  if (c->yaml)
    code = cli_source_to_cluster(s, c->name);
  if (code != CLI_OK)
    return code;
  if (put(&text, s, c, &err) < 0) {
    cli_error(s->name != NULL ? cli_shown_name(s->name) : NULL, err);
    pai_error_free(err);
    code = CLI_NO;
  } else {
    code = cli_save(c->svg != NULL ? c->svg : "-", text.bytes, text.len);
  }
  free(text.bytes);
  return code;
}

static bool is_called_well(const choice *c)
{
  if (c->json + c->yaml + (c->svg != NULL) > 1)
    cli_misused(&cli_cluster_show, "cluster show",
                "--svg, --json and --yaml exclude each other");
  else if (c->name != NULL && !c->yaml)
    cli_misused(&cli_cluster_show, "--name needs --yaml", c->name);
  else
    return cli_is_form(&cli_cluster_show, c->form);
  return false;
}

static int run(int argc, char **argv)
{
  choice c = { 0 };
  const cli_option options[] = {
    { "from", 0, NULL, cli_values.words },
    { "as", 0, NULL, &c.form },
    { "svg", 0, NULL, &c.svg },
    { "json", 0, &c.json, NULL },
    { "yaml", 0, &c.yaml, NULL },
    { "name", 0, NULL, &c.name },
  };
  const char **names;
  cli_source source;
  int words = cli_options(&cli_cluster_show, options, 6, argc, argv), code;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (!is_called_well(&c))
    return CLI_USAGE;
  names = cli_source_names(argv, words);
  if (names == NULL)
    return CLI_NO;
  code = cli_source_open(&source, names, cli_values.count + (size_t)words,
                         c.form, false);
  if (code == CLI_OK)
    code = show(&source, &c);
  cli_source_close(&source);
  free(names);
  return code;
}

const cli_verb cli_cluster_show = {
  .name = "cluster show",
  .brief = "Draw or convert a machine or a cluster",
  .usage = "[--from X]... [--as FORM] [--svg FILE|--json|--yaml]",
  .help =
    "Without X, draw this machine and mark its broken GPUs.  X is one of the\n"
    "following, detected from its content:\n"
    "\n"
    "  - a file of a cluster: our own format, HiveD's configuration, "
    "OpenPAI's\n"
    "    layout.yaml, `kubectl get nodes -o json`,\n"
    "    `scontrol show nodes --json`\n"
    "  - a machine as XML, from `lstopo machine.xml`\n"
    "  - a description of a cluster: 'racks:2 nodes:16 gpu:8:h100'\n"
    "  - a description of a machine: 'hwloc:pack:2 core:4 pu:2'\n"
    "  - - for a file from standard input\n"
    "\n"
    "Several machines become one cluster.  Each has the name in its "
    "topology,\n"
    "or else that of its file.  `--from *.xml` takes all of them.\n"
    "\n"
    "  --from X    what to show; repeatable\n"
    "  --as FORM   format of the cluster file: openpai, hived, layout,\n"
    "              kubernetes, slurm or alibaba\n"
    "  --svg FILE  write a picture as SVG; - is standard output\n"
    "  --json      write a cluster in our own format, as JSON; write one\n"
    "              machine with all its details\n"
    "  --yaml      write a cluster in our own format; write one machine as a\n"
    "              cluster\n"
    "  --name N    name of the machine, with --yaml\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 success, 1 X is invalid or output cannot be written, 2\n"
    "X cannot be read or usage error\n",
  .run = run,
};
