/*
 * EASY backfill against a textbook.
 *
 * The textbook: the first request that waits gets the earliest time at which it
 * fits as what runs ends.  Another one starts before it if, with it, the first
 * still fits at that time.  The model below counts free GPUs of nodes and knows
 * nothing of plans; runs end exactly when they are expected to.
 */
#include "sched/scene.h"

#include "base/prng.h"

#include <stdio.h>

enum { NODES = 5, KINDS = 2, MOST = 48, END = 4000, ROUNDS = 120 };

typedef struct job {
  uint32_t tasks, gpus;
  int kind; /* -1: any, the same for all tasks */
  pai_time length, end;
  pai_time promised; /* 0: nothing */
  int vc;
  bool waits, runs;
  uint32_t on[NODES]; /* GPUs of each node, while it runs */
} job;

typedef struct world {
  pai_sched *s;
  pai__prng random;
  uint32_t n;
  uint32_t gpus[NODES];
  int kind[NODES];
  uint32_t njobs;
  job jobs[MOST + 1]; /* from 1 */
  pai_time now;
  const char *options; /* NULL: one virtual cluster */
  bool lends;          /* no share keeps anybody from anything */
  bool reserved; /* nodes are, for times that the textbook knows not of */
} world;

static uint32_t any(world *w, uint32_t n)
{
  return (uint32_t)pai__prng_below(&w->random, n);
}

/* --- the textbook --------------------------------------------------------- */

/* Free GPUs of each node at a time, if nothing more begins. */
static void free_at(const world *w, pai_time at, uint32_t *free)
{
  for (uint32_t i = 0; i < w->n; i++) {
    free[i] = w->gpus[i];
    for (uint32_t k = 1; k <= w->njobs; k++)
      if (w->jobs[k].runs && w->jobs[k].end > at)
        free[i] -= w->jobs[k].on[i];
  }
}

static bool fits_kind(const world *w, const job *j, const uint32_t *free,
                      int kind)
{
  uint32_t tasks = 0;

  for (uint32_t i = 0; i < w->n; i++)
    if (w->kind[i] == kind)
      tasks += free[i] / j->gpus;
  return tasks >= j->tasks;
}

static bool fits(const world *w, const job *j, const uint32_t *free)
{
  for (int k = 0; k < KINDS; k++)
    if ((j->kind < 0 || j->kind == k) && fits_kind(w, j, free, k))
      return true;
  return false;
}

static pai_time shadow_of(const world *w, const job *head)
{
  uint32_t free[NODES];
  pai_time first = INT64_MAX;

  free_at(w, w->now, free);
  if (fits(w, head, free))
    return w->now;
  for (uint32_t k = 1; k <= w->njobs; k++) {
    pai_time end = w->jobs[k].end;

    if (!w->jobs[k].runs || end >= first)
      continue;
    free_at(w, end, free);
    if (fits(w, head, free))
      first = end;
  }
  return first;
}

/* Can tasks of a job be on nodes from i on, so that the head fits later? */
static bool leaves_room(const world *w, const job *j, int kind, uint32_t i,
                        uint32_t tasks, uint32_t *now, uint32_t *later,
                        const job *head)
{
  bool ok = false;

  if (tasks == 0)
    return fits(w, head, later);
  if (i == w->n)
    return false;
  for (uint32_t k = 0; k <= tasks && !ok; k++) {
    uint32_t takes = k * j->gpus;

    if (takes > now[i] || (k != 0 && w->kind[i] != kind))
      break;
    later[i] -= takes;
    ok = leaves_room(w, j, kind, i + 1, tasks - k, now, later, head);
    later[i] += takes;
  }
  return ok;
}

static bool could_start(const world *w, const job *j, const job *head)
{
  pai_time shadow = shadow_of(w, head);
  uint32_t now[NODES], later[NODES];

  free_at(w, w->now, now);
  if (!fits(w, j, now))
    return false;
  if (shadow == INT64_MAX || w->now + j->length <= shadow)
    return true;
  free_at(w, shadow, later);
  for (int k = 0; k < KINDS; k++)
    if ((j->kind < 0 || j->kind == k) &&
        leaves_room(w, j, k, 0, j->tasks, now, later, head))
      return true;
  return false;
}

/* --- several promises ------------------------------------------------------ */

enum { HEADS = 3 };

/* What is placed one after the other, each at its time. */
typedef struct placing {
  const world *w;
  const job *list[HEADS + 1];
  pai_time at[HEADS + 1];
  uint32_t on[HEADS + 1][NODES]; /* GPUs of those before */
  uint32_t n;
} placing;

/* Free all the time from a to b, beside the first k; it is used least at the
 * times at which something begins. */
static uint32_t free_throughout(const placing *p, uint32_t k, uint32_t node,
                                pai_time a, pai_time b)
{
  uint32_t least = UINT32_MAX;

  for (uint32_t i = 0; i <= k; i++) {
    pai_time at = i < k && p->at[i] > a ? p->at[i] : a;
    uint32_t free[NODES];

    if (at >= b)
      continue;
    free_at(p->w, at, free);
    for (uint32_t x = 0; x < k; x++)
      if (p->at[x] <= at && at < p->at[x] + p->list[x]->length)
        free[node] -= p->on[x][node];
    least = free[node] < least ? free[node] : least;
  }
  return least;
}

static bool place_from(placing *p, uint32_t k);

static bool place_tasks(placing *p, uint32_t k, int kind, uint32_t node,
                        uint32_t tasks)
{
  const world *w = p->w;
  const job *j = p->list[k];
  bool ok = false;
  uint32_t most;

  if (tasks == 0) {
    memset(&p->on[k][node], 0, (NODES - node) * sizeof(uint32_t));
    return place_from(p, k + 1);
  }
  if (node == w->n)
    return false;
  most =
    w->kind[node] == kind
      ? free_throughout(p, k, node, p->at[k], p->at[k] + j->length) / j->gpus
      : 0;
  for (uint32_t n = 0; n <= tasks && n <= most && !ok; n++) {
    p->on[k][node] = n * j->gpus;
    ok = place_tasks(p, k, kind, node + 1, tasks - n);
  }
  return ok;
}

static bool place_from(placing *p, uint32_t k)
{
  if (k == p->n)
    return true;
  for (int kind = 0; kind < KINDS; kind++)
    if ((p->list[k]->kind < 0 || p->list[k]->kind == kind) &&
        place_tasks(p, k, kind, 0, p->list[k]->tasks))
      return true;
  return false;
}

/* Could one start now, so that all who are promised a start have room then? */
static bool delays_nobody(const world *w, const job *j)
{
  placing p = { .w = w, .list = { j }, .at = { w->now }, .n = 1 };

  for (uint32_t k = 1; k <= w->njobs; k++)
    if (w->jobs[k].waits && w->jobs[k].promised != 0 && &w->jobs[k] != j) {
      assert_true(p.n <= HEADS);
      p.at[p.n] = w->jobs[k].promised;
      p.list[p.n++] = &w->jobs[k];
    }
  return place_from(&p, 0);
}

static void check_all(const world *w)
{
  for (uint32_t k = 1; k <= w->njobs; k++) {
    pai_reason r = { .struct_size = sizeof(r) };

    if (w->jobs[k].waits && w->jobs[k].promised == 0 &&
        pai_sched_reason(w->s, k, &r) == PAI_OK && r.lack == PAI_LACK_LATER)
      assert_false(delays_nobody(w, &w->jobs[k]));
  }
}

/* --- the world ------------------------------------------------------------ */

static void make_cluster(world *w, bool kinds)
{
  char text[1000];
  size_t at = (size_t)snprintf(text, sizeof(text), "%s",
                               "skus:\n"
                               "  a: {gpu: v100, gpus: 4, cpus: 64}\n"
                               "  b: {gpu: a100, gpus: 8, cpus: 64}\n"
                               "  c: {gpu: v100, gpus: 8, cpus: 64}\n"
                               "nodes:\n");

  w->n = 1 + any(w, NODES);
  for (uint32_t i = 0; i < w->n; i++) {
    const char *sku = kinds && any(w, 2) != 0 ? "b"
                      : any(w, 3) != 0        ? "a"
                                              : "c";

    w->gpus[i] = *sku == 'a' ? 4 : 8;
    w->kind[i] = *sku == 'b';
    at += (size_t)snprintf(text + at, sizeof(text) - at,
                           "  - {name: n%u, sku: %s}\n", i, sku);
  }
  if (w->lends)
    (void)snprintf(text + at, sizeof(text) - at,
                   "virtualClusters:\n"
                   "  default: {part: rest}\n"
                   "  one: {part: 30%%, max: 100%%}\n"
                   "  other: {part: 30%%, max: 100%%}\n"
                   "  third: {part: 20%%, max: 100%%}\n");
  else if (w->options != NULL)
    (void)snprintf(text + at, sizeof(text) - at,
                   "virtualClusters:\n"
                   "  default: {part: rest}\n"
                   "  other: {part: 40%%, max: %s%%}\n"
                   "  third: {part: 20%%}\n",
                   any(w, 2) ? "100" : "60");
  w->s = scene_new(text, "backfill", w->options, NULL);
  assert_non_null(w->s);
}

/* Nodes that nobody may use for some time, known from the beginning. */
static void reserve_some(world *w)
{
  for (uint32_t i = 1 + any(w, 3); i > 0; i--) {
    char name[20], node[20];
    const char *nodes[] = { node };
    pai_time from = 1 + any(w, END / 3);
    pai_reservation r = {
      .name = name, .nodes = nodes, .nnodes = 1, .from = from
    };

    (void)snprintf(name, sizeof(name), "r%u", i);
    (void)snprintf(node, sizeof(node), "n%u", any(w, w->n));
    r.to = from + 1 + any(w, END / 10);
    assert_ok(scene_reserve(w->s, r, NULL));
  }
}

static void submit_any(world *w)
{
  job *j = &w->jobs[w->njobs + 1];
  pai_want want = scene_want(1, 1 + any(w, any(w, 3) == 0 ? 8 : 4));
  pai_request q = { .id = w->njobs + 1, .wants = &want, .nwants = 1 };

  if (any(w, 4) == 0)
    want.tasks = 2 + any(w, 2);
  *j = (job){ .tasks = want.tasks, .gpus = want.gpus, .kind = -1 };
  if (any(w, 2) == 0) {
    j->kind = (int)any(w, KINDS);
    want.type = j->kind != 0 ? "a100" : "v100";
  }
  j->length = q.duration = 1 + any(w, any(w, 2) != 0 ? 20 : 200);
  if (w->options != NULL)
    q.vc = (const char *[]){ w->lends ? "one" : "default", "other",
                             "third" }[any(w, 3)];
  if (scene_request(w->s, &q, NULL) == PAI_OK) {
    j->waits = true;
    w->njobs++;
  }
}

/* A promise may become earlier. */
static void note_promise(const world *w, job *j, pai_time until)
{
  assert_true(j->promised == 0 || w->now <= j->promised);
  assert_true(j->promised == 0 || until <= j->promised);
  if (until != 0)
    j->promised = until;
}

static void see_starts(world *w)
{
  pai_decision d = { .struct_size = sizeof(d) };
  int n = pai_sched_decide(w->s, w->now, NULL);

  assert_true(n >= 0);
  for (int i = 0; i < n; i++) {
    pai_task_place p = { .struct_size = sizeof(p) };
    job *j;

    assert_ok(pai_sched_decision(w->s, (size_t)i, &d));
    assert_int_equal(d.kind, PAI_DECISION_START);
    j = &w->jobs[d.id];
    j->waits = false;
    j->runs = true;
    j->end = w->now + j->length;
    memset(j->on, 0, sizeof(j->on));
    for (uint32_t t = 0; pai_sched_task(w->s, d.id, 0, t, &p) == PAI_OK; t++)
      j->on[p.node] += j->gpus;
    assert_true(j->promised == 0 || w->now <= j->promised);
  }
}

static void check(world *w)
{
  job *head = NULL;

  for (uint32_t k = 1; k <= w->njobs; k++) {
    job *j = &w->jobs[k];
    pai_reason r = { .struct_size = sizeof(r) };

    if (!j->waits)
      continue;
    assert_ok(pai_sched_reason(w->s, k, &r));
    note_promise(w, j, r.until);
    if (w->options != NULL || w->reserved)
      continue;
    if (head == NULL) {
      head = j;
      assert_true(r.until == shadow_of(w, head));
    } else {
      assert_false(could_start(w, j, head));
    }
  }
  if (w->lends)
    check_all(w);
}

static void end_some(world *w)
{
  for (uint32_t k = 1; k <= w->njobs; k++) {
    job *j = &w->jobs[k];

    if (!j->runs || j->end != w->now)
      continue;
    j->runs = false;
    assert_ok(scene_event(
      w->s,
      (pai_sched_event){ .kind = PAI_SCHED_FINISHED, .id = k, .time = w->now },
      NULL));
  }
}

static void live(world w, bool kinds)
{
  make_cluster(&w, kinds);
  if (w.reserved)
    reserve_some(&w);
  for (w.now = 1; w.now < END; w.now++) {
    bool busy = w.njobs < MOST && any(&w, 4) == 0;
    uint32_t k = 1;

    end_some(&w);
    for (uint32_t n = busy ? any(&w, 4) : 0; n > 0 && w.njobs < MOST; n--)
      submit_any(&w);
    see_starts(&w);
    check(&w);
    while (k <= w.njobs && !w.jobs[k].waits && !w.jobs[k].runs)
      k++;
    if (k > w.njobs && w.njobs == MOST)
      break;
  }
  pai_sched_free(w.s);
}

TEST(it_does_as_the_textbook)
{
  for (uint64_t i = 0; i < ROUNDS; i++)
    live((world){ .random = { i } }, false);
}

TEST(and_with_two_kinds_of_gpus)
{
  for (uint64_t i = 0; i < ROUNDS; i++)
    live((world){ .random = { i + ROUNDS } }, true);
}

/* Nobody starts later than promised, whichever virtual cluster the next one to
 * be promised something belongs to. */
TEST(promises_to_virtual_clusters_are_kept)
{
  static const char *const modes[] = {
    "{\"reclaim\":false}", "{\"mode\":\"conservative\",\"reclaim\":false}",
    "{\"mode\":\"conservative\",\"depth\":2,\"reclaim\":false}"
  };

  for (size_t m = 0; m < PAI__LEN(modes); m++)
    for (uint64_t i = 0; i < ROUNDS; i++)
      live((world){ .random = { i + 2 * ROUNDS }, .options = modes[m] },
           i % 2 != 0);
}

/* With a promise to each of three virtual clusters nobody waits who would delay
 * none of them. */
TEST(promises_to_virtual_clusters_are_times)
{
  for (uint64_t i = 0; i < 2 * ROUNDS; i++)
    live((world){ .random = { i + 3 * ROUNDS },
                  .options = "{\"reclaim\":false}",
                  .lends = true },
         i % 2 != 0);
}

/* Nor later where nodes are reserved for others. */
TEST(promises_beside_reservations_are_kept)
{
  static const char *const options[] = { NULL, "{\"reclaim\":false}" };

  for (uint64_t i = 0; i < ROUNDS / 4; i++)
    live((world){ .random = { i + 5 * ROUNDS },
                  .options = options[i / 2 % 2],
                  .reserved = true },
         i % 2 != 0);
}
