/* random_world_check.c - what must hold in any world: see random_world.h */
#include "random_world.h"

#include "scribe.h"

#include <inttypes.h>

enum { FIRST_PORT = 20000, CPU_WORDS = 2 };

/* --- what must hold ------------------------------------------------------- */

typedef struct held {
  uint64_t gpus[RANDOM_NODES], cpus[RANDOM_NODES][CPU_WORDS];
  uint64_t ports[RANDOM_NODES]; /* bit i: FIRST_PORT + i */
  uint64_t memory[RANDOM_NODES];
  uint64_t cpu_millis[RANDOM_NODES]; /* of all tasks */
} held;

static void complain(const random_world *w, uint64_t id, const char *what)
{
  fail_msg(
    "%s %s, seed %" PRIu64 ", request %" PRIu64 ": %s", w->variant->policy,
    w->variant->options != NULL ? w->variant->options : "", w->seed, id, what);
}

static uint32_t ones(uint64_t x)
{
  uint32_t n = 0;

  for (; x != 0; x &= x - 1)
    n++;
  return n;
}

static void hold_task(const random_world *w, held *h, uint64_t id,
                      const pai_task_place *p)
{
  pai_want want = { .struct_size = sizeof(want) };
  uint32_t cpus = 0;

  assert_ok(pai_sched_view_want(w->s, id, p->want, &want));
  assert_true(p->node < w->nnodes && p->cpu_words <= CPU_WORDS);
  if (ones(p->gpus) != want.gpus)
    complain(w, id, "a task has not as many GPUs as it wants");
  if ((h->gpus[p->node] & p->gpus) != 0)
    complain(w, id, "a GPU is in two places");
  h->gpus[p->node] |= p->gpus;
  for (size_t i = 0; i < p->cpu_words; i++) {
    cpus += ones(p->cpus[i]);
    if ((h->cpus[p->node][i] & p->cpus[i]) != 0)
      complain(w, id, "a CPU is in two places");
    h->cpus[p->node][i] |= p->cpus[i];
  }
  if (p->cpu_words != 0 && cpus != want.cpus)
    complain(w, id, "a task has not as many CPUs as it wants");
  if (cpus != 0 && want.cpu_millis != 0)
    complain(w, id, "a task that wants a part of a CPU has one of its own");
  h->cpu_millis[p->node] += (uint64_t)want.cpus * 1000 + want.cpu_millis;
  for (size_t i = 0; i < p->nports; i++) {
    uint64_t bit = UINT64_C(1) << (p->ports[i] - FIRST_PORT);

    if ((h->ports[p->node] & bit) != 0)
      complain(w, id, "a port is in two places");
    h->ports[p->node] |= bit;
  }
  h->memory[p->node] += want.memory;
}

static void hold_run(const random_world *w, held *h, const pai_request_view *q,
                     uint32_t instance)
{
  pai_task_place p = { .struct_size = sizeof(p) };
  uint32_t of_want[3] = { 0 };

  for (uint32_t t = 0; pai_sched_task(w->s, q->id, instance, t, &p) == PAI_OK;
       t++) {
    assert_true(p.want < q->wants);
    of_want[p.want]++;
    hold_task(w, h, q->id, &p);
  }
  for (uint32_t i = 0; i < q->wants; i++) {
    pai_want want = { .struct_size = sizeof(want) };

    assert_ok(pai_sched_view_want(w->s, q->id, i, &want));
    if (of_want[i] < (want.min_tasks != 0 ? want.min_tasks : want.tasks) ||
        of_want[i] > want.tasks)
      complain(w, q->id, "a gang is not whole");
  }
}

static void check_places(const random_world *w)
{
  held h = { 0 };

  for (uint64_t id = 0; (id = pai_sched_next(w->s, id)) != 0;) {
    pai_request_view q = { .struct_size = sizeof(q) };

    assert_ok(pai_sched_view_request(w->s, id, &q));
    for (uint32_t i = PAI_SCHED_ALL;
         pai_sched_next_running(w->s, id, &i, NULL) == PAI_OK;)
      hold_run(w, &h, &q, i);
  }
  for (size_t n = 0; n < w->nnodes; n++) {
    pai_sched_node_view v = { .struct_size = sizeof(v) };

    assert_ok(pai_sched_view_node(w->s, n, &v));
    if ((v.free_mask & h.gpus[n]) != 0)
      complain(w, 0, "a GPU is in use, and free");
    if (v.cpus != 0 &&
        h.cpu_millis[n] + (uint64_t)v.free_cpus * 1000 + v.free_cpu_millis >
          (uint64_t)v.cpus * 1000)
      complain(w, 0, "a node gives more CPUs than it has");
    if (v.memory != 0 && h.memory[n] > v.memory)
      complain(w, 0, "a node gives more memory than it has");
  }
}

static void check_saved(const random_world *w)
{
  pai__buf saved, again;
  pai_sched *s;

  scribe_save(w->s, &saved);
  s = random_world_load(w, pai__buf_text(&saved));
  scribe_save(s, &again);
  scribe_same(&saved, &again);
  pai_sched_free(s);
  pai__buf_dispose(&saved);
  pai__buf_dispose(&again);
}

/* No request was set aside: that is for faults of the scheduler's own. */
static void check_failures(const random_world *w)
{
  pai_sched_view v = { .struct_size = sizeof(v) };

  assert_ok(pai_sched_view_sums(w->s, &v));
  if (v.set_aside == 0)
    return;
  for (uint64_t id = 0; (id = pai_sched_next(w->s, id)) != 0;) {
    pai_reason r = { .struct_size = sizeof(r) };

    if (pai_sched_reason(w->s, id, &r) == PAI_OK && r.text != NULL &&
        strncmp(r.text, "set aside", 9) == 0)
      complain(w, id, r.text);
  }
  complain(w, 0, "some request was set aside");
}

void random_world_check(const random_world *w)
{
  if (w->variant->table == NULL)
    check_failures(w);
  check_places(w);
  check_saved(w);
}

void random_world_explain(const random_world *w)
{
  pai__buf text;

  for (uint64_t id = 0; (id = pai_sched_next(w->s, id)) != 0;) {
    pai__buf_init(&text, &pai__libc_alloc);
    assert_ok(
      pai_sched_explain(w->s, id, PAI_FORMAT_TEXT, scribe_write, &text, NULL));
    assert_true(text.len != 0);
    pai__buf_dispose(&text);
  }
}
