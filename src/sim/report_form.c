/* report_form.c - which members of a report are called how in JSON */
#include "sim/report_form.h"

#include <openpai/platform.h>

#define NUMBER(type, m, key, digits)                           \
  {                                                            \
    (key), offsetof(type, m), sizeof(((type *)0)->m), (digits) \
  }

const pai__number_form pai__head_form[] = {
  NUMBER(pai_sim_report, nodes, "nodes", 0),
  NUMBER(pai_sim_report, gpus, "gpus", 0),
  NUMBER(pai_sim_report, cpus, "cpus", 0),
  NUMBER(pai_sim_report, view.lines_skipped, "lines_skipped", 0),
  NUMBER(pai_sim_report, view.mapped_vcs, "mapped_vcs", 0),
  NUMBER(pai_sim_report, view.mapped_types, "mapped_types", 0),
  NUMBER(pai_sim_report, view.begin, "begin_s", 6),
  NUMBER(pai_sim_report, outside, "outside_gpu_s", 6),
  NUMBER(pai_sim_report, span, "span_s", 6),
  NUMBER(pai_sim_report, bin, "bin_s", 6),
  { NULL, 0, 0, 0 },
};

const pai__number_form pai__group_form[] = {
  NUMBER(pai__group, jobs, "jobs", 0),
  NUMBER(pai__group, rejected, "rejected", 0),
  NUMBER(pai__group, started, "started", 0),
  NUMBER(pai__group, finished, "finished", 0),
  NUMBER(pai__group, failed, "failed", 0),
  NUMBER(pai__group, killed, "killed", 0),
  NUMBER(pai__group, left, "left", 0),
  NUMBER(pai__group, preemptions, "preemptions", 0),
  NUMBER(pai__group, retries, "retries", 0),
  NUMBER(pai__group, wait_sum, "wait_sum_s", 6),
  NUMBER(pai__group, wait_p50, "wait_p50_s", 6),
  NUMBER(pai__group, wait_p90, "wait_p90_s", 6),
  NUMBER(pai__group, wait_p99, "wait_p99_s", 6),
  NUMBER(pai__group, wait_max, "wait_max_s", 6),
  NUMBER(pai__group, slowdown_p50, "slowdown_p50", 3),
  NUMBER(pai__group, slowdown_p90, "slowdown_p90", 3),
  NUMBER(pai__group, used, "used_gpu_s", 6),
  NUMBER(pai__group, lost, "lost_gpu_s", 6),
  NUMBER(pai__group, entitled, "entitled_gpu_s", 6),
  NUMBER(pai__group, borrowed, "borrowed_gpu_s", 6),
  NUMBER(pai__group, lent, "lent_gpu_s", 6),
  { NULL, 0, 0, 0 },
};

const pai__number_form pai__bin_form[] = {
  NUMBER(pai__bin, busy, "busy_gpu_s", 6),
  NUMBER(pai__bin, up, "up_gpu_s", 6),
  NUMBER(pai__bin, fragmented, "fragmented_gpu_s", 6),
  NUMBER(pai__bin, wanted, "wanted_gpu_s", 6),
  NUMBER(pai__bin, waiting, "waiting_job_s", 6),
  NUMBER(pai__bin, running, "running_job_s", 6),
  NUMBER(pai__bin, came, "came", 0),
  NUMBER(pai__bin, started, "started", 0),
  NUMBER(pai__bin, ended, "ended", 0),
  NUMBER(pai__bin, preempted, "preempted", 0),
  { NULL, 0, 0, 0 },
};

unsigned pai__figure_digits(const pai__figure *f)
{
  return f->kind == PAI__COUNT ? 0 : f->kind == PAI__TIMES ? 3 : 6;
}

int64_t pai__number_get(const void *in, size_t at, size_t size)
{
  const char *p = (const char *)in + at;
  uint32_t small;
  uint64_t large;

  if (size == sizeof(small)) {
    memcpy(&small, p, sizeof(small));
    return small;
  }
  memcpy(&large, p, sizeof(large));
  return large < (uint64_t)INT64_MAX || size != sizeof(large) ? (int64_t)large
                                                              : INT64_MAX;
}

bool pai__number_set(void *out, size_t at, size_t size, int64_t value)
{
  char *p = (char *)out + at;
  uint32_t small = (uint32_t)value;

  if (size != sizeof(small)) {
    memcpy(p, &value, sizeof(value));
    return true;
  }
  memcpy(p, &small, sizeof(small));
  return value >= 0 && value <= UINT32_MAX;
}

const char *pai__groups_form(size_t i, size_t *at)
{
  static const struct {
    const char *key;
    size_t at;
  } forms[] = {
    { "vcs", offsetof(pai_sim_report, vcs) },
    { "sizes", offsetof(pai_sim_report, sizes) },
    { "users", offsetof(pai_sim_report, users) },
  };

  if (i >= PAI__LEN(forms))
    return NULL;
  *at = forms[i].at;
  return forms[i].key;
}

const char *pai__spread_form(size_t i, size_t *at, unsigned *digits)
{
  *digits = i == 0 ? 6 : 3;
  *at = i == 0 ? offsetof(pai_sim_report, waits)
               : offsetof(pai_sim_report, slowdowns);
  return i == 0 ? "waits_s" : i == 1 ? "slowdowns" : NULL;
}

const char *pai__bar_end_name(int end)
{
  switch (end) {
  case PAI_STATE_WAITING: return "preempted";
  case PAI_STATE_RUNNING: return "running";
  case PAI_STATE_SUCCEEDED: return "succeeded";
  case PAI_STATE_FAILED: return "failed";
  case PAI_STATE_STOPPED: return "stopped";
  default: return NULL;
  }
}
