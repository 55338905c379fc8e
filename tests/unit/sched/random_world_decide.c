/* random_world_decide.c - what is decided in any world: see random_world.h */
#include "random_world.h"

#include "scribe.h"

#include "resource/bits.h"
#include "sched/core.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct decided {
  pai_decision *list;
  size_t n;
} decided;

/* Before anything is told: that changes them. */
static decided read_decisions(const random_world *w, size_t n)
{
  decided d = { calloc(n + 1, sizeof(*d.list)), n };

  assert_non_null(d.list);
  for (size_t i = 0; i < d.n; i++) {
    d.list[i].struct_size = sizeof(d.list[i]);
    assert_ok(pai_sched_decision(w->s, i, &d.list[i]));
  }
  return d;
}

static void obey(random_world *w, const pai_decision *d)
{
  pai_sched_event e = { .id = d->id, .instance = d->instance };

  switch (d->kind) {
  case PAI_DECISION_START: e.kind = PAI_SCHED_STARTED; break;
  case PAI_DECISION_SHRINK: e.kind = PAI_SCHED_RESIZED; break;
  case PAI_DECISION_STOP:
    e.kind =
      d->cause == PAI_STOP_PREEMPTED ? PAI_SCHED_RETURNED : PAI_SCHED_FINISHED;
    break;
  default: return;
  }
  (void)random_world_tell(w, e);
}

/* --- what may be decided --------------------------------------------------- */

static bool goes_by_importance(const random_world *w)
{
  return w->shares == RANDOM_WHOLE && w->variant->table == NULL &&
         strcmp(w->variant->policy, "priority") == 0;
}

static pai_request_view view_of(const random_world *w, uint64_t id)
{
  pai_request_view v = { .struct_size = sizeof(v) };

  assert_ok(pai_sched_view_request(w->s, id, &v));
  return v;
}

/* Nobody stops for one that is not more important. */
static void check_stop(const random_world *w, const pai_decision *d)
{
  if (d->cause != PAI_STOP_PREEMPTED || !goes_by_importance(w))
    return;
  assert_true(d->by != 0);
  assert_true(view_of(w, d->by).priority > view_of(w, d->id).priority);
}

enum { SHARES = 16 };

/* What an instance has of each share: kinds of GPUs, CPUs, memory. */
static void add_instance(const random_world *w, uint64_t id, uint32_t instance,
                         uint64_t *sums)
{
  const pai__sched_cluster *c = w->s->cluster;
  pai_task_place p = { .struct_size = sizeof(p) };

  for (uint32_t t = 0; pai_sched_task(w->s, id, instance, t, &p) == PAI_OK;
       t++) {
    pai_want want = { .struct_size = sizeof(want) };

    assert_ok(pai_sched_view_want(w->s, id, p.want, &want));
    for (uint32_t k = 0; k < c->nkinds; k++)
      sums[k] +=
        pai__bits_ones(p.gpus & pai__sched_sku_of(c, p.node)->kinds[k]);
    sums[c->nkinds] += (uint64_t)want.cpus * 1000 + want.cpu_millis;
    sums[c->nkinds + 1] += want.memory;
  }
}

/* With what starts, all that its virtual cluster has, of any priority, is no
 * more than its maximum.  A maximum may have become less than what runs: then
 * nothing starts that takes more of it. */
static void check_start(const random_world *w, const pai_decision *d)
{
  const pai__sched_vc *vc = w->s->cluster->vcs;
  uint64_t takes[SHARES] = { 0 }, all[SHARES] = { 0 };
  const char *name = view_of(w, d->id).vc;

  if (!vc->parted || name == NULL)
    return;
  while (strcmp(vc->name, name) != 0)
    vc++;
  assert_true(vc->nshares <= SHARES);
  add_instance(w, d->id, d->instance, takes);
  for (uint64_t id = 0; (id = pai_sched_next(w->s, id)) != 0;)
    if (strcmp(view_of(w, id).vc, name) == 0)
      for (uint32_t i = PAI_SCHED_ALL;
           pai_sched_next_running(w->s, id, &i, NULL) == PAI_OK;)
        add_instance(w, id, i, all);
  for (uint32_t k = 0; k < vc->nshares; k++)
    if (takes[k] != 0 && all[k] > vc->shares[k])
      fail_msg("%s %s, seed %" PRIu64 ", request %" PRIu64 ": %s has %" PRIu64
               " of share %" PRIu32 ", and at most %" PRIu64,
               w->variant->policy,
               w->variant->options != NULL ? w->variant->options : "", w->seed,
               d->id, name, all[k], k, vc->shares[k]);
}

static void check_decision(const random_world *w, const pai_decision *d)
{
  if (d->kind == PAI_DECISION_STOP)
    check_stop(w, d);
  else if (d->kind == PAI_DECISION_START)
    check_start(w, d);
}

/* --- deciding -------------------------------------------------------------- */

/* Those beside decide the same. */
static void decide_beside(random_world *w, int n)
{
  pai__buf mine = test_buf(), other = test_buf();

  scribe_decisions(w->s, &mine);
  for (int i = 0; i < RANDOM_BESIDE; i++)
    if (w->beside[i] != NULL) {
      assert_int_equal(pai_sched_decide(w->beside[i], w->now, NULL), n);
      pai__buf_clear(&other);
      scribe_decisions(w->beside[i], &other);
      scribe_same(&mine, &other);
    }
  pai__buf_dispose(&mine);
  pai__buf_dispose(&other);
}

static size_t decide(random_world *w, bool all)
{
  pai_error *err = NULL;
  int n = pai_sched_decide(w->s, w->now, &err);
  bool may_fail = w->may_fail || w->variant->table != NULL;
  decided d;

  if (n < 0 && !(may_fail && n == PAI_EINTERNAL))
    fail_msg("%s %s, seed %" PRIu64 ": %s: %s", w->variant->policy,
             w->variant->options != NULL ? w->variant->options : "", w->seed,
             pai_code_name(n), pai_error_message(err));
  pai_error_free(err);
  decide_beside(w, n);
  if (w->decided != NULL)
    scribe_decisions(w->s, w->decided);
  w->failed += n < 0;
  d = read_decisions(w, n < 0 ? 0 : (size_t)n);
  for (size_t i = 0; i < d.n; i++)
    check_decision(w, &d.list[i]);
  for (size_t i = 0; i < d.n; i++) {
    w->kinds[d.list[i].kind]++;
    if (all || random_below(w, 2) == 0)
      obey(w, &d.list[i]);
  }
  free(d.list);
  w->decisions += d.n;
  return d.n;
}

size_t random_world_decide(random_world *w)
{
  return decide(w, w->prompt);
}

/* More decisions than these are without end: each may start, be stopped for
 * somebody more important, and be resized on the way. */
static size_t most_decisions(const random_world *w)
{
  size_t most = 1;

  for (uint64_t id = 0; (id = pai_sched_next(w->s, id)) != 0;)
    most += view_of(w, id).waiting + view_of(w, id).running;
  return most * 40;
}

size_t random_world_settle(const random_world *w)
{
  random_world copy = *w;
  size_t n = 0, most = most_decisions(w), each;

  memset(copy.beside, 0, sizeof(copy.beside));
  copy.decided = NULL;
  assert_ok(pai_sched_fork(&copy.s, w->s, NULL));
  do {
    n += each = decide(&copy, true);
    if (n > most)
      fail_msg("%s %s, seed %" PRIu64 ": no end of decisions at one time",
               w->variant->policy,
               w->variant->options != NULL ? w->variant->options : "",
               w->seed);
  } while (each != 0);
  /* Whoever waits for victims starts when these are gone. */
  for (uint64_t id = 0; w->prompt && goes_by_importance(w) &&
                        (id = pai_sched_next(copy.s, id)) != 0;)
    assert_string_not_equal(scene_lack(copy.s, id), "victims");
  pai_sched_free(copy.s);
  return n;
}

void random_world_end_all(random_world *w)
{
  pai_sched_view v = { .struct_size = sizeof(v) };
  uint64_t id;

  while ((id = pai_sched_next(w->s, 0)) != 0) {
    pai_sched_event e = { .kind = PAI_SCHED_CANCEL,
                          .id = id,
                          .instance = PAI_SCHED_ALL };

    (void)random_world_tell(w, e);
    e.kind = PAI_SCHED_FINISHED;
    while (e.instance = PAI_SCHED_ALL,
           pai_sched_next_running(w->s, id, &e.instance, NULL) == PAI_OK)
      (void)random_world_tell(w, e);
  }
  assert_ok(pai_sched_view_sums(w->s, &v));
  assert_int_equal(v.requests + v.waiting + v.running, 0);
  for (size_t n = 0; n < v.nodes; n++) {
    pai_sched_node_view node = { .struct_size = sizeof(node) };

    assert_ok(pai_sched_view_node(w->s, n, &node));
    assert_int_equal(node.free_gpus + node.sick_gpus, node.gpus);
    assert_int_equal(node.free_cpus, node.cpus);
    assert_int_equal(node.free_memory, node.memory);
  }
  for (size_t i = 0; i < v.virtual_clusters; i++) {
    pai_sched_vc_view vc = { .struct_size = sizeof(vc) };

    assert_ok(pai_sched_view_vc(w->s, i, &vc));
    assert_int_equal(vc.used + vc.lent, 0);
  }
}
