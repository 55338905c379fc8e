/* Words of bits: their texts, and runs against a plain loop. */
#include "testing.h"

#include "base/prng.h"
#include "resource/bits.h"

enum { WORDS = 4, LIMIT = WORDS * 64 };

typedef void (*writer)(pai__buf *out, const uint64_t *words, size_t n);
typedef int (*reader)(uint64_t *words, size_t *n, uint32_t limit,
                      const char *s, size_t len, pai__bits_fault *fault);

static void expect(writer fn, const uint64_t *words, size_t n,
                   const char *want)
{
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  fn(&out, words, n);
  assert_string_equal(pai__buf_text(&out), want);
  pai__buf_dispose(&out);
}

/* The same set, in the three forms: list, taskset's mask, hwloc's. */
static const char *const sets[][3] = {
  { "", "0", "0x0" },
  { "0", "1", "0x00000001" },
  { "0-7", "ff", "0x000000ff" },
  { "0-31", "ffffffff", "0xffffffff" },
  { "0-39", "ffffffffff", "0x000000ff,0xffffffff" },
  { "32", "100000000", "0x00000001,0x0" },
  { "64", "10000000000000000", "0x00000001,,0x0" },
  { "1,3-5,63-64,127", "8000000000000001800000000000003a",
    "0x80000000,0x00000001,0x80000000,0x0000003a" },
  { "255", "8000000000000000000000000000000000000000000000000000000000000000",
    "0x80000000,,,,,,,0x0" },
};

static void texts_of_a_set_say_the_same(void **state)
{
  static const writer writers[] = { pai__bits_write_list, pai__bits_write_mask,
                                    pai__bits_write_hwloc };
  static const reader readers[] = { pai__bits_read_list, pai__bits_read_mask,
                                    pai__bits_read_mask };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(sets); i++) {
    for (size_t form = 0; form < 3; form++) {
      uint64_t words[WORDS] = { 0 };
      pai__bits_fault fault;
      size_t n = 99;

      assert_int_equal(readers[form](words, &n, LIMIT, sets[i][form],
                                     strlen(sets[i][form]), &fault),
                       PAI_OK);
      assert_int_equal(n, pai__bits_trim(words, WORDS));
      for (size_t to = 0; to < 3; to++) {
        expect(writers[to], words, n, sets[i][to]);
        expect(writers[to], words, WORDS, sets[i][to]);
      }
    }
  }
}

static const struct {
  reader read;
  const char *text;
  int code;
  size_t at;
  const char *what;
} faults[] = {
  { pai__bits_read_list, "256", PAI_ELIMIT, 0, "too large" },
  { pai__bits_read_list, "1,0-256", PAI_ELIMIT, 4, "too large" },
  { pai__bits_read_list, "4294967297", PAI_ELIMIT, 0, "too large" },
  { pai__bits_read_list, "1,", PAI_EINVAL, 2, "missing" },
  { pai__bits_read_list, ",1", PAI_EINVAL, 0, "missing" },
  { pai__bits_read_list, "1-", PAI_EINVAL, 2, "missing" },
  { pai__bits_read_list, "1,5-3", PAI_EINVAL, 2, "below" },
  { pai__bits_read_list, "1 2", PAI_EINVAL, 1, "comma" },
  { pai__bits_read_list, "x", PAI_EINVAL, 0, "number" },
  { pai__bits_read_mask, "", PAI_EINVAL, 0, "mask" },
  { pai__bits_read_mask, "0x", PAI_EINVAL, 1, "digit" },
  { pai__bits_read_mask, "1g", PAI_EINVAL, 1, "digit" },
  { pai__bits_read_mask, "1x1", PAI_EINVAL, 1, "digit" },
  { pai__bits_read_mask, "00x1", PAI_EINVAL, 2, "digit" },
  { pai__bits_read_mask, "1,123456789", PAI_EINVAL, 2, "eight" },
  { pai__bits_read_mask, "1,0x123456789,", PAI_EINVAL, 4, "eight" },
  { pai__bits_read_mask, "ff,1,,,,,,,,0", PAI_ELIMIT, 3, "too large" },
  { pai__bits_read_mask,
    "10000000000000000000000000000000000000000000000000000000000000000",
    PAI_ELIMIT, 0, "too large" },
};

static void bad_texts_leave_nothing(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(faults); i++) {
    static const uint64_t none[WORDS];
    uint64_t words[WORDS] = { 0 };
    pai__bits_fault fault = { 0, NULL };
    size_t n = 99;
    int rc = faults[i].read(words, &n, LIMIT, faults[i].text,
                            strlen(faults[i].text), &fault);

    if (rc != faults[i].code || fault.at != faults[i].at)
      fail_msg("%s: %s at %zu", faults[i].text, pai_code_name(rc), fault.at);
    assert_non_null(strstr(fault.what, faults[i].what));
    assert_int_equal(n, 0);
    assert_memory_equal(words, none, sizeof(words));
  }
}

/* Also read, though never written. */
static void readers_are_tolerant(void **state)
{
  static const struct {
    reader read;
    const char *text, *list;
  } cases[] = {
    { pai__bits_read_list, "7,3,5-9,3", "3,5-9" },
    { pai__bits_read_mask, "0XfF", "0-7" },
    { pai__bits_read_mask, "ff,00000001", "0,32-39" },
    { pai__bits_read_mask,
      "0000000000000000000000000000000000000000000000000"
      "00000000000000000000000000000000000000000000001",
      "0" },
    { pai__bits_read_mask, ",1", "0" },
    { pai__bits_read_mask, "1,", "32" },
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    uint64_t words[WORDS] = { 0 };
    pai__bits_fault fault;
    size_t n;

    assert_int_equal(cases[i].read(words, &n, LIMIT, cases[i].text,
                                   strlen(cases[i].text), &fault),
                     PAI_OK);
    expect(pai__bits_write_list, words, n, cases[i].list);
  }
}

static void runs_are_what_a_loop_finds(void **state)
{
  pai__prng r = { 4 };

  (void)state;
  for (int round = 0; round < 2000; round++) {
    uint64_t words[WORDS] = { 0 };
    bool want[LIMIT + 1] = { false };
    uint32_t first, last, from, count = 0;

    for (uint64_t n = pai__prng_below(&r, 6); n > 0; n--) {
      first = (uint32_t)pai__prng_below(&r, LIMIT);
      last = first + (uint32_t)pai__prng_below(&r, LIMIT - first);
      if (round % 2 == 0 && last > first + 3)
        last = first + 3;
      pai__bits_set(words, first, last);
      for (uint32_t i = first; i <= last; i++)
        want[i] = true;
    }
    for (uint32_t i = 0; i < LIMIT; i++) {
      count += want[i];
      assert_int_equal(pai__bits_has(words, WORDS, i), want[i]);
    }
    assert_int_equal(pai__bits_count(words, WORDS), count);
    from = (uint32_t)pai__prng_below(&r, LIMIT + 64);
    while (from < LIMIT && !want[from])
      from++;
    if (pai__bits_run(words, WORDS, from, &first, &last)) {
      assert_int_equal(first, from);
      while (want[from])
        from++;
      assert_int_equal(last, from - 1);
    } else {
      assert_true(from >= LIMIT);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(texts_of_a_set_say_the_same),
    cmocka_unit_test(bad_texts_leave_nothing),
    cmocka_unit_test(readers_are_tolerant),
    cmocka_unit_test(runs_are_what_a_loop_finds),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
