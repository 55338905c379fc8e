/* traces.c - traces of texts, and what came out of them as text */
#include "sim/traces.h"

#include <stdio.h>

ptrdiff_t test_read_text(void *user_data, char *buffer, size_t size)
{
  test_text *t = user_data;
  size_t n = t->len - t->at;

  if (n > size)
    n = size;
  if (t->step != 0 && n > t->step)
    n = t->step;
  memcpy(buffer, t->text + t->at, n);
  t->at += n;
  return (ptrdiff_t)n;
}

static void on_line(void *user_data, uint64_t line, int used, const char *why)
{
  test_told *told = user_data;

  pai__buf_printf(&told->lines, "%s%llu: %s\n", used ? "+" : "",
                  (unsigned long long)line, why);
}

static int read_records(test_told *told, pai_trace *trace, pai_error **err)
{
  pai_trace_record record = { .struct_size = sizeof(record) };
  int rc;

  while ((rc = pai_trace_next(trace, &record, err)) > 0) {
    int written = pai_trace_write(&record, test_collect, &told->records, err);

    if (written < 0)
      return written;
    if (told->nnumbers < PAI__LEN(told->numbers))
      told->numbers[told->nnumbers++] = record.line;
  }
  return rc;
}

int test_trace(test_told *told, const char *text, size_t step,
               const pai_trace_options *opts, pai_error **err)
{
  pai_trace_options o = PAI_TRACE_OPTIONS_INIT;
  test_text from = { text, strlen(text), 0, step };
  pai_trace *trace;
  int rc;

  if (opts != NULL)
    o = *opts;
  o.on_line = on_line;
  o.user_data = told;
  memset(told, 0, sizeof(*told));
  pai__buf_init(&told->records, &pai__libc_alloc);
  pai__buf_init(&told->lines, &pai__libc_alloc);
  rc = pai_trace_new(&trace, test_read_text, &from, &o, err);
  if (rc < 0) {
    assert_null(trace);
    return rc;
  }
  rc = read_records(told, trace, err);
  told->view.struct_size = sizeof(told->view);
  assert_ok(pai_trace_look(trace, &told->view));
  pai_trace_free(trace);
  return rc;
}

void test_told_dispose(test_told *told)
{
  pai__buf_dispose(&told->records);
  pai__buf_dispose(&told->lines);
}

void test_trace_is(const char *text, const pai_trace_options *opts,
                   const char *records, const char *lines)
{
  static const size_t steps[] = { 0, 1, 7 };

  for (size_t i = 0; i < PAI__LEN(steps); i++) {
    pai_error *err = NULL;
    test_told told;

    if (test_trace(&told, text, steps[i], opts, &err) < 0)
      fail_msg("%s", pai_error_message(err));
    assert_string_equal(pai__buf_text(&told.records), records);
    assert_string_equal(pai__buf_text(&told.lines), lines);
    test_told_dispose(&told);
  }
}

void test_quotes(char *text)
{
  while ((text = strchr(text, '\'')) != NULL)
    *text = '"';
}

int test_trace_faults(const pai_alloc *alloc, void *text)
{
  pai_trace_options opts = PAI_TRACE_OPTIONS_INIT;
  pai_trace_record record = { .struct_size = sizeof(record) };
  test_text from = { text, strlen(text), 0, 0 };
  pai_trace *trace;
  pai_error *err = NULL;
  int rc;

  opts.alloc = alloc;
  opts.model = "t4";
  opts.sort = 1;
  rc = pai_trace_new(&trace, test_read_text, &from, &opts, &err);
  if (rc == PAI_OK)
    while ((rc = pai_trace_next(trace, &record, &err)) > 0)
      continue;
  pai_trace_free(trace);
  assert_int_equal(pai_error_code(err), rc);
  pai_error_free(err);
  return rc;
}
