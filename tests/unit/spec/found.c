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

static void show_pointer(pai__buf *out, const char *pointer)
{
  static const char *const words[][2] = {
    { "/taskRoles/a/resourcePerInstance", "sizes" },
    { "/extras/com.microsoft.pai.runtimeplugin", "plugins" },
    { "/extras/hivedScheduler", "hived" },
    { "/taskRoles/a", "role" },
  };

  for (size_t i = 0; i < PAI__LEN(words); i++) {
    size_t len = strlen(words[i][0]);
    if (strncmp(pointer, words[i][0], len) == 0 &&
        (pointer[len] == '/' || pointer[len] == '\0')) {
      pai__buf_str(out, words[i][1]);
      pointer += len;
      break;
    }
  }
  pai__buf_str(out, pointer);
}

static void show(pai__buf *out, const pai_report *report)
{
  const pai_diagnostic *d, *before = NULL;
  int valid = 1;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++) {
    check_one(d, before);
    valid &= d->severity == PAI_SEVERITY_WARNING;
    pai__buf_printf(out, "%s%s%s ", i > 0 ? "\n" : "",
                    d->severity == PAI_SEVERITY_WARNING ? "?" : "", d->code);
    show_pointer(out, d->pointer);
    pai__buf_printf(out, " %u:%u-", d->line, d->column);
    if (d->end_line != d->line)
      pai__buf_printf(out, "%u:", d->end_line);
    pai__buf_printf(out, "%u", d->end_column);
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

pai_report *test_report(const char *text, size_t len,
                        const pai_spec_options *opts)
{
  pai_report *report;
  pai_error *err;

  assert_ok(pai_spec_check(&report, NULL, text, len, opts, &err));
  assert_null(err);
  return report;
}

void test_found(const found *want, const pai_spec_options *opts)
{
  const char *text = want->text;
  pai_report *report;
  pai_spec *spec;
  pai_error *err;
  pai__buf b = test_buf();

  assert_ok(pai_spec_check(&report, &spec, text, strlen(text), opts, &err));
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

void test_found_each(const found *rows, size_t n, const pai_spec_options *opts)
{
  for (size_t i = 0; i < n; i++)
    test_found(&rows[i], opts);
}

void test_found_none(const char *const *texts, size_t n)
{
  for (size_t i = 0; i < n; i++)
    test_found(&(found){ texts[i], "", NULL, NULL }, NULL);
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

void test_replaced(const char *have, const char *text, const char *from,
                   const char *to)
{
  const char *at = from != NULL ? strstr(text, from) : NULL;
  pai__buf want = test_buf();

  if (from != NULL)
    assert_non_null(at);
  pai__buf_add(&want, text, at != NULL ? (size_t)(at - text) : strlen(text));
  if (at != NULL) {
    pai__buf_str(&want, to);
    pai__buf_str(&want, at + strlen(from));
  }
  if (strcmp(have, pai__buf_text(&want)) != 0)
    fail_msg("%s\nbecomes:\n%s\nnot:\n%s", text, have, pai__buf_text(&want));
  pai__buf_dispose(&want);
}

int test_refuse(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return PAI_EUSER;
}

typedef struct under_faults {
  const char *text;
  int (*use)(const pai_spec *spec);
} under_faults;

static int use_once(const pai_alloc *alloc, void *user_data)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  const under_faults *u = user_data;
  pai_report *report = NULL;
  pai_spec *spec;
  int rc;

  o.alloc = alloc;
  rc = pai_spec_check(&report, &spec, u->text, strlen(u->text), &o, NULL);
  assert_int_equal(rc == PAI_OK, report != NULL);
  assert_int_equal(spec != NULL, rc == PAI_OK && pai_report_valid(report));
  if (spec != NULL && u->use != NULL)
    rc = u->use(spec);
  pai_report_free(report);
  pai_spec_unref(spec);
  return rc;
}

void test_spec_faults(const char *text, int (*use)(const pai_spec *spec))
{
  under_faults u = { .text = text, .use = use };

  test_faults(use_once, &u);
}
