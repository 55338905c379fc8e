/* pods.c - pods of a small cluster, told as Kubernetes does */
#include "pods.h"

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

const char ext_all_nodes[] =
  "{\"kind\":\"NodeList\",\"items\":[" EXT_NODE("n0", "True") "," EXT_NODE(
    "n1", "True") "," EXT_NODE("n2", "True") "," EXT_NODE("n3", "True") "]}";

const ext_pod a0 = { .name = "a0", .spec = EXT_GANG("a", "0", "ga", "2") };
const ext_pod a1 = { .name = "a1", .spec = EXT_GANG("a", "0", "ga", "2") };
const ext_pod a2 = { .name = "a2", .spec = EXT_GANG("a", "0", "gb", "1") };
const ext_pod high = { .name = "high", .spec = EXT_GANG("a", "5", "gh", "1") };

int ext_open(ext_scene *s, const pai_alloc *alloc)
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

void ext_ready(ext_scene *s)
{
  assert_ok(ext_open(s, NULL));
  test_event(s->e, ext_all_nodes);
}

void ext_close(ext_scene *s)
{
  pai_hived_extender_free(s->e);
  pai_cluster_free(s->cluster);
  pai__buf_dispose(&s->text);
}

/* --- pods ----------------------------------------------------------------- */

#define LABEL "hivedscheduler.microsoft.com/pod-"

/* ,"KEY":"TEXT" */
static void put(pai__buf *b, const char *key, const char *text)
{
  pai__json_writer w;

  pai__buf_printf(b, ",\"%s\":", key);
  pai__json_writer_init(&w, b, false);
  pai__json_text(&w, text, strlen(text));
  assert_ok(pai__json_finish(&w));
}

static void put_pod(const ext_pod *p, pai__buf *b)
{
  pai__buf_printf(b,
                  "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
                  "\"namespace\":\"test\",\"uid\":\"uid-%s\","
                  "\"annotations\":{\"other\":\"\"",
                  p->name, p->name);
  put(b, LABEL "scheduling-spec", p->spec);
  if (p->info != NULL)
    put(b, LABEL "bind-info", p->info);
  pai__buf_str(
    b, "}},\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"" LABEL
       "scheduling-enable\":\"1\"}}}]");
  if (p->node != NULL)
    put(b, "nodeName", p->node);
  pai__buf_char(b, '}');
  if (p->phase != NULL)
    pai__buf_printf(b, ",\"status\":{\"phase\":\"%s\"}", p->phase);
  pai__buf_char(b, '}');
}

const char *ext_event_of(ext_scene *s, const char *type, const ext_pod *p)
{
  pai__buf_clear(&s->text);
  pai__buf_printf(&s->text, "{\"type\":\"%s\",\"object\":", type);
  put_pod(p, &s->text);
  pai__buf_char(&s->text, '}');
  return pai__buf_text(&s->text);
}

const char *ext_list_of(ext_scene *s, const ext_pod *pods, size_t n)
{
  pai__buf_clear(&s->text);
  pai__buf_str(&s->text, "{\"kind\":\"PodList\",\"items\":[");
  for (size_t i = 0; i < n; i++) {
    pai__buf_str(&s->text, i != 0 ? "," : "");
    put_pod(&pods[i], &s->text);
  }
  pai__buf_str(&s->text, "]}");
  return pai__buf_text(&s->text);
}

void ext_tell(ext_scene *s, const char *type, const ext_pod *p)
{
  test_event(s->e, ext_event_of(s, type, p));
}

void ext_expect_failure(ext_scene *s, const char *json, int code,
                        const char *part)
{
  pai_error *err;
  int rc = pai_hived_extender_event(s->e, json, strlen(json), TEST_NOW, &err);

  if (rc != code)
    fail_msg("%s: %d, not %d", json, rc, code);
  test_expect_error(err, code, part);
}

const char *ext_body_of(ext_scene *s, const ext_pod *p, const char *key,
                        const char *nodes)
{
  pai__buf_clear(&s->text);
  pai__buf_str(&s->text, "{\"Pod\":");
  put_pod(p, &s->text);
  pai__buf_printf(&s->text, ",\"%s\":%s}", key, nodes);
  return pai__buf_text(&s->text);
}

pai_hived_answer ext_filter(ext_scene *s, const ext_pod *p)
{
  return test_ask(s->e, "POST", "/v1/extender/filter",
                  ext_body_of(s, p, "NodeNames", EXT_EVERYWHERE));
}

pai_hived_answer ext_preempt(ext_scene *s, const ext_pod *p)
{
  return test_ask(s->e, "POST", "/v1/extender/preempt",
                  ext_body_of(s, p, "NodeNameToMetaVictims",
                              "{\"n0\":{},\"n1\":{},\"n2\":{},\"n3\":{}}"));
}

pai_hived_answer ext_bind(ext_scene *s, const char *name, const char *node)
{
  char body[256];

  (void)snprintf(body, sizeof(body),
                 "{\"PodName\":\"%s\",\"PodNamespace\":\"test\",\"PodUID\":"
                 "\"uid-%s\",\"Node\":\"%s\"}",
                 name, name, node);
  return test_ask(s->e, "POST", "/v1/extender/bind", body);
}

void ext_expect_body(const pai_hived_answer *a, const char *part)
{
  if (strstr(a->body, part) == NULL)
    fail_msg("'%s' is not in %s", part, a->body);
}

void ext_expect_node(const pai_hived_answer *a, const char *node)
{
  char part[64];

  (void)snprintf(part, sizeof(part), "\"NodeNames\":[\"%s\"]", node);
  ext_expect_body(a, part);
}

void ext_expect_shown(ext_scene *s, const char *target, const char *part)
{
  pai_hived_answer a = test_ask(s->e, "GET", target, NULL);

  assert_int_equal(a.status, 200);
  ext_expect_body(&a, part);
}

char *ext_info_of(const pai_hived_answer *a)
{
  pai__tree *t;
  pai__node n;
  char *info;

  assert_ok(pai__json_parse(&t, a->bind_body, a->bind_body_len, NULL, NULL));
  n = pai__tree_get(t, pai__tree_get(t, 0, "metadata"), "annotations");
  n = pai__tree_get(t, n, "hivedscheduler.microsoft.com/pod-bind-info");
  info = pai__strdup(&pai__libc_alloc, pai__tree_str(t, n, NULL));
  pai__tree_free(t);
  return info;
}

void ext_free_info(char *info)
{
  pai__strfree(&pai__libc_alloc, info);
}
