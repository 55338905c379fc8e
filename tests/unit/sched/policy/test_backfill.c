/* Planning ahead: backfill, EASY and conservative. */
#include "sched/script.h"

#include "base/prng.h"

#define POOL "nodes:1 gpu:10 cpus:64 mem:1G"

static const char two_shares[] =
  "skus:\n"
  "  a: {gpu: v100, gpus: 4, cpus: 16, memory: 32G}\n"
  "nodes:\n"
  "  - {name: \"a[1-3]\", sku: a}\n"
  "virtualClusters:\n"
  "  default: {cells: {a: 1}}\n"
  "  other: {cells: {a: 2}}\n";

#define BACKFILL(name) #name, POOL, "backfill"
#define CONSERVATIVE "{\"mode\":\"conservative\"}"

/* 1 ends at 100, and then 2 and 3 begin beside one another; 4 may begin now, or
 * at 200. */
#define FOUR                                  \
  "submit 1 gpus=6 duration=100 => start 1\n" \
  "submit 2-3 gpus=5 duration=100; submit 4 gpus=4 duration=150 => "

static const scene_case cases[] = {
  /* 6 of 10 GPUs until 100.  Job 2 wants 8 and waits for them; job 3, short,
   * fits before; job 4, long, only beside it; job 5 neither. */
  { BACKFILL(easy_lets_pass_who_does_not_delay_the_first), NULL,
    .script = "submit 1 gpus=6 duration=100 => start 1\n"
              "submit 2 gpus=8 duration=100; submit 5 gpus=3 duration=101\n"
              "submit 3 gpus=2 duration=100\n"
              "submit 4 gpus=2 => start 3, start 4\n"
              "until 2 100; reason 5 lack=later behind=2\n"
              "time 100; finish 1; finish 3 => start 2\n" },
  { BACKFILL(easy_delays_others), "{\"mode\":\"easy\"}",
    .script = FOUR "start 4; until 2 100 3 0\n" },
  /* Job 3 is promised 100 to 200 only if all are: then 4 would delay it. */
  { BACKFILL(conservative_delays_nobody), CONSERVATIVE,
    .script = FOUR "nothing; until 2 100 3 100 4 200; lack 4 later\n" },
  { BACKFILL(depth_is_how_many_are_not_delayed),
    "{\"mode\":\"conservative\",\"depth\":1}",
    .script = FOUR "start 4; until 2 100 3 0\n" },
  { BACKFILL(arrays_are_promised_place_by_place), CONSERVATIVE,
    .script = "submit 1 gpus=4 duration=100 instances=5\n"
              "submit 2 gpus=2 duration=250\n" /* beside them all */
              "submit 3 gpus=10 duration=100\n"
              "submit 4 gpus=4 duration=100\n" /* beside the last of them */
              "=> start 1, start 1.1, start 2\n"
              "until 1 100 3 300 4 200\n" /* 300: three times two of them */
              "change 1 at_once 2 => nothing; lack 1 throttle\n" },
  { BACKFILL(what_comes_after_another_is_planned_when_it_may), NULL,
    .script = "submit 1 gpus=1 duration=100\n"
              "submit 2 gpus=10 duration=50 after=1:ok\n"
              "submit 3 gpus=9 duration=200\n" /* nothing is kept for 2 */
              "=> start 1, start 3; lack 2 after\n"
              "time 100; finish 1 => nothing; until 2 200\n" },
  { BACKFILL(important_requests_are_planned_first), NULL,
    .script = "submit 1 gpus=10 duration=100 => start 1\n"
              "submit 2-3 gpus=10 duration=100; change 3 priority 1\n"
              "=> nothing; until 3 100 2 0\n" },
  { BACKFILL(what_is_not_known_to_end_is_waited_for_in_vain), NULL,
    .script = "submit 1 gpus=6 => start 1\n"
              "submit 2 gpus=8 duration=100\n" /* nobody knows when, */
              "submit 3 gpus=4 duration=100\n" /* so it delays nobody */
              "=> start 3; until 2 0\n" },
  { BACKFILL(an_hour_may_be_assumed), "{\"assume\":3600}",
    .script = "submit 1 gpus=6 => start 1; submit 2 gpus=8 duration=100\n"
              "submit 3 gpus=4 duration=2h => nothing; until 2 1h\n" },
  { BACKFILL(what_runs_too_long_may_end_at_any_moment), NULL,
    .script = "submit 1 gpus=6 duration=100 => start 1\n"
              "submit 2 gpus=8 duration=100; time 500\n"
              "submit 3 gpus=4 duration=100 => nothing\n"
              "until 2 501; lack 3 later; finish 1 => start 2\n" },
  /* A node is free; the share is not, before 100. */
  { "a_share_is_waited_for", two_shares, "backfill", NULL,
    .script = "submit 1 gpus=3 duration=100; submit 2 gpus=2 duration=100\n"
              "submit 3 vc=other gpus=4 duration=100\n"
              "submit 4 gpus=1 duration=200 => start 1, start 3, start 4\n"
              "lack 2 quota; until 2 100\n" },
  { "no_memory_is_survived", "nodes:3 gpu:4 cpus:8 mem:1G", "backfill",
    CONSERVATIVE,
    .script = "submit 1 gpus=3 duration=100; submit 2 gpus=4 duration=50\n"
              "submit 3 tasks=5 gpus=2 duration=10; time 1 => any\n"
              "submit 4 gpus=4 duration=30; time 2 => any\n"
              "time 51; fork => any\n",
    .faults = true },
};

TEST_TABLE(scene_run, cases);

TEST(wrong_options_are_told)
{
  static const scene_wrong wrong[] = {
    { "{\"mode\":\"hard\"}",
      "\"mode\" cannot be \"hard\"; one of: easy, conservative" },
    { "{\"depth\":-1}", "\"depth\" is from 0" },
    { "{\"assume\":true}", "\"assume\" is a whole number" },
    { "{\"speed\":1}", "no option \"speed\"" },
  };

  scene_refuses(POOL, "backfill", wrong, PAI__LEN(wrong));
}

/* --- what was promised is kept -------------------------------------------- */

static const char *const clusters[] = {
  "nodes:3 gpu:4 cpus:16 mem:64G racks:1",
  "nodes:4 gpu:8:h100 racks:2 switch:4 link:4 cpus:32 mem:256G numa:2",
  "skus:\n"
  "  a: {gpu: v100, gpus: 4, cpus: 8, memory: 32G}\n"
  "  b: {gpu: a100, gpus: 8, cpus: 16, memory: 64G}\n"
  "nodes:\n"
  "  - {name: \"a[1-3]\", sku: a, rack: r1}\n"
  "  - {name: b1, sku: b, rack: r2, pin: build}\n"
  "  - {name: b2, sku: b, rack: r2}\n"
  "virtualClusters:\n"
  "  default: {cells: {a: 2, b: 1}}\n"
  "  other: {cells: {a: 1}, pins: [build]}\n"
};

enum { MOST = 64, TICKS = 120 };

typedef struct world {
  pai_sched *s;
  pai__prng random;
  uint64_t ids;
  uint64_t first; /* that is promised anything */
  pai_time now;
  pai_time promised[MOST]; /* of each id; 0: nothing */
  uint32_t waiting[MOST];
  pai_time takes[MOST];
} world;

static uint32_t any(world *w, uint32_t n)
{
  return (uint32_t)pai__prng_below(&w->random, n);
}

/* It takes as long as it says. */
static void submit_any(world *w)
{
  pai_want wants[2] = { scene_want(1, any(w, 9)), scene_want(1, any(w, 3)) };
  pai_request q = { .id = ++w->ids, .wants = wants, .nwants = 1 };

  if (any(w, 4) == 0)
    wants[0].tasks = 1 + any(w, 6);
  wants[0].cpus = any(w, 6);
  wants[0].ports = any(w, 3);
  if (any(w, 4) == 0)
    wants[0].type = any(w, 2) != 0 ? "v100" : "h100";
  if (any(w, 6) == 0)
    q.nwants = 2;
  if (any(w, 8) == 0)
    q.within = any(w, 3) != 0 ? "switch" : "rack";
  if (any(w, 3) == 0)
    q.vc = "other";
  if (any(w, 8) == 0)
    q.pin = "build";
  if (any(w, 5) == 0)
    q.instances = 1 + any(w, 5);
  if (any(w, 10) == 0)
    wants[0].min_tasks = 1;
  w->takes[q.id] = 1 + any(w, 30);
  *(any(w, 2) != 0 ? &q.duration : &q.limit) = w->takes[q.id];
  (void)scene_request(w->s, &q, NULL); /* may well be impossible */
}

static void end_some(world *w)
{
  pai_sched_event e = { .kind = PAI_SCHED_FINISHED };

  for (e.id = 1; e.id <= w->ids; e.id++) {
    pai_time started;

    e.instance = PAI_SCHED_ALL;
    while (pai_sched_next_running(w->s, e.id, &e.instance, &started) == PAI_OK)
      if (started + w->takes[e.id] <= w->now) {
        assert_ok(scene_event(w->s, e, NULL));
        e.instance = PAI_SCHED_ALL;
      }
  }
}

static void keep_any(world *w)
{
  const char *node = any(w, 2) != 0 ? "node0001" : "a1";
  pai_reservation r = { .struct_size = sizeof(r),
                        .name = "works",
                        .from = w->now + 5,
                        .to = w->now + 25,
                        .nodes = &node,
                        .nnodes = 1 };

  (void)scene_event(
    w->s, (pai_sched_event){ .kind = PAI_SCHED_RESERVE, .reservation = &r },
    NULL);
}

/* With EASY that of the one that was the first of all: when another starts, the
 * next one of its virtual cluster comes before the first of the others. */
static void check_promises(world *w, bool easy)
{
  uint64_t first = 0;

  for (uint64_t id = 1; id <= w->ids; id++) {
    pai_reason r = { .struct_size = sizeof(r) };
    pai_request_view v = { .struct_size = sizeof(v) };
    bool waits = pai_sched_reason(w->s, id, &r) == PAI_OK;

    if (pai_sched_view_request(w->s, id, &v) != PAI_OK || !waits)
      v.waiting = 0;
    if (w->promised[id] != 0 && v.waiting == w->waiting[id] &&
        (id == w->first || !easy)) {
      assert_true(w->promised[id] > w->now);
      assert_true(r.until != 0 && r.until <= w->promised[id]);
    }
    w->promised[id] = v.waiting != 0 ? r.until : 0;
    first = first == 0 && w->promised[id] != 0 ? id : first;
    w->waiting[id] = v.waiting;
  }
  w->first = first;
}

/* From the first request that asks for it on, GPUs of a switch are told from
 * those of another, and all is planned anew. */
static void ask_for_a_switch(world *w)
{
  pai_want want = scene_want(1, 1);
  pai_request q = { .id = ++w->ids,
                    .within = "switch",
                    .wants = &want,
                    .nwants = 1,
                    .duration = 1 };

  w->takes[q.id] = 1;
  (void)scene_request(w->s, &q, NULL);
}

static void live(world *w, bool easy, bool reserve)
{
  ask_for_a_switch(w);
  for (w->now = 1; w->now < TICKS; w->now++) {
    bool late = w->now > TICKS / 2 || w->ids + 4 >= MOST;

    assert_ok(scene_event(
      w->s, (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = w->now },
      NULL));
    end_some(w);
    for (uint32_t n = late ? 0 : any(w, 4); n > 1; n--)
      submit_any(w);
    /* A reservation delays whom it likes. */
    if (reserve && w->now == 1)
      keep_any(w);
    assert_true(pai_sched_decide(w->s, w->now, NULL) >= 0);
    check_promises(w, easy);
  }
}

TEST(nobody_who_comes_later_delays_a_promise)
{
  for (uint64_t round = 0; round < 120; round++) {
    world w = { .random = { round } };
    bool easy = round % 2 != 0;

    w.s = scene_new(clusters[round / 2 % 3], "backfill",
                    easy ? "{\"mode\":\"easy\"}"
                         : "{\"mode\":\"conservative\",\"place\":\"pack\"}",
                    NULL);
    assert_non_null(w.s);
    live(&w, easy, round % 5 == 0);
    pai_sched_free(w.s);
  }
}
