/* styled.c - documents as people write them, at random */
#include "styled.h"

typedef struct writer {
  pai__buf *out;
  pai__prng r;
  test_styled *how;
  unsigned keys, anchors;
  const char *eol;
  unsigned open;    /* anchors that can be used */
  unsigned mapping; /* one of a mapping, or 0 */
} writer;

static const char *const plain[] = { "a",    "word",       "two words", "x-1",
                                     "1",    "-7",         "2.5",       "1e3",
                                     "true", "null",       "~",         "yes",
                                     "010",  "./run.sh",   "a:b",       "é",
                                     "日本", "$HOME/x",    "0x1F",      "1:30",
                                     "a#b",  "http://h/p", "2020-01-01" };

static const char *const quoted[] = {
  "''",        "'it''s'", "'a: b'", "' x '",       "'# no'",    "\"\"",
  "\"a\\nb\"", "\"\\t\"", "\"#\"",  "\"\\u00e9\"", "\"x\\\\\"", "'1'",
  "\"null\"",  "'- a'",   "'{'",    "\"a b\"",     "\"\\x07\""
};

static const char *const json_scalars[] = {
  "1",       "-2.5",        "1e3",      "true",     "false",  "null",
  "\"\"",    "\"a\"",       "\"a b\"",  "\"#\"",    "\"//\"", "\"/* x */\"",
  "\"\\n\"", "\"\\u00e9\"", "\"日本\"", "\"a: b\"", "\"{\"",  "1.0"
};

#define PICK(r, list) ((list)[pai__prng_below((r), PAI__LEN(list))])

static bool chance(writer *w, unsigned percent)
{
  return pai__prng_below(&w->r, 100) < percent;
}

static void put(writer *w, const char *s)
{
  pai__buf_str(w->out, s);
}

static void spaces(writer *w, unsigned n)
{
  while (n-- > 0)
    put(w, " ");
}

static void comment(writer *w)
{
  static const char *const words[] = {
    "", " a: b", " - x", " 'q", " #", " {"
  };
  bool line = !w->how->json || chance(w, 50);

  pai__buf_printf(w->out, "%s <%u>%s",
                  !w->how->json ? "#"
                  : line        ? "//"
                                : "/*",
                  ++w->how->comments, PICK(&w->r, words));
  if (!line)
    put(w, " */");
}

/* Ends a line, perhaps with a comment. */
static void end_line(writer *w)
{
  if (chance(w, 15)) {
    spaces(w, 1 + chance(w, 50));
    comment(w);
  } else if (chance(w, 5)) {
    spaces(w, 1);
  }
  put(w, w->eol);
}

/* What may stand above an entry: empty lines and comments. */
static void above(writer *w, unsigned column)
{
  while (chance(w, 12))
    put(w, w->eol);
  while (chance(w, 12)) {
    spaces(w, chance(w, 80) ? column : (unsigned)pai__prng_below(&w->r, 6));
    comment(w);
    put(w, w->eol);
    if (chance(w, 10))
      put(w, w->eol);
  }
}

static void key(writer *w)
{
  static const char *const odd[] = { "'a.b %u'", "\"k%u\"", "a/b~%u",
                                     "x y%u",    "%u",      "'it''s %u'" };
  const char *form = chance(w, 70) ? "key%u" : PICK(&w->r, odd);

  if (w->how->json)
    form = chance(w, 90) ? "\"key%u\"" : "\"a/b.~ %u\"";
  if (strcmp(form, "key%u") == 0)
    pai__buf_printf(w->out, "key%u", ++w->keys);
  else
    for (const char *p = form; *p != '\0'; p++) {
      if (p[0] == '%')
        pai__buf_printf(w->out, "%u", ++w->keys);
      else if (p == form || p[-1] != '%')
        pai__buf_char(w->out, *p);
    }
}

void test_write_value(pai__buf *out, pai__prng *r, bool json, int depth)
{
  uint64_t kind = pai__prng_below(r, depth < 3 ? 10 : 7);
  uint64_t n = pai__prng_below(r, 4);

  if (kind < 7) {
    pai__buf_str(out, json       ? PICK(r, json_scalars)
                      : kind < 5 ? PICK(r, plain)
                                 : PICK(r, quoted));
    return;
  }
  pai__buf_str(out, kind < 8 ? "[" : "{");
  for (uint64_t i = 0; i < n; i++) {
    if (i > 0)
      pai__buf_str(out, ", ");
    if (kind >= 8)
      pai__buf_printf(out, json ? "\"v%u\": " : "v%u: ", (unsigned)i);
    test_write_value(out, r, json, depth + 1);
  }
  pai__buf_str(out, kind < 8 ? "]" : "}");
}

/* --- brackets ----------------------------------------------------------- */

static void flow(writer *w, unsigned column, int depth);

static void flow_value(writer *w, unsigned column, int depth)
{
  if (depth < 6 && chance(w, 25))
    flow(w, column, depth + 1);
  else if (w->how->json)
    put(w, PICK(&w->r, json_scalars));
  else if (chance(w, 10) && w->open > 0)
    pai__buf_printf(w->out, "*n%u",
                    1 + (unsigned)pai__prng_below(&w->r, w->open));
  else
    put(w, chance(w, 60) ? PICK(&w->r, plain) : PICK(&w->r, quoted));
}

static void flow(writer *w, unsigned column, int depth)
{
  bool mapping = chance(w, 50), lines = chance(w, w->how->json ? 70 : 30);
  unsigned n = (unsigned)pai__prng_below(&w->r, 4);
  const char *colon = w->how->json && chance(w, 30) ? ":" : ": ";

  put(w, mapping ? "{" : "[");
  if (lines)
    end_line(w);
  for (unsigned i = 0; i < n; i++) {
    if (lines) {
      above(w, column + 2);
      spaces(w, column + 2);
    }
    if (mapping) {
      key(w);
      put(w, colon);
    }
    flow_value(w, column + 2, depth);
    if (i + 1 < n)
      put(w, lines || chance(w, 20) ? "," : ", ");
    else if (!w->how->json && n > 0 && chance(w, 10))
      put(w, ",");
    if (lines)
      end_line(w);
  }
  if (lines) {
    above(w, column + 2);
    spaces(w, column);
  }
  put(w, mapping ? "}" : "]");
}

/* --- lines -------------------------------------------------------------- */

static bool block(writer *w, unsigned column, int depth, bool inlined);

static void block_scalar(writer *w, unsigned column)
{
  static const char *const heads[] = {
    "|", "|-", "|+", ">", ">-", ">+", "|2"
  };
  const char *head = PICK(&w->r, heads);
  unsigned n = 1 + (unsigned)pai__prng_below(&w->r, 3);

  put(w, head);
  if (chance(w, 15)) {
    put(w, " ");
    comment(w);
  }
  put(w, w->eol);
  while (n-- > 0) {
    if (chance(w, 15))
      put(w, w->eol);
    spaces(w, column + 2 + (head[1] == '2' && chance(w, 50) ? 1 : 0));
    put(w, chance(w, 70) ? "echo hi" : "# no comment");
    put(w, w->eol);
  }
  while (chance(w, 15))
    put(w, w->eol);
}

/* A value behind "key:" or "-", and the end of its line. */
static void value(writer *w, unsigned column, int depth, bool item)
{
  bool anchor = w->how->shared && chance(w, 25), mapping = false;
  unsigned name;
  unsigned kind = (unsigned)pai__prng_below(&w->r, depth < 5 ? 12 : 7);
  unsigned more = chance(w, 85) ? 2 : 1 + (unsigned)pai__prng_below(&w->r, 4);

  name = w->anchors += anchor;
  if (anchor) {
    pai__buf_printf(w->out, " &n%u", name);
  } else if (w->open > 0 && chance(w, 20)) {
    pai__buf_printf(w->out, " *n%u",
                    1 + (unsigned)pai__prng_below(&w->r, w->open));
    end_line(w);
    return;
  }
  if (kind == 0 && chance(w, 50)) {
    end_line(w); /* nothing */
  } else if (kind == 1) {
    put(w, " ");
    block_scalar(w, column);
  } else if (kind == 2) {
    put(w, " ");
    flow(w, column + 2, depth);
    end_line(w);
  } else if (kind < 7) {
    put(w, chance(w, 90) ? " " : "   ");
    put(w, chance(w, 70) ? PICK(&w->r, plain) : PICK(&w->r, quoted));
    end_line(w);
  } else if (item && !anchor && chance(w, 70)) {
    put(w, " ");
    mapping = block(w, column + 2, depth + 1, true);
  } else {
    end_line(w);
    mapping = block(w, column + more, depth + 1, false);
  }
  if (anchor)
    w->open = w->anchors;
  if (anchor && mapping)
    w->mapping = name;
}

/* A collection; `inlined` says that its first line has begun.  Returns
 * whether it is a mapping. */
static bool block(writer *w, unsigned column, int depth, bool inlined)
{
  bool mapping = chance(w, 65);
  unsigned n = 1 + (unsigned)pai__prng_below(&w->r, 4);

  for (unsigned i = 0; i < n; i++) {
    if (i > 0 || !inlined) {
      above(w, column);
      spaces(w, column);
    }
    if (mapping && i == 0 && w->mapping != 0 && chance(w, 40)) {
      pai__buf_printf(w->out, "<<: *n%u", w->mapping);
      end_line(w);
      continue;
    }
    if (mapping) {
      bool explicit_key = chance(w, 4);
      if (explicit_key)
        put(w, "? ");
      key(w);
      if (explicit_key) {
        put(w, w->eol);
        spaces(w, column);
      }
      put(w, ":");
    } else {
      put(w, "-");
    }
    value(w, column, depth, !mapping);
  }
  return mapping;
}

void test_write_styled(pai__buf *out, test_styled *how, uint64_t seed)
{
  writer w = { .out = out, .r = { seed }, .how = how, .eol = "\n" };

  how->comments = 0;
  if (chance(&w, 10))
    w.eol = "\r\n";
  if (chance(&w, 20))
    above(&w, 0);
  if (how->json) {
    flow(&w, 0, 0);
    end_line(&w);
  } else {
    if (chance(&w, 10)) {
      put(&w, "---");
      end_line(&w);
    }
    (void)block(&w, 0, 0, false);
  }
  if (chance(&w, 30))
    above(&w, 0);
  if (chance(&w, 10) && out->len > 0 && out->data[out->len - 1] == '\n')
    out->data[--out->len] = '\0';
}
