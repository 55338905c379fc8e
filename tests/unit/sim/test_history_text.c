/* test_history_text.c - what a history writes and reads, and what logs teach it */
#include "cases.h"
#include "learned.h"

#include <stdio.h>
#include <stdlib.h>

/* --- text ----------------------------------------------------------------- */

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
    rc = learned_add(h, i % 2 != 0 ? "ann" : "b\303\266b", "job 12", 8, i);
  for (int i = 0; i < 3 && rc == PAI_OK; i++)
    rc = pai_history_came(h, &q, i * SECOND, NULL);
  for (int i = 0; i < 3; i++)
    pai__history_score(h, 500 * i);
  pai__history_level(h, PAI__P50, true);
  return rc;
}

TEST(what_was_written_is_read_again)
{
  pai_history *h = learned_new(), *again;
  pai__buf one = test_buf(), two = test_buf();

  assert_ok(fill(h));
  assert_ok(pai_history_write(h, test_collect, &one, NULL));
  assert_ok(pai_history_read(&again, one.data, one.len, NULL, NULL));
  assert_ok(pai_history_write(again, test_collect, &two, NULL));
  assert_string_equal(one.data, two.data);
  assert_has(one.data, "\"of\":[\"6\",\"ann\",\"job #\",\"0\"]");
  assert_has(one.data, "\"scores\":[0,500,1000],"
                       "\"levels\":[0,500,0]");
  assert_int_equal(learned_guess(again, "ann", "job 4", 8, 0).p50,
                   learned_guess(h, "ann", "job 4", 8, 0).p50);
  pai_history_free(again);
  pai__buf_dispose(&one);
  pai__buf_dispose(&two);
}

/* Once more than is kept, of each list: it still goes on alike. */
TEST(what_was_read_goes_on_alike)
{
  pai_history *h = learned_new(), *again;
  pai__buf text[2];

  for (int i = 0; i < 2; i++)
    pai__buf_init(&text[i], &pai__libc_alloc);
  for (int i = 0; i < 100; i++)
    assert_ok(learned_add(h, "ann", "a", 1, i));
  for (int i = 0; i < PAI__SCORES + 5; i++)
    pai__history_score(h, i);
  for (int i = 0; i < PAI__RECORDED_ARRIVALS / 3 + 3; i++)
    assert_ok(fill(h));
  assert_ok(pai_history_write(h, test_collect, &text[0], NULL));
  assert_ok(pai_history_read(&again, text[0].data, text[0].len, NULL, NULL));
  assert_ok(fill(h));
  assert_ok(fill(again));
  pai__buf_clear(&text[0]);
  assert_ok(pai_history_write(h, test_collect, &text[0], NULL));
  assert_ok(pai_history_write(again, test_collect, &text[1], NULL));
  assert_string_equal(text[0].data, text[1].data);
  pai_history_free(again);
  pai__buf_dispose(&text[0]);
  pai__buf_dispose(&text[1]);
}

TEST(broken_texts_are_refused)
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

TEST(bad_arguments_are_refused)
{
  pai_history *h = learned_new();
  pai_past p = { .struct_size = 3 };
  pai_request q = { .struct_size = sizeof(q) };
  pai_guess g = { .struct_size = sizeof(g) };

  assert_int_equal(pai_history_add(h, &p, NULL), PAI_EINVAL);
  assert_int_equal(pai_history_add(NULL, &p, NULL), PAI_EINVAL);
  assert_int_equal(pai_history_guess(h, &p, 0, &g), PAI_EINVAL);
  assert_int_equal(pai_history_came(h, &q, 0, NULL), PAI_EINVAL);
  q.struct_size = 1;
  assert_int_equal(pai_history_came(h, &q, 0, NULL), PAI_EINVAL);
  assert_int_equal(pai_history_write(h, NULL, NULL, NULL), PAI_EINVAL);
  pai_history_free(NULL);
}

/* --- logs ----------------------------------------------------------------- */

static const char *const log_lines[] = {
  ("{\"time\":1000000,\"event\":\"submit\",\"request\":{\"id\":1,\"name\":"
   "\"a-1\",\"user\":\"ann\",\"wants\":[{\"gpus\":2}]}}"),
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

TEST(a_log_teaches)
{
  pai_history *h = learned_new();

  assert_ok(read_log(h, NULL));
  assert_int_equal(h->narrivals, 1);
  assert_string_equal(h->arrivals[0]->request.user, "ann");
  assert_int_equal(h->arrivals[0]->request.wants[0].gpus, 2);
  assert_int_equal(learned_guess(h, "ann", "a-2", 2, 0).samples, 1);
  assert_int_equal(learned_guess(h, "ann", "a-2", 2, 0).p50, 10 * SECOND);
}

TEST(other_lines_teach_nothing)
{
  static const char *const lines[] = { "",
                                       "{",
                                       "{\"event\":\"finished\"",
                                       "{\"event\":\"finished\",\"id\":1}",
                                       "{\"snapshot\":1,\"finished\":[}",
                                       "[\"submit\"]" };
  pai_history *h = learned_new();
  pai_sched *s = scene_new("nodes:2 gpu:4", "fifo", NULL, NULL);

  for (size_t i = 0; i < PAI__LEN(lines); i++)
    assert_ok(pai_history_line(h, s, lines[i], strlen(lines[i]), NULL));
  assert_int_equal(h->narrivals, 0);
  assert_int_equal(h->rings.live, 0);
  pai_sched_free(s);
}

/* --- faults --------------------------------------------------------------- */

TEST_FAULTS(no_memory_is_survived)
{
  pai_history *h = NULL, *again = NULL;
  pai_error *err = NULL;
  pai__buf text;
  int rc = pai_history_new(&h, alloc, &err);

  pai__buf_init(&text, alloc);
  if (rc == PAI_OK)
    rc = fill(h);
  if (rc == PAI_OK)
    rc = read_log(h, alloc);
  if (rc == PAI_OK)
    rc = pai_history_write(h, test_collect, &text, &err);
  if (rc == PAI_OK) {
    assert_null(err);
    rc = pai_history_read(&again, text.data, text.len, alloc, &err);
  }
  if (rc == PAI_OK)
    assert_int_equal(again->narrivals, 4);
  else if (h != NULL) /* it can still be asked */
    (void)learned_guess(h, "ann", "a", 1, 0);
  pai_error_free(err);
  pai__buf_dispose(&text);
  pai_history_free(h);
  pai_history_free(again);
  return rc;
}

TEST_AROUND_ALL(NULL, learned_free);
