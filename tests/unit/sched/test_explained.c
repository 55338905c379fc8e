/* What was told of requests is told again while nothing has happened, and is
 * looked for once, whoever asks and in whichever form. */
#include "scene.h"

#include "base/buf.h"

enum { WAITING = 20 };

static int add(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return PAI_OK;
}

/* How many allocations it took; the answer is in `out`. */
static size_t ask(test_tally *memory, const pai_sched *s, uint64_t id,
                  int format, pai__buf *out)
{
  size_t before = memory->calls;

  pai__buf_init(out, &pai__libc_alloc);
  assert_int_equal(pai_sched_explain(s, id, format, add, out, NULL), PAI_OK);
  return memory->calls - before;
}

static pai_sched *make(const char *policy, test_tally *memory)
{
  pai_sched *s =
    scene_new("nodes:2 gpu:4 cpus:8", policy, NULL, &memory->alloc);

  for (uint64_t id = 1; id <= WAITING; id++)
    assert_int_equal(scene_submit(s, id, 1, 1 + (uint32_t)(id % 4)), PAI_OK);
  (void)scene_decide(s);
  return s;
}

static void same_state(const char *policy)
{
  test_tally memory;
  pai_sched *s;
  pai__buf text, json, again;

  test_tally_init(&memory);
  s = make(policy, &memory);
  assert_true(ask(&memory, s, WAITING, PAI_FORMAT_TEXT, &text) != 0);
  assert_int_equal(ask(&memory, s, WAITING, PAI_FORMAT_JSON, &json), 0);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(ask(&memory, s, WAITING, 0, &again), 0);
    assert_string_equal(pai__buf_text(&text), pai__buf_text(&again));
    pai__buf_dispose(&again);
  }
  /* Another one, and another state. */
  assert_true(ask(&memory, s, WAITING - 1, 0, &again) != 0);
  pai__buf_dispose(&again);
  assert_int_equal(scene_change(s, WAITING, "held", 1), PAI_OK);
  assert_true(ask(&memory, s, WAITING, PAI_FORMAT_TEXT, &again) != 0);
  assert_non_null(strstr(pai__buf_text(&again), "held until it is released"));
  pai__buf_dispose(&again);
  pai__buf_dispose(&text);
  pai__buf_dispose(&json);
  pai_sched_free(s);
}

static void who_asks_at_the_same_state_shares_the_answer(void **state)
{
  static const char *const policies[] = { "fifo", "backfill", "priority",
                                          "fair", "capacity", "k8s",
                                          "hived" };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(policies); i++)
    same_state(policies[i]);
}

/* --- where many wait ------------------------------------------------------- */

enum { MANY = 2000, LARGE = 1 << 14 };

/* Counts large blocks that are taken. */
static void *count_large(void *ctx, void *block, size_t old_size,
                         size_t new_size)
{
  size_t *large = ctx;

  *large += block == NULL && new_size >= LARGE;
  return pai__libc_alloc.realloc_fn(pai__libc_alloc.ctx, block, old_size,
                                    new_size);
}

/* Many changes are tried, each on a fork: each takes the memory of the one
 * before. */
static void many_wait(const char *policy)
{
  size_t large = 0;
  const pai_alloc alloc = { &large, count_large };
  pai_sched *s = scene_new("nodes:2 gpu:4 cpus:8", policy, NULL, &alloc);
  pai__buf text;

  for (uint64_t id = 1; id <= MANY; id++)
    assert_int_equal(scene_submit(s, id, 1, 1 + (uint32_t)(id % 4)), PAI_OK);
  (void)scene_decide(s);
  large = 0;
  pai__buf_init(&text, &pai__libc_alloc);
  assert_int_equal(
    pai_sched_explain(s, MANY, PAI_FORMAT_TEXT, add, &text, NULL), PAI_OK);
  assert_in_range(large, 1, 40);
  pai__buf_dispose(&text);
  pai_sched_free(s);
}

static void forks_use_memory_again(void **state)
{
  static const char *const all[] = { "fifo", "backfill", "priority",
                                     "fair", "k8s",      "capacity" };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(all); i++)
    many_wait(all[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(forks_use_memory_again),
    cmocka_unit_test(who_asks_at_the_same_state_shares_the_answer),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
