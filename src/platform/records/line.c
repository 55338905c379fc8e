/*
 * line.c - a waiting job's place in the queue of its virtual cluster
 *
 * The place is the job's position in the order in which the policy considers
 * the waiting jobs of one virtual cluster.  It is no promise: a later job may
 * start first if it fits and the earlier ones do not.
 */
#include "platform/records/line.h"

#include "platform/place/single.h"

/* Returns how a policy orders jobs of one virtual cluster.  NULL: the policy
 * has no such order (`fair` goes by each user's use), or is not built in. */
static const char *order_of(const pai_sched *s)
{
  static const char *const by_priority[] = { "backfill", "capacity", "hived",
                                             "k8s", "priority" };
  pai_sched_view v = { .struct_size = sizeof(v) };

  if (pai_sched_view_sums(s, &v) < 0 || v.policy == NULL)
    return NULL;
  if (strcmp(v.policy, "fifo") == 0)
    return "arrival";
  for (size_t i = 0; i < PAI__LEN(by_priority); i++)
    if (strcmp(v.policy, by_priority[i]) == 0)
      return "priority";
  return NULL;
}

static bool waits(const pai_sched *s, uint64_t id, pai_request_view *out)
{
  *out = (pai_request_view){ .struct_size = sizeof(*out) };
  return pai_sched_view_request(s, id, out) == PAI_OK &&
         out->state == PAI_REQUEST_WAITING && out->waiting > 0 && !out->held;
}

/* Finds a job's waiting request: of its gang, or of its first single task. */
static bool find_waiting(const pai__pjob *j, pai_request_view *out)
{
  const pai_sched *s = j->platform->sched;

  if (!j->placed && !j->decided && waits(s, j->id, out))
    return true;
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (j->tasks[t].single == PAI__SINGLE_ASKED && !j->tasks[t].held &&
        waits(s, pai__single_id(j, t), out))
      return true;
  return false;
}

static const char *vc_of(const pai_request_view *v)
{
  return v->vc != NULL ? v->vc : "default";
}

static bool is_before(const pai_request_view *a, const pai_request_view *b,
                      bool by_priority)
{
  if (by_priority && a->priority != b->priority)
    return a->priority > b->priority;
  return a->turn < b->turn;
}

bool pai__platform_line(pai__wait_line_row *out, const pai__pjob *j)
{
  const pai_platform *p = j->platform;
  pai_request_view own, other;
  const pai__map_entry *e;
  bool by_priority;
  int64_t before = 0;

  if (!find_waiting(j, &own))
    return false;
  *out =
    (pai__wait_line_row){ .vc = vc_of(&own), .order = order_of(p->sched) };
  by_priority = out->order != NULL && strcmp(out->order, "priority") == 0;
  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    if (!find_waiting(e->value, &other) || strcmp(vc_of(&other), out->vc) != 0)
      continue;
    out->waiting++;
    before += is_before(&other, &own, by_priority);
  }
  out->place = (pai__maybe){ out->order != NULL, before + 1 };
  return true;
}
