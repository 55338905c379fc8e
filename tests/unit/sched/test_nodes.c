/* Nodes: who may be where, what is sick or kept. */
#include "script.h"

/* Two kinds of GPUs, racks, a pin, switches. */
static const char site[] =
  "skus:\n"
  "  big: {gpu: h100, gpus: 8, near: {switch: 4}, cpus: 64, memory: 64G}\n"
  "  old: {gpu: v100, gpus: 4, cpus: 32, memory: 32G}\n"
  "  plain: {cpus: 16, memory: 16G}\n"
  "nodes:\n"
  "  - {name: a1, sku: big, rack: a, pin: desk}\n"
  "  - {name: a2, sku: big, rack: a}\n"
  "  - {name: b1, sku: old, rack: b}\n"
  "  - {name: b2, sku: old, rack: b}\n"
  "  - {name: c1, sku: plain}\n";

static const char shared[] =
  "skus:\n"
  "  box: {gpu: a100, gpus: 4, cpus: 32, memory: 32G}\n"
  "nodes:\n"
  "  - {name: \"n[1-3]\", sku: box}\n"
  "virtualClusters:\n"
  "  left: {cells: {box: 2}}\n"
  "  right: {cells: {box: 1}}\n";

static const char more[] =
  "skus: {box: {gpu: a100, gpus: 4, cpus: 32, memory: 32G}}\n"
  "nodes: [{name: n0, sku: box}, {name: \"n[1-3]\", sku: box}]\n"
  "virtualClusters: {left: {cells: {box: 3}}}\n";

#define GREEDY "{\"greedy\": true}"
#define SITE(name) #name, site, "fifo", GREEDY

static const scene_case cases[] = {
  /* --- who may be where ------------------------------------------------- */
  { SITE(a_type_is_a_kind_or_a_sku),
    .script = "submit 1 gpus=2 type=v100; submit 2 tasks=2 type=plain\n"
              "submit 3 gpus=1 type=plain !ENOROOM\n" /* which has none */
              "submit 3 gpus=1 type=a100 !ENOTFOUND\n"
              "=> start 1, start 2; places 1 2:3; places 2 4:0 4:0\n" },
  /* Nothing is said of the kind: it is the same for all of the gang. */
  { SITE(a_gang_is_of_one_kind),
    .script = "submit 1 tasks=5 gpus=4 !ENOROOM\n" /* 4 of 8, 2 of 4 */
              "submit 1 tasks=3 gpus=4; submit 2 tasks=2 gpus=4\n"
              "=> start 1, start 2; places 1 0:f 0:f0 1:f\n"
              "places 2 2:f 3:f\n" /* and not 1 and 2 */ },
  { SITE(of_several_kinds_the_nearest_is_told),
    .script = "submit 1 gpus=9 !ENOROOM ~ none has more than 8\n"
              "submit 1 gpus=5 type=v100 !ENOROOM ~ of the machines that suit "
              "otherwise none has more than 4\n"
              "submit 1 gpus=5 type=v10 !ENOTFOUND ~ 'v10' | did you mean "
              "'v100'?\n" },
  { SITE(a_pin_keeps_it_in_its_cell),
    .script =
      "submit 1 tasks=2 gpus=4 pin=desk => start 1; places 1 0:f 0:f0\n"
      "submit 2 gpus=1 pin=desk => nothing; lack 2 gpu\n"
      /* It would take any GPUs, so only c1 has no such ones. */
      "failed 2 gpu 1; failed 2 pin 3; failed 2 type 1\n"
      "submit 3 gpus=1 pin=nowhere !ENOROOM ~ pinned as 'nowhere'\n"
      "submit 3 gpus=1 within=racl !ENOROOM ~ is a \"racl\" | did you mean "
      "'rack'?\n" },
  { SITE(what_is_to_be_together_is),
    .script = "submit 1 gpus=5 => start 1; places 1 0:1f\n"
              "submit 2-3 within=switch tasks=2 gpus=2\n"
              "submit 4 within=switch tasks=5 gpus=1 !ENOROOM\n"
              "=> start 2, start 3; places 2 1:3 1:c; places 3 1:30 1:c0\n"
              "submit 5 within=rack tasks=3 gpus=4\n"
              "submit 6 within=node tasks=2 gpus=2\n"
              /* 3 + 4 + 4 GPUs are left. */
              "=> start 6; places 6 2:3 2:c; lack 5 gang\n"
              "submit 7 within=node tasks=3 gpus=1\n"
              "submit 8 within=node tasks=5 gpus=1 => start 7\n"
              "places 7 0:20 0:40 0:80\n" },

  /* --- sick and drained ------------------------------------------------- */
  { "nothing_begins_on_a_node_that_is_not_up", "nodes:2 gpu:4", NULL, NULL,
    .script = "submit 1 gpus=4 => start 1\n"
              "drain node0001 ~ new disk\n"
              "sick node0002 ~ dust\n"
              "sick node0003 !ENOTFOUND; sick node0001 gpu=4 !ENOTFOUND\n"
              "submit 2 gpus=4 => nothing\n" /* it could, some day */
              "lack 2 health; failed 2 health 2\n"
              "places 1 0:f\n" /* what runs goes on */
              "node 0 state=drain; up node0002 => start 2; node 1 why=-\n" },
  { "a_sick_gpu_is_not_given_out", "nodes:1 gpu:4", NULL, NULL,
    .script = "sick node0001 gpu=0 ~ ECC\n"
              "submit 1 gpus=3; submit 2 gpus=1 => start 1\n"
              "places 1 0:e; lack 2 gpu\n"
              "sick node0001 gpu=1; node 0 sick_gpus=2 free_gpus=0\n"
              "finish 1; node 0 free_mask=0xc\n" /* one of it is sick now */
              "up node0001 gpu=0 => start 2\n" },

  /* --- reservations ----------------------------------------------------- */
  { "maintenance_lets_nothing_run_into_it", "nodes:1 gpu:4", NULL, GREEDY,
    .script = "reserve disks from=100 to=200 nodes=node0001\n"
              "reserve disks from=100 to=200 nodes=node0001 !EEXISTS\n"
              "submit 1 gpus=4 user=ann; submit 2 gpus=4 user=ann limit=101\n"
              "submit 3 gpus=4 user=ann limit=100\n"
              "=> start 3; finish 3 => nothing\n" /* it will be over */
              "lack 1 reservation; next 100; time 100 => nothing; next 200\n"
              "time 199 => nothing; time 200 => start 1; places 1 0:f\n"
              "next never; unreserve disks !ENOTFOUND\n" },
  { "some_may_use_what_is_kept_for_them", "nodes:2 gpu:4", NULL, GREEDY,
    .script = "reserve course user=ann\n" /* all nodes, for ever */
              "submit 1 gpus=4 user=bob limit=5; submit 2 gpus=4 user=ann\n"
              "=> start 2; unreserve course => start 1; finish 1\n"
              "reserve all vc=nobody !ENOTFOUND ~ 'nobody'\n"
              "reserve all vc=default\n" /* that of those who name none */
              "submit 3 gpus=4 => start 3\n" },
  { "bad_reservations_change_nothing", "nodes:1 gpu:4", NULL, NULL,
    .script = "reserve x from=5 to=5 !EINVAL\n"
              "reserve x from=5 to=10 nodes=node0001,node0009 !ENOTFOUND\n"
              "unreserve x !ENOTFOUND; submit 1 gpus=4 => start 1\n"
              "reserve x from=5 to=10 nodes=node0001; time 10\n"
              /* The old one is over. */
              "reserve x from=5 to=20 nodes=node0001\n"
              "unreserve x; unreserve x !ENOTFOUND\n" },
  { "failing_memory_is_survived", shared, NULL, NULL, .other = more,
    .script = "submit 1 vc=left gpus=4; reserve r to=50 nodes=n1; time 1\n"
              "=> any; sick n3 ~ because of the dust\n"
              "cluster; time 60 => any\n",
    .faults = true },
};

TEST_TABLE(scene_run, cases);

TEST(what_is_no_node_or_state_is_refused)
{
  pai_sched *s = scene_new("nodes:1 gpu:4", NULL, NULL, NULL);
  pai_sched_event e = {
    .kind = PAI_SCHED_NODE, .node = "node0001", .gpu = -1, .number = 3
  };
  pai_reservation unnamed = { .from = 5, .to = 10 };
  pai_sched_node_view v = { .struct_size = sizeof(v) };

  assert_int_equal(scene_event(s, e, NULL), PAI_EINVAL);
  assert_int_equal(scene_reserve(s, unnamed, NULL), PAI_EINVAL);
  scene_script(s, "drain node0001 ~ new disk");
  assert_ok(pai_sched_view_node(s, 0, &v));
  assert_string_equal(v.why, "new disk");
  pai_sched_free(s);
}
