/*
 * metrics_tasks.c - metrics of tasks and GPUs, under the names of OpenPAI's
 * job-exporter
 */
#include "server/monitor/observed.h"

/* --- tasks --------------------------------------------------------------- */

static void add_labels(pai__buf *out, const pai_task_view *t)
{
  pai__buf name;

  pai__buf_init(&name, out->alloc);
  pai__buf_printf(&name, "%s~%s", t->user, t->name);
  pai__buf_str(out, "{username=");
  pai__metric_quote(out, t->user);
  pai__buf_str(out, ",job_name=");
  pai__metric_quote(out, pai__buf_text(&name));
  pai__buf_str(out, ",role_name=");
  pai__metric_quote(out, t->role);
  pai__buf_printf(out, ",task_index=\"%u\",job_instance_id=", t->index);
  pai__metric_quote(out, t->attempt_id);
  pai__buf_str(out, ",virtual_cluster=");
  pai__metric_quote(out, t->virtual_cluster != NULL ? t->virtual_cluster
                                                    : "default");
  pai__buf_dispose(&name);
}

static bool runs(const pai_task_view *t)
{
  return t->state == PAI_STATE_RUNNING || t->state == PAI_STATE_STOPPING;
}

/* Values of a task; -1: unknown. */
static double cpu_percent(const pai_task_view *t, const pai_sample_group *g)
{
  (void)t;
  return g->cpu_rate < 0 ? -1 : g->cpu_rate / 10.0;
}

static double memory(const pai_task_view *t, const pai_sample_group *g)
{
  (void)t;
  return (double)g->memory;
}

static double memory_percent(const pai_task_view *t, const pai_sample_group *g)
{
  return t->memory == 0 || g->memory < 0
           ? -1
           : (double)g->memory * 100 / (double)t->memory;
}

static double limit(const pai_task_view *t, const pai_sample_group *g)
{
  (void)g;
  return t->memory == 0 ? -1 : (double)t->memory;
}

static double block_in(const pai_task_view *t, const pai_sample_group *g)
{
  (void)t;
  return (double)g->read_bytes;
}

static double block_out(const pai_task_view *t, const pai_sample_group *g)
{
  (void)t;
  return (double)g->write_bytes;
}

static void write_values(pai__buf *out, const pai_server *s,
                         const pai_sample *sample,
                         const pai__observed_tasks *tasks, const char *name,
                         double (*value)(const pai_task_view *,
                                         const pai_sample_group *))
{
  for (size_t i = 0; i < tasks->n; i++) {
    const pai_task_view *t = &tasks->at[i];
    pai_sample_group g;
    double v;

    if (!runs(t) || !pai__usage_sampler_of(s->usage_sampler, sample, t, &g) ||
        (v = value(t, &g)) < 0)
      continue;
    pai__buf_str(out, name);
    add_labels(out, t);
    pai__buf_printf(out, "} %.15g\n", v);
  }
}

/* Writes metrics of each GPU of a task. */
static void write_gpus_of(pai__buf *out, const pai_server *s,
                          const pai_sample *sample,
                          const pai__observed_tasks *tasks, const char *name,
                          bool of_memory)
{
  pai_sample_gpu g = { .struct_size = sizeof(g) };

  for (size_t i = 0; pai_sample_get_gpu(sample, i, &g) == PAI_OK; i++) {
    int number = pai__usage_sampler_gpu(s->usage_sampler, i);
    int32_t v = of_memory ? g.memory_busy_percent : g.busy_percent;

    for (size_t k = 0; number >= 0 && number < 64 && v >= 0 && k < tasks->n;
         k++)
      if (runs(&tasks->at[k]) && (tasks->at[k].gpus >> number & 1) != 0) {
        pai__buf_str(out, name);
        add_labels(out, &tasks->at[k]);
        pai__buf_printf(out, ",minor_number=\"%d\"} %d\n", number, (int)v);
      }
  }
}

void pai__metrics_tasks(pai__buf *out, const pai_server *s,
                        const pai_sample *sample,
                        const pai__observed_tasks *tasks)
{
  static const struct {
    const char *name, *help;
    double (*value)(const pai_task_view *, const pai_sample_group *);
  } rows[] = {
    { "task_cpu_percent",
      "CPU use since the last sample, in percent of one CPU.", cpu_percent },
    { "task_mem_usage_byte", "Memory use of the task.", memory },
    { "task_mem_usage_percent",
      "Memory use in percent of the requested memory.", memory_percent },
    { "task_mem_limit_byte", "Requested memory of the task.", limit },
    { "task_block_in_byte", "Bytes that the task has read from disks.",
      block_in },
    { "task_block_out_byte", "Bytes that the task has written to disks.",
      block_out },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__metric_head(out, rows[i].name, "gauge", rows[i].help);
    write_values(out, s, sample, tasks, rows[i].name, rows[i].value);
  }
  pai__metric_head(out, "task_gpu_percent", "gauge",
                   "Utilization of each GPU of the task, in percent.");
  write_gpus_of(out, s, sample, tasks, "task_gpu_percent", false);
  pai__metric_head(
    out, "task_gpu_mem_percent", "gauge",
    "Utilization of the memory of each GPU of the task, in percent.");
  write_gpus_of(out, s, sample, tasks, "task_gpu_mem_percent", true);
}

/* --- GPUs ---------------------------------------------------------------- */

static void write_gpu(pai__buf *out, const char *name, int number,
                      int64_t value, bool vendor)
{
  if (value >= 0)
    pai__buf_printf(out, "%s{minor_number=\"%d\"%s} %lld\n", name, number,
                    vendor ? ",vender=\"nvidia\"" : "", (long long)value);
}

void pai__metrics_gpus(pai__buf *out, const pai_server *s,
                       const pai_sample *sample,
                       const pai__observed_machine *machine)
{
  static const struct {
    const char *name, *help;
    bool vendor;
    int of; /* 0: utilization, 1: memory, 2: temperature */
  } rows[] = {
    { "nvidiasmi_utilization_gpu", "Utilization of the GPU, in percent.",
      false, 0 },
    { "nvidiasmi_utilization_memory",
      "Utilization of the GPU's memory, in percent.", false, 1 },
    { "nvidiasmi_temperature", "Temperature of the GPU in degrees Celsius.",
      false, 2 },
    { "gpu_utilization", "Utilization of the GPU, in percent.", true, 0 },
    { "gpu_mem_utilization", "Utilization of the GPU's memory, in percent.",
      true, 1 },
  };
  const pai__metric configured = { "configured_gpu_count", "gauge",
                                   "GPUs for jobs.",
                                   .value = (uint64_t)machine->gpus };
  pai_sample_gpu g = { .struct_size = sizeof(g) };

  pai__metrics_write(out, &configured, 1);
  for (size_t k = 0; sample != NULL && k < PAI__LEN(rows); k++) {
    pai__metric_head(out, rows[k].name, "gauge", rows[k].help);
    for (size_t i = 0; pai_sample_get_gpu(sample, i, &g) == PAI_OK; i++) {
      const int64_t values[] = { g.busy_percent, g.memory_busy_percent,
                                 g.temperature };
      int number = pai__usage_sampler_gpu(s->usage_sampler, i);

      if (number >= 0 && !g.lost)
        write_gpu(out, rows[k].name, number, values[rows[k].of],
                  rows[k].vendor);
    }
  }
}
