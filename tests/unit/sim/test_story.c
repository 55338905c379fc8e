/* Stories of waits, and what other policies would have done. */
#include "busy.h"

#include "base/tree.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define MAY INT64_C(1777593600000000) /* 2026-05-01 */

/* A log that is written by hand, told of by calls. */
typedef struct day {
  pai_sched *s;
  pai__buf log;
} day;

static void begin(day *d, const char *description, const char *policy,
                  const char *options)
{
  d->s = scene_new(description, policy, options, NULL);
  assert_non_null(d->s);
  pai__buf_init(&d->log, &pai__libc_alloc);
  assert_int_equal(
    scene_event(d->s, (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = MAY },
                NULL),
    PAI_OK);
  assert_int_equal(pai_sched_set_log(d->s, scribe_write, &d->log, NULL),
                   PAI_OK);
}

static void end(day *d)
{
  pai_sched_free(d->s);
  pai__buf_dispose(&d->log);
}

static void decide(day *d, pai_time now)
{
  assert_true(pai_sched_decide(d->s, now, NULL) >= 0);
}

static void come(day *d, pai_time at, pai_request r, uint32_t tasks,
                 uint32_t gpus)
{
  pai_want want = scene_want(tasks, gpus);
  pai_sched_event e = { .kind = PAI_SCHED_SUBMIT, .time = MAY + at };

  r.struct_size = sizeof(r);
  r.wants = &want;
  r.nwants = 1;
  e.request = &r;
  assert_int_equal(scene_event(d->s, e, NULL), PAI_OK);
  decide(d, MAY + at);
}

static void tell(day *d, pai_time at, int kind, uint64_t id, int64_t code)
{
  assert_int_equal(
    scene_event(d->s,
                (pai_sched_event){
                  .kind = kind, .time = MAY + at, .id = id, .number = code },
                NULL),
    PAI_OK);
  if (kind != PAI_SCHED_STARTED)
    decide(d, MAY + at);
}

/* Two nodes of 8; big has one from 0:00 to 5:00, half half of the other to
 * 4:40, eight waits for eight, mine behind it, and small behind both. */
static void begin_day(day *d)
{
  begin(d, "nodes:2 gpu:8:V100 cpus:32 mem:64G", "fifo", NULL);
  come(d, 0, (pai_request){ .id = 17, .name = "big", .duration = 5 * HOUR }, 1,
       8);
  tell(d, 0, PAI_SCHED_STARTED, 17, 0);
  come(d, HOUR / 2,
       (pai_request){ .id = 23, .name = "half", .duration = 4 * HOUR }, 1, 4);
  tell(d, HOUR / 2, PAI_SCHED_STARTED, 23, 0);
  come(d, HOUR,
       (pai_request){ .id = 30, .name = "eight", .duration = 2 * HOUR }, 1, 8);
  come(d, HOUR + 5 * MINUTE,
       (pai_request){
         .id = 31, .name = "mine", .user = "dora", .duration = HOUR },
       2, 4);
  come(d, HOUR + 6 * MINUTE, (pai_request){ .id = 32, .duration = HOUR / 2 },
       1, 2);
  tell(d, 4 * HOUR + 40 * MINUTE, PAI_SCHED_FINISHED, 23, 0);
  tell(d, 4 * HOUR + 40 * MINUTE, PAI_SCHED_STARTED, 30, 0);
  tell(d, 5 * HOUR, PAI_SCHED_FINISHED, 17, 0);
  tell(d, 5 * HOUR, PAI_SCHED_STARTED, 31, 0);
  tell(d, 6 * HOUR, PAI_SCHED_FINISHED, 31, 0);
  tell(d, 6 * HOUR, PAI_SCHED_STARTED, 32, 0);
  tell(d, 6 * HOUR + 40 * MINUTE, PAI_SCHED_FINISHED, 30, 0);
  tell(d, 6 * HOUR + 50 * MINUTE, PAI_SCHED_FINISHED, 32, 3);
}

static char story[65536];

static const char *told(const pai__buf *log, uint64_t id, const char *policy,
                        pai_time grain, int format)
{
  pai_story_options o = { .struct_size = sizeof(o),
                          .policy = policy,
                          .grain = grain };
  pai_replay *r = busy_open(log, NULL);
  pai__buf out;
  pai_error *err = NULL;
  int rc;

  pai__buf_init(&out, &pai__libc_alloc);
  rc = pai_replay_story(r, id, &o, format, scribe_write, &out, &err);
  (void)snprintf(story, sizeof(story), "%s",
                 rc == PAI_OK ? pai__buf_text(&out) : pai_error_message(err));
  pai_error_free(err);
  pai__buf_dispose(&out);
  pai_replay_free(r);
  return story;
}

static void says(const char *text, const char *part)
{
  if (strstr(text, part) == NULL)
    fail_msg("want \"%s\" in:\n%s", part, text);
}

/* --- waits ---------------------------------------------------------------- */

static void a_wait_is_told(void **state)
{
  day d;

  (void)state;
  begin_day(&d);
  assert_string_equal(
    told(&d.log, 31, NULL, 0, 0),
    "mine (request 31) of dora in virtual cluster 'default': 2 tasks, 8 "
    "GPUs.\n\n"
    "2026-05-01 01:05:00  it was submitted\n"
    "2026-05-01 01:05:00  3 h 35 min: it was not its turn, behind request 30 "
    "(eight); the first in the queue lacked gpu; in use were 12 of the 16 "
    "V100 GPUs\n"
    "2026-05-01 04:40:00  20 min: no node had 4 GPUs free; requests 17 (big, "
    "8 GPUs) and 30 (eight, 8 GPUs) held 16 of the 16 V100 GPUs\n"
    "2026-05-01 05:00:00  it started on node0001\n"
    "2026-05-01 06:00:00  it finished well\n\n"
    "It waited 3 h 55 min in all.\n");
  says(told(&d.log, 32, NULL, 0, 0),
       "2026-05-01 06:50:00  it finished with code 3\n");
  says(told(&d.log, 17, NULL, 0, 0), "It waited 0 s in all.\n");
  end(&d);
}

/* From when it is behind another one, it is told anew each hour. */
static void hour_by_hour_if_others_have_it(void **state)
{
  day d;

  (void)state;
  begin_day(&d);
  told(&d.log, 32, NULL, 0, 0);
  says(story, "2026-05-01 01:06:00  3 h: it was not its turn, behind request "
              "30 (eight)");
  says(story, "2026-05-01 04:06:00  54 min: it was not its turn, behind "
              "requests 30 (eight) and 31 (mine)");
  told(&d.log, 32, NULL, 10 * MINUTE, 0);
  says(story, "2026-05-01 01:06:00  3 h 30 min: it was not its turn, behind "
              "request 30 (eight)");
  says(story, "2026-05-01 04:36:00  10 min: it was not its turn, behind "
              "requests");
  says(story, "2026-05-01 04:46:00  14 min: it was not its turn, behind "
              "request 31 (mine)");
  end(&d);
}

static void what_changes_often_is_told_by_turns(void **state)
{
  day d;

  (void)state;
  begin(&d, "nodes:1 gpu:8 cpus:32 mem:64G", "fifo", NULL);
  come(&d, 0, (pai_request){ .id = 1 }, 1, 8);
  come(&d, 0, (pai_request){ .id = 2 }, 1, 8);
  for (int i = 1; i <= 10; i++) {
    assert_int_equal(scene_event(d.s,
                                 (pai_sched_event){ .kind = PAI_SCHED_CHANGE,
                                                    .time = MAY + i * MINUTE,
                                                    .id = 2,
                                                    .key = "held",
                                                    .number = i % 2 },
                                 NULL),
                     PAI_OK);
    decide(&d, MAY + i * MINUTE);
  }
  tell(&d, 30 * MINUTE, PAI_SCHED_FINISHED, 1, 0);
  told(&d.log, 2, NULL, 0, 0);
  says(story, "2026-05-01 00:00:00  30 min, by turns:\n");
  says(story, "25 min: no node had 8 GPUs free; request 1 (8 GPUs) held 8 of "
              "the 8 GPUs\n");
  says(story, "5 min: it was held\n");
  end(&d);
}

static void rules_are_told(void **state)
{
  static const char cluster[] =
    "skus: {box: {gpu: t4, gpus: 4, cpus: 8, memory: 8Gi}}\n"
    "nodes: [{name: 'n[1-2]', sku: box}]\n"
    "virtualClusters: {research: {cells: {box: 1}}, "
    "teaching: {cells: {box: 1}}}\n";
  day d;

  (void)state;
  begin(&d, cluster, "fifo", NULL);
  come(&d, 0, (pai_request){ .id = 1, .vc = "research", .name = "a" }, 1, 3);
  come(
    &d, 0,
    (pai_request){ .id = 5, .vc = "teaching", .instances = 3, .at_once = 1 },
    1, 1);
  come(&d, 0, (pai_request){ .id = 2, .vc = "research" }, 1, 2);
  come(&d, 0,
       (pai_request){ .id = 3,
                      .vc = "teaching",
                      .after = &(pai_after){ 1, PAI_AFTER_OK },
                      .nafter = 1 },
       1, 1);
  come(&d, 0, (pai_request){ .id = 4, .vc = "teaching", .held = 1 }, 1, 1);
  tell(&d, HOUR, PAI_SCHED_FINISHED, 1, 0);
  says(told(&d.log, 2, NULL, 0, 0),
       "1 h: quota of virtual cluster 'research': it takes 2 GPUs, and only 1 "
       "could be had; request 1 (a, 3 GPUs) held 3 t4 GPUs\n");
  says(told(&d.log, 3, NULL, 0, 0),
       "1 h: it was to come after request 1 (a)\n");
  says(told(&d.log, 4, NULL, 0, 0), "1 h: it was held\n");
  says(story, "the log ends, and it still waits\n");
  says(told(&d.log, 5, NULL, 0, 0),
       "1 h: no more of its instances might run at a time\n");
  says(story, "3 instances of 1 task, 1 GPU.");
  says(story, "instance 0: it started on ");
  end(&d);
}

static void stops_are_told(void **state)
{
  day d;

  (void)state;
  begin(&d, "nodes:1 gpu:8 cpus:32 mem:64G", "priority", NULL);
  come(&d, 0, (pai_request){ .id = 1 }, 1, 8);
  tell(&d, 0, PAI_SCHED_STARTED, 1, 0);
  come(&d, HOUR, (pai_request){ .id = 2, .priority = 9 }, 1, 8);
  tell(&d, HOUR + MINUTE, PAI_SCHED_RETURNED, 1, 0);
  tell(&d, 2 * HOUR, PAI_SCHED_CANCEL, 1, 0);
  told(&d.log, 1, NULL, 0, 0);
  says(story, "2026-05-01 01:00:00  it was told to stop: it was preempted for "
              "request 2\n");
  says(story, "2026-05-01 01:01:00  it had left its place, to wait again\n");
  says(story, "request 2 (8 GPUs) held 8 of the 8 GPUs\n");
  says(story, "2026-05-01 02:00:00  it was cancelled\n");
  says(told(&d.log, 2, NULL, 0, 0),
       "1 min: those that make room for it had not stopped yet; request 1 (8 "
       "GPUs) held 8 of the 8 GPUs\n");
  says(story, "the log ends, and it still runs\n");
  end(&d);
}

/* What is between two waits is none. */
static void two_waits_are_told(void **state)
{
  day d;

  (void)state;
  begin(&d, "nodes:1 gpu:8 cpus:32 mem:64G", "priority", NULL);
  come(&d, 0, (pai_request){ .id = 1 }, 1, 8);
  come(&d, 0, (pai_request){ .id = 2 }, 1, 8);
  tell(&d, 10 * MINUTE, PAI_SCHED_FINISHED, 1, 0);
  come(&d, 3 * HOUR, (pai_request){ .id = 3, .priority = 9 }, 1, 8);
  tell(&d, 3 * HOUR, PAI_SCHED_RETURNED, 2, 0);
  tell(&d, 3 * HOUR + 30 * MINUTE, PAI_SCHED_FINISHED, 3, 0);
  told(&d.log, 2, NULL, 0, 0);
  says(story, "2026-05-01 00:00:00  10 min: no node had 8 GPUs free;");
  says(story, "2026-05-01 03:00:00  30 min: no node had 8 GPUs free;");
  says(story, "It waited 40 min in all.\n");
  end(&d);
}

static void what_came_before_the_log_is_told(void **state)
{
  day d;
  pai__buf rest;

  (void)state;
  begin_day(&d);
  pai__buf_init(&rest, &pai__libc_alloc);
  end(&d);
  begin(&d, "nodes:1 gpu:8 cpus:32 mem:64G", "fifo", NULL);
  come(&d, 0, (pai_request){ .id = 1 }, 1, 8);
  come(&d, 0, (pai_request){ .id = 2, .name = "b\033[1m" }, 1, 8);
  assert_int_equal(pai_sched_set_log(d.s, scribe_write, &rest, NULL), PAI_OK);
  tell(&d, HOUR, PAI_SCHED_FINISHED, 1, 0);
  says(told(&rest, 2, "backfill", 0, 0),
       "2026-05-01 00:00:00  it was submitted, before the log begins\n"
       "2026-05-01 00:00:00  1 h: no node had 8 GPUs free; request 1 (8 GPUs) "
       "held 8 of the 8 GPUs\n");
  assert_null(strchr(story, '\033'));
  says(story, "Under backfill it would have started at 2026-05-01 01:00:00, "
              "just as it did.\n");
  says(told(&rest, 1, "backfill", 0, 0), ", and ran when the log begins\n");
  assert_null(strstr(story, "Under"));
  pai__buf_dispose(&rest);
  end(&d);
}

/* --- other policies ------------------------------------------------------- */

static void another_policy_would_have(void **state)
{
  day d;

  (void)state;
  begin_day(&d);
  says(told(&d.log, 32, "backfill", 0, 0),
       "Under backfill it would have started at 2026-05-01 01:06:00, 4 h 54 "
       "min earlier.\n");
  says(told(&d.log, 31, "backfill", 0, 0), "just as it did.\n");
  /* The same one does the same. */
  for (uint64_t id = 30; id <= 32; id++)
    says(told(&d.log, id, "fifo", 0, 0), "just as it did.\n");
  says(told(&d.log, 31, "best", 0, 0), "there is no policy 'best'");
  end(&d);
}

/* In a longer log, too, with snapshots. */
static void the_same_policy_does_the_same(void **state)
{
  pai__buf log;
  int begun = 0;

  (void)state;
  busy_log(&log, "fifo", 150, MAY, 2000);
  for (uint64_t id = 1; id <= 150; id += 7) {
    told(&log, id, "fifo", 0, 0);
    if (strstr(story, "the log ends, and it still waits") != NULL)
      continue;
    says(story, "just as it did.\n");
    begun++;
  }
  assert_true(begun > 10);
  pai__buf_dispose(&log);
}

/* What had not ended ends as it was estimated, or never. */
static void estimates_count_where_the_log_does_not_tell(void **state)
{
  day d;

  (void)state;
  begin(&d, "nodes:1 gpu:8 cpus:32 mem:64G", "fifo", NULL);
  come(&d, 0, (pai_request){ .id = 1, .duration = 2 * HOUR }, 1, 8);
  tell(&d, 0, PAI_SCHED_STARTED, 1, 0);
  come(&d, 0, (pai_request){ .id = 2 }, 1, 8);
  come(&d, 0, (pai_request){ .id = 3 }, 1, 8);
  says(told(&d.log, 2, "priority", 0, 0),
       "Under priority it would have started at 2026-05-01 02:00:00; in the "
       "log it has not.\n");
  says(told(&d.log, 3, "priority", 0, 0),
       "Under priority it would not have started by 2026-05-01 02:00:00: it "
       "lacks gpu.\n");
  says(told(&d.log, 3, "priority", 0, PAI_FORMAT_JSON),
       "\"other\":{\"policy\":\"priority\",\"until\":1777600800000000,"
       "\"lack\":\"gpu\",\"given_up\":false,"
       "\"skipped\":0}");
  end(&d);
}

/* --- for programs --------------------------------------------------------- */

static void programs_get_json(void **state)
{
  pai__tree *tree;
  pai__node waits;
  day d;

  (void)state;
  begin_day(&d);
  told(&d.log, 31, "backfill", 0, PAI_FORMAT_JSON);
  assert_int_equal(pai__json_parse(&tree, story, strlen(story), NULL, NULL),
                   PAI_OK);
  assert_int_equal(pai__tree_int(tree, pai__tree_get(tree, 0, "waited")),
                   3 * HOUR + 55 * MINUTE);
  waits = pai__tree_get(tree, 0, "waits");
  assert_int_equal(pai__tree_count(tree, waits), 2);
  pai__tree_free(tree);
  says(story, "\"causes\":[{\"lack\":\"gpu\",\"time\":1200000000,\"wanted\":4,"
              "\"found\":0,\"gpus_held\":16,\"gpus\":16,\"blockers_in_all\":2,"
              "\"blockers\":[{\"id\":17,\"name\":\"big\",\"most\":8},"
              "{\"id\":30,\"name\":\"eight\",\"most\":8}]}]");
  says(story, "\"state\":\"done\"");
  says(story, "\"other\":{\"policy\":\"backfill\",\"started\":"
              "1777611600000000,\"earlier\":0,\"skipped\":0}");
  end(&d);
}

static void what_is_not_there_is_told(void **state)
{
  day d;
  pai_replay *r;
  pai_error *err;
  pai_story_options o = { .struct_size = 1 };
  pai__buf out;

  (void)state;
  begin_day(&d);
  r = busy_open(&d.log, NULL);
  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(pai_replay_story(r, 99, NULL, 0, scribe_write, &out, &err),
                   PAI_ENOTFOUND);
  assert_string_equal(pai_error_help(err), "it goes from 2026-05-01 00:00:00 "
                                           "to 2026-05-01 06:50:00");
  test_expect_error(err, PAI_ENOTFOUND, "there is no request 99");
  assert_int_equal(
    pai_replay_story(r, 17, NULL, PAI_FORMAT_SVG, scribe_write, &out, &err),
    PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "text or JSON");
  assert_int_equal(pai_replay_story(r, 17, &o, 0, scribe_write, &out, NULL),
                   PAI_EINVAL);
  assert_int_equal(
    pai_replay_story(NULL, 17, NULL, 0, scribe_write, &out, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_story(r, 17, NULL, 0, NULL, NULL, NULL),
                   PAI_EINVAL);
  assert_int_equal(out.len, 0);
  pai_replay_free(r);
  end(&d);
}

static int tell_one(const pai_alloc *alloc, void *user_data)
{
  pai__buf *log = user_data;
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai_story_options so = { .struct_size = sizeof(so), .policy = "backfill" };
  pai_replay *r;
  pai__buf out;
  int rc;

  o.alloc = alloc;
  pai__buf_init(&out, &pai__libc_alloc);
  rc = pai_replay_new(&r, busy_read, log, log->len, &o, NULL);
  if (rc == PAI_OK)
    rc =
      pai_replay_story(r, 32, &so, PAI_FORMAT_JSON, scribe_write, &out, NULL);
  if (rc == PAI_OK)
    rc =
      pai_replay_story(r, 31, &so, PAI_FORMAT_TEXT, scribe_write, &out, NULL);
  if (rc == PAI_OK)
    says(pai__buf_text(&out), "\"earlier\":17640000000");
  pai__buf_dispose(&out);
  pai_replay_free(r);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  day d;

  (void)state;
  begin_day(&d);
  test_faults(tell_one, &d.log);
  end(&d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_wait_is_told),
    cmocka_unit_test(hour_by_hour_if_others_have_it),
    cmocka_unit_test(what_changes_often_is_told_by_turns),
    cmocka_unit_test(rules_are_told),
    cmocka_unit_test(stops_are_told),
    cmocka_unit_test(two_waits_are_told),
    cmocka_unit_test(what_came_before_the_log_is_told),
    cmocka_unit_test(another_policy_would_have),
    cmocka_unit_test(the_same_policy_does_the_same),
    cmocka_unit_test(estimates_count_where_the_log_does_not_tell),
    cmocka_unit_test(programs_get_json),
    cmocka_unit_test(what_is_not_there_is_told),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
