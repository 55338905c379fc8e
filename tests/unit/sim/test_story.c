/* Stories of waits, and what other policies would have done. */
#include "cases.h"
#include "busy.h"
#include "learned.h"

#include "base/tree.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define MAY INT64_C(1777593600000000) /* 2026-05-01 */

#define EIGHTS "nodes:2 gpu:8:V100 cpus:32 mem:64G"
#define EIGHT "nodes:1 gpu:8 cpus:32 mem:64G"

/* Writes the log of what a text tells from the first of May on, with a decision
 * behind each line; "log" forgets what was logged. */
static pai__buf *play(const char *cluster, const char *policy,
                      const char *text)
{
  pai_sched *s = scene_new(cluster, policy, NULL, NULL);
  pai__buf *log = busy_text();
  char *copy = strdup(text), *line, *rest = copy;

  assert_true(s != NULL && copy != NULL);
  assert_ok(scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = MAY }, NULL));
  assert_ok(pai_sched_set_log(s, scribe_write, log, NULL));
  while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
    if (strcmp(line, "log") == 0) {
      pai__buf_clear(log);
      assert_ok(pai_sched_set_log(s, scribe_write, log, NULL));
      continue;
    }
    assert_ok(learned_line(s, MAY, line));
    assert_true(pai_sched_decide(s, scene_now(s), NULL) >= 0);
  }
  pai_sched_free(s);
  free(copy);
  return log;
}

static char story[65536];

static const char *told(const pai__buf *log, uint64_t id, const char *policy,
                        pai_time grain, int format)
{
  pai_story_options o = { .struct_size = sizeof(o),
                          .policy = policy,
                          .grain = grain };
  pai_replay *r = busy_open(log, NULL);
  pai__buf out = test_buf();
  pai_error *err = NULL;
  int rc;

  rc = pai_replay_story(r, id, &o, format, scribe_write, &out, &err);
  (void)snprintf(story, sizeof(story), "%s",
                 rc == PAI_OK ? pai__buf_text(&out) : pai_error_message(err));
  pai_error_free(err);
  pai__buf_dispose(&out);
  return story;
}

static void says(const char *text, const char *part)
{
  if (strstr(text, part) == NULL)
    fail_msg("want \"%s\" in:\n%s", part, text);
}

/* --- stories -------------------------------------------------------------- */

/* Two nodes of 8; big has one from 0:00 to 5:00, half half of the other to
 * 4:40, eight waits for eight, mine behind it, and 32 behind both. */
static const char long_day[] = "0:00 17 - 1x8 5:00 name=big\n"
                               "0:00 started 17\n"
                               "0:30 23 - 1x4 4:00 name=half\n"
                               "0:30 started 23\n"
                               "1:00 30 - 1x8 2:00 name=eight\n"
                               "1:05 31 dora 2x4 1:00 name=mine\n"
                               "1:06 32 - 1x2 0:30\n"
                               "4:40 finished 23 0\n"
                               "4:40 started 30\n"
                               "5:00 finished 17 0\n"
                               "5:00 started 31\n"
                               "6:00 finished 31 0\n"
                               "6:00 started 32\n"
                               "6:40 finished 30 0\n"
                               "6:50 finished 32 3\n";

static const char two_vcs[] =
  "skus: {box: {gpu: t4, gpus: 4, cpus: 8, memory: 8Gi}}\n"
  "nodes: [{name: 'n[1-2]', sku: box}]\n"
  "virtualClusters: {research: {cells: {box: 1}}, "
  "teaching: {cells: {box: 1}}}\n";

/* Days, and what is said of the waits of a request in them, each part. */
static const struct {
  const char *name, *cluster, *policy, *day;
  struct {
    uint64_t id;
    const char *other; /* policy; or none */
    pai_time grain;
    const char *parts[5];
  } asked[5];
} days[] = {
  { "a wait behind others, hour by hour if others have it",
    EIGHTS,
    "fifo",
    long_day,
    { { 32,
        NULL,
        0,
        { "2026-05-01 06:50:00  it finished with code 3\n",
          "2026-05-01 01:06:00  3 h: it was not its turn, behind request 30 "
          "(eight)",
          "2026-05-01 04:06:00  54 min: it was not its turn, behind requests "
          "30 (eight) and 31 (mine)" } },
      { 32,
        NULL,
        10 * MINUTE,
        { "2026-05-01 01:06:00  3 h 30 min: it was not its turn, behind "
          "request 30 (eight)",
          "2026-05-01 04:36:00  10 min: it was not its turn, behind requests",
          "2026-05-01 04:46:00  14 min: it was not its turn, behind request "
          "31 (mine)" } },
      { 17, NULL, 0, { "It waited 0 s in total.\n" } } } },
  { "another policy would have; the same one does the same",
    EIGHTS,
    "fifo",
    long_day,
    { { 32,
        "backfill",
        0,
        { "Under backfill it would have started at 2026-05-01 01:06:00, 4 h "
          "54 min earlier.\n" } },
      { 31, "backfill", 0, { "the same time as in the log.\n" } },
      { 30, "fifo", 0, { "the same time as in the log.\n" } },
      { 32, "fifo", 0, { "the same time as in the log.\n" } },
      { 31, "best", 0, { "there is no policy 'best'" } } } },
  { "what changes often is told by turns",
    EIGHT,
    "fifo",
    "0:00 1 - 1x8 0\n0:00 2 - 1x8 0\n"
    "0:01 held 2 1\n0:02 held 2 0\n0:03 held 2 1\n0:04 held 2 0\n"
    "0:05 held 2 1\n0:06 held 2 0\n0:07 held 2 1\n0:08 held 2 0\n"
    "0:09 held 2 1\n0:10 held 2 0\n0:30 finished 1 0\n",
    { { 2,
        NULL,
        0,
        { "2026-05-01 00:00:00  30 min, alternating:\n",
          "25 min: no node had 8 GPUs free; request 1 (8 GPUs) held 8 of the "
          "8 GPUs\n",
          "5 min: it was held\n" } } } },
  { "rules",
    two_vcs,
    "fifo",
    "0:00 1 - 1x3 0 vc=research name=a\n"
    "0:00 5 - 1x1 0 vc=teaching instances=3 once=1\n"
    "0:00 2 - 1x2 0 vc=research\n"
    "0:00 3 - 1x1 0 vc=teaching after=1\n"
    "0:00 4 - 1x1 0 vc=teaching hold=1\n"
    "1:00 finished 1 0\n",
    { { 2,
        NULL,
        0,
        { "1 h: quota of virtual cluster 'research': it needed 2 GPUs, "
          "available: 1; request 1 (a, 3 GPUs) held 3 t4 GPUs\n" } },
      { 3, NULL, 0, { "1 h: it depended on request 1 (a)\n" } },
      { 4,
        NULL,
        0,
        { "1 h: it was held\n", "the log ends, and it still waits\n" } },
      { 5,
        NULL,
        0,
        { "1 h: the limit of its running instances was reached\n",
          "3 instances of 1 task, 1 GPU.",
          "instance 0: it started on " } } } },
  { "stops",
    EIGHT,
    "priority",
    "0:00 1 - 1x8 0\n0:00 started 1\n1:00 2 - 1x8 0 priority=9\n"
    "1:01 returned 1 0\n2:00 cancelled 1 0\n",
    { { 1,
        NULL,
        0,
        { "2026-05-01 01:00:00  a stop was requested: it was preempted for "
          "request 2\n",
          "2026-05-01 01:01:00  it left its nodes and waited again\n",
          "request 2 (8 GPUs) held 8 of the 8 GPUs\n",
          "2026-05-01 02:00:00  it was cancelled\n" } },
      { 2,
        NULL,
        0,
        { "1 min: the jobs that make room for it had not stopped yet; request "
          "1 "
          "(8 GPUs) held 8 of the 8 GPUs\n",
          "the log ends, and it still runs\n" } } } },
  { "what is between two waits is none",
    EIGHT,
    "priority",
    "0:00 1 - 1x8 0\n0:00 2 - 1x8 0\n0:10 finished 1 0\n3:00 3 - 1x8 0 "
    "priority=9\n"
    "3:00 returned 2 0\n3:30 finished 3 0\n",
    { { 2,
        NULL,
        0,
        { "2026-05-01 00:00:00  10 min: no node had 8 GPUs free;",
          "2026-05-01 03:00:00  30 min: no node had 8 GPUs free;",
          "It waited 40 min in total.\n" } } } },
  { "what came before the log",
    EIGHT,
    "fifo",
    "0:00 1 - 1x8 0\n0:00 2 - 1x8 0 name=b\033[1m\nlog\n1:00 finished 1 0\n",
    { { 2,
        "backfill",
        0,
        { "b?[1m",
          "2026-05-01 00:00:00  it was submitted, before the log begins\n"
          "2026-05-01 00:00:00  1 h: no node had 8 GPUs free; request 1 (8 "
          "GPUs) held 8 of the 8 GPUs\n",
          "Under backfill it would have started at 2026-05-01 01:00:00, the "
          "same time as in the log.\n" } },
      { 1, "backfill", 0, { ", and ran when the log begins\n" } } } },
  { "what had not ended ends as it was estimated, or never",
    EIGHT,
    "fifo",
    "0:00 1 - 1x8 2:00\n0:00 started 1\n0:00 2 - 1x8 0\n0:00 3 - 1x8 0\n",
    { { 2,
        "priority",
        0,
        { "Under priority it would have started at 2026-05-01 02:00:00; in "
          "the log it has not started.\n" } },
      { 3,
        "priority",
        0,
        { "Under priority it would not have started by 2026-05-01 02:00:00: "
          "it lacks gpu.\n" } } } },
};

TEST(waits_are_told)
{
  for (size_t i = 0; i < PAI__LEN(days); i++) {
    pai__buf *log = play(days[i].cluster, days[i].policy, days[i].day);

    for (size_t k = 0; k < 5 && days[i].asked[k].id != 0; k++) {
      told(log, days[i].asked[k].id, days[i].asked[k].other,
           days[i].asked[k].grain, 0);
      for (size_t n = 0; n < 5 && days[i].asked[k].parts[n] != NULL; n++)
        says(story, days[i].asked[k].parts[n]);
      assert_null(strchr(story, '\033'));
    }
  }
}

TEST(a_story_is_whole)
{
  pai__buf *log = play(EIGHTS, "fifo", long_day);

  assert_string_equal(
    told(log, 31, NULL, 0, 0),
    "mine (request 31) of dora in virtual cluster 'default': 2 tasks, 8 "
    "GPUs.\n\n"
    "2026-05-01 01:05:00  it was submitted\n"
    "2026-05-01 01:05:00  3 h 35 min: it was not its turn, behind request 30 "
    "(eight); the first in the queue lacked gpu; 12 of the 16 V100 "
    "GPUs were in use\n"
    "2026-05-01 04:40:00  20 min: no node had 4 GPUs free; requests 17 (big, "
    "8 GPUs) and 30 (eight, 8 GPUs) held 16 of the 16 V100 GPUs\n"
    "2026-05-01 05:00:00  it started on node0001\n"
    "2026-05-01 06:00:00  it succeeded\n\n"
    "It waited 3 h 55 min in total.\n");
}

/* In a longer log, too, with snapshots. */
TEST(the_same_policy_does_the_same)
{
  pai__buf *log = busy_log("fifo", 150, MAY, 2000);
  int begun = 0;

  for (uint64_t id = 1; id <= 150; id += 7) {
    told(log, id, "fifo", 0, 0);
    if (strstr(story, "the log ends, and it still waits") != NULL)
      continue;
    says(story, "the same time as in the log.\n");
    begun++;
  }
  assert_true(begun > 10);
}

TEST(programs_get_json)
{
  pai__tree *tree;
  pai__node waits;
  pai__buf *log = play(EIGHTS, "fifo", long_day);

  told(log, 31, "backfill", 0, PAI_FORMAT_JSON);
  assert_ok(pai__json_parse(&tree, story, strlen(story), NULL, NULL));
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
  log = play(
    EIGHT, "fifo",
    "0:00 1 - 1x8 2:00\n0:00 started 1\n0:00 2 - 1x8 0\n0:00 3 - 1x8 0\n");
  says(told(log, 3, "priority", 0, PAI_FORMAT_JSON),
       "\"other\":{\"policy\":\"priority\",\"until\":1777600800000000,"
       "\"lack\":\"gpu\",\"given_up\":false,\"skipped\":0}");
}

TEST(what_is_not_there_is_told)
{
  pai__buf *log = play(EIGHTS, "fifo", long_day);
  pai_replay *r;
  pai_error *err;
  pai_story_options o = { .struct_size = 1 };
  pai__buf out = test_buf();

  r = busy_open(log, NULL);
  assert_int_equal(pai_replay_story(r, 99, NULL, 0, scribe_write, &out, &err),
                   PAI_ENOTFOUND);
  assert_string_equal(pai_error_help(err),
                      "the log covers 2026-05-01 00:00:00 "
                      "to 2026-05-01 06:50:00");
  test_expect_error(err, PAI_ENOTFOUND, "there is no request 99");
  assert_fails(
    pai_replay_story(r, 17, NULL, PAI_FORMAT_SVG, scribe_write, &out, &err),
    err, PAI_EINVAL, "text or JSON");
  assert_int_equal(pai_replay_story(r, 17, &o, 0, scribe_write, &out, NULL),
                   PAI_EINVAL);
  assert_int_equal(
    pai_replay_story(NULL, 17, NULL, 0, scribe_write, &out, NULL), PAI_EINVAL);
  assert_int_equal(pai_replay_story(r, 17, NULL, 0, NULL, NULL, NULL),
                   PAI_EINVAL);
  assert_int_equal(out.len, 0);
}

static int tell_one(const pai_alloc *alloc, void *user_data)
{
  pai__buf *log = user_data;
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai_story_options so = { .struct_size = sizeof(so), .policy = "backfill" };
  pai_replay *r;
  pai__buf out = test_buf();
  int rc;

  o.alloc = alloc;
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

TEST(no_memory_is_survived)
{
  pai__buf *log = play(EIGHTS, "fifo", long_day);

  test_faults(tell_one, log);
}

TEST_AROUND_ALL(NULL, busy_free);
