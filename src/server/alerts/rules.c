/* rules.c - rules of alerts: those that every platform has, and their texts */
#include "server/alerts/rules.h"

#include <stdio.h>
#include <string.h>

/* THE table of built-in rules: OpenPAI's, as far as this machine has their
 * metrics, and our own.  Metrics that only rules have are in job_samples.c and
 * look.c. */
static const struct {
  const char *name, *severity, *expr, *summary;
} built_in[] = {
  { "NodeDiskPressure", "error", "openpai_database_trouble > 0",
    "Cannot write the database, so no jobs start: {{reason}}" },
  { "NodeFilesystemUsage", "warn",
    "node_filesystem_avail_bytes / node_filesystem_size_bytes * 100 <= 20 "
    "for 5m",
    "The file system of the platform's root is {{value}}% free." },
  { "NodeMemoryUsage", "warn",
    "(1 - node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes) * 100 "
    "> 95 for 5m",
    "{{value}}% of the machine's memory is in use." },
  { "NodeCPUUsage", "warn",
    "100 - avg(rate(node_cpu_seconds_total{mode=\"idle\"}[5m])) * 100 > 98 "
    "for 5m",
    "The machine's processors are busy for {{value}}% of the time." },
  { "GpuUsedByExternalProcess", "warn",
    "sum(k8s_node_gpu_reserved) > 0 for 5m",
    "{{value}} GPUs are unavailable: other programs use them, or they are "
    "faulty." },
  { "NodeGpuCountChanged", "fatal", "openpai_gpus_lost > 0 for 5m",
    "{{value}} GPUs of the machine can no longer be reached." },
  { "PaiJobPending", "warn", "openpai_job_waiting_seconds > 1800",
    "Job {{job_name}} has waited for more than 30 minutes." },
  { "PaiJobRetried", "warn", "openpai_job_retries >= 4",
    "Job {{job_name}} is in retry number {{value}}." },
  { "PAIJobGpuPercentLowerThan0_3For1h", "warn",
    "openpai_job_gpu_percent < 0.3 for 1h",
    "The GPUs of job {{job_name}} have been idle for an hour." },
};

void pai__alert_rules_init(pai__alert_rules *r, const pai_alloc *alloc)
{
  *r = (pai__alert_rules){ .alloc = *alloc };
}

void pai__alert_rules_dispose(pai__alert_rules *r)
{
  for (size_t i = 0; i < r->n; i++)
    pai__alert_expr_free(r->at[i].parsed);
  pai__free(&r->alloc, r->at, r->cap * sizeof(*r->at));
  r->at = NULL;
  r->n = r->cap = 0;
}

int pai__alert_rules_add(pai__alert_rules *r, const pai__alert_rule *rule,
                         pai_error **err)
{
  pai__alert_rule *new;
  int rc;

  if (r->n == PAI__ALERT_RULES)
    return pai__fail(err, PAI_ELIMIT, "there are more than %d rules",
                     PAI__ALERT_RULES);
  if (PAI__VEC_ROOM(&r->alloc, r->at, r->n, r->cap) < 0)
    return pai__oom(err);
  new = &r->at[r->n];
  *new = *rule;
  rc = pai__alert_expr_parse(&new->parsed, &r->alloc, rule->expr,
                             strlen(rule->expr), err);
  if (rc < 0)
    return rc;
  if (new->wait == 0)
    new->wait = pai__alert_expr_wait(new->parsed);
  r->n++;
  return PAI_OK;
}

int pai__alert_rules_built_in(pai__alert_rules *r, pai_error **err)
{
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < PAI__LEN(built_in); i++)
    rc = pai__alert_rules_add(
      r,
      &(pai__alert_rule){ .name = built_in[i].name,
                          .severity = built_in[i].severity,
                          .expr = built_in[i].expr,
                          .summary = built_in[i].summary,
                          .built_in = true },
      err);
  return rc;
}

pai__alert_rule *pai__alert_rules_find(const pai__alert_rules *r,
                                       const char *name)
{
  for (size_t i = 0; i < r->n; i++)
    if (strcmp(r->at[i].name, name) == 0)
      return &r->at[i];
  return NULL;
}

bool pai__alert_is_severity(const char *text)
{
  static const char *const all[] = { "info", "warn", "error", "fatal" };

  for (size_t i = 0; i < PAI__LEN(all); i++)
    if (strcmp(all[i], text) == 0)
      return true;
  return false;
}

/* --- summaries ----------------------------------------------------------- */

/* Appends as much as there is room for, without half a character. */
static size_t append(char *out, size_t size, size_t at, const char *text,
                     size_t len)
{
  if (len > size - 1 - at) {
    len = size - 1 - at;
    while (len > 0 && (text[len] & 0xc0) == 0x80)
      len--;
  }
  memcpy(out + at, text, len);
  out[at + len] = '\0';
  return at + len;
}

void pai__alert_summary(char *out, size_t size, const char *form,
                        pai__alert_labels labels, double value)
{
  size_t at = 0;

  out[0] = '\0';
  while (*form != '\0') {
    const char *open = strstr(form, "{{"),
               *close = open != NULL ? strstr(open, "}}") : NULL;
    char name[64], number[32];
    const char *text;

    if (close == NULL || close - open - 2 >= (ptrdiff_t)sizeof(name)) {
      (void)append(out, size, at, form, strlen(form));
      return;
    }
    at = append(out, size, at, form, (size_t)(open - form));
    (void)snprintf(name, sizeof(name), "%.*s", (int)(close - open - 2),
                   open + 2);
    (void)snprintf(number, sizeof(number), "%.4g", value);
    text = strcmp(name, "value") == 0 ? number
                                      : pai__alert_labels_get(labels, name);
    at = append(out, size, at, text, strlen(text));
    form = close + 2;
  }
}
