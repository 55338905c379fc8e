/*
 * quick_scalar.c - scalars of everyday texts, each exactly as libyaml reads it
 *
 * Where a rule seems arbitrary, it is libyaml's.  All lengths of what is
 * written to q->value are at most those of the text it is made of, so there is
 * always room.
 */
#include "yaml/quick.h"

enum { LONGEST_KEY = 1000 }; /* libyaml has another limit a bit above */

/* --- characters --------------------------------------------------------- */

/* What ends plain text in block collections and in brackets, stops the copying
 * of quoted text, and cannot begin plain text here. */
enum { BLOCK = 1, FLOW = 2, QUOTED = 4, START = 8 };

static const uint8_t stops[256] = {
  ['\0'] = BLOCK | FLOW | QUOTED | START,
  ['\n'] = BLOCK | FLOW | QUOTED | START,
  ['\t'] = BLOCK | FLOW | START,
  [':'] = BLOCK | FLOW | START,
  ['#'] = BLOCK | FLOW | START,
  [','] = FLOW | START,
  ['['] = FLOW | START,
  [']'] = FLOW | START,
  ['{'] = FLOW | START,
  ['}'] = FLOW | START,
  ['?'] = FLOW | START, /* libyaml's versions differ */
  ['"'] = QUOTED | START,
  ['\''] = QUOTED | START,
  ['\\'] = QUOTED,
  [' '] = START,
  ['&'] = START,
  ['*'] = START,
  ['!'] = START,
  ['|'] = START,
  ['>'] = START,
  ['%'] = START,
  ['@'] = START,
  ['`'] = START,
};

static bool is_stop(char c, unsigned kinds)
{
  return (stops[(unsigned char)c] & kinds) != 0;
}

static const char *line_end(const pai__quick *q, const char *p)
{
  const char *end = memchr(p, '\n', (size_t)(q->end - p));

  return end != NULL ? end : q->end;
}

bool pai__quick_next(pai__quick *q)
{
  bool first = q->at == q->line;

  for (;;) {
    q->at = pai__quick_spaces(q->at);
    if (*q->at == '#' && (q->at == q->line || q->at[-1] == ' '))
      q->at = line_end(q, q->at);
    if (*q->at != '\n')
      return first;
    q->line = ++q->at;
    first = true;
  }
}

/* --- plain scalars ------------------------------------------------------ */

/* The end of the plain text at p, with the space behind it. */
static const char *plain_end(const char *p, unsigned stop)
{
  for (;; p++) {
    while (!is_stop(*p, stop))
      p++;
    if (*p == ':') {
      if (pai__quick_gap(p[1]) || (stop == FLOW && is_stop(p[1], FLOW)))
        return p;
    } else if (*p != '#' || p[-1] == ' ') {
      return p;
    }
  }
}

/* Adds a line's plain text, without the space behind it, to the value. */
static void add_plain(pai__quick *q, const char *from, const char *end)
{
  while (end[-1] == ' ')
    end--;
  memcpy(q->value + q->len, from, (size_t)(end - from));
  q->len += (size_t)(end - from);
  q->to = end;
}

static int read_plain(pai__quick *q, unsigned stop)
{
  const char *p = q->at;

  if (is_stop(*p, START) || (*p == '-' && is_stop(p[1], START)))
    return PAI__QUICK_GIVE_UP;
  if (stop == FLOW && p == q->line)
    return PAI__QUICK_GIVE_UP; /* "---" and "..." count even in brackets */
  q->at = plain_end(p, stop);
  q->style = YAML_PLAIN_SCALAR_STYLE;
  add_plain(q, p, q->at);
  return PAI_OK;
}

int pai__quick_more_lines(pai__quick *q)
{
  ptrdiff_t outer = q->levels[q->depth].column;

  while (*q->at == '\n') {
    const char *line = q->line, *p = q->at;
    size_t breaks = 0;

    while (*p == '\n') {
      line = p + 1;
      p = pai__quick_spaces(line);
      breaks++;
    }
    if (*p == '\0' || *p == '#' || p - line <= outer)
      return PAI_OK;
    if (outer < 0)
      return PAI__QUICK_GIVE_UP; /* it might be a "---" */
    q->line = line;
    q->at = plain_end(p, BLOCK);
    if (*q->at == ':' || *q->at == '\t')
      return PAI__QUICK_GIVE_UP;
    if (breaks == 1)
      q->value[q->len++] = ' ';
    while (breaks-- > 1)
      q->value[q->len++] = '\n';
    add_plain(q, p, q->at);
  }
  return PAI_OK;
}

/* --- quoted scalars ----------------------------------------------------- */

/* The character that a backslash and this stand for; else '\0'. */
static char unescape(char c)
{
  switch (c) {
  case 'n': return '\n';
  case 'r': return '\r';
  case 't': return '\t';
  case '"':
  case '/':
  case '\\': return c;
  default: return '\0';
  }
}

static int read_quoted(pai__quick *q)
{
  char quote = *q->at, *to = q->value;
  const char *p = q->at + 1;

  for (;; p++) {
    while (!is_stop(*p, QUOTED))
      *to++ = *p++;
    if (*p == '\n' || *p == '\0')
      return PAI__QUICK_GIVE_UP;
    if (*p == quote && (quote == '"' || p[1] != '\''))
      break;
    if (*p == '\\' && quote == '"') {
      *to = unescape(*++p);
      if (*to++ == '\0')
        return PAI__QUICK_GIVE_UP;
    } else {
      *to++ = *p;
      p += *p == quote; /* '' */
    }
  }
  q->len = (size_t)(to - q->value);
  q->to = q->at = p + 1;
  q->style = quote == '"' ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
                          : YAML_SINGLE_QUOTED_SCALAR_STYLE;
  return PAI_OK;
}

int pai__quick_scalar(pai__quick *q, bool flow)
{
  q->from = q->at;
  q->len = 0;
  return *q->at == '"' || *q->at == '\'' ? read_quoted(q)
                                         : read_plain(q, flow ? FLOW : BLOCK);
}

bool pai__quick_colon(pai__quick *q, bool flow)
{
  const char *p = pai__quick_spaces(q->at);
  bool quoted = q->style != YAML_PLAIN_SCALAR_STYLE;

  if (*p != ':' || p - q->from > LONGEST_KEY ||
      (!pai__quick_gap(p[1]) && !(flow && quoted)))
    return false;
  q->at = p + 1;
  return true;
}

/* --- block scalars ------------------------------------------------------ */

/* The column of the first line that is not blank; 0: give up. */
static ptrdiff_t find_indent(const pai__quick *q)
{
  const char *line = q->line;
  ptrdiff_t most = 0;

  for (;;) {
    const char *p = pai__quick_spaces(line);
    ptrdiff_t column = p - line;

    if (*p != '\n')
      return *p != '\0' && *p != '\t' && column >= most &&
                 column > q->levels[q->depth].column
               ? column
               : 0;
    most = column > most ? column : most;
    line = p + 1;
  }
}

/* Passes over blank lines to the indentation of a line, and counts them. */
static const char *skip_blank(pai__quick *q, ptrdiff_t indent, size_t *breaks)
{
  const char *p = q->line;

  for (*breaks = 0;; q->line = ++p, ++*breaks) {
    while (*p == ' ' && p - q->line < indent)
      p++;
    if (*p != '\n')
      break;
  }
  if (*p == '\0' && p > q->line)
    ++*breaks; /* the line feed that libyaml gets behind the last line */
  return p;
}

/* Adds what a line's end and the blank lines behind it become. */
static void add_breaks(pai__quick *q, bool fold, size_t breaks)
{
  if (!fold)
    q->value[q->len++] = '\n';
  else if (breaks == 0)
    q->value[q->len++] = ' ';
  memset(q->value + q->len, '\n', breaks);
  q->len += breaks;
}

/* The lines below the header. */
static int read_lines(pai__quick *q, bool fold, char chomp)
{
  ptrdiff_t indent = find_indent(q);
  size_t breaks;
  const char *p;

  if (indent == 0)
    return PAI__QUICK_GIVE_UP;
  p = skip_blank(q, indent, &breaks);
  memset(q->value, '\n', breaks);
  q->len = breaks;
  for (;;) {
    bool blank = *p == ' ' || *p == '\t'; /* such lines are not folded */

    q->to = line_end(q, p);
    memcpy(q->value + q->len, p, (size_t)(q->to - p));
    q->len += (size_t)(q->to - p);
    q->line = q->to < q->end ? q->to + 1 : q->end;
    p = skip_blank(q, indent, &breaks);
    if (p - q->line != indent || *p == '\0')
      break;
    add_breaks(q, fold && !blank && *p != ' ' && *p != '\t', breaks);
  }
  if (chomp != '-')
    add_breaks(q, false, chomp == '+' ? breaks : 0);
  q->at = q->line;
  return PAI_OK;
}

int pai__quick_block(pai__quick *q)
{
  bool fold = *q->at == '>';
  char chomp = q->at[1] == '-' || q->at[1] == '+' ? q->at[1] : ' ';
  const char *p = pai__quick_spaces(q->at + (chomp == ' ' ? 1 : 2));

  if (*p == '#')
    p = line_end(q, p);
  if (*p != '\n')
    return PAI__QUICK_GIVE_UP; /* also an indentation indicator */
  q->from = q->at;
  q->line = p + 1;
  q->style = fold ? YAML_FOLDED_SCALAR_STYLE : YAML_LITERAL_SCALAR_STYLE;
  return read_lines(q, fold, chomp);
}
