/*
 * test_hived_extender.c - pods of a small cluster: told, asked for, bound, gone
 */
#include "extender.h"

#include "base/buf.h"
#include "base/tree.h"
#include "json/json.h"
#include "json/writer.h"

#include <stdio.h>

/* --- a small cluster ------------------------------------------------------ */

/* Two racks of two nodes of two GPUs: a has one rack, b two nodes. */
static const char small[] =
  "forcePodBindThreshold: 2\n"
  "waitingPodSchedulingBlockMilliSec: 250\n"
  "physicalCluster:\n"
  "  cellTypes:\n"
  "    NODE: {childCellType: G, childCellNumber: 2, isNodeLevel: true}\n"
  "    RACK: {childCellType: NODE, childCellNumber: 2}\n"
  "  physicalCells:\n"
  "  - cellType: RACK\n"
  "    cellChildren: [{cellAddress: n0}, {cellAddress: n1}]\n"
  "  - cellType: RACK\n"
  "    cellChildren: [{cellAddress: n2}, {cellAddress: n3}]\n"
  "virtualClusters:\n"
  "  a: {virtualCells: [{cellType: RACK, cellNumber: 1}]}\n"
  "  b: {virtualCells: [{cellType: RACK.NODE, cellNumber: 2}]}\n";

#define NODE(name, ready)                                            \
  "{\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                \
  "\"},\"status\":{\"conditions\":[{\"type\":\"Memory\",\"status\":" \
  "\"False\"},{\"type\":\"Ready\",\"status\":\"" ready "\"}]}}"

static const char all_nodes[] =
  "{\"kind\":\"NodeList\",\"items\":[" NODE("n0", "True") "," NODE(
    "n1", "True") "," NODE("n2", "True") "," NODE("n3", "True") "]}";

typedef struct scene {
  pai_cluster *cluster;
  pai_hived_extender *e;
  pai__buf text;
} scene;

static int open_scene(scene *s, const pai_alloc *alloc)
{
  pai_hived_extender_options opts = PAI_HIVED_EXTENDER_OPTIONS_INIT;
  int rc;

  if (pai_cluster_parse(&s->cluster, small, strlen(small), NULL, NULL) < 0)
    fail();
  pai__buf_init(&s->text, &pai__libc_alloc);
  opts.alloc = alloc;
  rc = pai_hived_extender_new(&s->e, s->cluster, &opts, NULL);
  assert_true((rc < 0) == (s->e == NULL));
  return rc;
}

static void open_ready(scene *s)
{
  assert_int_equal(open_scene(s, NULL), PAI_OK);
  test_event(s->e, all_nodes);
}

static void close_scene(scene *s)
{
  pai_hived_extender_free(s->e);
  pai_cluster_free(s->cluster);
  pai__buf_dispose(&s->text);
}

/* --- pods ----------------------------------------------------------------- */

typedef struct pod {
  const char *name; /* the UID is "uid-" and the name */
  const char *spec;
  const char *info, *node, *phase; /* NULL: none */
} pod;

#define GANG(vc, prio, group, pods)                   \
  "{virtualCluster: " vc ", priority: " prio          \
  ", leafCellNumber: 2, affinityGroup: {name: " group \
  ", members: [{podNumber: " pods ", leafCellNumber: 2}]}}"

static void put(pai__json_writer *w, const char *key, const char *s)
{
  pai__json_key(w, key, strlen(key));
  if (s != NULL)
    pai__json_text(w, s, strlen(s));
}

static void open_object(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
  pai__json_begin_object(w);
}

static void put_meta(const pod *p, pai__json_writer *w)
{
  char uid[64];

  (void)snprintf(uid, sizeof(uid), "uid-%s", p->name);
  put(w, "kind", "Pod");
  open_object(w, "metadata");
  put(w, "name", p->name);
  put(w, "namespace", "test");
  put(w, "uid", uid);
  open_object(w, "annotations");
  put(w, "hivedscheduler.microsoft.com/pod-scheduling-spec", p->spec);
  if (p->info != NULL)
    put(w, "hivedscheduler.microsoft.com/pod-bind-info", p->info);
  pai__json_end_object(w);
  pai__json_end_object(w);
}

static void put_pod(const pod *p, pai__json_writer *w)
{
  pai__json_begin_object(w);
  put_meta(p, w);
  open_object(w, "spec");
  if (p->node != NULL)
    put(w, "nodeName", p->node);
  put(w, "containers", NULL);
  pai__json_begin_array(w);
  pai__json_begin_object(w);
  open_object(w, "resources");
  open_object(w, "limits");
  put(w, "hivedscheduler.microsoft.com/pod-scheduling-enable", "1");
  pai__json_end_object(w);
  pai__json_end_object(w);
  pai__json_end_object(w);
  pai__json_end_array(w);
  pai__json_end_object(w);
  if (p->phase != NULL) {
    open_object(w, "status");
    put(w, "phase", p->phase);
    pai__json_end_object(w);
  }
  pai__json_end_object(w);
}

/* The text of an event, or of a list of all pods. */
static const char *event_of(scene *s, const char *type, const pod *p)
{
  pai__json_writer w;

  pai__buf_clear(&s->text);
  pai__json_writer_init(&w, &s->text, false);
  pai__json_begin_object(&w);
  put(&w, "type", type);
  put(&w, "object", NULL);
  put_pod(p, &w);
  pai__json_end_object(&w);
  assert_int_equal(pai__json_finish(&w), PAI_OK);
  return pai__buf_text(&s->text);
}

static const char *list_of(scene *s, const pod *pods, size_t n)
{
  pai__json_writer w;

  pai__buf_clear(&s->text);
  pai__json_writer_init(&w, &s->text, false);
  pai__json_begin_object(&w);
  put(&w, "kind", "PodList");
  put(&w, "items", NULL);
  pai__json_begin_array(&w);
  for (size_t i = 0; i < n; i++)
    put_pod(&pods[i], &w);
  pai__json_end_array(&w);
  pai__json_end_object(&w);
  assert_int_equal(pai__json_finish(&w), PAI_OK);
  return pai__buf_text(&s->text);
}

static void tell(scene *s, const char *type, const pod *p)
{
  test_event(s->e, event_of(s, type, p));
}

static void expect_failure(scene *s, const char *json, int code,
                           const char *part)
{
  pai_error *err;
  int rc = pai_hived_extender_event(s->e, json, strlen(json), TEST_NOW, &err);

  if (rc != code)
    fail_msg("%s: %d, not %d", json, rc, code);
  test_expect_error(err, code, part);
}

/* A request for a pod; nodes is JSON. */
static const char *body_of(scene *s, const pod *p, const char *key,
                           const char *nodes)
{
  pai__json_writer w;

  pai__buf_clear(&s->text);
  pai__json_writer_init(&w, &s->text, false);
  pai__json_begin_object(&w);
  put(&w, "Pod", NULL);
  put_pod(p, &w);
  put(&w, key, NULL);
  pai__json_ready(&w, nodes, strlen(nodes));
  pai__json_end_object(&w);
  assert_int_equal(pai__json_finish(&w), PAI_OK);
  return pai__buf_text(&s->text);
}

#define EVERYWHERE "[\"n0\",\"n1\",\"n2\",\"n3\"]"

static pai_hived_answer filter(scene *s, const pod *p)
{
  return test_ask(s->e, "POST", "/v1/extender/filter",
                  body_of(s, p, "NodeNames", EVERYWHERE));
}

static pai_hived_answer preempt(scene *s, const pod *p)
{
  return test_ask(s->e, "POST", "/v1/extender/preempt",
                  body_of(s, p, "NodeNameToMetaVictims",
                          "{\"n0\":{},\"n1\":{},\"n2\":{},\"n3\":{}}"));
}

static pai_hived_answer bind(scene *s, const char *name, const char *node)
{
  char body[256];

  (void)snprintf(body, sizeof(body),
                 "{\"PodName\":\"%s\",\"PodNamespace\":\"test\",\"PodUID\":"
                 "\"uid-%s\",\"Node\":\"%s\"}",
                 name, name, node);
  return test_ask(s->e, "POST", "/v1/extender/bind", body);
}

static void expect_body(const pai_hived_answer *a, const char *part)
{
  if (strstr(a->body, part) == NULL)
    fail_msg("'%s' is not in %s", part, a->body);
}

static void expect_node(const pai_hived_answer *a, const char *node)
{
  char part[64];

  (void)snprintf(part, sizeof(part), "\"NodeNames\":[\"%s\"]", node);
  expect_body(a, part);
}

static void expect_shown(scene *s, const char *target, const char *part)
{
  pai_hived_answer a = test_ask(s->e, "GET", target, NULL);

  assert_int_equal(a.status, 200);
  expect_body(&a, part);
}

/* What the binding says of the pod. */
static char *info_of(const pai_hived_answer *a)
{
  pai__tree *t;
  pai__node n;
  char *info;

  assert_int_equal(
    pai__json_parse(&t, a->bind_body, a->bind_body_len, NULL, NULL), PAI_OK);
  n = pai__tree_get(t, pai__tree_get(t, 0, "metadata"), "annotations");
  n = pai__tree_get(t, n, "hivedscheduler.microsoft.com/pod-bind-info");
  info = pai__strdup(&pai__libc_alloc, pai__tree_str(t, n, NULL));
  pai__tree_free(t);
  return info;
}

static void free_info(char *info)
{
  pai__strfree(&pai__libc_alloc, info);
}

/* --- the life of pods ----------------------------------------------------- */

static const pod a0 = { .name = "a0", .spec = GANG("a", "0", "ga", "2") };
static const pod a1 = { .name = "a1", .spec = GANG("a", "0", "ga", "2") };
static const pod a2 = { .name = "a2", .spec = GANG("a", "0", "gb", "1") };
static const pod high = { .name = "high", .spec = GANG("a", "5", "gh", "1") };

static void pods_are_bound_and_end(void **state)
{
  pod bound = a0;
  pai_hived_answer a;
  scene s;

  (void)state;
  open_ready(&s);
  a = filter(&s, &a0);
  expect_body(&a, "[uid-a0(test/a0)]: filterRoutine: Failed: Pod does not");
  tell(&s, "ADDED", &a0);
  a = filter(&s, &a0);
  assert_int_equal(a.status, 200);
  assert_int_equal(a.hold_ms, 0);
  assert_int_equal(a.bind, PAI_HIVED_BIND_NOTHING);
  expect_node(&a, "n0");
  for (int i = 0; i < 2; i++) { /* as often as one likes */
    a = bind(&s, "a0", "n0");
    assert_string_equal(a.body, "{\"Error\":\"\"}");
    assert_int_equal(a.bind, PAI_HIVED_BIND_FIRST);
    assert_string_equal(a.bind_uid, "uid-a0");
  }
  bound.node = "n0";
  tell(&s, "MODIFIED", &bound);
  tell(&s, "MODIFIED", &bound);
  a = bind(&s, "a0", "n0");
  expect_body(&a, "already been bound to node n0");
  a = preempt(&s, &a0);
  assert_int_equal(a.status, 400);
  expect_body(&a, "preemptRoutine: Failed: Pod has already been bound");
  bound.phase = "Succeeded";
  tell(&s, "MODIFIED", &bound);
  a = test_ask(s.e, "GET", "/v1/inspect/affinitygroups/", NULL);
  assert_string_equal(a.body, "{\"items\":null}");
  a = bind(&s, "a0", "n0");
  expect_body(&a, "does not exist");
  close_scene(&s);
}

/* Who waits is answered later, and may take what others leave. */
static void pods_wait(void **state)
{
  pai_hived_answer a;
  scene s;

  (void)state;
  open_ready(&s);
  tell(&s, "ADDED", &a0);
  tell(&s, "ADDED", &a1);
  tell(&s, "ADDED", &a2);
  a = filter(&s, &a0);
  a = filter(&s, &a1);
  expect_node(&a, "n1");
  a = filter(&s, &a2);
  assert_int_equal(a.hold_ms, 250);
  expect_body(&a, "\"hivedscheduler\":\"Pod is waiting for preemptible or "
                  "free resource to appear: insufficient capacity when "
                  "scheduling in VC a\"");
  a = bind(&s, "a2", "n0");
  expect_body(&a, "current scheduling state Waiting, received node n0");
  tell(&s, "DELETED", &a0);
  a = filter(&s, &a2); /* all of the gang has to end */
  assert_int_equal(a.hold_ms, 250);
  tell(&s, "DELETED", &a1);
  a = filter(&s, &a2);
  expect_body(&a, "\"NodeNames\":[\"n");
  close_scene(&s);
}

/* Whoever should bind a pod and does not is helped. */
static void pods_are_bound_by_force(void **state)
{
  static const char on[] =
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n0\"}}";
  pai_hived_answer a;
  char event[256];
  scene s;

  (void)state;
  open_ready(&s);
  tell(&s, "ADDED", &a0);
  a = filter(&s, &a0);
  a = filter(&s, &a0);
  assert_int_equal(a.bind, PAI_HIVED_BIND_NOTHING);
  a = filter(&s, &a0); /* the second time again */
  assert_int_equal(a.bind, PAI_HIVED_BIND_ALSO);
  assert_string_equal(a.bind_path, "/api/v1/namespaces/test/pods/a0/binding");
  expect_node(&a, "n0");
  tell(&s, "ADDED", &a1);
  a = test_ask(s.e, "POST", "/v1/extender/filter",
               body_of(&s, &a1, "NodeNames", "[\"n0\"]"));
  expect_node(&a, "n1"); /* which is not among them */
  assert_int_equal(a.bind, PAI_HIVED_BIND_ALSO);
  (void)snprintf(event, sizeof(event), "{\"type\":\"DELETED\",\"object\":%s}",
                 on);
  test_event(s.e, event);
  tell(&s, "DELETED", &a0);
  tell(&s, "ADDED", &a0);
  a = filter(&s, &a0); /* its node is not there any more */
  expect_node(&a, "n0");
  assert_int_equal(a.bind, PAI_HIVED_BIND_ALSO);
  assert_true(pai_hived_extender_unbound(s.e, a.bind_uid, "no <node> \"n0\"",
                                         &a, NULL) == PAI_OK);
  assert_string_equal(a.body,
                      "{\"Error\":\"Code: 500, Message: hivedscheduler: "
                      "Platform Error: [uid-a0(test/a0)]: bindRoutine: "
                      "Failed: Failed to bind Pod: no <node> \\\"n0\\\"\"}");
  assert_int_equal(a.bind, PAI_HIVED_BIND_NOTHING);
  close_scene(&s);
}

static void pods_are_preempted(void **state)
{
  pod other = high;
  pai_hived_answer a;
  scene s;

  (void)state;
  open_ready(&s);
  tell(&s, "ADDED", &a0);
  tell(&s, "ADDED", &a1);
  tell(&s, "ADDED", &high);
  a = filter(&s, &a1);
  a = filter(&s, &a0);
  a = filter(&s, &high);
  expect_body(&a, "\"FailedNodes\":{\"n0\":\"node(n0) has preemptible Pods: "
                  "uid-a1(test/a1)\"}");
  a = preempt(&s, &high);
  assert_string_equal(a.body,
                      "{\"NodeNameToMetaVictims\":{\"n0\":{\"Pods\":[{\"UID\":"
                      "\"uid-a1\"}],\"NumPDBViolations\":0}}}");
  a = bind(&s, "high", "n0");
  expect_body(&a, "state Preempting");
  expect_shown(&s, "/v1/inspect/affinitygroups/gh",
               "\"preemptingPods\":[\"uid-high\"]");
  expect_shown(&s, "/v1/inspect/affinitygroups/ga", "BeingPreempted");
  /* Now it is of another group, which waits in its place. */
  other.spec = GANG("a", "5", "gi", "1");
  a = preempt(&s, &other);
  expect_shown(&s, "/v1/inspect/affinitygroups/gi",
               "\"preemptingPods\":[\"uid-high\"]");
  a = test_ask(s.e, "GET", "/v1/inspect/affinitygroups/gh", NULL);
  assert_int_equal(a.status, 400);
  tell(&s, "DELETED", &high);
  expect_shown(&s, "/v1/inspect/affinitygroups/ga", "\"state\":\"Allocated\"");
  close_scene(&s);
}

/* A node's state when that of its GPUs differs. */
static void states_are_joined(void **state)
{
  static const pod one = { .name = "one",
                           .spec = "{virtualCluster: b, leafCellNumber: 1}" };
  pai_hived_answer a;
  scene s;

  (void)state;
  open_ready(&s);
  tell(&s, "ADDED", &one);
  a = filter(&s, &one);
  expect_body(&a, "\"NodeNames\":[\"n");
  expect_shown(
    &s, "/v1/inspect/clusterstatus/virtualclusters/b",
    "[{\"leafCellType\":\"G\",\"cellType\":\"NODE\",\"isNodeLevel\":"
    "true,\"cellAddress\":\"b/0\",\"cellState\":\"Used\"");
  expect_shown(&s, "/v1/inspect/affinitygroups/test/one",
               "\"virtualPlacement\":{\"b/0\":[\"b/0/0\"]}");
  close_scene(&s);
}

/* Nodes that are not ready, or closed for pods, or gone, are sick. */
static void nodes_are_sick_and_well(void **state)
{
  static const char *const sick[] = {
    "{\"type\":\"MODIFIED\",\"object\":" NODE("n0", "False") "}",
    "{\"type\":\"MODIFIED\",\"object\":" NODE("n0", "Unknown") "}",
    "{\"type\":\"DELETED\",\"object\":" NODE("n0", "True") "}",
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n0\"}}",
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n0\"},\"spec\":"
    "{\"unschedulable\":true},\"status\":{\"conditions\":[{\"type\":"
    "\"Ready\",\"status\":\"True\"}]}}",
    "{\"kind\":\"NodeList\",\"items\":[" NODE("n1", "True") "]}",
  };
  static const char physical[] = "/v1/inspect/clusterstatus/physicalcluster";
#define N0 \
  "\"cellAddress\":\"0/n0\",\"cellState\":\"Free\",\"cellHealthiness\":"
  scene s;

  (void)state;
  open_ready(&s);
  for (size_t i = 0; i < PAI__LEN(sick); i++) {
    test_event(s.e, sick[i]);
    expect_shown(&s, physical, N0 "\"Bad\"");
    test_event(s.e, all_nodes);
    expect_shown(&s, physical, N0 "\"Healthy\"");
  }
  close_scene(&s);
}

/* --- restarts ------------------------------------------------------------- */

/* Pods in another order, and an opportunistic one. */
static void restarts_are_seen_through(void **state)
{
  static const pod opp = { .name = "o0", .spec = GANG("b", "-1", "go", "1") };
  pod pods[3] = { a1, opp, a0 };
  const char *nodes[3] = { "n1", "n2", "n0" };
  char *infos[3], *before;
  pai_hived_answer a;
  scene s;

  (void)state;
  open_ready(&s);
  for (int i = 2; i >= 0; i--) {
    tell(&s, "ADDED", &pods[i]);
    a = filter(&s, &pods[i]);
    expect_node(&a, nodes[i]);
    a = bind(&s, pods[i].name, nodes[i]);
    pods[i].info = infos[i] = info_of(&a);
    pods[i].node = nodes[i];
  }
  assert_non_null(strstr(infos[1], "    preassignedCellTypes:\n    - \"\"\n"));
  expect_shown(&s, "/v1/inspect/clusterstatus/virtualclusters/b",
               "\"cellAddress\":\"1/n2/0-opp\"");
  a = test_ask(s.e, "GET", "/v1/inspect/affinitygroups/", NULL);
  before = pai__strdup(&pai__libc_alloc, a.body);
  close_scene(&s);

  open_ready(&s);
  test_event(s.e, list_of(&s, pods, 3));
  expect_shown(&s, "/v1/inspect/affinitygroups/", before);
  test_event(s.e, list_of(&s, pods, 3)); /* again: nothing changes */
  expect_shown(&s, "/v1/inspect/affinitygroups/", before);
  test_event(s.e, list_of(&s, pods + 1, 1)); /* the others are gone */
  a = test_ask(s.e, "GET", "/v1/inspect/affinitygroups/ga", NULL);
  assert_int_equal(a.status, 400);
  expect_shown(&s, "/v1/inspect/affinitygroups/go", "uid-o0");
  close_scene(&s);
  pai__strfree(&pai__libc_alloc, before);
  for (int i = 0; i < 3; i++)
    free_info(infos[i]);
}

/* Others are on its cells by now: they have them. */
static void cells_are_given_once(void **state)
{
  pod first = a2, second = high, again = a2;
  pai_hived_answer a;
  scene s;

  (void)state;
  open_ready(&s);
  tell(&s, "ADDED", &first);
  a = filter(&s, &first);
  a = bind(&s, first.name, "n0");
  first.info = second.info = info_of(&a);
  first.node = second.node = "n0";
  tell(&s, "MODIFIED", &first);
  expect_failure(&s, event_of(&s, "ADDED", &second), PAI_EEXISTS,
                 "uid-high(test/high) on node n0");
  expect_shown(&s, "/v1/inspect/affinitygroups/gb", "uid-a2");
  /* A list in which it has taken the place of the first. */
  test_event(s.e, list_of(&s, &second, 1));
  expect_shown(&s, "/v1/inspect/affinitygroups/gh", "uid-high");
  /* The same name, and another UID. */
  again = second;
  again.info = again.node = NULL;
  (void)event_of(&s, "ADDED", &again);
  memcpy(strstr(s.text.data, "uid-high"), "new", 3);
  test_event(s.e, pai__buf_text(&s.text));
  a = test_ask(s.e, "GET", "/v1/inspect/affinitygroups/gh", NULL);
  assert_int_equal(a.status, 400);
  a = bind(&s, "high", "n0");
  expect_body(&a, "does not exist");
  free_info((char *)(uintptr_t)first.info);
  close_scene(&s);
}

/* --- what is wrong -------------------------------------------------------- */

static void bad_events_change_nothing(void **state)
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
    { "{\"kind\":\"NodeList\",\"items\":[" NODE("n9", "True") ",{}]}",
      "no name", PAI_EINVAL },
    { "{\"kind\":\"PodList\",\"items\":[{}]}", "no UID", PAI_EINVAL },
    { "{\"kind\":\"List\",\"items\":[" NODE("n1", "False") ",{}]}", "neither",
      PAI_EINVAL },
  };
  pai_hived_answer a;
  scene s;

  (void)state;
  open_ready(&s);
  tell(&s, "ADDED", &a0);
  for (size_t i = 0; i < PAI__LEN(bad); i++)
    expect_failure(&s, bad[i].json, bad[i].code, bad[i].part);
  test_event(s.e, "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\"}}");
  a = filter(&s, &a0);
  expect_node(&a, "n0");
  assert_int_equal(a.bind, PAI_HIVED_BIND_NOTHING); /* it is still there */
  close_scene(&s);
}

/* Of what nobody asks HiveD it knows nothing. */
static void other_pods_are_nothing(void **state)
{
  static const char *const limits[] = { "\"0\"", "0", "\"-1\"", "null",
                                        "\"0e9\"" };
  pai_hived_answer a;
  char *at;
  scene s;

  (void)state;
  open_ready(&s);
  for (size_t i = 0; i < PAI__LEN(limits); i++) {
    char event[1024];

    (void)event_of(&s, "ADDED", &a0);
    at = strstr(s.text.data, "enable\":\"1\"");
    assert_non_null(at);
    *at = '\0';
    (void)snprintf(event, sizeof(event), "%senable\":%s%s", s.text.data,
                   limits[i], at + strlen("enable\":\"1\""));
    test_event(s.e, event);
    a = filter(&s, &a0);
    expect_body(&a, "does not exist");
  }
  (void)event_of(&s, "ADDED", &a0);
  memcpy(strstr(s.text.data, "containers"), "spectators", 10);
  test_event(s.e, pai__buf_text(&s.text));
  a = filter(&s, &a0);
  expect_body(&a, "does not exist");
  close_scene(&s);
}

/* Bound pods whose annotations are wrong are told of, and others are not held
 * up by them. */
static void bad_pods_are_told(void **state)
{
  pod pods[4] = { a0, a1, a2, high };
  pai_hived_answer a;
  scene s;

  (void)state;
  open_ready(&s);
  tell(&s, "ADDED", &a2);
  a = filter(&s, &a2);
  a = bind(&s, "a2", "n0");
  pods[2].info = info_of(&a);
  close_scene(&s);
  open_ready(&s);
  for (int i = 0; i < 3; i++)
    pods[i].node = "n0";
  pods[0].spec = "{virtualCluster: ''}";
  pods[1].info = "[]";
  expect_failure(&s, list_of(&s, pods, 4), PAI_EINVAL,
                 "pod uid-a0(test/a0): Pod annotation hivedscheduler."
                 "microsoft.com/pod-scheduling-spec: VirtualCluster is "
                 "empty");
  a = bind(&s, "a0", "n0");
  expect_body(&a, "does not exist");
  a = bind(&s, "a2", "n0");
  expect_body(&a, "already been bound");
  a = bind(&s, "high", "n0");
  expect_body(&a, "state Waiting");
  expect_failure(&s, event_of(&s, "ADDED", &pods[1]), PAI_EINVAL,
                 "no bind info");
  free_info((char *)(uintptr_t)pods[2].info);
  close_scene(&s);
}

static void bad_requests_are_answered(void **state)
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
  scene s;

  (void)state;
  open_ready(&s);
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    pai_hived_answer a =
      test_ask(s.e, bad[i].method, bad[i].target, bad[i].body);

    if (a.status != bad[i].status || strstr(a.body, bad[i].part) == NULL)
      fail_msg("%s %s %s: %d %s", bad[i].method, bad[i].target,
               bad[i].body != NULL ? bad[i].body : "", a.status, a.body);
    assert_string_equal(a.content_type, "application/json");
    assert_int_equal(a.body_len, strlen(a.body));
    assert_null(a.location);
  }
  close_scene(&s);
}

static void slashes_are_asked_for(void **state)
{
  pai_hived_answer a;
  scene s;

  (void)state;
  open_ready(&s);
  a = test_ask(s.e, "GET", "/v1/inspect/clusterstatus/virtualclusters", NULL);
  assert_int_equal(a.status, 301);
  assert_string_equal(a.location,
                      "/v1/inspect/clusterstatus/virtualclusters/");
  expect_body(&a, "Moved Permanently");
  assert_string_equal(a.content_type, "text/html; charset=utf-8");
  a = test_ask(s.e, "POST", "/v1/inspect/affinitygroups", "{}");
  assert_int_equal(a.status, 301);
  assert_int_equal(a.body_len, 0);
  assert_null(a.content_type);
  close_scene(&s);
}

static void refusals_are_the_users(void **state)
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
  scene s;

  (void)state;
  open_ready(&s);
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    pod x = { .name = "x", .spec = bad[i].spec };
    pai_hived_answer a;

    tell(&s, "ADDED", &x);
    a = filter(&s, &x);
    assert_int_equal(a.status, 200);
    expect_body(&a, "Code: 400");
    expect_body(&a, bad[i].part);
    a = preempt(&s, &x);
    assert_int_equal(a.status, 400);
    tell(&s, "DELETED", &x);
  }
  close_scene(&s);
}

static void broken_calls_are_refused(void **state)
{
  pai_hived_extender_options opts = { .struct_size = 1 };
  pai_hived_request q = { .struct_size = sizeof(q), .method = "GET" };
  pai_hived_answer a = { .struct_size = 4 };
  pai_hived_extender *e;
  pai_cluster *plain;
  pai_error *err;
  scene s;

  (void)state;
  open_ready(&s);
  assert_int_equal(pai_hived_extender_new(&e, NULL, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_hived_extender_new(&e, s.cluster, &opts, &err),
                   PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "struct_size");
  assert_int_equal(
    pai_cluster_synthetic(&plain, "nodes:2 gpu:2:G", NULL, NULL), PAI_OK);
  assert_int_equal(pai_hived_extender_new(&e, plain, NULL, &err), PAI_ENOTSUP);
  assert_null(e);
  pai_error_free(err);
  pai_cluster_free(plain);
  assert_int_equal(pai_hived_extender_request(s.e, &q, &a, NULL), PAI_EINVAL);
  a.struct_size = sizeof(a);
  assert_int_equal(pai_hived_extender_request(s.e, NULL, &a, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_hived_extender_request(s.e, &q, &a, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "a method and a target");
  assert_int_equal(pai_hived_extender_unbound(s.e, NULL, "", &a, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_hived_extender_event(s.e, NULL, 0, 0, NULL),
                   PAI_EINVAL);
  pai_hived_extender_free(NULL);
  close_scene(&s);
}

/* --- without memory ------------------------------------------------------- */

/* A call that may fail once; then it is done again. */
static int try_event(scene *s, const char *json)
{
  int rc = pai_hived_extender_event(s->e, json, strlen(json), TEST_NOW, NULL);

  assert_true(rc == PAI_OK || rc == PAI_ENOMEM);
  return rc;
}

static int try_ask(scene *s, const char *target, const char *body,
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

static int live(scene *s)
{
  static const char groups[] = "/v1/inspect/affinitygroups/";
  static const char filter_at[] = "/v1/extender/filter";
  static const char preempt_at[] = "/v1/extender/preempt";
  static const char victims[] = "NodeNameToMetaVictims";
  static const char map[] = "{\"n0\":{},\"n1\":{},\"n2\":{},\"n3\":{}}";

  if (try_event(s, all_nodes) < 0 ||
      try_event(s, event_of(s, "ADDED", &a0)) < 0 ||
      try_event(s, event_of(s, "ADDED", &a1)) < 0 ||
      try_event(s, event_of(s, "ADDED", &high)) < 0 ||
      try_ask(s, filter_at, body_of(s, &a0, "NodeNames", EVERYWHERE),
              "\"n0\"") < 0 ||
      try_ask(s, filter_at, body_of(s, &a1, "NodeNames", "[]"), "\"n1\"") <
        0 ||
      try_ask(s, filter_at, body_of(s, &high, "NodeNames", EVERYWHERE),
              "preemptible Pods") < 0 ||
      try_ask(s, preempt_at, body_of(s, &high, victims, map), "uid-a0") < 0 ||
      try_ask(s, groups, NULL, "uid-high") < 0 ||
      try_ask(s, "/v1/inspect/clusterstatus", NULL, "Reserving") < 0 ||
      try_event(s, event_of(s, "DELETED", &a0)) < 0 ||
      try_event(s, event_of(s, "DELETED", &a1)) < 0 ||
      try_ask(s, preempt_at, body_of(s, &high, victims, map), "null") < 0 ||
      try_ask(s, filter_at, body_of(s, &high, "NodeNames", EVERYWHERE),
              "\"n0\"") < 0 ||
      try_ask(s, "/", NULL, "paths") < 0 ||
      try_ask(s, "/v1/extender/bind",
              "{\"PodName\":\"high\",\"PodNamespace\":\"test\",\"PodUID\":"
              "\"uid-high\",\"Node\":\"n3\"}",
              "mismatch") < 0)
    return PAI_ENOMEM;
  return try_event(s, list_of(s, &a1, 1));
}

static int live_with(const pai_alloc *alloc, void *user_data)
{
  scene s;
  int rc = open_scene(&s, alloc);

  (void)user_data;
  if (rc == PAI_OK)
    rc = live(&s);
  close_scene(&s);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(live_with, NULL);
}

/* Each call that fails is done again, and then all is as it would have been. */
static void failed_calls_are_done_again(void **state)
{
  static const char bind_a0[] =
    "{\"PodName\":\"a0\",\"PodNamespace\":\"test\",\"PodUID\":\"uid-a0\","
    "\"Node\":\"n0\"}";
  static const char status[] = "/v1/inspect/clusterstatus";
  size_t failed = 0;

  (void)state;
  for (size_t fail = 1; fail < 400; fail++) {
    test_tally t;
    scene s;

    test_tally_init(&t);
    assert_int_equal(open_scene(&s, &t.alloc), PAI_OK);
    t.fail_at = t.calls + fail;
#define AGAIN(call)                     \
  do {                                  \
    if ((call) < 0) {                   \
      failed++;                         \
      t.fail_at = 0;                    \
      assert_int_equal((call), PAI_OK); \
    }                                   \
  } while (0)
    AGAIN(try_event(&s, all_nodes));
    AGAIN(try_event(&s, event_of(&s, "ADDED", &a0)));
    AGAIN(try_event(&s, event_of(&s, "ADDED", &high)));
    AGAIN(try_ask(&s, "/v1/extender/filter",
                  body_of(&s, &a0, "NodeNames", EVERYWHERE), "\"n0\""));
    AGAIN(try_ask(&s, "/v1/extender/bind", bind_a0, "\"Error\":\"\""));
    AGAIN(try_ask(&s, status, NULL, "\"cellState\":\"Used\""));
    AGAIN(try_event(&s, event_of(&s, "DELETED", &a0)));
    AGAIN(try_ask(&s, "/v1/inspect/affinitygroups/", NULL, "null"));
    close_scene(&s);
    assert_int_equal(t.live, 0);
  }
  assert_true(failed > 100 && failed < 399);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(pods_are_bound_and_end),
    cmocka_unit_test(pods_wait),
    cmocka_unit_test(pods_are_bound_by_force),
    cmocka_unit_test(pods_are_preempted),
    cmocka_unit_test(states_are_joined),
    cmocka_unit_test(nodes_are_sick_and_well),
    cmocka_unit_test(restarts_are_seen_through),
    cmocka_unit_test(cells_are_given_once),
    cmocka_unit_test(bad_events_change_nothing),
    cmocka_unit_test(other_pods_are_nothing),
    cmocka_unit_test(bad_pods_are_told),
    cmocka_unit_test(bad_requests_are_answered),
    cmocka_unit_test(slashes_are_asked_for),
    cmocka_unit_test(refusals_are_the_users),
    cmocka_unit_test(broken_calls_are_refused),
    cmocka_unit_test(no_memory_is_survived),
    cmocka_unit_test(failed_calls_are_done_again),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
