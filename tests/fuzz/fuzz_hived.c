/*
 * fuzz_hived.c - records of HiveD, of any lines: each is done or refused, and
 * one that was refused changes nothing that later ones fall over
 */
#include "check.h"

#include <openpai/hived.h>

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
  pai_hived_replay_options opts = PAI_HIVED_REPLAY_OPTIONS_INIT;
  const char *line = (const char *)data, *end = line + size, *next;
  pai_hived_replay *r;

  opts.config = any_config;
  CHECK(pai_hived_replay_new(&r, &opts, NULL) == PAI_OK);
  for (; line < end; line = next) {
    pai_hived_verdict v = { .struct_size = sizeof(v) };
    pai_error *err = NULL;
    int rc;

    next = memchr(line, '\n', (size_t)(end - line));
    next = next != NULL ? next + 1 : end;
    rc = pai_hived_replay_step(r, line, (size_t)(next - line), &v, &err);
    CHECK((rc == PAI_OK) == (err == NULL));
    CHECK(rc != PAI_OK || (v.kind >= PAI_HIVED_DONE &&
                           v.kind <= PAI_HIVED_DIFFERS && *v.op != '\0'));
    CHECK(rc != PAI_OK || v.kind != PAI_HIVED_FIXED || v.fix != NULL);
    pai_error_free(err);
  }
  pai_hived_replay_free(r);
  return 0;
}
