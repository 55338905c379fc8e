/*
 * HiveD's engine under random events on random clusters: all it counts is
 * counted again, virtual clusters keep what they were promised, a clone goes
 * the same way, and after a restart everything runs where it ran.  Soak runs,
 * see docs/internals/soak.md, do more.
 */
#include "sched/hived/hived_world.h"

#include <stdio.h>
#include <stdlib.h>

/* --- events; each is drawn before, so that a clone can have the same ------ */

static int add_pod(world *w, gang *g, uint32_t pod)
{
  uint32_t index, at = 0;
  pai__hived_info info = { g->leaves, g->types, NULL };
  int rc;

  g->r.leaves = gang_pod_of(g, pod, &index);
  for (uint32_t i = 0; i < pod; i++) {
    uint32_t k;

    at += gang_pod_of(g, i, &k);
  }
  rc = pai__hived_add(w->h, &g->r, world_pod_number(w, g, pod),
                      pai__hived_leaf_node(w->h, g->leaves[at]), index, &info);
  if (rc == PAI_OK)
    g->runs[pod] = true;
  return rc;
}

static void delete_pod(world *w, gang *g, uint32_t pod)
{
  uint32_t index, size = gang_pod_of(g, pod, &index);

  if (!g->runs[pod])
    return;
  assert_ok(pai__hived_delete(w->h, g->name, strlen(g->name), size, index));
  g->runs[pod] = false;
  for (uint32_t i = 0; i < g->npods; i++)
    if (g->runs[i])
      return;
  g->live = false;
}

static void delete_all(world *w, gang *g)
{
  for (uint32_t i = 0; i < g->npods; i++)
    delete_pod(w, g, i);
}

static void keep_placement(const world *w, gang *g,
                           const pai__hived_result *result)
{
  assert_int_equal(result->gang.nleaves, g->nleaves);
  memcpy(g->leaves, result->gang.leaves, g->nleaves * sizeof(uint32_t));
  for (uint32_t i = 0; i < g->nleaves; i++)
    g->types[i] = pai__hived_gang_type(w->h, &result->gang, i);
  g->bound = true;
}

/* What was decided must be possible: devices that are well, each once. */
static void check_placement(const world *w, const gang *g)
{
  for (uint32_t i = 0; i < g->nleaves; i++)
    for (uint32_t k = 0; k < i; k++)
      assert_true(g->leaves[i] != g->leaves[k]);
  for (uint32_t i = 0; i < g->nleaves; i++) {
    uint32_t user = w->h->pleaves[g->leaves[i]].user;

    assert_false(w->h->node_sick[pai__hived_leaf_node(w->h, g->leaves[i])]);
    assert_true(user == PAI__NOTHING);
  }
}

static void schedule(world *w, gang *g)
{
  uint32_t pod = below(w, g->npods), index;
  pai__hived_result result;
  bool known;

  g->r.leaves = gang_pod_of(g, pod, &index);
  assert_ok(pai__hived_schedule(
    w->h, &g->r, world_pod_number(w, g, pod), world_draw_suggested(w),
    chance(w, 50) ? PAI__HIVED_PREEMPTING : PAI__HIVED_FILTERING, &result));
  w->waited += result.kind == PAI__HIVED_WAIT;
  if (result.kind == PAI__HIVED_PREEMPT) {
    w->preempted++;
    g->bound = false; /* it may have another placement now */
    for (uint32_t i = 0; chance(w, 60) && i < result.ngroups; i++) {
      gang *victim =
        world_find_gang(w, pai__hived_group_name(w->h, result.groups[i]));

      assert_non_null(victim);
      if (chance(w, 80))
        delete_all(w, victim);
    }
    return;
  }
  if (result.kind != PAI__HIVED_BIND || chance(w, 10))
    return;
  known =
    pai__hived_find_group(w->h, g->name, strlen(g->name)) != PAI__NOTHING;
  keep_placement(w, g, &result);
  if (!known)
    check_placement(w, g);
  w->bound++;
  if (!w->late || !chance(w, 15))
    assert_ok(add_pod(w, g, pod - index + result.index));
}

/* A decision of before, if the cells are still there. */
static void add_late(world *w, gang *g)
{
  int rc;

  if (!g->bound)
    return;
  rc = add_pod(w, g, below(w, g->npods));
  assert_true(rc == PAI_OK || rc == PAI_EEXISTS);
}

static void change_node(world *w)
{
  uint32_t node = below(w, (unsigned)w->h->nnodes);

  pai__hived_set_node(w->h, node, chance(w, 80));
}

static void end_waiting(world *w, gang *g)
{
  uint32_t pod = below(w, g->npods);

  (void)pai__hived_delete_unallocated(w->h, g->name, strlen(g->name),
                                      world_pod_number(w, g, pod));
}

static void do_event(world *w)
{
  gang *g = world_draw_gang(w);
  unsigned what = below(w, 100);

  if (!g->live) {
    world_make_gang(w, g);
    schedule(w, g);
  } else if (w->late && chance(w, 10)) {
    add_late(w, g);
  } else if (what < 55) {
    schedule(w, g);
  } else if (what < 80) {
    if (chance(w, 50))
      delete_all(w, g);
    else
      delete_pod(w, g, below(w, g->npods));
  } else if (what < 88) {
    end_waiting(w, g);
  } else if (!w->well) {
    change_node(w);
  }
  /* Who never ran and waits for nothing is forgotten. */
  if (g->live &&
      pai__hived_find_group(w->h, g->name, strlen(g->name)) == PAI__NOTHING)
    g->live = false;
}

/* --- checks --------------------------------------------------------------- */

static void check(const world *w, uint64_t seed)
{
  const char *wrong = test_hived_wrong(w->h);

  if (wrong != NULL)
    fail_msg("seed %llu, event %lu: %s", (unsigned long long)seed, w->done,
             wrong);
  if (!w->late && !test_hived_is_safe(w->h, w->well))
    fail_msg("seed %llu, event %lu: a virtual cluster lacks cells",
             (unsigned long long)seed, w->done);
}

/* The same events on a clone end in the same state. */
static void check_clone(world *w)
{
  static world other;
  pai__hived *clone;

  assert_ok(pai__hived_clone(&clone, w->h));
  other = *w;
  other.h = clone;
  for (int i = 0; i < GANGS; i++) {
    other.gangs[i].r.members = other.gangs[i].members;
    other.gangs[i].r.group = other.gangs[i].name;
  }
  for (int i = 0; i < 20; i++) {
    do_event(w);
    do_event(&other);
  }
  assert_true(test_hived_digest(w->h) == test_hived_digest(other.h));
  assert_memory_equal(&w->r, &other.r, sizeof(w->r));
  pai__hived_free(clone);
  w->clones++;
}

/* Another engine that is told of the nodes, and then of all pods that run. */
static pai__hived *recover(world *w, const pai_alloc *alloc, uint64_t order)
{
  pai__hived *old = w->h, *made;
  pai__prng r = { order };

  assert_ok(pai__hived_new(&made, w->cluster, alloc, NULL));
  for (uint32_t i = 0; i < old->nnodes; i++)
    pai__hived_set_node(made, i, !old->node_sick[i]);
  w->h = made;
  for (uint32_t i = 0, k = (uint32_t)pai__prng_below(&r, GANGS); i < GANGS;
       i++, k = (k + 7) % GANGS) {
    gang *g = &w->gangs[k];

    for (uint32_t pod = g->npods; g->live && pod-- > 0;)
      if (g->runs[pod])
        assert_ok(add_pod(w, g, pod));
  }
  w->h = old;
  return made;
}

static void check_same_places(const pai__hived *before,
                              const pai__hived *after, const gang *g)
{
  uint32_t a = pai__hived_find_group(before, g->name, strlen(g->name));
  uint32_t b = pai__hived_find_group(after, g->name, strlen(g->name));

  assert_true(a != PAI__NOTHING && b != PAI__NOTHING);
  assert_memory_equal(pai__words(before, before->groups[a].physical),
                      pai__words(after, after->groups[b].physical),
                      g->nleaves * sizeof(uint32_t));
  assert_int_equal(before->groups[a].allocated, after->groups[b].allocated);
}

/* Restarts: all runs where it ran, and two of them are the same. */
static void check_restart(world *w, const pai_alloc *alloc, uint64_t seed)
{
  uint64_t order = pai__prng_next(&w->r);
  pai__hived *made = recover(w, alloc, order);
  pai__hived *again = recover(w, alloc, order);

  assert_true(test_hived_digest(made) == test_hived_digest(again));
  pai__hived_free(again);
  for (int i = 0; i < GANGS; i++) {
    gang *g = &w->gangs[i];
    bool runs = false;

    for (uint32_t pod = 0; g->live && pod < g->npods; pod++)
      runs = runs || g->runs[pod];
    if (runs)
      check_same_places(w->h, made, g);
    else
      g->live = false; /* who preempts is forgotten */
  }
  pai__hived_free(w->h);
  w->h = made;
  w->restarts++;
  check(w, seed);
}

/* --- another configuration ------------------------------------------------ */

/* A gang's placement as another cluster knows it: cells by their names. */
static void translate(const world *from, world *to, const gang *g, gang *out,
                      pai__hived_spot *spots)
{
  const pai_cluster *a = from->cluster;
  const char *vc = from->h->vcs[g->r.vc].name;
  size_t node;

  *out = *g;
  out->r.members = out->members;
  out->r.group = out->name;
  out->r.pin = PAI__NOTHING;
  out->r.vc = pai__hived_find_vc(to->h, vc, strlen(vc));
  if (out->r.vc == PAI__HIVED_UNKNOWN)
    assert_ok(pai__hived_name(to->h, vc, strlen(vc), &out->r.vc));
  for (uint32_t i = 0; i < g->nleaves; i++) {
    const char *name =
      a->nodes[pai__hived_leaf_node(from->h, g->leaves[i])].name;
    uint32_t device = pai__hived_leaf_index(from->h, g->leaves[i]);

    spots[i] = (pai__hived_spot){ 0, device, PAI__NOTHING, 0 };
    if (pai_cluster_find_node(to->cluster, name, &node) == PAI_OK)
      spots[i].node = (uint32_t)node;
    else
      assert_ok(pai__hived_name(to->h, name, strlen(name), &spots[i].node));
    out->leaves[i] =
      pai__hived_find_leaf(to->h, spots[i].node, device, PAI__NOTHING);
    if (g->types[i] != PAI__NOTHING) {
      name = a->types[g->types[i]].name;
      spots[i].type = pai__cluster_find_type(to->cluster, name, strlen(name));
      out->types[i] =
        spots[i].type != PAI__NOTHING ? spots[i].type : PAI__HIVED_UNKNOWN;
    }
  }
}

static void recover_elsewhere(world *other, gang *g,
                              const pai__hived_spot *spots)
{
  pai__hived_info info = { g->leaves, g->types, spots };
  pai__hived_result result;
  uint32_t index;

  for (uint32_t pod = 0; pod < g->npods; pod++) {
    int rc;

    if (!g->runs[pod])
      continue;
    g->r.leaves = gang_pod_of(g, pod, &index);
    rc = pai__hived_add(other->h, &g->r, world_pod_number(other, g, pod),
                        spots[0].node, index, &info);
    assert_true(rc == PAI_OK || rc == PAI_EEXISTS);
    assert_null(test_hived_wrong(other->h));
    g->runs[pod] = rc == PAI_OK;
  }
  if (pai__hived_find_group(other->h, g->name, strlen(g->name)) ==
      PAI__NOTHING)
    return;
  assert_ok(pai__hived_schedule(other->h, &g->r, 1, NULL, PAI__HIVED_FILTERING,
                                &result));
  if (result.kind == PAI__HIVED_BIND)
    assert_true(result.gang.leaves[result.first] != PAI__NOTHING ||
                result.gang.spots[result.first].node == spots[0].node ||
                g->npods > 1);
}

/* A restart with a configuration that knows some of the nodes, and some of the
 * virtual clusters: nothing breaks, and in the end all is free again. */
static void check_reconfiguration(world *w, const pai_alloc *alloc)
{
  static world other;
  static pai__hived_spot spots[LEAVES];
  uint64_t seed = pai__prng_next(&w->r);

  other = (world){ .r = { seed } };
  world_make_engine(&other, alloc);
  for (uint32_t i = 0; i < other.h->nnodes; i++)
    pai__hived_set_node(other.h, i, chance(&other, 85));
  for (int i = 0; i < GANGS; i++) {
    bool runs = false;

    for (uint32_t pod = 0; w->gangs[i].live && pod < w->gangs[i].npods; pod++)
      runs = runs || w->gangs[i].runs[pod];
    if (!runs)
      continue;
    translate(w, &other, &w->gangs[i], &other.gangs[i], spots);
    recover_elsewhere(&other, &other.gangs[i], spots);
  }
  for (int i = 0; i < GANGS; i++)
    delete_all(&other, &other.gangs[i]);
  assert_null(test_hived_wrong(other.h));
  assert_int_equal(other.h->live_groups, 0);
  pai__hived_free(other.h);
  pai_cluster_free(other.cluster);
}

static unsigned long run_world(uint64_t seed, unsigned long events,
                               world *sums)
{
  static world w;
  test_tally tally;

  test_tally_init(&tally);
  w = (world){ .r = { seed } };
  w.late = seed % 4 == 0;
  w.well = seed % 4 == 1;
  world_make_engine(&w, &tally.alloc);
  assert_true(w.h->nnodes <= 64 * PAI__LEN(w.suggested));
  for (uint32_t i = 0; i < w.h->nnodes; i++)
    pai__hived_set_node(w.h, i, true);
  check(&w, seed);
  while (w.done < events && w.h->nvcs > 0) {
    do_event(&w);
    w.done++;
    check(&w, seed);
    if (chance(&w, 2))
      check_clone(&w);
    if (below(&w, 300) == 0)
      check_restart(&w, &tally.alloc, seed);
  }
  check_reconfiguration(&w, &tally.alloc);
  sums->bound += w.bound;
  sums->preempted += w.preempted;
  sums->waited += w.waited;
  sums->restarts += w.restarts;
  sums->clones += w.clones;
  pai__hived_free(w.h);
  pai_cluster_free(w.cluster);
  assert_int_equal(tally.live, 0);
  return w.done;
}

TEST(counts_and_promises_hold)
{
  const char *soak = getenv("OPENPAI_SOAK"), *from = getenv("OPENPAI_SEED");
  unsigned long want = soak != NULL ? 10000000 : 40000, done = 0;
  uint64_t seed = from != NULL ? strtoull(from, NULL, 10) : 1;
  static world sums;

  while (done < want)
    done += run_world(seed++, 400, &sums);
  print_message("%lu events: bound %lu, preempted %lu, waited %lu, restarted "
                "%lu, cloned %lu\n",
                done, sums.bound, sums.preempted, sums.waited, sums.restarts,
                sums.clones);
  assert_true(sums.bound > done / 20 && sums.preempted > done / 500 &&
              sums.waited > done / 50 && sums.restarts > done / 1000);
}
