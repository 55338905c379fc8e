/* test_trace.c - our own form of traces, order, and what is wrong with them */
#include "cases.h"
#include "sim/traces.h"

#include "sim/report/format.h"
#include "sim/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- our own form ---------------------------------------------------------- */

static const char whole[] =
  "{\"time\":0.5,\"id\":\"a\",\"duration\":60}\n"
  "{\"time\":1.5,\"id\":\"b\",\"name\":\"bert\",\"user\":\"ann\",\"vc\":\"x\","
  "\"priority\":-1,\"type\":\"v100\",\"tasks\":2,\"min_tasks\":1,\"gpus\":8,"
  "\"cpus\":4,\"memory\":68719476736,\"ports\":2,\"duration\":3600.000001,"
  "\"code\":1,\"estimate\":7200,\"limit\":10800,\"patience\":86400,"
  "\"started\":2.25,\"retries\":3,\"pin\":\"n1\",\"within\":\"rack\","
  "\"after\":[\"a\",\"17\"]}\n"
  "{\"time\":2,\"id\":\"c\",\"wants\":[{\"name\":\"ps\",\"cpus\":1},{\"name\":"
  "\"worker\",\"type\":\"t4\",\"tasks\":3,\"gpus\":1}],\"attempts\":["
  "{\"duration\":10,\"code\":255},{\"duration\":100}]}\n"
  "{\"time\":3,\"kill\":\"a\"}\n"
  "{\"time\":4,\"node\":\"n7\",\"state\":\"drain\",\"why\":\"disks\"}\n"
  "{\"time\":5,\"node\":\"n7\",\"state\":\"up\"}\n"
  "{\"time\":0.25,\"id\":\"late\",\"name\":\"\xc3\xa9\\\"\",\"duration\":0}\n";

TEST(records_are_read_and_written)
{
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
  char sorted[sizeof(whole)];
  const char *last = strstr(whole, "{\"time\":0.25");

  (void)snprintf(sorted, sizeof(sorted), "%s%.*s", last, (int)(last - whole),
                 whole);
  test_trace_is(whole, NULL, sorted, "");
  opts.sort = 1;
  test_trace_is(whole, &opts, sorted, "");
  opts.form = PAI_TRACE_JSONL;
  test_trace_is(whole, &opts, sorted, "");
}

TEST(there_is_more_than_one_way_to_say_it)
{
  test_trace_is(
    "\xef\xbb\xbf { \"time\" : 1e0 , \"duration\":\t1.0000009 ,\"id\":7}  \r\n"
    "\n   \n"
    "{\"duration\":6e1,\"memory\":\"1.5K\",\"id\":\"\\u0061\",\"time\":2}\n"
    "{\"time\":3,\"duration\":-0.0,\"after\":[8],\"wants\":[{}],"
    "\"gpu\\u0073\":"
    "1}",
    NULL,
    "{\"time\":1,\"id\":\"7\",\"duration\":1}\n"
    "{\"time\":2,\"id\":\"a\",\"memory\":1536,\"duration\":60}\n",
    "5: a job has either \"wants\" or keys such as \"gpus\" and \"tasks\"\n");
}

TEST(a_wrong_line_is_told_and_skipped)
{
  /* With ' for ". */
  static const char *const cases[][2] = {
    { "{'time':1,'duration':2,'gpuz':1}",
      "a record has no 'gpuz'; did you mean 'gpus'?" },
    { "{'time':1,'duration':2,'quux':1}",
      "a record has no 'quux'; it may have: time, id, name, user, vc, " },
    { "{'time':1,'wants':[{'gpus':1,'cpu':2}],'duration':2}",
      "an item of 'wants' has no 'cpu'; did you mean 'cpus'?" },
    { "{'time':1,'attempts':[{'length':1}]}",
      "an attempt has no 'length'; it may have: duration, code" },
    { "{'time':1,'attempts':[7]}", "an attempt is an object" },
    { "{'time':1,'attempts':{}}", "'attempts' is a list" },
    { "{'time':1,'attempts':[]}", "the job has no resources or no attempt" },
    { "{'time':1,'duration':1,'after':[[]]}", "'after' is a string" },
    { "{'time':'1','duration':2}",
      "'time' is a number of seconds, as 3600 or 0.5" },
    { "{'time':1e99,'duration':2}", "'time' is a number of seconds" },
    { "{'time':1,'duration':2,'gpus':1.5}", "'gpus' is a whole number" },
    { "{'time':-0.5,'duration':2}", "the time of the record is negative" },
    { "{'time':1,'duration':2,'gpus':-1}",
      "'gpus' is from 0 to 4294967295, not -1" },
    { "{'time':1,'duration':2,'memory':'lots'}",
      "'memory' is a number of bytes, or as '64G'" },
    { "{'time':1,'duration':2,'memory':true}", "'memory' is a number" },
    { "{'time':1,'duration':2,'user':5}", "'user' is a string" },
    { "{'time':1,'duration':2,'user':'a\\u0000b'}", "'user' has a NUL in it" },
    { "{'time':1,'duration':2,'tasks':0}", "the job has no task" },
    { "{'time':1,'duration':2,'tasks':999999}", "131072 tasks" },
    { "{'time':1,'duration':2,'tasks':2,'min_tasks':3}",
      "'min_tasks' is more than 'tasks'" },
    { "{'time':1,'duration':2,'gpus':9999999}", "more than a million" },
    { "{'time':1,'duration':2,'ports':99999}", "65535 ports" },
    { "{'time':1,'duration':2,'retries':9999999}",
      "more than a million retries" },
    { "{'time':1,'duration':2,'priority':1001}",
      "'priority' must be from -1 to 1000" },
    { "{'time':1,'duration':2,'wants':[]}", "the job has no resources" },
    { "{'duration':2}", "a record needs 'time'" },
    { "{'time':1}", "a job needs 'duration' or 'attempts'" },
    { "{'time':1,'duration':1,'attempts':[{'duration':1}]}",
      "a job has either 'attempts' or 'duration' and 'code'" },
    { "{'time':1,'node':'a'}", "has 'node', 'state' and 'why'" },
    { "{'time':1,'node':'a','state':'up','duration':1}", "no key of a job" },
    { "{'time':1,'node':'a','state':'on'}",
      "'state' is 'up', 'drain' or 'sick'" },
    { "{'time':1,'kill':'a','gpus':1}",
      "a line with 'kill' may only have 'time' beside it" },
    { "[1]", "a record is an object" },
    { "{'time':1,'duration':2", "" },
    { "{'time':1,'duration':2}{}", "" },
    { "{'time':1,'time':2,'duration':2}", "time" },
    { "{'time':01,'duration':2}", "" },
    { "{'time':1.,'duration':2}", "" },
    { "{'time':1,'duration':2,'user':'\xff'}", "" },
  };

  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
    pai_error *err = NULL;
    test_told told;
    char text[400], why[200];

    opts.form = PAI_TRACE_JSONL;
    (void)snprintf(text, sizeof(text),
                   "{'time':0,'duration':1}\n%s\n{'time':3,'duration':1}\n",
                   cases[i][0]);
    (void)snprintf(why, sizeof(why), "%s", cases[i][1]);
    test_quotes(text);
    test_quotes(why);
    assert_int_equal(test_trace(&told, text, 0, &opts, &err), 0);
    assert_string_equal(pai__buf_text(&told.records),
                        "{\"time\":0,\"duration\":1}\n"
                        "{\"time\":3,\"duration\":1}\n");
    assert_int_equal(told.view.skipped, 1);
    if (strncmp(pai__buf_text(&told.lines), "2: ", 3) != 0 ||
        strstr(pai__buf_text(&told.lines), why) == NULL)
      fail_msg("%s: %s", cases[i][0], pai__buf_text(&told.lines));
    test_told_dispose(&told);
    opts.strict = 1;
    assert_int_equal(test_trace(&told, text, 0, &opts, &err), PAI_EINVAL);
    assert_int_equal(pai_error_line(err), 2);
    pai_error_free(err);
    test_told_dispose(&told);
  }
}

TEST(a_mistake_has_its_column_and_help)
{
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
  pai_error *err = NULL;
  test_told told;

  opts.strict = 1;
  assert_int_equal(
    test_trace(&told, "\n{\"time\":1, \"usr\":\"x\"}\n", 0, &opts, &err),
    PAI_EINVAL);
  assert_int_equal(pai_error_line(err), 2);
  assert_int_equal(pai_error_column(err), 12);
  assert_string_equal(pai_error_help(err), "did you mean \"user\"?");
  pai_error_free(err);
  test_told_dispose(&told);
}

TEST(less_than_no_time_is_none)
{
  test_trace_is("{\"time\":1,\"duration\":-2,\"estimate\":-1,\"limit\":-1,"
                "\"patience\":-1}\n",
                NULL, "{\"time\":1,\"duration\":0}\n",
                "+1: a negative time is treated as 0\n");
}

TEST(jobs_get_a_model_where_none_is_named)
{
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;

  opts.model = "v100";
  test_trace_is("{\"time\":1,\"gpus\":1,\"duration\":2}\n"
                "{\"time\":1,\"duration\":2}\n"
                "{\"time\":1,\"type\":\"t4\",\"gpus\":1,\"duration\":2}\n",
                &opts,
                "{\"time\":1,\"type\":\"v100\",\"gpus\":1,\"duration\":2}\n"
                "{\"time\":1,\"duration\":2}\n"
                "{\"time\":1,\"type\":\"t4\",\"gpus\":1,\"duration\":2}\n",
                "");
}

/* --- order ----------------------------------------------------------------- */

TEST(disorder_is_repaired_within_the_window)
{
  static const char text[] = "{\"time\":5,\"duration\":1}\n"
                             "{\"time\":3,\"duration\":1}\n"
                             "{\"time\":4,\"duration\":1}\n"
                             "{\"time\":7205,\"duration\":1}\n"
                             "{\"time\":2,\"duration\":2}\n";
  static const char sorted[] = "{\"time\":2,\"duration\":2}\n"
                               "{\"time\":3,\"duration\":1}\n"
                               "{\"time\":4,\"duration\":1}\n"
                               "{\"time\":5,\"duration\":1}\n"
                               "{\"time\":7205,\"duration\":1}\n";
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;

  opts.window = 2;
  test_trace_is(
    text, &opts, strchr(sorted, '\n') + 1,
    "5: the job comes 2 s before line 3, which was read more than 2 "
    "records ago; sort the trace first, with --sort\n");
  opts.sort = 1;
  test_trace_is(text, &opts, sorted, "");
}

/* Against a plain sort that keeps equal ones as they came. */
TEST(any_order_is_sorted)
{
  enum { MANY = 3000 };
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
  pai_trace_record record = { .struct_size = sizeof(record) };
  static int times[MANY];
  uint64_t line = 0;
  pai_trace *trace;
  test_text from;
  pai__buf text = test_buf();
  pai_time last = -1;
  size_t count = 0;

  srand(7);
  for (size_t i = 0; i < MANY; i++) {
    times[i] = i % 3 == 0 ? (int)i : rand() % 200;
    pai__buf_printf(&text, "{\"time\":%d,\"id\":\"%0*zu\",\"duration\":1}\n",
                    times[i], (int)(i % 50), i);
  }
  from = (test_text){ pai__buf_text(&text), text.len, 0, 999 };
  opts.sort = 1;
  assert_ok(pai_trace_new(&trace, test_read_text, &from, &opts, NULL));
  while (pai_trace_next(trace, &record, NULL) > 0) {
    assert_true(record.time > last ||
                (record.time == last && line < record.line));
    assert_int_equal(record.time, times[record.line - 1] * INT64_C(1000000));
    assert_int_equal(strtol(record.id, NULL, 10), record.line - 1);
    last = record.time;
    line = record.line;
    count++;
  }
  assert_int_equal(count, MANY);
  pai_trace_free(trace);
  pai__buf_dispose(&text);
}

/* --- the source ------------------------------------------------------------ */

TEST(long_lines_have_a_limit)
{
  size_t many = PAI__LINE_MAX - 100;
  char *text = malloc(many + 400);
  pai_error *err = NULL;
  pai_trace *trace;
  pai_trace_record record = { .struct_size = sizeof(record) };

  assert_non_null(text);
  for (size_t more = 0; more <= 200; more += 200) {
    int len = sprintf(text, "{\"time\":1,\"duration\":1,\"id\":\"%0*d\"}\n",
                      (int)(many + more), 0);
    test_text from = { text, (size_t)len, 0, 0 };

    assert_ok(pai_trace_new(&trace, test_read_text, &from, NULL, &err));
    if (more == 0) {
      assert_int_equal(pai_trace_next(trace, &record, &err), 1);
      assert_int_equal(strlen(record.id), many);
      assert_int_equal(pai_trace_next(trace, &record, &err), 0);
    } else {
      assert_fails(pai_trace_next(trace, &record, &err), err, PAI_ELIMIT,
                   "line 1 has more than 16 MiB");
      assert_int_equal(pai_trace_next(trace, &record, NULL), PAI_ELIMIT);
    }
    pai_trace_free(trace);
  }
  free(text);
}

static ptrdiff_t broken(void *user_data, char *buffer, size_t size)
{
  int *calls = user_data;

  (void)size;
  memcpy(buffer, "{\"time\":1,\"duration\":1}\n", 25);
  return ++*calls > 3 ? -99 : 24;
}

static ptrdiff_t liar(void *user_data, char *buffer, size_t size)
{
  (void)user_data;
  (void)buffer;
  return (ptrdiff_t)size + 1;
}

TEST(a_reader_may_fail)
{
  pai_error *err = NULL;
  pai_trace *trace;
  int calls = 0;

  assert_int_equal(pai_trace_new(&trace, broken, &calls, NULL, &err), -99);
  assert_null(trace);
  test_expect_error(err, -99, "cannot read the trace after line");
  assert_int_equal(pai_trace_new(&trace, liar, NULL, NULL, &err), PAI_EINVAL);
  pai_error_free(err);
}

static int enough(void *user_data)
{
  int *left = user_data;

  return (*left)-- == 0;
}

TEST(a_reader_may_have_enough)
{
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
  pai_trace_record record = { .struct_size = sizeof(record) };
  pai_error *err = NULL;
  pai_trace *trace;
  int left = 0, calls = -9000;

  opts.stop = enough;
  opts.user_data = &left;
  opts.form = PAI_TRACE_JSONL;
  opts.sort = 1;
  assert_fails(pai_trace_new(&trace, broken, &calls, &opts, &err), err,
               PAI_ECANCELED, "reading the trace was stopped after line 0");
  assert_int_equal(calls, -9000);
  left = 4000; /* more than is looked at for the form */
  assert_ok(pai_trace_new(&trace, broken, &calls, &opts, &err));
  assert_fails(pai_trace_next(trace, &record, &err), err, PAI_ECANCELED,
               "reading the trace was stopped after line");
  assert_int_equal(calls, -5000);
  pai_trace_free(trace);
}

TEST(files_are_read)
{
  char path[] = "/tmp/openpai-trace-XXXXXX";
  int fd = mkstemp(path);
  pai_trace_record record = { .struct_size = sizeof(record) };
  pai_trace_view view = { .struct_size = sizeof(view) };
  pai_error *err = NULL;
  pai_trace *trace;

  assert_true(fd >= 0);
  assert_int_equal(write(fd, whole, sizeof(whole) - 1), sizeof(whole) - 1);
  (void)close(fd);
  assert_ok(pai_trace_load(&trace, path, NULL, &err));
  while (pai_trace_next(trace, &record, NULL) > 0)
    continue;
  assert_ok(pai_trace_look(trace, &view));
  assert_int_equal(view.form, PAI_TRACE_JSONL);
  assert_string_equal(pai_trace_form_name(view.form), "jsonl");
  assert_int_equal(view.lines, 7);
  assert_int_equal(view.jobs, 4);
  assert_int_equal(view.first, 250000);
  assert_int_equal(view.last, 2000000);
  pai_trace_free(trace);
  assert_int_equal(unlink(path), 0);
  assert_fails(pai_trace_load(&trace, path, NULL, &err), err, PAI_ENOTFOUND,
               "cannot read /tmp/openpai-trace-");
}

TEST(bad_calls_are_refused)
{
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
  pai_trace_record record = { .struct_size = 3 };
  pai_trace_view view = { .struct_size = 3 };
  test_text none = { "", 0, 0, 0 };
  test_text one = { "{\"time\":1,\"duration\":1}", 23, 0, 0 };
  pai_trace *trace;

  assert_int_equal(pai_trace_new(NULL, test_read_text, &none, NULL, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_trace_new(&trace, NULL, &none, NULL, NULL), PAI_EINVAL);
  opts.form = PAI_TRACE_GENERATED;
  assert_int_equal(pai_trace_new(&trace, test_read_text, &none, &opts, NULL),
                   PAI_EINVAL);
  opts.form = -1;
  assert_int_equal(pai_trace_new(&trace, test_read_text, &none, &opts, NULL),
                   PAI_EINVAL);
  assert_ok(pai_trace_new(&trace, test_read_text, &one, NULL, NULL));
  assert_int_equal(pai_trace_next(trace, NULL, NULL), PAI_EINVAL);
  assert_int_equal(pai_trace_look(trace, &view), PAI_EINVAL);
  assert_int_equal(pai_trace_next(trace, &record, NULL), PAI_EINVAL);
  pai_trace_free(trace);
  pai_trace_free(NULL);
  assert_string_equal(pai_trace_form_name(99), "");
  assert_int_equal(pai_trace_load(&trace, NULL, NULL, NULL), PAI_EINVAL);
  record.struct_size = sizeof(record);
  assert_int_equal(pai_trace_write(&record, NULL, NULL, NULL), PAI_EINVAL);
}

/* --- times ----------------------------------------------------------------- */

TEST(seconds_are_exact)
{
  static const struct {
    const char *text;
    pai_time us;
  } cases[] = {
    { "0", 0 },
    { "12", 12000000 },
    { "-0.000001", -1 },
    { "9007199254.740992", INT64_C(9007199254740992) },
    { "0.0000019", 1 },
    { "1.5e3", 1500000000 },
    { "15e-1", 1500000 },
    { "1e-300", 0 },
    { "0e999999", 0 },
    { "0.12345678901234567890123", 123456 },
    { "1234567890123456789012e-18", 1234567890 },
  };
  static const char *const bad[] = {
    "",    "-",  ".5", "1.",     "1e",
    "1e+", "1 ", "a",  "1e9999", "9007199254.740993",
    "--1"
  };
  char text[PAI__CELL];
  pai_time us;

  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    assert_true(pai__seconds_read(cases[i].text, strlen(cases[i].text), &us));
    assert_int_equal(us, cases[i].us);
    (void)pai__show_decimal(text, us, 6);
    assert_true(pai__seconds_read(text, strlen(text), &us));
    assert_int_equal(us, cases[i].us);
  }
  for (size_t i = 0; i < PAI__LEN(bad); i++)
    assert_false(pai__seconds_read(bad[i], strlen(bad[i]), &us));
  assert_string_equal(pai__show_decimal(text, INT64_C(-1500000), 6), "-1.5");
  assert_string_equal(pai__show_decimal(text, 42, 0), "42");
  assert_string_equal(pai__show_decimal(text, INT64_MAX, 6),
                      "9223372036854.775807");
}

/* --- memory ---------------------------------------------------------------- */

TEST(no_memory_is_survived)
{
  char text[sizeof(whole)];

  memcpy(text, whole, sizeof(whole));
  test_faults(test_trace_faults, text);
}
