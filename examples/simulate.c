/*
 * simulate.c - would another policy have been better?
 *
 * Usage: simulate [TRACE]  Without one, jobs are made up after published
 * numbers.  Each policy gets the same jobs, and the reports are put side by
 * side.
 */
#include <openpai/openpai.h>

#include <stdio.h>

static int print(void *user_data, const char *bytes, size_t len)
{
  return fwrite(bytes, 1, len, user_data) == len ? PAI_OK : PAI_EIO;
}

/* A trace is read once: each simulation has its own. */
static int open_trace(pai_trace **out, const char *path, pai_error **err)
{
  pai_generate_options o = PAI_GENERATE_OPTIONS_INIT;

  if (path != NULL)
    return pai_trace_load(out, path, NULL, err);
  o.jobs = 1000;
  o.seed = 1;
  o.gpus = 64;
  o.load = 900;
  return pai_trace_generate(out, &o, err);
}

static int simulate(pai_sim_report **out, const pai_cluster *cluster,
                    const char *path, const char *policy, pai_error **err)
{
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_trace *trace = NULL;
  int rc = open_trace(&trace, path, err);

  o.policy = policy;
  if (rc == PAI_OK)
    rc = pai_sim_run(out, cluster, trace, &o, err);
  pai_trace_free(trace);
  return rc;
}

static int compare(const pai_cluster *cluster, const char *path,
                   pai_error **err)
{
  pai_sim_report *reports[2] = { NULL, NULL };
  int rc = simulate(&reports[0], cluster, path, "fifo", err);

  if (rc == PAI_OK)
    rc = simulate(&reports[1], cluster, path, "backfill", err);
  if (rc == PAI_OK)
    rc = pai_sim_write((const pai_sim_report *const *)reports, 2,
                       PAI_FORMAT_TEXT, print, stdout, err);
  pai_sim_report_free(reports[0]);
  pai_sim_report_free(reports[1]);
  return rc;
}

int main(int argc, char **argv)
{
  pai_cluster *cluster = NULL;
  pai_error *err = NULL;
  int rc = pai_cluster_synthetic(
    &cluster, "nodes:6 gpu:8:v100 cpus:64 mem:512G", NULL, &err);

  if (rc == PAI_OK)
    rc = compare(cluster, argc > 1 ? argv[1] : NULL, &err);
  if (rc < 0)
    fprintf(stderr, "%s\n", pai_error_message(err));
  pai_error_free(err);
  pai_cluster_free(cluster);
  return rc < 0;
}
