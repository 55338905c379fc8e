/* Policy fair: whoever has, or lately had, least goes first. */
#include "sched/script.h"
#include "sched/scribe.h"

#include "base/prng.h"
#include "sched/policy/fair.h"

#include <stdio.h>

#define BOX "nodes:4 gpu:4 cpus:16 mem:64G"
#define SECOND INT64_C(1000000)
#define HOUR (3600 * SECOND)

static int ask_with(pai_sched *s, uint64_t id, const char *vc,
                    const char *user, pai_want want)
{
  return scene_request(
    s,
    &(pai_request){
      .id = id, .vc = vc, .user = user, .wants = &want, .nwants = 1 },
    NULL);
}

static int ask(pai_sched *s, uint64_t id, const char *user, uint32_t gpus)
{
  return ask_with(s, id, NULL, user, scene_want(1, gpus));
}

static int at(pai_sched *s, int kind, uint64_t id, pai_time time)
{
  return scene_event(
    s, (pai_sched_event){ .kind = kind, .id = id, .time = time }, NULL);
}

#define DECAY "{\"mode\": \"decay\", \"half_life\": 3600}"
#define FAIR(name) #name, BOX, "fair"

static const scene_policy capped_and_decaying[] = {
  { "fair", "{\"user_max_gpus\": 12}" }, { "fair", DECAY }, { NULL, NULL }
};

static const scene_case cases[] = {
  { FAIR(users_take_turns), NULL,
    .script = "submit 1-4 user=ann gpus=4; submit 11-14 user=bob gpus=4\n"
              "=> start 1, start 11, start 2, start 12; lack 3 gpu 4 turn\n"
              "finish 11-12; finish 1 => start 13, start 3, start 14\n" },
  /* The example of the DRF paper: 9 CPUs and 18 GB; one wants 1 and 4, the
   * other 3 and 1; they get three and two of them. */
  { "the_dominant_share_counts", "nodes:1 gpu:1 cpus:9 mem:18G", "fair", NULL,
    .script = "submit 1-9 user=ann memory=4G\n"
              "submit 11-19 user=bob cpus=3 memory=1G\n"
              "=> start 1, start 11, start 2, start 12, start 3\n" },
  { FAIR(users_have_caps), "{\"user_max_gpus\": 5, \"user_max_jobs\": 3}",
    .script = "submit 1 user=ann tasks=2 gpus=3 !ENOROOM\n" /* never */
              "submit 2 user=ann gpus=4; submit 3 user=ann gpus=2\n"
              "submit 4-7 user=bob gpus=1\n"
              "=> start 2, start 4, start 5, start 6\n"
              "reason 3 lack=quota wanted=2 found=1 ~ a user has at most 5 "
              "GPUs at a time\n"
              "reason 7 ~ a user has at most 3 jobs at a time\n" },
  { FAIR(who_used_much_lately_comes_later), DECAY,
    .script = "submit 1 user=ann gpus=4; submit 2 user=bob gpus=1\n"
              "=> start 1, start 2; time 1h; finish 1-2\n"
              /* ann was there before, but used four times as much. */
              "submit 3-6 user=ann gpus=4; submit 13-16 user=bob gpus=4\n"
              "fork => start 13, start 14, start 15, start 16\n"
              /* After many hours it is forgotten. */
              "time 30h => start 3, start 13, start 4, start 14\n" },
  { FAIR(failing_memory_leaves_it_usable), .under = capped_and_decaying,
    .script = "submit 1 user=bob gpus=4; submit 2 user=ann gpus=4\n"
              "submit 3 user=bob gpus=4; submit 4 user=ann gpus=4\n"
              "submit 5 user=bob gpus=4; submit 6 user=ann gpus=4 => any\n"
              "time 1h; finish 1; time 2h; fork => any\n",
    .faults = true },
};

TEST_TABLE(scene_run, cases);

#define SHARED                                           \
  "skus:\n"                                              \
  "  box: {gpu: h100, gpus: 4, cpus: 32, memory: 64G}\n" \
  "nodes:\n"                                             \
  "  - {name: 'n[1-4]', sku: box}\n"                     \
  "virtualClusters:\n"                                   \
  "  lab: {cells: {box: 3}}\n"                           \
  "  shop: {cells: {box: 1}}\n"

#define EVEN                                             \
  "skus:\n"                                              \
  "  box: {gpu: h100, gpus: 4, cpus: 32, memory: 64G}\n" \
  "nodes:\n"                                             \
  "  - {name: 'n[1-2]', sku: box}\n"                     \
  "virtualClusters:\n"                                   \
  "  lab: {cells: {box: 1}}\n"                           \
  "  shop: {cells: {box: 1}}\n"

/* Both virtual clusters have three of their four GPUs.  Of the lab's users ann
 * has less than bob, who came before cyd, who came before her: who is next is a
 * question of who would be next in each, and not of whose run lies where. */
TEST(equally_poor_ones_go_by_who_would_be_next)
{
  static const struct {
    const char *vc, *user;
  } users[] = { { "lab", "ann" }, { "lab", "bob" }, { "shop", "cyd" } };
  static const size_t orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

  for (size_t i = 0; i < PAI__LEN(orders); i++) {
    pai_sched *s = scene_new(EVEN, "fair", NULL, NULL);

    for (size_t k = 0; k < 3; k++) {
      size_t who = orders[i][k];

      assert_ok(ask_with(s, k + 1, users[who].vc, users[who].user,
                         scene_want(1, (uint32_t)who + 1)));
      assert_int_equal(pai_sched_decide(s, scene_now(s), NULL), 1);
    }
    for (size_t k = 0; k < 3; k++) {
      size_t who = (k + 1) % 3;

      assert_ok(
        ask_with(s, 11 + k, users[who].vc, users[who].user, scene_want(1, 1)));
    }
    assert_string_equal(scene_decide(s), "start 12, start 13");
    pai_sched_free(s);
  }
}

TEST(virtual_clusters_go_by_what_they_own)
{
  pai_sched *s = scene_new(SHARED, "fair", "{\"shares\": false}", NULL);
  const char *decisions;

  for (uint64_t id = 1; id <= 16; id++) {
    assert_ok(ask_with(s, id, "lab", "ann", scene_want(1, 1)));
    assert_ok(ask_with(s, 20 + id, "shop", "bob", scene_want(1, 1)));
  }
  decisions = scene_decide(s);
  assert_has(decisions, "start 12");
  assert_null(strstr(decisions, "start 13"));
  assert_has(decisions, "start 24");
  assert_null(strstr(decisions, "start 25"));
  scene_script(s, "finish 1-12; cancel 13-16");
  assert_int_equal(pai_sched_decide(s, scene_now(s), NULL), 12); /* beyond */
  pai_sched_free(s);
  s = scene_new(SHARED, "fair", NULL, NULL);
  scene_script(s, "submit 1-16 vc=shop user=ann gpus=1\n"
                  "=> start 1, start 2, start 3, start 4; lack 5 quota\n"
                  /* More than a share is refused at once. */
                  "submit 99 vc=shop user=ann tasks=2 gpus=3 !ENOROOM\n");
  pai_sched_free(s);
}

TEST(usage_is_saved)
{
  pai_sched *s = scene_new(BOX, "fair", DECAY, NULL), *again;
  pai__buf first, second;

  scene_script(s, "submit 1 user=ann gpus=4; submit 2 gpus=1\n"
                  "=> start 1, start 2; time 1h; finish 1\n");
  scribe_save(s, &first);
  assert_has(pai__buf_text(&first), "\"usage\":");
  assert_ok(
    pai_sched_load(&again, pai__buf_text(&first), first.len, NULL, NULL));
  for (int i = 0; i < 2; i++) {
    pai_sched *x = i == 0 ? s : again;

    scene_script(x, "load; time 2h; submit 3-6 user=ann gpus=3\n"
                    "submit 13-16 gpus=4\n"
                    "=> start 13, start 14, start 15, start 3\n");
  }
  pai__buf_dispose(&first);
  scribe_save(s, &first);
  scribe_save(again, &second);
  scribe_same(&first, &second);
  pai__buf_dispose(&first);
  pai__buf_dispose(&second);
  pai_sched_free(again);
  pai_sched_free(s);
}

TEST(half_is_forgotten_in_a_half_life)
{
  pai__usage once, often;
  pai__prng random = { 7 };
  pai__fair_account a = { .usage = UINT64_C(1) << 40, .rate = 0 };
  pai_time now = 0;

  assert_int_equal(pai__usage_decay(1000, 64), 500);
  assert_int_equal(pai__usage_decay(1000, 32), 707);
  assert_int_equal(pai__usage_decay(UINT64_C(1) << 62, 64), UINT64_C(1) << 61);
  assert_int_equal(pai__usage_decay(UINT64_MAX, 64 * 64), 0);
  assert_true(pai__usage_more(1, 2, INT64_MAX) == INT64_MAX);
  /* It does not matter how often somebody looks. */
  for (a.rate = 0; a.rate < 9; a.rate += 4) {
    pai__usage_init(&once, 0, 64);
    pai__usage_init(&often, 0, 64);
    assert_ok(pai__usage_add(&once, &pai__libc_alloc, &a));
    assert_ok(pai__usage_add(&often, &pai__libc_alloc, &a));
    for (now = 0; now < 300 * SECOND;
         now += (pai_time)pai__prng_below(&random, 3000000))
      pai__usage_advance(&often, now);
    pai__usage_advance(&often, now);
    pai__usage_advance(&once, now);
    assert_memory_equal(once.accounts.data, often.accounts.data,
                        sizeof(pai__fair_account));
    /* Far away it is what is in use alone, whatever was before. */
    pai__usage_advance(&once, INT64_MAX / 2);
    assert_true(((pai__fair_account *)once.accounts.data)->usage <
                a.rate * 100 * (uint64_t)SECOND + 1);
    pai__usage_dispose(&once, &pai__libc_alloc);
    pai__usage_dispose(&often, &pai__libc_alloc);
  }
}

/* --- properties ------------------------------------------------------------ */

/* Users with equal jobs, always enough of them, and one ends at a time. */
TEST(equal_users_differ_by_at_most_one_job)
{
  static const char *const users[] = { "ann", "bob", "eve" };

  for (uint64_t seed = 1; seed <= 30; seed++) {
    pai_sched *s = scene_new(BOX, "fair", NULL, NULL);
    pai__prng random = { seed };
    uint32_t gpus = 1 + (uint32_t)(seed % 4), running[3] = { 0 };
    uint64_t list[64], id = 1;
    size_t n = 0, nusers = 2 + seed % 2;
    pai_decision d = { .struct_size = sizeof(d) };

    for (; id <= 120; id++)
      assert_ok(ask(s, id, users[id % nusers], gpus));
    for (int round = 0; round < 60; round++) {
      assert_true(pai_sched_decide(s, scene_now(s), NULL) >= 0);
      for (size_t i = 0; pai_sched_decision(s, i, &d) == PAI_OK; i++) {
        list[n++] = d.id;
        running[d.id % nusers]++;
      }
      for (size_t i = 0; i < nusers; i++)
        for (size_t k = 0; k < nusers; k++)
          assert_true(running[i] <= running[k] + 1);
      /* As many of each end. */
      for (size_t u = 0; u < nusers; u++) {
        size_t at_once = n != 0 ? pai__prng_below(&random, n) : 0;

        while (n != 0 && list[at_once] % nusers != u)
          at_once = (at_once + 1) % n;
        assert_ok(scene_finish(s, list[at_once]));
        running[u]--;
        list[at_once] = list[--n];
        assert_ok(
          ask(s, id + (u + nusers - id % nusers) % nusers, users[u], gpus));
      }
      id += nusers + (nusers - id % nusers) % nusers;
    }
    pai_sched_free(s);
  }
}

/* Over days two users use as much, whatever the sizes of their jobs. */
TEST(in_the_long_run_both_use_as_much)
{
  pai_sched *s = scene_new(BOX, "fair", DECAY, NULL);
  pai_decision d = { .struct_size = sizeof(d) };
  uint64_t used[2] = { 0 }, id = 1;
  uint64_t list[64];
  size_t n = 0;

  for (pai_time now = 0; now < 100 * HOUR; now += HOUR / 4) {
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
      uint64_t length = list[i] % 2 == 0 ? 3 : 2; /* quarters */

      if ((uint64_t)(now / (HOUR / 4)) % length == 0)
        assert_ok(at(s, PAI_SCHED_FINISHED, list[i], now));
      else
        list[kept++] = list[i];
    }
    n = kept;
    for (int i = 0; i < 24; i++, id++)
      assert_ok(ask(s, id, id % 2 == 0 ? "ann" : "bob", id % 2 == 0 ? 4 : 1));
    assert_true(pai_sched_decide(s, now, NULL) >= 0);
    for (size_t i = 0; pai_sched_decision(s, i, &d) == PAI_OK; i++)
      list[n++] = d.id;
    for (size_t i = 0; i < n; i++)
      used[list[i] % 2] += list[i] % 2 == 0 ? 4 : 1;
    for (uint64_t i = pai_sched_next(s, 0), next; i != 0; i = next) {
      pai_task_place p = { .struct_size = sizeof(p) };

      next = pai_sched_next(s, i);
      if (pai_sched_task(s, i, 0, 0, &p) != PAI_OK && id - i > 200)
        assert_ok(scene_cancel(s, i));
    }
  }
  /* Within a tenth of one another. */
  assert_true(used[0] * 10 <= used[1] * 11 && used[1] * 10 <= used[0] * 11);
  pai_sched_free(s);
}

TEST(wrong_options_are_refused)
{
  static const scene_wrong wrong[] = {
    { "{\"mode\": \"fast\"}", "one of: drf, decay" },
    { "{\"half_life\": 0}", "\"half_life\" is from 1 to 1000000000, not 0" },
    { "{\"user_max_gpus\": -1}", "\"user_max_gpus\"" },
    { "{\"users\": 1}", "no option \"users\"" },
    { "[]", "a JSON object" },
  };

  scene_refuses(BOX, "fair", wrong, PAI__LEN(wrong));
}
