/* Planning ahead: backfill, EASY and conservative. */
#include "scene.h"

#define POOL "nodes:1 gpu:10 cpus:64 mem:1G"

/* A job of one task that takes so long; 0: not known. */
static int job(pai_sched *s, uint64_t id, uint32_t gpus, pai_time duration)
{
  pai_want want = scene_want(1, gpus);

  return scene_request(
    s,
    &(pai_request){
      .id = id, .wants = &want, .nwants = 1, .duration = duration },
    NULL);
}

static pai_time until(const pai_sched *s, uint64_t id)
{
  pai_reason r = { .struct_size = sizeof(r) };

  assert_int_equal(pai_sched_reason(s, id, &r), PAI_OK);
  return r.until;
}

static void set_time(pai_sched *s, pai_time time)
{
  assert_int_equal(
    scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = time },
                NULL),
    PAI_OK);
}

/* 6 of 10 GPUs until 100.  Job 2 wants 8 and waits for them; job 3, short,
 * fits before; job 4, long, only beside it; job 5 neither. */
static void easy_lets_pass_who_does_not_delay_the_first(void **state)
{
  pai_sched *s = scene_new(POOL, "backfill", NULL, NULL);
  pai_reason r = { .struct_size = sizeof(r) };

  (void)state;
  assert_int_equal(job(s, 1, 6, 100), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(job(s, 2, 8, 100), PAI_OK);
  assert_int_equal(job(s, 5, 3, 101), PAI_OK);
  assert_int_equal(job(s, 3, 2, 100), PAI_OK);
  assert_int_equal(job(s, 4, 2, 0), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3, start 4");
  assert_int_equal(until(s, 2), 100);
  assert_int_equal(pai_sched_reason(s, 5, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_LATER);
  assert_int_equal(r.behind, 2);
  set_time(s, 100);
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  pai_sched_free(s);
}

/* Job 3 is promised 100 to 200 only if all are: then job 4 would delay it. */
static void conservative_delays_nobody(void **state)
{
  static const char *const modes[] = {
    "{\"mode\":\"easy\"}", "{\"mode\":\"conservative\"}",
    "{\"mode\":\"conservative\",\"depth\":1}"
  };

  (void)state;
  for (int i = 0; i < 3; i++) {
    pai_sched *s = scene_new(POOL, "backfill", modes[i], NULL);
    bool all = i == 1;
    pai_reason r = { .struct_size = sizeof(r) };

    assert_int_equal(job(s, 1, 6, 100), PAI_OK);
    assert_string_equal(scene_decide(s), "start 1");
    assert_int_equal(job(s, 2, 5, 100), PAI_OK); /* 100 to 200 */
    assert_int_equal(job(s, 3, 5, 100), PAI_OK); /* likewise, beside it */
    assert_int_equal(job(s, 4, 4, 150), PAI_OK); /* now, or at 200 */
    assert_string_equal(scene_decide(s), all ? "" : "start 4");
    assert_int_equal(until(s, 2), 100);
    assert_int_equal(until(s, 3), all ? 100 : 0);
    if (all) {
      assert_int_equal(pai_sched_reason(s, 4, &r), PAI_OK);
      assert_int_equal(r.lack, PAI_LACK_LATER);
      assert_int_equal(r.until, 200);
    }
    pai_sched_free(s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(easy_lets_pass_who_does_not_delay_the_first),
    cmocka_unit_test(conservative_delays_nobody),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
