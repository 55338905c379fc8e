/* explain_change.c - the changes with which a request would start, in words */
#include "sched/explain_text.h"
#include "sched/sched.h"

#include <inttypes.h>

/* --- what would help ------------------------------------------------------ */

static void say_change(const pai__telling *t, const pai_sched_event *e,
                       bool more)
{
  if (e->id != t->r->id) {
    pai__tell_request(t, e->id);
    pai__tell(t, more ? " were held" : " was held");
  } else if (strcmp(e->key, "held") == 0)
    pai__tell(t, "it was released");
  else if (strcmp(e->key, "after") == 0)
    pai__tell(t, "it did not wait for request %" PRId64, e->number);
  else if (strcmp(e->key, "priority") == 0)
    pai__tell(t,
              e->number < 0 ? "it was opportunistic (priority %" PRId64 ")"
                            : "it had priority %" PRId64,
              e->number);
  else if (strcmp(e->key, "at_once") == 0)
    pai__tell(t, "%" PRId64 " of its instances might run at a time",
              e->number);
  else if (strcmp(e->key, "limit") == 0)
    pai__tell(t, "it was limited to %" PRId64 " seconds", e->number / 1000000);
  else if (strcmp(e->key, "tasks") == 0)
    pai__tell(t, "it had %" PRId64 " task%s%s", e->number,
              e->number == 1 ? "" : "s",
              t->r->nwants > 1 ? " of that kind" : "");
  else if (strcmp(e->key, "gpus") == 0 || strcmp(e->key, "cpus") == 0 ||
           strcmp(e->key, "ports") == 0 || strcmp(e->key, "memory") == 0) {
    pai__tell(t, "a task asked for ");
    pai__tell_amount(t,
                     e->key[0] == 'g'   ? PAI_LACK_GPU
                     : e->key[0] == 'c' ? PAI_LACK_CPU
                     : e->key[0] == 'p' ? PAI_LACK_PORT
                                        : PAI_LACK_MEMORY,
                     (uint64_t)e->number);
  } else
    pai__tell(t, "it did not ask for \"%s\"", e->key);
}

/* Of a request with several instances, which one. */
static void say_run(const pai__telling *t, const pai_sched_event *e)
{
  uint32_t req = pai__req_find(t->s, e->id);

  if (req != PAI__NONE && pai__req_at(t->s, req)->instances > 1)
    pai__tell(t, "instance %u of ", e->instance);
  pai__tell_request(t, e->id);
}

/* `more`: others stand before it, of which the same is said. */
static void say_event(const pai__telling *t, const pai_sched_event *e,
                      bool more)
{
  switch (e->kind) {
  case PAI_SCHED_CHANGE: say_change(t, e, more); break;
  case PAI_SCHED_FINISHED:
    say_run(t, e);
    pai__tell(t, " finished");
    break;
  case PAI_SCHED_NODE:
    if (e->gpu >= 0)
      pai__tell(t, "GPU %d of ", (int)e->gpu);
    pai__tell(t, "%s was back in use", e->node);
    break;
  case PAI_SCHED_UNRESERVE:
    pai__tell(t, "there was no reservation '%s'", e->text);
    break;
  default: break;
  }
}

enum { MOST_SAID = 4 };

/* Others that finish, or are held: of several it is said once. */
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

/* Those of one kind stand together; else as they were found. */
static void group(const pai__telling *t, pai__remedy *m)
{
  for (uint32_t i = 1; i < m->n; i++) {
    pai_sched_event e = m->list[i];
    uint32_t k = i;

    for (; k > 0 && rank(t, &m->list[k - 1]) > rank(t, &e); k--)
      m->list[k] = m->list[k - 1];
    m->list[k] = e;
  }
}

static void say_remedy(const pai__telling *t, const pai__remedy *m)
{
  uint32_t n = m->n < MOST_SAID ? m->n : MOST_SAID, like = 0;

  for (uint32_t i = 0; i < n; i++) {
    if (i != 0)
      pai__tell(t, i + 1 == m->n ? " and " : ", ");
    if (i + 1 < n && is_like(t, &m->list[i], &m->list[i + 1])) {
      if (m->list[i].kind == PAI_SCHED_FINISHED)
        say_run(t, &m->list[i]);
      else
        pai__tell_request(t, m->list[i].id);
      like++;
      continue;
    }
    say_event(t, &m->list[i], like != 0);
    like = 0;
  }
  if (m->n == MOST_SAID + 1)
    pai__tell(t, ", and one more thing was so");
  else if (m->n > MOST_SAID)
    pai__tell(t, ", and %u more things were so", m->n - MOST_SAID);
  if (m->n > 1)
    pai__tell(t, " (these changes work together; others may be smaller)");
  else if (!m->least)
    pai__tell(t, " (this change works; another may be smaller)");
}

void pai__tell_changes(pai__telling *t)
{
  if (t->own.n == 0 && t->others.n == 0)
    return;
  group(t, &t->own);
  group(t, &t->others);
  pai__tell(t, " It would start now if ");
  if (t->own.n != 0)
    say_remedy(t, &t->own);
  if (t->own.n != 0 && t->others.n != 0)
    pai__tell(t, ", or if ");
  if (t->others.n != 0)
    say_remedy(t, &t->others);
  pai__tell(t, ".");
}
