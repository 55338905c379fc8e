/* Buffer, map, arena, vector, random numbers; each with failing memory. */
#include "cases.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/prng.h"

#include <stdio.h>

static int buf_body(const pai_alloc *alloc, void *user_data)
{
  pai__buf b;
  char *text;

  (void)user_data;
  pai__buf_init(&b, alloc);
  assert_string_equal(pai__buf_text(&b), "");
  for (int i = 0; i < 100; i++) {
    pai__buf_printf(&b, "%d", i);
    pai__buf_char(&b, ',');
  }
  if (pai__buf_ok(&b)) {
    assert_int_equal(b.len, 290);
    assert_int_equal(strlen(pai__buf_text(&b)), 290);
    assert_memory_equal(b.data + 278, "96,97,98,", 9);
  } else {
    size_t len = b.len;
    assert_int_equal(strlen(pai__buf_text(&b)), len);
    pai__buf_str(&b, "more"); /* sticky: nothing happens */
    pai__buf_printf(&b, "%s", "more");
    assert_int_equal(b.len, len);
    assert_int_equal(strlen(pai__buf_text(&b)), len);
  }
  text = pai__buf_take(&b);
  if (text == NULL)
    return PAI_ENOMEM;
  assert_int_equal(strlen(text), 290);
  pai__strfree(alloc, text);
  return PAI_OK;
}

/* Whether it fits or not: from an empty one, and behind some text. */
TEST(printing_of_any_length)
{
  char text[600];
  pai__buf b;

  for (size_t i = 0; i < sizeof(text); i++)
    text[i] = (char)('a' + i % 26);
  for (int before = 0; before < 2; before++)
    for (int n = 0; n < (int)sizeof(text); n++) {
      pai__buf_init(&b, &pai__libc_alloc);
      pai__buf_str(&b, before ? "ab" : "");
      if (n % 3 == 0) /* into what is there, or beside it */
        assert_true(pai__buf_reserve(&b, 400));
      pai__buf_printf(&b, "%.*s", n, text);
      assert_true(pai__buf_ok(&b));
      assert_int_equal(b.len, 2 * before + n);
      assert_int_equal(strlen(pai__buf_text(&b)), b.len);
      assert_memory_equal(pai__buf_text(&b) + 2 * (size_t)before, text,
                          (size_t)n);
      pai__buf_dispose(&b);
    }
}

static int map_body(const pai_alloc *alloc, void *user_data)
{
  static int values[300];
  const pai__map_entry *e;
  pai__map m;
  size_t added = 0, seen = 0;
  int rc = PAI_OK;

  (void)user_data;
  pai__map_init(&m, alloc);
  for (uint64_t k = 0; k < PAI__LEN(values); k++) {
    rc = pai__map_set(&m, &k, sizeof(k), &values[k]);
    if (rc < 0)
      break;
    added++;
    if (k % 3 == 0) { /* removal must not hide what was placed behind it */
      assert_ptr_equal(pai__map_remove(&m, &k, sizeof(k)), &values[k]);
      assert_null(pai__map_remove(&m, &k, sizeof(k)));
    }
  }
  for (uint64_t k = 0; k < PAI__LEN(values); k++) {
    void *want = k < added && k % 3 != 0 ? &values[k] : NULL;
    assert_ptr_equal(pai__map_get(&m, &k, sizeof(k)), want);
  }
  for (size_t i = 0; (e = pai__map_next(&m, &i)) != NULL; seen++) {
    uint64_t k;
    memcpy(&k, e->key, sizeof(k));
    assert_int_equal(k, seen / 2 * 3 + seen % 2 + 1); /* in order */
  }
  assert_int_equal(seen, m.live);
  pai__map_dispose(&m);
  return rc;
}

static int arena_body(const pai_alloc *alloc, void *user_data)
{
  pai__arena a;
  int rc = PAI_ENOMEM;

  (void)user_data;
  pai__arena_init(&a, alloc);
  for (size_t i = 1; i < 200; i++) {
    char *s = pai__arena_strndup(&a, "abcdefgh", i % 9);
    uint64_t *n = pai__arena_zalloc(&a, i, sizeof(*n));
    if (s == NULL || n == NULL)
      goto done;
    assert_int_equal(strlen(s), i % 9);
    assert_int_equal((uintptr_t)n % sizeof(*n), 0);
    assert_int_equal(n[0] | n[i - 1], 0);
    n[0] = n[i - 1] = UINT64_MAX; /* to be seen if it overlaps another */
  }
  assert_null(pai__arena_zalloc(&a, SIZE_MAX, 2));
  assert_null(pai__arena_zalloc(&a, SIZE_MAX, 1));
  rc = PAI_OK;
done:
  pai__arena_dispose(&a);
  return rc;
}

/* What was needed once is not asked for again, unless that is a lot. */
TEST(arena_again)
{
  test_tally tally;
  pai__arena a;
  size_t calls = 0;

  test_tally_init(&tally);
  pai__arena_init(&a, &tally.alloc);
  pai__arena_clear(&a);
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 100; i++)
      assert_non_null(pai__arena_zalloc(&a, 100, 1));
    pai__arena_clear(&a);
    if (round == 1) /* the first one's last block was not for all */
      calls = tally.calls;
  }
  assert_int_equal(tally.calls, calls);
  assert_true(tally.live > 0 && tally.live <= 20000);
  assert_non_null(pai__arena_zalloc(&a, 1 << 20, 1));
  pai__arena_clear(&a);
  assert_int_equal(tally.live, 0);
  pai__arena_dispose(&a);
}

static int vector_body(const pai_alloc *alloc, void *user_data)
{
  int *v = NULL;
  size_t len = 0, cap = 0;
  int rc = PAI_OK;

  (void)user_data;
  for (int i = 0; i < 100 && rc == PAI_OK; i++) {
    rc = PAI__VEC_ROOM(alloc, v, len, cap);
    if (rc == PAI_OK)
      v[len++] = i;
  }
  for (size_t i = 0; i < len; i++)
    assert_int_equal(v[i], i);
  pai__free(alloc, v, cap * sizeof(*v));
  return rc;
}

TEST(containers_survive_failing_memory)
{
  test_faults(buf_body, NULL);
  test_faults(map_body, NULL);
  test_faults(arena_body, NULL);
  test_faults(vector_body, NULL);
}

TEST(map_replaces_and_tells_keys_apart)
{
  int a, b;
  pai__map m;

  pai__map_init(&m, &pai__libc_alloc);
  assert_null(pai__map_get(&m, "k", 1));
  assert_ok(pai__map_set(&m, "k", 1, &a));
  assert_ok(pai__map_set(&m, "k", 1, &b));
  assert_ok(pai__map_set(&m, "", 0, &a));
  assert_ok(pai__map_set(&m, "k\0x", 3, &a));
  assert_int_equal(m.live, 3);
  assert_ptr_equal(pai__map_get(&m, "k", 1), &b);
  assert_ptr_equal(pai__map_get(&m, "", 0), &a);
  assert_ptr_equal(pai__map_get(&m, "k\0x", 3), &a);
  assert_null(pai__map_get(&m, "k\0", 2));
  pai__map_dispose(&m);
}

TEST(huge_requests_fail_cleanly)
{
  pai__buf b = test_buf();

  pai__buf_str(&b, "kept");
  assert_false(pai__buf_reserve(&b, SIZE_MAX - 2));
  assert_false(pai__buf_ok(&b));
  assert_string_equal(pai__buf_text(&b), "kept");
  pai__buf_clear(&b);
  assert_true(pai__buf_ok(&b));
  assert_string_equal(pai__buf_text(&b), "");
  pai__buf_dispose(&b);
  assert_null(pai__realloc(&pai__libc_alloc, NULL, 0, SIZE_MAX / 2, 4));
}

TEST(random_numbers_are_the_same_everywhere)
{
  pai__prng r = { 42 };
  unsigned seen = 0;

  assert_true(pai__prng_next(&r) == 0xbdd732262feb6e95u);
  assert_true(pai__prng_next(&r) == 0x28efe333b266f103u);
  for (int i = 0; i < 200; i++) {
    uint64_t x = pai__prng_below(&r, 6);
    assert_true(x < 6);
    seen |= 1u << x;
  }
  assert_int_equal(seen, 0x3f);
  assert_int_equal(pai__prng_below(&r, 1), 0);
}
