/*
 * test_pages.c - pages of reports made by hand
 *
 * What people read is compared with tests/golden/sim/: a file NAME.txt or
 * NAME.csv is what `pages_made NAME text` or `csv` prints.
 */
#include "cases.h"
#include "files.h"
#include "reports.h"

#include "base/text/utf8.h"
#include "resource/svg.h"
#include "sim/report/pages.h"

#include <stdio.h>
#include <stdlib.h>

typedef int (*writer)(const pai_sim_report *const *reports, size_t n,
                      pai_write_cb write, void *user_data, pai_error **err);

static const writer writers[] = { pai__report_text, pai__report_csv,
                                  pai__report_html };

/* All sets of reports.c. */
static const char *const sets[] = { "empty", "one",     "large", "few",
                                    "cpus",  "strange", "huge",  "compared" };

/* Freed with pai__strfree(&pai__libc_alloc, ...). */
static char *page_of(const char *name, writer write)
{
  pai_sim_report *made[8];
  const pai_sim_report *reports[8];
  size_t n = test_reports_of(name, made);
  pai_error *err = NULL;
  pai__buf out = test_buf();

  assert_true(n > 0);
  for (size_t i = 0; i < n; i++)
    reports[i] = made[i];
  assert_ok(write(reports, n, test_collect, &out, &err));
  assert_null(err);
  for (size_t i = 0; i < n; i++)
    test_report_free(made[i]);
  return pai__buf_take(&out);
}

/* --- by example ------------------------------------------------------------- */

static void is_golden(const char *name, const char *kind, writer write)
{
  const char *want = test_file(
    test_string("%s/tests/golden/sim/%s.%s", SOURCE_DIR, name, kind));
  char *got = page_of(name, write);
  unsigned line = 1;
  size_t i = 0;

  assert_non_null(want);
  for (; want[i] != '\0' && want[i] == got[i]; i++)
    line += want[i] == '\n';
  if (want[i] != got[i])
    fail_msg("%s.%s, line %u: want \"%.60s\", got \"%.60s\"", name, kind, line,
             want + i, got + i);
  pai__strfree(&pai__libc_alloc, got);
}

TEST(texts_are_as_before)
{
  is_golden("empty", "txt", pai__report_text);
  is_golden("one", "txt", pai__report_text);
  is_golden("few", "txt", pai__report_text);
  is_golden("cpus", "txt", pai__report_text);
  is_golden("strange", "txt", pai__report_text);
  is_golden("compared", "txt", pai__report_text);
}

TEST(rows_are_as_before)
{
  is_golden("one", "csv", pai__report_csv);
  is_golden("compared", "csv", pai__report_csv);
  is_golden("strange", "csv", pai__report_csv);
}

/* --- of all pages -------------------------------------------------------------- */

static void check_line(const char *set, const char *line, size_t len)
{
  char *text = calloc(1, len + 1);

  assert_non_null(text);
  memcpy(text, line, len);
  if (pai__svg_columns(text) > 80)
    fail_msg("%s: %zu columns: %s", set, pai__svg_columns(text), text);
  if (len > 0 && text[len - 1] == ' ')
    fail_msg("%s: a space at the end: \"%s\"", set, text);
  for (size_t i = 0; i < len;) {
    size_t n = pai__utf8_len(text + i, len - i);

    if (n == 0 || pai__is_control(text + i, n))
      fail_msg("%s: what a terminal would act on: %s", set, text);
    i += n;
  }
  free(text);
}

TEST(all_sets_have_pages_of_80_columns)
{
  for (size_t i = 0; i < PAI__LEN(sets); i++) {
    char *page = page_of(sets[i], pai__report_html);

    assert_in_range(strlen(page), 1, 1000000);
    pai__strfree(&pai__libc_alloc, page);
    page = page_of(sets[i], pai__report_text);
    for (const char *line = page; *line != '\0';) {
      size_t len = strcspn(line, "\n");

      assert_int_equal(line[len], '\n');
      check_line(sets[i], line, len);
      line += len + 1;
    }
    pai__strfree(&pai__libc_alloc, page);
  }
}

static void has(const char *page, const char *part)
{
  if (strstr(page, part) == NULL)
    fail_msg("\"%s\" is missing", part);
}

TEST(no_name_ends_the_script)
{
  pai_sim_report *r =
    test_report_one("</script><script>\xe2\x80\xa8\xe2\x80\x99"
                    "alert(1)\xe2\x80\xa9");
  const pai_sim_report *const list[] = { r };
  const char *json;
  pai__buf out = test_buf();

  assert_ok(pai__report_html(list, 1, test_collect, &out, NULL));
  json = strstr(pai__buf_text(&out), "application/json");
  assert_non_null(json);
  assert_memory_equal(strchr(json, '<'), "</script>\n</div>", 16);
  has(json, "\"\\u003c/script>\\u003cscript>\\u2028\xe2\x80\x99"
            "alert(1)\\u2029\"");
  pai__buf_dispose(&out);
  test_report_free(r);
}

/* A level between two times is that of the bins that they lie in, and the last
 * bin ends with the simulation. */
TEST(levels_are_means)
{
  pai_sim_report *r = test_report_one("fifo");

  assert_int_equal(pai__level(r, PAI__BUSY, 0, PAI__MINUTE), 0);
  assert_int_equal(pai__level(r, PAI__BUSY, PAI__MINUTE, 2 * PAI__MINUTE),
                   4000);
  assert_int_equal(pai__level(r, PAI__BUSY, 0, 3 * PAI__MINUTE), 2667);
  assert_int_equal(
    pai__level(r, PAI__BUSY, PAI__MINUTE / 2, 3 * PAI__MINUTE / 2), 2000);
  assert_int_equal(pai__level(r, PAI__DOWN, 0, 3 * PAI__MINUTE), 667);
  assert_int_equal(pai__level(r, PAI__BUSY, 3 * PAI__MINUTE, 4 * PAI__MINUTE),
                   -1);
  r->span = 5 * PAI__MINUTE / 2;
  assert_int_equal(pai__bin_length(r, 2), PAI__MINUTE / 2);
  assert_int_equal(pai__level(r, PAI__BUSY, 2 * PAI__MINUTE, 3 * PAI__MINUTE),
                   8000);
  r->span = 2 * PAI__MINUTE; /* the last bin has just begun */
  assert_int_equal(pai__bin_length(r, 2), 0);
  assert_int_equal(pai__level(r, PAI__DOWN, 2 * PAI__MINUTE, 3 * PAI__MINUTE),
                   -1);
  test_report_free(r);
}

TEST(classes_are_cumulated_rightly)
{
  pai__spread s = { .count = 4 };
  int sum = 0;

  assert_int_equal(pai__class_share(&(pai__spread){ 0 }, 0), 0);
  for (size_t i = 0; i < PAI__LEN(s.at); i++)
    s.at[i] = i <= 250 ? 0 : i <= 750 ? 5 * PAI__MINUTE : 30 * PAI__DAY;
  assert_int_equal(pai__class_share(&s, 0), 250);
  assert_int_equal(pai__class_share(&s, 1), 0);
  assert_int_equal(pai__class_share(&s, 2), 500);
  assert_int_equal(pai__class_share(&s, PAI__CLASSES - 1), 250);
  for (size_t i = 0; i < PAI__CLASSES; i++)
    sum += pai__class_share(&s, i);
  assert_int_equal(sum, 1000);
}

/* --- when something fails --------------------------------------------------------- */

static int write_all(const pai_alloc *alloc, void *user_data)
{
  pai_sim_report *const *made = user_data;
  const pai_sim_report *reports[2] = { made[0], made[1] };
  int rc = PAI_OK;

  made[0]->alloc = made[1]->alloc = *alloc;
  for (size_t n = 1; rc == PAI_OK && n <= 2; n++)
    for (size_t k = 0; rc == PAI_OK && k < PAI__LEN(writers); k++) {
      pai_error *err = NULL;
      pai__buf out = test_buf();

      rc = writers[k](reports, n, test_collect, &out, &err);
      if (rc == PAI_OK)
        assert_true(out.len > 0);
      else
        assert_int_equal(pai_error_code(err), rc);
      assert_true(rc == PAI_OK || out.len == 0);
      pai_error_free(err);
      pai__buf_dispose(&out);
    }
  return rc;
}

TEST(no_memory_is_survived)
{
  static const test_made few = { "fifo", 5, 3, 4, 9, 30, 40, 800, true };
  pai_sim_report *made[2] = { test_report_made(&few),
                              test_report_one("hived") };

  test_faults(write_all, made);
  made[0]->alloc = made[1]->alloc = pai__libc_alloc;
  test_report_free(made[0]);
  test_report_free(made[1]);
}

static int refuse(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return PAI_EPERM;
}

TEST(what_a_writer_answers_is_returned)
{
  pai_sim_report *r = test_report_one("fifo");
  const pai_sim_report *const list[] = { r };

  for (size_t k = 0; k < PAI__LEN(writers); k++)
    assert_int_equal(writers[k](list, 1, refuse, NULL, NULL), PAI_EPERM);
  test_report_free(r);
}
