/* format_yaml.c - formats YAML in block style */
#include "spec/format/format_parts.h"
#include "yaml/writer.h"

/* The layout of a value. */
typedef enum layout {
  ON_LINE, /* after its key or dash */
  LITERAL, /* its header after the key or dash, its text below */
  BELOW    /* on lines of its own; in a list from the dash on */
} layout;

static bool has_inner_comment(const pai__format_state *f, pai__node n)
{
  size_t low = f->next, high = f->ncomments, end = f->t->nodes[n].end;

  while (low < high) { /* finds the first comment after its start */
    size_t mid = low + (high - low) / 2;
    if (f->comments[mid].start < f->t->nodes[n].start)
      low = mid + 1;
    else
      high = mid;
  }
  return low < f->ncomments && f->comments[low].start < end;
}

/* Chooses the layout of a value.  The text of brackets that stay on one line
 * is in f->scratch. */
static layout choose(pai__format_state *f, pai__node n, bool *indicator)
{
  const pai__tree_node *p = &f->t->nodes[n];

  if (pai__format_is_literal(f, n, indicator))
    return LITERAL;
  if (p->type != PAI__SEQUENCE && p->type != PAI__MAPPING)
    return ON_LINE;
  if (p->skip == n + 1)
    return ON_LINE;
  return !has_inner_comment(f, n) && pai__format_flow(f, n) ? ON_LINE : BELOW;
}

/* Returns the end of the line on which a value begins.  Comments before that
 * byte must be written above the line. */
static size_t line_end(pai__format_state *f, size_t from, pai__node n)
{
  const pai__tree_node *nodes = f->t->nodes;
  bool indicator;

  for (;;) {
    layout l = choose(f, n, &indicator);
    pai__node value = n + 1;

    if (l == ON_LINE)
      return nodes[n].end;
    if (l == LITERAL)
      return nodes[n].start;
    if ((nodes[n].flags & PAI__HAS_PROPS) != 0)
      return pai__gap_props(f->t, from, n);
    if ((nodes[n + 1].flags & PAI__IS_KEY) != 0) {
      value = nodes[n + 1].skip;
      if (choose(f, value, &indicator) == BELOW)
        return nodes[n + 1].start;
    }
    from = nodes[n].start;
    n = value;
    if (choose(f, n, &indicator) != BELOW)
      continue;
  }
}

static void put_block(pai__format_state *f, pai__node n, size_t column,
                      bool begun);

/* Returns whether the last line of a text is empty or blank. */
static bool ends_blank(const char *s, size_t len)
{
  len -= s[len - 1] == '\n';
  while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'))
    len--;
  return len == 0 || s[len - 1] == '\n';
}

static void put_literal(pai__format_state *f, pai__node n, size_t column,
                        bool indicator)
{
  const pai__tree *t = f->t;
  int style = t->nodes[n].flags & PAI__STYLE;
  size_t len;
  const char *s = pai__tree_str(t, n, &len);

  pai__yaml_put_header(f->out, s, len, indicator);
  if (style == PAI__LITERAL || style == PAI__FOLDED)
    pai__comments_end_line(f, pai__gap_header_end(t, n), n + 1);
  else
    pai__buf_char(f->out, '\n');
  pai__yaml_put_lines(f->out, s, len, column + 2);
  f->keeps = ends_blank(s, len);
}

/* Writes a value that is not BELOW, and the end of its last line.  `from` is a
 * byte before the value, `column` the column of its collection. */
static void put_inline(pai__format_state *f, size_t from, pai__node n,
                       size_t column)
{
  const pai__tree_node *p = &f->t->nodes[n];
  bool indicator, tag = false;
  layout l = choose(f, n, &indicator);
  size_t before = f->out->len, end;

  if (l == ON_LINE && p->type != PAI__SEQUENCE && p->type != PAI__MAPPING) {
    pai__format_scalar(f, from, n);
    pai__comments_end_line(f, p->end, p->skip);
    return;
  }
  if ((p->flags & PAI__HAS_PROPS) != 0)
    tag = pai__format_props(f, from, n, false, &end);
  if (f->out->len > before && (l == LITERAL || p->end > p->start || !tag))
    pai__buf_char(f->out, ' ');
  if (l == LITERAL) {
    put_literal(f, n, column, indicator);
    return;
  }
  if (p->skip > n + 1)
    pai__buf_add(f->out, pai__buf_text(&f->scratch), f->scratch.len);
  else if (p->end > p->start || !tag)
    pai__buf_str(f->out, p->type == PAI__MAPPING ? "{}" : "[]");
  pai__comments_end_line(f, p->end, p->skip);
}

/* Writes the value after the ':' of a key or after a dash. */
static void put_value(pai__format_state *f, size_t from, pai__node n,
                      size_t column, bool item)
{
  bool props = (f->t->nodes[n].flags & PAI__HAS_PROPS) != 0, indicator;

  if (choose(f, n, &indicator) != BELOW) {
    pai__buf_char(f->out, ' ');
    put_inline(f, from, n, column);
  } else if (item && !props) {
    pai__buf_char(f->out, ' ');
    put_block(f, n, column + 2, true);
  } else {
    if (props)
      (void)pai__format_props(f, from, n, true, &from);
    pai__comments_end_line(f, from, n + 1);
    put_block(f, n, column + 2, false);
  }
}

/* Returns where the line of an entry or item begins in the text: at its dash,
 * "?", anchor or tag, or at the node itself. */
static size_t entry_start(const pai__format_state *f, size_t from, pai__node n)
{
  const pai__tree *t = f->t;
  size_t at = pai__gap_skip(t, from), start = t->nodes[n].start;

  if (at < start && t->text[at] == ':') /* of an absent value before */
    at = pai__gap_skip(t, at + 1);
  return at < start && strchr("-?&!", t->text[at]) != NULL ? at : start;
}

/* Returns the byte after the ':' of a key, or after the key if it has none. */
static size_t behind_colon(const pai__format_state *f, pai__node key)
{
  size_t end = f->t->nodes[key].end, at = pai__gap_skip(f->t, end);

  return f->t->text[at] == ':' ? at + 1 : end;
}

static void put_mapping(pai__format_state *f, pai__node n, size_t column,
                        bool begun)
{
  const pai__tree_node *nodes = f->t->nodes;
  size_t from = nodes[n].start;
  pai__node value;

  for (pai__node key = n + 1; key < nodes[n].skip; key = nodes[value].skip) {
    bool indicator;

    value = nodes[key].skip;
    if (!begun) {
      layout l = choose(f, value, &indicator);
      pai__comments_above(f,
                          l == ON_LINE   ? nodes[value].end
                          : l == LITERAL ? nodes[value].start
                                         : nodes[key].start,
                          column);
      pai__comments_gap(f, entry_start(f, from, key));
      pai__format_indent(f, column);
    }
    begun = false;
    pai__format_key(f, from, key, column);
    put_value(f, behind_colon(f, key), value, column, false);
    from = nodes[value].end;
  }
}

static void put_sequence(pai__format_state *f, pai__node n, size_t column,
                         bool begun)
{
  const pai__tree_node *nodes = f->t->nodes;
  size_t from = nodes[n].start;

  for (pai__node item = n + 1; item < nodes[n].skip; item = nodes[item].skip) {
    if (!begun) {
      pai__comments_above(f, line_end(f, from, item), column);
      pai__comments_gap(f, entry_start(f, from, item));
      pai__format_indent(f, column);
    }
    begun = false;
    pai__buf_char(f->out, '-');
    put_value(f, from, item, column, true);
    from = nodes[item].end;
  }
}

/* Writes a collection at a column; `begun` says that its first line is
 * begun. */
static void put_block(pai__format_state *f, pai__node n, size_t column,
                      bool begun)
{
  const pai__tree_node *p = &f->t->nodes[n];

  if ((f->t->nodes[n + 1].flags & PAI__IS_KEY) != 0)
    put_mapping(f, n, column, begun);
  else
    put_sequence(f, n, column, begun);
  if ((p->flags & PAI__STYLE) == PAI__FLOW)
    pai__comments_above(f, p->end, column);
  else
    pai__comments_below(f, n, column);
}

/* Writes %TAG directives, with the comments above them, and "---". */
static void put_header(pai__format_state *f)
{
  const pai__tree *t = f->t;
  size_t at = pai__gap_skip(t, pai__gap_text(t));
  bool tags = false;

  while (t->text[at] == '%') {
    size_t eol = pai__gap_eol(t, at);

    if (strncmp(t->text + at, "%TAG", 4) == 0) {
      size_t end = at;

      while (end < eol && t->text[end] != '#')
        end++;
      pai__comments_above(f, at, 0);
      pai__buf_add(f->out, t->text + at, pai__gap_back(t, end) - at);
      pai__buf_char(f->out, '\n');
      tags = true;
    }
    at = pai__gap_skip(t, eol);
  }
  if (tags)
    pai__buf_str(f->out, "---\n");
}

void pai__format_yaml(pai__format_state *f)
{
  const pai__tree_node *p = &f->t->nodes[0];
  size_t from = pai__gap_text(f->t), end;
  bool indicator;

  put_header(f);
  if (p->type == PAI__NULL && p->start == p->end &&
      (p->flags & PAI__HAS_PROPS) == 0) {
    pai__comments_above(f, f->t->len, 0);
    return;
  }
  if (choose(f, 0, &indicator) == BELOW) {
    if ((p->flags & PAI__HAS_PROPS) != 0) {
      pai__comments_above(f, pai__gap_props(f->t, from, 0), 0);
      (void)pai__format_props(f, from, 0, false, &end);
      pai__comments_end_line(f, end, 1);
    }
    put_block(f, 0, 0, false);
  } else {
    pai__comments_above(f, line_end(f, from, 0), 0);
    put_inline(f, from, 0, 0);
  }
  pai__comments_above(f, f->t->len + 1, 0);
}
