/* Events as lines of JSON, and what is made of them. */
#include "files.h"
#include "sched/scribe.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGE SOURCE_DIR "/docs/internals/sched-log.md"
#define TWO "nodes:2 gpu:4:t4 cpus:8 mem:1G"

/* Block `n` of JSON of the page, to be disposed of. */
static void read_block(int n, pai__buf *out)
{
  const char *begin = test_file(PAGE), *end;

  assert_non_null(begin);
  for (int i = 0; i <= n; i++) {
    begin = strstr(begin, "```json\n");
    assert_non_null(begin);
    begin += 8;
  }
  end = strstr(begin, "```\n");
  assert_non_null(end);
  pai__buf_init(out, &pai__libc_alloc);
  pai__buf_add(out, begin, (size_t)(end - begin));
}

TEST(the_page_s_log_gives_the_page_s_decisions)
{
  pai__buf log, expected, got = test_buf();
  size_t line;
  pai_sched *s;

  read_block(0, &log);
  read_block(1, &expected);
  s = scribe_replay(pai__buf_text(&log), NULL, &got, &line, NULL);
  assert_non_null(s);
  scribe_same(&expected, &got);
  pai_sched_free(s);
  pai__buf_dispose(&log);
  pai__buf_dispose(&expected);
  pai__buf_dispose(&got);
}

/* Read, and written by a scheduler that has a log itself. */
TEST(each_line_is_written_as_it_was_read)
{
  pai_sched *s = NULL;
  pai__buf log, again = test_buf();
  const char *at;

  read_block(0, &log);
  at = strchr(pai__buf_text(&log), '\n') + 1;
  assert_ok(pai_sched_load(&s, pai__buf_text(&log),
                           (size_t)(at - pai__buf_text(&log)), NULL, NULL));
  assert_ok(pai_sched_set_log(s, scribe_write, &again, NULL));
  while (*at != '\0') {
    const char *end = strchr(at, '\n');

    assert_true(pai_sched_send_json(s, at, (size_t)(end - at), NULL) >= 0);
    at = end + 1;
  }
  scribe_same(&log, &again);
  pai_sched_free(s);
  pai__buf_dispose(&log);
  pai__buf_dispose(&again);
}

/* --- bad lines ------------------------------------------------------------ */

/* With ' for ". */
static const struct {
  const char *line;
  int code;
  uint32_t column;
  const char *pointer, *part;
} bad[] = {
  { "{'time':1,", PAI_EINVAL, 11, NULL, "" },
  { "[]", PAI_EINVAL, 1, "", "is an object" },
  { "{'time':1}", PAI_EINVAL, 1, "", "needs \"event\"" },
  { "{'event':'time'}", PAI_EINVAL, 1, "", "needs \"time\"" },
  { "{'time':1,'event':'tim'}", PAI_EINVAL, 19, "/event",
    "cannot be \"tim\"" },
  { "{'time':1,'event':''}", PAI_EINVAL, 19, "/event", "cannot be \"\"" },
  { "{'time':'1','event':'time'}", PAI_EINVAL, 9, "/time", "whole number" },
  { "{'time':1.5,'event':'time'}", PAI_EINVAL, 9, "/time", "whole number" },
  { "{'time':1,'event':'time','id':3}", PAI_EINVAL, 26, "/id",
    "an event \"time\" has no \"id\"" },
  { "{'time':1,'event':'started','id':-3}", PAI_EINVAL, 34, "/id",
    "from 0 on" },
  { "{'time':1,'event':'started','id':'3x'}", PAI_EINVAL, 34, "/id",
    "from 0 on" },
  { "{'time':1,'event':'started','id':'18446744073709551616'}", PAI_EINVAL, 34,
    "/id", "from 0 on" },
  { "{'time':1,'event':'started','id':9,'instance':-1}", PAI_EINVAL, 47,
    "/instance", "\"instance\" is from 0 to 4294967295, not -1" },
  { "{'time':1,'event':'started','id':9}", PAI_ENOTFOUND, 0, NULL,
    "event 1: there is no request 9" },
  { "{'time':1,'event':'submit','request':{'id':1,'wants':[{'gpu':1}]}}",
    PAI_EINVAL, 56, "/request/wants/0/gpu", "a want has no \"gpu\"" },
  { "{'time':1,'event':'submit','request':{'id':1}}", PAI_EINVAL, 38,
    "/request", "needs \"wants\"" },
  { "{'time':1,'event':'submit','request':{'id':1,'wants':{}}}", PAI_EINVAL,
    54, "/request/wants", "is a list" },
  { "{'time':1,'event':'submit','request':{'id':1,'held':1,'wants':[{}]}}",
    PAI_EINVAL, 53, "/request/held", "true or false" },
  { "{'time':1,'event':'submit','request':{'id':1,'name':'a\\u0000b','wants':["
    "{}]}}",
    PAI_EINVAL, 53, "/request/name", "has a NUL" },
  { "{'time':1,'event':'submit','request':{'id':1,'wants':[{}],'after':[{'id':"
    "2,'done':true}]}}",
    PAI_EINVAL, 76, "/request/after/0/done", "has no \"done\"" },
  { "{'time':1,'event':'submit','request':{'id':1,'wants':[]}}", PAI_EINVAL, 0,
    NULL, "event 1" },
  { "{'time':1,'event':'node','node':'node0001','state':'ill'}", PAI_EINVAL,
    52, "/state", "cannot be \"ill\"" },
  { "{'time':1,'event':'change','id':1,'key':'held','value':[]}", PAI_EINVAL,
    56, "/value", "a whole number, a string or null" },
  { "{'time':1,'event':'policy','policy':'fifo','options':[]}", PAI_EINVAL, 54,
    "/options", "is an object" },
  { "{'time':1,'event':'cluster','cluster':{'nodes':[{}]}}", PAI_EINVAL, 39,
    "/cluster", "" },
  { "{'time':1,'event':'reserve','reservation':{'name':'n','nodes':[3]}}",
    PAI_EINVAL, 64, "/reservation/nodes/0", "is a string" },
  { "{'snapshot':1}", PAI_EINVAL, 1, "", "this is a snapshot" },
};

TEST(bad_lines_are_told_where_and_change_nothing)
{
  pai_sched *s = scene_new(TWO, NULL, NULL, NULL);
  pai__buf before, after;

  scribe_save(s, &before);
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    char *line = scribe_quotes(bad[i].line);
    pai_error *err = NULL;
    int rc = pai_sched_send_json(s, line, strlen(line), &err);
    const char *pointer = pai_error_pointer(err);

    if (rc != bad[i].code || pai_error_column(err) != bad[i].column ||
        (bad[i].pointer != NULL && strcmp(pointer, bad[i].pointer) != 0))
      fail_msg("%s\n  %d, column %u, %s: %s", line, rc, pai_error_column(err),
               pointer, pai_error_message(err));
    test_expect_error(err, bad[i].code, bad[i].part);
    free(line);
  }
  scribe_save(s, &after);
  scribe_same(&before, &after);
  pai__buf_dispose(&before);
  pai__buf_dispose(&after);
  pai_sched_free(s);
}

/* --- values --------------------------------------------------------------- */

static pai_sched *logged(pai__buf *log, const pai_alloc *alloc)
{
  pai_sched *s = scene_new(TWO, NULL, NULL, alloc);

  pai__buf_init(log, &pai__libc_alloc);
  assert_ok(pai_sched_set_log(s, scribe_write, log, NULL));
  return s;
}

static const char *last_line(const pai__buf *log)
{
  const char *at = pai__buf_text(log) + log->len - 1;

  while (at > pai__buf_text(log) && at[-1] != '\n')
    at--;
  return at;
}

/* The log makes a scheduler that is saved alike; the decisions are in *got. */
static void replays_alike(const pai_sched *s, const pai__buf *log,
                          const pai_policy *table, pai__buf *got)
{
  pai__buf saved, back;
  pai_error *err = NULL;
  pai_sched *again;
  size_t line;

  pai__buf_init(got, &pai__libc_alloc);
  again = scribe_replay(pai__buf_text(log), table, got, &line, &err);
  if (again == NULL)
    fail_msg("line %zu: %s", line, pai_error_message(err));
  scribe_save(s, &saved);
  scribe_save(again, &back);
  scribe_same(&saved, &back);
  pai_sched_free(again);
  pai__buf_dispose(&saved);
  pai__buf_dispose(&back);
}

TEST(each_key_of_a_change_keeps_its_value)
{
  static const struct {
    const char *key;
    int64_t number;
    const char *text, *value;
  } keys[] = {
    { "priority", -1, NULL, "-1" },
    { "duration", 5, "x", "5" },
    { "limit", 7, NULL, "7" },
    { "at_once", 1, NULL, "1" },
    { "instances", 3, NULL, "3" },
    { "held", 1, NULL, "1" },
    { "name", 9, "\"n\"", "\"\\\"n\\\"\"" },
    { "name", 9, NULL, "null" },
    { "within", 0, "node", "\"node\"" },
    { "type", 0, "t4", "\"t4\"" },
    { "vc", 0, "default", "\"default\"" },
    { "tasks", 2, NULL, "2" },
    { "min_tasks", 1, NULL, "1" },
    { "gpus", 2, NULL, "2" },
    { "cpus", 2, NULL, "2" },
    { "ports", 1, NULL, "1" },
    { "memory", 1 << 20, NULL, "1048576" },
    { "pin", 0, NULL, "null" },
  };
  pai__buf log, decisions;
  pai_sched *s = logged(&log, NULL);

  assert_ok(scene_submit(s, 1, 1, 1));
  for (size_t i = 0; i < PAI__LEN(keys); i++) {
    char expected[200];

    assert_ok(scene_event(s,
                          (pai_sched_event){ .kind = PAI_SCHED_CHANGE,
                                             .id = 1,
                                             .key = keys[i].key,
                                             .number = keys[i].number,
                                             .text = keys[i].text },
                          NULL));
    (void)snprintf(expected, sizeof(expected),
                   "{\"time\":0,\"event\":\"change\",\"id\":1,\"key\":\"%s\","
                   "\"value\":%s}\n",
                   keys[i].key, keys[i].value);
    assert_string_equal(last_line(&log), expected);
  }
  replays_alike(s, &log, NULL, &decisions);
  pai_sched_free(s);
  pai__buf_dispose(&log);
  pai__buf_dispose(&decisions);
}

TEST(the_largest_numbers_stay_as_they_are)
{
  pai__buf log, got = test_buf();
  pai_sched *s = logged(&log, NULL), *again;
  pai_want want = scene_want(1, 1);
  pai_request q = { .id = UINT64_MAX,
                    .wants = &want,
                    .nwants = 1,
                    .duration = INT64_MAX / 4,
                    .limit = INT64_MAX / 4 };
  pai_request_view v = { .struct_size = sizeof(v) };
  size_t line;

  assert_ok(scene_request(s, &q, NULL));
  assert_has(last_line(&log), "\"id\":\"18446744073709551615\"");
  assert_string_equal(scene_decide(s), "start 18446744073709551615");
  assert_ok(scene_event(s,
                        (pai_sched_event){ .kind = PAI_SCHED_STARTED,
                                           .id = UINT64_MAX,
                                           .time = INT64_MAX / 4 },
                        NULL));
  again = scribe_replay(pai__buf_text(&log), NULL, &got, &line, NULL);
  assert_non_null(again);
  assert_ok(pai_sched_view_request(again, UINT64_MAX, &v));
  assert_true(v.limit == INT64_MAX / 4 && v.duration == INT64_MAX / 4);
  pai_sched_free(s);
  pai_sched_free(again);
  pai__buf_dispose(&log);
  pai__buf_dispose(&got);
}

/* So a time and a duration can always be added up. */
TEST(times_are_bounded)
{
  static const pai_time beyond[] = { INT64_MAX / 4 + 1, INT64_MAX };
  pai_sched *s = scene_new("nodes:2 gpu:2", "backfill", NULL, NULL);
  pai_want want = scene_want(1, 1);

  assert_ok(scene_submit(s, 1, 1, 1));
  for (size_t i = 0; i < PAI__LEN(beyond); i++) {
    const pai_request q[] = {
      { .id = 2, .wants = &want, .nwants = 1, .duration = beyond[i] },
      { .id = 2, .wants = &want, .nwants = 1, .limit = beyond[i] }
    };
    const pai_reservation r[] = { { sizeof(*r), .name = "r", .to = beyond[i] },
                                  { sizeof(*r), .name = "r",
                                    .from = -beyond[i] } };
    pai_sched_event list[] = {
      { .kind = PAI_SCHED_TIME, .time = beyond[i] },
      { .kind = PAI_SCHED_TIME, .time = -beyond[i] },
      { .kind = PAI_SCHED_CHANGE,
        .id = 1,
        .key = "limit",
        .number = beyond[i] },
      { .kind = PAI_SCHED_RESERVE, .reservation = &r[0] },
      { .kind = PAI_SCHED_RESERVE, .reservation = &r[1] },
    };

    for (size_t k = 0; k < PAI__LEN(list); k++)
      assert_int_equal(scene_event(s, list[k], NULL), PAI_EINVAL);
    for (size_t k = 0; k < PAI__LEN(q); k++)
      assert_int_equal(scene_request(s, &q[k], NULL), PAI_EINVAL);
    assert_int_equal(pai_sched_decide(s, beyond[i], NULL), PAI_EINVAL);
  }
  assert_string_equal(scene_decide(s), "start 1");
  pai_sched_free(s);
}

/* --- logs that end, policies that fail ------------------------------------- */

typedef struct paper {
  pai__buf text;
  int lines; /* so many can be written */
} paper;

static int write_some(void *user_data, const char *bytes, size_t len)
{
  paper *p = user_data;

  if (p->lines == 0)
    return PAI_EIO;
  p->lines--;
  pai__buf_add(&p->text, bytes, len);
  return PAI_OK;
}

TEST(a_log_that_cannot_be_written_ends)
{
  pai_sched *s = scene_new(TWO, NULL, NULL, NULL), *again;
  paper p = { .lines = 0 };
  pai_error *err = NULL;
  pai__buf got = test_buf();
  size_t line;

  pai__buf_init(&p.text, &pai__libc_alloc);
  assert_fails(pai_sched_set_log(s, write_some, &p, &err), err, PAI_EIO,
               "the snapshot could not be written");
  assert_ok(scene_submit(s, 1, 1, 1)); /* there is no log */
  p.lines = 2;
  assert_ok(pai_sched_set_log(s, write_some, &p, NULL));
  assert_ok(scene_submit(s, 2, 1, 1));
  err = NULL;
  assert_fails(
    scene_event(s, (pai_sched_event){ .kind = PAI_SCHED_TIME }, &err), err,
    PAI_EIO, "it was taken");
  p.lines = 5;
  assert_ok(scene_submit(s, 3, 1, 1));
  assert_int_equal(p.lines, 5);
  assert_ok(pai_sched_set_log(s, NULL, NULL, NULL));
  again = scribe_replay(pai__buf_text(&p.text), NULL, &got, &line, NULL);
  assert_int_equal(line, 2);
  assert_int_equal(pai_sched_next(again, 1), 2);
  assert_int_equal(pai_sched_next(again, 2), 0);
  pai_sched_free(again);
  pai_sched_free(s);
  pai__buf_dispose(&p.text);
  pai__buf_dispose(&got);
}

/* Starts one, and fails then. */
static int decide_badly(void *state, void *data, const pai_policy_host *host)
{
  uint64_t id = host->next_waiting(host, 0);

  (void)state;
  (void)data;
  if (id != 0 && host->start(host, id, NULL) < 0)
    return PAI_ENOMEM;
  return host->give_up(host, PAI_EBUSY, "not today");
}

static const pai_policy moody = { .struct_size = sizeof(pai_policy),
                                  .version = PAI_POLICY_VERSION,
                                  .name = "moody",
                                  .decide = decide_badly };

static pai_sched *with_table(const pai_policy *table, const pai_alloc *alloc)
{
  pai_cluster_options co = PAI_CLUSTER_OPTIONS_INIT;
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_cluster *c = NULL;
  pai_sched *s = NULL;

  co.alloc = o.alloc = alloc;
  o.table = table;
  assert_ok(pai_cluster_synthetic(&c, TWO, &co, NULL));
  assert_ok(pai_sched_new(&s, c, &o, NULL));
  pai_cluster_free(c);
  return s;
}

TEST(what_stays_of_a_failing_policy_is_in_the_log)
{
  pai_sched *s = with_table(&moody, NULL);
  pai__buf log = test_buf(), got;
  pai_error *err = NULL;

  assert_ok(pai_sched_set_log(s, scribe_write, &log, NULL));
  assert_ok(scene_submit(s, 1, 1, 1));
  assert_ok(scene_submit(s, 2, 1, 1));
  assert_fails(pai_sched_decide(s, 3, &err), err, PAI_EBUSY, "not today");
  assert_has(
    pai__buf_text(&log),
    "\n{\"time\":3,\"event\":\"decide\",\"failed\":true}\n{\"snapshot\":1,");
  assert_ok(scene_finish(s, 1));
  replays_alike(s, &log, &moody, &got);
  assert_has(pai__buf_text(&got), "\"decision\":\"start\",\"id\":1");
  pai_sched_free(s);
  pai__buf_dispose(&log);
  pai__buf_dispose(&got);
}

TEST(policies_are_found_by_their_names)
{
  pai_policy other = moody, forgetful = moody;
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_sched *s = with_table(&moody, NULL), *again = NULL;
  pai_error *err = NULL;
  pai__buf saved;

  scribe_save(s, &saved);
  pai_sched_free(s);
  assert_int_equal(
    pai_sched_load(&again, pai__buf_text(&saved), saved.len, NULL, &err),
    PAI_ENOTFOUND);
  assert_null(again);
  assert_non_null(pai_error_help(err));
  assert_string_equal(pai_error_pointer(err), "/policy");
  test_expect_error(err, PAI_ENOTFOUND, "there is no policy 'moody'");
  other.name = "other";
  o.table = &other;
  assert_int_equal(
    pai_sched_load(&again, pai__buf_text(&saved), saved.len, &o, NULL),
    PAI_ENOTFOUND);
  o.table = &moody;
  assert_ok(
    pai_sched_load(&again, pai__buf_text(&saved), saved.len, &o, NULL));
  pai_sched_free(again);
  pai__buf_dispose(&saved);
  /* One with a state that nobody saves. */
  forgetful.open = pai_policy_builtin(0)->open;
  forgetful.close = pai_policy_builtin(0)->close;
  forgetful.data = pai_policy_builtin(0)->data;
  s = with_table(&forgetful, NULL);
  err = NULL;
  pai__buf_init(&saved, &pai__libc_alloc);
  assert_fails(pai_sched_save(s, scribe_write, &saved, &err), err, PAI_ENOTSUP,
               "it has no save()");
  assert_int_equal(pai_sched_set_log(s, scribe_write, &saved, NULL),
                   PAI_ENOTSUP);
  assert_int_equal(saved.len, 0);
  pai_sched_free(s);
}

/* --- memory --------------------------------------------------------------- */

static int submit_and_decide(pai_sched *s)
{
  static const char submit[] =
    "{\"time\":0,\"event\":\"submit\",\"request\":{\"id\":1,\"user\":\"ann\","
    "\"wants\":[{\"tasks\":2,\"gpus\":2,\"cpus\":1,\"ports\":2}]}}";
  static const char reserve[] =
    "{\"time\":5,\"event\":\"reserve\",\"reservation\":{\"name\":\"r\","
    "\"nodes\":[\"node0002\"]}}";
  int rc = pai_sched_send_json(s, submit, sizeof(submit) - 1, NULL);

  /* What failed has not happened, so it may be done again. */
  if (rc == PAI_ENOMEM)
    assert_int_equal(pai_sched_next(s, 0), 0);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 5, NULL);
  if (rc >= 0) {
    assert_int_equal(rc, 1);
    rc = pai_sched_send_json(s, reserve, sizeof(reserve) - 1, NULL);
  }
  return rc;
}

TEST_FAULTS(failing_memory_is_told)
{
  pai_sched *s = scene_new(TWO, NULL, NULL, alloc), *again = NULL;
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai__buf log = test_buf(), saved = test_buf();
  int rc;

  if (s == NULL)
    return PAI_ENOMEM;
  o.alloc = alloc;
  rc = pai_sched_set_log(s, scribe_write, &log, NULL);
  if (rc == PAI_OK)
    rc = submit_and_decide(s);
  if (rc == PAI_OK)
    rc = pai_sched_save(s, scribe_write, &saved, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_write_decision(s, 0, scribe_write, &log, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_load(&again, pai__buf_text(&saved), saved.len, &o, NULL);
  if (rc == PAI_OK)
    assert_int_equal(pai_sched_next(again, 0), 1);
  pai_sched_free(again);
  pai_sched_free(s);
  pai__buf_dispose(&log);
  pai__buf_dispose(&saved);
  return rc;
}
