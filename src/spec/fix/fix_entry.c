/* fix_entry.c - fixes that add, remove or move an entry of a mapping */
#include "spec/fix/fix_parts.h"

size_t pai__mend_column(const pai__tree *t, size_t at)
{
  size_t line = pai__gap_line(t, at);

  return memchr(t->text + line, '\t', at - line) == NULL
           ? pai__tree_pos(t, at).column - 1
           : SIZE_MAX;
}

static const char *eol_of(const pai__tree *t)
{
  size_t at = pai__gap_eol(t, 0);

  return t->text[at] == '\r' ? t->text[at + 1] == '\n' ? "\r\n" : "\r" : "\n";
}

/* Appends a line break of the text and `column` spaces. */
static void put_line(pai__buf *b, const pai__tree *t, size_t column)
{
  pai__buf_str(b, eol_of(t));
  while (column-- > 0)
    pai__buf_char(b, ' ');
}

static void change(pai__findings *f, pai__fix *fix, size_t start, size_t end,
                   pai__buf *b)
{
  f->failed |= !pai__buf_ok(b);
  if (!f->failed)
    pai__fix_change(f, fix, start, end, pai__buf_text(b), b->len);
  pai__buf_dispose(b);
}

void pai__mend_change_to_line(pai__findings *f, pai__fix *fix, size_t start,
                              size_t end, size_t column, const char *text,
                              size_t len)
{
  pai__buf b;

  pai__buf_init(&b, f->arena->alloc);
  put_line(&b, f->tree, column);
  pai__buf_add(&b, text, len);
  change(f, fix, start, end, &b);
}

/* Adds a text, then a line break and spaces. */
static void change_line(pai__findings *f, pai__fix *fix, size_t at,
                        size_t column, const char *text, size_t len)
{
  pai__buf b;

  pai__buf_init(&b, f->arena->alloc);
  pai__buf_add(&b, text, len);
  put_line(&b, f->tree, column);
  change(f, fix, at, at, &b);
}

/* --- entries ------------------------------------------------------------ */

void pai__mend_add(pai__findings *f, pai__node mapping, const char *key,
                   const char *value, bool quoted)
{
  const pai__tree *t = f->tree;
  const pai__tree_node *x = &t->nodes[mapping];
  pai__node first = pai__tree_written(t, mapping);
  bool block = pai__mend_is_block(t, mapping),
       json = t->syntax == PAI__SYNTAX_JSON;
  const char *q = json ? "\"" : "", *qv = json && quoted ? "\"" : "";
  size_t column, at;
  pai__fix *fix;
  pai__buf b;

  if (x->type != PAI__MAPPING || first == PAI__NO_NODE ||
      (block && (x->flags & PAI__HAS_PROPS) != 0) ||
      (block && (t->nodes[first].flags & PAI__HAS_PROPS) != 0))
    return;
  at = block ? t->nodes[first].start : x->start + 1;
  column = pai__mend_column(t, at);
  if (block && (column == SIZE_MAX || t->text[x->start] == '?'))
    return;
  fix = pai__fix_add(f, true, mapping, "add %s: %s", key, value);
  if (fix == NULL)
    return;
  pai__buf_init(&b, f->arena->alloc);
  pai__buf_printf(&b, "%s%s%s: %s%s%s", q, key, q, qv, value, qv);
  f->failed |= !pai__buf_ok(&b);
  if (block && !f->failed) {
    change_line(f, fix, at, column, pai__buf_text(&b), b.len);
  } else if (!f->failed) {
    pai__buf_str(&b, ", ");
    f->failed |= !pai__buf_ok(&b);
    if (!f->failed)
      pai__fix_change(f, fix, at, at, pai__buf_text(&b), b.len);
  }
  pai__buf_dispose(&b);
}

/* Finds the entries before and after one in the text, or PAI__NO_NODE. */
static void find_neighbours(const pai__tree *t, pai__node mapping,
                            pai__node key, pai__node *before, pai__node *next)
{
  pai__node k = pai__tree_written(t, mapping);

  *before = *next = PAI__NO_NODE;
  for (; k != PAI__NO_NODE && k < key;
       k = t->nodes[pai__tree_value(t, k)].skip)
    *before = k;
  k = t->nodes[pai__tree_value(t, key)].skip;
  if (k < t->nodes[mapping].skip)
    *next = k;
}

/* Returns the start of the line after a value. */
static size_t line_after(const pai__tree *t, size_t end)
{
  return end > 0 && (t->text[end - 1] == '\n' || t->text[end - 1] == '\r')
           ? end
           : pai__gap_next(t, end);
}

/* Returns whether an entry has an anchor or tag.  An alias elsewhere may name
 * the anchor. */
static bool has_anchor(const pai__tree *t, pai__node key)
{
  for (pai__node i = key; i < t->nodes[pai__tree_value(t, key)].skip; i++)
    if ((t->nodes[i].flags & PAI__HAS_PROPS) != 0)
      return true;
  return false;
}

/* Finds the bytes to remove with an entry.  Returns false if it cannot be
 * removed. */
static bool range_of(const pai__tree *t, pai__node mapping, pai__node key,
                     size_t *start, size_t *end)
{
  pai__node value = pai__tree_value(t, key), before, next;
  bool block = pai__mend_is_block(t, mapping);

  *start = t->nodes[key].start;
  *end = t->nodes[value].end;
  find_neighbours(t, mapping, key, &before, &next);
  if (has_anchor(t, key) || (before == PAI__NO_NODE && next == PAI__NO_NODE) ||
      t->nodes[key].end == *start || *end == t->nodes[value].start ||
      t->text[pai__gap_line(t, *start)] == '?')
    return false;
  if (next != PAI__NO_NODE && (t->nodes[next].flags & PAI__HAS_PROPS) == 0 &&
      !(block && pai__gap_leads(t, *start))) {
    *end = t->nodes[next].start;
    return true;
  }
  if (next == PAI__NO_NODE && before == PAI__NO_NODE)
    return false;
  if (!block && before != PAI__NO_NODE) {
    *start = t->nodes[pai__tree_value(t, before)].end;
    return true;
  }
  if (!block || !pai__gap_leads(t, *start))
    return false;
  *start = pai__gap_line(t, *start);
  *end = line_after(t, *end);
  return true;
}

static bool may_be_comment(const pai__tree *t, size_t start, size_t end)
{
  char mark = t->syntax == PAI__SYNTAX_YAML ? '#' : '/';

  return start < end && memchr(t->text + start, mark, end - start) != NULL;
}

/* Returns whether there is a comment in a range that belongs to an entry
 * without anchors: between its scalars, or after | or >. */
static bool has_comment(const pai__tree *t, pai__node key, size_t start,
                        size_t end)
{
  for (pai__node n = key; n < t->nodes[pai__tree_value(t, key)].skip; n++) {
    const pai__tree_node *x = &t->nodes[n];
    int style = x->flags & PAI__STYLE;

    if (x->type == PAI__SEQUENCE || x->type == PAI__MAPPING ||
        x->start < start)
      continue;
    if (may_be_comment(t, start, x->start) ||
        (x->type != PAI__ALIAS &&
         (style == PAI__LITERAL || style == PAI__FOLDED) &&
         may_be_comment(t, x->start, pai__gap_eol(t, x->start))))
      return true;
    start = x->end;
  }
  return may_be_comment(t, start, end);
}

bool pai__mend_has_comment(const pai__tree *t, pai__node mapping,
                           pai__node key)
{
  size_t start, end;

  return range_of(t, mapping, key, &start, &end) &&
         has_comment(t, key, start, end);
}

void pai__mend_remove(pai__findings *f, bool sure, pai__node mapping,
                      pai__node key, const char *title)
{
  size_t start, end;
  pai__fix *fix;

  if (f->failed || f->left_out > 0 || f->len > PAI__MOST_MENDED ||
      !range_of(f->tree, mapping, key, &start, &end))
    return;
  fix = pai__fix_add(f, sure && !has_comment(f->tree, key, start, end), key,
                     "%s", title);
  pai__fix_change(f, fix, start, end, "", 0);
}

/* --- moving -------------------------------------------------------------- */

/* Finds the range of an entry on a line of its own, with the comment after it.
 * Returns false if it shares its line, has anchors, or holds a secret. */
static bool is_line(pai__findings *f, pai__node mapping, pai__node key,
                    size_t *start, size_t *end)
{
  const pai__tree *t = f->tree;
  pai__node value = pai__tree_value(t, key);

  *start = t->nodes[key].start;
  *end = t->nodes[value].end;
  if (!pai__mend_is_block(t, mapping) || !pai__gap_leads(t, *start) ||
      t->nodes[value].start == *end || *end > pai__gap_eol(t, *start) ||
      !pai__gap_ends(t, *end) || has_anchor(t, key) ||
      pai__mend_column(t, *start) == SIZE_MAX)
    return false;
  *end = pai__gap_back(t, pai__gap_eol(t, *end));
  for (size_t i = *start; i < *end; i++)
    if (pai__secrets_has(pai__findings_secrets(f), (uint32_t)i))
      return false; /* a fix may be shown to anybody */
  return true;
}

/* Puts the line into a collection, which may be absent. */
static void put_into(pai__findings *f, pai__fix *fix, pai__node into_key,
                     const char *line, size_t len)
{
  const pai__tree *t = f->tree;
  pai__node into = pai__tree_value(t, into_key);
  pai__node first = pai__tree_written(t, into);
  size_t at = pai__gap_eol(t, t->nodes[into_key].end);
  size_t column = pai__mend_column(t, t->nodes[into_key].start);

  if (first == PAI__NO_NODE) {
    pai__mend_change_to_line(f, fix, at, at, column + 2, line, len);
    return;
  }
  at = t->nodes[first].start;
  if (pai__mend_is_block(t, into)) {
    change_line(f, fix, at, pai__mend_column(t, at), line, len);
    return;
  }
  pai__fix_change(f, fix, at, at, line, len);
  pai__fix_change(f, fix, at, at, ", ", 2);
}

/* Returns whether put_into() is possible: there is a mapping without anchors,
 * or nothing. */
static bool takes_line(const pai__tree *t, pai__node into_key,
                       const char *line, size_t len)
{
  pai__node into = pai__tree_value(t, into_key);
  const pai__tree_node *x = &t->nodes[into];
  pai__node first = pai__tree_written(t, into);

  if ((x->flags & PAI__HAS_PROPS) != 0 ||
      pai__mend_column(t, t->nodes[into_key].start) == SIZE_MAX)
    return false;
  if (x->type == PAI__NULL)
    return x->start == x->end;
  if (x->type != PAI__MAPPING || first == PAI__NO_NODE ||
      (t->nodes[first].flags & PAI__HAS_PROPS) != 0)
    return false;
  for (size_t i = 0; i < len && !pai__mend_is_block(t, into); i++)
    if (strchr(",[]{}#", line[i]) != NULL)
      return false;
  return pai__mend_column(t, t->nodes[first].start) != SIZE_MAX;
}

void pai__mend_move(pai__findings *f, pai__node mapping, pai__node key,
                    const char *name)
{
  const pai__tree *t = f->tree;
  pai__node into = pai__tree_find(t, mapping, name, strlen(name));
  size_t start, end, line;
  pai__fix *fix;

  if (f->failed || f->left_out > 0 || into == PAI__NO_NODE || into < mapping ||
      into >= t->nodes[mapping].skip ||
      !is_line(f, mapping, key, &start, &end) ||
      !takes_line(t, into, t->text + start, end - start) ||
      pai__tree_find(t, pai__tree_value(t, into), pai__tree_str(t, key, NULL),
                     strlen(pai__tree_str(t, key, NULL))) != PAI__NO_NODE)
    return;
  fix = pai__fix_add(f, true, key, "move it into %s", name);
  if (fix == NULL)
    return;
  line = pai__gap_line(t, start);
  if (into < key)
    put_into(f, fix, into, t->text + start, end - start);
  pai__fix_change(f, fix, line, pai__gap_next(t, end), "", 0);
  if (into > key)
    put_into(f, fix, into, t->text + start, end - start);
}
