/* cmd_sim_generate.c - `sim generate`: make up a trace after published ones */
#include "quantity.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

/* Parses "0.8" into thousandths. */
static bool to_load(const char *word, uint32_t *out)
{
  int64_t load = 0;
  const char *rest = word != NULL ? cli_read_decimal(word, 3, &load) : NULL;

  if (word == NULL)
    return true;
  *out = (uint32_t)load;
  return (rest != NULL && *rest == '\0' && load > 0 && load <= 1000000) ||
         cli_wrong("--load is a number from 0.001 to 1000, as 0.8", word);
}

/* Reads the cluster's number of GPUs, that of its largest node, and its
 * virtual clusters. */
static int ask_cluster(const char *name, cli_source *source,
                       pai_generate_options *o, const char ***names)
{
  pai_cluster_view sums = { .struct_size = sizeof(sums) };
  int code = cli_source_cluster(source, name);

  if (code != CLI_OK)
    return code;
  (void)pai_cluster_view_sums(source->cluster, &sums);
  o->gpus = (uint32_t)sums.gpus;
  for (size_t i = 0; i < sums.nodes; i++) {
    pai_node_view node = { .struct_size = sizeof(node) };

    if (pai_cluster_view_node(source->cluster, i, &node) == PAI_OK &&
        node.gpus > o->gpus_per_node)
      o->gpus_per_node = (uint32_t)node.gpus;
  }
  if (sums.gpus == 0) {
    cli_fail("%s has no GPUs: generated jobs need GPUs", cli_shown_name(name));
    return CLI_NO;
  }
  if (sums.virtual_clusters == 0)
    return CLI_OK;
  *names = calloc(sums.virtual_clusters, sizeof(**names));
  for (size_t i = 0; *names != NULL && i < sums.virtual_clusters; i++) {
    pai_vc_view vc = { .struct_size = sizeof(vc) };

    (void)pai_cluster_view_vc(source->cluster, i, &vc);
    (*names)[i] = vc.name;
  }
  o->vc_names = *names;
  o->virtual_clusters = (uint32_t)sums.virtual_clusters;
  return *names != NULL ? CLI_OK : CLI_NO;
}

static int write_all(const pai_generate_options *o)
{
  pai_trace_record record = { .struct_size = sizeof(record) };
  pai_error *err = NULL;
  pai_trace *trace;
  int rc = pai_trace_generate(&trace, o, &err);

  if (rc == PAI_OK)
    while ((rc = pai_trace_next(trace, &record, &err)) > 0 && cli_written())
      if ((rc = pai_trace_write(&record, cli_write, stdout, &err)) < 0)
        break;
  if (rc < 0) {
    (void)cli_fail_with(NULL, err);
  }
  pai_trace_free(trace);
  return rc < 0 ? CLI_NO : CLI_OK;
}

static bool read_numbers(const cli_sim_generate_args *a,
                         pai_generate_options *o)
{
  o->jobs = cli_number(a->jobs, 0);
  o->seed = cli_number(a->seed, o->seed);
  o->gpus = (uint32_t)cli_number(a->gpus, o->gpus);
  o->most_gpus = (uint32_t)cli_number(a->most_gpus, o->most_gpus);
  o->gpus_per_node = (uint32_t)cli_number(a->gpus_per_node, o->gpus_per_node);
  o->users = (uint32_t)cli_number(a->users, o->users);
  o->virtual_clusters = (uint32_t)cli_number(a->vcs, o->virtual_clusters);
  o->like = a->like != NULL && strcmp(a->like, "helios") == 0
              ? PAI_LIKE_HELIOS
              : PAI_LIKE_PHILLY;
  o->model = a->model;
  o->faults = a->faults;
  return to_load(a->load, &o->load);
}

int cli_do_sim_generate(const cli_sim_generate_args *a)
{
  pai_generate_options o = PAI_GENERATE_OPTIONS_INIT;
  cli_source source = { .name = NULL };
  const char **names = NULL;
  int code = CLI_OK;

  if (!read_numbers(a, &o))
    return CLI_USAGE;
  if (a->cluster != NULL)
    code = ask_cluster(a->cluster, &source, &o, &names);
  if (code == CLI_OK)
    code = write_all(&o);
  free(names);
  if (a->cluster != NULL)
    cli_source_close(&source);
  return code;
}
