/* Nodes: who may be where, what is sick or kept. */
#include "scene.h"

/* Two kinds of GPUs, racks, a pin, switches. */
static const char site[] =
  "skus:\n"
  "  big: {gpu: h100, gpus: 8, near: {switch: 4}, cpus: 64, memory: 64G}\n"
  "  old: {gpu: v100, gpus: 4, cpus: 32, memory: 32G}\n"
  "  plain: {cpus: 16, memory: 16G}\n"
  "nodes:\n"
  "  - {name: a1, sku: big, rack: a, pin: desk}\n"
  "  - {name: a2, sku: big, rack: a}\n"
  "  - {name: b1, sku: old, rack: b}\n"
  "  - {name: b2, sku: old, rack: b}\n"
  "  - {name: c1, sku: plain}\n";

static pai_sched *open_site(void)
{
  pai_sched *s = scene_new(site, NULL, "{\"greedy\": true}", NULL);

  assert_non_null(s);
  return s;
}

/* --- who may be where ----------------------------------------------------- */

static void a_type_is_a_kind_or_a_sku(void **state)
{
  pai_sched *s = open_site();
  pai_want want = scene_want(1, 2);
  pai_request q = { .wants = &want, .nwants = 1 };

  (void)state;
  want.type = "v100";
  q.id = 1;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  want = scene_want(2, 0);
  want.type = "plain";
  q.id = 2;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  want = scene_want(1, 1);
  want.type = "plain"; /* which has none */
  q.id = 3;
  assert_int_equal(scene_request(s, &q, NULL), PAI_ENOROOM);
  want.type = "a100";
  assert_int_equal(scene_request(s, &q, NULL), PAI_ENOTFOUND);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_string_equal(scene_places(s, 1, 0), "2:3");
  assert_string_equal(scene_places(s, 2, 0), "4:0 4:0");
  pai_sched_free(s);
}

/* Nothing is said of the kind: it is the same for all of the gang. */
static void a_gang_is_of_one_kind(void **state)
{
  pai_sched *s = open_site();

  (void)state;
  assert_int_equal(scene_submit(s, 1, 5, 4), PAI_ENOROOM); /* 4 of 8, 2 of 4 */
  assert_int_equal(scene_submit(s, 1, 3, 4), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 2, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_string_equal(scene_places(s, 1, 0), "0:f 0:f0 1:f");
  assert_string_equal(scene_places(s, 2, 0), "2:f 3:f"); /* and not 1 and 2 */
  pai_sched_free(s);
}

static void of_several_kinds_the_nearest_is_told(void **state)
{
  pai_sched *s = open_site();
  pai_want want = scene_want(1, 9);
  pai_request q = { .id = 1, .wants = &want, .nwants = 1 };
  pai_error *err;

  (void)state;
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM, "none has more than 8");
  want = scene_want(1, 5);
  want.type = "v100";
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM,
                    "of the machines that suit otherwise none has more than "
                    "4");
  want.type = "v10";
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOTFOUND);
  assert_string_equal(pai_error_help(err), "did you mean 'v100'?");
  test_expect_error(err, PAI_ENOTFOUND, "'v10'");
  pai_sched_free(s);
}

static void a_pin_keeps_it_in_its_cell(void **state)
{
  pai_sched *s = open_site();
  pai_want want = scene_want(2, 4);
  pai_request q = { .id = 1, .wants = &want, .nwants = 1, .pin = "desk" };
  pai_error *err;

  (void)state;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_places(s, 1, 0), "0:f 0:f0");
  want = scene_want(1, 1);
  q.id = 2;
  assert_int_equal(scene_request(s, &q, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 2), "gpu");
  /* It would take any GPUs, so only c1 has no such ones. */
  assert_int_equal(pai_sched_failed(s, 2, PAI_LACK_GPU), 1);
  assert_int_equal(pai_sched_failed(s, 2, PAI_LACK_PIN), 3);
  assert_int_equal(pai_sched_failed(s, 2, PAI_LACK_TYPE), 1);
  q.id = 3;
  q.pin = "nowhere";
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM, "pinned as 'nowhere'");
  q.pin = NULL;
  q.within = "racl";
  assert_int_equal(scene_request(s, &q, &err), PAI_ENOROOM);
  assert_string_equal(pai_error_help(err), "did you mean 'rack'?");
  test_expect_error(err, PAI_ENOROOM, "is a \"racl\"");
  pai_sched_free(s);
}

static int submit_within(pai_sched *s, uint64_t id, const char *within,
                         uint32_t tasks, uint32_t gpus)
{
  pai_want want = scene_want(tasks, gpus);

  return scene_request(
    s,
    &(pai_request){ .id = id, .wants = &want, .nwants = 1, .within = within },
    NULL);
}

static void what_is_to_be_together_is(void **state)
{
  pai_sched *s = open_site();

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 5), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_places(s, 1, 0), "0:1f");
  assert_int_equal(submit_within(s, 2, "switch", 2, 2), PAI_OK);
  assert_int_equal(submit_within(s, 3, "switch", 2, 2), PAI_OK);
  assert_int_equal(submit_within(s, 4, "switch", 5, 1), PAI_ENOROOM);
  assert_string_equal(scene_decide(s), "start 2, start 3");
  assert_string_equal(scene_places(s, 2, 0), "1:3 1:c");
  assert_string_equal(scene_places(s, 3, 0), "1:30 1:c0");
  assert_int_equal(submit_within(s, 5, "rack", 3, 4), PAI_OK);
  assert_int_equal(submit_within(s, 6, "node", 2, 2), PAI_OK);
  assert_string_equal(scene_decide(s),
                      "start 6"); /* 3 + 4 + 4 GPUs are left */
  assert_string_equal(scene_places(s, 6, 0), "2:3 2:c");
  assert_string_equal(scene_lack(s, 5), "gang");
  assert_int_equal(submit_within(s, 7, "node", 3, 1), PAI_OK);
  assert_int_equal(submit_within(s, 8, "node", 5, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 7");
  assert_string_equal(scene_places(s, 7, 0), "0:20 0:40 0:80");
  pai_sched_free(s);
}

/* --- sick and drained ----------------------------------------------------- */

static int set_node(pai_sched *s, const char *node, int32_t gpu, int64_t to,
                    const char *why)
{
  return scene_event(s,
                     (pai_sched_event){ .kind = PAI_SCHED_NODE,
                                        .node = node,
                                        .gpu = gpu,
                                        .number = to,
                                        .text = why },
                     NULL);
}

static void nothing_begins_on_a_node_that_is_not_up(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", NULL, NULL, NULL);
  pai_sched_node_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(scene_submit(s, 1, 1, 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(set_node(s, "node0001", -1, PAI_NODE_DRAIN, "new disk"),
                   PAI_OK);
  assert_int_equal(set_node(s, "node0002", -1, PAI_NODE_SICK, "dust"), PAI_OK);
  assert_int_equal(set_node(s, "node0003", -1, PAI_NODE_SICK, NULL),
                   PAI_ENOTFOUND);
  assert_int_equal(set_node(s, "node0001", 4, PAI_NODE_SICK, NULL),
                   PAI_ENOTFOUND);
  assert_int_equal(set_node(s, "node0001", -1, 3, NULL), PAI_EINVAL);
  assert_int_equal(scene_submit(s, 2, 1, 4), PAI_OK); /* it could, some day */
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 2), "health");
  assert_int_equal(pai_sched_failed(s, 2, PAI_LACK_HEALTH), 2);
  assert_string_equal(scene_places(s, 1, 0), "0:f"); /* what runs goes on */
  assert_int_equal(pai_sched_view_node(s, 0, &v), PAI_OK);
  assert_int_equal(v.state, PAI_NODE_DRAIN);
  assert_string_equal(v.why, "new disk");
  assert_int_equal(set_node(s, "node0002", -1, PAI_NODE_UP, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_int_equal(pai_sched_view_node(s, 1, &v), PAI_OK);
  assert_null(v.why);
  pai_sched_free(s);
}

static void a_sick_gpu_is_not_given_out(void **state)
{
  pai_sched *s = scene_new("nodes:1 gpu:4", NULL, NULL, NULL);
  pai_sched_node_view v = { .struct_size = sizeof(v) };

  (void)state;
  assert_int_equal(set_node(s, "node0001", 0, PAI_NODE_SICK, "ECC"), PAI_OK);
  assert_int_equal(scene_submit(s, 1, 1, 3), PAI_OK);
  assert_int_equal(scene_submit(s, 2, 1, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_string_equal(scene_places(s, 1, 0), "0:e");
  assert_string_equal(scene_lack(s, 2), "gpu");
  assert_int_equal(set_node(s, "node0001", 1, PAI_NODE_SICK, NULL), PAI_OK);
  assert_int_equal(pai_sched_view_node(s, 0, &v), PAI_OK);
  assert_int_equal(v.sick_gpus, 2);
  assert_int_equal(v.free_gpus, 0);
  assert_int_equal(scene_finish(s, 1), PAI_OK); /* one of it is sick now */
  assert_int_equal(pai_sched_view_node(s, 0, &v), PAI_OK);
  assert_int_equal(v.free_mask, 0xc);
  assert_int_equal(set_node(s, "node0001", 0, PAI_NODE_UP, NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  pai_sched_free(s);
}

/* --- reservations --------------------------------------------------------- */

static int submit_for(pai_sched *s, uint64_t id, const char *user,
                      pai_time limit)
{
  pai_want want = scene_want(1, 4);

  return scene_request(
    s,
    &(pai_request){
      .id = id, .user = user, .limit = limit, .wants = &want, .nwants = 1 },
    NULL);
}

static void maintenance_lets_nothing_run_into_it(void **state)
{
  static const char *const one[] = { "node0001" };
  pai_sched *s = scene_new("nodes:1 gpu:4", NULL, "{\"greedy\": true}", NULL);
  pai_reservation r = {
    .name = "disks", .from = 100, .to = 200, .nodes = one, .nnodes = 1
  };

  (void)state;
  assert_int_equal(scene_reserve(s, r, NULL), PAI_OK);
  assert_int_equal(scene_reserve(s, r, NULL), PAI_EEXISTS);
  assert_int_equal(submit_for(s, 1, "ann", 0), PAI_OK);
  assert_int_equal(submit_for(s, 2, "ann", 101), PAI_OK);
  assert_int_equal(submit_for(s, 3, "ann", 100), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3"); /* it will be over */
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 1), "reservation");
  assert_int_equal(pai_sched_next_time(s), 100);
  assert_int_equal(pai_sched_decide(s, 100, NULL), 0);
  assert_int_equal(pai_sched_next_time(s), 200);
  assert_int_equal(pai_sched_decide(s, 199, NULL), 0);
  assert_int_equal(pai_sched_decide(s, 200, NULL), 1);
  assert_string_equal(scene_places(s, 1, 0), "0:f");
  assert_true(pai_sched_next_time(s) == INT64_MAX);
  assert_int_equal(scene_unreserve(s, "disks"), PAI_ENOTFOUND);
  pai_sched_free(s);
}

static void some_may_use_what_is_kept_for_them(void **state)
{
  pai_sched *s = scene_new("nodes:2 gpu:4", NULL, "{\"greedy\": true}", NULL);
  pai_reservation r = { .name = "course", .user = "ann" };
  pai_error *err;

  (void)state;
  assert_int_equal(scene_reserve(s, r, NULL),
                   PAI_OK); /* all nodes, for ever */
  assert_int_equal(submit_for(s, 1, "bob", 5), PAI_OK);
  assert_int_equal(submit_for(s, 2, "ann", 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_int_equal(scene_unreserve(s, "course"), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  r.name = "all";
  r.user = NULL;
  r.vc = "nobody";
  assert_int_equal(scene_reserve(s, r, &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "'nobody'");
  r.vc = "default"; /* that of those who name none */
  assert_int_equal(scene_reserve(s, r, NULL), PAI_OK);
  assert_int_equal(submit_for(s, 3, NULL, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  pai_sched_free(s);
}

static void bad_reservations_change_nothing(void **state)
{
  static const char *const nodes[] = { "node0001", "node0009" };
  pai_sched *s = scene_new("nodes:1 gpu:4", NULL, NULL, NULL);
  pai_reservation r = { .from = 5, .to = 5 };

  (void)state;
  assert_int_equal(scene_reserve(s, r, NULL), PAI_EINVAL);
  r.name = "x";
  assert_int_equal(scene_reserve(s, r, NULL), PAI_EINVAL);
  r.to = 10;
  r.nodes = nodes;
  r.nnodes = 2;
  assert_int_equal(scene_reserve(s, r, NULL), PAI_ENOTFOUND);
  assert_int_equal(scene_unreserve(s, "x"), PAI_ENOTFOUND);
  assert_int_equal(submit_for(s, 1, NULL, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  r.nnodes = 1;
  assert_int_equal(scene_reserve(s, r, NULL), PAI_OK);
  assert_int_equal(
    scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = 10 },
                NULL),
    PAI_OK);
  r.to = 20;
  assert_int_equal(scene_reserve(s, r, NULL),
                   PAI_OK); /* the old one is over */
  assert_int_equal(scene_unreserve(s, "x"), PAI_OK);
  assert_int_equal(scene_unreserve(s, "x"), PAI_ENOTFOUND);
  pai_sched_free(s);
}

/* --- failing memory ------------------------------------------------------- */

static const char shared[] =
  "skus:\n"
  "  box: {gpu: a100, gpus: 4, cpus: 32, memory: 32G}\n"
  "nodes:\n"
  "  - {name: \"n[1-3]\", sku: box}\n"
  "virtualClusters:\n"
  "  left: {cells: {box: 2}}\n"
  "  right: {cells: {box: 1}}\n";

static int story(const pai_alloc *alloc, void *user_data)
{
  pai_want want = scene_want(1, 4);
  pai_request first = { .id = 1, .vc = "left", .wants = &want, .nwants = 1 };
  static const char *const one[] = { "n1" };
  pai_reservation r = {
    .struct_size = sizeof(r), .name = "r", .to = 50, .nodes = one, .nnodes = 1
  };
  pai_sched *s = scene_new(shared, NULL, NULL, alloc);
  pai_cluster *c;
  int rc;

  assert_int_equal(
    pai_cluster_parse(&c, user_data, strlen(user_data), NULL, NULL), PAI_OK);
  rc = s == NULL ? PAI_ENOMEM : scene_request(s, &first, NULL);
  if (rc == PAI_OK)
    rc = scene_reserve(s, r, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 1, NULL);
  if (rc >= 0)
    rc = set_node(s, "n3", -1, PAI_NODE_SICK, "because of the dust");
  if (rc == PAI_OK)
    rc = scene_event(
      s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c }, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 60, NULL);
  if (rc >= 0)
    rc = PAI_OK;
  pai_cluster_free(c);
  pai_sched_free(s);
  return rc;
}

static void failing_memory_is_survived(void **state)
{
  static char more[] = "skus: {box: {gpu: a100, gpus: 4, cpus: 32, memory: "
                       "32G}}\nnodes: [{name: n0, sku: box}, {name: "
                       "\"n[1-3]\", sku: box}]\nvirtualClusters: {left: "
                       "{cells: {box: 3}}}\n";

  (void)state;
  test_faults(story, more);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_type_is_a_kind_or_a_sku),
    cmocka_unit_test(a_gang_is_of_one_kind),
    cmocka_unit_test(of_several_kinds_the_nearest_is_told),
    cmocka_unit_test(a_pin_keeps_it_in_its_cell),
    cmocka_unit_test(what_is_to_be_together_is),
    cmocka_unit_test(nothing_begins_on_a_node_that_is_not_up),
    cmocka_unit_test(a_sick_gpu_is_not_given_out),
    cmocka_unit_test(maintenance_lets_nothing_run_into_it),
    cmocka_unit_test(some_may_use_what_is_kept_for_them),
    cmocka_unit_test(bad_reservations_change_nothing),
    cmocka_unit_test(failing_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
