/* edit_flow.c - edits in brackets and in JSON */
#include "spec/edit/edit_parts.h"

/* --- new text ----------------------------------------------------------- */

void pai__edit_put_flow(const pai__edit *e, pai__buf *out, size_t step,
                        pai__flow how)
{
  for (size_t i = step; i < e->path.len; i++) {
    const pai__spec_step *s = &e->path.steps[i];

    if (s->kind == PAI__STEP_APPEND) {
      pai__buf_char(out, '[');
      continue;
    }
    pai__buf_char(out, '{');
    pai__write_flow_text(out, pai__path_key(&e->path, i), s->len, how);
    pai__buf_str(out, how.compact ? ":" : ": ");
  }
  pai__write_flow(out, e->value, 0, how);
  for (size_t i = e->path.len; i > step; i--)
    pai__buf_char(out,
                  e->path.steps[i - 1].kind == PAI__STEP_APPEND ? ']' : '}');
}

/* Returns one level of indentation, as before the first entry of the
 * document. */
static const char *unit(const pai__edit *e, size_t *len)
{
  const pai__tree *t = e->t;
  pai__node first = pai__tree_written(t, 0);
  size_t from;

  *len = 2;
  if (first == PAI__NO_NODE || !pai__gap_leads(t, t->nodes[first].start))
    return "  ";
  from = pai__gap_line(t, t->nodes[first].start);
  if (t->nodes[first].start == from)
    return "  ";
  *len = t->nodes[first].start - from;
  return t->text + from;
}

/* Writes JSON of several lines, indented like the line of byte `like` and in
 * the document's style. */
static void put_lines(pai__edit *e, const pai__buf *json, size_t like)
{
  size_t from = pai__gap_line(e->t, like), step;
  size_t lead = pai__gap_blanks(e->t, from) - from;
  const char *p = pai__buf_text(json), *level = unit(e, &step);

  while (*p != '\0') {
    size_t n = strcspn(p, "\n"), spaces = strspn(p, " ");

    for (size_t i = 0; i < spaces; i += 2)
      pai__buf_add(e->out, level, step);
    pai__buf_add(e->out, p + spaces, n - spaces);
    p += n + (p[n] == '\n');
    if (*p == '\0')
      break;
    pai__buf_str(e->out, e->eol);
    pai__buf_add(e->out, e->t->text + from, lead);
  }
}

/* Writes the missing steps from `step` on and the value, on several lines. */
static void put_pretty(pai__edit *e, size_t step, size_t like)
{
  pai__json_writer w;
  pai__buf text;

  pai__buf_init(&text, e->out->alloc);
  pai__json_writer_init(&w, &text, true);
  for (size_t i = step; i < e->path.len; i++) {
    if (e->path.steps[i].kind == PAI__STEP_APPEND) {
      pai__json_begin_array(&w);
      continue;
    }
    pai__json_begin_object(&w);
    pai__json_key(&w, pai__path_key(&e->path, i), e->path.steps[i].len);
  }
  pai__write_json(&w, e->value, 0);
  for (size_t i = e->path.len; i > step; i--) {
    if (e->path.steps[i - 1].kind == PAI__STEP_APPEND)
      pai__json_end_array(&w);
    else
      pai__json_end_object(&w);
  }
  if (pai__json_finish(&w) == PAI_OK)
    put_lines(e, &text, like);
  else
    e->out->failed = true;
  pai__buf_dispose(&text);
}

/* Returns the style of the neighbours: double quotes, no spaces. */
static pai__flow manner(const pai__edit *e, pai__node n)
{
  const pai__tree *t = e->t;
  pai__flow how = { .quotes = pai__edit_json(e) };
  pai__node key = PAI__NO_NODE, last = PAI__NO_NODE, sample;

  if (n != PAI__NO_NODE)
    last = pai__edit_last(t, n, &key);
  sample = key != PAI__NO_NODE ? key : last;
  if (sample == PAI__NO_NODE)
    return how;
  how.quotes =
    how.quotes || (t->nodes[sample].flags & PAI__STYLE) == PAI__DOUBLE;
  how.compact = how.quotes && key != PAI__NO_NODE &&
                t->nodes[last].start == t->nodes[key].end + 1;
  return how;
}

static void put_value(pai__edit *e, size_t step, pai__flow how, bool own_line,
                      size_t like)
{
  if (pai__edit_json(e) && own_line && !e->one_line)
    put_pretty(e, step, like);
  else
    pai__edit_put_flow(e, e->out, step, how);
}

/* --- replacing ---------------------------------------------------------- */

void pai__edit_flow_replace(pai__edit *e, const char *fixed)
{
  const pai__tree *t = e->t;
  const pai__tree_node *p = &t->nodes[e->node];
  size_t from = e->key != PAI__NO_NODE      ? t->nodes[e->key].end
                : e->before != PAI__NO_NODE ? t->nodes[e->before].end
                : e->parent != PAI__NO_NODE ? t->nodes[e->parent].start
                                            : pai__gap_text(t);
  size_t like = e->key != PAI__NO_NODE ? t->nodes[e->key].start : p->start;
  bool own_line = e->parent == PAI__NO_NODE || pai__gap_leads(t, like);

  from = pai__gap_props(t, from, e->node);
  if (from == p->end && e->key != PAI__NO_NODE) { /* an absent value */
    size_t mark = pai__edit_mark(e, t->nodes[e->key].end, ':');
    from = mark < t->len ? mark + 1 : t->nodes[e->key].end;
    pai__edit_keep(e, from);
    pai__buf_str(e->out, mark < t->len ? " " : ": ");
  }
  pai__edit_keep(e, from);
  if (fixed != NULL)
    pai__buf_str(e->out, fixed);
  else
    put_value(e, e->step, manner(e, e->parent), own_line, like);
  pai__edit_drop(e, p->end);
}

/* --- adding ------------------------------------------------------------- */

/* Writes the entry or item. */
static void put_entry(pai__edit *e, pai__flow how, bool own_line, size_t like)
{
  const pai__spec_step *s = &e->path.steps[e->step];

  if (e->t->nodes[e->node].type == PAI__MAPPING) {
    pai__write_flow_text(e->out, pai__path_key(&e->path, e->step), s->len,
                         how);
    pai__buf_str(e->out, how.compact ? ":" : ": ");
  }
  put_value(e, e->step + 1, how, own_line, like);
}

/* Skips the comments on the line. */
static size_t skip_comments(const pai__tree *t, size_t at)
{
  size_t p = pai__gap_blanks(t, at);

  while (pai__gap_is_comment(t, p)) {
    at = pai__gap_comment_end(t, p);
    p = pai__gap_blanks(t, at);
  }
  return at;
}

void pai__edit_flow_add(pai__edit *e)
{
  const pai__tree *t = e->t;
  const pai__tree_node *p = &t->nodes[e->node];
  pai__node key, last = pai__edit_last(t, e->node, &key);
  pai__flow how = manner(e, e->node);
  bool brackets = t->text[p->start] == '{' || t->text[p->start] == '[';
  size_t first, end, comma;

  if (last == PAI__NO_NODE) { /* only a comment is in the brackets */
    pai__edit_keep(e, p->end - 1);
    put_entry(e, how, false, 0);
    return;
  }
  first = t->nodes[key != PAI__NO_NODE ? key : last].start;
  end = pai__edit_end(e, key, last);
  comma = pai__edit_mark(e, end, ',');
  if (!brackets) { /* a single pair in a list: [a: 1] */
    pai__edit_keep(e, p->start);
    pai__buf_char(e->out, '{');
    comma = t->len;
  }
  pai__edit_keep(e, comma < t->len ? comma + 1 : end);
  if (comma == t->len)
    pai__buf_char(e->out, ',');
  if (brackets && pai__gap_leads(t, first) && pai__gap_ends(t, e->done)) {
    size_t from = pai__gap_line(t, first);

    pai__edit_keep(e, skip_comments(t, e->done));
    pai__buf_str(e->out, e->eol);
    pai__buf_add(e->out, t->text + from, first - from);
    put_entry(e, how, true, first);
    if (comma < t->len)
      pai__buf_char(e->out, ',');
    return;
  }
  if (!how.compact)
    pai__buf_char(e->out, ' ');
  put_entry(e, how, false, 0);
  if (!brackets)
    pai__buf_char(e->out, '}');
}

/* --- removing ----------------------------------------------------------- */

/* Returns whether only white space is between two bytes. */
static bool is_space(const pai__tree *t, size_t from, size_t to)
{
  while (from < to && strchr(" \t\r\n", t->text[from]) != NULL)
    from++;
  return from >= to;
}

/* Removes an entry that a comma follows. */
static void remove_inner(pai__edit *e, size_t start, size_t comma)
{
  const pai__tree *t = e->t;
  size_t next = skip_comments(t, comma + 1);

  if (pai__gap_leads(t, start) && pai__gap_ends(t, next)) {
    pai__edit_keep(e, pai__gap_line(t, start));
    pai__edit_drop(e, pai__gap_next(t, next));
    return;
  }
  pai__edit_keep(e, start);
  pai__edit_drop(e, pai__gap_blanks(t, comma + 1));
}

/* Removes the last of several entries. */
static void remove_last(pai__edit *e, size_t comma, size_t start, size_t end)
{
  const pai__tree *t = e->t;
  size_t rest = skip_comments(t, end);

  pai__edit_keep(e, comma);
  if (pai__gap_leads(t, start) && pai__gap_ends(t, rest)) {
    pai__edit_drop(e, comma + 1);
    pai__edit_keep(e, pai__gap_line(t, start));
    end = pai__gap_next(t, rest);
  } else if (!is_space(t, comma + 1, start)) {
    pai__edit_drop(e, comma + 1);
    pai__edit_keep(e, start);
  }
  pai__edit_drop(e, end);
}

/* Removes the only entry.  The brackets and comments in them stay. */
static void remove_only(pai__edit *e, size_t start, size_t end)
{
  const pai__tree *t = e->t;
  const pai__tree_node *p = &t->nodes[e->parent];

  if (is_space(t, p->start + 1, start) && is_space(t, end, p->end - 1)) {
    start = p->start + 1;
    end = p->end - 1;
  }
  pai__edit_keep(e, start);
  pai__edit_drop(e, end);
}

void pai__edit_flow_remove(pai__edit *e)
{
  const pai__tree *t = e->t;
  const pai__tree_node *p = &t->nodes[e->parent];
  size_t end = pai__edit_end(e, e->key, e->node), start = p->start + 1;
  size_t comma = pai__edit_mark(e, end, ','), comma_before = 0;

  if (t->text[p->start] != '{' && t->text[p->start] != '[') {
    pai__edit_keep(e, p->start); /* a single pair in a list: [a: 1] */
    pai__buf_str(e->out, "{}");
    pai__edit_drop(e, p->end);
    return;
  }
  if (e->before != PAI__NO_NODE) {
    start = pai__edit_end(e, e->before_key, e->before);
    comma_before = pai__edit_mark(e, start, ',');
    start = comma_before + 1;
  }
  if (start > t->len)
    return;
  start = pai__gap_skip(t, start);
  if (e->before == PAI__NO_NODE && t->nodes[e->node].skip == p->skip)
    remove_only(e, start, comma < t->len ? comma + 1 : end);
  else if (comma < t->len)
    remove_inner(e, start, comma);
  else
    remove_last(e, comma_before, start, end);
}
