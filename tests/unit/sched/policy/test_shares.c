/* What virtual clusters have, and clusters that become others. */
#include "sched/script.h"

#define SHARED(vcs)                                      \
  "skus:\n"                                              \
  "  box: {gpu: a100, gpus: 4, cpus: 32, memory: 32G}\n" \
  "nodes:\n"                                             \
  "  - {name: \"n[1-3]\", sku: box}\n"                   \
  "virtualClusters:\n" vcs

static const char two[] =
  SHARED("  left: {cells: {box: 2}}\n  right: {cells: {box: 1}}\n");
static const char one[] = SHARED("  left: {cells: {box: 3}}\n");

static const char before[] =
  "skus: {box: {gpu: a100, gpus: 4}}\n"
  "nodes: [{name: x, sku: box}, {name: y, sku: box}]\n";
static const char after[] =
  "skus: {box: {gpu: a100, gpus: 4}}\n"
  "nodes: [{name: w, sku: box}, {name: y, sku: box, gpus: {3: {sick: loose}}},"
  " {name: x, sku: box, sick: dust}]\n";

static const scene_case cases[] = {
  { "shares_are_kept_to", two, "fifo", NULL,
    .script =
      "submit 1 vc=right tasks=2 gpus=4 !ENOROOM ~ 'right' has 4\n"
      "submit 1 vc=middle gpus=4 !ENOTFOUND ~ 'middle'\n"
      "submit 1-2 vc=right gpus=4; submit 3 vc=left gpus=4\n"
      "=> start 1, start 3; reason 2 lack=quota wanted=4 found=0\n"
      /* The opportunistic have what is left, whoever owns it. */
      "submit 4 vc=left gpus=4 priority=-1 => start 4\n"
      "vc 0 name=left limited=1 gpus=8 used=4 lent=4 running=2\n"
      "vc 2 !ENOTFOUND; finish 4; vc 0 lent=0; finish 1 => start 2\n" },
  /* A node's index is another one, and what holds it is found there. */
  { "nodes_are_known_by_their_names", before, "fifo", "{\"place\": \"first\"}",
    .other = after,
    .script = "submit 1 gpus=4; submit 2 gpus=2 => start 1, start 2\n"
              "places 2 1:3; reserve r nodes=y; cluster\n"
              "places 1 2:f; places 2 1:3; node 2 state=sick why=dust\n"
              "node 1 free_mask=0x4 sick_mask=0x8\n"
              "submit 3 gpus=1; submit 4 gpus=4\n"
              "=> start 3; places 3 0:1\n" /* y is kept, still */
              "finish 1; finish 2; unreserve r => nothing\n" },
  { "virtual_clusters_in_use_stay", two, "fifo", NULL, .other = one,
    .script = "submit 1 vc=right gpus=4; submit 2 vc=left tasks=2 gpus=4\n"
              "=> start 1, start 2\n"
              "cluster !EBUSY ~ virtual cluster 'right'\n"
              "finish 1; submit 3 vc=left tasks=3 gpus=4 !ENOROOM\n"
              "cluster; vc 0 gpus=12 used=8\n"
              "submit 3 vc=left tasks=3 gpus=4; finish 2 => start 3\n" },
};

TEST_TABLE(scene_run, cases);

static void set(pai_sched *s, const char *cluster)
{
  assert_ok(scene_set_cluster(s, cluster, NULL));
}

TEST(nodes_come_and_go)
{
  static const char *const wrong[][2] = {
    { "nodes:1 gpu:4 cpus:8", "node 'node0002' is in use" },
    { "nodes:2 gpu:8 cpus:8", "other devices" },
    { "nodes:2 gpu:4:h100 cpus:8", "other devices" },
  };
  pai_sched *s = scene_new("nodes:2 gpu:4 cpus:8", NULL, NULL, NULL);
  pai_error *err;

  scene_script(s, "submit 1 gpus=4; submit 2 gpus=2; submit 3 gpus=4\n"
                  "=> start 1, start 2\n");
  for (size_t i = 0; i < PAI__LEN(wrong); i++) {
    assert_fails(scene_set_cluster(s, wrong[i][0], &err), err, PAI_EBUSY,
                 wrong[i][1]);
  }
  scene_script(s, "=> nothing");
  set(s, "nodes:3 gpu:4 cpus:8");
  scene_script(s, "=> start 3; places 3 2:f; finish 3; finish 2");
  set(s, "nodes:1 gpu:4 cpus:8");
  scene_script(s, "sums nodes=1 gpus=4 free_gpus=0; places 1 0:f\n"
                  "finish 1; sums free_gpus=4\n");
  pai_sched_free(s);
}

/* What waits for a kind that has gone waits on, and knows why. */
TEST(a_kind_may_vanish)
{
  pai_sched *s = scene_new("nodes:1 gpu:4:h100", NULL, NULL, NULL);

  scene_script(s, "submit 1 gpus=4 type=h100");
  set(s, "nodes:1 gpu:4:a100");
  scene_script(s, "=> nothing; lack 1 type");
  set(s, "nodes:1 gpu:4:h100");
  scene_script(s, "=> start 1");
  pai_sched_free(s);
}
