/*
 * test_hived_transcript.c - what was recorded of HiveD's own web server, asked
 * again
 *
 * The records say only in words what happened to pods and nodes meanwhile.
 */
#include "extender.h"
#include "rows.h"

#include "base/buf.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct record {
  const pai__tree *t;
  pai__node n;
} record;

static const char *text_of(record r, const char *key)
{
  pai__node v = pai__tree_get(r.t, r.n, key);

  return v != PAI__NO_NODE && pai__tree_type(r.t, v) == PAI__STRING
           ? pai__tree_str(r.t, v, NULL)
           : "";
}

/* The JSON of a value, as it was recorded. */
static const char *slice(record r, const char *key, size_t *len)
{
  pai__node v = pai__tree_get(r.t, r.n, key);

  *len = 0;
  if (v == PAI__NO_NODE)
    return NULL;
  *len = r.t->nodes[v].end - r.t->nodes[v].start;
  return r.t->text + r.t->nodes[v].start;
}

/* --- what happened -------------------------------------------------------- */

static void tell_node(pai_hived_extender *e, const char *name, bool ready)
{
  char json[512];

  (void)snprintf(json, sizeof(json),
                 "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Node\","
                 "\"metadata\":{\"name\":\"%s\"},\"spec\":{},\"status\":"
                 "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}}",
                 name, ready ? "True" : "False");
  test_event(e, json);
}

static void tell_pod(pai_hived_extender *e, const char *type, record pod)
{
  pai__buf b = test_buf();

  pai__buf_printf(&b, "{\"type\":\"%s\",\"object\":", type);
  pai__buf_add(&b, pod.t->text + pod.t->nodes[pod.n].start,
               pod.t->nodes[pod.n].end - pod.t->nodes[pod.n].start);
  pai__buf_char(&b, '}');
  test_event(e, pai__buf_text(&b));
  pai__buf_dispose(&b);
}

/* The pod of a request, or false. */
static bool pod_of(record r, record *pod)
{
  pai__node n = pai__tree_get(r.t, r.n, "request");

  if (n == PAI__NO_NODE)
    return false;
  pod->t = r.t;
  pod->n = pai__tree_get(r.t, n, "Pod");
  return pod->n != PAI__NO_NODE;
}

static const char *name_of(record pod)
{
  record meta = { pod.t, pai__tree_get(pod.t, pod.n, "metadata") };

  return text_of(meta, "name");
}

/* "pod a-0 created": those that are asked for until more are created. */
static void create(pai_hived_extender *e, pai__tree_walk rest)
{
  record r = { rest.tree, 0 }, pod;

  while ((r.n = pai__tree_next(&rest)) != PAI__NO_NODE &&
         strstr(text_of(r, "event"), "created") == NULL)
    if (pod_of(r, &pod))
      tell_pod(e, "ADDED", pod);
}

static void delete_pod(pai_hived_extender *e, const pai__tree *t,
                       const char *name)
{
  pai__tree_walk walk = pai__tree_iter(t, 0);
  record r = { t, 0 }, pod;

  while ((r.n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pod_of(r, &pod) && strcmp(name_of(pod), name) == 0) {
      tell_pod(e, "DELETED", pod);
      return;
    }
  fail_msg("nobody asks for pod %s", name);
}

/* As the API server does it: the annotations of the binding, and a node. */
static void bind_pod(pai_hived_extender *e, const char *binding)
{
  pai__tree *t;
  record meta, target;
  pai__buf b = test_buf();
  size_t len;
  const char *notes;

  assert_ok(pai__json_parse(&t, binding, strlen(binding), NULL, NULL));
  meta = (record){ t, pai__tree_get(t, 0, "metadata") };
  target = (record){ t, pai__tree_get(t, 0, "target") };
  notes = slice(meta, "annotations", &len);
  pai__buf_printf(
    &b,
    "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"metadata\":"
    "{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"%s\",\"annotations\":"
    "%.*s},\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"resources\":"
    "{\"limits\":{\"hivedscheduler.microsoft.com/pod-scheduling-enable\":"
    "\"1\"}}}]},\"status\":{\"phase\":\"Running\"}}}",
    text_of(meta, "name"), text_of(meta, "namespace"), text_of(meta, "uid"),
    (int)len, notes, text_of(target, "name"));
  test_event(e, pai__buf_text(&b));
  pai__buf_dispose(&b);
  pai__tree_free(t);
}

static void happen(pai_hived_extender *e, record r, const char *binding,
                   pai__tree_walk rest)
{
  const char *event = text_of(r, "event");
  char name[64];

  if (strstr(event, "created") != NULL)
    create(e, rest);
  else if (strstr(event, " bound ") != NULL)
    bind_pod(e, binding);
  else if (sscanf(event, "victim %63s deleted", name) == 1 ||
           sscanf(event, "opportunistic pod %63s deleted", name) == 1)
    delete_pod(e, r.t, name);
  else if (sscanf(event, "node %63s not ready", name) == 1)
    tell_node(e, name, false);
  else if (strstr(event, "API server writes") == NULL)
    fail_msg("unknown event: %s", event);
  if (strstr(event, "ready again") != NULL) {
    assert_int_equal(sscanf(strstr(event, "node "), "node %63s ready", name),
                     1);
    tell_node(e, name, true);
  }
}

/* --- what was asked ------------------------------------------------------- */

static void check_json(const char *note, const char *want, size_t want_len,
                       const char *got, size_t got_len)
{
  char where[256];

  if (!test_same_json(want, want_len, got, got_len, where))
    fail_msg("%s: %s\nwant %.*s\ngot  %.*s", note, where, (int)want_len, want,
             (int)got_len, got);
}

/* The binding that is sent to the API server, which is kept. */
static void check_binding(record r, const pai_hived_answer *a, char **binding)
{
  pai__node list = pai__tree_get(r.t, r.n, "apiServerWrites");
  pai__tree_walk walk;
  record w = { r.t, 0 };
  const char *want;
  size_t len;

  if (list == PAI__NO_NODE) {
    assert_int_equal(a->bind, PAI_HIVED_BIND_NOTHING);
    assert_null(a->bind_path);
    return;
  }
  walk = pai__tree_iter(r.t, list);
  w.n = pai__tree_next(&walk);
  want = slice(w, "body", &len);
  assert_int_equal(a->bind, strstr(text_of(r, "path"), "bind") != NULL
                              ? PAI_HIVED_BIND_FIRST
                              : PAI_HIVED_BIND_ALSO);
  assert_string_equal(a->bind_path, text_of(w, "path"));
  check_json("binding", want, len, a->bind_body, a->bind_body_len);
  free(*binding);
  *binding = strdup(a->bind_body);
}

static void check_answer(pai_hived_extender *e, record r, char **binding)
{
  size_t len;
  const char *body = slice(r, "request", &len), *want;
  const char *method = text_of(r, "method");
  pai_hived_answer a;
  char *copy = NULL;

  if (body != NULL) {
    copy = calloc(1, len + 1);
    memcpy(copy, body, len);
    body = copy;
  } else if (pai__tree_get(r.t, r.n, "rawRequest") != PAI__NO_NODE) {
    body = text_of(r, "rawRequest");
  }
  a = test_ask(e, method, text_of(r, "path"), body);
  if (a.status == 301) /* clients follow */
    a = test_ask(e, method, a.location, body);
  free(copy);
  assert_int_equal(a.status,
                   pai__tree_int(r.t, pai__tree_get(r.t, r.n, "status")));
  assert_string_equal(a.content_type, text_of(r, "contentType"));
  want = slice(r, "response", &len);
  check_json(text_of(r, "note"), want, len, a.body, a.body_len);
  check_binding(r, &a, binding);
}

static pai_hived_extender *make_extender(pai_cluster **cluster)
{
  static const char *const nodes[] = { "10.151.41.18", "10.151.41.19",
                                       "10.151.41.23", "10.151.41.24",
                                       "10.151.41.26" };
  pai_hived_extender *e;
  size_t len;
  char *text = test_shared_text("hived/config/feature-2.yaml", &len);

  if (text == NULL)
    skip();
  assert_ok(pai_cluster_parse(cluster, text, len, NULL, NULL));
  free(text);
  assert_ok(pai_hived_extender_new(&e, *cluster, NULL, NULL));
  for (size_t i = 0; i < PAI__LEN(nodes); i++)
    tell_node(e, nodes[i], true);
  return e;
}

TEST(transcript_is_met)
{
  size_t len;
  char *text = test_shared_text("hived/http-transcript.json", &len);
  char *binding = NULL;
  pai_hived_extender *e;
  pai__tree_walk walk;
  pai_cluster *cluster;
  int records = 0;
  pai__tree *t;
  record r;

  if (text == NULL)
    skip();
  assert_ok(pai__json_parse(&t, text, len, NULL, NULL));
  free(text);
  e = make_extender(&cluster);
  walk = pai__tree_iter(t, 0);
  r.t = t;
  while ((r.n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (pai__tree_get(t, r.n, "event") != PAI__NO_NODE)
      happen(e, r, binding, walk);
    else
      check_answer(e, r, &binding);
    records++;
  }
  assert_int_equal(records, 61);
  free(binding);
  pai_hived_extender_free(e);
  pai_cluster_free(cluster);
  pai__tree_free(t);
}
