/* testing.c - the tally allocator and the fault driver */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

static void *tally_realloc(void *ctx, void *p, size_t old_size,
                           size_t new_size)
{
  test_tally *t = ctx;
  void *grown;

  if (new_size == 0) {
    if (p != NULL)
      t->live -= old_size;
    free(p);
    return NULL;
  }
  t->calls++;
  if (t->fail_at != 0 &&
      (t->calls == t->fail_at || (t->for_ever && t->calls > t->fail_at)))
    return NULL;
  /* Always move the block: code that keeps the old pointer is found out. */
  grown = malloc(new_size);
  assert_non_null(grown);
  memset(grown, 0xa5, new_size);
  if (p != NULL) {
    memcpy(grown, p, old_size < new_size ? old_size : new_size);
    memset(p, 0x5a, old_size);
    free(p);
    t->live -= old_size;
  }
  t->live += new_size;
  if (t->live > t->peak)
    t->peak = t->live;
  return grown;
}

void test_tally_init(test_tally *t)
{
  *t = (test_tally){ .alloc = { t, tally_realloc } };
}

/* The fault after that one: the next, or where OPENPAI_SLICE is "K/N", behind
 * the first the next of every N. */
static size_t next_fault(size_t at)
{
  enum { ALL_OF = 64 };
  const char *slice = getenv("OPENPAI_SLICE");
  unsigned begin = 0, each = 1;

  if (slice != NULL &&
      (sscanf(slice, "%u/%u", &begin, &each) != 2 || each == 0))
    fail_msg("OPENPAI_SLICE is \"%s\", not as \"1/4\"", slice);
  do {
    at++;
  } while (at > ALL_OF && at % each != begin % each);
  return at;
}

void test_faults(test_body body, void *user_data)
{
  for (int for_ever = 0; for_ever <= 1; for_ever++) {
    size_t at = 0;
    int rc;

    do {
      test_tally t;

      test_tally_init(&t);
      t.fail_at = at = next_fault(at);
      t.for_ever = for_ever != 0;
      rc = body(&t.alloc, user_data);
      if (rc != PAI_OK && rc != PAI_ENOMEM)
        fail_msg("allocation %zu failed: the body returned %s", at,
                 pai_code_name(rc));
      if (t.live != 0)
        fail_msg("allocation %zu failed: %zu bytes leaked", at, t.live);
      if (rc == PAI_OK && t.calls < at)
        break; /* no allocation is left to fail */
    } while (at < 1000000);
    assert_true(at > 1); /* a body that allocates nothing proves nothing */
  }
}

const char *test_string(const char *format, ...)
{
  static char *texts[64];
  static size_t next;
  char **text = &texts[next++ % PAI__LEN(texts)];
  va_list args, again;
  int len;

  va_start(args, format);
  va_copy(again, args);
  len = vsnprintf(NULL, 0, format, args);
  assert_true(len >= 0);
  free(*text);
  *text = malloc((size_t)len + 1);
  assert_non_null(*text);
  (void)vsnprintf(*text, (size_t)len + 1, format, again);
  va_end(again);
  va_end(args);
  return *text;
}

void test_expect_error(pai_error *err, int code, const char *part)
{
  assert_non_null(err);
  if (pai_error_code(err) != code)
    fail_msg("want %s, got %s: %s", pai_code_name(code),
             pai_code_name(pai_error_code(err)), pai_error_message(err));
  if (strstr(pai_error_message(err), part) == NULL)
    fail_msg("want \"%s\" in \"%s\"", part, pai_error_message(err));
  pai_error_free(err);
}

void test_has(const char *text, const char *part, const char *file, int line)
{
  if (text != NULL && strstr(text, part) != NULL)
    return;
  print_error("want \"%s\" in \"%s\"\n", part, text != NULL ? text : "(null)");
  _fail(file, line);
}

pai__buf test_buf(void)
{
  return (pai__buf){ .alloc = &pai__libc_alloc };
}
