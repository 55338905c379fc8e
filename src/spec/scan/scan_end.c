/* scan_end.c - ends a scan, and describes the place of the byte */
#include "spec/scan/scan_parts.h"

/* Appends a key to the pointer, without quotes and escapes. */
static void add_key(pai__scanner *s, size_t from, size_t to)
{
  bool quoted = to > from && (s->text[from] == '"' || s->text[from] == '\'');
  char quote = s->text[from];
  pai__buf key;

  pai__buf_init(&key, &s->t->alloc);
  if (quoted)
    to -= to > from + 1 && s->text[to - 1] == quote;
  for (size_t i = from + quoted; i < to; i++) {
    if (quoted && i + 1 < to &&
        ((quote == '"' && s->text[i] == '\\') ||
         (quote == '\'' && s->text[i] == '\'')))
      i++;
    pai__buf_char(&key, s->text[i]);
  }
  if (pai__buf_ok(&key))
    pai__pointer_add(&s->out->pointer, pai__buf_text(&key), key.len);
  s->failed |= !pai__buf_ok(&key);
  pai__buf_dispose(&key);
}

/* Ends the scan at the innermost open collection, with its last key or item if
 * `entry` is true. */
static void end_at(pai__scanner *s, int on, unsigned may, bool entry)
{
  const pai__scan_frame *top = pai__scan_top(s);
  char digits[16];

  s->done = true;
  s->out->on = on;
  s->out->may = may;
  for (size_t i = 0; i < s->depth; i++) {
    const pai__scan_frame *f = &s->frames[i];

    if (f == top && !entry)
      break;
    if (f->list) {
      size_t n = sizeof(digits);
      uint32_t index = f->index;

      do
        digits[--n] = (char)('0' + index % 10);
      while ((index /= 10) > 0);
      pai__pointer_add(&s->out->pointer, digits + n, sizeof(digits) - n);
    } else {
      add_key(s, f->key, f->key_end);
    }
  }
  if (top != NULL && entry && !top->list) {
    s->out->key = top->key;
    s->out->key_end = top->key_end;
  }
}

void pai__scan_on_key(pai__scanner *s)
{
  end_at(s, PAI_ON_KEY, PAI_MAY_KEY, true);
}

void pai__scan_on_value(pai__scanner *s, size_t start, size_t end,
                        unsigned may)
{
  end_at(s, PAI_ON_VALUE, may, true);
  s->out->value = start;
  s->out->value_end = end;
}

void pai__scan_in_space(pai__scanner *s, bool entry, unsigned may)
{
  end_at(s, PAI_ON_SPACE, may, entry);
}
