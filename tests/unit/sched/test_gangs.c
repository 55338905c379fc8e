/* Gangs that run: how they grow and shrink, who makes room, what is claimed. */
#include "sched/policy/orders.h"

#define FOURS "nodes:2 gpu:4 cpus:8"

static const char kinds[] = "skus:\n"
                            "  a: {gpu: a100, gpus: 4, cpus: 8}\n"
                            "  b: {gpu: b100, gpus: 4, cpus: 8}\n"
                            "nodes:\n"
                            "  - {name: x, sku: b}\n"
                            "  - {name: y, sku: a}\n"
                            "  - {name: z, sku: b}\n";

static const char site[] = "skus: {box: {gpu: a100, gpus: 4, cpus: 8}}\n"
                           "nodes: [{name: \"n[1-2]\", sku: box}]\n"
                           "virtualClusters:\n"
                           "  l: {cells: {box: 1}}\n"
                           "  r: {cells: {box: 1}}\n";

#define TWO_SHARES(l, r)                   \
  "skus:\n"                                \
  "  box: {gpu: a100, gpus: 4, cpus: 8}\n" \
  "  old: {gpu: v100, gpus: 4, cpus: 8}\n" \
  "nodes:\n"                               \
  "  - {name: \"n[1-2]\", sku: box}\n"     \
  "  - {name: o1, sku: old}\n"             \
  "virtualClusters: {l: {cells: {" l "}}, r: {cells: {" r "}}}\n"

static const char before[] = TWO_SHARES("box: 1", "box: 1, old: 1");
static const char after[] = TWO_SHARES("old: 1", "box: 2");

/* Two wants, of which the first may do with one task. */
#define ELASTIC "submit 1 tasks=4 min_tasks=1 gpus=1 ports=2 + gpus=1 ports=3"

/* A task of 1, and the first one of its ports. */
static uint32_t port_of(const pai_sched *s, uint32_t task)
{
  pai_task_place p = { .struct_size = sizeof(p) };

  assert_ok(pai_sched_task(s, 1, 0, task, &p));
  return p.ports[0];
}

TEST(a_gang_shrinks_and_grows)
{
  pai_sched *s = orders_new(FOURS, NULL);
  uint32_t last;

  orders_script(s, ELASTIC "; start => start 1\n"
                           "places 1 0:1 0:2 0:4 0:8 1:1\n");
  last = port_of(s, 4);
  orders_script(s, "resize 0 2 => shrink 1 to 2\n"
                   /* They hold their places still. */
                   "sums free_gpus=3; places 1 0:1 0:2 0:4 0:8 1:1\n"
                   "resized 1; resized 1 !ENOTFOUND; sums free_gpus=5\n"
                   "places 1 0:1 0:2 1:1\n");
  assert_int_equal(port_of(s, 2), last);
  orders_script(s, "submit 2 gpus=1; start => start 2\n"
                   "resize 0 4 => grow 1 to 4\n"
                   "places 1 0:1 0:2 1:2 1:4 1:1\n");
  assert_int_equal(port_of(s, 4), last);
  assert_int_not_equal(port_of(s, 3), port_of(s, 2));
  orders_script(s, "finish 1-2; sums free_gpus=8");
  pai_sched_free(s);
}

/* Growing again and again takes no more memory. */
TEST(the_old_is_given_back)
{
  test_tally t;
  size_t first = 0;
  pai_sched *s;

  test_tally_init(&t);
  s = orders_new(FOURS, &t.alloc);
  orders_script(s, ELASTIC "; start => start 1");
  for (int i = 0; i < 200; i++) {
    if (i == 20)
      first = t.live;
    orders_script(s, "resize 0 1 => shrink 1 to 1; resized 1\n"
                     "resize 0 4 => grow 1 to 4\n");
  }
  assert_int_equal(t.live, first);
  pai_sched_free(s);
}

#define GANGS(test, where) \
  .name = #test, .cluster = where, .table = &orders_policy, .own = orders_own

static const scene_case cases[] = {
  { GANGS(sizes_that_cannot_be, FOURS),
    .script = ELASTIC "; start => start 1\n"
                      "resize 0 0 => any; said EINVAL\n"
                      "resize 0 5 => any; said EINVAL\n"
                      "resize 1 0 => any; said EINVAL\n"
                      "resize 2 1 => any; said EINVAL\n"
                      "resize 0 4 => nothing; said 1\n" /* as it is */
                      "resize 0 1 => shrink 1 to 1\n"
                      /* Not before it has shrunk. */
                      "resize 0 2 => any; said EBUSY; resized 1\n"
                      "submit 2 tasks=2 gpus=3; start => start 2\n"
                      "resize 0 2 => nothing; said 0\n" /* there is no room */
                      "places 1 0:1 1:1\n" },
  { GANGS(what_it_grows_by_is_beside_it, "nodes:2 gpu:8 cpus:16"),
    .script = ELASTIC " within=node; start => start 1\n"
                      "resize 0 1 => shrink 1 to 1; resized 1\n"
                      "submit 2 gpus=5; start => start 2; places 2 0:6e\n"
                      /* 1 is left, 8 on the other. */
                      "resize 0 4 => nothing; resize 0 2 => grow 1 to 2\n"
                      "places 1 0:1 0:80 0:10\n" },
  { GANGS(what_it_grows_by_is_of_its_kind, kinds),
    .script = ELASTIC "; start => start 1\n" /* 5: not of a */
                      "resize 0 1 => shrink 1 to 1; resized 1\n"
                      "places 1 0:1 2:1\n"
                      "submit 2 tasks=2 gpus=3 type=b100; start => start 2\n"
                      /* Only the other kind is left. */
                      "resize 0 2 => nothing\n" },
  { GANGS(the_opportunistic_give_way, site),
    .script = "submit 1-3 vc=l gpus=2 priority=-1; submit 4 vc=l gpus=2; over "
              "=> start 1, start 2, start 3, start 4\n"
              "vc 0 lent=6; submit 5 vc=r gpus=4 => stop 2 preempted, "
              "stop 1 preempted\n"
              "places 5 -; vc 0 lent=6\n" /* they are there, still */
              "returned 1; vc 0 lent=4; start => nothing\n"
              "returned 2 => start 5\n"
              "submit 6 vc=r gpus=2 priority=1; over => stop 5 preempted\n"
              "finish 5; start => start 6, start 1; vc 0 lent=4\n" },
  { GANGS(what_is_claimed_is_kept, FOURS),
    .script = "submit 1-2 gpus=2; start => start 1, start 2\n"
              "submit 3 tasks=2 gpus=2\n"
              "claim 0:0x5 0:0xa => stop 2 preempted, stop 1 preempted\n"
              "said 0; submit 4 gpus=2\n"
              "claim 0:0x3 => any; said EBUSY\n" /* somebody's, by now */
              "returned 1; finish 2; start => start 3, start 1, start 4\n"
              "places 3 0:5 0:a; places 1 1:3; submit 5 gpus=4; finish 3\n"
              "claim 0:0xf => start 5\n" /* nobody is there */ },
  /* CPUs are nobody's in particular: the least important ones go, as few as it
   * takes. */
  { GANGS(cpus_alone_are_made_room_for, FOURS),
    .script = "submit 1 cpus=2 priority=3; submit 2 cpus=1 priority=1\n"
              "submit 3 cpus=5 priority=2; start\n"
              "=> start 1, start 2, start 3; places 3 0:0\n"
              /* 2 alone would not do, and with 3 it may stay. */
              "submit 4 cpus=4 priority=9; claim 0:0 => stop 3 preempted\n"
              "returned 3; start => start 4, start 3\n"
              "places 4 0:0; places 3 1:0\n" },
  { GANGS(claims_that_could_never_be, FOURS),
    .script = "submit 1 gpus=2; start => start 1\n"
              "submit 2 tasks=2 gpus=1 cpus=5\n"
              "claim 0:0x4 0:0x4 => any; said EBUSY\n" /* one GPU twice, */
              /* also one that another holds; and 10 of 8 CPUs. */
              "claim 0:0x1 0:0x1 => any; said EBUSY\n"
              "claim 0:0x1 0:0x2 => any; said EBUSY\n"
              /* One place for two tasks, no such GPUs, no such node, two GPUs
               * each. */
              "claim 0:0x1 => any; said EINVAL\n"
              "claim 0:0x10 0:0x20 => any; said EINVAL\n"
              "claim 7:0x1 7:0x2 => any; said EINVAL\n"
              "claim 0:0x3 0:0xc => any; said EINVAL\n"
              "node 0 free_mask=0xc free_cpus=7\n"
              "start => start 2; places 2 0:4 1:1\n" },
  /* It may count on what leaves its virtual cluster, and on no more. */
  { GANGS(claims_keep_to_shares, before), .other = after,
    .script = "submit 1 vc=r gpus=4; submit 2 vc=l gpus=4; start "
              "=> start 1, start 2\n"
              "submit 3 vc=l gpus=4 priority=5\n"
              "claim 0:0xf => any; said EBUSY\n" /* which is of r */
              "claim 1:0xf => stop 2 preempted\n"
              "cluster; start => nothing; lack 3 -\n" /* 2 is there, still */
              "finish 2; submit 4 vc=r gpus=4 => start 3, start 4\n"
              "places 3 2:f; places 4 1:f\n" /* what l has now */ },
  /* A place must be what is wanted: of its type, and all of one kind. */
  { GANGS(places_are_of_the_kind_that_is_wanted, before),
    .script = "submit 1 vc=r tasks=2 gpus=2\n"
              "claim 0:0x3 0:0xc => any; said 1\n" /* both of one kind */
              "submit 2 vc=r type=old\n"           /* the SKU */
              "claim 1:0 => any; said EINVAL; claim 2:0 => start 2\n"
              "submit 3 vc=r tasks=2 gpus=1\n"
              /* A v100 and an a100. */
              "claim 2:0x1 1:0x1 => any; said EINVAL\n" },
  { GANGS(who_found_nobody_may_find_somebody, "nodes:1 gpu:8 cpus:8"),
    .script = "submit 1 gpus=8 priority=9; start => start 1\n"
              "submit 2 gpus=8 priority=5; between => stop 1 preempted\n"
              "lack 2 victims\n" },
  { GANGS(failing_memory_is_survived, FOURS), .faults = true,
    .script = ELASTIC "; start => any; resized 1 !ANY\n"
                      "resize 0 1 => any; resized 1 !ANY\n"
                      "resize 0 4 => any; resized 1 !ANY\n"
                      "submit 2 gpus=4 priority=7; over => any\n"
                      "resized 1 !ANY; submit 3 gpus=2\n"
                      "claim 1:0x3 => any; resized 1 !ANY\n" },
};

TEST_TABLE(scene_run, cases);
