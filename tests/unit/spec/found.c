/* found.c - what is found in a job file, in tests */
#include "found.h"

#include "base/buf.h"

static bool is_one_line(const char *s)
{
  for (; *s != '\0'; s++)
    if ((unsigned char)*s < ' ' || *s == 0x7f)
      return false;
  return true;
}

/* What holds of each, and of two in a row. */
static void check_one(const pai_diagnostic *d, const pai_diagnostic *before)
{
  assert_int_equal(d->struct_size, sizeof(*d));
  assert_true(d->line > 0 && d->column > 0);
  assert_true(d->end_line > d->line ||
              (d->end_line == d->line && d->end_column >= d->column));
  assert_true(d->pointer[0] == '\0' || d->pointer[0] == '/');
  assert_true(d->message[0] != '\0' && is_one_line(d->message));
  assert_true(d->help == NULL || (d->help[0] != '\0' && is_one_line(d->help)));
  if (before != NULL &&
      (before->line > d->line ||
       (before->line == d->line && before->column > d->column)))
    fail_msg("%u:%u comes after %u:%u", d->line, d->column, before->line,
             before->column);
}

static void show(pai__buf *out, const pai_report *report)
{
  const pai_diagnostic *d, *before = NULL;
  int valid = 1;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++) {
    check_one(d, before);
    valid &= d->severity == PAI_SEVERITY_WARNING;
    pai__buf_printf(out, "%s%s%s %s %u:%u-%u:%u", i > 0 ? "\n" : "",
                    d->severity == PAI_SEVERITY_WARNING ? "?" : "", d->code,
                    d->pointer, d->line, d->column, d->end_line,
                    d->end_column);
    before = d;
  }
  assert_int_equal(pai_report_valid(report), valid);
}

static bool has_part(const char *s, const char *part)
{
  return s != NULL && strstr(s, part) != NULL;
}

static void check_words(const pai_report *report, const found *want)
{
  const pai_diagnostic *d = pai_report_get(report, 0);

  if (d == NULL)
    return;
  if (want->says != NULL && !has_part(d->message, want->says))
    fail_msg("%s\nsays \"%s\", not \"%s\"", want->text, d->message,
             want->says);
  if (want->help != NULL ? !has_part(d->help, want->help) : d->help != NULL)
    fail_msg("%s\nhelps \"%s\", not \"%s\"", want->text,
             d->help != NULL ? d->help : "(not)",
             want->help != NULL ? want->help : "(not)");
}

void test_found_in(const char *text, size_t len, const found *want,
                   const pai_spec_options *opts)
{
  pai_report *report;
  pai_spec *spec;
  pai_error *err;
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  assert_int_equal(pai_spec_check(&report, &spec, text, len, opts, &err),
                   PAI_OK);
  assert_null(err);
  show(&b, report);
  if (strcmp(pai__buf_text(&b), want->list) != 0)
    fail_msg("%s\nfound:\n%s\nwant:\n%s\nfirst: %s", text, pai__buf_text(&b),
             want->list,
             pai_report_count(report) > 0 ? pai_report_get(report, 0)->message
                                          : "(nothing)");
  check_words(report, want);
  assert_int_equal(spec != NULL, pai_report_valid(report));
  pai_spec_unref(spec);
  pai_report_free(report);
  pai__buf_dispose(&b);
}

void test_found(const found *want, const pai_spec_options *opts)
{
  test_found_in(want->text, strlen(want->text), want, opts);
}

pai_spec *test_spec(const char *text, const pai_spec_options *opts)
{
  pai_error *err;
  pai_spec *spec;

  if (pai_spec_parse(&spec, text, strlen(text), opts, &err) < 0)
    fail_msg("%s\n%u:%u: %s", text, pai_error_line(err), pai_error_column(err),
             pai_error_message(err));
  assert_null(err);
  return spec;
}
