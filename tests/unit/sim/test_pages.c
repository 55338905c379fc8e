/*
 * test_pages.c - pages of reports made by hand
 *
 * What people read is compared with tests/golden/sim/: a file NAME.txt or
 * NAME.csv is what `pages_made NAME text` or `csv` prints.
 */
#include "reports.h"

#include "base/utf8.h"
#include "resource/svg.h"
#include "sim/pages.h"

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
  pai__buf out;

  assert_true(n > 0);
  for (size_t i = 0; i < n; i++)
    reports[i] = made[i];
  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(write(reports, n, test_collect, &out, &err), PAI_OK);
  assert_null(err);
  for (size_t i = 0; i < n; i++)
    test_report_free(made[i]);
  return pai__buf_take(&out);
}

/* --- by example ------------------------------------------------------------- */

static char *golden(const char *name, const char *kind)
{
  char path[256];
  FILE *file;
  char *text;
  size_t len;

  (void)snprintf(path, sizeof(path), "%s/tests/golden/sim/%s.%s", SOURCE_DIR,
                 name, kind);
  file = fopen(path, "rb");
  if (file == NULL)
    fail_msg("%s cannot be opened", path);
  text = calloc(1, 1 << 20);
  assert_non_null(text);
  len = fread(text, 1, (1 << 20) - 1, file);
  assert_true(len > 0);
  (void)fclose(file);
  return text;
}

static void is_golden(const char *name, const char *kind, writer write)
{
  char *want = golden(name, kind), *got = page_of(name, write);
  unsigned line = 1;
  size_t i = 0;

  for (; want[i] != '\0' && want[i] == got[i]; i++)
    line += want[i] == '\n';
  if (want[i] != got[i])
    fail_msg("%s.%s, line %u: want \"%.60s\", got \"%.60s\"", name, kind, line,
             want + i, got + i);
  free(want);
  pai__strfree(&pai__libc_alloc, got);
}

static void texts_are_as_before(void **state)
{
  (void)state;
  is_golden("empty", "txt", pai__report_text);
  is_golden("one", "txt", pai__report_text);
  is_golden("few", "txt", pai__report_text);
  is_golden("cpus", "txt", pai__report_text);
  is_golden("strange", "txt", pai__report_text);
  is_golden("compared", "txt", pai__report_text);
}

static void rows_are_as_before(void **state)
{
  (void)state;
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

static void terminals_of_80_columns_show_all(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(sets); i++) {
    char *page = page_of(sets[i], pai__report_text);

    for (const char *line = page; *line != '\0';) {
      size_t len = strcspn(line, "\n");

      assert_int_equal(line[len], '\n');
      check_line(sets[i], line, len);
      line += len + 1;
    }
    pai__strfree(&pai__libc_alloc, page);
  }
}

static void the_same_reports_give_the_same_bytes(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(sets); i++)
    for (size_t k = 0; k < PAI__LEN(writers); k++) {
      char *first = page_of(sets[i], writers[k]);
      char *second = page_of(sets[i], writers[k]);

      assert_string_equal(first, second);
      pai__strfree(&pai__libc_alloc, first);
      pai__strfree(&pai__libc_alloc, second);
    }
}

static void thousands_of_bars_make_less_than_a_megabyte(void **state)
{
  char *page = page_of("large", pai__report_html);
  size_t bars = 0;

  (void)state;
  assert_true(strlen(page) < 1000 * 1000);
  for (const char *p = page; (p = strstr(p, "<title>job ")) != NULL; p++)
    bars++;
  assert_int_equal(bars, 4000);
  pai__strfree(&pai__libc_alloc, page);
}

static void has(const char *page, const char *part)
{
  if (strstr(page, part) == NULL)
    fail_msg("\"%s\" is missing", part);
}

static void html_tells_what_happened(void **state)
{
  char *page = page_of("one", pai__report_html);

  (void)state;
  has(page, "<title>fifo - simulation</title>");
  has(page, "jsonl trace on 2 nodes, 8 GPUs, seed 1");
  has(page, "<dt>utilization</dt><dd>33.3 %</dd>");
  has(page, "<dt>failed</dt><dd class=\"none\">0</dd>");
  has(page, "<title>job 1, default: 4 GPUs of n1, 2 min from 1 min, "
            "succeeded</title>");
  has(page, "default: share 0.4 h, used 0.1 h of it, lent 0 h, borrowed 0 h");
  has(page, "default: P50 1 min, P90 1 min, P99 1 min");
  has(page, "<title>1 min 2 s: 50.0 % in use, 12.5 % fragmented, 0.0 % down");
  has(page, "<title>&lt; 10 min: 100.0 %</title>");
  pai__strfree(&pai__libc_alloc, page);
  page = page_of("compared", pai__report_html);
  has(page, "4 simulations side by side");
  has(page, "<td class=\"best\">★ 85.0 %</td><td>78.1 %</td>"
            "<td class=\"ch\">-8.2 %</td>");
  has(page, "fifo #2");
  pai__strfree(&pai__libc_alloc, page);
}

/* Nobody's name becomes a tag or an attribute. */
static void names_are_only_names(void **state)
{
  char *page = page_of("strange", pai__report_html);

  (void)state;
  assert_null(strstr(page, "<b>"));
  assert_null(strstr(page, "<i>"));
  assert_null(strstr(page, "\x1b"));
  assert_null(strstr(page, "\xff"));
  assert_null(strstr(page, "]]>"));
  has(page, "&lt;b&gt;&amp;amp;&quot;'&lt;/b&gt;");
  has(page, "東京の研究室");
  pai__strfree(&pai__libc_alloc, page);
}

/* A level between two times is that of the bins that they lie in, and the last
 * bin ends with the simulation. */
static void levels_are_means(void **state)
{
  pai_sim_report *r = test_report_one("fifo");

  (void)state;
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

static void classes_are_cumulated_rightly(void **state)
{
  pai__spread s = { .count = 4 };
  int sum = 0;

  (void)state;
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
      pai__buf out;

      pai__buf_init(&out, &pai__libc_alloc);
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

static void no_memory_is_survived(void **state)
{
  static const test_made few = { "fifo", 5, 3, 4, 9, 30, 40, 800, true };
  pai_sim_report *made[2] = { test_report_made(&few),
                              test_report_one("hived") };

  (void)state;
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

static void what_a_writer_answers_is_returned(void **state)
{
  pai_sim_report *r = test_report_one("fifo");
  const pai_sim_report *const list[] = { r };

  (void)state;
  for (size_t k = 0; k < PAI__LEN(writers); k++)
    assert_int_equal(writers[k](list, 1, refuse, NULL, NULL), PAI_EPERM);
  test_report_free(r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(texts_are_as_before),
    cmocka_unit_test(rows_are_as_before),
    cmocka_unit_test(terminals_of_80_columns_show_all),
    cmocka_unit_test(the_same_reports_give_the_same_bytes),
    cmocka_unit_test(thousands_of_bars_make_less_than_a_megabyte),
    cmocka_unit_test(html_tells_what_happened),
    cmocka_unit_test(names_are_only_names),
    cmocka_unit_test(levels_are_means),
    cmocka_unit_test(classes_are_cumulated_rightly),
    cmocka_unit_test(no_memory_is_survived),
    cmocka_unit_test(what_a_writer_answers_is_returned),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
