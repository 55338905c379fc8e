/* comments.c - finds comments of a text, and writes them at their places */
#include "spec/format/format_parts.h"

/* --- finding ------------------------------------------------------------ */

static int add_comment(pai__format_state *f, size_t start, size_t end)
{
  while (end > start &&
         (f->t->text[end - 1] == ' ' || f->t->text[end - 1] == '\t'))
    end--;
  if (PAI__VEC_ROOM(&f->t->alloc, f->comments, f->ncomments, f->cap) < 0)
    return PAI_ENOMEM;
  f->comments[f->ncomments++] =
    (pai__comment){ (uint32_t)start, (uint32_t)end };
  return PAI_OK;
}

/* Returns the end of a directive: where its line ends or a comment begins. */
static size_t directive_end(const pai__tree *t, size_t at)
{
  size_t eol = pai__gap_eol(t, at);

  while (at < eol && !(t->text[at] == '#' &&
                       (t->text[at - 1] == ' ' || t->text[at - 1] == '\t')))
    at++;
  return at;
}

/* Finds the comments between two nodes. */
static int find_between(pai__format_state *f, size_t at, size_t to)
{
  const pai__tree *t = f->t;
  bool yaml = t->syntax == PAI__SYNTAX_YAML;
  int rc = PAI_OK;

  while (at < to && rc == PAI_OK) {
    size_t start = at;

    if (pai__gap_is_comment(t, at)) {
      at = pai__gap_comment_end(t, at);
      rc = add_comment(f, start, at);
    } else if (yaml && (t->text[at] == '&' || t->text[at] == '!')) {
      at = pai__gap_prop_end(t, at);
    } else if (yaml && t->text[at] == '%') {
      at = directive_end(t, at);
    } else {
      at++;
    }
  }
  return rc;
}

int pai__comments_find(pai__format_state *f)
{
  const pai__tree *t = f->t;
  size_t at = pai__gap_text(t);
  int rc = PAI_OK;

  for (pai__node n = 0; n < t->count && rc == PAI_OK; n++) {
    const pai__tree_node *p = &t->nodes[n];
    int style = p->flags & PAI__STYLE;

    rc = find_between(f, at, p->start);
    if (at < p->start)
      at = p->start;
    if (p->skip > n + 1 || p->type == PAI__SEQUENCE || p->type == PAI__MAPPING)
      continue; /* its children are next */
    if ((style == PAI__LITERAL || style == PAI__FOLDED) && rc == PAI_OK)
      rc =
        find_between(f, pai__gap_header_end(t, n), pai__gap_eol(t, p->start));
    if (at < p->end)
      at = p->end;
    /* An empty block scalar ends before the rest of its header line. */
    if (style >= PAI__LITERAL && style != PAI__FLOW &&
        at < pai__gap_eol(t, p->start))
      at = pai__gap_eol(t, p->start);
  }
  return rc == PAI_OK ? find_between(f, at, t->len) : rc;
}

/* --- writing ------------------------------------------------------------ */

void pai__format_indent(pai__format_state *f, size_t column)
{
  while (column-- > 0)
    pai__buf_char(f->out, ' ');
}

void pai__comments_gap(pai__format_state *f, size_t at)
{
  const pai__tree *t = f->t;
  size_t line, above;

  if (f->keeps || f->out->len == f->base || !pai__gap_leads(t, at))
    return;
  line = pai__gap_line(t, at);
  if (line == pai__gap_text(t))
    return;
  above = line - 1; /* before the line break */
  if (above > 0 && t->text[above] == '\n' && t->text[above - 1] == '\r')
    above--;
  if (pai__gap_leads(t, above))
    pai__buf_char(f->out, '\n');
}

/* Writes a comment without blanks at the ends of its lines. */
static void put_comment(pai__format_state *f, const pai__comment *c)
{
  const char *p = f->t->text + c->start, *end = f->t->text + c->end;

  while (p < end) {
    const char *eol = p, *last;

    while (eol < end && *eol != '\n' && *eol != '\r')
      eol++;
    for (last = eol; last > p && (last[-1] == ' ' || last[-1] == '\t');)
      last--;
    pai__buf_add(f->out, p, (size_t)(last - p));
    p = eol;
    if (p == end)
      break;
    pai__buf_char(f->out, '\n');
    p += *p == '\r' && p + 1 < end && p[1] == '\n' ? 2 : 1;
  }
}

static void put_line(pai__format_state *f, size_t column)
{
  const pai__comment *c = &f->comments[f->next++];

  if (f->t->syntax == PAI__SYNTAX_YAML)
    pai__comments_gap(f, c->start);
  pai__format_indent(f, column);
  put_comment(f, c);
  pai__buf_char(f->out, '\n');
  f->keeps = false;
}

void pai__comments_above(pai__format_state *f, size_t limit, size_t column)
{
  while (pai__comments_before(f, limit))
    put_line(f, column);
}

void pai__comments_below(pai__format_state *f, pai__node n, size_t column)
{
  const pai__tree *t = f->t;
  pai__node after = t->nodes[n].skip;
  size_t limit =
    after < t->count ? pai__gap_props(t, t->nodes[n].end, after) : t->len;
  size_t start = t->nodes[n].start, least = start - pai__gap_line(t, start);

  while (pai__comments_before(f, limit)) {
    size_t at = f->comments[f->next].start;
    if (!pai__gap_leads(t, at) || at - pai__gap_line(t, at) < least)
      break;
    put_line(f, column);
  }
}

/* Returns whether only a comma and other comments follow on its line. */
static bool ends_line(const pai__tree *t, const pai__comment *c)
{
  size_t at = pai__gap_blanks(t, c->end);

  if (t->text[at] == ',')
    at++;
  return pai__gap_ends(t, at);
}

void pai__comments_end_line(pai__format_state *f, size_t from, pai__node next)
{
  const pai__tree *t = f->t;
  size_t limit = next < t->count ? t->nodes[next].start : t->len;

  while (pai__comments_before(f, limit)) {
    const pai__comment *c = &f->comments[f->next];

    while (from < c->start && t->text[from] != '\n' && t->text[from] != '\r')
      from++;
    if (from < c->start || !ends_line(t, c))
      break;
    pai__buf_char(f->out, ' ');
    put_comment(f, c);
    from = c->end;
    f->next++;
    if (t->text[c->start + 1] == '/' || t->syntax == PAI__SYNTAX_YAML)
      break;
  }
  pai__buf_char(f->out, '\n');
  f->keeps = false;
}
