/* What virtual clusters have, and clusters that become others. */
#include "scene.h"

/* --- shares --------------------------------------------------------------- */

static const char shared[] =
  "skus:\n"
  "  box: {gpu: a100, gpus: 4, cpus: 32, memory: 32G}\n"
  "nodes:\n"
  "  - {name: \"n[1-3]\", sku: box}\n"
  "virtualClusters:\n"
  "  left: {cells: {box: 2}}\n"
  "  right: {cells: {box: 1}}\n";

static int submit_in(pai_sched *s, uint64_t id, const char *vc, uint32_t tasks,
                     int priority, pai_error **err)
{
  pai_want want = scene_want(tasks, 4);

  return scene_request(
    s,
    &(pai_request){
      .id = id, .vc = vc, .wants = &want, .nwants = 1, .priority = priority },
    err);
}

static void shares_are_kept_to(void **state)
{
  pai_sched *s = scene_new(shared, NULL, NULL, NULL);
  pai_sched_vc_view v = { .struct_size = sizeof(v) };
  pai_reason r = { .struct_size = sizeof(r) };
  pai_error *err;

  (void)state;
  assert_non_null(s);
  assert_int_equal(submit_in(s, 1, "right", 2, 0, &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM, "'right' has 4");
  assert_int_equal(submit_in(s, 1, "middle", 1, 0, &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "'middle'");
  assert_int_equal(submit_in(s, 1, "right", 1, 0, NULL), PAI_OK);
  assert_int_equal(submit_in(s, 2, "right", 1, 0, NULL), PAI_OK);
  assert_int_equal(submit_in(s, 3, "left", 1, 0, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 3");
  assert_int_equal(pai_sched_reason(s, 2, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_QUOTA);
  assert_int_equal(r.wanted, 4);
  assert_int_equal(r.found, 0);
  /* The opportunistic have what is left, whoever owns it. */
  assert_int_equal(submit_in(s, 4, "left", 1, PAI_SCHED_OPPORTUNISTIC, NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "start 4");
  assert_int_equal(pai_sched_view_vc(s, 0, &v), PAI_OK);
  assert_string_equal(v.name, "left");
  assert_int_equal(v.limited, 1);
  assert_int_equal(v.gpus, 8);
  assert_int_equal(v.used, 4);
  assert_int_equal(v.lent, 4);
  assert_int_equal(v.running, 2);
  assert_int_equal(pai_sched_view_vc(s, 2, &v), PAI_ENOTFOUND);
  assert_int_equal(scene_finish(s, 4), PAI_OK);
  assert_int_equal(pai_sched_view_vc(s, 0, &v), PAI_OK);
  assert_int_equal(v.lent, 0);
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  pai_sched_free(s);
}

/* --- another cluster ------------------------------------------------------ */

static int set_cluster(pai_sched *s, const char *text, pai_error **err)
{
  pai_cluster *c;
  int rc;

  if (strchr(text, '\n') != NULL)
    assert_int_equal(pai_cluster_parse(&c, text, strlen(text), NULL, NULL),
                     PAI_OK);
  else
    assert_int_equal(pai_cluster_synthetic(&c, text, NULL, NULL), PAI_OK);
  rc = scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c }, err);
  pai_cluster_free(c);
  return rc;
}

static void nodes_come_and_go(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4 cpus:8", NULL, NULL, NULL);
  pai_sched_view v = { .struct_size = sizeof(v) };
  pai_error *err;

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 2), PAI_OK);
  assert_int_equal(scene_submit(s, 3, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(set_cluster(s, "nodes:1 gpu:4 cpus:8", &err), PAI_EBUSY);
  test_expect_error(err, PAI_EBUSY, "node 'node0002' is in use");
  assert_int_equal(set_cluster(s, "nodes:2 gpu:8 cpus:8", &err), PAI_EBUSY);
  test_expect_error(err, PAI_EBUSY, "other devices");
  assert_int_equal(set_cluster(s, "nodes:2 gpu:4:h100 cpus:8", &err),
                   PAI_EBUSY);
  test_expect_error(err, PAI_EBUSY, "other devices");
  assert_string_equal(scene_decide(s), "");
  assert_int_equal(set_cluster(s, "nodes:3 gpu:4 cpus:8", NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  assert_string_equal(scene_places(s, 3, 0), "2:f");
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  assert_int_equal(scene_finish(s, 2), PAI_OK);
  assert_int_equal(set_cluster(s, "nodes:1 gpu:4 cpus:8", NULL), PAI_OK);
  assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
  assert_int_equal(v.nodes, 1);
  assert_int_equal(v.gpus, 4);
  assert_int_equal(v.free_gpus, 0);
  assert_string_equal(scene_places(s, 1, 0), "0:f");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_int_equal(pai_sched_view_sums(s, &v), PAI_OK);
  assert_int_equal(v.free_gpus, 4);
  pai_sched_free(s);
}

/* A node's index is another one, and what holds it is found there. */
static void nodes_are_known_by_their_names(void **state)
{
  static const char before[] = "skus: {box: {gpu: a100, gpus: 4}}\n"
                               "nodes: [{name: x, sku: box}, {name: y, sku: "
                               "box}]\n";
  static const char after[] = "skus: {box: {gpu: a100, gpus: 4}}\n"
                              "nodes: [{name: w, sku: box}, {name: y, sku: "
                              "box, gpus: {3: {sick: loose}}}, {name: x, sku: "
                              "box, sick: dust}]\n";
  static const char *const kept[] = { "y" };
  pai_sched *s = scene_new(before, NULL, "{\"place\": \"first\"}", NULL);
  pai_reservation r = { .name = "r", .nodes = kept, .nnodes = 1 };
  pai_sched_node_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_non_null(s);
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_string_equal(scene_places(s, 2, 0), "1:3");
  assert_int_equal(scene_reserve(s, r, NULL), PAI_OK);
  assert_int_equal(set_cluster(s, after, NULL), PAI_OK);
  assert_string_equal(scene_places(s, 1, 0), "2:f");
  assert_string_equal(scene_places(s, 2, 0), "1:3");
  assert_int_equal(pai_sched_view_node(s, 2, &v), PAI_OK);
  assert_int_equal(v.state, PAI_NODE_SICK);
  assert_string_equal(v.why, "dust");
  assert_int_equal(pai_sched_view_node(s, 1, &v), PAI_OK);
  assert_int_equal(v.free_mask, 0x4);
  assert_int_equal(v.sick_mask, 0x8);
  assert_int_equal(scene_submit(s, 3, 1, 1), PAI_OK);
  assert_int_equal(scene_submit(s, 4, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3"); /* y is kept, still */
  assert_string_equal(scene_places(s, 3, 0), "0:1");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_int_equal(scene_finish(s, 2), PAI_OK);
  assert_int_equal(scene_unreserve(s, "r"), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  pai_sched_free(s);
}

static void virtual_clusters_in_use_stay(void **state)
{
  static const char less[] =
    "skus:\n"
    "  box: {gpu: a100, gpus: 4, cpus: 32, memory: 32G}\n"
    "nodes:\n"
    "  - {name: \"n[1-3]\", sku: box}\n"
    "virtualClusters:\n"
    "  left: {cells: {box: 3}}\n";
  pai_sched *s = scene_new(shared, NULL, NULL, NULL);
  pai_sched_vc_view v = { .struct_size = sizeof(v) };
  pai_error *err;

  (void)state;
  assert_int_equal(submit_in(s, 1, "right", 1, 0, NULL), PAI_OK);
  assert_int_equal(submit_in(s, 2, "left", 2, 0, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(set_cluster(s, less, &err), PAI_EBUSY);
  test_expect_error(err, PAI_EBUSY, "virtual cluster 'right'");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_int_equal(submit_in(s, 3, "left", 3, 0, NULL), PAI_ENOROOM);
  assert_int_equal(set_cluster(s, less, NULL), PAI_OK);
  assert_int_equal(pai_sched_view_vc(s, 0, &v), PAI_OK);
  assert_int_equal(v.gpus, 12);
  assert_int_equal(v.used, 8);
  assert_int_equal(submit_in(s, 3, "left", 3, 0, NULL), PAI_OK);
  assert_int_equal(scene_finish(s, 2), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  pai_sched_free(s);
}

/* What waits for a kind that has gone waits on, and knows why. */
static void a_kind_may_vanish(void **state)
{
  pai_sched *s = scene_new("nodes:1 gpu:4:h100", NULL, NULL, NULL);
  pai_want want = scene_want(1, 4);
  pai_request q = { .id = 1, .wants = &want, .nwants = 1 };

  (void)state;
  want.type = "h100";
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_int_equal(set_cluster(s, "nodes:1 gpu:4:a100", NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 1), "type");
  assert_int_equal(set_cluster(s, "nodes:1 gpu:4:h100", NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  pai_sched_free(s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(shares_are_kept_to),
    cmocka_unit_test(nodes_come_and_go),
    cmocka_unit_test(nodes_are_known_by_their_names),
    cmocka_unit_test(virtual_clusters_in_use_stay),
    cmocka_unit_test(a_kind_may_vanish),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
