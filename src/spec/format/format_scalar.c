/* format_scalar.c - scalars, keys and anchors in canonical layout */
#include "spec/format/format_parts.h"
#include "spec/format/write.h"

enum { LONGEST_SIMPLE_KEY = 128, LONGEST_FLOW = 60 };

static bool is_space(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool pai__format_props(pai__format_state *f, size_t from, pai__node n,
                       bool space, size_t *end)
{
  const pai__tree *t = f->t;
  size_t at = pai__gap_props(t, from, n), start = t->nodes[n].start;
  bool tag = false;

  *end = at;
  while (at < start && (t->text[at] == '&' || t->text[at] == '!')) {
    *end = pai__gap_prop_end(t, at);
    tag = tag || t->text[at] == '!';
    if (space)
      pai__buf_char(f->out, ' ');
    space = true;
    pai__buf_add(f->out, t->text + at, *end - at);
    at = pai__gap_skip(t, *end);
  }
  return tag;
}

/* Copies text, but on one line. */
static void put_folded(pai__format_state *f, size_t from, size_t to)
{
  const char *text = f->t->text;
  bool gap = false;

  for (; from < to; from++) {
    if (is_space(text[from])) {
      gap = true;
      continue;
    }
    if (gap)
      pai__buf_char(f->out, ' ');
    gap = false;
    pai__buf_char(f->out, text[from]);
  }
}

/* Copies base64, but on one line. */
static void put_binary(pai__format_state *f, size_t from, size_t to)
{
  size_t before = f->out->len;

  for (; from < to; from++)
    if (!is_space(f->t->text[from]) && f->t->text[from] != '"' &&
        f->t->text[from] != '\'')
      pai__buf_char(f->out, f->t->text[from]);
  if (f->out->len == before)
    pai__buf_str(f->out, "''");
}

/* Copies a value that is not a text. */
static void put_as_written(pai__format_state *f, pai__node n)
{
  const pai__tree_node *p = &f->t->nodes[n];
  int style = p->flags & PAI__STYLE;
  size_t from = p->start, to = p->end;

  if (p->type < PAI__SEQUENCE &&
      (style == PAI__LITERAL || style == PAI__FOLDED)) {
    from = pai__gap_next(f->t, from);
    while (from < to && is_space(f->t->text[from]))
      from++;
  }
  if (p->type == PAI__BINARY)
    put_binary(f, from, to);
  else if (memchr(f->t->text + from, '\n', to - from) != NULL ||
           memchr(f->t->text + from, '\r', to - from) != NULL)
    put_folded(f, from, to);
  else
    pai__buf_add(f->out, f->t->text + from, to - from);
}

bool pai__format_is_literal(const pai__format_state *f, pai__node n,
                            bool *indicator)
{
  const pai__tree_node *p = &f->t->nodes[n];
  int style = p->flags & PAI__STYLE;
  size_t len;
  const char *s;

  *indicator = false;
  if (p->type != PAI__STRING)
    return false;
  s = pai__tree_str(f->t, n, &len);
  if (style == PAI__LITERAL || style == PAI__FOLDED) {
    if (!pai__yaml_can_be_literal(s, len, indicator))
      return false;
  } else if (pai__yaml_choose_form(s, len, indicator) != PAI__FORM_LITERAL) {
    return false;
  }
  return n != 0 || !*indicator; /* at the top, readers differ over it */
}

/* Returns the canonical spelling of null, true or false. */
static const char *word(const pai__tree_node *p)
{
  if (p->type == PAI__NULL)
    return "null";
  return p->u.b ? "true" : "false";
}

/* Writes a text on one line. */
static void put_text(pai__format_state *f, pai__node n)
{
  bool indicator;
  size_t len;
  const char *s = pai__tree_str(f->t, n, &len);
  pai__yaml_form form = pai__yaml_choose_form(s, len, &indicator);

  pai__yaml_put_line(f->out, s, len,
                     form == PAI__FORM_LITERAL ? PAI__FORM_DOUBLE : form);
}

void pai__format_scalar(pai__format_state *f, size_t from, pai__node n)
{
  const pai__tree_node *p = &f->t->nodes[n];
  bool props = (p->flags & PAI__HAS_PROPS) != 0;
  size_t before = f->out->len, end;
  bool tag = props && pai__format_props(f, from, n, false, &end);

  if (tag && p->start == p->end && p->type != PAI__STRING &&
      p->type != PAI__BINARY)
    return; /* an empty value that the tag gives a meaning */
  if (f->out->len > before)
    pai__buf_char(f->out, ' ');
  if (p->type == PAI__STRING)
    put_text(f, n);
  else if (!tag && p->type <= PAI__BOOL)
    pai__buf_str(f->out, word(p));
  else
    put_as_written(f, n);
}

/* --- keys --------------------------------------------------------------- */

/* Returns whether a key needs "?" before it. */
static bool is_explicit(const pai__format_state *f, pai__node key)
{
  const pai__tree_node *k = &f->t->nodes[key];

  if ((k->flags & PAI__IS_MERGE) != 0)
    return false;
  if ((k->flags & PAI__HAS_PROPS) != 0 || k->u.s.len > LONGEST_SIMPLE_KEY)
    return true;
  return k->skip > key + 1 &&
         (k[1].type >= PAI__SEQUENCE || (k[1].flags & PAI__HAS_PROPS) != 0);
}

/* Returns whether a key can be copied: no block, no line breaks. */
static bool is_one_line_key(const pai__format_state *f, pai__node n)
{
  const pai__tree_node *p = &f->t->nodes[n];
  const char *s = f->t->text + p->start;
  size_t len = p->end - p->start;

  if (p->type != PAI__SEQUENCE && p->type != PAI__MAPPING)
    return true;
  return (p->flags & PAI__STYLE) == PAI__FLOW &&
         memchr(s, '\n', len) == NULL && memchr(s, '\r', len) == NULL;
}

/* Writes a key without its colon. */
static void put_key(pai__format_state *f, size_t from, pai__node key)
{
  const pai__tree_node *k = &f->t->nodes[key];
  pai__node as = k->skip > key + 1 ? key + 1 : key;
  bool tag;
  size_t end;

  if ((k->flags & (PAI__CONVERTED | PAI__IS_MERGE)) == 0) {
    pai__format_scalar(f, from, key);
    return;
  }
  if ((k->flags & PAI__IS_MERGE) != 0) {
    pai__buf_str(f->out, "<<");
    return;
  }
  if ((f->t->nodes[as].flags & PAI__HAS_PROPS) != 0) {
    tag = pai__format_props(f, from, as, false, &end);
    if (tag && k->start == k->end)
      return; /* an empty value that the tag gives a meaning */
    pai__buf_char(f->out, ' ');
  }
  if (!is_one_line_key(f, as))
    f->fail = key;
  if (k->start == k->end)
    pai__buf_str(f->out, "null");
  else
    put_as_written(f, as);
  if (as == key)
    pai__buf_char(f->out, ' '); /* "*a:" would be an alias of that name */
}

void pai__format_key(pai__format_state *f, size_t from, pai__node key,
                     size_t column)
{
  bool marked = is_explicit(f, key);

  if (marked)
    pai__buf_str(f->out, "? ");
  put_key(f, from, key);
  if (marked) {
    pai__buf_char(f->out, '\n');
    pai__format_indent(f, column);
  }
  pai__buf_char(f->out, ':');
}

/* --- brackets ----------------------------------------------------------- */

/* Writes a part of short brackets.  Returns false if it cannot be in them. */
static bool put_flow_part(pai__format_state *f, pai__node n)
{
  const pai__tree_node *p = &f->t->nodes[n];
  bool merge = (p->flags & PAI__IS_MERGE) != 0;
  size_t len;
  const char *s;

  if (p->type == PAI__SEQUENCE || p->type == PAI__MAPPING ||
      p->type == PAI__BINARY ||
      (p->flags & (PAI__HAS_PROPS | PAI__CONVERTED)) != 0)
    return false;
  if (p->type == PAI__STRING && !merge) {
    s = pai__tree_str(f->t, n, &len);
    if (len > LONGEST_FLOW || memchr(s, '\n', len) != NULL)
      return false;
    pai__write_flow_text(&f->scratch, s, len, (pai__flow){ 0 });
  } else if (p->type <= PAI__BOOL) {
    pai__buf_str(&f->scratch, word(p));
  } else {
    pai__buf_add(&f->scratch, f->t->text + p->start, p->end - p->start);
  }
  return f->scratch.len <= LONGEST_FLOW;
}

static bool put_flow(pai__format_state *f, pai__node n)
{
  const pai__tree_node *p = &f->t->nodes[n];
  bool mapping = p->type == PAI__MAPPING;

  pai__buf_char(&f->scratch, mapping ? '{' : '[');
  for (pai__node c = n + 1; c < p->skip; c = f->t->nodes[c].skip) {
    bool key = (f->t->nodes[c].flags & PAI__IS_KEY) != 0;

    if (c > n + 1 && (!mapping || key))
      pai__buf_str(&f->scratch, ", ");
    if (!put_flow_part(f, c))
      return false;
    if (key)
      pai__buf_str(&f->scratch, ": ");
  }
  pai__buf_char(&f->scratch, mapping ? '}' : ']');
  return true;
}

bool pai__format_flow(pai__format_state *f, pai__node n)
{
  bool good;

  pai__buf_clear(&f->scratch);
  if ((f->t->nodes[n].flags & PAI__STYLE) != PAI__FLOW)
    return false;
  good = put_flow(f, n);
  f->out->failed = f->out->failed || !pai__buf_ok(&f->scratch);
  return good;
}
