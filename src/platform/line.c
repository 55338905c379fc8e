/*
 * line.c - who stands before a job that waits
 *
 * A place in line is where a job comes in the order in which the policy looks
 * at those of one virtual cluster.  It is no promise: who is behind may start
 * first where there is room for him and not for those before.
 */
#include "platform/line.h"

#include "platform/rooms.h"

/* How a built-in policy orders those of one virtual cluster; the others have no
 * such order (fair goes by what each user has), or nobody knows it. */
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

/* What of a job waits: its gang, or the first of its tasks that is alone. */
static bool find_waiting(const pai__pjob *j, pai_request_view *out)
{
  const pai_sched *s = j->platform->sched;

  if (!j->placed && !j->decided && waits(s, j->id, out))
    return true;
  for (uint32_t t = 0; t < j->job.ntasks; t++)
    if (j->tasks[t].room == PAI__ROOM_ASKED && !j->tasks[t].held &&
        waits(s, pai__room_id(j, t), out))
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

bool pai__platform_line(pai__in_line *out, const pai__pjob *j)
{
  const pai_platform *p = j->platform;
  pai_request_view own, other;
  const pai__map_entry *e;
  bool by_priority;

  if (!find_waiting(j, &own))
    return false;
  *out = (pai__in_line){ .vc = vc_of(&own), .order = order_of(p->sched) };
  by_priority = out->order != NULL && strcmp(out->order, "priority") == 0;
  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    if (!find_waiting(e->value, &other) || strcmp(vc_of(&other), out->vc) != 0)
      continue;
    out->waiting++;
    out->place += is_before(&other, &own, by_priority);
  }
  out->place = out->order != NULL ? out->place + 1 : 0;
  return true;
}
