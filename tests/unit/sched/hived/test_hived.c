/*
 * test_hived.c - the pieces of HiveD's engine: what cannot be, annotations,
 * memory; its decisions are those of test_hived_replay.c
 */
#include "sched/hived/hived_count.h"

#include "sched/hived/request.h"

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

  assert_ok(read_cluster(c, text, &pai__libc_alloc));
  assert_ok(pai__hived_new(&h, *c, &pai__libc_alloc, NULL));
  for (uint32_t i = 0; i < h->nnodes; i++)
    pai__hived_set_node(h, i, true);
  return h;
}

/* --- what cannot be ------------------------------------------------------- */

TEST(promises_must_be_kept)
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

  assert_ok(read_cluster(&c, pinned, &pai__libc_alloc));
  assert_int_equal(pai__hived_new(&h, c, &pai__libc_alloc, &err), PAI_EINVAL);
  assert_has(pai_error_message(err), "'Q' of virtual cluster");
  test_expect_error(err, PAI_EINVAL, "too few whole cells");
  assert_null(h);
  pai_cluster_free(c);
  assert_ok(pai_cluster_synthetic(&c, "nodes:2", NULL, NULL));
  assert_fails(pai__hived_new(&h, c, &pai__libc_alloc, &err), err, PAI_ENOTSUP,
               "no cells");
  pai_cluster_free(c);
}

/* --- annotations ---------------------------------------------------------- */

static int ask(const pai__hived *h, const char *text, pai__arena *a,
               pai__hived_ask *out, const char *why)
{
  pai__buf b = test_buf();
  int rc;

  rc = pai__hived_read_ask(h, text, strlen(text), "test/p", a, out, &b);
  if (strstr(pai__buf_text(&b), why) == NULL)
    fail_msg("want \"%s\" in \"%s\"", why, pai__buf_text(&b));
  assert_int_equal(rc == PAI_OK, why[0] == '\0');
  pai__buf_dispose(&b);
  return rc;
}

TEST(annotations_are_read)
{
  pai__hived_ask q;
  pai__arena a;
  pai_cluster *c;
  pai__hived *h = make(&c, racks);

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

TEST(no_memory_is_survived)
{
  test_faults(live, NULL);
}

/* Once gangs of all kinds have come and gone, nothing is allocated. */
TEST(nothing_is_allocated_when_warm)
{
  static const pai__hived_member sizes[] = {
    { 1, 1 }, { 8, 2 }, { 3, 1 }, { 8, 1 }, { 2, 3 }
  };
  test_tally tally;
  pai_cluster *c;
  pai__hived *h;
  size_t calls = 0;

  test_tally_init(&tally);
  assert_ok(read_cluster(&c, racks, &tally.alloc));
  assert_ok(pai__hived_new(&h, c, &tally.alloc, NULL));
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
TEST(bad_events_are_refused)
{
  static const pai__hived_member one = { 8, 1 };
  pai__hived_request r = request("g1", &one, 0, 0);
  pai__hived_request other = request("g2", &one, 1, 0);
  pai__hived_result result;
  pai_cluster *c;
  pai__hived *h = make(&c, racks);
  uint64_t digest;

  assert_ok(
    pai__hived_schedule(h, &r, 1, NULL, PAI__HIVED_FILTERING, &result));
  assert_int_equal(result.kind, PAI__HIVED_BIND);
  assert_ok(pai__hived_add(h, &r, 1, 0, 0, &result.info));
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
  assert_ok(pai__hived_delete(h, "g1", 2, 8, 0));
  assert_int_equal(h->live_groups, 0);
  pai__hived_free(h);
  pai_cluster_free(c);
}

/* Pods that are found on the sick cell which their virtual cluster is doomed to
 * end there, and it stays that; unless it got well meanwhile. */
TEST(doomed_cells_stay_doomed)
{
  static const pai__hived_member one = { 8, 1 };
  uint32_t leaves[8], types[8], root, cell;
  pai__hived_info info = { leaves, types, NULL };
  pai__hived_request r = request("g", &one, 0, 0);
  pai_cluster *c;
  pai__hived *h = make(&c, racks);
  uint64_t digest;

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
  assert_ok(pai__hived_add(h, &r, 1, 0, 0, &info));
  assert_null(test_hived_wrong(h));
  assert_true(h->pleaves[leaves[0]].guaranteed);
  assert_ok(pai__hived_delete(h, "g", 1, 8, 0));
  assert_true(test_hived_digest(h) == digest);
  assert_ok(pai__hived_add(h, &r, 1, 0, 0, &info));
  for (uint32_t i = 0; i < h->nnodes; i++)
    pai__hived_set_node(h, i, true);
  assert_int_equal(h->vcells[root].bound, cell);
  assert_ok(pai__hived_delete(h, "g", 1, 8, 0));
  assert_int_equal(h->vcells[root].bound, PAI__NOTHING);
  assert_int_equal(h->pcells[cell].at_doomed, PAI__NOTHING);
  assert_null(test_hived_wrong(h));
  pai__hived_free(h);
  pai_cluster_free(c);
}
