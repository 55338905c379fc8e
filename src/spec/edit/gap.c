/* gap.c - finds space, comments and marks between nodes */
#include "spec/edit/gap.h"

static bool is_break(char c)
{
  return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

size_t pai__gap_text(const pai__tree *t)
{
  return t->len >= 3 && memcmp(t->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

size_t pai__gap_line(const pai__tree *t, size_t at)
{
  size_t first = pai__gap_text(t);

  while (at > first && !is_break(t->text[at - 1]))
    at--;
  return at;
}

size_t pai__gap_eol(const pai__tree *t, size_t at)
{
  while (at < t->len && !is_break(t->text[at]))
    at++;
  return at;
}

size_t pai__gap_next(const pai__tree *t, size_t at)
{
  at = pai__gap_eol(t, at);
  if (at < t->len)
    at += t->text[at] == '\r' && t->text[at + 1] == '\n' ? 2 : 1;
  return at;
}

size_t pai__gap_blanks(const pai__tree *t, size_t at)
{
  while (is_blank(t->text[at]))
    at++;
  return at;
}

size_t pai__gap_back(const pai__tree *t, size_t at)
{
  while (at > 0 && is_blank(t->text[at - 1]))
    at--;
  return at;
}

bool pai__gap_leads(const pai__tree *t, size_t at)
{
  at = pai__gap_back(t, at);
  return at == pai__gap_text(t) || is_break(t->text[at - 1]);
}

bool pai__gap_is_comment(const pai__tree *t, size_t at)
{
  const char *p = t->text + at;

  if (t->syntax == PAI__SYNTAX_YAML)
    return *p == '#';
  return p[0] == '/' && (p[1] == '/' || p[1] == '*');
}

size_t pai__gap_comment_end(const pai__tree *t, size_t at)
{
  const char *end;

  if (t->text[at] == '#' || t->text[at + 1] == '/')
    return pai__gap_eol(t, at);
  end = strstr(t->text + at + 2, "*/");
  return end != NULL ? (size_t)(end + 2 - t->text) : t->len;
}

size_t pai__gap_skip(const pai__tree *t, size_t at)
{
  for (;;) {
    if (is_blank(t->text[at]) || is_break(t->text[at]))
      at++;
    else if (pai__gap_is_comment(t, at))
      at = pai__gap_comment_end(t, at);
    else
      return at;
  }
}

bool pai__gap_ends(const pai__tree *t, size_t at)
{
  at = pai__gap_blanks(t, at);
  while (pai__gap_is_comment(t, at))
    at = pai__gap_blanks(t, pai__gap_comment_end(t, at));
  return at >= t->len || is_break(t->text[at]);
}

size_t pai__gap_prop_end(const pai__tree *t, size_t at)
{
  const char *p = t->text + at;

  if (p[0] == '!' && p[1] == '<')
    return at + strcspn(p, ">") + (strchr(p, '>') != NULL);
  return at + strcspn(p, " \t\r\n,[]{}");
}

size_t pai__gap_props(const pai__tree *t, size_t from, pai__node n)
{
  size_t to = t->nodes[n].start;

  if ((t->nodes[n].flags & PAI__HAS_PROPS) == 0)
    return to;
  while (from < to && t->text[from] != '&' && t->text[from] != '!') {
    if (pai__gap_is_comment(t, from) ||
        (t->text[from] == '%' && pai__gap_line(t, from) == from))
      from = pai__gap_eol(t, from);
    else
      from++;
  }
  return from;
}

size_t pai__gap_header_end(const pai__tree *t, pai__node n)
{
  size_t at = t->nodes[n].start + 1;

  return at + strspn(t->text + at, "+-0123456789");
}
