/* The plan against a model of minutes: nothing is planned where there is no
 * room, and nothing could have been planned earlier. */
#include "sched/scene.h"

#include "sched/policy/plan.h"

#include "resource/bits.h"

enum { NODES = 3, GPUS = 4, CPUS = 9, END = 600, ROUNDS = 300 };

/* What is free of each node at each time. */
typedef struct model {
  int gpus[NODES][END];
  int cpus[NODES][END];
  bool kept[NODES][END];
} model;

static uint64_t seed;

static uint32_t any(uint32_t n)
{
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 20) % n;
}

/* A request of equal tasks that takes so long; 0: for ever. */
static int submit(pai_sched *s, uint64_t id, pai_time length)
{
  pai_want want = { .struct_size = sizeof(want),
                    .tasks = any(3) == 0 ? 1 + any(5) : 1,
                    .gpus = any(GPUS + 1),
                    .cpus = any(4) };
  pai_request q = { .id = id, .wants = &want, .nwants = 1 };

  *(any(2) != 0 ? &q.duration : &q.limit) = length;
  return scene_request(s, &q, NULL);
}

static pai_time length_of(const pai__req *r)
{
  return r->limit != 0 ? r->limit : r->duration;
}

static void occupy(model *m, uint32_t node, pai_time from, pai_time length,
                   int gpus, int cpus)
{
  for (pai_time t = from; t < END && (length == 0 || t < from + length); t++) {
    m->gpus[node][t] -= gpus;
    m->cpus[node][t] -= cpus;
  }
}

/* Tasks of a want that fit on a node from t on. */
static uint32_t room(const model *m, uint32_t node, pai_time t,
                     pai_time length, const pai__want *w)
{
  uint32_t fits = 100;

  for (pai_time i = t; i < END && (length == 0 || i < t + length); i++) {
    uint32_t gpus = w->gpus != 0 ? (uint32_t)m->gpus[node][i] / w->gpus : 100;
    uint32_t each = w->cpu_millis / 1000;
    uint32_t cpus = each != 0 ? (uint32_t)m->cpus[node][i] / each : 100;

    if (m->kept[node][i])
      return 0;
    fits = gpus < fits ? gpus : fits;
    fits = cpus < fits ? cpus : fits;
  }
  return fits;
}

static pai_time earliest(const model *m, const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__want *w = pai__wants_of(s, r);

  for (pai_time t = s->m.now; t < END; t++) {
    uint32_t fits = 0;

    for (uint32_t n = 0; n < NODES; n++)
      fits += room(m, n, t, length_of(r), w);
    if (fits >= w->tasks)
      return t;
  }
  return PAI__NEVER;
}

static void model_running(model *m, const pai_sched *s)
{
  for (uint32_t n = 0; n < NODES; n++)
    for (int t = 0; t < END; t++) {
      m->gpus[n][t] = GPUS;
      m->cpus[n][t] = CPUS;
      m->kept[n][t] = false;
    }
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    const pai__slot *slots = pai__slots_of(s, run);

    if (!pai__run_holds(run))
      continue;
    for (uint32_t k = 0; k < run->tasks; k++) {
      const pai__req *r = pai__req_at(s, run->req);
      pai_time length = length_of(r);

      if (length != 0 && run->since + length <= s->m.now)
        length = s->m.now + 1 - run->since; /* any moment now */
      occupy(m, slots[k].node, run->since, length,
             (int)pai__bits_ones(slots[k].gpus),
             (int)pai__wants_of(s, r)[slots[k].want].cpu_millis / 1000);
    }
  }
}

static void keep_a_node(model *m, pai_sched *s)
{
  uint32_t node = any(NODES);
  char name[] = "node0001";
  const char *nodes[] = { name };
  pai_reservation r = { .struct_size = sizeof(r),
                        .name = "maintenance",
                        .from = s->m.now + any(60),
                        .nodes = nodes,
                        .nnodes = 1 };

  name[7] = (char)('1' + node);
  r.to = r.from + 1 + any(60);
  assert_ok(scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_RESERVE, .reservation = &r },
    NULL));
  for (pai_time t = r.from; t < r.to; t++)
    m->kept[node][t] = true;
}

/* One after the other, as backfill does. */
static void plan_all(pai__plan *p, model *m, pai_sched *s)
{
  uint32_t req;

  for (req = s->m.first; req != PAI__NONE; req = pai__req_at(s, req)->behind) {
    const pai__req *r = pai__req_at(s, req);
    pai_time when = earliest(m, s, req);
    int rc = pai__plan_find(p, s, req, 1 + (int)any(4), PAI__NEVER, NULL);

    assert_int_equal(rc, when != PAI__NEVER);
    if (rc == 0)
      continue;
    assert_int_equal(p->start, when);
    assert_int_equal(p->sites.len, pai__wants_of(s, r)->tasks);
    for (uint32_t i = 0; i < p->sites.len; i++) {
      const pai__site *site = (pai__site *)p->sites.data + i;
      const pai__want *w = pai__wants_of(s, r);

      assert_int_equal(pai__plan_groups_sum(site->groups), w->gpus);
      assert_true(room(m, site->node, p->start, length_of(r), w) > 0);
      occupy(m, site->node, p->start, length_of(r), (int)w->gpus,
             (int)w->cpu_millis / 1000);
    }
    assert_ok(pai__plan_take(p, s, req));
  }
}

TEST(nothing_could_be_planned_earlier)
{
  static model m;
  pai__plan p;

  pai__plan_init(&p, &pai__libc_alloc);
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    pai_sched *s = scene_new("nodes:3 gpu:4 cpus:9 mem:1G racks:1", "fifo",
                             "{\"greedy\":true}", NULL);
    uint64_t id = 1;

    seed = round * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t n = any(12); n > 0; n--)
      (void)submit(s, id++, any(8) != 0 ? 1 + any(40) : 0);
    assert_true(pai_sched_decide(s, 0, NULL) >= 0);
    assert_true(pai_sched_decide(s, any(20), NULL) >= 0);
    for (uint32_t n = 1 + any(12); n > 0; n--)
      (void)submit(s, id++, any(8) != 0 ? 1 + any(40) : 0);
    model_running(&m, s);
    if (any(3) == 0)
      keep_a_node(&m, s);
    assert_ok(pai__plan_begin(&p, s, 0, false));
    plan_all(&p, &m, s);
    pai_sched_free(s);
  }
  pai__plan_dispose(&p);
}
