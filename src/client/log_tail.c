/*
 * log_tail.c - keeps the last lines of a log, for servers that only send whole
 * logs
 */
#include "client/logs.h"

enum { KEPT_LEAST = 1 << 20, KEPT_MOST = 256 << 20 };

void pai__log_tail_init(pai__client_log_tail *t, const pai_alloc *alloc,
                        uint64_t lines)
{
  *t = (pai__client_log_tail){ .lines = lines };
  pai__buf_init(&t->text, alloc);
}

void pai__log_tail_dispose(pai__client_log_tail *t)
{
  pai__buf_dispose(&t->text);
}

size_t pai__log_tail_begin(const pai__client_log_tail *t)
{
  const char *text = t->text.data;
  size_t len = t->text.len, at;
  uint64_t lines = t->lines;

  if (lines == 0 || len == 0)
    return len;
  for (at = text[len - 1] == '\n' ? len - 1 : len; at > 0; at--)
    if (text[at - 1] == '\n' && --lines == 0)
      break;
  return at;
}

/* Trims the text when it has doubled since the last time, so each byte is
 * moved a few times at most.  Of a line without end, half of the limit is
 * kept. */
int pai__log_tail_add(pai__client_log_tail *t, const char *bytes, size_t len)
{
  size_t from;

  pai__buf_add(&t->text, bytes, len);
  if (!pai__buf_ok(&t->text))
    return PAI_ENOMEM;
  if (t->text.len < KEPT_LEAST ||
      (t->text.len < t->kept * 2 && t->text.len < KEPT_MOST))
    return PAI_OK;
  from = pai__log_tail_begin(t);
  if (t->text.len - from > KEPT_MOST / 2)
    from = t->text.len - KEPT_MOST / 2;
  memmove(t->text.data, t->text.data + from, t->text.len - from);
  pai__buf_cut(&t->text, t->text.len - from);
  t->kept = t->text.len;
  return PAI_OK;
}
