/* Numbers as text, UTF-8. */
#include "testing.h"

#include "base/number.h"
#include "base/prng.h"
#include "base/utf8.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- numbers ------------------------------------------------------------ */

/* Golden rows: what JavaScript's String() gives. */
static void doubles_are_written_as_in_javascript(void **state)
{
  static const struct {
    double v;
    const char *text;
  } rows[] = {
    { 0, "0" },
    { -0.0, "0" },
    { 1, "1" },
    { -1.5, "-1.5" },
    { 0.1, "0.1" },
    { 1e21, "1e+21" },
    { 1e20, "100000000000000000000" },
    { 123456789012345680000.0, "123456789012345680000" },
    { 1e-6, "0.000001" },
    { 1e-7, "1e-7" },
    { 1.5e-9, "1.5e-9" },
    { 4.35, "4.35" },
    { 5e-324, "5e-324" },
    { 2.2250738585072014e-308, "2.2250738585072014e-308" },
    { 1.7976931348623157e308, "1.7976931348623157e+308" },
    { 5.684341886080802e-14, "5.684341886080802e-14" }, /* 2^-44 */
    { 9007199254740993.0, "9007199254740992" },
    { 568434188608080.25, "568434188608080.2" }, /* a tie: the even one */
    { 0.30000000000000004, "0.30000000000000004" },
    { INFINITY, "Infinity" },
    { -INFINITY, "-Infinity" },
    { NAN, "NaN" },
  };
  char text[PAI__DOUBLE_TEXT];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    size_t len = pai__format_double(text, rows[i].v);
    assert_string_equal(text, rows[i].text);
    assert_int_equal(len, strlen(text));
  }
  (void)pai__format_int(text, INT64_MIN);
  assert_string_equal(text, "-9223372036854775808");
  (void)pai__format_int(text, 0);
  assert_string_equal(text, "0");
}

/* Every double survives, and no shorter text would have done. */
static void doubles_survive_being_written(void **state)
{
  pai__prng r = { 1 };

  (void)state;
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = pai__prng_next(&r);
    char text[PAI__DOUBLE_TEXT], shorter[40];
    int digits = 0;
    double v, back;

    if (i % 4 == 0)
      bits &= ~((UINT64_C(1) << 52) - 1); /* powers of two: uneven gaps */
    if (i % 4 == 1)
      bits &= (UINT64_C(1) << 53) - 1; /* very small ones */
    memcpy(&v, &bits, sizeof(v));
    if (v - v != 0 || v <= 0)
      continue;
    (void)pai__format_double(text, v);
    assert_int_equal(pai__parse_double(&back, text, strlen(text)), PAI_OK);
    assert_true(back == v);
    for (const char *p = text; *p != '\0' && *p != 'e'; p++)
      digits += *p >= '0' && *p <= '9' && (digits != 0 || *p != '0');
    if (digits > 1 && strchr(text, 'e') != NULL) {
      (void)snprintf(shorter, sizeof(shorter), "%.*e", digits - 2, v);
      assert_true(strtod(shorter, NULL) != v);
    }
  }
}

static void numbers_ignore_the_locale(void **state)
{
  static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8",
                                       "fr_FR.UTF-8", "C" };
  char text[PAI__DOUBLE_TEXT];
  double v;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (setlocale(LC_ALL, names[i]) != NULL)
      break;
  assert_int_equal(pai__parse_double(&v, "1.7976931348623157e308", 22),
                   PAI_OK);
  assert_true(v == 1.7976931348623157e308);
  (void)pai__format_double(text, 0.5);
  assert_string_equal(text, "0.5");
  (void)setlocale(LC_ALL, "C");
}

static void bits_round_to_the_even_neighbour(void **state)
{
  char ones[300];

  (void)state;
  memset(ones, '1', sizeof(ones));
  assert_true(pai__parse_bits("20000000000001", 14, 4) == 9007199254740992.0);
  assert_true(pai__parse_bits("20000000000003", 14, 4) == 9007199254740996.0);
  assert_true(pai__parse_bits("200000000000010000000001", 24, 4) ==
              9007199254740994.0 * 1099511627776.0);
  assert_true(pai__parse_bits("777", 3, 3) == 511);
  assert_true(pai__parse_bits(ones, 60, 1) == ldexp(1, 60));
  assert_true(isinf(pai__parse_bits(ones, sizeof(ones), 4)));
}

/* --- UTF-8 -------------------------------------------------------------- */

static void utf8_is_told_from_other_bytes(void **state)
{
  static const struct {
    const char *bytes;
    size_t left, len, bad;
  } rows[] = {
    { "a", 1, 1, 1 },
    { "\xc3\xa9", 2, 2, 1 },
    { "\xc3", 1, 0, 1 },
    { "\xc3\x28", 2, 0, 1 },
    { "\xc0\x80", 2, 0, 1 },         /* overlong */
    { "\xe2\x82\xac", 3, 3, 2 },     /* the euro sign */
    { "\xe2\x82", 2, 0, 2 },         /* cut off */
    { "\xe2\x28\xa1", 3, 0, 1 },     /* no tail */
    { "\xe0\x9f\xbf", 3, 0, 1 },     /* overlong */
    { "\xed\xa0\x80", 3, 0, 1 },     /* a surrogate */
    { "\xed\x9f\xbf", 3, 3, 2 },     /* the last one before them */
    { "\xf0\x9f\x98\x80", 4, 4, 3 }, /* beyond 16 bits */
    { "\xf0\x9f\x98", 3, 0, 3 },
    { "\xf0\x8f\xbf\xbf", 4, 0, 1 }, /* overlong */
    { "\xf4\x8f\xbf\xbf", 4, 4, 3 }, /* U+10FFFF */
    { "\xf4\x90\x80\x80", 4, 0, 1 }, /* beyond it */
    { "\xf5\x80\x80\x80", 4, 0, 1 },
    { "\x80", 1, 0, 1 },
  };
  char back[4];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    size_t len = pai__utf8_len(rows[i].bytes, rows[i].left);
    assert_int_equal(len, rows[i].len);
    if (len == 0) {
      assert_int_equal(pai__utf8_bad(rows[i].bytes, rows[i].left),
                       rows[i].bad);
      continue;
    }
    assert_int_equal(pai__utf8_put(back, pai__utf8_get(rows[i].bytes, len)),
                     len);
    assert_memory_equal(back, rows[i].bytes, len);
  }
}

static void excerpts_are_short_and_on_one_line(void **state)
{
  char out[PAI__EXCERPT], text[401];

  (void)state;
  assert_string_equal(pai__excerpt(out, "a\nb\x01\xff", 5), "a?b??");
  assert_string_equal(pai__excerpt(out, "\xc2\x9b\xc2\xa0\x1b[1m", 8),
                      "?\xc2\xa0?[1m");
  assert_string_equal(pai__excerpt(out, "", 0), "");
  for (int i = 0; i < 100; i++)
    memcpy(text + 4 * i, "\xf0\x9f\x98\x80", 4);
  assert_true(strlen(pai__excerpt(out, text, 400)) < PAI__EXCERPT);
  assert_int_equal(pai__utf8_len(out + strlen(out) - 7, 7), 4);
  assert_string_equal(out + strlen(out) - 3, "...");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(doubles_are_written_as_in_javascript),
    cmocka_unit_test(doubles_survive_being_written),
    cmocka_unit_test(numbers_ignore_the_locale),
    cmocka_unit_test(bits_round_to_the_even_neighbour),
    cmocka_unit_test(utf8_is_told_from_other_bytes),
    cmocka_unit_test(excerpts_are_short_and_on_one_line),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
