/* explain_text.c - why a request waits, in words */
#include "sched/explain_text.h"
#include "sched/sched.h"

#include <inttypes.h>

void pai__tell(const pai__telling *t, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  pai__buf_vprintf(t->out, fmt, ap);
  va_end(ap);
}

void pai__tell_amount(const pai__telling *t, int lack, uint64_t amount)
{
  const char *things = pai__lack_things((uint32_t)lack);
  size_t len = strlen(things);

  amount = pai__lack_amount((uint32_t)lack, amount);
  if (amount == 1 && len != 0 && things[len - 1] == 's')
    len--;
  pai__tell(t, "%" PRIu64 " %.*s", amount, (int)len, things);
}

void pai__tell_request(const pai__telling *t, uint64_t id)
{
  uint32_t req = pai__req_find(t->s, id);
  const pai__req *r = req != PAI__NONE ? pai__req_at(t->s, req) : NULL;

  if (r != NULL && r->name != PAI__NONE)
    pai__tell(t, "%s (request %" PRIu64 ")", pai__name_of(t->s, r), id);
  else
    pai__tell(t, "request %" PRIu64, id);
}

/* --- what it lacks -------------------------------------------------------- */

static void say_nearest(const pai__telling *t)
{
  const pai_reason *r = &t->reason;

  if (r->node == NULL || pai__lack_things((uint32_t)r->of)[0] == '\0')
    return;
  pai__tell(t, "; %s comes nearest, with ", r->node);
  pai__tell_amount(t, r->of, r->found);
}

static void say_one_task(const pai__telling *t)
{
  pai__tell(t, "no node has ");
  pai__tell_amount(t, t->reason.of, t->reason.wanted);
  pai__tell(t, " free");
  say_nearest(t);
}

static void say_gang(const pai__telling *t)
{
  pai__tell(
    t,
    "its %u tasks start together, and only %u of them %s a place: for the "
    "next one no node has ",
    t->reason.tasks, t->reason.placed, t->reason.placed == 1 ? "has" : "have");
  pai__tell_amount(t, t->reason.of, t->reason.wanted);
  say_nearest(t);
}

static void say_topology(const pai__telling *t)
{
  if (t->reason.text != NULL) {
    pai__tell(t, "all of it is to be within one %s, and none has room for it",
              t->reason.text);
  } else if (t->reason.node == NULL) {
    pai__tell(t, "enough GPUs are free, but not together as it needs them");
  } else {
    pai__tell(t, "enough GPUs are free, but no node has ");
    pai__tell_amount(t, t->reason.of, t->reason.wanted);
    say_nearest(t);
  }
}

static void say_after(const pai__telling *t)
{
  const pai__after *a = pai__after_of(t->s, t->r);
  uint32_t i = 0;

  while (a[i].kind == 0)
    i++;
  if (a[i].bad) {
    pai__tell(t,
              "it can never start: request %" PRIu64
              " has ended in another way than it waits for",
              a[i].id);
    return;
  }
  pai__tell(t, "it waits for ");
  pai__tell_request(t, a[i].id);
  pai__tell(t, " to %s",
            a[i].kind == PAI_AFTER_OK       ? "succeed"
            : a[i].kind == PAI_AFTER_FAILED ? "fail"
                                            : "end");
}

static void say_share(const pai__telling *t)
{
  uint32_t of = (uint32_t)t->reason.of;

  /* A policy may have shares of its own, as of users. */
  if (t->reason.text != NULL) {
    pai__tell(t, "%s: it asks for %" PRIu64 " and %" PRIu64 " may be had",
              t->reason.text, t->reason.wanted, t->reason.found);
    return;
  }
  pai__tell(t,
            "it takes %" PRIu64 " %s, and of its own virtual cluster '%s' has "
            "%" PRIu64 " left",
            pai__lack_amount(of, t->reason.wanted),
            of != PAI_LACK_QUOTA ? pai__lack_things(of) : "GPUs",
            t->s->park->tenants[t->r->tenant].name,
            pai__lack_amount(of, t->reason.found));
}

static void say_lack(const pai__telling *t)
{
  const pai_reason *r = &t->reason;

  switch (r->lack) {
  case PAI_LACK_NOTHING:
    pai__tell(t, "the scheduler has not considered it yet");
    break;
  case PAI_LACK_RELEASE:
    pai__tell(t, "it is held until it is released");
    break;
  case PAI_LACK_STOPPED:
    pai__tell(t, "its virtual cluster '%s' is stopped",
              t->s->park->tenants[t->r->tenant].name);
    break;
  case PAI_LACK_AFTER: say_after(t); break;
  case PAI_LACK_TURN:
    pai__tell(t, "it is not its turn: ");
    pai__tell_request(t, r->behind);
    pai__tell(t, " goes first");
    break;
  case PAI_LACK_THROTTLE:
    pai__tell(t, "%u of its instances run, and no more may at a time",
              t->r->active);
    break;
  case PAI_LACK_QUOTA: say_share(t); break;
  case PAI_LACK_TYPE: pai__tell(t, "no node has such GPUs"); break;
  case PAI_LACK_HEALTH:
    pai__tell(t, "the nodes that could take it are drained or sick");
    break;
  case PAI_LACK_PIN:
    pai__tell(t, "nothing that is pinned as '%s' has room for it",
              pai__texts_text(&t->s->names, t->r->pin));
    break;
  case PAI_LACK_RESERVATION:
    pai__tell(t, "the nodes that could take it are kept for ");
    if (r->behind == 0) {
      pai__tell(t, "others");
      break;
    }
    pai__tell_request(t, r->behind);
    pai__tell(t, ", which has waited for long");
    break;
  case PAI_LACK_TOPOLOGY: say_topology(t); break;
  case PAI_LACK_GANG: say_gang(t); break;
  case PAI_LACK_PREEMPTION:
    pai__tell(t, "%s",
              r->text != NULL
                ? r->text
                : "what holds the room for it is as important as it "
                  "is");
    break;
  case PAI_LACK_VICTIMS:
    pai__tell(t, "those that make room for it have not stopped yet");
    break;
  case PAI_LACK_LATER:
    pai__tell(t, "it would delay what is planned before it");
    break;
  case PAI_LACK_POLICY:
    pai__tell(t, "%s", r->text != NULL ? r->text : "the policy says so");
    break;
  default: say_one_task(t); break;
  }
}

/* --- of how many nodes ---------------------------------------------------- */

static const struct {
  int lack;
  const char *one, *many;
} counts[] = {
  { PAI_LACK_GPU, "has too few free GPUs", "have too few free GPUs" },
  { PAI_LACK_CPU, "has too few free CPUs", "have too few free CPUs" },
  { PAI_LACK_MEMORY, "has too little memory", "have too little memory" },
  { PAI_LACK_PORT, "has too few ports", "have too few ports" },
  { PAI_LACK_TYPE, "has no such GPUs", "have no such GPUs" },
  { PAI_LACK_PIN, "is outside the pinned cell",
    "are outside the pinned cell" },
  { PAI_LACK_RESERVATION, "is kept for others", "are kept for others" },
  { PAI_LACK_HEALTH, "is drained or sick", "are drained or sick" },
};

static void say_counts(const pai__telling *t)
{
  bool first = true;

  for (size_t i = 0; i < PAI__LEN(counts); i++) {
    uint32_t n = pai_sched_failed(t->s, t->r->id, counts[i].lack);

    if (n == 0)
      continue;
    if (first)
      pai__tell(t, " %u of %u node%s %s", n, t->s->park->nspots,
                t->s->park->nspots == 1 ? "" : "s",
                n == 1 ? counts[i].one : counts[i].many);
    else
      pai__tell(t, ", %u %s", n, n == 1 ? counts[i].one : counts[i].many);
    first = false;
  }
  if (!first)
    pai__tell(t, ".");
}

static void say_plan(const pai__telling *t)
{
  pai_time left = t->reason.until - t->s->m.now;

  if (left > 1000000) /* else it was to be by now, and something is late */
    pai__tell(t, " As planned, it starts in %" PRId64 " seconds.",
              (left + 999999) / 1000000);
}

void pai__tell_waiting(pai__telling *t)
{
  const pai_reason *r = &t->reason;

  if (t->r->name != PAI__NONE)
    pai__tell(t, "%s (request %" PRIu64 ")", pai__name_of(t->s, t->r),
              t->r->id);
  else
    pai__tell(t, "Request %" PRIu64, t->r->id);
  if (!t->waits) {
    pai__tell(t, " does not wait.\n");
    return;
  }
  pai__tell(t, " waits: ");
  if (t->own.anyway && r->lack != PAI_LACK_NOTHING) {
    pai__tell(
      t, "something has changed since it was considered, and it starts at "
         "the next decision.\n");
    return;
  }
  say_lack(t);
  pai__tell(t, ".");
  if (r->lack != PAI_LACK_TURN)
    say_counts(t);
  if (t->own.anyway)
    pai__tell(t, " It starts at the next decision.");
  say_plan(t);
  pai__tell_changes(t);
  pai__tell(t, "\n");
}
