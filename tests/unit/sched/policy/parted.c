/* parted.c - see parted.h */
#include "parted.h"

#include <stdio.h>

const char parts_box[] =
  PARTS_BOX "virtualClusters:\n"
            "  default: {part: rest}\n"
            "  left: {part: 25%, max: 50%}\n"
            "  right: {part: \"12.5%\", stopped: true}\n";

int parts_submit(pai_sched *s, uint64_t id, const char *vc, pai_want want,
                 pai_error **err)
{
  want.struct_size = sizeof(want);
  return scene_request(
    s, &(pai_request){ .id = id, .vc = vc, .wants = &want, .nwants = 1 }, err);
}

pai_want parts_some(uint32_t gpus, uint32_t cpus, uint64_t gib)
{
  return (
    pai_want){ .tasks = 1, .gpus = gpus, .cpus = cpus, .memory = gib << 30 };
}

int parts_change(pai_sched *s, const char *vcs, pai_error **err)
{
  pai_cluster *c;
  char text[1024];
  int rc;

  (void)snprintf(text, sizeof(text), PARTS_BOX "virtualClusters: %s\n", vcs);
  assert_ok(pai_cluster_parse(&c, text, strlen(text), NULL, NULL));
  rc = scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c }, err);
  pai_cluster_free(c);
  return rc;
}
