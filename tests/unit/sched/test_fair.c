/* Policy fair: whoever has, or lately had, least goes first. */
#include "scene.h"

#include "base/prng.h"
#include "sched/usage.h"

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

static void users_take_turns(void **state)
{
  pai_sched *s = scene_new(BOX, "fair", NULL, NULL);

  (void)state;
  for (uint64_t id = 1; id <= 4; id++)
    assert_int_equal(ask(s, id, "ann", 4), PAI_OK);
  for (uint64_t id = 11; id <= 14; id++)
    assert_int_equal(ask(s, id, "bob", 4), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 11, start 2, start 12");
  assert_string_equal(scene_lack(s, 3), "gpu");
  assert_string_equal(scene_lack(s, 4), "turn");
  assert_int_equal(scene_finish(s, 11), PAI_OK);
  assert_int_equal(scene_finish(s, 12), PAI_OK);
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 13, start 3, start 14");
  pai_sched_free(s);
}

/* The example of the DRF paper: 9 CPUs and 18 GB; one wants 1 and 4, the
 * other 3 and 1; they get three and two of them. */
static void the_dominant_share_counts(void **state)
{
  pai_sched *s = scene_new("nodes:1 gpu:1 cpus:9 mem:18G", "fair", NULL, NULL);
  pai_want a = scene_want(1, 0), b = scene_want(1, 0);

  (void)state;
  a.cpus = 1;
  a.memory = UINT64_C(4) << 30;
  b.cpus = 3;
  b.memory = UINT64_C(1) << 30;
  for (uint64_t id = 1; id <= 9; id++) {
    assert_int_equal(ask_with(s, id, NULL, "ann", a), PAI_OK);
    assert_int_equal(ask_with(s, 10 + id, NULL, "bob", b), PAI_OK);
  }
  assert_string_equal(scene_decide(s),
                      "start 1, start 11, start 2, start 12, start 3");
  pai_sched_free(s);
}

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
static void equally_poor_ones_go_by_who_would_be_next(void **state)
{
  static const struct {
    const char *vc, *user;
  } users[] = { { "lab", "ann" }, { "lab", "bob" }, { "shop", "cyd" } };
  static const size_t orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(orders); i++) {
    pai_sched *s = scene_new(EVEN, "fair", NULL, NULL);

    for (size_t k = 0; k < 3; k++) {
      size_t who = orders[i][k];

      assert_int_equal(ask_with(s, k + 1, users[who].vc, users[who].user,
                                scene_want(1, (uint32_t)who + 1)),
                       PAI_OK);
      assert_int_equal(pai_sched_decide(s, scene_now(s), NULL), 1);
    }
    for (size_t k = 0; k < 3; k++) {
      size_t who = (k + 1) % 3;

      assert_int_equal(
        ask_with(s, 11 + k, users[who].vc, users[who].user, scene_want(1, 1)),
        PAI_OK);
    }
    assert_string_equal(scene_decide(s), "start 12, start 13");
    pai_sched_free(s);
  }
}

static void virtual_clusters_go_by_what_they_own(void **state)
{
  pai_sched *s = scene_new(SHARED, "fair", "{\"shares\": false}", NULL);
  char expected[400];

  (void)state;
  for (uint64_t id = 1; id <= 16; id++) {
    assert_int_equal(ask_with(s, id, "lab", "ann", scene_want(1, 1)), PAI_OK);
    assert_int_equal(ask_with(s, 20 + id, "shop", "bob", scene_want(1, 1)),
                     PAI_OK);
  }
  (void)snprintf(expected, sizeof(expected), "%s", scene_decide(s));
  assert_non_null(strstr(expected, "start 12"));
  assert_null(strstr(expected, "start 13"));
  assert_non_null(strstr(expected, "start 24"));
  assert_null(strstr(expected, "start 25"));
  for (uint64_t id = 1; id <= 12; id++)
    assert_int_equal(scene_finish(s, id), PAI_OK);
  for (uint64_t id = 13; id <= 16; id++)
    assert_int_equal(
      scene_event(s,
                  (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                     .id = id,
                                     .instance = PAI_SCHED_ALL },
                  NULL),
      PAI_OK);
  assert_int_equal(pai_sched_decide(s, scene_now(s), NULL), 12); /* beyond */
  pai_sched_free(s);
  s = scene_new(SHARED, "fair", NULL, NULL);
  for (uint64_t id = 1; id <= 16; id++)
    assert_int_equal(ask_with(s, id, "shop", "ann", scene_want(1, 1)), PAI_OK);
  assert_int_equal(pai_sched_decide(s, 1, NULL), 4);
  assert_string_equal(scene_lack(s, 5), "quota");
  /* More than a share is refused at once. */
  assert_int_equal(ask_with(s, 99, "shop", "ann", scene_want(2, 3)),
                   PAI_ENOROOM);
  pai_sched_free(s);
}

static void users_have_caps(void **state)
{
  pai_sched *s = scene_new(
    BOX, "fair", "{\"user_max_gpus\": 5, \"user_max_jobs\": 3}", NULL);
  pai_reason r = { .struct_size = sizeof(r) };

  (void)state;
  assert_int_equal(ask_with(s, 1, NULL, "ann", scene_want(2, 3)),
                   PAI_ENOROOM); /* never */
  assert_int_equal(ask(s, 2, "ann", 4), PAI_OK);
  assert_int_equal(ask(s, 3, "ann", 2), PAI_OK);
  assert_int_equal(ask(s, 4, "bob", 1), PAI_OK);
  assert_int_equal(ask(s, 5, "bob", 1), PAI_OK);
  assert_int_equal(ask(s, 6, "bob", 1), PAI_OK);
  assert_int_equal(ask(s, 7, "bob", 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2, start 4, start 5, start 6");
  assert_int_equal(pai_sched_reason(s, 3, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_QUOTA);
  assert_int_equal(r.wanted, 2);
  assert_int_equal(r.found, 1);
  assert_string_equal(r.text, "a user has at most 5 GPUs at a time");
  assert_int_equal(pai_sched_reason(s, 7, &r), PAI_OK);
  assert_string_equal(r.text, "a user has at most 3 jobs at a time");
  pai_sched_free(s);
}

/* --- usage ----------------------------------------------------------------- */

#define DECAY "{\"mode\": \"decay\", \"half_life\": 3600}"

static void who_used_much_lately_comes_later(void **state)
{
  pai_sched *s = scene_new(BOX, "fair", DECAY, NULL);
  pai_sched *fork;

  (void)state;
  assert_int_equal(ask(s, 1, "ann", 4), PAI_OK);
  assert_int_equal(ask(s, 2, "bob", 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(at(s, PAI_SCHED_FINISHED, 1, HOUR), PAI_OK);
  assert_int_equal(at(s, PAI_SCHED_FINISHED, 2, HOUR), PAI_OK);
  /* ann was there before, but used four times as much. */
  for (uint64_t id = 3; id <= 6; id++)
    assert_int_equal(ask(s, id, "ann", 4), PAI_OK);
  for (uint64_t id = 13; id <= 16; id++)
    assert_int_equal(ask(s, id, "bob", 4), PAI_OK);
  assert_int_equal(pai_sched_fork(&fork, s, NULL), PAI_OK);
  assert_string_equal(scene_decide(s),
                      "start 13, start 14, start 15, start 16");
  /* After many hours it is forgotten. */
  assert_int_equal(at(fork, PAI_SCHED_TIME, 0, 30 * HOUR), PAI_OK);
  assert_string_equal(scene_decide(fork),
                      "start 3, start 13, start 4, start 14");
  pai_sched_free(fork);
  pai_sched_free(s);
}

static void usage_is_saved(void **state)
{
  pai_sched *s = scene_new(BOX, "fair", DECAY, NULL), *again;
  pai__buf first, second;

  (void)state;
  pai__buf_init(&first, &pai__libc_alloc);
  pai__buf_init(&second, &pai__libc_alloc);
  assert_int_equal(ask(s, 1, "ann", 4), PAI_OK);
  assert_int_equal(ask(s, 2, NULL, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1, start 2");
  assert_int_equal(at(s, PAI_SCHED_FINISHED, 1, HOUR), PAI_OK);
  assert_int_equal(pai_sched_save(s, test_collect, &first, NULL), PAI_OK);
  assert_non_null(strstr(pai__buf_text(&first), "\"usage\":"));
  assert_int_equal(
    pai_sched_load(&again, pai__buf_text(&first), first.len, NULL, NULL),
    PAI_OK);
  assert_int_equal(pai_sched_save(again, test_collect, &second, NULL), PAI_OK);
  assert_string_equal(pai__buf_text(&first), pai__buf_text(&second));
  for (int i = 0; i < 2; i++) {
    pai_sched *x = i == 0 ? s : again;

    assert_int_equal(at(x, PAI_SCHED_TIME, 0, 2 * HOUR), PAI_OK);
    for (uint64_t id = 3; id <= 6; id++) {
      assert_int_equal(ask(x, id, "ann", 3), PAI_OK);
      assert_int_equal(ask(x, 10 + id, NULL, 4), PAI_OK);
    }
    assert_string_equal(scene_decide(x), "start 13, start 14, start 15, "
                                         "start 3");
    pai__buf_clear(i == 0 ? &first : &second);
    assert_int_equal(
      pai_sched_save(x, test_collect, i == 0 ? &first : &second, NULL),
      PAI_OK);
  }
  assert_string_equal(pai__buf_text(&first), pai__buf_text(&second));
  pai__buf_dispose(&first);
  pai__buf_dispose(&second);
  pai_sched_free(again);
  pai_sched_free(s);
}

static void half_is_forgotten_in_a_half_life(void **state)
{
  pai__usage once, often;
  pai__prng random = { 7 };
  pai__account a = { .usage = UINT64_C(1) << 40, .rate = 0 };
  pai_time now = 0;

  (void)state;
  assert_int_equal(pai__usage_decay(1000, 64), 500);
  assert_int_equal(pai__usage_decay(1000, 32), 707);
  assert_int_equal(pai__usage_decay(UINT64_C(1) << 62, 64), UINT64_C(1) << 61);
  assert_int_equal(pai__usage_decay(UINT64_MAX, 64 * 64), 0);
  assert_true(pai__usage_more(1, 2, INT64_MAX) == INT64_MAX);
  /* It does not matter how often somebody looks. */
  for (a.rate = 0; a.rate < 9; a.rate += 4) {
    pai__usage_init(&once, 0, 64);
    pai__usage_init(&often, 0, 64);
    assert_int_equal(pai__usage_add(&once, &pai__libc_alloc, &a), PAI_OK);
    assert_int_equal(pai__usage_add(&often, &pai__libc_alloc, &a), PAI_OK);
    for (now = 0; now < 300 * SECOND;
         now += (pai_time)pai__prng_below(&random, 3000000))
      pai__usage_advance(&often, now);
    pai__usage_advance(&often, now);
    pai__usage_advance(&once, now);
    assert_memory_equal(once.accounts.data, often.accounts.data,
                        sizeof(pai__account));
    /* Far away it is what is in use alone, whatever was before. */
    pai__usage_advance(&once, INT64_MAX / 2);
    assert_true(((pai__account *)once.accounts.data)->usage <
                a.rate * 100 * (uint64_t)SECOND + 1);
    pai__usage_dispose(&once, &pai__libc_alloc);
    pai__usage_dispose(&often, &pai__libc_alloc);
  }
}

/* --- properties ------------------------------------------------------------ */

/* Users with equal jobs, always enough of them, and one ends at a time. */
static void equal_users_differ_by_at_most_one_job(void **state)
{
  static const char *const users[] = { "ann", "bob", "eve" };

  (void)state;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    pai_sched *s = scene_new(BOX, "fair", NULL, NULL);
    pai__prng random = { seed };
    uint32_t gpus = 1 + (uint32_t)(seed % 4), running[3] = { 0 };
    uint64_t list[64], id = 1;
    size_t n = 0, nusers = 2 + seed % 2;
    pai_decision d = { .struct_size = sizeof(d) };

    for (; id <= 120; id++)
      assert_int_equal(ask(s, id, users[id % nusers], gpus), PAI_OK);
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
        assert_int_equal(scene_finish(s, list[at_once]), PAI_OK);
        running[u]--;
        list[at_once] = list[--n];
        assert_int_equal(
          ask(s, id + (u + nusers - id % nusers) % nusers, users[u], gpus),
          PAI_OK);
      }
      id += nusers + (nusers - id % nusers) % nusers;
    }
    pai_sched_free(s);
  }
}

/* Over days two users use as much, whatever the sizes of their jobs. */
static void in_the_long_run_both_use_as_much(void **state)
{
  pai_sched *s = scene_new(BOX, "fair", DECAY, NULL);
  pai_decision d = { .struct_size = sizeof(d) };
  uint64_t used[2] = { 0 }, id = 1;
  uint64_t list[64];
  size_t n = 0;

  (void)state;
  for (pai_time now = 0; now < 100 * HOUR; now += HOUR / 4) {
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
      uint64_t length = list[i] % 2 == 0 ? 3 : 2; /* quarters */

      if ((uint64_t)(now / (HOUR / 4)) % length == 0)
        assert_int_equal(at(s, PAI_SCHED_FINISHED, list[i], now), PAI_OK);
      else
        list[kept++] = list[i];
    }
    n = kept;
    for (int i = 0; i < 24; i++, id++)
      assert_int_equal(
        ask(s, id, id % 2 == 0 ? "ann" : "bob", id % 2 == 0 ? 4 : 1), PAI_OK);
    assert_true(pai_sched_decide(s, now, NULL) >= 0);
    for (size_t i = 0; pai_sched_decision(s, i, &d) == PAI_OK; i++)
      list[n++] = d.id;
    for (size_t i = 0; i < n; i++)
      used[list[i] % 2] += list[i] % 2 == 0 ? 4 : 1;
    for (uint64_t i = pai_sched_next(s, 0), next; i != 0; i = next) {
      pai_task_place p = { .struct_size = sizeof(p) };

      next = pai_sched_next(s, i);
      if (pai_sched_task(s, i, 0, 0, &p) != PAI_OK && id - i > 200)
        assert_int_equal(
          scene_event(s,
                      (pai_sched_event){ .kind = PAI_SCHED_CANCEL,
                                         .id = i,
                                         .instance = PAI_SCHED_ALL },
                      NULL),
          PAI_OK);
    }
  }
  /* Within a tenth of one another. */
  assert_true(used[0] * 10 <= used[1] * 11 && used[1] * 10 <= used[0] * 11);
  pai_sched_free(s);
}

/* --- bad options, failing memory ------------------------------------------- */

static void wrong_options_are_refused(void **state)
{
  static const char *const wrong[][2] = {
    { "{\"mode\": \"fast\"}", "\"drf\" or \"decay\"" },
    { "{\"half_life\": 0}", "\"half_life\" is from 1 to 1000000000, not 0" },
    { "{\"user_max_gpus\": -1}", "\"user_max_gpus\"" },
    { "{\"users\": 1}", "no option \"users\"" },
    { "[]", "a JSON object" },
  };
  pai_cluster *cluster;

  (void)state;
  assert_int_equal(pai_cluster_synthetic(&cluster, BOX, NULL, NULL), PAI_OK);
  for (size_t i = 0; i < PAI__LEN(wrong); i++) {
    pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
    pai_sched *s;
    pai_error *err = NULL;

    o.policy = "fair";
    o.policy_options = wrong[i][0];
    assert_int_equal(pai_sched_new(&s, cluster, &o, &err), PAI_EINVAL);
    test_expect_error(err, PAI_EINVAL, wrong[i][1]);
  }
  pai_cluster_free(cluster);
}

static int story(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new(BOX, "fair", user_data, alloc), *fork = NULL;
  int rc = PAI_OK;

  if (s == NULL)
    return PAI_ENOMEM;
  for (uint64_t id = 1; id <= 6 && rc == PAI_OK; id++)
    rc = ask(s, id, id % 2 == 0 ? "ann" : "bob", 4);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 1, NULL);
  if (rc >= 0)
    rc = at(s, PAI_SCHED_FINISHED, 1, HOUR);
  if (rc == PAI_OK)
    rc = pai_sched_fork(&fork, s, NULL);
  if (rc == PAI_OK) {
    rc = pai_sched_decide(fork, 2 * HOUR, NULL);
    if (rc > 0)
      assert_int_equal(rc, 1);
  }
  pai_sched_free(fork);
  pai_sched_free(s);
  return rc > 0 ? PAI_OK : rc;
}

static void failing_memory_leaves_it_usable(void **state)
{
  (void)state;
  test_faults(story, "{\"user_max_gpus\": 12}");
  test_faults(story, DECAY);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(users_take_turns),
    cmocka_unit_test(the_dominant_share_counts),
    cmocka_unit_test(equally_poor_ones_go_by_who_would_be_next),
    cmocka_unit_test(virtual_clusters_go_by_what_they_own),
    cmocka_unit_test(users_have_caps),
    cmocka_unit_test(who_used_much_lately_comes_later),
    cmocka_unit_test(usage_is_saved),
    cmocka_unit_test(half_is_forgotten_in_a_half_life),
    cmocka_unit_test(equal_users_differ_by_at_most_one_job),
    cmocka_unit_test(in_the_long_run_both_use_as_much),
    cmocka_unit_test(wrong_options_are_refused),
    cmocka_unit_test(failing_memory_leaves_it_usable),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
