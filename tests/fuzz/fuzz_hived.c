/*
 * fuzz_hived.c - records of HiveD, of any lines: each is done or refused, and
 * one that was refused changes nothing that later ones fall over
 */
#include "check.h"

#include "hived/replay.h"

static const char config[] =
  "physicalCluster:\n"
  "  cellTypes:\n"
  "    NODE: {childCellType: G, childCellNumber: 2, isNodeLevel: true}\n"
  "    RACK: {childCellType: NODE, childCellNumber: 2}\n"
  "  physicalCells:\n"
  "  - cellType: RACK\n"
  "    cellChildren: [{cellAddress: n0}, {cellAddress: n1}]\n"
  "  - cellType: RACK\n"
  "    cellChildren: [{cellAddress: n2}, {cellAddress: n3, pinnedCellId: P}]\n"
  "virtualClusters:\n"
  "  a: {virtualCells: [{cellType: RACK, cellNumber: 1}]}\n"
  "  b: {virtualCells: [{cellType: RACK.NODE, cellNumber: 1}], "
  "pinnedCells: [{pinnedCellId: P}]}\n";

static int any_config(void *user_data, const char *name, pai_write_cb write,
                      void *to)
{
  (void)user_data;
  (void)name;
  return write(to, config, sizeof(config) - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *line = (const char *)data, *end = line + size, *next;
  hived_replay *r;

  CHECK(hived_replay_new(&r, NULL, any_config, NULL) == PAI_OK);
  for (; line < end; line = next) {
    hived_verdict v;
    pai_error *err = NULL;
    int rc;

    next = memchr(line, '\n', (size_t)(end - line));
    next = next != NULL ? next + 1 : end;
    rc = hived_replay_step(r, line, (size_t)(next - line), &v, &err);
    CHECK((rc == PAI_OK) == (err == NULL));
    CHECK(rc != PAI_OK ||
          (v.kind >= HIVED_DONE && v.kind <= HIVED_DIFFERS && *v.op != '\0'));
    CHECK(rc != PAI_OK || v.kind != HIVED_FIXED || v.fix != NULL);
    pai_error_free(err);
  }
  hived_replay_free(r);
  return 0;
}
