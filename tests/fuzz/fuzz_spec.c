/* fuzz_spec.c - job files of both versions: checked, read, written, read
 * again */
#include "check.h"

#include "base/buf.h"

#include <openpai/spec.h>

static bool is_one_line(const char *s)
{
  return strpbrk(s, "\r\n") == NULL;
}

static void check_diagnostic(const pai_diagnostic *d,
                             const pai_diagnostic *before)
{
  CHECK(d->severity == PAI_SEVERITY_ERROR ||
        d->severity == PAI_SEVERITY_WARNING);
  CHECK(d->line > 0 && d->column > 0);
  CHECK(d->end_line > d->line ||
        (d->end_line == d->line && d->end_column >= d->column));
  CHECK(before == NULL || before->line < d->line ||
        (before->line == d->line && before->column <= d->column));
  CHECK(d->code[0] != '\0' && d->message[0] != '\0');
  CHECK(is_one_line(d->message));
  CHECK(d->help == NULL || (d->help[0] != '\0' && is_one_line(d->help)));
  CHECK(d->pointer[0] == '\0' || d->pointer[0] == '/');
  CHECK(d->source == NULL || is_one_line(d->source));
}

/* Its edits lie in the text, in order and apart; titles are for people. */
static void check_fix(const pai_fix *fix)
{
  uint32_t line = 1, column = 1;

  CHECK(fix->title[0] != '\0' && is_one_line(fix->title));
  CHECK(fix->edit_count > 0);
  for (size_t i = 0; i < fix->edit_count; i++) {
    const pai_text_edit *e = fix->edits[i];

    CHECK(e->line > line || (e->line == line && e->column >= column));
    CHECK(e->end_line > e->line ||
          (e->end_line == e->line && e->end_column >= e->column));
    line = e->end_line;
    column = e->end_column;
  }
}

static void check_report(const pai_report *report)
{
  const pai_diagnostic *d, *before = NULL;
  int valid = 1;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++) {
    check_diagnostic(d, before);
    for (size_t k = 0; k < d->fix_count; k++)
      check_fix(d->fixes[k]);
    valid &= d->severity == PAI_SEVERITY_WARNING;
    before = d;
  }
  CHECK(pai_report_valid(report) == valid);
  CHECK(pai_report_version(report) >= 0 && pai_report_version(report) <= 2);
}

/* Looks at all there is; what is given cannot be NULL. */
static void check_spec(const pai_spec *spec)
{
  size_t roles = pai_spec_role_count(spec), tasks = 0, sum = 0;

  sum += strlen(pai_spec_name(spec)) + pai_spec_retry_count(spec);
  for (size_t i = 0; i < roles; i++) {
    tasks += pai_spec_role_instances(spec, i);
    sum += strlen(pai_spec_role_name(spec, i));
    sum += strlen(pai_spec_role_script(spec, i));
    sum += pai_spec_role_cpus(spec, i) + pai_spec_role_memory_mb(spec, i) +
           pai_spec_role_gpus(spec, i);
  }
  for (size_t i = 0; pai_spec_note(spec, i) != NULL; i++)
    sum += strlen(pai_spec_note(spec, i));
  for (size_t i = 0; pai_spec_unresolved(spec, i) != NULL; i++)
    sum += strlen(pai_spec_unresolved(spec, i));
  CHECK(roles > 0 && tasks == pai_spec_task_count(spec) && sum > 0);
  CHECK(pai_spec_role_name(spec, roles) == NULL);
}

static void write_out(pai__buf *out, const pai_spec *spec, int format,
                      int secrets)
{
  pai_spec_write_options o = PAI_SPEC_WRITE_OPTIONS_INIT;

  o.format = format;
  o.secrets = secrets;
  pai__buf_clear(out);
  CHECK(pai_spec_write(spec, &o, test_collect, out, NULL) == PAI_OK);
  CHECK(pai__buf_ok(out));
}

/* What is written is valid, and written again the same. */
static void check_written(const pai_spec *spec)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai__buf once, again;
  pai_spec *back;

  o.max_depth = 1000; /* what is kept of version 1 lies deeper */
  o.max_bytes = 1 << 30;
  pai__buf_init(&once, &pai__libc_alloc);
  pai__buf_init(&again, &pai__libc_alloc);
  write_out(&once, spec, PAI_FORMAT_YAML, 1);
  CHECK(pai_spec_parse(&back, pai__buf_text(&once), once.len, &o, NULL) ==
        PAI_OK);
  write_out(&again, back, PAI_FORMAT_YAML, 1);
  CHECK(once.len == again.len);
  CHECK(memcmp(once.data, again.data, once.len) == 0);
  pai__buf_dispose(&again);
  pai__buf_dispose(&once);
  pai_spec_unref(back);
}

static void check_outputs(const pai_spec *spec)
{
  pai_spec *masked;
  pai__buf out;

  check_written(spec);
  pai__buf_init(&out, &pai__libc_alloc);
  write_out(&out, spec, PAI_FORMAT_YAML, 0);
  write_out(&out, spec, PAI_FORMAT_JSON, 1);
  write_out(&out, spec, PAI_FORMAT_JSON, 0);
  CHECK(pai_spec_explain(spec, PAI_FORMAT_TEXT, test_collect, &out, NULL) ==
        PAI_OK);
  CHECK(pai_spec_explain(spec, PAI_FORMAT_JSON, test_collect, &out, NULL) ==
        PAI_OK);
  pai__buf_dispose(&out);
  CHECK(pai_spec_masked(&masked, spec, NULL) == PAI_OK);
  check_spec(masked);
  pai_spec_unref(masked);
}

/* All that is sure is applied: what could be read still can.  (What insists on
 * version 1 and is no JSON is looked at only while keys are there twice.) */
static void check_fixed(const pai_report *report, const char *text,
                        size_t size, const pai_spec_options *o)
{
  const pai_diagnostic *d = pai_report_get(report, 0);
  bool syntax =
    o->version == 1 || (d != NULL && strcmp(d->code, "syntax") == 0);
  pai_report *after;
  pai__buf out;
  int count;

  pai__buf_init(&out, &pai__libc_alloc);
  count = pai_report_fix(report, text, size, NULL, test_collect, &out, NULL);
  CHECK(count >= 0 && pai__buf_ok(&out));
  CHECK(count > 0 ||
        (out.len == size && memcmp(pai__buf_text(&out), text, size) == 0));
  if (count > 0) {
    CHECK(pai_spec_check(&after, NULL, pai__buf_text(&out), out.len, o,
                         NULL) == PAI_OK);
    d = pai_report_get(after, 0);
    CHECK(syntax || d == NULL || strcmp(d->code, "syntax") != 0);
    pai_report_free(after);
  }
  pai__buf_dispose(&out);
}

static void check_range(const pai_text_range *r)
{
  CHECK((r->line == 0) == (r->column == 0));
  CHECK(r->end_line > r->line ||
        (r->end_line == r->line && r->end_column >= r->column));
}

/* A few places, which the text's own bytes choose. */
static void check_places(const char *text, size_t size)
{
  uint32_t lines = 1;

  for (size_t i = 0; i < size; i++)
    lines += text[i] == '\n';
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t line = 1 + (i * 2654435761u + (uint32_t)size) % lines;
    uint32_t column = 1 + (i * 40503u + (uint32_t)size) % 16;
    pai_place_view v = { .struct_size = sizeof(v) };
    pai_spec_place *place, *again;
    int rc = pai_spec_at(&place, text, size, line, column, NULL, NULL);

    CHECK(rc == PAI_OK || rc == PAI_ENOTFOUND || rc == PAI_ELIMIT);
    if (rc < 0)
      continue;
    CHECK(pai_spec_view_place(place, &v) == PAI_OK);
    CHECK(v.pointer[0] == '\0' || v.pointer[0] == '/');
    check_range(&v.key);
    check_range(&v.value);
    rc = pai_spec_range(&again, text, size, v.pointer, NULL, NULL);
    CHECK(rc == PAI_OK || rc == PAI_ENOTFOUND || !v.valid);
    pai_spec_place_free(again);
    pai_spec_place_free(place);
  }
}

static void check(const char *text, size_t size, int version, int hived)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_report *report;
  pai_spec *spec;

  o.version = version;
  o.hived = hived;
  CHECK(pai_spec_check(&report, &spec, text, size, &o, NULL) == PAI_OK);
  check_report(report);
  check_fixed(report, text, size, &o);
  CHECK((spec != NULL) == pai_report_valid(report));
  if (spec != NULL) {
    check_spec(spec);
    check_outputs(spec);
  }
  pai_spec_unref(spec);
  pai_report_free(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size + (size == 0)); /* exact: reading on is seen */

  if (text == NULL)
    return 0;
  text[0] = '\0';
  if (size != 0)
    memcpy(text, data, size);
  check(text, size, 0, 0);
  check_places(text, size);
  check(text, size, 2, 1);
  if (size > 0 && (*text == '{' || *text == '/'))
    check(text, size, 1, 0);
  free(text);
  return 0;
}
