/*
 * test_hived.c - the pieces of HiveD's engine: the order of views, leaf cells
 * near each other, what cannot be, annotations, memory
 */
#include "sched/hived_count.h"

#include "base/prng.h"
#include "sched/hived/request.h"

#include <stdlib.h>

/* Two racks of two nodes of eight GPUs, in pairs and fours. */
static const char racks[] =
  "physicalCluster:\n"
  "  cellTypes:\n"
  "    PAIR: {childCellType: G, childCellNumber: 2}\n"
  "    FOUR: {childCellType: PAIR, childCellNumber: 2}\n"
  "    NODE: {childCellType: FOUR, childCellNumber: 2, isNodeLevel: true}\n"
  "    RACK: {childCellType: NODE, childCellNumber: 2}\n"
  "  physicalCells:\n"
  "  - cellType: RACK\n"
  "    cellChildren: [{cellAddress: n0}, {cellAddress: n1}]\n"
  "  - cellType: RACK\n"
  "    cellChildren: [{cellAddress: n2}, {cellAddress: n3}]\n"
  "virtualClusters:\n"
  "  a: {virtualCells: [{cellType: RACK, cellNumber: 1}]}\n"
  "  b: {virtualCells: [{cellType: RACK.NODE, cellNumber: 2}]}\n";

static int read_cluster(pai_cluster **c, const char *text,
                        const pai_alloc *alloc)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;

  opts.alloc = alloc;
  opts.form = "hived";
  return pai_cluster_parse(c, text, strlen(text), &opts, NULL);
}

static pai__hived *make(pai_cluster **c, const char *text)
{
  pai__hived *h;

  assert_int_equal(read_cluster(c, text, &pai__libc_alloc), PAI_OK);
  assert_int_equal(pai__hived_new(&h, *c, &pai__libc_alloc, NULL), PAI_OK);
  for (uint32_t i = 0; i < h->nnodes; i++)
    pai__hived_set_node(h, i, true);
  return h;
}

/* --- the order of views --------------------------------------------------- */

enum { NODES = 40 };

/* Forty nodes of four GPUs in one rack. */
static void put_many(pai__buf *b)
{
  pai__buf_str(b, "physicalCluster:\n"
                  "  cellTypes:\n"
                  "    NODE: {childCellType: G, childCellNumber: 4, "
                  "isNodeLevel: true}\n");
  pai__buf_printf(b, "    RACK: {childCellType: NODE, childCellNumber: %d}\n",
                  NODES);
  pai__buf_str(b, "  physicalCells:\n  - cellType: RACK\n"
                  "    cellChildren: [");
  for (int i = 0; i < NODES; i++)
    pai__buf_printf(b, "{cellAddress: n%d}, ", i);
  pai__buf_str(b, "]\nvirtualClusters:\n"
                  "  a: {virtualCells: [{cellType: RACK.NODE, cellNumber: "
                  "20}]}\n");
}

static int compare(const pai__hived *h, const uint64_t *suggested, uint32_t a,
                   uint32_t b)
{
  const pai__vnode *x = &h->vnodes[a], *y = &h->vnodes[b];
  const pai__pcell *p = &h->pcells[x->cell], *q = &h->pcells[y->cell];
  int by_health = (int)pai__is_sick(p) - (int)pai__is_sick(q);
  int by_set = (int)pai__is_suggested(suggested, q->node) -
               (int)pai__is_suggested(suggested, p->node);

  if (by_health != 0)
    return by_health;
  if (by_set != 0)
    return by_set;
  if (x->opp != y->opp)
    return x->opp > y->opp ? -1 : 1;
  return (int)(x->used - x->opp) - (int)(y->used - y->opp);
}

static void sort_plainly(const pai__hived *h, const uint64_t *suggested,
                         uint32_t *order, uint32_t n)
{
  for (uint32_t i = 1; i < n; i++) {
    uint32_t node = order[i], k = i;

    for (; k > 0 && compare(h, suggested, order[k - 1], node) > 0; k--)
      order[k] = order[k - 1];
    order[k] = node;
  }
}

static void change_nodes(pai__prng *r, pai__hived *h, const pai__hived_view *v)
{
  for (uint64_t n = pai__prng_below(r, 12); n > 0; n--) {
    uint32_t vnode = v->first + (uint32_t)pai__prng_below(r, v->count);
    pai__vnode *node = &h->vnodes[vnode];

    if (pai__prng_below(r, 5) == 0) {
      h->pcells[node->cell].flags ^= PAI__CELL_SICK;
      pai__view_touch_physical(h, node->cell);
    } else {
      node->used = (uint32_t)pai__prng_below(r, 5);
      node->opp = (uint32_t)pai__prng_below(r, node->used + 1);
      pai__view_touch(h, vnode);
    }
  }
}

/* What moves only a few nodes is what a stable sort of all of them makes. */
static void views_are_sorted_stably(void **state)
{
  uint32_t want[NODES], got[NODES];
  pai__prng r = { 3 };
  const pai__hived_view *v;
  pai_cluster *c;
  pai__hived *h;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  put_many(&b);
  h = make(&c, pai__buf_text(&b));
  v = &h->views[h->chains[0].view];
  assert_int_equal(v->count, NODES);
  pai__view_list(h, v, want);
  for (int round = 0; round < 3000; round++) {
    uint64_t some = pai__prng_next(&r) | pai__prng_next(&r);
    const uint64_t *suggested = pai__prng_below(&r, 6) == 0 ? &some : NULL;

    change_nodes(&r, h, v);
    pai__view_sort(h, h->chains[0].view, suggested);
    sort_plainly(h, suggested, want, NODES);
    pai__view_list(h, v, got);
    assert_memory_equal(got, want, sizeof(got));
  }
  pai__hived_free(h);
  pai_cluster_free(c);
  pai__buf_dispose(&b);
}

/* --- leaf cells near each other ------------------------------------------- */

static unsigned level_above(const pai__hived *h, uint32_t a, uint32_t b)
{
  while (a != b) {
    bool lower = h->pcells[a].level < h->pcells[b].level ||
                 (h->pcells[a].level == h->pcells[b].level && a > b);

    if (lower)
      a = h->pcells[a].parent;
    else
      b = h->pcells[b].parent;
  }
  return h->pcells[a].level;
}

/* All choices of k of them in their order, as HiveD tries them. */
static uint32_t choose_plainly(const pai__hived *h, const uint32_t *avail,
                               uint32_t n, uint32_t k, uint32_t *out)
{
  unsigned best = 99;
  uint32_t chosen = 0;

  /* A set as bits from the first leaf down is larger when it comes first. */
  for (uint32_t set = 1u << n; set-- > 0;) {
    unsigned level = 1, count = 0;
    uint32_t first = PAI__NOTHING;

    for (uint32_t i = 0; i < n; i++) {
      if ((set >> (n - 1 - i) & 1) == 0)
        continue;
      count++;
      if (first == PAI__NOTHING)
        first = avail[i];
      else if (level_above(h, first, avail[i]) > level)
        level = level_above(h, first, avail[i]);
    }
    if (count == k && level < best) {
      best = level;
      chosen = set;
    }
  }
  for (uint32_t i = 0; i < n; i++)
    if ((chosen >> (n - 1 - i) & 1) != 0)
      *out++ = avail[i];
  return k;
}

static void nearest_leaves_are_found(void **state)
{
  pai__prng r = { 9 };
  pai_cluster *c;
  pai__hived *h = make(&c, racks);
  const pai__hived_view *v = &h->views[h->chains[0].view];

  (void)state;
  for (int round = 0; round < 2000; round++) {
    uint32_t avail[8], n = 0, want[8], got[8], k;
    pai__hived_why why;
    pai__attempt a = { h->chains[0].view, PAI__OPPORTUNISTIC, NULL, 1, &why };

    for (uint32_t i = 0; i < v->count; i++)
      h->vnodes[v->first + i].used = 8;
    for (uint32_t i = 0; i < 8; i++) {
      uint32_t cell = h->pleaves[i].cell;
      bool free = pai__prng_below(&r, 3) > 0;

      h->pcells[cell].priority = free ? PAI__FREE_PRIORITY : 0;
      if (free)
        avail[n++] = cell;
    }
    if (n == 0)
      continue;
    h->vnodes[h->pleaves[0].vnode].used = 8 - n;
    for (uint32_t i = 0; i < v->count; i++)
      pai__view_touch(h, v->first + i);
    k = 1 + (uint32_t)pai__prng_below(&r, n);
    assert_int_equal(pai__scratch_reserve(h, 1, 8), PAI_OK);
    h->s.pods[0] = k;
    assert_true(pai__pick(h, &a, got));
    assert_int_equal(choose_plainly(h, avail, n, k, want), k);
    assert_memory_equal(got, want, k * sizeof(*got));
  }
  pai__hived_free(h);
  pai_cluster_free(c);
}

/* --- what cannot be ------------------------------------------------------- */

static void promises_must_be_kept(void **state)
{
  static const char *const pinned =
    "physicalCluster:\n"
    "  cellTypes:\n"
    "    NODE: {childCellType: G, childCellNumber: 1, isNodeLevel: true}\n"
    "    RACK: {childCellType: NODE, childCellNumber: 2}\n"
    "  physicalCells:\n"
    "  - cellType: RACK\n"
    "    cellChildren: [{cellAddress: n0, pinnedCellId: P}, {cellAddress: n1}]"
    "\n"
    "  - cellType: RACK\n"
    "    cellChildren: [{cellAddress: n2, pinnedCellId: Q}, {cellAddress: n3}]"
    "\n"
    "virtualClusters:\n"
    "  a:\n"
    "    virtualCells: [{cellType: RACK, cellNumber: 1}]\n"
    "    pinnedCells: [{pinnedCellId: P}, {pinnedCellId: Q}]\n";
  pai_cluster *c;
  pai_error *err;
  pai__hived *h;

  (void)state;
  assert_int_equal(read_cluster(&c, pinned, &pai__libc_alloc), PAI_OK);
  assert_int_equal(pai__hived_new(&h, c, &pai__libc_alloc, &err), PAI_EINVAL);
  assert_non_null(strstr(pai_error_message(err), "'Q' of virtual cluster"));
  test_expect_error(err, PAI_EINVAL, "too few whole cells");
  assert_null(h);
  pai_cluster_free(c);
  assert_int_equal(pai_cluster_synthetic(&c, "nodes:2", NULL, NULL), PAI_OK);
  assert_int_equal(pai__hived_new(&h, c, &pai__libc_alloc, &err), PAI_ENOTSUP);
  test_expect_error(err, PAI_ENOTSUP, "no cells");
  pai_cluster_free(c);
}

/* --- annotations ---------------------------------------------------------- */

static int ask(const pai__hived *h, const char *text, pai__arena *a,
               pai__hived_ask *out, const char *why)
{
  pai__buf b;
  int rc;

  pai__buf_init(&b, &pai__libc_alloc);
  rc = pai__hived_read_ask(h, text, strlen(text), "test/p", a, out, &b);
  if (strstr(pai__buf_text(&b), why) == NULL)
    fail_msg("want \"%s\" in \"%s\"", why, pai__buf_text(&b));
  assert_int_equal(rc == PAI_OK, why[0] == '\0');
  pai__buf_dispose(&b);
  return rc;
}

static void annotations_are_read(void **state)
{
  pai__hived_ask q;
  pai__arena a;
  pai_cluster *c;
  pai__hived *h = make(&c, racks);

  (void)state;
  pai__arena_init(&a, &pai__libc_alloc);
  (void)ask(h,
            "virtualCluster: b\npriority: 3\ngpuType: G\ngpuNumber: 2\n"
            "lazyPreemptionEnable: true\nignoreK8sSuggestedNodes: false\n"
            "affinityGroup: {name: x, members: [{podNumber: 1, gpuNumber: 4},"
            " {podNumber: 2, gpuNumber: 2}, {podNumber: 1, gpuNumber: 4}]}\n",
            &a, &q, "");
  assert_int_equal(q.r.vc, 1);
  assert_int_equal(q.r.priority, 3);
  assert_int_equal(q.r.leaf_type, 0);
  assert_int_equal(q.r.pin, PAI__NOTHING);
  assert_true(q.r.lazy && !q.r.ignores_suggested);
  assert_int_equal(q.r.nmembers, 2);
  assert_int_equal(q.r.members[0].leaves, 2);
  assert_int_equal(q.r.members[1].leaves, 4);
  assert_int_equal(q.r.members[1].pods, 2);
  (void)ask(h, "{\"virtualCluster\":\"z\",\"leafCellNumber\":1}", &a, &q, "");
  assert_int_equal(q.r.vc, PAI__HIVED_UNKNOWN);
  assert_string_equal(q.words.group, "test/p");
  assert_true(q.r.ignores_suggested);
  (void)ask(h, "", &a, &q, "does not exist or is empty");
  (void)ask(h, "leafCellNumber: 1", &a, &q, "VirtualCluster is empty");
  (void)ask(h, "[1]", &a, &q, "unmarshal");
  (void)ask(h, "virtualCluster: [a]\nleafCellNumber: 1", &a, &q, "unmarshal");
  (void)ask(h, "virtualCluster: a\nleafCellNumber: 1\npriority: 99999999999",
            &a, &q, "unmarshal");
  (void)ask(h,
            "virtualCluster: a\nleafCellNumber: 1\naffinityGroup: {name: x, "
            "members: [{podNumber: 2000000, leafCellNumber: 1}]}",
            &a, &q, "more leaf cells than any cluster");
  pai__arena_dispose(&a);
  pai__hived_free(h);
  pai_cluster_free(c);
}

/* --- gangs, and memory ---------------------------------------------------- */

static pai__hived_request request(const char *name, const pai__hived_member *m,
                                  uint32_t vc, int32_t priority)
{
  return (pai__hived_request){ .group = name,
                               .group_len = strlen(name),
                               .members = m,
                               .nmembers = 1,
                               .leaves = m->leaves,
                               .vc = vc,
                               .pin = PAI__NOTHING,
                               .leaf_type = PAI__NOTHING,
                               .priority = priority,
                               .lazy = true,
                               .ignores_suggested = true };
}

/* Places a gang; PAI_ENOROOM when it has to wait. */
static int place(pai__hived *h, const char *name, const pai__hived_member *m,
                 uint32_t vc, int32_t priority, int phase)
{
  pai__hived_request r = request(name, m, vc, priority);
  pai__hived_result result;

  for (uint32_t i = 0; i < m->pods; i++) {
    uint32_t node;
    int rc = pai__hived_schedule(h, &r, i + 1, NULL, phase, &result);

    if (rc < 0)
      return rc;
    if (result.kind != PAI__HIVED_BIND)
      return PAI_ENOROOM;
    node = pai__hived_leaf_node(h, result.gang.leaves[result.first]);
    rc = pai__hived_add(h, &r, i + 1, node, result.index, &result.info);
    if (rc < 0)
      return rc;
  }
  return PAI_OK;
}

static void end(pai__hived *h, const char *name, const pai__hived_member *m)
{
  for (uint32_t i = 0; i < m->pods; i++)
    (void)pai__hived_delete(h, name, strlen(name), m->leaves, i);
}

/* What may fail leaves all as it was, but for the order of views. */
static int try_place(pai__hived *h, const char *name,
                     const pai__hived_member *m, uint32_t vc, int32_t priority,
                     int phase)
{
  int rc = place(h, name, m, vc, priority, phase);

  assert_null(test_hived_wrong(h));
  return rc == PAI_ENOROOM ? PAI_OK : rc;
}

static int live(const pai_alloc *alloc, void *user_data)
{
  static const pai__hived_member whole = { 8, 2 }, some = { 3, 1 };
  pai_cluster *c = NULL;
  pai__hived *h = NULL, *clone = NULL;
  int rc = read_cluster(&c, racks, alloc);

  (void)user_data;
  if (rc == PAI_OK)
    rc = pai__hived_new(&h, c, alloc, NULL);
  for (uint32_t i = 0; rc == PAI_OK && i < h->nnodes; i++)
    pai__hived_set_node(h, i, true);
  if (rc == PAI_OK)
    rc = try_place(h, "g1", &whole, 0, 0, PAI__HIVED_FILTERING);
  if (rc == PAI_OK)
    rc = try_place(h, "g2", &whole, 1, -1, PAI__HIVED_FILTERING);
  if (rc == PAI_OK)
    rc = pai__hived_clone(&clone, h);
  if (rc == PAI_OK)
    rc = try_place(clone, "g3", &whole, 1, 1, PAI__HIVED_PREEMPTING);
  if (rc == PAI_OK)
    rc = try_place(h, "g4", &some, 0, 2, PAI__HIVED_FILTERING);
  if (h != NULL) {
    end(h, "g1", &whole);
    end(h, "g2", &whole);
    assert_null(test_hived_wrong(h));
  }
  pai__hived_free(clone);
  pai__hived_free(h);
  pai_cluster_free(c);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(live, NULL);
}

/* Once gangs of all kinds have come and gone, nothing is allocated. */
static void nothing_is_allocated_when_warm(void **state)
{
  static const pai__hived_member sizes[] = {
    { 1, 1 }, { 8, 2 }, { 3, 1 }, { 8, 1 }, { 2, 3 }
  };
  test_tally tally;
  pai_cluster *c;
  pai__hived *h;
  size_t calls = 0;

  (void)state;
  test_tally_init(&tally);
  assert_int_equal(read_cluster(&c, racks, &tally.alloc), PAI_OK);
  assert_int_equal(pai__hived_new(&h, c, &tally.alloc, NULL), PAI_OK);
  for (uint32_t i = 0; i < h->nnodes; i++)
    pai__hived_set_node(h, i, true);
  for (uint32_t i = 0; i < 2000; i++) {
    const pai__hived_member *a = &sizes[i % 5], *b = &sizes[i / 5 % 5];

    if (i == 1000)
      calls = tally.calls;
    (void)place(h, "a", a, 0, (int32_t)(i % 3) - 1, PAI__HIVED_FILTERING);
    (void)place(h, "b", b, 1, (int32_t)(i % 4), PAI__HIVED_PREEMPTING);
    (void)place(h, "c", a, 1, 4, PAI__HIVED_PREEMPTING);
    end(h, "a", a);
    end(h, "b", b);
    end(h, "c", a);
    for (uint64_t pod = 1; pod <= 3; pod++) {
      (void)pai__hived_delete_unallocated(h, "b", 1, pod);
      (void)pai__hived_delete_unallocated(h, "c", 1, pod);
    }
    assert_int_equal(h->live_groups, 0);
  }
  assert_int_equal(tally.calls, calls);
  assert_null(test_hived_wrong(h));
  pai__hived_free(h);
  pai_cluster_free(c);
  assert_int_equal(tally.live, 0);
}

/* Who is added twice, or to cells of others, changes nothing. */
static void bad_events_are_refused(void **state)
{
  static const pai__hived_member one = { 8, 1 };
  pai__hived_request r = request("g1", &one, 0, 0);
  pai__hived_request other = request("g2", &one, 1, 0);
  pai__hived_result result;
  pai_cluster *c;
  pai__hived *h = make(&c, racks);
  uint64_t digest;

  (void)state;
  assert_int_equal(
    pai__hived_schedule(h, &r, 1, NULL, PAI__HIVED_FILTERING, &result),
    PAI_OK);
  assert_int_equal(result.kind, PAI__HIVED_BIND);
  assert_int_equal(pai__hived_add(h, &r, 1, 0, 0, &result.info), PAI_OK);
  digest = test_hived_digest(h);
  assert_int_equal(pai__hived_add(h, &other, 2, 0, 0, &result.info),
                   PAI_EEXISTS);
  assert_int_equal(pai__hived_add(h, &r, 1, 0, 7, &result.info),
                   PAI_ENOTFOUND);
  assert_int_equal(pai__hived_delete(h, "g1", 2, 8, 7), PAI_ENOTFOUND);
  assert_int_equal(pai__hived_delete(h, "g9", 2, 8, 0), PAI_ENOTFOUND);
  assert_int_equal(pai__hived_delete_unallocated(h, "g1", 2, 1),
                   PAI_ENOTFOUND);
  pai__hived_set_node(h, 99, false);
  assert_true(test_hived_digest(h) == digest);
  assert_int_equal(pai__hived_delete(h, "g1", 2, 8, 0), PAI_OK);
  assert_int_equal(h->live_groups, 0);
  pai__hived_free(h);
  pai_cluster_free(c);
}

/* Pods that are found on the sick cell which their virtual cluster is doomed to
 * end there, and it stays that; unless it got well meanwhile. */
static void doomed_cells_stay_doomed(void **state)
{
  static const pai__hived_member one = { 8, 1 };
  uint32_t leaves[8], types[8], root, cell;
  pai__hived_info info = { leaves, types, NULL };
  pai__hived_request r = request("g", &one, 0, 0);
  pai_cluster *c;
  pai__hived *h = make(&c, racks);
  uint64_t digest;

  (void)state;
  for (uint32_t i = 0; i < h->nnodes; i++)
    pai__hived_set_node(h, i, false);
  root = h->vcs[0].first;
  cell = h->vcells[root].bound;
  assert_true(cell != PAI__NOTHING &&
              h->pcells[cell].at_doomed != PAI__NOTHING);
  for (uint32_t i = 0; i < 8; i++) {
    leaves[i] = h->pcells[cell].leaf + i;
    types[i] = c->cells[cell].type;
  }
  digest = test_hived_digest(h);
  assert_int_equal(pai__hived_add(h, &r, 1, 0, 0, &info), PAI_OK);
  assert_null(test_hived_wrong(h));
  assert_true(h->pleaves[leaves[0]].guaranteed);
  assert_int_equal(pai__hived_delete(h, "g", 1, 8, 0), PAI_OK);
  assert_true(test_hived_digest(h) == digest);
  assert_int_equal(pai__hived_add(h, &r, 1, 0, 0, &info), PAI_OK);
  for (uint32_t i = 0; i < h->nnodes; i++)
    pai__hived_set_node(h, i, true);
  assert_int_equal(h->vcells[root].bound, cell);
  assert_int_equal(pai__hived_delete(h, "g", 1, 8, 0), PAI_OK);
  assert_int_equal(h->vcells[root].bound, PAI__NOTHING);
  assert_int_equal(h->pcells[cell].at_doomed, PAI__NOTHING);
  assert_null(test_hived_wrong(h));
  pai__hived_free(h);
  pai_cluster_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(views_are_sorted_stably),
    cmocka_unit_test(nearest_leaves_are_found),
    cmocka_unit_test(promises_must_be_kept),
    cmocka_unit_test(annotations_are_read),
    cmocka_unit_test(no_memory_is_survived),
    cmocka_unit_test(nothing_is_allocated_when_warm),
    cmocka_unit_test(bad_events_are_refused),
    cmocka_unit_test(doomed_cells_stay_doomed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
