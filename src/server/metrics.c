/*
 * metrics.c - GET /metrics, for Prometheus: what OpenPAI's exporters tell, by
 * their names, as far as a single machine has it; and what is ours
 */
#include "server/seen.h"

/* --- text ------------------------------------------------------------------------- */

void pai__metric_head(pai__buf *out, const char *name, const char *type,
                      const char *help)
{
  pai__buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void pai__metric_quote(pai__buf *out, const char *value)
{
  pai__buf_char(out, '"');
  for (; *value != '\0'; value++) {
    if (*value == '\\' || *value == '"')
      pai__buf_char(out, '\\');
    if (*value == '\n')
      pai__buf_str(out, "\\n");
    else
      pai__buf_char(out, *value);
  }
  pai__buf_char(out, '"');
}

static void add_number(pai__buf *out, const char *name, const char *type,
                       const char *help, uint64_t value)
{
  pai__metric_head(out, name, type, help);
  pai__buf_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

/* --- jobs and the database ------------------------------------------------------------ */

static void write_jobs(pai__buf *out, const pai_platform_counts *c)
{
  const struct {
    const char *state;
    uint64_t now, ended;
  } rows[] = {
    { "waiting", c->waiting, 0 },   { "running", c->running, 0 },
    { "stopping", c->stopping, 0 }, { "succeeded", 0, c->succeeded },
    { "failed", 0, c->failed },     { "stopped", 0, c->stopped }
  };

  pai__metric_head(out, "openpai_jobs", "gauge", "Jobs that are not over.");
  for (int i = 0; i < 3; i++)
    pai__buf_printf(out, "openpai_jobs{state=\"%s\"} %llu\n", rows[i].state,
                    (unsigned long long)rows[i].now);
  pai__metric_head(out, "openpai_jobs_ended_total", "counter",
                   "Jobs that have ended since the platform began.");
  for (int i = 3; i < 6; i++)
    pai__buf_printf(out, "openpai_jobs_ended_total{state=\"%s\"} %llu\n",
                    rows[i].state, (unsigned long long)rows[i].ended);
  add_number(out, "openpai_jobs_submitted_total", "counter",
             "Jobs that were accepted since the platform started.",
             c->submitted);
  add_number(out, "openpai_queue_length", "gauge",
             "Requests that wait in the scheduler.", c->queued);
}

static void write_store(pai__buf *out, const pai_platform_counts *c)
{
  pai__metric_head(out, "openpai_store_commit_seconds", "summary",
                   "Commits of the database.");
  pai__buf_printf(out,
                  "openpai_store_commit_seconds_sum %llu.%06llu\n"
                  "openpai_store_commit_seconds_count %llu\n",
                  (unsigned long long)(c->commit_us / 1000000),
                  (unsigned long long)(c->commit_us % 1000000),
                  (unsigned long long)c->commits + c->commit_failures);
  add_number(out, "openpai_store_commit_failures_total", "counter",
             "Commits that failed, and were tried again.", c->commit_failures);
  pai__metric_head(out, "process_error_log_total", "counter",
                   "Errors of the platform itself.");
  pai__buf_printf(out, "process_error_log_total{type=\"database\"} %llu\n",
                  (unsigned long long)c->commit_failures);
}

static void write_logins(pai__buf *out, const pai_server *s)
{
  pai_login_counts c = { .struct_size = sizeof(c) };

  if (s->accounts == NULL ||
      pai_accounts_count_logins(s->accounts, &c) != PAI_OK)
    return;
  pai__metric_head(out, "openpai_logins_total", "counter",
                   "Passwords: right, wrong, or refused after too many wrong "
                   "ones.");
  pai__buf_printf(out,
                  "openpai_logins_total{result=\"right\"} %llu\n"
                  "openpai_logins_total{result=\"wrong\"} %llu\n"
                  "openpai_logins_total{result=\"refused\"} %llu\n",
                  (unsigned long long)c.good, (unsigned long long)c.wrong,
                  (unsigned long long)c.refused);
  add_number(out, "openpai_login_lockouts_total", "counter",
             "Waits of half a minute and more after wrong passwords.",
             c.lockouts);
  add_number(out, "openpai_logins_held_up", "gauge",
             "Accounts and addresses that have to wait now.", c.waiting);
}

/* --- the machine ----------------------------------------------------------------------- */

static void add_of_node(pai__buf *out, const pai__seen_machine *m,
                        const char *name, const char *help, int64_t value)
{
  pai__metric_head(out, name, "gauge", help);
  pai__buf_printf(out, "%s{host_ip=", name);
  pai__metric_quote(out, m->ip);
  pai__buf_printf(out, "} %lld\n", (long long)value);
}

static void write_node(pai__buf *out, const pai__seen_machine *m)
{
  pai__metric_head(out, "pai_node_count", "gauge", "Machines of the cluster.");
  pai__buf_str(out, "pai_node_count{host_ip=");
  pai__metric_quote(out, m->ip);
  pai__buf_str(out, ",node_name=");
  pai__metric_quote(out, m->name);
  pai__buf_printf(out,
                  ",disk_pressure=\"%s\",memory_pressure=\"false\","
                  "ready=\"true\",unschedulable=\"false\"} 1\n",
                  m->trouble != NULL ? "true" : "false");
  add_of_node(out, m, "k8s_node_gpu_total", "GPUs of the machine.", m->gpus);
  add_of_node(out, m, "k8s_node_gpu_available", "GPUs that are free.",
              m->free_gpus);
  add_of_node(out, m, "k8s_node_gpu_reserved",
              "GPUs that are free and not given out.", m->sick_gpus);
  add_number(out, "openpai_cpus", "gauge", "CPUs that jobs may be given.",
             (uint64_t)m->cpus);
  add_number(out, "openpai_cpus_free", "gauge", "Those that are free.",
             (uint64_t)m->free_cpus);
  add_number(out, "openpai_memory_bytes", "gauge",
             "Memory that jobs may be given.", (uint64_t)m->memory);
  add_number(out, "openpai_memory_free_bytes", "gauge", "What is free of it.",
             (uint64_t)m->free_memory);
}

static void write_loads(pai__buf *out, const pai_sample *sample)
{
  pai_sample_machine m = { .struct_size = sizeof(m) };
  pai_sample_cpu c = { .struct_size = sizeof(c) };

  if (pai_sample_get(sample, &m) < 0)
    return;
  pai__metric_head(out, "node_load1", "gauge", "Load over a minute.");
  if (m.load[0] >= 0)
    pai__buf_printf(out, "node_load1 %d.%02d\n", (int)m.load[0] / 100,
                    (int)m.load[0] % 100);
  if (m.memory_total >= 0)
    add_number(out, "node_memory_MemTotal_bytes", "gauge", "Memory.",
               (uint64_t)m.memory_total);
  if (m.memory_available >= 0)
    add_number(out, "node_memory_MemAvailable_bytes", "gauge",
               "Memory that programs could have.",
               (uint64_t)m.memory_available);
  pai__metric_head(out, "node_cpu_seconds_total", "counter",
                   "What each processor did.");
  for (size_t i = 0; pai_sample_get_cpu(sample, i, &c) == PAI_OK; i++) {
    const struct {
      const char *mode;
      uint64_t us;
    } rows[] = { { "user", c.user },
                 { "system", c.system },
                 { "iowait", c.iowait },
                 { "idle", c.idle } };
    for (size_t k = 0; k < PAI__LEN(rows); k++)
      pai__buf_printf(out,
                      "node_cpu_seconds_total{cpu=\"%u\",mode=\"%s\"} "
                      "%llu.%06llu\n",
                      (unsigned)c.number, rows[k].mode,
                      (unsigned long long)(rows[k].us / 1000000),
                      (unsigned long long)(rows[k].us % 1000000));
  }
}

/* --- tasks as pods ---------------------------------------------------------------------- */

static void add_label(pai__buf *out, const char *name, const char *value)
{
  pai__buf_printf(out, ",%s=", name);
  pai__metric_quote(out, value);
}

static void write_pods(pai__buf *out, const pai__seen_tasks *tasks)
{
  pai__buf job;

  pai__buf_init(&job, out->alloc);
  pai__metric_head(out, "pai_job_pod_count", "gauge",
                   "Tasks of jobs that are not over.");
  for (size_t i = 0; i < tasks->n; i++) {
    const pai_task_view *t = &tasks->at[i];
    bool placed = t->node != NULL, ready = t->started != 0;

    if (t->state > PAI_STATE_STOPPING)
      continue;
    pai__buf_printf(out,
                    "pai_job_pod_count{name=\"%s-%s-%u\",phase=\"%s\","
                    "initialized=\"%s\",pod_bound=\"%s\",pod_scheduled=\"%s\","
                    "ready=\"%s\"",
                    t->framework, t->role, t->index,
                    ready ? "running" : "pending", placed ? "true" : "false",
                    placed ? "true" : "false", placed ? "true" : "false",
                    ready ? "true" : "false");
    pai__buf_cut(&job, 0);
    pai__buf_printf(&job, "%s~%s", t->user, t->name);
    add_label(out, "job_name", pai__buf_text(&job));
    add_label(out, "host_ip", t->ip != NULL ? t->ip : "");
    add_label(out, "node_name", placed ? t->node : "");
    pai__buf_str(out, "} 1\n");
  }
  pai__buf_dispose(&job);
}

/* --- all ------------------------------------------------------------------------------- */

static int write_all(pai__request *r, const pai__seen_tasks *tasks,
                     pai_error **err)
{
  pai_platform_counts counts = { .struct_size = sizeof(counts) };
  pai_server *s = r->server;
  pai__buf *out = &r->answer;
  const pai_sample *sample;
  pai__seen_machine machine;
  int rc = pai__seen_machine_read(&machine, s, err);

  if (rc == PAI_OK)
    rc = pai__meter_take(&sample, s, tasks, err);
  if (rc == PAI_OK && pai_platform_count(s->platform, &counts) == PAI_OK) {
    write_jobs(out, &counts);
    write_store(out, &counts);
    write_logins(out, s);
    write_node(out, &machine);
    write_pods(out, tasks);
    pai__metrics_gpus(out, s, sample, &machine);
    if (sample != NULL) {
      write_loads(out, sample);
      pai__metrics_tasks(out, s, sample, tasks);
    }
    pai__count_write(s, out);
  }
  pai__seen_machine_dispose(&machine);
  return rc;
}

static void do_metrics(pai__request *r)
{
  pai_error *err = NULL;
  pai__seen_tasks tasks;
  int rc = pai__seen_tasks_read(&tasks, r->server, &err);

  if (rc == PAI_OK)
    rc = write_all(r, &tasks, &err);
  pai__seen_tasks_dispose(&tasks);
  r->type = PAI__METRICS_TYPE;
  pai__answer_written(r, rc, err);
}

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/metrics",
    .packs = true,
    .handle = do_metrics,
    .right = PAI__OF_USERS,
    .result = &pai__text_result,
    .summary = "Get metrics for Prometheus" },
};

const pai__routes pai__metrics_routes = { routes, PAI__LEN(routes) };
