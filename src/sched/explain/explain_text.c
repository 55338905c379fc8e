/* explain_text.c - why a request waits, as text */

#include "sched/explain/explain.h"
#include "sched/sched.h"

#include <inttypes.h>

static void tell(const pai__telling *t, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  pai__buf_vprintf(t->out, fmt, ap);
  va_end(ap);
}

/* Writes an amount, such as "3 GPUs", "1 GPU" or "512 MiB of memory". */
static void tell_amount(const pai__telling *t, int lack, uint64_t amount)
{
  const char *things = pai__lack_things((uint32_t)lack);
  size_t len = strlen(things);
  char number[PAI__MILLI_TEXT];

  (void)pai__lack_amount(number, (uint32_t)lack, amount);
  if (strcmp(number, "1") == 0 && len != 0 && things[len - 1] == 's')
    len--;
  tell(t, "%s %.*s", number, (int)len, things);
}

/* Writes "train (request 3)", or "request 3" if it has no name. */
static void tell_request(const pai__telling *t, uint64_t id)
{
  uint32_t req = pai__req_find(t->s, id);
  const pai__req *r = req != PAI__NONE ? pai__req_at(t->s, req) : NULL;

  if (r != NULL && r->name != PAI__NONE)
    tell(t, "%s (request %" PRIu64 ")", pai__name_of(t->s, r), id);
  else
    tell(t, "request %" PRIu64, id);
}

/* --- lacks ---------------------------------------------------------------- */

static void say_nearest(const pai__telling *t)
{
  const pai_reason *r = &t->reason;

  if (r->node == NULL || pai__lack_things((uint32_t)r->of)[0] == '\0')
    return;
  tell(t, "; %s comes nearest, with ", r->node);
  tell_amount(t, r->of, pai__reason_found(r));
}

static void say_one_task(const pai__telling *t)
{
  tell(t, "no node has ");
  tell_amount(t, t->reason.of, pai__reason_wanted(&t->reason));
  tell(t, " free");
  say_nearest(t);
}

static void say_gang(const pai__telling *t)
{
  tell(t,
       "its %u tasks start together, and only %u of them %s a place: for the "
       "next one no node has ",
       t->reason.tasks, t->reason.placed,
       t->reason.placed == 1 ? "has" : "have");
  tell_amount(t, t->reason.of, pai__reason_wanted(&t->reason));
  say_nearest(t);
}

static void say_topology(const pai__telling *t)
{
  if (t->reason.text != NULL) {
    tell(t, "all its tasks must be within one %s, and none has enough free",
         t->reason.text);
  } else if (t->reason.node == NULL) {
    tell(t, "enough GPUs are free, but not together as it needs them");
  } else {
    tell(t, "enough GPUs are free, but no node has ");
    tell_amount(t, t->reason.of, pai__reason_wanted(&t->reason));
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
    tell(t,
         "it can never start: request %" PRIu64
         " has ended in another way than it waits for",
         a[i].id);
    return;
  }
  tell(t, "it waits for ");
  tell_request(t, a[i].id);
  tell(t, " to %s",
       a[i].kind == PAI_AFTER_OK       ? "succeed"
       : a[i].kind == PAI_AFTER_FAILED ? "fail"
                                       : "end");
}

static void say_share(const pai__telling *t)
{
  uint32_t of = (uint32_t)t->reason.of;
  char wanted[PAI__MILLI_TEXT], found[PAI__MILLI_TEXT];

  /* A policy may have its own shares, such as of users. */
  if (t->reason.text != NULL) {
    tell(t, "%s: it asks for %" PRIu64 ", and %" PRIu64 " are left",
         t->reason.text, t->reason.wanted, t->reason.found);
    return;
  }
  tell(t, "it takes %s %s, and its virtual cluster '%s' has %s left",
       pai__lack_amount(wanted, of, pai__reason_wanted(&t->reason)),
       of != PAI_LACK_QUOTA ? pai__lack_things(of) : "GPUs",
       t->s->cluster->vcs[t->r->vc_index].name,
       pai__lack_amount(found, of, pai__reason_found(&t->reason)));
}

static void say_lack(const pai__telling *t)
{
  const pai_reason *r = &t->reason;

  switch (r->lack) {
  case PAI_LACK_NOTHING:
    tell(t, "the scheduler has not considered it yet");
    break;
  case PAI_LACK_RELEASE: tell(t, "it is held until it is released"); break;
  case PAI_LACK_STOPPED:
    tell(t, "its virtual cluster '%s' is stopped",
         t->s->cluster->vcs[t->r->vc_index].name);
    break;
  case PAI_LACK_AFTER: say_after(t); break;
  case PAI_LACK_TURN:
    tell(t, "it is not its turn: ");
    tell_request(t, r->behind);
    tell(t, " goes first");
    break;
  case PAI_LACK_THROTTLE:
    tell(t, "%u of its instances run, which is the most at a time",
         t->r->active);
    break;
  case PAI_LACK_QUOTA: say_share(t); break;
  case PAI_LACK_TYPE: tell(t, "no node has such GPUs"); break;
  case PAI_LACK_HEALTH:
    tell(t, "the nodes that could run it are drained or sick");
    break;
  case PAI_LACK_PIN:
    tell(t, "no cell pinned as '%s' has enough free capacity",
         pai__texts_text(&t->s->names, t->r->pin));
    break;
  case PAI_LACK_RESERVATION:
    tell(t, "the nodes that could run it are reserved for ");
    if (r->behind == 0) {
      tell(t, "others");
      break;
    }
    tell_request(t, r->behind);
    tell(t, ", which has waited long");
    break;
  case PAI_LACK_TOPOLOGY: say_topology(t); break;
  case PAI_LACK_GANG: say_gang(t); break;
  case PAI_LACK_PREEMPTION:
    tell(
      t, "%s",
      r->text != NULL
        ? r->text
        : "the jobs that hold the resources it needs have no lower priority");
    break;
  case PAI_LACK_VICTIMS:
    tell(t, "the jobs that are stopped for it have not ended yet");
    break;
  case PAI_LACK_LATER:
    tell(t, "it would delay requests that are planned before it");
    break;
  case PAI_LACK_POLICY:
    tell(t, "%s", r->text != NULL ? r->text : "the policy says so");
    break;
  default: say_one_task(t); break;
  }
}

/* --- counts of nodes ------------------------------------------------------ */

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
      tell(t, " %u of %u node%s %s", n, t->s->cluster->nnodes,
           t->s->cluster->nnodes == 1 ? "" : "s",
           n == 1 ? counts[i].one : counts[i].many);
    else
      tell(t, ", %u %s", n, n == 1 ? counts[i].one : counts[i].many);
    first = false;
  }
  if (!first)
    tell(t, ".");
}

static void say_plan(const pai__telling *t)
{
  pai_time left = t->reason.until - t->s->m.now;

  if (left > 1000000) /* otherwise something is later than planned */
    tell(t, " As planned, it starts in %" PRId64 " seconds.",
         (left + 999999) / 1000000);
}

/* --- suggested changes ---------------------------------------------------- */

static void say_change(const pai__telling *t, const pai_sched_event *e,
                       bool more)
{
  if (e->id != t->r->id) {
    tell_request(t, e->id);
    tell(t, more ? " were held" : " was held");
  } else if (strcmp(e->key, "held") == 0)
    tell(t, "it was released");
  else if (strcmp(e->key, "after") == 0)
    tell(t, "it did not wait for request %" PRId64, e->number);
  else if (strcmp(e->key, "priority") == 0)
    tell(t,
         e->number < 0 ? "it was opportunistic (priority %" PRId64 ")"
                       : "it had priority %" PRId64,
         e->number);
  else if (strcmp(e->key, "at_once") == 0)
    tell(t, "%" PRId64 " of its instances might run at a time", e->number);
  else if (strcmp(e->key, "limit") == 0)
    tell(t, "it was limited to %" PRId64 " seconds", e->number / 1000000);
  else if (strcmp(e->key, "tasks") == 0)
    tell(t, "it had %" PRId64 " task%s%s", e->number,
         e->number == 1 ? "" : "s", t->r->nwants > 1 ? " of that kind" : "");
  else if (strcmp(e->key, "gpus") == 0 || strcmp(e->key, "cpus") == 0 ||
           strcmp(e->key, "ports") == 0 || strcmp(e->key, "memory") == 0) {
    tell(t, "a task asked for ");
    tell_amount(t,
                e->key[0] == 'g'   ? PAI_LACK_GPU
                : e->key[0] == 'c' ? PAI_LACK_CPU
                : e->key[0] == 'p' ? PAI_LACK_PORT
                                   : PAI_LACK_MEMORY,
                e->key[0] == 'c'
                  ? (uint64_t)e->number * PAI__CPU + e->cpu_millis
                  : (uint64_t)e->number);
  } else
    tell(t, "it did not ask for \"%s\"", e->key);
}

/* Names the run: its instance, if the request has several. */
static void say_run(const pai__telling *t, const pai_sched_event *e)
{
  uint32_t req = pai__req_find(t->s, e->id);

  if (req != PAI__NONE && pai__req_at(t->s, req)->instances > 1)
    tell(t, "instance %u of ", e->instance);
  tell_request(t, e->id);
}

/* `more`: the verb is for several requests. */
static void say_event(const pai__telling *t, const pai_sched_event *e,
                      bool more)
{
  switch (e->kind) {
  case PAI_SCHED_CHANGE: say_change(t, e, more); break;
  case PAI_SCHED_FINISHED:
    say_run(t, e);
    tell(t, " finished");
    break;
  case PAI_SCHED_NODE:
    if (e->gpu >= 0)
      tell(t, "GPU %d of ", (int)e->gpu);
    tell(t, "%s was back in use", e->node);
    break;
  case PAI_SCHED_UNRESERVE:
    tell(t, "there was no reservation '%s'", e->text);
    break;
  default: break;
  }
}

enum { MOST_SAID = 4 };

/* Returns whether two changes share a verb: several requests that finish, or
 * that are held. */
static bool is_like(const pai__telling *t, const pai_sched_event *a,
                    const pai_sched_event *b)
{
  return a->kind == b->kind && (a->kind == PAI_SCHED_FINISHED ||
                                (a->kind == PAI_SCHED_CHANGE &&
                                 a->id != t->r->id && b->id != t->r->id));
}

static int rank(const pai__telling *t, const pai_sched_event *e)
{
  return e->kind == PAI_SCHED_FINISHED ? 1
         : e->kind != PAI_SCHED_CHANGE ? 3
         : e->id != t->r->id           ? 2
                                       : 0;
}

/* Sorts changes by kind, and keeps their order within a kind. */
static void group(const pai__telling *t, pai__suggested_change *m)
{
  for (uint32_t i = 1; i < m->n; i++) {
    pai_sched_event e = m->list[i];
    uint32_t k = i;

    for (; k > 0 && rank(t, &m->list[k - 1]) > rank(t, &e); k--)
      m->list[k] = m->list[k - 1];
    m->list[k] = e;
  }
}

static void say_suggestion(const pai__telling *t,
                           const pai__suggested_change *m)
{
  uint32_t n = m->n < MOST_SAID ? m->n : MOST_SAID, like = 0;

  for (uint32_t i = 0; i < n; i++) {
    if (i != 0)
      tell(t, i + 1 == m->n ? " and " : ", ");
    if (i + 1 < n && is_like(t, &m->list[i], &m->list[i + 1])) {
      if (m->list[i].kind == PAI_SCHED_FINISHED)
        say_run(t, &m->list[i]);
      else
        tell_request(t, m->list[i].id);
      like++;
      continue;
    }
    say_event(t, &m->list[i], like != 0);
    like = 0;
  }
  if (m->n == MOST_SAID + 1)
    tell(t, ", and one more thing was so");
  else if (m->n > MOST_SAID)
    tell(t, ", and %u more things were so", m->n - MOST_SAID);
  if (m->n > 1)
    tell(t, " (these changes work together; others may be smaller)");
  else if (!m->least)
    tell(t, " (this change works; another may be smaller)");
}

static void tell_changes(pai__telling *t)
{
  if (t->own.n == 0 && t->others.n == 0)
    return;
  group(t, &t->own);
  group(t, &t->others);
  tell(t, " It would start now if ");
  if (t->own.n != 0)
    say_suggestion(t, &t->own);
  if (t->own.n != 0 && t->others.n != 0)
    tell(t, ", or if ");
  if (t->others.n != 0)
    say_suggestion(t, &t->others);
  tell(t, ".");
}

void pai__tell_waiting(pai__telling *t)
{
  const pai_reason *r = &t->reason;

  if (t->r->name != PAI__NONE)
    tell(t, "%s (request %" PRIu64 ")", pai__name_of(t->s, t->r), t->r->id);
  else
    tell(t, "Request %" PRIu64, t->r->id);
  if (!t->waits) {
    tell(t, " does not wait.\n");
    return;
  }
  tell(t, " waits: ");
  if (t->own.anyway && r->lack != PAI_LACK_NOTHING) {
    tell(t, "something has changed since it was considered, and it starts at "
            "the next decision.\n");
    return;
  }
  say_lack(t);
  tell(t, ".");
  if (r->lack != PAI_LACK_TURN)
    say_counts(t);
  if (t->own.anyway)
    tell(t, " It starts at the next decision.");
  say_plan(t);
  tell_changes(t);
  tell(t, "\n");
}
