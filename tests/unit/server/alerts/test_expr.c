/* Expressions of alert rules: what they find, what is refused and where, each
 * allocation failing, and random texts. */
#include "cases.h"

#include "server/alerts/expr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE INT64_C(60000000)

static const char metrics[] = "# HELP t x\n"
                              "t{minor_number=\"0\"} 80\n"
                              "t{minor_number=\"1\"} 90\n"
                              "used{b=\"2\",a=\"x\"} 50\n"
                              "used{a=\"y\",b=\"2\"} 20\n"
                              "all{a=\"x\",b=\"2\"} 100\n"
                              "all{a=\"y\",b=\"2\"} 0\n"
                              "quoted{name=\"a \\\"b\\\"\"} 1\n"
                              "load 3\n"
                              "broken{a=1} 2\n"
                              "unwanted 1\n";

typedef struct world {
  pai__alert_samples samples;
  pai__arena arena;
  pai__buf out;
} world;

static void read_metrics(world *w, const pai_alloc *alloc, const char *text)
{
  static const char *const names[] = { "t",      "used", "all",
                                       "quoted", "load", "broken" };
  char *copy = strdup(text);
  pai__map wanted;

  pai__map_init(&wanted, &pai__libc_alloc);
  for (size_t i = 0; i < PAI__LEN(names); i++)
    assert_ok(
      pai__map_set(&wanted, names[i], strlen(names[i]), (void *)names));
  pai__alert_samples_init(&w->samples, alloc);
  assert_ok(pai__alert_samples_read(&w->samples, copy, &wanted));
  pai__map_dispose(&wanted);
  free(copy);
}

static int write_result(world *w, pai__alert_expr *e, pai_time now)
{
  pai__alert_result r;
  int rc = pai__alert_expr_eval(&r, e, &w->samples, now, &w->arena);

  pai__buf_cut(&w->out, 0);
  for (size_t i = 0; rc == PAI_OK && i < r.n; i++) {
    for (size_t k = 0; k < r.at[i].labels.n; k++)
      pai__buf_printf(&w->out, "%s=%s,", r.at[i].labels.at[k].name,
                      r.at[i].labels.at[k].value);
    pai__buf_printf(&w->out, "%g ", r.at[i].value);
  }
  return rc;
}

static const struct row {
  const char *expr, *result;
} rows[] = {
  { "t", "minor_number=0,80 minor_number=1,90 " },
  { "t > 85", "minor_number=1,90 " },
  { "85 < t", "minor_number=1,90 " },
  { "t{minor_number=\"0\"} >= 80", "minor_number=0,80 " },
  { "t{minor_number!=\"0\"}", "minor_number=1,90 " },
  { "t{minor_number=~\"[01]\"} == 80", "minor_number=0,80 " },
  { "t{minor_number!~'0|2'}", "minor_number=1,90 " },
  { "used / all * 100 >= 50", "a=x,b=2,50 " }, /* 20 / 0 is nothing */
  { "all - used", "a=x,b=2,50 a=y,b=2,-20 " },
  { "used < all", "a=x,b=2,50 " },
  { "-load + 5", "2 " },
  { "load + 2 * 3", "9 " },
  { "(load + 2) * 3", "15 " },
  { "7 - load - 1", "3 " },
  { "sum(t)", "170 " },
  { "avg (t) > 84", "85 " },
  { "min(t)", "80 " },
  { "max(t)", "90 " },
  { "count(used) != 2", "" },
  { "sum by (b) (used)", "b=2,70 " },
  { "sum(used) by (b)", "b=2,70 " },
  { "used > 30 and all > 30", "a=x,b=2,50 " },
  { "used unless all > 30", "a=y,b=2,20 " },
  { "used > 30 or all == 0", "a=x,b=2,50 a=y,b=2,0 " },
  { "used and on (b) used{a=\"y\"} > 10", "a=x,b=2,50 a=y,b=2,20 " },
  { "load > 1 or load > 2 and load > 9", "3 " },
  { "quoted", "name=a \"b\",1 " },
  { "absent > 1", "" },
  { "broken", "" },
  { "t > 1e3", "" },
};

static void run(const void *of)
{
  const struct row *row = of;
  pai__alert_expr *e;
  world w;

  read_metrics(&w, &pai__libc_alloc, metrics);
  pai__arena_init(&w.arena, &pai__libc_alloc);
  pai__buf_init(&w.out, &pai__libc_alloc);
  assert_ok(pai__alert_expr_parse(&e, &pai__libc_alloc, row->expr,
                                  strlen(row->expr), NULL));
  assert_ok(write_result(&w, e, 1));
  assert_string_equal(pai__buf_text(&w.out), row->result);
  pai__alert_expr_free(e);
  pai__buf_dispose(&w.out);
  pai__arena_dispose(&w.arena);
  pai__alert_samples_dispose(&w.samples);
}
TEST_TABLE(run, rows);

/* --- refused -------------------------------------------------------------- */

static const struct wrong {
  const char *expr, *message;
  unsigned line, column;
} wrongs[] = {
  { "", "ends where", 1, 1 },
  { "t >", "ends where the name", 1, 4 },
  { "t > 5 foo", "an operator", 1, 7 },
  { "t >\n  %", "the name of a metric", 2, 3 },
  { "5 > 4", "two numbers", 1, 3 },
  { "5", "neither true nor false", 1, 1 },
  { "t and 5", "neither true nor false", 1, 3 },
  { "(t > 5", "ends where", 1, 7 },
  { "t{a} > 5", "= != =~", 1, 4 },
  { "t{a=b}", "in quotes", 1, 5 },
  { "t{a=\"b}", "no second quote", 1, 5 },
  { "t{a=~\"(\"}", "no regular expression", 1, 3 },
  { "t{a=~\"x{1000}\"}", "has {", 1, 3 },
  { "t{a=~\"((x+)+)+\"}", "repeats a group", 1, 3 },
  { "t{a=~\"x++\"}", "repeats a group", 1, 3 },
  { "t > 5 for", "a time", 1, 10 },
  { "t > 5 for 5x", "a time", 1, 11 },
  { "rate(t)", "another sign", 1, 7 },
  { "rate(t[5y])", "a time of up to a day", 1, 8 },
  { "sum by t", "another sign", 1, 8 },
  { "sum(3)", "nothing to sum up", 1, 7 },
  { "t > 1.2.3", "no number", 1, 5 },
  { "\xc3\xa4 > 5", "the name of a metric", 1, 1 },
};

static void refuse(const void *of)
{
  const struct wrong *row = of;
  pai__alert_expr *e;
  pai_error *err = NULL;

  assert_int_equal(pai__alert_expr_parse(&e, &pai__libc_alloc, row->expr,
                                         strlen(row->expr), &err),
                   PAI_EINVAL);
  assert_null(e);
  assert_non_null(strstr(pai_error_message(err), row->message));
  assert_non_null(pai_error_help(err));
  assert_int_equal(pai_error_line(err), row->line);
  assert_int_equal(pai_error_column(err), row->column);
  pai_error_free(err);
}
TEST_TABLE(refuse, wrongs);

TEST(brackets_without_end)
{
  static char deep[PAI__EXPR_LENGTH + 2];
  pai__alert_expr *e;

  memset(deep, '(', sizeof(deep) - 1);
  assert_int_equal(
    pai__alert_expr_parse(&e, &pai__libc_alloc, deep, PAI__EXPR_LENGTH, NULL),
    PAI_EINVAL);
  memset(deep, '-', sizeof(deep) - 1);
  assert_int_equal(
    pai__alert_expr_parse(&e, &pai__libc_alloc, deep, PAI__EXPR_LENGTH, NULL),
    PAI_EINVAL);
  assert_int_equal(pai__alert_expr_parse(&e, &pai__libc_alloc, deep,
                                         PAI__EXPR_LENGTH + 1, NULL),
                   PAI_ELIMIT);
}

/* --- time ----------------------------------------------------------------- */

TEST(windows_and_waiting)
{
  static const char text[] =
    "rate(load[5m]) > 0.5 or avg_over_time(load[3m]) > 1000 for 1h30m";
  pai__alert_expr *e;
  char line[40];
  world w;

  assert_int_equal(pai__alert_duration("2d", 2), 2 * 1440 * MINUTE);
  assert_int_equal(pai__alert_duration("5", 1), 0);
  assert_int_equal(pai__alert_duration("99999999999999999999s", 21), 0);
  assert_ok(
    pai__alert_expr_parse(&e, &pai__libc_alloc, text, strlen(text), NULL));
  assert_int_equal(pai__alert_expr_wait(e), 90 * MINUTE);
  assert_string_equal(pai__alert_expr_metric(e, 0), "load");
  assert_null(pai__alert_expr_metric(e, 2));
  pai__arena_init(&w.arena, &pai__libc_alloc);
  pai__buf_init(&w.out, &pai__libc_alloc);
  /* a second each second, then the counter begins anew, then it rests */
  for (int i = 0; i < 12; i++) {
    (void)snprintf(line, sizeof(line), "load %d\n",
                   i < 4    ? 60 * i
                   : i == 4 ? 60
                            : 60);
    read_metrics(&w, &pai__libc_alloc, line);
    assert_ok(pai__alert_expr_remember(e, &w.samples, i * MINUTE));
    assert_ok(write_result(&w, e, i * MINUTE));
    if (i == 0 || i == 11)
      assert_string_equal(pai__buf_text(&w.out), "");
    else if (i < 4)
      assert_string_equal(pai__buf_text(&w.out), "1 ");
    pai__alert_samples_dispose(&w.samples);
  }
  pai__alert_expr_free(e);
  pai__buf_dispose(&w.out);
  pai__arena_dispose(&w.arena);
}

/* --- memory, and any text -------------------------------------------------- */

TEST_FAULTS(memory_may_lack)
{
  static const char text[] =
    "sum by (a) (rate(t{x=~\"a.*\"}[5m])) > 1 and on "
    "(a) used / all > 0.3 or max(t) unless quoted for 5m";
  pai__alert_expr *e = NULL;
  world w;
  int rc = pai__alert_expr_parse(&e, alloc, text, strlen(text), NULL);

  if (rc < 0)
    return rc;
  read_metrics(&w, &pai__libc_alloc, metrics);
  pai__arena_init(&w.arena, alloc);
  pai__buf_init(&w.out, &pai__libc_alloc);
  for (int i = 0; i < 3 && rc == PAI_OK; i++) {
    rc = pai__alert_expr_remember(e, &w.samples, i * MINUTE);
    if (rc == PAI_OK)
      rc = write_result(&w, e, i * MINUTE);
  }
  if (rc == PAI_OK)
    assert_string_equal(pai__buf_text(&w.out), "90 ");
  pai__alert_expr_free(e);
  pai__buf_dispose(&w.out);
  pai__arena_dispose(&w.arena);
  pai__alert_samples_dispose(&w.samples);
  return rc;
}

/* Words of the language in any order: none crashes, few are valid. */
TEST(random_texts)
{
  static const char *const words[] = {
    "t",       "used", "load", "(",        ")",     "{",    "}",
    "a=\"x\"", ",",    " > ",  " < ",      " and ", " or ", "sum",
    " by",     "rate", "[5m]", "5",        "-",     "*",    "/",
    " for 5m", "\"",   "=~",   " unless ", "on(a)", "\xff"
  };
  unsigned seed = 7, valid = 0;
  world w;

  read_metrics(&w, &pai__libc_alloc, metrics);
  pai__buf_init(&w.out, &pai__libc_alloc);
  for (int i = 0; i < 200000; i++) {
    pai__alert_expr *e = NULL;
    char text[400] = "";
    pai_error *err = NULL;

    for (unsigned n = 0; n < 1 + (unsigned)i % 9; n++) {
      seed = seed * 1103515245u + 12345u;
      (void)strcat(text, words[(seed >> 16) % PAI__LEN(words)]);
    }
    if (pai__alert_expr_parse(&e, &pai__libc_alloc, text, strlen(text), &err) <
        0) {
      assert_non_null(err);
      pai_error_free(err);
      continue;
    }
    valid++;
    pai__arena_init(&w.arena, &pai__libc_alloc);
    assert_ok(pai__alert_expr_remember(e, &w.samples, 1));
    assert_ok(write_result(&w, e, 1));
    pai__arena_dispose(&w.arena);
    pai__alert_expr_free(e);
  }
  assert_in_range(valid, 1000, 100000);
  pai__buf_dispose(&w.out);
  pai__alert_samples_dispose(&w.samples);
}
