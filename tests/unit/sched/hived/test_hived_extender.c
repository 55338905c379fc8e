/*
 * test_hived_extender.c - pods of a small cluster: told, asked for, bound, gone
 */
#include "pods.h"

#include "base/tree.h"
#include "json/json.h"

#include <stdio.h>

/* --- the life of pods ----------------------------------------------------- */

TEST_IN(pods_are_bound_and_end, ext_scene, s, ext_ready, ext_close)
{
  ext_pod bound = a0;
  pai_hived_answer a;

  a = ext_filter(s, &a0);
  ext_expect_body(&a,
                  "[uid-a0(test/a0)]: filterRoutine: Failed: Pod does not");
  ext_tell(s, "ADDED", &a0);
  a = ext_filter(s, &a0);
  assert_int_equal(a.status, 200);
  assert_int_equal(a.hold_ms, 0);
  assert_int_equal(a.bind, PAI_HIVED_BIND_NOTHING);
  ext_expect_node(&a, "n0");
  for (int i = 0; i < 2; i++) { /* as often as one likes */
    a = ext_bind(s, "a0", "n0");
    assert_string_equal(a.body, "{\"Error\":\"\"}");
    assert_int_equal(a.bind, PAI_HIVED_BIND_FIRST);
    assert_string_equal(a.bind_uid, "uid-a0");
  }
  bound.node = "n0";
  ext_tell(s, "MODIFIED", &bound);
  ext_tell(s, "MODIFIED", &bound);
  a = ext_bind(s, "a0", "n0");
  ext_expect_body(&a, "already been bound to node n0");
  a = ext_preempt(s, &a0);
  assert_int_equal(a.status, 400);
  ext_expect_body(&a, "preemptRoutine: Failed: Pod has already been bound");
  bound.phase = "Succeeded";
  ext_tell(s, "MODIFIED", &bound);
  a = test_ask(s->e, "GET", "/v1/inspect/affinitygroups/", NULL);
  assert_string_equal(a.body, "{\"items\":null}");
  a = ext_bind(s, "a0", "n0");
  ext_expect_body(&a, "does not exist");
}

/* Texts that Kubernetes has not are neither read further nor repeated. */
TEST_IN(texts_are_too_long, ext_scene, s, ext_ready, ext_close)
{
  static const struct {
    const char *target, *before, *after, *part;
    size_t most;
  } rows[] = {
#define FILTER "/v1/extender/filter"
    { FILTER, "{\"Pod\":{\"metadata\":{\"uid\":\"", "\"}}}",
      "ExtenderArgs: field uid is too long", 1024 },
    { FILTER,
      "{\"Pod\":{\"metadata\":{\"annotations\":{\"hivedscheduler.microsoft."
      "com/"
      "pod-scheduling-spec\":\"",
      "\"}}}}", "field annotations is too long", 256 << 10 },
    { "/v1/extender/bind", "{\"Node\":\"", "\"}",
      "ExtenderBindingArgs: field Node is too long", 1024 },
  };
  static char text[1 << 20];
  pai_hived_answer a;

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    for (size_t over = 0; over < 2; over++) {
      (void)snprintf(text, sizeof(text), "%s%0*d%s", rows[i].before,
                     (int)(rows[i].most + over), 0, rows[i].after);
      a = test_ask(s->e, "POST", rows[i].target, text);
      assert_int_equal(strstr(a.body, rows[i].part) != NULL, over);
    }
  (void)snprintf(text, sizeof(text), "{\"NodeNames\":[\"%0*d\"]}", 70000, 0);
  a = test_ask(s->e, "POST", FILTER, text);
  ext_expect_body(&a, "\"NodeNames\\\":[]}");
  assert_in_range(a.body_len, 1, 1000);
}

/* Who waits is answered later, and may take what others leave. */
TEST_IN(pods_wait, ext_scene, s, ext_ready, ext_close)
{
  pai_hived_answer a;

  ext_tell(s, "ADDED", &a0);
  ext_tell(s, "ADDED", &a1);
  ext_tell(s, "ADDED", &a2);
  a = ext_filter(s, &a0);
  a = ext_filter(s, &a1);
  ext_expect_node(&a, "n1");
  a = ext_filter(s, &a2);
  assert_int_equal(a.hold_ms, 250);
  ext_expect_body(&a, "\"hivedscheduler\":\"Pod is waiting for preemptible or "
                      "free resource to appear: insufficient capacity when "
                      "scheduling in VC a\"");
  a = ext_bind(s, "a2", "n0");
  ext_expect_body(&a, "current scheduling state Waiting, received node n0");
  ext_tell(s, "DELETED", &a0);
  a = ext_filter(s, &a2); /* all of the gang has to end */
  assert_int_equal(a.hold_ms, 250);
  ext_tell(s, "DELETED", &a1);
  a = ext_filter(s, &a2);
  ext_expect_body(&a, "\"NodeNames\":[\"n");
}

/* Whoever should bind a pod and does not is helped. */
TEST_IN(pods_are_bound_by_force, ext_scene, s, ext_ready, ext_close)
{
  static const char on[] =
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n0\"}}";
  pai_hived_answer a;
  char event[256];

  ext_tell(s, "ADDED", &a0);
  a = ext_filter(s, &a0);
  a = ext_filter(s, &a0);
  assert_int_equal(a.bind, PAI_HIVED_BIND_NOTHING);
  a = ext_filter(s, &a0); /* the second time again */
  assert_int_equal(a.bind, PAI_HIVED_BIND_ALSO);
  assert_string_equal(a.bind_path, "/api/v1/namespaces/test/pods/a0/binding");
  ext_expect_node(&a, "n0");
  ext_tell(s, "ADDED", &a1);
  a = test_ask(s->e, "POST", "/v1/extender/filter",
               ext_body_of(s, &a1, "NodeNames", "[\"n0\"]"));
  ext_expect_node(&a, "n1"); /* which is not among them */
  assert_int_equal(a.bind, PAI_HIVED_BIND_ALSO);
  (void)snprintf(event, sizeof(event), "{\"type\":\"DELETED\",\"object\":%s}",
                 on);
  test_event(s->e, event);
  ext_tell(s, "DELETED", &a0);
  ext_tell(s, "ADDED", &a0);
  a = ext_filter(s, &a0); /* its node is not there any more */
  ext_expect_node(&a, "n0");
  assert_int_equal(a.bind, PAI_HIVED_BIND_ALSO);
  assert_true(pai_hived_extender_unbound(s->e, a.bind_uid, "no <node> \"n0\"",
                                         &a, NULL) == PAI_OK);
  assert_string_equal(a.body,
                      "{\"Error\":\"Code: 500, Message: hivedscheduler: "
                      "Platform Error: [uid-a0(test/a0)]: bindRoutine: "
                      "Failed: Failed to bind Pod: no <node> \\\"n0\\\"\"}");
  assert_int_equal(a.bind, PAI_HIVED_BIND_NOTHING);
}

TEST_IN(pods_are_preempted, ext_scene, s, ext_ready, ext_close)
{
  ext_pod other = high;
  pai_hived_answer a;

  ext_tell(s, "ADDED", &a0);
  ext_tell(s, "ADDED", &a1);
  ext_tell(s, "ADDED", &high);
  a = ext_filter(s, &a1);
  a = ext_filter(s, &a0);
  a = ext_filter(s, &high);
  ext_expect_body(&a,
                  "\"FailedNodes\":{\"n0\":\"node(n0) has preemptible Pods: "
                  "uid-a1(test/a1)\"}");
  a = ext_preempt(s, &high);
  assert_string_equal(a.body,
                      "{\"NodeNameToMetaVictims\":{\"n0\":{\"Pods\":[{\"UID\":"
                      "\"uid-a1\"}],\"NumPDBViolations\":0}}}");
  a = ext_bind(s, "high", "n0");
  ext_expect_body(&a, "state Preempting");
  ext_expect_shown(s, "/v1/inspect/affinitygroups/gh",
                   "\"preemptingPods\":[\"uid-high\"]");
  ext_expect_shown(s, "/v1/inspect/affinitygroups/ga", "BeingPreempted");
  /* Now it is of another group, which waits in its place. */
  other.spec = EXT_GANG("a", "5", "gi", "1");
  a = ext_preempt(s, &other);
  ext_expect_shown(s, "/v1/inspect/affinitygroups/gi",
                   "\"preemptingPods\":[\"uid-high\"]");
  a = test_ask(s->e, "GET", "/v1/inspect/affinitygroups/gh", NULL);
  assert_int_equal(a.status, 400);
  ext_tell(s, "DELETED", &high);
  ext_expect_shown(s, "/v1/inspect/affinitygroups/ga",
                   "\"state\":\"Allocated\"");
}

/* A node's state when that of its GPUs differs. */
TEST_IN(states_are_joined, ext_scene, s, ext_ready, ext_close)
{
  static const ext_pod one = { .name = "one",
                               .spec =
                                 "{virtualCluster: b, leafCellNumber: 1}" };
  pai_hived_answer a;

  ext_tell(s, "ADDED", &one);
  a = ext_filter(s, &one);
  ext_expect_body(&a, "\"NodeNames\":[\"n");
  ext_expect_shown(
    s, "/v1/inspect/clusterstatus/virtualclusters/b",
    "[{\"leafCellType\":\"G\",\"cellType\":\"NODE\",\"isNodeLevel\":"
    "true,\"cellAddress\":\"b/0\",\"cellState\":\"Used\"");
  ext_expect_shown(s, "/v1/inspect/affinitygroups/test/one",
                   "\"virtualPlacement\":{\"b/0\":[\"b/0/0\"]}");
}

/* Nodes that are not ready, or closed for pods, or gone, are sick. */
TEST_IN(nodes_are_sick_and_well, ext_scene, s, ext_ready, ext_close)
{
  static const char *const sick[] = {
    "{\"type\":\"MODIFIED\",\"object\":" EXT_NODE("n0", "False") "}",
    "{\"type\":\"MODIFIED\",\"object\":" EXT_NODE("n0", "Unknown") "}",
    "{\"type\":\"DELETED\",\"object\":" EXT_NODE("n0", "True") "}",
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n0\"}}",
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n0\"},\"spec\":"
    "{\"unschedulable\":true},\"status\":{\"conditions\":[{\"type\":"
    "\"Ready\",\"status\":\"True\"}]}}",
    "{\"kind\":\"NodeList\",\"items\":[" EXT_NODE("n1", "True") "]}",
  };
  static const char physical[] = "/v1/inspect/clusterstatus/physicalcluster";
#define N0 \
  "\"cellAddress\":\"0/n0\",\"cellState\":\"Free\",\"cellHealthiness\":"

  for (size_t i = 0; i < PAI__LEN(sick); i++) {
    test_event(s->e, sick[i]);
    ext_expect_shown(s, physical, N0 "\"Bad\"");
    test_event(s->e, ext_all_nodes);
    ext_expect_shown(s, physical, N0 "\"Healthy\"");
  }
}

/* --- restarts ------------------------------------------------------------- */

/* Pods in another order, and an opportunistic one. */
TEST(restarts_are_seen_through)
{
  static const ext_pod opp = { .name = "o0",
                               .spec = EXT_GANG("b", "-1", "go", "1") };
  ext_pod pods[3] = { a1, opp, a0 };
  const char *nodes[3] = { "n1", "n2", "n0" };
  char *infos[3], *before;
  pai_hived_answer a;
  ext_scene s;

  ext_ready(&s);
  for (int i = 2; i >= 0; i--) {
    ext_tell(&s, "ADDED", &pods[i]);
    a = ext_filter(&s, &pods[i]);
    ext_expect_node(&a, nodes[i]);
    a = ext_bind(&s, pods[i].name, nodes[i]);
    pods[i].info = infos[i] = ext_info_of(&a);
    pods[i].node = nodes[i];
  }
  assert_has(infos[1], "    preassignedCellTypes:\n    - \"\"\n");
  ext_expect_shown(&s, "/v1/inspect/clusterstatus/virtualclusters/b",
                   "\"cellAddress\":\"1/n2/0-opp\"");
  a = test_ask(s.e, "GET", "/v1/inspect/affinitygroups/", NULL);
  before = pai__strdup(&pai__libc_alloc, a.body);
  ext_close(&s);

  ext_ready(&s);
  test_event(s.e, ext_list_of(&s, pods, 3));
  ext_expect_shown(&s, "/v1/inspect/affinitygroups/", before);
  test_event(s.e, ext_list_of(&s, pods, 3)); /* again: nothing changes */
  ext_expect_shown(&s, "/v1/inspect/affinitygroups/", before);
  test_event(s.e, ext_list_of(&s, pods + 1, 1)); /* the others are gone */
  a = test_ask(s.e, "GET", "/v1/inspect/affinitygroups/ga", NULL);
  assert_int_equal(a.status, 400);
  ext_expect_shown(&s, "/v1/inspect/affinitygroups/go", "uid-o0");
  ext_close(&s);
  pai__strfree(&pai__libc_alloc, before);
  for (int i = 0; i < 3; i++)
    ext_free_info(infos[i]);
}

/* Others are on its cells by now: they have them. */
TEST_IN(cells_are_given_once, ext_scene, s, ext_ready, ext_close)
{
  ext_pod first = a2, second = high, again = a2;
  pai_hived_answer a;

  ext_tell(s, "ADDED", &first);
  a = ext_filter(s, &first);
  a = ext_bind(s, first.name, "n0");
  first.info = second.info = ext_info_of(&a);
  first.node = second.node = "n0";
  ext_tell(s, "MODIFIED", &first);
  ext_expect_failure(s, ext_event_of(s, "ADDED", &second), PAI_EEXISTS,
                     "uid-high(test/high) on node n0");
  ext_expect_shown(s, "/v1/inspect/affinitygroups/gb", "uid-a2");
  /* A list in which it has taken the place of the first. */
  test_event(s->e, ext_list_of(s, &second, 1));
  ext_expect_shown(s, "/v1/inspect/affinitygroups/gh", "uid-high");
  /* The same name, and another UID. */
  again = second;
  again.info = again.node = NULL;
  (void)ext_event_of(s, "ADDED", &again);
  memcpy(strstr(s->text.data, "uid-high"), "new", 3);
  test_event(s->e, pai__buf_text(&s->text));
  a = test_ask(s->e, "GET", "/v1/inspect/affinitygroups/gh", NULL);
  assert_int_equal(a.status, 400);
  a = ext_bind(s, "high", "n0");
  ext_expect_body(&a, "does not exist");
  ext_free_info((char *)(uintptr_t)first.info);
}

/* --- without memory ------------------------------------------------------- */

/* A call that may fail once; then it is done again. */
static int try_event(ext_scene *s, const char *json)
{
  int rc = pai_hived_extender_event(s->e, json, strlen(json), TEST_NOW, NULL);

  assert_true(rc == PAI_OK || rc == PAI_ENOMEM);
  return rc;
}

static int try_ask(ext_scene *s, const char *target, const char *body,
                   const char *part)
{
  pai_hived_answer a = { .struct_size = sizeof(a) };
  pai_hived_request q = { .struct_size = sizeof(q),
                          .method = body != NULL ? "POST" : "GET",
                          .target = target,
                          .body = body,
                          .now = TEST_NOW };
  int rc;

  q.body_len = body != NULL ? strlen(body) : 0;
  rc = pai_hived_extender_request(s->e, &q, &a, NULL);
  assert_true(rc == PAI_OK || rc == PAI_ENOMEM);
  if (rc == PAI_OK && strstr(a.body, part) == NULL)
    fail_msg("%s: '%s' is not in %s", target, part, a.body);
  return rc;
}

static int live(ext_scene *s)
{
  static const char groups[] = "/v1/inspect/affinitygroups/";
  static const char filter_at[] = "/v1/extender/filter";
  static const char preempt_at[] = "/v1/extender/preempt";
  static const char victims[] = "NodeNameToMetaVictims";
  static const char map[] = "{\"n0\":{},\"n1\":{},\"n2\":{},\"n3\":{}}";

  if (try_event(s, ext_all_nodes) < 0 ||
      try_event(s, ext_event_of(s, "ADDED", &a0)) < 0 ||
      try_event(s, ext_event_of(s, "ADDED", &a1)) < 0 ||
      try_event(s, ext_event_of(s, "ADDED", &high)) < 0 ||
      try_ask(s, filter_at, ext_body_of(s, &a0, "NodeNames", EXT_EVERYWHERE),
              "\"n0\"") < 0 ||
      try_ask(s, filter_at, ext_body_of(s, &a1, "NodeNames", "[]"), "\"n1\"") <
        0 ||
      try_ask(s, filter_at, ext_body_of(s, &high, "NodeNames", EXT_EVERYWHERE),
              "preemptible Pods") < 0 ||
      try_ask(s, preempt_at, ext_body_of(s, &high, victims, map), "uid-a0") <
        0 ||
      try_ask(s, groups, NULL, "uid-high") < 0 ||
      try_ask(s, "/v1/inspect/clusterstatus", NULL, "Reserving") < 0 ||
      try_event(s, ext_event_of(s, "DELETED", &a0)) < 0 ||
      try_event(s, ext_event_of(s, "DELETED", &a1)) < 0 ||
      try_ask(s, preempt_at, ext_body_of(s, &high, victims, map), "null") <
        0 ||
      try_ask(s, filter_at, ext_body_of(s, &high, "NodeNames", EXT_EVERYWHERE),
              "\"n0\"") < 0 ||
      try_ask(s, "/", NULL, "paths") < 0 ||
      try_ask(s, "/v1/extender/bind",
              "{\"PodName\":\"high\",\"PodNamespace\":\"test\",\"PodUID\":"
              "\"uid-high\",\"Node\":\"n3\"}",
              "mismatch") < 0)
    return PAI_ENOMEM;
  return try_event(s, ext_list_of(s, &a1, 1));
}

TEST_FAULTS(no_memory_is_survived)
{
  ext_scene s;
  int rc = ext_open(&s, alloc);

  if (rc == PAI_OK)
    rc = live(&s);
  ext_close(&s);
  return rc;
}

/* Each call that fails is done again, and then all is as it would have been. */
TEST(failed_calls_are_done_again)
{
  static const char bind_a0[] =
    "{\"PodName\":\"a0\",\"PodNamespace\":\"test\",\"PodUID\":\"uid-a0\","
    "\"Node\":\"n0\"}";
  static const char status[] = "/v1/inspect/clusterstatus";
  size_t failed = 0;

  for (size_t fail = 1; fail < 400; fail++) {
    test_tally t;
    ext_scene s;

    test_tally_init(&t);
    assert_ok(ext_open(&s, &t.alloc));
    t.fail_at = t.calls + fail;
#define AGAIN(call)      \
  do {                   \
    if ((call) < 0) {    \
      failed++;          \
      t.fail_at = 0;     \
      assert_ok((call)); \
    }                    \
  } while (0)
    AGAIN(try_event(&s, ext_all_nodes));
    AGAIN(try_event(&s, ext_event_of(&s, "ADDED", &a0)));
    AGAIN(try_event(&s, ext_event_of(&s, "ADDED", &high)));
    AGAIN(try_ask(&s, "/v1/extender/filter",
                  ext_body_of(&s, &a0, "NodeNames", EXT_EVERYWHERE),
                  "\"n0\""));
    AGAIN(try_ask(&s, "/v1/extender/bind", bind_a0, "\"Error\":\"\""));
    AGAIN(try_ask(&s, status, NULL, "\"cellState\":\"Used\""));
    AGAIN(try_event(&s, ext_event_of(&s, "DELETED", &a0)));
    AGAIN(try_ask(&s, "/v1/inspect/affinitygroups/", NULL, "null"));
    ext_close(&s);
    assert_int_equal(t.live, 0);
  }
  assert_true(failed > 100 && failed < 399);
}
