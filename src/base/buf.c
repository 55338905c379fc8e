/* buf.c - growable byte buffer */
#include "base/buf.h"

#include <stdio.h>

void pai__buf_init(pai__buf *b, const pai_alloc *alloc)
{
  *b = (pai__buf){ .alloc = alloc };
}

void pai__buf_dispose(pai__buf *b)
{
  pai__free(b->alloc, b->data, b->cap);
  pai__buf_init(b, b->alloc);
}

void pai__buf_wipe(pai__buf *b)
{
  volatile char *at = b->data;

  for (size_t i = 0; i < b->cap; i++)
    at[i] = 0;
  pai__buf_dispose(b);
}

void pai__buf_cut(pai__buf *b, size_t len)
{
  b->len = len;
  b->failed = false;
  if (b->data != NULL)
    b->data[len] = '\0';
}

void pai__buf_clear(pai__buf *b)
{
  pai__buf_cut(b, 0);
}

bool pai__buf_grow(pai__buf *b, size_t more)
{
  size_t want, cap;
  char *grown;

  if (b->failed)
    return false;
  if (more > SIZE_MAX / 2 - b->len - 1) {
    b->failed = true;
    return false;
  }
  want = b->len + more + 1;
  cap = b->cap < SIZE_MAX / 2 ? b->cap * 2 : want;
  if (cap < want)
    cap = want < 64 ? 64 : want;
  grown = pai__realloc(b->alloc, b->data, b->cap, cap, 1);
  if (grown == NULL) {
    b->failed = true;
    return false;
  }
  b->data = grown;
  b->cap = cap;
  b->data[b->len] = '\0';
  return true;
}

void pai__buf_add(pai__buf *b, const void *bytes, size_t n)
{
  if (n == 0 || !pai__buf_reserve(b, n))
    return;
  memcpy(b->data + b->len, bytes, n);
  b->len += n;
  b->data[b->len] = '\0';
}

int pai__buf_write(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return PAI_OK;
}

void pai__buf_str(pai__buf *b, const char *s)
{
  pai__buf_add(b, s, strlen(s));
}

void pai__buf_char(pai__buf *b, char c)
{
  pai__buf_add(b, &c, 1);
}

/* With little space left, prints to a local buffer first: measuring the length
 * costs as much as printing. */
void pai__buf_vprintf(pai__buf *b, const char *fmt, va_list ap)
{
  size_t room = b->cap - b->len; /* 0 without memory */
  char beside[256], *to = room > 0 ? b->data + b->len : NULL;
  va_list again;
  int n;

  if (b->failed)
    return;
  if (room < sizeof(beside)) {
    to = beside;
    room = sizeof(beside);
  }
  va_copy(again, ap);
  n = vsnprintf(to, room, fmt, ap);
  if (to != beside && (n < 0 || (size_t)n >= room))
    *to = '\0';
  if (n < 0) {
    b->failed = true;
  } else if ((size_t)n >= room) {
    if (pai__buf_reserve(b, (size_t)n)) {
      (void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
      b->len += (size_t)n;
    }
  } else if (to == beside) {
    pai__buf_add(b, beside, (size_t)n);
  } else {
    b->len += (size_t)n;
  }
  va_end(again);
}

void pai__buf_printf(pai__buf *b, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  pai__buf_vprintf(b, fmt, ap);
  va_end(ap);
}

const char *pai__buf_text(const pai__buf *b)
{
  return b->data != NULL ? b->data : "";
}

char *pai__buf_take(pai__buf *b)
{
  char *text =
    b->failed ? NULL : pai__strndup(b->alloc, pai__buf_text(b), b->len);

  pai__buf_dispose(b);
  return text;
}
