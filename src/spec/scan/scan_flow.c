/* scan_flow.c - finds the place of a byte in brackets, as in JSON */
#include "spec/scan/scan_parts.h"

static bool is_space(char c)
{
  return pai__scan_one_of(c, " \t\r\n");
}

/* Skips space and comments.  Ends the scan if the goal is in a comment, where
 * no key or value may be. */
static size_t skip_space(pai__scanner *s, size_t at)
{
  while (at < s->len) {
    size_t end = at + 1;

    if (pai__scan_is_comment(s, at)) {
      end = s->text[at] == '#' ? pai__gap_eol(s->t, at)
                               : pai__gap_comment_end(s->t, at);
      if (s->goal > at && s->goal <= end) {
        pai__scan_in_space(s, false, 0);
        return end;
      }
    } else if (!is_space(s->text[at])) {
      break;
    }
    at = end;
  }
  return at;
}

static size_t plain_end(const pai__scanner *s, size_t at)
{
  size_t end = at;

  for (; at < s->len && !pai__scan_one_of(s->text[at], ",[]{}\r\n"); at++) {
    char next = at + 1 < s->len ? s->text[at + 1] : '\n';

    if ((s->text[at] == ':' && pai__scan_one_of(next, " \t\r\n,[]{}\"'")) ||
        pai__scan_is_comment(s, at))
      break;
    if (!is_space(s->text[at]))
      end = at + 1;
  }
  return end;
}

/* Scans a text as the key or value that is expected. */
static size_t take_text(pai__scanner *s, size_t at)
{
  pai__scan_frame *f = pai__scan_top(s);
  bool quoted = s->text[at] == '"' || s->text[at] == '\'';
  size_t end = quoted ? pai__scan_quoted(s, at) : plain_end(s, at);

  if (end == at)
    end = at + 1; /* an unexpected character */
  if (!f->list && f->state == PAI__WANT_KEY) {
    f->key = at;
    f->key_end = end;
    f->state = PAI__HAVE_KEY;
    if (s->goal <= end)
      pai__scan_on_key(s);
    return end;
  }
  f->state = PAI__HAVE_VALUE;
  if (s->goal <= end)
    pai__scan_on_value(s, at, end, PAI_MAY_VALUE);
  return end;
}

/* Ends the scan between two texts. */
static void in_space(pai__scanner *s)
{
  const pai__scan_frame *f = pai__scan_top(s);

  if (f->list)
    pai__scan_in_space(s, false,
                       f->state == PAI__WANT_VALUE ? PAI_MAY_ITEM : 0);
  else if (f->state == PAI__WANT_VALUE)
    pai__scan_in_space(s, true, PAI_MAY_VALUE);
  else
    pai__scan_in_space(s, false, f->state == PAI__WANT_KEY ? PAI_MAY_KEY : 0);
}

size_t pai__scan_flow(pai__scanner *s, size_t at)
{
  size_t outside = s->depth;

  while (!s->done) {
    pai__scan_frame *f;
    char c;

    if (s->depth > outside) {
      at = skip_space(s, at);
      if (s->done)
        break;
      if (s->goal < at || at >= s->len ||
          (s->goal == at && pai__scan_one_of(s->text[at], "{}[],:"))) {
        in_space(s);
        break;
      }
    }
    c = s->text[at];
    f = pai__scan_top(s);
    if (c == '{' || c == '[') {
      pai__scan_push(s, c == '[', true, 0);
    } else if (c == '}' || c == ']') {
      s->depth--;
      if (s->depth == outside)
        return at + 1;
    } else if (c == ',') {
      f->index++;
      f->state = f->list ? PAI__WANT_VALUE : PAI__WANT_KEY;
    } else if (c == ':') {
      f->state = PAI__WANT_VALUE;
    } else {
      at = take_text(s, at);
      continue;
    }
    at++;
  }
  return at;
}
