/* svg.c - SVG text and rectangles */
#include "resource/svg.h"

#include "base/text/utf8.h"

/* Approximation: every character from the Hangul letters on. */
size_t pai__svg_columns(const char *text)
{
  size_t left = strlen(text), n = 0;

  while (left > 0) {
    size_t len = pai__utf8_len(text, left);
    uint32_t c = len > 0 ? pai__utf8_get(text, len) : 0;
    n += c >= 0x1100 && (c < 0x2000 || c > 0x2fff) ? 2 : 1;
    len = len > 0 ? len : 1;
    text += len;
    left -= len;
  }
  return n;
}

static void escape_one(pai__buf *out, const char *s, size_t len)
{
  uint32_t c = pai__utf8_get(s, len);

  switch (c) {
  case '&': pai__buf_str(out, "&amp;"); break;
  case '<': pai__buf_str(out, "&lt;"); break;
  case '>': pai__buf_str(out, "&gt;"); break;
  case '"': pai__buf_str(out, "&quot;"); break;
  default:
    if (c < ' ' || c == 0x7f)
      pai__buf_char(out, ' ');
    else if (c == 0xfffe || c == 0xffff) /* not valid in XML */
      pai__buf_char(out, '?');
    else
      pai__buf_add(out, s, len);
  }
}

void pai__svg_escape(pai__buf *out, const char *text, size_t most)
{
  bool cut = pai__svg_columns(text) > most;
  size_t left = strlen(text), columns = 0;
  char one[5] = { 0 };

  while (left > 0) {
    size_t n = pai__utf8_len(text, left);
    if (n == 0) {
      columns++;
      n = pai__utf8_bad(text, left);
      pai__buf_char(out, '?');
    } else {
      memcpy(one, text, n);
      one[n] = '\0';
      columns += pai__svg_columns(one);
      if (cut && columns >= most)
        break;
      escape_one(out, text, n);
    }
    text += n;
    left -= n;
  }
  if (cut)
    pai__buf_str(out, "…");
}

/* Width of a character in tenths of a pixel, for the widest usual fonts. */
enum { NORMAL = 68, BOLD = 80 };

void pai__svg_text(pai__buf *out, int x, int y, const char *class,
                   const char *text, int width)
{
  int pixels = *class == 'h' ? BOLD : *class == 't' ? 105 : NORMAL;

  pai__buf_printf(out, "<text x=\"%d\" y=\"%d\"", x, y);
  if (*class != '\0')
    pai__buf_printf(out, " class=\"%s\"", class);
  pai__buf_char(out, '>');
  pai__svg_escape(out, text, width > 0 ? (size_t)(width * 10 / pixels) : 1);
  pai__buf_str(out, "</text>\n");
}

void pai__svg_rect(pai__buf *out, int x, int y, int w, int h,
                   const char *class)
{
  pai__buf_printf(out,
                  "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                  "rx=\"4\" class=\"%s\"/>\n",
                  x, y, w, h, class);
}
