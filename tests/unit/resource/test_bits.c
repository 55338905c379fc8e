/* Words of bits: their texts, and runs against a plain loop. */
#include "cases.h"

#include "base/prng.h"
#include "resource/bits.h"

enum { WORDS = 4, LIMIT = WORDS * 64 };

typedef void (*writer)(pai__buf *out, const uint64_t *words, size_t n);

static void expect(writer fn, const uint64_t *words, size_t n,
                   const char *want)
{
  pai__buf out = test_buf();

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

TEST(texts_of_a_set_say_the_same)
{
  static const writer writers[] = { pai__bits_write_list, pai__bits_write_mask,
                                    pai__bits_write_hwloc };

  for (size_t i = 0; i < PAI__LEN(sets); i++) {
    uint64_t words[WORDS] = { 0 };
    pai__bits_fault fault;
    size_t n = 99;

    assert_ok(pai__bits_read_list(words, &n, LIMIT, sets[i][0],
                                  strlen(sets[i][0]), &fault));
    assert_int_equal(n, pai__bits_trim(words, WORDS));
    for (size_t to = 0; to < 3; to++) {
      expect(writers[to], words, n, sets[i][to]);
      expect(writers[to], words, WORDS, sets[i][to]);
    }
  }
}

/* What is read though never written; and what is wrong. */
static const struct {
  const char *text;
  int code;
  size_t at;
  const char *what;
} reads[] = {
  { "7,3,5-9,3", PAI_OK, 0, "3,5-9" },
  { "256", PAI_ELIMIT, 0, "too large" },
  { "1,0-256", PAI_ELIMIT, 4, "too large" },
  { "4294967297", PAI_ELIMIT, 0, "too large" },
  { "1,", PAI_EINVAL, 2, "missing" },
  { ",1", PAI_EINVAL, 0, "missing" },
  { "1-", PAI_EINVAL, 2, "missing" },
  { "1,5-3", PAI_EINVAL, 2, "below" },
  { "1 2", PAI_EINVAL, 1, "comma" },
  { "x", PAI_EINVAL, 0, "number" },
};

TEST(readers_are_tolerant_and_bad_texts_leave_nothing)
{
  for (size_t i = 0; i < PAI__LEN(reads); i++) {
    static const uint64_t none[WORDS];
    uint64_t words[WORDS] = { 0 };
    pai__bits_fault fault = { 0, NULL };
    size_t n = 99;
    int rc = pai__bits_read_list(words, &n, LIMIT, reads[i].text,
                                 strlen(reads[i].text), &fault);

    if (rc != reads[i].code || fault.at != reads[i].at)
      fail_msg("%s: %s at %zu", reads[i].text, pai_code_name(rc), fault.at);
    if (rc == PAI_OK) {
      expect(pai__bits_write_list, words, n, reads[i].what);
      continue;
    }
    assert_has(fault.what, reads[i].what);
    assert_int_equal(n, 0);
    assert_memory_equal(words, none, sizeof(words));
  }
}

TEST(runs_are_what_a_loop_finds)
{
  pai__prng r = { 4 };

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
