/*
 * test_hived_refusals.c - HiveD's extender is told and asked what is wrong
 */
#include "pods.h"

#include <stdio.h>

/* --- what is wrong -------------------------------------------------------- */

TEST_IN(bad_events_change_nothing, ext_scene, s, ext_ready, ext_close)
{
  static const struct {
    const char *json, *part;
    int code;
  } bad[] = {
    { "", "", PAI_EINVAL },
    { "{\"kind\":", "", PAI_EINVAL },
    { "[]", "an event is an object", PAI_EINVAL },
    { "{}", "neither a Node nor a Pod", PAI_EINVAL },
    { "{\"kind\":\"Service\"}", "neither", PAI_EINVAL },
    { "{\"type\":\"SUNG\",\"object\":{}}", "no event 'SUNG'", PAI_EINVAL },
    { "{\"type\":\"ERROR\",\"object\":{\"message\":\"too old\"}}",
      "the watch has ended: too old", PAI_ECANCELED },
    { "{\"kind\":\"Node\",\"metadata\":{}}", "no name", PAI_EINVAL },
    { "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\"}}", "no UID",
      PAI_EINVAL },
    { "{\"kind\":\"Node\",\"metadata\":{\"name\":7}}", "field name",
      PAI_EINVAL },
    { "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\",\"uid\":\"y\"},"
      "\"spec\":{\"containers\":{}}}",
      "field containers", PAI_EINVAL },
    { "{\"kind\":\"NodeList\"}", "no items", PAI_EINVAL },
    { "{\"kind\":\"NodeList\",\"items\":[]"
      ",\"metadata\":{\"continue\":\"x\"}}",
      "only a part", PAI_EINVAL },
    { "{\"kind\":\"NodeList\",\"items\":[" EXT_NODE("n9", "True") ",{}]}",
      "no name", PAI_EINVAL },
    { "{\"kind\":\"PodList\",\"items\":[{}]}", "no UID", PAI_EINVAL },
    { "{\"kind\":\"List\",\"items\":[" EXT_NODE("n1", "False") ",{}]}",
      "neither", PAI_EINVAL },
  };
  pai_hived_answer a;

  ext_tell(s, "ADDED", &a0);
  for (size_t i = 0; i < PAI__LEN(bad); i++)
    ext_expect_failure(s, bad[i].json, bad[i].code, bad[i].part);
  test_event(s->e, "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\"}}");
  a = ext_filter(s, &a0);
  ext_expect_node(&a, "n0");
  assert_int_equal(a.bind, PAI_HIVED_BIND_NOTHING); /* it is still there */
}

/* Of what nobody asks HiveD it knows nothing. */
TEST_IN(other_pods_are_nothing, ext_scene, s, ext_ready, ext_close)
{
  static const char *const limits[] = { "\"0\"", "0", "\"-1\"", "null",
                                        "\"0e9\"" };
  pai_hived_answer a;
  char *at;

  for (size_t i = 0; i < PAI__LEN(limits); i++) {
    char event[1024];

    (void)ext_event_of(s, "ADDED", &a0);
    at = strstr(s->text.data, "enable\":\"1\"");
    assert_non_null(at);
    *at = '\0';
    (void)snprintf(event, sizeof(event), "%senable\":%s%s", s->text.data,
                   limits[i], at + strlen("enable\":\"1\""));
    test_event(s->e, event);
    a = ext_filter(s, &a0);
    ext_expect_body(&a, "does not exist");
  }
  (void)ext_event_of(s, "ADDED", &a0);
  memcpy(strstr(s->text.data, "containers"), "spectators", 10);
  test_event(s->e, pai__buf_text(&s->text));
  a = ext_filter(s, &a0);
  ext_expect_body(&a, "does not exist");
}

/* Bound pods whose annotations are wrong are told of, and others are not held
 * up by them. */
TEST(bad_pods_are_told)
{
  ext_pod pods[4] = { a0, a1, a2, high };
  pai_hived_answer a;
  ext_scene s;

  ext_ready(&s);
  ext_tell(&s, "ADDED", &a2);
  a = ext_filter(&s, &a2);
  a = ext_bind(&s, "a2", "n0");
  pods[2].info = ext_info_of(&a);
  ext_close(&s);
  ext_ready(&s);
  for (int i = 0; i < 3; i++)
    pods[i].node = "n0";
  pods[0].spec = "{virtualCluster: ''}";
  pods[1].info = "[]";
  ext_expect_failure(&s, ext_list_of(&s, pods, 4), PAI_EINVAL,
                     "pod uid-a0(test/a0): Pod annotation hivedscheduler."
                     "microsoft.com/pod-scheduling-spec: VirtualCluster is "
                     "empty");
  a = ext_bind(&s, "a0", "n0");
  ext_expect_body(&a, "does not exist");
  a = ext_bind(&s, "a2", "n0");
  ext_expect_body(&a, "already been bound");
  a = ext_bind(&s, "high", "n0");
  ext_expect_body(&a, "state Waiting");
  ext_expect_failure(&s, ext_event_of(&s, "ADDED", &pods[1]), PAI_EINVAL,
                     "no bind info");
  ext_free_info((char *)(uintptr_t)pods[2].info);
  ext_close(&s);
}

TEST_IN(bad_requests_are_answered, ext_scene, s, ext_ready, ext_close)
{
#define USER "hivedscheduler: User Error: "
  static const struct {
    const char *method, *target, *body, *part;
    int status;
  } bad[] = {
    { "GET", "/v2", NULL, "\"" USER "Path not found: /v2\"", 404 },
    { "GET", "", NULL, "Path not found: ", 404 },
    { "GET", "/v1/extender/filter/", NULL, "not found", 404 },
    { "GET", "/v1/inspect/clusterstatus/", NULL, "not found", 404 },
    { "HEAD", "/v1/inspect/clusterstatus", NULL,
      "NotImplemented: HEAD: /v1/inspect/clusterstatus", 400 },
    { "DELETE", "/v1/inspect/affinitygroups/x", NULL, "NotImplemented: DELETE",
      400 },
    { "GET", "/v1/inspect/affinitygroups/a%2Fb%20c?d=e", NULL,
      "Affinity group a/b c does not exist", 400 },
    { "GET", "/v1/%zz", NULL, "not encoded well", 400 },
    { "GET", "/v1/%0", NULL, "not encoded well", 400 },
    { "GET", "/v1/%00", NULL, "not encoded well", 400 },
    { "GET", "/v1/inspect/clusterstatus/virtualclusters/c", NULL,
      "VC c not found", 400 },
    { "POST", "/v1/extender/filter", NULL,
      "\"Error\":\"Code: 400, Message: " USER
      "Failed to unmarshal web request body to ExtenderArgs: EOF\"",
      200 },
    { "GET", "/v1/extender/filter", "{\"Pod\":", "unexpected EOF", 200 },
    { "POST", "/v1/extender/filter", "{\"Pod\":\"x", "unexpected EOF", 200 },
    { "POST", "/v1/extender/filter", "{]", "expected a key", 200 },
    { "POST", "/v1/extender/filter", "[]", "it is no object", 200 },
    { "POST", "/v1/extender/filter", "{\"Pod\":1}", "field Pod", 200 },
    { "POST", "/v1/extender/filter", "{\"Pod\":{},\"NodeNames\":[1]}",
      "field NodeNames", 200 },
    { "POST", "/v1/extender/filter", "{\"Pod\":{},\"NodeNames\":{}}",
      "field NodeNames", 200 },
    { "POST", "/v1/extender/filter",
      "{\"pod\":{\"metadata\":{\"annotations\":[]}}}", "field annotations",
      200 },
    { "POST", "/v1/extender/filter", "{\"pod\":{}}",
      "[(/)]: filterRoutine: Failed: Pod does not exist", 200 },
    { "POST", "/v1/extender/filter", "null",
      "{\\\"Pod\\\":null,\\\"Nodes\\\":null,\\\"NodeNames\\\":[]}", 200 },
    { "POST", "/v1/extender/bind", "{", "ExtenderBindingArgs: unexpected EOF",
      200 },
    { "POST", "/v1/extender/bind", "{\"PodName\":[]}", "field PodName", 200 },
    { "POST", "/v1/extender/preempt", "{",
      "\"" USER
      "Failed to unmarshal web request body to ExtenderPreemptionArgs: "
      "unexpected EOF\"",
      400 },
    { "POST", "/v1/extender/preempt",
      "{\"Pod\":null,\"nodenametovictims\":{\"n0\": {}}}",
      "\\\"NodeNameToVictims\\\":{\\\"n0\\\":{}},"
      "\\\"NodeNameToMetaVictims\\\":{}}",
      400 },
    { "POST", "/v1/extender/preempt", "{\"Pod\":{}}",
      "[(/)]: preemptRoutine: Failed", 400 },
  };

  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    pai_hived_answer a =
      test_ask(s->e, bad[i].method, bad[i].target, bad[i].body);

    if (a.status != bad[i].status || strstr(a.body, bad[i].part) == NULL)
      fail_msg("%s %s %s: %d %s", bad[i].method, bad[i].target,
               bad[i].body != NULL ? bad[i].body : "", a.status, a.body);
    assert_string_equal(a.content_type, "application/json");
    assert_int_equal(a.body_len, strlen(a.body));
    assert_null(a.location);
  }
}

TEST_IN(slashes_are_asked_for, ext_scene, s, ext_ready, ext_close)
{
  pai_hived_answer a;

  a = test_ask(s->e, "GET", "/v1/inspect/clusterstatus/virtualclusters", NULL);
  assert_int_equal(a.status, 301);
  assert_string_equal(a.location,
                      "/v1/inspect/clusterstatus/virtualclusters/");
  ext_expect_body(&a, "Moved Permanently");
  assert_string_equal(a.content_type, "text/html; charset=utf-8");
  a = test_ask(s->e, "POST", "/v1/inspect/affinitygroups", "{}");
  assert_int_equal(a.status, 301);
  assert_int_equal(a.body_len, 0);
  assert_null(a.content_type);
}

TEST_IN(refusals_are_the_users, ext_scene, s, ext_ready, ext_close)
{
  static const struct {
    const char *spec, *part;
  } bad[] = {
    { "{virtualCluster: z, leafCellNumber: 1}",
      "filterRoutine: Failed: [uid-x(test/x)]: VC z does not exists!" },
    { "{virtualCluster: a, leafCellNumber: 1, leafCellType: H}",
      "leaf cell type H which the whole cluster does not have" },
    { "{virtualCluster: a", "Failed to unmarshal YAML" },
    { "", "Annotation does not exist or is empty" },
  };

  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    ext_pod x = { .name = "x", .spec = bad[i].spec };
    pai_hived_answer a;

    ext_tell(s, "ADDED", &x);
    a = ext_filter(s, &x);
    assert_int_equal(a.status, 200);
    ext_expect_body(&a, "Code: 400");
    ext_expect_body(&a, bad[i].part);
    a = ext_preempt(s, &x);
    assert_int_equal(a.status, 400);
    ext_tell(s, "DELETED", &x);
  }
}

TEST_IN(broken_calls_are_refused, ext_scene, s, ext_ready, ext_close)
{
  pai_hived_extender_options opts = { .struct_size = 1 };
  pai_hived_request q = { .struct_size = sizeof(q), .method = "GET" };
  pai_hived_answer a = { .struct_size = 4 };
  pai_hived_extender *e;
  pai_cluster *plain;
  pai_error *err;

  assert_int_equal(pai_hived_extender_new(&e, NULL, NULL, NULL), PAI_EINVAL);
  assert_fails(pai_hived_extender_new(&e, s->cluster, &opts, &err), err,
               PAI_EINVAL, "struct_size");
  assert_ok(pai_cluster_synthetic(&plain, "nodes:2 gpu:2:G", NULL, NULL));
  assert_int_equal(pai_hived_extender_new(&e, plain, NULL, &err), PAI_ENOTSUP);
  assert_null(e);
  pai_error_free(err);
  pai_cluster_free(plain);
  assert_int_equal(pai_hived_extender_request(s->e, &q, &a, NULL), PAI_EINVAL);
  a.struct_size = sizeof(a);
  assert_int_equal(pai_hived_extender_request(s->e, NULL, &a, NULL),
                   PAI_EINVAL);
  assert_fails(pai_hived_extender_request(s->e, &q, &a, &err), err, PAI_EINVAL,
               "a method and a target");
  assert_int_equal(pai_hived_extender_unbound(s->e, NULL, "", &a, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_hived_extender_event(s->e, NULL, 0, 0, NULL),
                   PAI_EINVAL);
  pai_hived_extender_free(NULL);
}
