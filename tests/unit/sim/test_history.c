/* test_history.c - how long jobs took, and guesses from it */
#include "testing.h"

#include "base/buf.h"
#include "sched/scene.h"
#include "sim/calibrate.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)

static pai_history *new_history(void)
{
  pai_history *h;

  assert_int_equal(pai_history_new(&h, NULL, NULL), PAI_OK);
  return h;
}

static int add(pai_history *h, const char *user, const char *name,
               uint64_t gpus, int64_t seconds)
{
  return pai_history_add(h,
                         &(pai_past){ .struct_size = sizeof(pai_past),
                                      .user = user,
                                      .name = name,
                                      .gpus = gpus,
                                      .duration = seconds * SECOND },
                         NULL);
}

static pai_guess guess(const pai_history *h, const char *user,
                       const char *name, uint64_t gpus, int64_t ran)
{
  pai_guess g = { .struct_size = sizeof(g) };
  pai_past p = {
    .struct_size = sizeof(p), .user = user, .name = name, .gpus = gpus
  };

  assert_int_equal(pai_history_guess(h, &p, ran * SECOND, &g), PAI_OK);
  return g;
}

/* --- levels --------------------------------------------------------------- */

static void the_most_alike_are_asked_first(void **state)
{
  pai_history *h = new_history();
  pai_guess g;

  (void)state;
  for (int i = 0; i < 8; i++) {
    char name[32];

    (void)snprintf(name, sizeof(name), "train-%d", i);
    assert_int_equal(add(h, "ann", name, 1, 100), PAI_OK);
    assert_int_equal(add(h, "ann", "eval", 1, 10), PAI_OK);
    assert_int_equal(add(h, "bob", "x", 16, 5000), PAI_OK);
  }
  g = guess(h, "ann", "train-99", 1, 0);
  assert_int_equal(g.alike, PAI_ALIKE_NAME);
  assert_int_equal(g.samples, 8);
  assert_int_equal(g.p50, 100 * SECOND);
  g = guess(h, "ann", "other", 1, 0);
  assert_int_equal(g.alike, PAI_ALIKE_USER_SIZE);
  assert_int_equal(g.samples, 16);
  g = guess(h, "ann", "other", 4, 0);
  assert_int_equal(g.alike, PAI_ALIKE_USER);
  g = guess(h, "cid", "train-1", 12, 0);
  assert_int_equal(g.alike, PAI_ALIKE_VC_SIZE);
  assert_int_equal(g.p50, 5000 * SECOND);
  g = guess(h, NULL, NULL, 2, 0);
  assert_int_equal(g.alike, PAI_ALIKE_ANY);
  assert_int_equal(g.samples, 24);
  pai_history_free(h);
}

static void few_are_not_believed(void **state)
{
  pai_history *h = new_history();
  pai_guess g;

  (void)state;
  g = guess(h, "ann", "a", 1, 0);
  assert_int_equal(g.alike, PAI_ALIKE_NONE);
  assert_int_equal(g.p50, 3600 * SECOND);
  for (int i = 0; i < 7; i++)
    assert_int_equal(add(h, "ann", "a", 1, 7), PAI_OK);
  /* All there is, as nothing else is known. */
  g = guess(h, "ann", "a", 1, 0);
  assert_int_equal(g.alike, PAI_ALIKE_ANY);
  assert_int_equal(g.samples, 7);
  assert_int_equal(add(h, "ann", "a", 1, 7), PAI_OK);
  assert_int_equal(guess(h, "ann", "a", 1, 0).alike, PAI_ALIKE_NAME);
  pai_history_free(h);
}

static void estimates_tell_jobs_apart(void **state)
{
  pai_history *h = new_history();
  pai_past p = { .struct_size = sizeof(p), .user = "ann", .name = "a" };
  pai_guess g = { .struct_size = sizeof(g) };

  (void)state;
  for (int i = 0; i < 16; i++) {
    p.estimate = (i % 2 != 0 ? 100 : 10000) * SECOND;
    p.duration = p.estimate / 2;
    assert_int_equal(pai_history_add(h, &p, NULL), PAI_OK);
  }
  p.estimate = 110 * SECOND;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_int_equal(g.alike, PAI_ALIKE_NAME);
  assert_int_equal(g.p50, 50 * SECOND);
  p.estimate = 9000 * SECOND;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_int_equal(g.p50, 5000 * SECOND);
  pai_history_free(h);
}

/* All of them told four times too much. */
static void owners_are_wrong_alike(void **state)
{
  pai_history *h = new_history();
  pai_past p = { .struct_size = sizeof(p) };
  pai_guess g = { .struct_size = sizeof(g) };

  (void)state;
  for (int i = 1; i <= 9; i++) {
    p.estimate = SECOND << (2 * i);
    p.duration = p.estimate / 4;
    assert_int_equal(pai_history_add(h, &p, NULL), PAI_OK);
    assert_int_equal(add(h, NULL, NULL, 0, 5), PAI_OK);
  }
  p.estimate = 100000 * SECOND;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_int_equal(g.alike, PAI_ALIKE_ANY);
  assert_int_equal(g.samples, 9);
  assert_int_equal(g.p50, 25000 * SECOND);
  assert_int_equal(pai_history_guess(h, &p, 1000 * SECOND, &g), PAI_OK);
  assert_int_equal(g.p50, 25000 * SECOND);
  /* Now it is as they told. */
  assert_int_equal(pai_history_guess(h, &p, 30000 * SECOND, &g), PAI_OK);
  assert_int_equal(g.p50, 100000 * SECOND);
  p.estimate = PAI__LONGEST;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_in_range(g.p50, PAI__LONGEST / 4 - 65536, PAI__LONGEST / 4);
  p.estimate = 0;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_int_equal(g.p50, 5 * SECOND);
  pai_history_free(h);
}

static void owners_are_believed_without_a_history(void **state)
{
  pai_history *h = new_history();
  pai_past p = { .struct_size = sizeof(p),
                 .estimate = 50 * SECOND,
                 .limit = 80 * SECOND };
  pai_guess g = { .struct_size = sizeof(g) };

  (void)state;
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_OK);
  assert_int_equal(g.p10, 50 * SECOND);
  assert_int_equal(g.p90, 50 * SECOND);
  /* That was wrong: now it is the limit. */
  assert_int_equal(pai_history_guess(h, &p, 60 * SECOND, &g), PAI_OK);
  assert_int_equal(g.p50, 80 * SECOND);
  pai_history_free(h);
}

/* --- how long still ------------------------------------------------------- */

static void what_has_run_for_long_runs_longer(void **state)
{
  pai_history *h = new_history();
  pai_guess g;

  (void)state;
  for (int i = 1; i <= 32; i++)
    assert_int_equal(add(h, "ann", "a", 1, i), PAI_OK);
  g = guess(h, "ann", "a", 1, 0);
  assert_int_equal(g.p10, 3 * SECOND);
  assert_int_equal(g.p50, 16 * SECOND);
  assert_int_equal(g.p90, 30 * SECOND);
  g = guess(h, "ann", "a", 1, 16);
  assert_int_equal(g.p50, 24 * SECOND);
  assert_true(g.p10 > 16 * SECOND);
  /* Longer than all of them: as long again, or so. */
  g = guess(h, "ann", "a", 1, 100);
  assert_int_equal(g.alike, PAI_ALIKE_NONE);
  assert_true(g.p10 > 100 * SECOND && g.p10 < 115 * SECOND);
  assert_true(g.p50 > 195 * SECOND && g.p50 < 205 * SECOND);
  assert_true(g.p90 > 900 * SECOND && g.p90 < 1100 * SECOND);
  pai_history_free(h);
}

/* Of a name's jobs only three were longer, of its user's some more. */
static void few_that_are_longer_are_not_believed(void **state)
{
  pai_history *h = new_history();

  (void)state;
  for (int i = 1; i <= 20; i++)
    assert_int_equal(add(h, "ann", "a", 1, i), PAI_OK);
  for (int i = 1; i <= 8; i++)
    assert_int_equal(add(h, "ann", "b", 1, 100 + i), PAI_OK);
  assert_int_equal(guess(h, "ann", "a", 1, 16).alike, PAI_ALIKE_NAME);
  assert_int_equal(guess(h, "ann", "a", 1, 17).alike, PAI_ALIKE_USER_SIZE);
  pai_history_free(h);
}

static void limits_are_kept(void **state)
{
  pai_history *h = new_history();
  pai_past p = { .struct_size = sizeof(p), .user = "ann" };
  pai__levels levels;
  pai__source source;

  (void)state;
  for (int i = 1; i <= 16; i++)
    assert_int_equal(add(h, "ann", NULL, 0, 100 * i), PAI_OK);
  p.limit = 900 * SECOND;
  pai__history_levels(h, &p, &levels);
  pai__history_source(&levels, 300 * SECOND, &source);
  for (uint64_t i = 0; i < 1000; i++) {
    pai_time t = pai__source_draw(&source, pai__draw_random(1, i, 2, 0));

    assert_true(t > 300 * SECOND && t <= 900 * SECOND);
  }
  pai_history_free(h);
}

/* Half of all draws are below the median, and so on: of other numbers than the
 * list's own. */
static void draws_are_like_what_was_seen(void **state)
{
  pai_history *h = new_history();
  pai_past p = { .struct_size = sizeof(p), .user = "ann" };
  pai__levels levels;
  pai__source source;
  unsigned below = 0, more = 0, n = 20000;

  (void)state;
  for (int i = 1; i <= 19; i++)
    assert_int_equal(add(h, "ann", NULL, 0, 100 * i), PAI_OK);
  pai__history_levels(h, &p, &levels);
  pai__history_source(&levels, 0, &source);
  for (uint64_t i = 0; i < n; i++) {
    pai_time t = pai__source_draw(&source, pai__draw_random(7, i, 2, 0));

    assert_true(t > 0 && t < 40000 * SECOND);
    below += t < 1000 * SECOND;
    more += t > 1900 * SECOND;
  }
  /* 9.5 of 20, and half of one of 20. */
  assert_true(below > n * 46 / 100 && below < n * 49 / 100);
  assert_true(more > n * 2 / 100 && more < n * 3 / 100);
  pai_history_free(h);
}

static void draws_depend_on_who_and_which_alone(void **state)
{
  uint64_t a = pai__draw_random(1, 2, 3, 4);

  (void)state;
  assert_true(a == pai__draw_random(1, 2, 3, 4));
  assert_true(a != pai__draw_random(2, 2, 3, 4));
  assert_true(a != pai__draw_random(1, 3, 3, 4));
  assert_true(a != pai__draw_random(1, 2, 4, 4));
  assert_true(a != pai__draw_random(1, 2, 3, 5));
  assert_true(a != pai__draw_random(2, 1, 3, 4));
}

/* --- memory --------------------------------------------------------------- */

static void only_the_last_ones_are_kept(void **state)
{
  test_tally tally;
  pai_history *h;
  size_t live;

  (void)state;
  test_tally_init(&tally);
  assert_int_equal(pai_history_new(&h, &tally.alloc, NULL), PAI_OK);
  for (int i = 0; i < 64; i++)
    assert_int_equal(add(h, "ann", "a-1", 1, 5000), PAI_OK);
  live = tally.live;
  for (int i = 0; i < 64; i++)
    assert_int_equal(add(h, "ann", "a-2", 1, i + 1), PAI_OK);
  assert_int_equal(tally.live, live);
  assert_int_equal(guess(h, "ann", "a", 1, 0).p90, 58 * SECOND);
  pai_history_free(h);
  assert_int_equal(tally.live, 0);
}

/* Against a plain list of the last 64. */
static void rings_keep_order(void **state)
{
  pai__ring r = { 0 };
  pai_time all[1000], sorted[64];

  (void)state;
  for (uint32_t i = 0; i < 1000; i++) {
    uint32_t n = i < 63 ? i + 1 : 64;

    all[i] = (pai_time)(pai__draw_random(5, i, 0, 0) % 50);
    assert_int_equal(pai__ring_room(&r, &pai__libc_alloc), PAI_OK);
    pai__ring_push(&r, all[i]);
    assert_int_equal(r.count, n);
    for (uint32_t k = 0; k < n; k++) {
      pai_time t = all[i + 1 - n + k];
      uint32_t at = k;

      assert_int_equal(pai__ring_at(&r, k), t);
      for (; at > 0 && sorted[at - 1] > t; at--)
        sorted[at] = sorted[at - 1];
      sorted[at] = t;
    }
    assert_memory_equal(sorted, r.sorted, n * sizeof(*sorted));
  }
  pai__free(&pai__libc_alloc, r.took, 2 * (size_t)r.cap * sizeof(*r.took));
}

/* --- text ----------------------------------------------------------------- */

static int collect(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return pai__buf_ok(user_data) ? PAI_OK : PAI_ENOMEM;
}

static int fill(pai_history *h)
{
  pai_want want = scene_want(2, 4);
  pai_request q = { .struct_size = sizeof(q),
                    .id = 7,
                    .user = "ann",
                    .name = "a \"quoted\" name",
                    .within = "node",
                    .wants = &want,
                    .nwants = 1 };
  int rc = PAI_OK;

  want.type = "t4";
  for (int i = 0; i < 9 && rc == PAI_OK; i++)
    rc = add(h, i % 2 != 0 ? "ann" : "b\303\266b", "job 12", 8, i);
  for (int i = 0; i < 3 && rc == PAI_OK; i++)
    rc = pai_history_came(h, &q, i * SECOND, NULL);
  for (int i = 0; i < 3; i++)
    pai__history_score(h, 500 * i);
  pai__history_level(h, PAI__P50, true);
  return rc;
}

static void what_was_written_is_read_again(void **state)
{
  pai_history *h = new_history(), *again;
  pai__buf one, two;

  (void)state;
  pai__buf_init(&one, &pai__libc_alloc);
  pai__buf_init(&two, &pai__libc_alloc);
  assert_int_equal(fill(h), PAI_OK);
  assert_int_equal(pai_history_write(h, collect, &one, NULL), PAI_OK);
  assert_int_equal(pai_history_read(&again, one.data, one.len, NULL, NULL),
                   PAI_OK);
  assert_int_equal(pai_history_write(again, collect, &two, NULL), PAI_OK);
  assert_string_equal(one.data, two.data);
  assert_non_null(strstr(one.data, "\"of\":[\"6\",\"ann\",\"job #\",\"0\"]"));
  assert_non_null(strstr(one.data, "\"scores\":[0,500,1000],"
                                   "\"levels\":[0,500,0]"));
  assert_int_equal(guess(again, "ann", "job 4", 8, 0).p50,
                   guess(h, "ann", "job 4", 8, 0).p50);
  pai_history_free(h);
  pai_history_free(again);
  pai__buf_dispose(&one);
  pai__buf_dispose(&two);
}

/* Once more than is kept, of each list: it still goes on alike. */
static void what_was_read_goes_on_alike(void **state)
{
  pai_history *h = new_history(), *again;
  pai__buf text[2];

  (void)state;
  for (int i = 0; i < 2; i++)
    pai__buf_init(&text[i], &pai__libc_alloc);
  for (int i = 0; i < 100; i++)
    assert_int_equal(add(h, "ann", "a", 1, i), PAI_OK);
  for (int i = 0; i < PAI__SCORES + 5; i++)
    pai__history_score(h, i);
  for (int i = 0; i < PAI__CAME / 3 + 3; i++)
    assert_int_equal(fill(h), PAI_OK);
  assert_int_equal(pai_history_write(h, collect, &text[0], NULL), PAI_OK);
  assert_int_equal(
    pai_history_read(&again, text[0].data, text[0].len, NULL, NULL), PAI_OK);
  assert_int_equal(fill(h), PAI_OK);
  assert_int_equal(fill(again), PAI_OK);
  pai__buf_clear(&text[0]);
  assert_int_equal(pai_history_write(h, collect, &text[0], NULL), PAI_OK);
  assert_int_equal(pai_history_write(again, collect, &text[1], NULL), PAI_OK);
  assert_string_equal(text[0].data, text[1].data);
  pai_history_free(h);
  pai_history_free(again);
  pai__buf_dispose(&text[0]);
  pai__buf_dispose(&text[1]);
}

static void broken_texts_are_refused(void **state)
{
  static const char *const rows[][2] = {
    { "", "" },
    { "[]", "a history is an object" },
    { "{}", "needs \"history\"" },
    { "{\"history\":2}", "\"history\" is from 1 to 1" },
    { "{\"history\":1,\"tales\":[]}", "tales" },
    { "{\"history\":1,\"alike\":{}}", "alike" },
    { "{\"history\":1,\"alike\":[{\"of\":[],\"took\":[]}]}", "one to 4" },
    { "{\"history\":1,\"alike\":[{\"of\":[1],\"took\":[]}]}", "a string" },
    { "{\"history\":1,\"alike\":[{\"of\":[\"1\"],\"took\":[-1]}]}",
      "\"took\" is from 0" },
    { "{\"history\":1,\"came\":[{\"time\":0,\"request\":{}}]}", "\"id\"" },
    { "{\"history\":1,\"came\":[{\"time\":0,\"request\":{\"id\":1,"
      "\"wants\":[]}}]}",
      "wants" },
    { "{\"history\":1,\"scores\":[-1001]}", "\"scores\" is from -1000" },
    { "{\"history\":1,\"levels\":[1,2]}", "\"levels\" has 3" },
    { "{\"history\":1,\"levels\":[1,2,100001]}", "\"levels\" is from" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_history *h;
    pai_error *err;

    assert_int_equal(
      pai_history_read(&h, rows[i][0], strlen(rows[i][0]), NULL, &err),
      PAI_EINVAL);
    assert_null(h);
    test_expect_error(err, PAI_EINVAL, rows[i][1]);
  }
}

static void bad_arguments_are_refused(void **state)
{
  pai_history *h = new_history();
  pai_past p = { .struct_size = 3 };
  pai_request q = { .struct_size = sizeof(q) };
  pai_guess g = { .struct_size = sizeof(g) };

  (void)state;
  assert_int_equal(pai_history_add(h, &p, NULL), PAI_EINVAL);
  assert_int_equal(pai_history_add(NULL, &p, NULL), PAI_EINVAL);
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_EINVAL);
  assert_int_equal(pai_history_came(h, &q, 0, NULL), PAI_EINVAL);
  q.struct_size = 1;
  assert_int_equal(pai_history_came(h, &q, 0, NULL), PAI_EINVAL);
  assert_int_equal(pai_history_write(h, NULL, NULL, NULL), PAI_EINVAL);
  pai_history_free(NULL);
  pai_history_free(h);
}

/* --- logs ----------------------------------------------------------------- */

static const char *const log_lines[] = {
  "{\"time\":1000000,\"event\":\"submit\",\"request\":{\"id\":1,\"name\":"
  "\"a-1\",\"user\":\"ann\",\"wants\":[{\"gpus\":2}]}}",
  "{\"time\":2000000,\"event\":\"decide\"}",
  "{\"time\":3000000,\"event\":\"started\",\"id\":1}",
  "{\"time\":4000000,\"event\":\"finished\",\"id\":99}",
  "{\"time\":13000000,\"event\":\"finished\",\"id\":1}",
};

static int read_log(pai_history *h, const pai_alloc *alloc)
{
  pai_sched *s = scene_new("nodes:2 gpu:4 cpus:8 mem:1G", "fifo", NULL, alloc);
  int rc = s != NULL ? PAI_OK : PAI_ENOMEM;

  for (size_t i = 0; i < PAI__LEN(log_lines) && rc >= 0; i++) {
    size_t len = strlen(log_lines[i]);

    rc = pai_history_line(h, s, log_lines[i], len, NULL);
    if (rc >= 0)
      rc = pai_sched_send_json(s, log_lines[i], len, NULL);
    rc = rc == PAI_ENOTFOUND ? PAI_OK : rc;
  }
  pai_sched_free(s);
  return rc < 0 ? rc : PAI_OK;
}

static void a_log_teaches(void **state)
{
  pai_history *h = new_history();

  (void)state;
  assert_int_equal(read_log(h, NULL), PAI_OK);
  assert_int_equal(h->ncame, 1);
  assert_string_equal(h->came[0]->request.user, "ann");
  assert_int_equal(h->came[0]->request.wants[0].gpus, 2);
  assert_int_equal(guess(h, "ann", "a-2", 2, 0).samples, 1);
  assert_int_equal(guess(h, "ann", "a-2", 2, 0).p50, 10 * SECOND);
  pai_history_free(h);
}

static void other_lines_teach_nothing(void **state)
{
  static const char *const lines[] = { "",
                                       "{",
                                       "{\"event\":\"finished\"",
                                       "{\"event\":\"finished\",\"id\":1}",
                                       "{\"snapshot\":1,\"finished\":[}",
                                       "[\"submit\"]" };
  pai_history *h = new_history();
  pai_sched *s = scene_new("nodes:2 gpu:4", "fifo", NULL, NULL);

  (void)state;
  for (size_t i = 0; i < PAI__LEN(lines); i++)
    assert_int_equal(pai_history_line(h, s, lines[i], strlen(lines[i]), NULL),
                     PAI_OK);
  assert_int_equal(h->ncame, 0);
  assert_int_equal(h->rings.live, 0);
  pai_sched_free(s);
  pai_history_free(h);
}

/* --- scores --------------------------------------------------------------- */

static void scores_and_waits_are_two_ways(void **state)
{
  pai_time waits[] = { 10 * SECOND, 20 * SECOND, 40 * SECOND, 80 * SECOND,
                       160 * SECOND };

  (void)state;
  assert_int_equal(pai__score_of(waits, 5, 0), -1000);
  assert_int_equal(pai__score_of(waits, 5, 5 * SECOND), -500);
  assert_int_equal(pai__score_of(waits, 5, 10 * SECOND), 0);
  assert_int_equal(pai__score_of(waits, 5, 30 * SECOND), 375);
  assert_int_equal(pai__score_of(waits, 5, 160 * SECOND), 1000);
  assert_int_equal(pai__score_of(waits, 5, 320 * SECOND), 2000);
  for (int32_t i = -1000; i < 5000; i += 125) {
    pai_time wait = pai__score_wait(waits, 5, i);

    assert_int_equal(pai__score_of(waits, 5, wait), i);
  }
}

static void scores_know_what_never_starts(void **state)
{
  pai_time waits[] = { 10 * SECOND, 20 * SECOND, INT64_MAX };

  (void)state;
  assert_int_equal(pai__score_of(waits, 3, 50 * SECOND), 500);
  assert_true(pai__score_wait(waits, 3, 501) == INT64_MAX);
  assert_true(pai__score_wait(waits, 3, 2000) == INT64_MAX);
  assert_int_equal(pai__score_wait(waits, 3, 500), 20 * SECOND);
  assert_true(pai__score_wait(waits, 0, 500) == INT64_MAX);
  assert_true(pai__score_wait(waits + 2, 1, -500) == INT64_MAX);
  assert_int_equal(pai__score_of(waits, 1, 10 * SECOND), 0);
}

/* Of forecasts that were too narrow: nine of ten are wider then. */
static void bands_learn(void **state)
{
  pai_history *h = new_history();

  (void)state;
  assert_int_equal(pai__score_for(NULL, PAI__P90), 900);
  assert_in_range(pai__score_for(h, PAI__P90), 890, 910);
  assert_in_range(pai__score_for(h, PAI__P10), 90, 110);
  /* A few do not change much. */
  for (int i = 0; i < 4; i++)
    pai__history_score(h, 5000);
  assert_in_range(pai__score_for(h, PAI__P90), 950, 990);
  for (int i = 0; i < PAI__SCORES; i++)
    pai__history_score(h, i % 100 * 20);
  assert_in_range(pai__score_for(h, PAI__P90), 1720, 1820);
  assert_in_range(pai__score_for(h, PAI__P50), 860, 1000);
  assert_in_range(pai__score_for(h, PAI__P10), 130, 220);
  pai_history_free(h);
}

/* What always comes later is told later, and in the end beyond all that was
 * seen; what comes as often as it should stays. */
static void bands_follow_the_times(void **state)
{
  pai_history *h = new_history();
  int32_t before;

  (void)state;
  for (int i = 0; i < 200; i++)
    pai__history_score(h, 500);
  before = pai__score_for(h, PAI__P90);
  for (int i = 0; i < 10; i++)
    pai__history_level(h, PAI__P90, i == 5);
  assert_int_equal(h->levels[PAI__P90], 0);
  for (int i = 0; i < 5; i++)
    pai__history_level(h, PAI__P90, true);
  assert_true(pai__score_for(h, PAI__P90) > before);
  for (int i = 0; i < 20; i++)
    pai__history_level(h, PAI__P90, true);
  assert_true(pai__score_for(h, PAI__P90) > 1000);
  for (int i = 0; i < 2000; i++) {
    pai__history_level(h, PAI__P10, false);
    pai__history_level(h, PAI__P90, true);
  }
  assert_int_equal(h->levels[PAI__P10], -10000);
  assert_int_equal(h->levels[PAI__P90], 100000);
  pai_history_free(h);
}

/* --- faults --------------------------------------------------------------- */

static int learn_and_write(const pai_alloc *alloc, void *user_data)
{
  pai_history *h = NULL, *again = NULL;
  pai_error *err = NULL;
  pai__buf text;
  int rc = pai_history_new(&h, alloc, &err);

  (void)user_data;
  pai__buf_init(&text, alloc);
  if (rc == PAI_OK)
    rc = fill(h);
  if (rc == PAI_OK)
    rc = read_log(h, alloc);
  if (rc == PAI_OK)
    rc = pai_history_write(h, collect, &text, &err);
  if (rc == PAI_OK) {
    assert_null(err);
    rc = pai_history_read(&again, text.data, text.len, alloc, &err);
  }
  if (rc == PAI_OK)
    assert_int_equal(again->ncame, 4);
  else if (h != NULL) /* it can still be asked */
    (void)guess(h, "ann", "a", 1, 0);
  pai_error_free(err);
  pai__buf_dispose(&text);
  pai_history_free(h);
  pai_history_free(again);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(learn_and_write, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_most_alike_are_asked_first),
    cmocka_unit_test(few_are_not_believed),
    cmocka_unit_test(estimates_tell_jobs_apart),
    cmocka_unit_test(owners_are_wrong_alike),
    cmocka_unit_test(owners_are_believed_without_a_history),
    cmocka_unit_test(what_has_run_for_long_runs_longer),
    cmocka_unit_test(few_that_are_longer_are_not_believed),
    cmocka_unit_test(limits_are_kept),
    cmocka_unit_test(draws_are_like_what_was_seen),
    cmocka_unit_test(draws_depend_on_who_and_which_alone),
    cmocka_unit_test(only_the_last_ones_are_kept),
    cmocka_unit_test(rings_keep_order),
    cmocka_unit_test(what_was_written_is_read_again),
    cmocka_unit_test(what_was_read_goes_on_alike),
    cmocka_unit_test(broken_texts_are_refused),
    cmocka_unit_test(bad_arguments_are_refused),
    cmocka_unit_test(a_log_teaches),
    cmocka_unit_test(other_lines_teach_nothing),
    cmocka_unit_test(scores_and_waits_are_two_ways),
    cmocka_unit_test(scores_know_what_never_starts),
    cmocka_unit_test(bands_learn),
    cmocka_unit_test(bands_follow_the_times),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
