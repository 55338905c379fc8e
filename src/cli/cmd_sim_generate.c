/* cmd_sim_generate.c - makes a trace up, after published ones */
#include "source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What was said in words. */
typedef struct generate_words {
  const char *jobs, *seed, *like, *load, *gpus, *cluster, *most_gpus;
  const char *per_node, *users, *vcs;
} generate_words;

static bool to_number(const char *option, const char *word, uint64_t least,
                      uint64_t most, uint64_t *out)
{
  char *end;

  if (word == NULL)
    return true;
  errno = 0;
  *out = strtoull(word, &end, 10);
  if (word[0] >= '0' && word[0] <= '9' && *end == '\0' && errno == 0 &&
      *out >= least && *out <= most)
    return true;
  cli_fail("--%s is a whole number from %" PRIu64 " to %" PRIu64 ": %s",
           option, least, most, word);
  (void)fprintf(stderr, "  help: openpai sim generate --help\n");
  return false;
}

static bool to_number_32(const char *option, const char *word, uint32_t *out)
{
  uint64_t number = *out;

  if (!to_number(option, word, 1, 1 << 24, &number))
    return false;
  *out = (uint32_t)number;
  return true;
}

/* "0.8", as thousandths. */
static bool to_load(const char *word, uint32_t *out)
{
  uint32_t whole = 0, worth = 100;
  const char *s = word;

  if (word == NULL)
    return true;
  for (; *s >= '0' && *s <= '9' && whole < 100000; s++)
    whole = whole * 10 + (uint32_t)(*s - '0') * 1;
  whole *= 1000;
  if (*s == '.' && s > word)
    for (s++; *s >= '0' && *s <= '9' && worth > 0; s++) {
      whole += (uint32_t)(*s - '0') * worth;
      worth /= 10;
    }
  *out = whole;
  if (*s == '\0' && s > word && whole > 0 && whole <= 1000000)
    return true;
  cli_fail("--load is a number from 0.001 to 1000, as 0.8: %s", word);
  (void)fprintf(stderr, "  help: openpai sim generate --help\n");
  return false;
}

static bool to_like(const char *word, int *out)
{
  if (word == NULL || strcmp(word, "philly") == 0)
    *out = PAI_LIKE_PHILLY;
  else if (strcmp(word, "helios") == 0)
    *out = PAI_LIKE_HELIOS;
  else
    cli_misused(&cli_sim_generate, "--like is philly or helios", word);
  return *out != 0;
}

/* A cluster's GPUs, those of its largest node, and its virtual clusters. */
static int ask_cluster(const char *name, cli_source *source,
                       pai_generate_options *o, const char ***names)
{
  pai_cluster_view sums = { .struct_size = sizeof(sums) };
  int code = cli_source_open(source, &name, 1, NULL, false);

  if (code == CLI_OK && source->cluster == NULL)
    code = cli_source_to_cluster(source, NULL);
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
    cli_error(NULL, err);
    pai_error_free(err);
  }
  pai_trace_free(trace);
  return rc < 0 ? CLI_NO : CLI_OK;
}

static bool read_numbers(const generate_words *w, pai_generate_options *o)
{
  o->jobs = 10000;
  return to_number("jobs", w->jobs, 0, 1000000000, &o->jobs) &&
         to_number("seed", w->seed, 0, UINT64_MAX, &o->seed) &&
         to_number_32("gpus", w->gpus, &o->gpus) &&
         to_number_32("most-gpus", w->most_gpus, &o->most_gpus) &&
         to_number_32("gpus-per-node", w->per_node, &o->gpus_per_node) &&
         to_number_32("users", w->users, &o->users) &&
         to_number_32("vcs", w->vcs, &o->virtual_clusters) &&
         to_load(w->load, &o->load) && to_like(w->like, &o->like);
}

static int run(int argc, char **argv)
{
  generate_words w = { .jobs = NULL };
  pai_generate_options o = PAI_GENERATE_OPTIONS_INIT;
  cli_source source = { .name = NULL };
  const char **names = NULL;
  bool faults = false;
  const cli_option options[] = {
    { "jobs", 0, NULL, &w.jobs },
    { "seed", 0, NULL, &w.seed },
    { "like", 0, NULL, &w.like },
    { "load", 0, NULL, &w.load },
    { "gpus", 0, NULL, &w.gpus },
    { "cluster", 0, NULL, &w.cluster },
    { "most-gpus", 0, NULL, &w.most_gpus },
    { "gpus-per-node", 0, NULL, &w.per_node },
    { "users", 0, NULL, &w.users },
    { "vcs", 0, NULL, &w.vcs },
    { "model", 0, NULL, &o.model },
    { "faults", 0, &faults, NULL },
  };
  int words = cli_options(&cli_sim_generate, options,
                          sizeof(options) / sizeof(options[0]), argc, argv);
  int code = CLI_OK;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (words > 0) {
    cli_misused(&cli_sim_generate, "too many arguments", argv[0]);
    return CLI_USAGE;
  }
  if (w.cluster != NULL && (w.gpus != NULL || w.vcs != NULL)) {
    cli_misused(&cli_sim_generate, "--cluster already sets this number",
                w.gpus != NULL ? "--gpus" : "--vcs");
    return CLI_USAGE;
  }
  if (!read_numbers(&w, &o))
    return CLI_USAGE;
  o.faults = faults;
  if (w.cluster != NULL)
    code = ask_cluster(w.cluster, &source, &o, &names);
  if (code == CLI_OK)
    code = write_all(&o);
  free(names);
  if (w.cluster != NULL)
    cli_source_close(&source);
  return code;
}

const cli_verb cli_sim_generate = {
  .name = "sim generate",
  .brief = "Generate a trace of jobs, modelled on published ones",
  .usage = "[--jobs N] [--seed S] [--like philly|helios] [--load F] "
           "[OPTION...]",
  .help =
    "Print a trace, one JSON object a job.  Sizes, durations, arrival times "
    "and\n"
    "users follow the published statistics of two large clusters.  The same\n"
    "options give the same bytes on any machine.\n"
    "\n"
    "  --jobs N           number of jobs (default: 10000)\n"
    "  --seed S           seed of random numbers (default: 0)\n"
    "  --like philly|helios  cluster to follow: Microsoft's Philly (2017) or\n"
    "                     SenseTime's Helios (2020) (default: philly)\n"
    "  --load F           mean share of the GPUs in use (default: 0.8)\n"
    "  --gpus N           number of GPUs of the cluster (default: 8000)\n"
    "  --cluster C        file or description of the cluster, for its number\n"
    "                     of GPUs, node size and virtual clusters\n"
    "  --most-gpus N      most GPUs of one job (default: as published, at "
    "most\n"
    "                     an eighth of all GPUs)\n"
    "  --gpus-per-node N  most GPUs of one task (default: 8)\n"
    "  --users N          number of users (default: as published)\n"
    "  --vcs N            number of virtual clusters (default: as published)\n"
    "  --model M          GPU model, or SKU, that jobs request\n"
    "  --faults           let jobs fail or be killed as often as published\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 success, 1 output cannot be written, 2 usage error\n",
  .run = run,
};
