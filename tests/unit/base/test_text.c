/* Numbers as text, UTF-8. */
#include "cases.h"

#include "base/text/milli.h"
#include "base/text/number.h"
#include "base/prng.h"
#include "base/text/utf8.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- numbers ------------------------------------------------------------ */

/* Golden rows: what JavaScript's String() gives. */
TEST(doubles_are_written_as_in_javascript)
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
TEST(doubles_survive_being_written)
{
  pai__prng r = { 1 };

  for (int i = 0; i < 20000; i++) {
    uint64_t bits = pai__prng_next(&r);
    char text[PAI__DOUBLE_TEXT];
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
    assert_ok(pai__parse_double(&back, text, strlen(text)));
    assert_true(back == v);
    for (const char *p = text; *p != '\0' && *p != 'e'; p++)
      digits += *p >= '0' && *p <= '9' && (digits != 0 || *p != '0');
    if (digits > 1 && strchr(text, 'e') != NULL) {
      assert_true(strtod(test_string("%.*e", digits - 2, v), NULL) != v);
    }
  }
}

TEST(numbers_ignore_the_locale)
{
  static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8",
                                       "fr_FR.UTF-8", "C" };
  char text[PAI__DOUBLE_TEXT];
  double v;

  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (setlocale(LC_ALL, names[i]) != NULL)
      break;
  assert_ok(pai__parse_double(&v, "1.7976931348623157e308", 22));
  assert_true(v == 1.7976931348623157e308);
  (void)pai__format_double(text, 0.5);
  assert_string_equal(text, "0.5");
  (void)setlocale(LC_ALL, "C");
}

TEST(bits_round_to_the_even_neighbour)
{
  char ones[300];

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

TEST(amounts_are_read_exactly)
{
  static const struct {
    const char *text;
    int code;
    uint64_t milli;
  } rows[] = {
    { "0", PAI_OK, 0 },
    { "2", PAI_OK, 2000 },
    { "007", PAI_OK, 7000 },
    { "0.5", PAI_OK, 500 },
    { "1.25", PAI_OK, 1250 },
    { "0.001", PAI_OK, 1 },
    { "3.14000", PAI_OK, 3140 },
    { "4294967.295", PAI_OK, UINT32_MAX },
    { "4294967.296", PAI_ELIMIT, 0 },
    { "4294968", PAI_ELIMIT, 0 },
    { "99999999999999999999999999", PAI_ELIMIT, 0 },
    { "0.0001", PAI_ENOTSUP, 0 },
    { "1.2345", PAI_ENOTSUP, 0 },
    { "", PAI_EINVAL, 0 },
    { ".", PAI_EINVAL, 0 },
    { ".5", PAI_OK, 500 },
    { "..5", PAI_EINVAL, 0 },
    { "5.", PAI_EINVAL, 0 },
    { "1.2.3", PAI_EINVAL, 0 },
    { "-1", PAI_EINVAL, 0 },
    { "+1", PAI_EINVAL, 0 },
    { "5e-1", PAI_EINVAL, 0 },
    { "0.5 ", PAI_EINVAL, 0 },
    { "0,5", PAI_EINVAL, 0 },
    { "half", PAI_EINVAL, 0 },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    uint64_t milli = 7;
    int rc =
      pai__milli_read(&milli, rows[i].text, strlen(rows[i].text), UINT32_MAX);

    if (rc != rows[i].code || milli != rows[i].milli)
      fail_msg("'%s': %d, %llu", rows[i].text, rc, (unsigned long long)milli);
  }
}

TEST(amounts_are_written_short)
{
  char text[PAI__MILLI_TEXT];

  assert_string_equal(pai__milli_text(text, 0), "0");
  assert_string_equal(pai__milli_text(text, 500), "0.5");
  assert_string_equal(pai__milli_text(text, 1250), "1.25");
  assert_string_equal(pai__milli_text(text, 1), "0.001");
  assert_string_equal(pai__milli_text(text, 10000), "10");
  assert_string_equal(pai__milli_text(text, UINT64_MAX),
                      "18446744073709551.615");
  for (uint64_t milli = 0; milli < 5000; milli++) {
    uint64_t again;

    (void)pai__milli_text(text, milli);
    assert_ok(pai__milli_read(&again, text, strlen(text), 5000));
    assert_int_equal(again, milli);
  }
}

TEST(cpus_of_callers_are_told_in_words)
{
  pai_error *err = NULL;
  uint64_t milli;

  assert_ok(pai_cpus_parse(&milli, "1.5", &err));
  assert_int_equal(milli, 1500);
  assert_int_equal(pai_cpus_parse(&milli, "0.0001", &err), PAI_EINVAL);
  assert_string_equal(pai_error_message(err),
                      "'0.0001' is not an amount of CPUs");
  assert_string_equal(pai_error_help(err),
                      "use at most three decimals: 1.234");
  pai_error_free(err);
  assert_int_equal(pai_cpus_parse(&milli, "much", &err), PAI_EINVAL);
  pai_error_free(err);
  assert_int_equal(pai_cpus_parse(&milli, "9999999", NULL), PAI_ELIMIT);
  assert_int_equal(pai_cpus_parse(NULL, "1", NULL), PAI_EINVAL);
  assert_int_equal(pai_cpus_parse(&milli, NULL, NULL), PAI_EINVAL);
}

TEST(utf8_is_told_from_other_bytes)
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

TEST(excerpts_are_short_and_on_one_line)
{
  char out[PAI__EXCERPT], text[401];

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
