/* edit.c - sets and removes a place of a text */
#include "spec/edit/edit_parts.h"

/* --- copying ------------------------------------------------------------ */

void pai__edit_keep(pai__edit *e, size_t to)
{
  if (to <= e->done)
    return;
  pai__buf_add(e->out, e->t->text + e->done, to - e->done);
  e->done = to;
}

void pai__edit_drop(pai__edit *e, size_t to)
{
  if (to > e->done)
    e->done = to;
}

void pai__edit_line(pai__edit *e, size_t column)
{
  pai__buf_str(e->out, e->eol);
  while (column-- > 0)
    pai__buf_char(e->out, ' ');
}

size_t pai__edit_mark(const pai__edit *e, size_t from, char mark)
{
  size_t at = pai__gap_skip(e->t, from);

  return e->t->text[at] == mark ? at : e->t->len;
}

size_t pai__edit_end(const pai__edit *e, pai__node key, pai__node n)
{
  const pai__tree_node *p = &e->t->nodes[n];
  size_t mark;

  if (key == PAI__NO_NODE || p->start < p->end)
    return p->end;
  mark = pai__edit_mark(e, e->t->nodes[key].end, ':');
  return mark < e->t->len && mark >= p->end ? mark + 1 : p->end;
}

pai__node pai__edit_last(const pai__tree *t, pai__node n, pai__node *key)
{
  pai__node child = pai__tree_written(t, n), last = PAI__NO_NODE;

  *key = PAI__NO_NODE;
  for (; child != PAI__NO_NODE && child < t->nodes[n].skip;
       child = t->nodes[child].skip)
    if ((t->nodes[child].flags & PAI__IS_KEY) != 0)
      *key = child;
    else
      last = child;
  return last;
}

/* Returns the text's line break. */
static const char *find_eol(const pai__tree *t)
{
  size_t at = pai__gap_eol(t, 0);

  if (t->text[at] != '\r')
    return "\n";
  return t->text[at + 1] == '\n' ? "\r\n" : "\r";
}

/* --- the two edits ------------------------------------------------------ */

/* Returns whether a node is written in block style. */
static bool is_block(const pai__edit *e, pai__node n)
{
  return !pai__edit_json(e) && !e->in_flow &&
         (e->t->nodes[n].flags & PAI__STYLE) != PAI__FLOW;
}

/* Returns whether there is a comment in the brackets of an empty
 * collection. */
static bool has_comment(const pai__tree *t, pai__node n)
{
  const pai__tree_node *p = &t->nodes[n];
  size_t at = p->start + 1;

  while (at < p->end && !pai__gap_is_comment(t, at))
    at++;
  return at < p->end;
}

static void set(pai__edit *e)
{
  bool all = e->step == e->path.len;
  bool empty = pai__tree_written(e->t, e->node) == PAI__NO_NODE;

  e->done = 0;
  if (all || (empty && !has_comment(e->t, e->node))) {
    if (pai__edit_json(e) || e->in_flow)
      pai__edit_flow_replace(e, NULL);
    else
      pai__edit_block_replace(e, NULL);
  } else if (is_block(e, e->node)) {
    pai__edit_block_add(e);
  } else {
    pai__edit_flow_add(e);
  }
  pai__edit_keep(e, e->t->len);
}

/* Returns whether e->node is the only child of its parent. */
static bool is_only_child(const pai__edit *e)
{
  const pai__tree_node *nodes = e->t->nodes;

  return e->before == PAI__NO_NODE &&
         nodes[e->node].skip == nodes[e->parent].skip;
}

static int unset(pai__edit *e, pai_error **err)
{
  const char *rest = e->t->nodes[e->parent].type == PAI__MAPPING ? "{}" : "[]";
  int rc = PAI_OK;

  if (!is_block(e, e->parent)) {
    pai__edit_flow_remove(e);
  } else if (!is_only_child(e)) {
    pai__edit_block_remove(e);
  } else { /* replace the parent by {} or [] */
    pai__edit up = *e;
    up.path.len--;
    up.step = 0;
    up.node = 0;
    up.parent = up.key = up.before = up.before_key = PAI__NO_NODE;
    rc = pai__edit_find(&up, err);
    if (rc == PAI_OK)
      pai__edit_block_replace(&up, rest);
    e->done = up.done;
  }
  pai__edit_keep(e, e->t->len);
  return rc;
}

/* Returns whether JSON can express a value. */
static bool is_json_value(const pai__tree *t, pai__node n)
{
  bool mapping = pai__tree_type(t, n) == PAI__MAPPING;
  pai__tree_walk w = pai__tree_iter(t, n);
  pai__node child;
  double v;

  switch (pai__tree_type(t, n)) {
  case PAI__TIMESTAMP:
  case PAI__BINARY: return false;
  case PAI__FLOAT: v = pai__tree_float(t, n); return v - v == 0;
  default: break;
  }
  while ((child = pai__tree_next(&w)) != PAI__NO_NODE)
    if (!is_json_value(t, mapping ? pai__tree_value(t, child) : child))
      return false;
  return true;
}

/* Finds the place, or fails with the reason why it cannot be changed. */
static int prepare(pai__edit *e, const char *path, pai_error **err)
{
  int rc = pai__path_parse(&e->path, path, &e->t->alloc, err);

  if (rc == PAI_OK)
    rc = pai__edit_find(e, err);
  if (rc < 0)
    return rc;
  if (e->value == NULL && e->path.len == 0)
    return pai__fail(err, PAI_EINVAL, "the document cannot be removed");
  if (e->value == NULL && e->step < e->path.len)
    return pai__edit_fail_step(e, PAI_ENOTFOUND, err);
  if (e->value == NULL || !pai__edit_json(e) || is_json_value(e->value, 0))
    return PAI_OK;
  rc = pai__edit_fail(
    e, PAI_ENOTSUP, e->node, err,
    "cannot get this value: JSON has no dates, bytes or infinity");
  pai__error_help(err, "put the value in quotes");
  return rc;
}

/* Makes the edit.  *good says that the new text means what was asked for. */
static int attempt(pai__edit *e, bool *good, pai_error **err)
{
  int rc = PAI_OK;

  pai__buf_cut(e->out, e->base);
  e->done = 0;
  *good = false;
  if (e->value != NULL)
    set(e);
  else
    rc = unset(e, err);
  return rc == PAI_OK ? pai__edit_check(e, good, err) : rc;
}

/* Makes the edit in the style of the text around it.  If that fails, tries
 * again with the value on one line, which is possible nearly everywhere. */
static int make(pai__edit *e, pai_error **err)
{
  bool good, last = e->value == NULL;
  int rc;

  for (;; last = true) {
    pai_error *why = NULL;

    e->one_line = last;
    rc = attempt(e, &good, &why);
    if (good)
      return PAI_OK;
    if (rc == PAI_ENOMEM || (last && rc == PAI_ELIMIT)) {
      if (err != NULL)
        *err = why;
      else
        pai_error_free(why);
      return rc;
    }
    pai_error_free(why);
    if (last)
      return pai__edit_explain(e, err);
  }
}

int pai__edit_read(pai__buf *out, pai__tree **made, const pai__tree *tree,
                   const char *path, const pai__tree *value, pai_error **err)
{
  pai__edit e = { .t = tree,
                  .value = value,
                  .out = out,
                  .base = out->len,
                  .made = made,
                  .eol = find_eol(tree),
                  .parent = PAI__NO_NODE,
                  .key = PAI__NO_NODE,
                  .before = PAI__NO_NODE,
                  .before_key = PAI__NO_NODE };
  int rc;

  pai__clear_err(err);
  if (made != NULL)
    *made = NULL;
  rc = prepare(&e, path, err);
  if (rc == PAI_OK)
    rc = make(&e, err);
  if (rc < 0)
    pai__buf_cut(out, e.base);
  pai__path_dispose(&e.path);
  return rc;
}

int pai__edit_set(pai__buf *out, const pai__tree *tree, const char *path,
                  const pai__tree *value, pai_error **err)
{
  return pai__edit_read(out, NULL, tree, path, value, err);
}

int pai__edit_unset(pai__buf *out, const pai__tree *tree, const char *path,
                    pai_error **err)
{
  return pai__edit_read(out, NULL, tree, path, NULL, err);
}
