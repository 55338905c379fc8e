/*
 * metrics.c - GET /metrics for Prometheus: the metrics of OpenPAI's exporters
 * that a single machine has, under their names, and our own
 */
#include "server/monitor/observed.h"

/* --- text ---------------------------------------------------------------- */

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

void pai__metrics_write(pai__buf *out, const pai__metric *rows, size_t n)
{
  const pai__metric *head = rows, *written = NULL;

  for (const pai__metric *m = rows; m < rows + n; m++) {
    if (m->name != NULL)
      head = m;
    if ((int64_t)m->value < 0)
      continue;
    if (written != head)
      pai__metric_head(out, head->name, head->type, head->help);
    written = head;
    pai__buf_str(out, head->name);
    pai__buf_str(out, m->rest != NULL ? m->rest : "");
    if (m->host_ip != NULL) {
      pai__buf_str(out, "{host_ip=");
      pai__metric_quote(out, m->host_ip);
      pai__buf_char(out, '}');
    }
    pai__buf_printf(out, " %.15g\n",
                    (double)m->value / (m->unit != 0 ? m->unit : 1));
  }
}

/* --- jobs, the database and logins --------------------------------------- */

static void write_counts(pai__buf *out, const pai_platform_counts *c)
{
  const pai__metric rows[] = {
    { "openpai_jobs", "gauge", "Live jobs.", "{state=\"waiting\"}",
      .value = c->waiting },
    { .rest = "{state=\"running\"}", .value = c->running },
    { .rest = "{state=\"stopping\"}", .value = c->stopping },
    { "openpai_jobs_ended_total", "counter",
      "Jobs that have ended since the platform started.",
      "{state=\"succeeded\"}", .value = c->succeeded },
    { .rest = "{state=\"failed\"}", .value = c->failed },
    { .rest = "{state=\"stopped\"}", .value = c->stopped },
    { "openpai_jobs_submitted_total", "counter",
      "Jobs that were accepted since the platform started.",
      .value = c->submitted },
    { "openpai_queue_length", "gauge", "Requests that wait in the scheduler.",
      .value = c->queued },
    { "openpai_store_commit_seconds", "summary",
      "Time of commits of the database.", "_sum", .value = c->commit_us,
      .unit = 1000000 },
    { .rest = "_count", .value = c->commits + c->commit_failures },
    { "openpai_store_commit_failures_total", "counter",
      "Commits of the database that failed and were repeated.",
      .value = c->commit_failures },
    { "process_error_log_total", "counter", "Errors of the platform itself.",
      "{type=\"database\"}", .value = c->commit_failures },
  };

  pai__metrics_write(out, rows, PAI__LEN(rows));
}

static void write_logins(pai__buf *out, const pai_server *s)
{
  pai_login_counts c = { .struct_size = sizeof(c) };

  if (s->accounts == NULL ||
      pai_accounts_count_logins(s->accounts, &c) != PAI_OK)
    return;
  const pai__metric rows[] = {
    { "openpai_logins_total", "counter",
      "Logins with a password: right, wrong, or refused after too many wrong "
      "passwords.",
      "{result=\"right\"}", .value = c.good },
    { .rest = "{result=\"wrong\"}", .value = c.wrong },
    { .rest = "{result=\"refused\"}", .value = c.refused },
    { "openpai_login_lockouts_total", "counter",
      "Lockouts of 30 seconds or longer after wrong passwords.",
      .value = c.lockouts },
    { "openpai_logins_held_up", "gauge",
      "Accounts and addresses that are locked out now.", .value = c.waiting },
  };
  pai__metrics_write(out, rows, PAI__LEN(rows));
}

/* --- the machine --------------------------------------------------------- */

static void write_node(pai__buf *out, const pai__observed_machine *m)
{
  const pai__metric rows[] = {
    { "k8s_node_gpu_total", "gauge", "GPUs of the node.",
      .value = (uint64_t)m->gpus, .host_ip = m->ip },
    { "k8s_node_gpu_available", "gauge", "Free GPUs of the node.",
      .value = (uint64_t)m->free_gpus, .host_ip = m->ip },
    { "k8s_node_gpu_reserved", "gauge", "Free GPUs that jobs do not get.",
      .value = (uint64_t)m->sick_gpus, .host_ip = m->ip },
    { "openpai_cpus", "gauge", "CPUs for jobs.", .value = (uint64_t)m->cpus },
    { "openpai_cpus_free", "gauge", "Free CPUs for jobs.",
      .value = m->free_cpu_millis, .unit = 1000 },
    { "openpai_memory_bytes", "gauge", "Memory for jobs.",
      .value = (uint64_t)m->memory },
    { "openpai_memory_free_bytes", "gauge", "Free memory for jobs.",
      .value = (uint64_t)m->free_memory },
  };

  pai__metric_head(out, "pai_node_count", "gauge", "Nodes of the cluster.");
  pai__buf_str(out, "pai_node_count{host_ip=");
  pai__metric_quote(out, m->ip);
  pai__buf_str(out, ",node_name=");
  pai__metric_quote(out, m->name);
  pai__buf_printf(out,
                  ",disk_pressure=\"%s\",memory_pressure=\"false\","
                  "ready=\"true\",unschedulable=\"false\"} 1\n",
                  m->trouble != NULL ? "true" : "false");
  pai__metrics_write(out, rows, PAI__LEN(rows));
}

static void write_processors(pai__buf *out, const pai_sample *sample)
{
  pai_sample_cpu c = { .struct_size = sizeof(c) };

  pai__metric_head(out, "node_cpu_seconds_total", "counter",
                   "Time of each processor by mode.");
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

/* The file system of the platform's root. */
static void write_file_system(pai__buf *out, const pai_sample *sample)
{
  pai_sample_file_system f = { .struct_size = sizeof(f) };

  if (pai_sample_get_file_system(sample, 0, &f) < 0 || f.total <= 0)
    return;
  const pai__metric rows[] = {
    { "node_filesystem_size_bytes", "gauge", "Size of the file system.",
      "{mountpoint=\"root\"}", .value = (uint64_t)f.total },
    { "node_filesystem_avail_bytes", "gauge",
      "Space of the file system that is free for this user.",
      "{mountpoint=\"root\"}", .value = (uint64_t)f.free },
  };
  pai__metrics_write(out, rows, PAI__LEN(rows));
}

static void write_loads(pai__buf *out, const pai_sample *sample)
{
  pai_sample_machine m = { .struct_size = sizeof(m) };

  if (pai_sample_get(sample, &m) < 0)
    return;
  const pai__metric rows[] = {
    { "node_load1", "gauge", "Load average over a minute.",
      .value = (uint64_t)m.load[0], .unit = 100 },
    { "node_memory_MemTotal_bytes", "gauge", "Memory of the machine.",
      .value = (uint64_t)m.memory_total },
    { "node_memory_MemAvailable_bytes", "gauge",
      "Memory that is available to programs.",
      .value = (uint64_t)m.memory_available },
  };
  pai__metrics_write(out, rows, PAI__LEN(rows));
  write_file_system(out, sample);
  write_processors(out, sample);
}

/* --- tasks as pods ------------------------------------------------------- */

static void add_label(pai__buf *out, const char *name, const char *value)
{
  pai__buf_printf(out, ",%s=", name);
  pai__metric_quote(out, value);
}

static void write_pods(pai__buf *out, const pai__observed_tasks *tasks)
{
  pai__buf job;

  pai__buf_init(&job, out->alloc);
  pai__metric_head(out, "pai_job_pod_count", "gauge", "Tasks of live jobs.");
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

/* --- all metrics --------------------------------------------------------- */

int pai__metrics_text(pai__buf *out, pai_server *s,
                      const pai__observed_machine *machine,
                      const pai__observed_tasks *tasks,
                      const pai_sample *sample)
{
  pai_platform_counts counts = { .struct_size = sizeof(counts) };
  int rc = pai_platform_count(s->platform, &counts);

  if (rc < 0)
    return rc;
  write_counts(out, &counts);
  write_logins(out, s);
  write_node(out, machine);
  write_pods(out, tasks);
  pai__metrics_gpus(out, s, sample, machine);
  if (sample != NULL) {
    write_loads(out, sample);
    pai__metrics_tasks(out, s, sample, tasks);
  }
  pai__count_write(s, out);
  return PAI_OK;
}

static int write_all(pai__request *r, const pai__observed_tasks *tasks,
                     pai_error **err)
{
  const pai_sample *sample;
  pai__observed_machine machine;
  int rc = pai__observed_machine_read(&machine, r->server, err);

  if (rc == PAI_OK)
    rc = pai__usage_sampler_take(&sample, &r->server->usage_sampler, r->server,
                                 tasks, err);
  if (rc == PAI_OK)
    rc = pai__metrics_text(&r->answer, r->server, &machine, tasks, sample);
  pai__observed_machine_dispose(&machine);
  return rc;
}

void pai__do_server_metrics(pai__request *r)
{
  pai__observed_tasks tasks;
  int rc = pai__observed_tasks_read(&tasks, r->server, &r->err);

  if (rc == PAI_OK)
    rc = write_all(r, &tasks, &r->err);
  pai__observed_tasks_dispose(&tasks);
  r->type = PAI__METRICS_TYPE;
  pai__answer_written(r, rc);
}
