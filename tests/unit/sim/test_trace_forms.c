/*
 * test_trace_forms.c - samples of all forms of traces, with mistakes in them,
 * and what has to come out; and the real ones
 */
#include "cases.h"
#include "files.h"
#include "sim/traces.h"

#include "base/os/posix_fs.h"
#include "sim/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
  const char *file;
  int form;
} samples[] = {
  { "jsonl.jsonl", PAI_TRACE_JSONL },
  { "sacct.txt", PAI_TRACE_SACCT },
  { "sacct.json", PAI_TRACE_SACCT_JSON },
  { "swf.swf", PAI_TRACE_SWF },
  { "swf-gpus.swf", PAI_TRACE_SWF },
  { "philly.json", PAI_TRACE_PHILLY },
  { "helios.csv", PAI_TRACE_HELIOS },
  { "alibaba2020.csv", PAI_TRACE_ALIBABA_2020 },
  { "alibaba2023.csv", PAI_TRACE_ALIBABA_2023 },
  { "openpai.json", PAI_TRACE_OPENPAI },
  { "kubernetes.json", PAI_TRACE_KUBERNETES },
  { "kueue.jsonl", PAI_TRACE_KUBERNETES },
  { "gavel.trace", PAI_TRACE_GAVEL },
  { "muri.csv", PAI_TRACE_MURI },
};

static char *read_file(const char *name, const char *end)
{
  char path[500];
  pai__buf text = test_buf();

  (void)snprintf(path, sizeof(path), SOURCE_DIR "/tests/golden/traces/%s%s",
                 name, end);
  if (pai__fs_read(&text, path, 1 << 20, NULL) < 0)
    fail_msg("%s cannot be read", path);
  pai__buf_str(&text, "");
  return pai__buf_take(&text);
}

/* Records, and behind them what was told. */
static char *outcome(const char *text, size_t step, const char *name, int form)
{
  pai_error *err = NULL;
  test_told told;
  pai__buf all = test_buf();

  if (test_trace(&told, text, step, NULL, &err) < 0)
    fail_msg("%s: %s", name, pai_error_message(err));
  assert_int_equal(told.view.form, form);
  pai__buf_str(&all, pai__buf_text(&told.records));
  pai__buf_str(&all, pai__buf_text(&told.lines));
  test_told_dispose(&told);
  return pai__buf_take(&all);
}

/* With OPENPAI_ACCEPT they are written anew: look at what git says then. */
static void accept(const char *name, const char *is)
{
  test_write_file(
    test_string(SOURCE_DIR "/tests/golden/traces/%s.expected", name), is);
}

TEST(samples_are_read)
{
  static const size_t steps[] = { 0, 1, 1000 };

  for (size_t i = 0; i < PAI__LEN(samples); i++)
    for (size_t j = 0; j < PAI__LEN(steps); j++) {
      char *text = read_file(samples[i].file, ""), *expected;
      char *is = outcome(text, steps[j], samples[i].file, samples[i].form);

      if (getenv("OPENPAI_ACCEPT") != NULL)
        accept(samples[i].file, is);
      expected = read_file(samples[i].file, ".expected");
      assert_string_equal(is, expected);
      pai__strfree(&pai__libc_alloc, text);
      pai__strfree(&pai__libc_alloc, expected);
      pai__strfree(&pai__libc_alloc, is);
    }
}

/* What was read is written in our own form, and that is read alike. */
TEST(records_survive_our_own_form)
{
  for (size_t i = 0; i < PAI__LEN(samples); i++) {
    char *text = read_file(samples[i].file, "");
    test_told told;

    assert_int_equal(test_trace(&told, text, 0, NULL, NULL), 0);
    test_trace_is(pai__buf_text(&told.records), NULL,
                  pai__buf_text(&told.records), "");
    test_told_dispose(&told);
    pai__strfree(&pai__libc_alloc, text);
  }
}

/* Lines end as on Windows, and a mark stands before the first. */
TEST(ends_of_lines_do_not_matter)
{
  for (size_t i = 0; i < PAI__LEN(samples); i++) {
    char *text = read_file(samples[i].file, ""), *is;
    char *expected = read_file(samples[i].file, ".expected");
    pai__buf other = test_buf();

    pai__buf_str(&other, "\xef\xbb\xbf");
    for (const char *p = text; *p != '\0'; p++)
      pai__buf_printf(&other, *p == '\n' ? "\r%c" : "%c", *p);
    is = outcome(pai__buf_text(&other), 0, samples[i].file, samples[i].form);
    assert_string_equal(is, expected);
    pai__buf_dispose(&other);
    pai__strfree(&pai__libc_alloc, text);
    pai__strfree(&pai__libc_alloc, expected);
    pai__strfree(&pai__libc_alloc, is);
  }
}

TEST(strict_stops_at_the_first_mistake)
{
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;

  opts.strict = 1;
  for (size_t i = 0; i < PAI__LEN(samples); i++) {
    char *text = read_file(samples[i].file, "");
    pai_error *err = NULL;
    test_told told;
    bool has_mistakes;

    assert_int_equal(test_trace(&told, text, 0, NULL, NULL), 0);
    has_mistakes = told.view.skipped > 0;
    test_told_dispose(&told);
    assert_int_equal(test_trace(&told, text, 0, &opts, &err),
                     has_mistakes ? PAI_EINVAL : 0);
    assert_int_equal(pai_error_line(err) != 0, has_mistakes);
    assert_int_equal(told.view.skipped, has_mistakes);
    test_told_dispose(&told);
    pai_error_free(err);
    pai__strfree(&pai__libc_alloc, text);
  }
}

TEST(what_is_no_trace_is_refused)
{
  static const struct {
    int form; /* 0: it is looked for */
    const char *text, *why;
  } cases[] = {
    { 0, "hello world\n", "the form of the trace is not known" },
    { 0, "sn,cpu_milli,memory_mib,gpu,model\n", "list of nodes" },
    { 0, "[{\"a\":1}]", "the form of the trace is not known" },
    { PAI_TRACE_HELIOS, "a,b,c\n1,2,3\n", "no column \"gpu_num\"" },
    { PAI_TRACE_SACCT, "JobID|State\n", "no column \"Submit\"" },
    { PAI_TRACE_MURI, "", "no column \"num_gpu\"" },
  };
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
  test_told told;

  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    pai_error *err = NULL;

    opts.form = cases[i].form;
    assert_fails(test_trace(&told, cases[i].text, 0, &opts, &err), err,
                 PAI_EINVAL, cases[i].why);
    test_told_dispose(&told);
  }
  test_trace_is("", NULL, "", "");
  test_trace_is("  \n\n", NULL, "", "");
}

/* Of a list that is longer than what is kept of it in memory. */
TEST(long_lists_are_read_in_pieces)
{
  enum { MANY = 20000 };
  pai_trace_record record = { .struct_size = sizeof(record) };
  test_tally tally;
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
  pai_trace *trace;
  test_text from;
  pai__buf text = test_buf();
  size_t count = 0;

  pai__buf_str(&text, "{\"meta\":{\"a\":[1,\"]}\"]},\n\"jobs\":[\n");
  for (int i = 0; i < MANY; i++)
    pai__buf_printf(&text,
                    "{\"job_id\":%d,\"comment\":\"[{\\\"\\\\\",\"state\":"
                    "{\"current\":[\"COMPLETED\"]},\"time\":{\"elapsed\":1,"
                    "\"submission\":%d,\"start\":%d,\"end\":%d}}%s\n",
                    i, i + 1, i + 2, i + 3, i + 1 < MANY ? "," : "");
  pai__buf_str(&text, "],\"errors\":[]}\n");
  from = (test_text){ pai__buf_text(&text), text.len, 0, 7777 };
  test_tally_init(&tally);
  opts.alloc = &tally.alloc;
  opts.window = 16;
  opts.strict = 1;
  assert_ok(pai_trace_new(&trace, test_read_text, &from, &opts, NULL));
  while (pai_trace_next(trace, &record, NULL) > 0) {
    assert_int_equal(record.time, (pai_time)(count + 1) * 1000000);
    assert_int_equal(record.line, count + 3);
    count++;
  }
  assert_int_equal(count, MANY);
  assert_in_range(tally.peak, 1, 2 << 20); /* the text has 2.6 MB */
  assert_in_range(text.len, 5 << 19, 1 << 30);
  pai_trace_free(trace);
  assert_int_equal(tally.live, 0);
  pai__buf_dispose(&text);
}

/* --- dates ----------------------------------------------------------------- */

TEST(dates_are_read)
{
  static const struct {
    const char *text;
    pai_time seconds;
  } cases[] = {
    { "1970-01-01", 0 },
    { "1970-01-01T00:00:00Z", 0 },
    { "2000-02-29 12:34:56", 951827696 },
    { "2024-12-31T23:59:60Z", 1735689600 },
    { "1969-12-31 23:59:59", -1 },
    { "2017-10-07 01:12", 1507338720 },
    { "2024-05-01T10:00:00+02:00", 1714550400 },
    { "2024-05-01T10:00:00-0130", 1714563000 },
    { "2024-05-01T10:00:00.5 UTC", 1714557600 },
  };
  /* With a bar behind each. */
  static const char bad[] =
    "|2024|2024-1-1|2024-02-30|2023-02-29|2024-00-01|2024-01-01T25:00:00|"
    "2024-01-01 10|x024-01-01|2024-01-01 |2024-01-01T10:60:00|"
    "2024-01-01T10:00:00X|2024-01-01T10:00:00+99:00|2024-01-011|";
  pai_time us;

  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    assert_true(pai__date_read(cases[i].text, strlen(cases[i].text), &us));
    assert_int_equal(us / 1000000, cases[i].seconds);
  }
  assert_true(pai__date_read("2024-05-01T10:00:00.5 UTC", 25, &us));
  assert_int_equal(us % 1000000, 500000);
  for (const char *at = bad; *at != '\0'; at = strchr(at, '|') + 1)
    if (pai__date_read(at, strcspn(at, "|"), &us))
      fail_msg("%s begins with no date", at);
}

/* --- memory ---------------------------------------------------------------- */

TEST(no_memory_is_survived)
{
  for (size_t i = 0; i < PAI__LEN(samples); i++) {
    char *text = read_file(samples[i].file, "");

    test_faults(test_trace_faults, text);
    pai__strfree(&pai__libc_alloc, text);
  }
}

/* --- the real ones --------------------------------------------------------- */

TEST(real_traces_load)
{
  static const struct {
    const char *file;
    int form;
    uint64_t jobs, altered;
  } real[] = {
    { "gavel-msr-0e4a51.trace", PAI_TRACE_GAVEL, 1181, 0 },
    { "gavel-msr-2869ce.trace", PAI_TRACE_GAVEL, 533, 0 },
    { "gavel-msr-e13805.trace", PAI_TRACE_GAVEL, 607, 0 },
    { "muri-trace1.csv", PAI_TRACE_MURI, 1494, 0 },
    { "muri-trace3.csv", PAI_TRACE_MURI, 992, 0 },
    { "openb_pod_list_default.csv", PAI_TRACE_ALIBABA_2023, 8152, 3470 },
  };
  const char *shared = getenv("OPENPAI_SHARED");
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
  char path[500];

  if (shared == NULL)
    shared = SOURCE_DIR "/../shared";
  (void)snprintf(path, sizeof(path), "%s/data/traces", shared);
  if (access(path, R_OK) != 0) {
    print_message("SKIPPED: there is no %s\n", path);
    skip();
  }
  opts.strict = 1;
  for (size_t i = 0; i < PAI__LEN(real); i++) {
    pai_trace_record record = { .struct_size = sizeof(record) };
    pai_trace_view view = { .struct_size = sizeof(view) };
    pai_error *err = NULL;
    pai_trace *trace;
    int rc;

    (void)snprintf(path, sizeof(path), "%s/data/traces/%s", shared,
                   real[i].file);
    rc = pai_trace_load(&trace, path, &opts, &err);
    while (rc >= 0 && (rc = pai_trace_next(trace, &record, &err)) > 0)
      continue;
    if (rc < 0)
      fail_msg("%s: %s", path, pai_error_message(err));
    assert_ok(pai_trace_look(trace, &view));
    assert_int_equal(view.form, real[i].form);
    assert_int_equal(view.jobs, real[i].jobs);
    assert_int_equal(view.altered, real[i].altered);
    assert_int_equal(view.skipped, 0);
    pai_trace_free(trace);
  }
}
