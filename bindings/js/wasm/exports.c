/* exports.c - results and failures of the exported functions, for core.js */
#include "exports.h"

/* core.js reads this after each call. */
static struct {
  int code;
  char *text; /* allocated, or NULL */
  size_t len;
} result;

JS_EXPORT(result) void *js_result(void)
{
  return &result;
}

JS_EXPORT(malloc) void *js_malloc(size_t size)
{
  return malloc(size);
}

JS_EXPORT(free) void js_free(void *p)
{
  free(p);
}

JS_EXPORT(version) const char *js_version(void)
{
  return pai_version();
}

void js_give(job_text text)
{
  result.text = text.bytes;
  result.len = text.len;
}

void js_give_strings(job_strings strings, failure *f)
{
  const char *one;
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  for (size_t i = 0; (one = strings.get(strings.spec, i)) != NULL; i++)
    json_text(&j, NULL, one);
  json_end(&j, ']');
  js_give(json_finish(&j, f).json);
}

/* --- failures --------------------------------------------------------------- */

static void put_place(json *j, const failure *f)
{
  unsigned line = (unsigned)pai_error_line(f->err);
  unsigned column = pai_error_column(f->err);

  if (line > 0)
    json_number(j, "line", line);
  if (column > 0)
    json_number(j, "column", column);
  json_text(j, "pointer", pai_error_pointer(f->err));
}

static void put_failure(json *j, const char *name, const failure *f)
{
  char *text = facade_describe(f);
  failure cause, lost = { 0 };
  listing report = { { NULL, 0 } };

  json_begin(j, name, '{');
  json_number(j, "code", f->code);
  json_text(j, "name", pai_code_name(f->code));
  json_text(j, "text", text != NULL ? text : facade_message(f));
  json_text(j, "message", facade_message(f));
  json_text(j, "help", facade_help(f));
  put_place(j, f);
  json_bool(j, "retriable", facade_retriable(f));
  if (f->report != NULL)
    report = facade_report(f->report, &lost);
  json_raw(j, "report", report.json.bytes);
  if (facade_cause(&cause, f))
    put_failure(j, "cause", &cause);
  json_end(j, '}');
  free(report.json.bytes);
  free(text);
}

void js_keep(failure *f)
{
  failure lost = { 0 };
  json j;

  result.code = f->code;
  if (f->code < 0) {
    free(result.text);
    json_start(&j);
    put_failure(&j, NULL, f);
    js_give(json_finish(&j, &lost).json);
  }
  facade_failure_dispose(f);
}
