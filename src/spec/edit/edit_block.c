/* edit_block.c - edits of YAML in block style */
#include "spec/edit/edit_parts.h"

enum { LONGEST_SIMPLE_KEY = 128 };

/* --- places ------------------------------------------------------------- */

/* Returns the characters before a byte on its line. */
static size_t column(const pai__tree *t, size_t at)
{
  return pai__tree_pos(t, at).column - 1;
}

static bool is_block_scalar(const pai__tree *t, pai__node n)
{
  int style = t->nodes[n].flags & PAI__STYLE;

  return t->nodes[n].type < PAI__SEQUENCE &&
         (style == PAI__LITERAL || style == PAI__FOLDED);
}

/* Returns whether empty lines after a leaf are part of it. */
static bool keeps_lines(const pai__tree *t, pai__node n)
{
  size_t from = t->nodes[n].start;

  return is_block_scalar(t, n) &&
         memchr(t->text + from, '+', pai__gap_header_end(t, n) - from) != NULL;
}

/* Returns the start of the first line from a byte on that is not empty. */
static size_t skip_empty_lines(const pai__tree *t, size_t at)
{
  while (at < t->len && pai__gap_blanks(t, at) == pai__gap_eol(t, at))
    at = pai__gap_next(t, at);
  return at;
}

/* Returns the byte after the dash of the item e->node, or the end of the text
 * if there is none. */
static size_t behind_dash(const pai__edit *e)
{
  size_t from = e->before != PAI__NO_NODE ? e->t->nodes[e->before].end
                                          : e->t->nodes[e->parent].start;
  size_t dash = pai__edit_mark(e, from, '-');

  return dash < e->t->len ? dash + 1 : dash;
}

/* Returns the byte after "---", or else the first byte after all comments.
 * *mark says which. */
static size_t behind_header(const pai__tree *t, bool *mark)
{
  size_t at = pai__gap_skip(t, pai__gap_text(t));

  while (t->text[at] == '%')
    at = pai__gap_skip(t, pai__gap_eol(t, at));
  *mark = strncmp(t->text + at, "---", 3) == 0;
  return *mark ? at + 3 : at;
}

/* --- replacing ---------------------------------------------------------- */

/* The place of a value and of the text around it. */
typedef struct region {
  size_t mark;     /* after the ':', '-' or "---" before the value */
  size_t from, to; /* the value, with its anchor and tag */
  size_t rest;     /* text to keep at the end of the mark's line or of the
                      value's first line */
  size_t rest_end;
  size_t cut; /* the text continues here */
  size_t column;
  bool below; /* the value is on a later line than the mark */
} region;

/* Returns false if the edit is not possible. */
static bool find_mark(const pai__edit *e, region *r, bool *mark)
{
  const pai__tree *t = e->t;

  *mark = true;
  r->column = 0;
  if (e->parent == PAI__NO_NODE) {
    r->mark = behind_header(t, mark);
  } else if (e->key != PAI__NO_NODE) {
    r->mark = pai__edit_mark(e, t->nodes[e->key].end, ':');
    r->column = column(t, t->nodes[e->parent].start);
    if (r->mark++ == t->len)
      return false;
  } else {
    r->mark = behind_dash(e);
    r->column = column(t, t->nodes[e->parent].start);
  }
  return r->mark <= t->len;
}

static bool find_region(const pai__edit *e, region *r, bool *mark)
{
  const pai__tree *t = e->t;
  const pai__tree_node *p = &t->nodes[e->node];
  size_t eol;

  if (!find_mark(e, r, mark))
    return false;
  r->from = pai__gap_props(t, r->mark, e->node);
  r->to = p->end;
  if (r->from == r->to)
    r->from = r->to = r->mark;
  eol = pai__gap_eol(t, r->mark);
  r->below = p->start > eol && p->end > p->start;
  r->rest = r->below ? r->mark : r->to;
  while (r->below && r->from < eol && r->rest < eol) { /* anchor, tag */
    r->rest = pai__gap_blanks(t, r->rest);
    if (t->text[r->rest] != '&' && t->text[r->rest] != '!')
      break;
    r->rest = pai__gap_prop_end(t, r->rest);
  }
  if (is_block_scalar(t, e->node) && p->end > p->start) {
    r->rest = pai__gap_header_end(t, e->node);
    r->below = false;
  }
  r->rest_end = pai__gap_eol(t, r->rest);
  r->cut = pai__gap_eol(t, r->to);
  if (r->cut < r->rest_end)
    r->cut = r->rest_end;
  return true;
}

/* Keeps the rest of the line, which is a comment or nothing. */
static void keep_rest(pai__edit *e, const region *r)
{
  char c = e->t->text[r->rest];

  pai__edit_drop(e, r->rest);
  if (pai__gap_blanks(e->t, r->rest) == r->rest_end) {
    pai__edit_drop(e, r->rest_end);
    return;
  }
  if (strchr(" \t\r\n", c) == NULL)
    pai__buf_char(e->out, ' ');
  pai__edit_keep(e, r->rest_end);
}

/* Writes "key: first line # comment", and the other lines below it. */
static void put_behind(pai__edit *e, const region *r, const char *text)
{
  int type = e->t->nodes[e->node].type;
  const char *more;

  if (r->below && type < PAI__SEQUENCE) { /* the value stays on its line */
    pai__edit_keep(e, r->from);
    more = pai__edit_put_line(e, text);
    pai__edit_drop(e, r->to);
    pai__edit_keep(e, r->cut);
  } else {
    pai__edit_keep(e, r->below ? r->mark : r->from);
    if (e->done == r->mark && r->mark != 0 && e->parent != PAI__NO_NODE)
      pai__buf_char(e->out, ' ');
    more = pai__edit_put_line(e, text);
    keep_rest(e, r);
  }
  pai__edit_put_lines(e, more, r->column);
  pai__edit_drop(e, r->cut);
}

/* Writes "key: # comment", and the whole value below it. */
static void put_below(pai__edit *e, const region *r, const char *text)
{
  bool item = e->parent != PAI__NO_NODE && e->key == PAI__NO_NODE;
  size_t to = r->column + (e->parent != PAI__NO_NODE ? 2 : 0);

  pai__edit_keep(e, r->mark);
  if (item && pai__gap_blanks(e->t, r->rest) == r->rest_end) {
    pai__buf_char(e->out, ' ');
    text = pai__edit_put_line(e, text);
  } else {
    keep_rest(e, r);
  }
  pai__edit_put_lines(e, text, to);
  pai__edit_drop(e, r->cut);
}

/* Writes into a document that was empty, but for comments and perhaps
 * "---". */
static void put_first(pai__edit *e, const region *r, bool mark,
                      const char *text)
{
  const pai__tree *t = e->t;

  pai__edit_keep(e, mark ? pai__gap_eol(t, r->mark) : r->mark);
  if (!mark && pai__gap_leads(t, r->mark))
    text = pai__edit_put_line(e, text);
  pai__edit_put_lines(e, text, 0);
  if (!mark || e->done == t->len)
    pai__edit_line(e, 0);
}

/* Replaces the whole document. */
static void put_root(pai__edit *e, const region *r, const pai__edit_piece *p)
{
  const pai__tree *t = e->t;
  const char *text = pai__buf_text(&p->text);
  bool leads = pai__gap_leads(t, r->from);

  pai__edit_keep(e, leads ? pai__gap_line(t, r->from)
                          : pai__gap_back(t, r->from));
  if (leads && !is_block_scalar(t, e->node)) {
    pai__edit_put_lines(e, pai__edit_put_line(e, text), 0);
    pai__edit_drop(e, r->to);
    return;
  }
  if (!leads && !p->below)
    pai__buf_char(e->out, ' ');
  if (leads || !p->below)
    text = pai__edit_put_line(e, text);
  keep_rest(e, r);
  pai__edit_put_lines(e, text, 0);
  pai__edit_drop(e, r->cut);
}

/* Keeps the comments above the first entry.  They may be about an entry that
 * is gone, but nobody asked to remove them. */
static void keep_comments_above(const pai__edit *e, region *r)
{
  size_t start = e->t->nodes[e->node].start;

  if (!r->below || pai__gap_skip(e->t, r->rest) != start)
    return; /* there is an anchor or tag between */
  while (strchr(" \t\r\n", e->t->text[start - 1]) != NULL)
    start--;
  if (start > r->rest_end)
    r->rest_end = start;
}

void pai__edit_block_replace(pai__edit *e, const char *fixed)
{
  region r;
  pai__edit_piece p;
  bool mark;

  if (!find_region(e, &r, &mark))
    return;
  if (fixed != NULL)
    keep_comments_above(e, &r);
  pai__edit_make_piece(e, e->step, fixed, &p);
  if (!pai__buf_ok(&p.text))
    e->out->failed = true;
  else if (e->parent == PAI__NO_NODE && r.from == r.to)
    put_first(e, &r, mark, pai__buf_text(&p.text));
  else if (e->parent == PAI__NO_NODE)
    put_root(e, &r, &p);
  else if (p.below)
    put_below(e, &r, pai__buf_text(&p.text));
  else
    put_behind(e, &r, pai__buf_text(&p.text));
  pai__buf_dispose(&p.text);
}

/* --- adding ------------------------------------------------------------- */

static void put_key(pai__edit *e, size_t col)
{
  const char *key = pai__path_key(&e->path, e->step);
  size_t len = e->path.steps[e->step].len;
  bool indicator;
  pai__yaml_form form = pai__yaml_choose_form(key, len, &indicator);

  if (len > LONGEST_SIMPLE_KEY)
    pai__buf_str(e->out, "? ");
  pai__yaml_put_line(e->out, key, len,
                     form == PAI__FORM_LITERAL ? PAI__FORM_DOUBLE : form);
  if (len > LONGEST_SIMPLE_KEY)
    pai__edit_line(e, col);
  pai__buf_char(e->out, ':');
}

/* Writes the entry or item at a column. */
static void put_entry(pai__edit *e, const pai__edit_piece *p, size_t col)
{
  bool mapping = e->t->nodes[e->node].type == PAI__MAPPING;
  const char *text = pai__buf_text(&p->text);

  if (mapping)
    put_key(e, col);
  else
    pai__buf_char(e->out, '-');
  if (!mapping || !p->below) {
    pai__buf_char(e->out, ' ');
    text = pai__edit_put_line(e, text);
  }
  pai__edit_put_lines(e, text, col + (p->below ? 2 : 0));
}

void pai__edit_block_add(pai__edit *e)
{
  const pai__tree *t = e->t;
  const pai__tree_node *n = &t->nodes[e->node];
  size_t col = column(t, n->start), at = pai__gap_eol(t, n->end);
  bool own_lines = keeps_lines(t, n->skip - 1);
  pai__edit_piece p;

  pai__edit_make_piece(e, e->step + 1, NULL, &p);
  if (own_lines)
    at = skip_empty_lines(t, pai__gap_next(t, at));
  pai__edit_keep(e, at);
  if (!own_lines || (at == t->len && !pai__gap_leads(t, at)))
    pai__edit_line(e, col);
  else
    for (size_t i = 0; i < col; i++)
      pai__buf_char(e->out, ' ');
  put_entry(e, &p, col);
  if (own_lines)
    pai__edit_line(e, 0);
  if (!pai__buf_ok(&p.text))
    e->out->failed = true;
  pai__buf_dispose(&p.text);
}

/* --- removing ----------------------------------------------------------- */

/* Returns where the entry of e->node begins: at its dash, "?", anchor or
 * key. */
static size_t entry_start(const pai__edit *e)
{
  const pai__tree_node *nodes = e->t->nodes;

  if (e->before == PAI__NO_NODE)
    return nodes[e->parent].start;
  return pai__gap_skip(e->t, pai__edit_end(e, e->before_key, e->before));
}

void pai__edit_block_remove(pai__edit *e)
{
  const pai__tree *t = e->t;
  pai__node first = e->key != PAI__NO_NODE ? e->key : e->node;
  size_t start = entry_start(e), next;
  size_t end = pai__edit_end(e, e->key, e->node);

  if (e->key == PAI__NO_NODE && end < behind_dash(e))
    end = behind_dash(e);
  next = pai__gap_next(t, end);
  /* Empty lines after it would become part of the text before it. */
  if (keeps_lines(t, t->nodes[e->node].skip - 1) || keeps_lines(t, first - 1))
    next = skip_empty_lines(t, next);
  if (pai__gap_leads(t, start)) {
    pai__edit_keep(e, pai__gap_line(t, start));
    pai__edit_drop(e, next);
    return;
  }
  /* The first entry, on the line of a dash. */
  next = pai__gap_skip(t, end);
  pai__edit_keep(e, start);
  for (size_t at = pai__gap_eol(t, end); at < next; at++) {
    if (!pai__gap_is_comment(t, at))
      continue;
    e->out->len -= start - pai__gap_back(t, start);
    pai__edit_drop(e, pai__gap_eol(t, end));
    return;
  }
  pai__edit_drop(e, next);
}
