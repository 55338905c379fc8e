/* test_format.c - numbers, times and names as pages show them */
#include "cases.h"

#include "sim/report/format.h"

#define THIN "\xe2\x80\xaf"

typedef struct shown {
  int64_t value;
  const char *text;
} shown;

static void check(const char *(*show)(char *, int64_t), const shown *list,
                  size_t n)
{
  char cell[PAI__CELL];

  for (size_t i = 0; i < n; i++)
    if (strcmp(show(cell, list[i].value), list[i].text) != 0)
      fail_msg("%lld: want \"%s\", got \"%s\"", (long long)list[i].value,
               list[i].text, cell);
}

#define CHECK(show, ...)                     \
  do {                                       \
    static const shown list[] = __VA_ARGS__; \
    check((show), list, PAI__LEN(list));     \
  } while (0)

TEST(times_are_told_in_two_units)
{
  CHECK(pai__show_time,
        { { 0, "0 s" },
          { 1, "1 µs" },
          { 999, "999 µs" },
          { 1000, "1 ms" },
          { 999499, "999 ms" },
          { 999500, "1 s" },
          { 1500000, "1.5 s" },
          { 9949999, "9.9 s" },
          { 9950000, "10 s" },
          { 59499999, "59 s" },
          { 59500000, "1 min" },
          { 61 * PAI__SECOND, "1 min 1 s" },
          { PAI__HOUR - 500001, "59 min 59 s" },
          { PAI__HOUR - 500000, "1 h" },
          { PAI__DAY - 31 * PAI__SECOND, "23 h 59 min" },
          { PAI__DAY - 30 * PAI__SECOND, "1 d" },
          { 76 * PAI__HOUR, "3 d 4 h" },
          { 100 * PAI__DAY - 1800 * PAI__SECOND - 1, "99 d 23 h" },
          { 100 * PAI__DAY + 13 * PAI__HOUR, "101 d" },
          { 1234 * PAI__DAY, "1" THIN "234 d" },
          { 10000 * PAI__DAY, "27 y 145 d" },
          { 365 * 1000 * PAI__DAY, "1" THIN "000 y" },
          { INT64_MAX, "292" THIN "471 y" },
          { -PAI__MINUTE, "-1 min" },
          { INT64_MIN, "-292" THIN "471 y" } });
}

TEST(numbers_are_grouped_or_short)
{
  CHECK(pai__show_count,
        { { 0, "0" },
          { 999, "999" },
          { 1000, "1" THIN "000" },
          { -1234567, "-1" THIN "234" THIN "567" },
          { INT64_MAX, "9" THIN "223" THIN "372" THIN "036" THIN "854" THIN
                       "775" THIN "807" } });
  CHECK(pai__show_short, { { 0, "0" },
                           { 99999, "99" THIN "999" },
                           { 100000, "100 k" },
                           { 123456, "123 k" },
                           { 999949, "1.0 M" },
                           { 999499, "999 k" },
                           { 1234567, "1.2 M" },
                           { 12345678, "12.3 M" },
                           { 99900000, "99.9 M" },
                           { 99950000, "100 M" },
                           { 999500000, "1.0 G" },
                           { INT64_MAX, "9.2 E" } });
  CHECK(pai__show_hours, { { 0, "0" },
                           { 1, "<0.1" },
                           { 6 * PAI__MINUTE, "0.1" },
                           { 99 * PAI__HOUR, "99" },
                           { 100 * PAI__HOUR, "100" },
                           { 12345 * PAI__HOUR, "12" THIN "345" } });
}

TEST(parts_are_percent)
{
  CHECK(pai__show_percent, { { 0, "0.0 %" },
                             { 499, "0.0 %" },
                             { 500, "0.1 %" },
                             { 813000, "81.3 %" },
                             { 1000000, "100.0 %" },
                             { 12345678, "1" THIN "234.6 %" } });
  CHECK(pai__show_times, { { 0, "0.00" },
                           { 1004, "1.00" },
                           { 1005, "1.01" },
                           { 9994, "9.99" },
                           { 9995, "10.0" },
                           { 99949, "99.9" },
                           { 99950, "100" },
                           { 1234567, "1" THIN "235" } });
  CHECK(pai__show_index,
        { { 1000000, "1.000" }, { 930499, "0.930" }, { 999500, "1.000" } });
}

TEST(changes_are_relative)
{
  static const struct {
    int64_t value, from;
    const char *text;
  } cases[] = {
    { 110, 100, "+10.0 %" },
    { 90, 100, "-10.0 %" },
    { 0, 100, "-100.0 %" },
    { 1, 1000000, "-99.9 %" },
    { 100, 100, "" },
    { 5, 0, "" },
    { 100001, 100000, "" },
    { 999, 100, "+899.0 %" },
    { 1000, 100, "×10" },
    { INT64_MAX, 1,
      "×9" THIN "223" THIN "372" THIN "036" THIN "854" THIN "776" },
  };
  char cell[PAI__CELL];

  for (size_t i = 0; i < PAI__LEN(cases); i++)
    assert_string_equal(pai__show_change(cell, cases[i].value, cases[i].from),
                        cases[i].text);
}

TEST(portions_do_not_overflow)
{
  static const struct {
    int64_t part, by, whole, want;
  } cases[] = {
    { 1, 1, 3, 0 },
    { 2, 1, 3, 1 },
    { 1, 1, 2, 1 },
    { -1, 1, 2, -1 },
    { 7, 1000000, 9, 777778 },
    { 5, 5, 0, 0 },
    { 5, 0, 5, 0 },
    { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX },
    { INT64_MAX, INT64_MAX, 1, INT64_MAX },
    { INT64_MAX - 1, INT64_MAX - 1, INT64_MAX, INT64_MAX - 2 },
    { INT64_C(6148914691236517205), 1000000, INT64_MAX, 666667 },
    { INT64_C(6148914691236517204), INT64_C(3000000000000), INT64_MAX,
      INT64_C(2000000000000) },
    { INT64_MIN, 1, 1, -INT64_MAX },
  };

  for (size_t i = 0; i < PAI__LEN(cases); i++)
    assert_int_equal(pai__portion(cases[i].part, cases[i].by, cases[i].whole),
                     cases[i].want);
}

TEST(ticks_are_round)
{
  static const int64_t ends[] = { 0,  1,  2,    7,      10,       49,
                                  50, 99, 1001, 123456, INT64_MAX };

  assert_int_equal(pai__tick_time(10, 5), 2);
  assert_int_equal(pai__tick_time(11, 5), 5);
  assert_int_equal(pai__tick_time(3, 5), 1);
  assert_int_equal(pai__tick_time(75 * PAI__DAY, 9), 10 * PAI__DAY);
  assert_int_equal(pai__tick_time(9 * PAI__HOUR, 9), PAI__HOUR);
  assert_int_equal(pai__tick_time(20 * PAI__HOUR, 9), 3 * PAI__HOUR);
  assert_int_equal(pai__tick_time(40 * PAI__MINUTE, 5), 10 * PAI__MINUTE);
  assert_int_equal(pai__tick_time(700, 5), 200);
  assert_int_equal(pai__tick_time(100 * PAI__YEAR, 5), 20 * PAI__YEAR);
  for (size_t i = 0; i < PAI__LEN(ends); i++) {
    assert_true(pai__tick_time(ends[i], 9) >= 1);
    assert_true(ends[i] / pai__tick_time(ends[i], 9) <= 9);
  }
}

TEST(names_are_harmless_and_fit)
{
  static const struct {
    const char *name;
    size_t most, columns;
    const char *text;
  } cases[] = {
    { "ann", 8, 3, "ann" },
    { "annabelle", 8, 8, "annabel…" },
    { "annabell", 8, 8, "annabell" },
    { "a\x1b[31m\n", 8, 7, "a?[31m?" },
    { "\xc2\x9b"
      "2J",
      8, 3, "?2J" },
    { "\xff", 8, 1, "?" },
    { "東京の研究室", 8, 7, "東京の…" },
    { "", 8, 0, "" },
  };

  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    pai__buf out = test_buf();

    assert_int_equal(pai__put_name(&out, cases[i].name, cases[i].most),
                     cases[i].columns);
    assert_string_equal(pai__buf_text(&out), cases[i].text);
    pai__buf_dispose(&out);
  }
}
