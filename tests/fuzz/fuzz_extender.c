/*
 * fuzz_extender.c - HiveD's extender: a line that begins with '{' is an event,
 * any other is a method, a target and a body
 */
#include "check.h"

#include "base/buf.h"
#include "json/json.h"

#include <openpai/hived.h>

static const char small[] =
  "waitingPodSchedulingBlockMilliSec: 10\n"
  "physicalCluster:\n"
  "  cellTypes:\n"
  "    NODE: {childCellType: G, childCellNumber: 2, isNodeLevel: true}\n"
  "    RACK: {childCellType: NODE, childCellNumber: 2}\n"
  "  physicalCells:\n"
  "  - {cellType: RACK, cellChildren: [{cellAddress: n0}, "
  "{cellAddress: n1}]}\n"
  "  - {cellType: RACK, pinnedCellId: p, "
  "cellChildren: [{cellAddress: n2}, {cellAddress: n3}]}\n"
  "virtualClusters:\n"
  "  a: {virtualCells: [{cellType: RACK.NODE, cellNumber: 1}]}\n"
  "  b: {pinnedCells: [{pinnedCellId: p}]}\n";

static void check_json(const char *text, size_t len)
{
  pai__tree *t;

  CHECK(pai__json_parse(&t, text, len, NULL, NULL) == PAI_OK);
  pai__tree_free(t);
}

static void check_answer(const pai_hived_answer *a)
{
  CHECK(a->status == 200 || a->status == 301 || a->status == 400 ||
        a->status == 404);
  CHECK((a->status == 301) == (a->location != NULL));
  CHECK(strlen(a->body) == a->body_len);
  if (a->location == NULL)
    check_json(a->body, a->body_len);
  CHECK((a->bind != PAI_HIVED_BIND_NOTHING) == (a->bind_body != NULL));
  if (a->bind_body != NULL)
    check_json(a->bind_body, a->bind_body_len);
  CHECK(a->hold_ms == 0 || a->hold_ms == 10);
}

/* Cuts a word off. */
static char *cut(char **rest)
{
  char *word = *rest, *end = strchr(word, ' ');

  if (end == NULL)
    end = word + strlen(word);
  *rest = *end != '\0' ? end + 1 : end;
  *end = '\0';
  return word;
}

static void ask(pai_hived_extender *e, char *line, pai_time now)
{
  pai_hived_answer a = { .struct_size = sizeof(a) };
  pai_hived_request q = { .struct_size = sizeof(q), .now = now };

  q.method = cut(&line);
  q.target = cut(&line);
  q.body = line;
  q.body_len = strlen(line);
  CHECK(pai_hived_extender_request(e, &q, &a, NULL) == PAI_OK);
  check_answer(&a);
}

static void tell(pai_hived_extender *e, const char *line, pai_time now)
{
  pai_error *err = NULL;
  int rc = pai_hived_extender_event(e, line, strlen(line), now, &err);

  CHECK((rc == PAI_OK) == (err == NULL));
  CHECK(rc == PAI_OK || pai_error_message(err)[0] != '\0');
  pai_error_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = calloc(1, size + 1), *next;
  pai_hived_extender *e;
  pai_cluster *cluster;
  pai_time now = INT64_C(1795243779000000);
  char show[] = "GET /v1/inspect/clusterstatus";
  char groups[] = "GET /v1/inspect/affinitygroups/";

  if (text == NULL)
    return 0;
  memcpy(text, data, size);
  CHECK(pai_cluster_parse(&cluster, small, sizeof(small) - 1, NULL, NULL) ==
        PAI_OK);
  CHECK(pai_hived_extender_new(&e, cluster, NULL, NULL) == PAI_OK);
  for (char *line = text; *line != '\0'; line = next, now += 1000000) {
    next = strchr(line, '\n');
    if (next != NULL)
      *next++ = '\0';
    else
      next = line + strlen(line);
    if (line[0] == '{')
      tell(e, line, now);
    else
      ask(e, line, now);
  }
  ask(e, show, now);
  ask(e, groups, now);
  pai_hived_extender_free(e);
  pai_cluster_free(cluster);
  free(text);
  return 0;
}
