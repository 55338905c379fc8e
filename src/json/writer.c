/* writer.c - the JSON writer */
#include "json/writer.h"
#include "base/text/milli.h"
#include "base/text/number.h"
#include "base/text/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { FLUSH_AT = 8192 };

void pai__json_writer_init(pai__json_writer *w, pai__buf *out, bool pretty)
{
  *w = (pai__json_writer){ .out = out, .pretty = pretty };
}

void pai__json_writer_to(pai__json_writer *w, pai__sink sink, void *user_data)
{
  w->sink = sink;
  w->user_data = user_data;
}

static void flush(pai__json_writer *w)
{
  if (w->nest.rc < 0)
    return;
  if (!pai__buf_ok(w->out)) {
    w->nest.rc = PAI_ENOMEM;
  } else if (w->sink != NULL) {
    w->nest.rc = w->sink(w->user_data, pai__buf_text(w->out), w->out->len);
    pai__buf_clear(w->out);
  }
}

static void put(pai__json_writer *w, const char *bytes, size_t n)
{
  pai__buf_add(w->out, bytes, n);
  if (w->sink != NULL && w->out->len >= FLUSH_AT)
    flush(w);
}

static void put_line(pai__json_writer *w)
{
  static const char spaces[] = "                                ";
  size_t left = w->nest.depth * 2;

  if (!w->pretty)
    return;
  put(w, "\n", 1);
  for (size_t n; left != 0; left -= n) {
    n = left < sizeof(spaces) - 1 ? left : sizeof(spaces) - 1;
    put(w, spaces, n);
  }
}

/* Writes what precedes an entry of a collection. */
static void put_separator(pai__json_writer *w, bool first)
{
  if (!first)
    put(w, ",", 1);
  put_line(w);
}

/* --- strings ------------------------------------------------------------ */

static bool is_clean(unsigned char c)
{
  return c >= ' ' && c < 0x80 && c != '"' && c != '\\';
}

/* Returns whether one of eight bytes is 0.  Only a zero byte starts a
 * borrow. */
static uint64_t has_zero(uint64_t v)
{
  return (v - 0x0101010101010101u) & ~v & 0x8080808080808080u;
}

static bool are_clean(const char *s)
{
  const uint64_t each = 0x0101010101010101u;
  uint64_t v, controls;

  memcpy(&v, s, sizeof(v));
  controls =
    (v - each * ' ') & 0x8080808080808080u; /* may also mark a neighbour */
  return (v & 0x8080808080808080u) == 0 && controls == 0 &&
         has_zero(v ^ each * '"') == 0 && has_zero(v ^ each * '\\') == 0;
}

static bool is_clean_text(const char *s, size_t len)
{
  size_t i = 0;

  for (; len - i >= 8; i += 8)
    if (!are_clean(s + i))
      break;
  while (i < len && is_clean((unsigned char)s[i]))
    i++;
  return i == len;
}

/* Writes a string without escapes at once, as nearly all strings are, with the
 * comma before and the colon after a key. */
static bool put_clean(pai__json_writer *w, const char *s, size_t len,
                      bool comma, bool colon)
{
  char *to;

  if (!is_clean_text(s, len) || !pai__buf_reserve(w->out, len + 4))
    return false;
  to = w->out->data + w->out->len;
  if (comma)
    *to++ = ',';
  *to++ = '"';
  if (len > 0)
    memcpy(to, s, len);
  to += len;
  *to++ = '"';
  if (colon)
    *to++ = ':';
  *to = '\0';
  w->out->len = (size_t)(to - w->out->data);
  if (w->sink != NULL && w->out->len >= FLUSH_AT)
    flush(w);
  return true;
}

static void put_escape(pai__json_writer *w, unsigned char c)
{
  static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
  static const char hex[] = "0123456789abcdef";
  const char *found = c != 0 ? strchr(from, c) : NULL;
  char text[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

  if (found != NULL)
    text[1] = to[found - from];
  put(w, text, found != NULL ? 2 : 6);
}

static void put_string(pai__json_writer *w, const char *s, size_t len)
{
  if (put_clean(w, s, len, false, false))
    return;
  put(w, "\"", 1);
  for (size_t i = 0; i < len;) {
    size_t from = i, n;

    while (i < len && is_clean((unsigned char)s[i]))
      i++;
    put(w, s + from, i - from);
    if (i == len)
      break;
    n = pai__utf8_len(s + i, len - i);
    if (n > 1)
      put(w, s + i, n);
    else if (n == 1)
      put_escape(w, (unsigned char)s[i]);
    else
      put(w, "\xef\xbf\xbd", 3);
    i += n != 0 ? n : pai__utf8_bad(s + i, len - i);
  }
  put(w, "\"", 1);
}

/* --- values ------------------------------------------------------------- */

/* Writes what precedes a value.  Returns false if no value is allowed here. */
static bool start_value(pai__json_writer *w)
{
  bool array =
    w->nest.depth != 0 && (pai__nest_top(&w->nest) & PAI__NEST_MAPPING) == 0;
  bool first;

  if (!pai__nest_value(&w->nest, &first))
    return false;
  if (array)
    put_separator(w, first);
  return true;
}

static void begin(pai__json_writer *w, bool mapping)
{
  if (start_value(w) && pai__nest_open(&w->nest, mapping))
    put(w, mapping ? "{" : "[", 1);
}

static void end(pai__json_writer *w, bool mapping)
{
  bool empty;

  if (!pai__nest_close(&w->nest, mapping, &empty))
    return;
  if (!empty)
    put_line(w);
  put(w, mapping ? "}" : "]", 1);
}

void pai__json_begin_object(pai__json_writer *w)
{
  begin(w, true);
}

void pai__json_end_object(pai__json_writer *w)
{
  end(w, true);
}

void pai__json_begin_array(pai__json_writer *w)
{
  begin(w, false);
}

void pai__json_end_array(pai__json_writer *w)
{
  end(w, false);
}

void pai__json_key(pai__json_writer *w, const char *s, size_t len)
{
  bool first;

  if (!pai__nest_key(&w->nest, &first) ||
      (!w->pretty && put_clean(w, s, len, !first, true)))
    return;
  put_separator(w, first);
  put_string(w, s, len);
  put(w, ": ", w->pretty ? 2 : 1);
}

void pai__json_text(pai__json_writer *w, const char *s, size_t len)
{
  if (start_value(w))
    put_string(w, s, len);
}

void pai__json_int(pai__json_writer *w, int64_t v)
{
  char text[PAI__DOUBLE_TEXT];

  if (start_value(w))
    put(w, text, pai__format_int(text, v));
}

void pai__json_double(pai__json_writer *w, double v)
{
  char text[PAI__DOUBLE_TEXT];

  if (!start_value(w))
    return;
  if (v - v != 0)
    put(w, "null", 4);
  else
    put(w, text, pai__format_double(text, v));
}

void pai__json_bool(pai__json_writer *w, bool v)
{
  if (start_value(w))
    put(w, v ? "true" : "false", v ? 4 : 5);
}

void pai__json_null(pai__json_writer *w)
{
  if (start_value(w))
    put(w, "null", 4);
}

/* Returns the end of the string, or of the run of other tokens, at `i`. */
static size_t token_end(const char *json, size_t len, size_t i)
{
  if (json[i] != '"') {
    while (i < len && json[i] != '"' && memchr(" \t\r\n", json[i], 4) == NULL)
      i++;
    return i;
  }
  for (i++; i < len && json[i] != '"'; i++)
    if (json[i] == '\\' && i + 1 < len)
      i++;
  return i < len ? i + 1 : len;
}

void pai__json_ready(pai__json_writer *w, const char *json, size_t len)
{
  if (!start_value(w))
    return;
  for (size_t i = 0, end; i < len; i = end) {
    end = token_end(json, len, i);
    if (end == i)
      end++;
    else
      put(w, json + i, end - i);
  }
}

void pai__json_written(pai__json_writer *w, const char *json, size_t len)
{
  if (start_value(w))
    put(w, json, len);
}

void pai__json_string(pai__json_writer *w, const char *s)
{
  if (s != NULL)
    pai__json_text(w, s, strlen(s));
  else
    pai__json_null(w);
}

void pai__json_id(pai__json_writer *w, uint64_t id)
{
  char digits[24];

  if (id <= INT64_MAX) {
    pai__json_int(w, (int64_t)id);
    return;
  }
  (void)snprintf(digits, sizeof(digits), "%" PRIu64, id);
  pai__json_string(w, digits);
}

void pai__json_milli(pai__json_writer *w, uint64_t milli)
{
  char text[PAI__MILLI_TEXT];

  if (milli % 1000 == 0) {
    pai__json_int(w, (int64_t)(milli / 1000));
    return;
  }
  (void)pai__milli_text(text, milli);
  pai__json_ready(w, text, strlen(text));
}

/* --- members ------------------------------------------------------------ */

void pai__json_member(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
}

void pai__json_put_text(pai__json_writer *w, const char *key, const char *text)
{
  pai__json_member(w, key);
  pai__json_string(w, text);
}

void pai__json_put_known(pai__json_writer *w, const char *key,
                         const char *text)
{
  if (text != NULL)
    pai__json_put_text(w, key, text);
}

void pai__json_put_word(pai__json_writer *w, const char *key, const char *text)
{
  if (text != NULL && *text != '\0')
    pai__json_put_text(w, key, text);
}

void pai__json_put_int(pai__json_writer *w, const char *key, int64_t value)
{
  pai__json_member(w, key);
  pai__json_int(w, value);
}

void pai__json_put_id(pai__json_writer *w, const char *key, uint64_t id)
{
  pai__json_member(w, key);
  pai__json_id(w, id);
}

void pai__json_put_milli(pai__json_writer *w, const char *key, uint64_t milli)
{
  pai__json_member(w, key);
  pai__json_milli(w, milli);
}

void pai__json_put_bool(pai__json_writer *w, const char *key, bool value)
{
  pai__json_member(w, key);
  pai__json_bool(w, value);
}

void pai__json_put_object(pai__json_writer *w, const char *key)
{
  pai__json_member(w, key);
  pai__json_begin_object(w);
}

void pai__json_put_array(pai__json_writer *w, const char *key)
{
  pai__json_member(w, key);
  pai__json_begin_array(w);
}

/* --- forms -------------------------------------------------------------- */

static void write_value(pai__json_writer *w, char kind, va_list *values)
{
  switch (kind) {
  case 's': pai__json_string(w, va_arg(*values, const char *)); break;
  case 'i': pai__json_int(w, va_arg(*values, int)); break;
  default: pai__json_bool(w, va_arg(*values, int) != 0); break;
  }
}

void pai__json_write(pai__json_writer *w, const char *form, ...)
{
  va_list values;
  size_t len;

  va_start(values, form);
  for (; *form != '\0'; form += len > 0 ? len : 1) {
    len = strcspn(form, ":,{}[]");
    if (form[len] == ':' && *form == '*')
      pai__json_member(w, va_arg(values, const char *));
    else if (form[len] == ':' && len > 0)
      pai__json_key(w, form, len);
    else if (len > 1)
      pai__json_written(w, form, len);
    else if (len == 1)
      write_value(w, *form, &values);
    else if (*form == '{' || *form == '[')
      begin(w, *form == '{');
    else if (*form == '}' || *form == ']')
      end(w, *form == '}');
  }
  va_end(values);
}

int pai__json_finish(pai__json_writer *w)
{
  int rc = pai__nest_finish(&w->nest);

  if (rc == PAI_OK && w->pretty)
    put(w, "\n", 1);
  flush(w);
  return w->nest.rc < 0 ? w->nest.rc : rc;
}
