/*
 * edit_check.c - checks that an edit did what was asked for, or says why not
 */
#include "spec/edit/edit_parts.h"

static bool is_key(const pai__edit *e, const pai__tree *t, pai__node key,
                   size_t step)
{
  size_t len;
  const char *s = pai__tree_str(t, key, &len);
  const pai__spec_step *p = &e->path.steps[step];

  return (p->kind == PAI__STEP_KEY || p->kind == PAI__STEP_TOKEN) &&
         len == p->len && memcmp(s, pai__path_key(&e->path, step), len) == 0;
}

static bool same_key(const pai__tree *a, pai__node m, const pai__tree *b,
                     pai__node n)
{
  size_t x, y;
  const char *s = pai__tree_str(a, m, &x), *t = pai__tree_str(b, n, &y);

  return x == y && memcmp(s, t, x) == 0;
}

/* Returns whether node m of the new text is what the steps from `step` on
 * create: nested collections of one entry, with the value in the last. */
static bool is_new(const pai__edit *e, const pai__tree *t, pai__node m,
                   size_t step)
{
  for (; step < e->path.len; step++) {
    bool mapping = pai__tree_type(t, m) == PAI__MAPPING;

    if ((!mapping && pai__tree_type(t, m) != PAI__SEQUENCE) ||
        pai__tree_count(t, m) != 1)
      return false;
    m = pai__tree_iter(t, m).next;
    if (!mapping)
      continue;
    if (!is_key(e, t, m, step))
      return false;
    m = pai__tree_value(t, m);
  }
  return pai__tree_same(t, m, e->value, 0);
}

/* Returns whether a key is written in mapping m rather than merged into it by
 * <<. */
static bool is_own(const pai__tree *t, pai__node m, pai__node key)
{
  pai__node child = pai__tree_written(t, m);

  while (child != PAI__NO_NODE && child < key && child < t->nodes[m].skip)
    child = t->nodes[child].skip;
  return child == key;
}

static bool is_as_asked(const pai__edit *e, pai__node n, const pai__tree *t,
                        pai__node m, size_t step);

/* Returns whether collection m of the new text is n with the change at
 * `step`. */
static bool are_items_as_asked(const pai__edit *e, pai__node n,
                               const pai__tree *t, pai__node m, size_t step)
{
  bool mapping = pai__tree_type(e->t, n) == PAI__MAPPING, found = false;
  bool gone = e->value == NULL && step + 1 == e->path.len;
  pai__tree_walk v = pai__tree_iter(e->t, n), w = pai__tree_iter(t, m);
  pai__node x, y;
  int64_t at = -1;

  if (!mapping && pai__path_item(&e->path, step, &at) == PAI__STEP_ITEM)
    at += at < 0 ? v.left : 0;
  else
    at = -1;
  for (; (x = pai__tree_next(&v)) != PAI__NO_NODE; at--) {
    bool here = mapping ? is_key(e, e->t, x, step) : at == 0;

    found = found || here;
    if (here && gone)
      continue;
    y = pai__tree_next(&w);
    if (y == PAI__NO_NODE)
      return false;
    if (mapping) {
      if (!same_key(e->t, x, t, y) || (here && !is_own(t, m, y)))
        return false;
      x = pai__tree_value(e->t, x);
      y = pai__tree_value(t, y);
    }
    if (here ? !is_as_asked(e, x, t, y, step + 1)
             : !pai__tree_same(e->t, x, t, y))
      return false;
  }
  if (!found && e->value != NULL) {
    y = pai__tree_next(&w);
    if (y == PAI__NO_NODE ||
        (mapping && (!is_key(e, t, y, step) || !is_own(t, m, y))) ||
        !is_new(e, t, mapping ? pai__tree_value(t, y) : y, step + 1))
      return false;
  }
  return pai__tree_next(&w) == PAI__NO_NODE;
}

/* Returns whether node m of the new text is n with the edit applied, from this
 * step on. */
static bool is_as_asked(const pai__edit *e, pai__node n, const pai__tree *t,
                        pai__node m, size_t step)
{
  int type = pai__tree_type(e->t, n);

  if (step == e->path.len || type == PAI__NULL)
    return is_new(e, t, m, step);
  if (type < PAI__SEQUENCE || pai__tree_type(t, m) != type)
    return false;
  return are_items_as_asked(e, n, t, m, step);
}

int pai__edit_check(const pai__edit *e, bool *good, pai_error **err)
{
  pai__tree *t = NULL;
  int rc = pai__read_back(&t, e->t, e->out, e->base, err);

  *good = t != NULL && is_as_asked(e, 0, t, 0, 0);
  if (*good && e->made != NULL)
    *e->made = t;
  else
    pai__tree_free(t);
  return rc;
}

/* Returns the first alias that shares a part of nodes [from, to), or
 * PAI__NO_NODE. */
static pai__node find_sharer(const pai__tree *t, pai__node from, pai__node to)
{
  for (pai__node n = 0; n < t->count; n++)
    if (t->nodes[n].type == PAI__ALIAS && t->nodes[n].u.target < to &&
        t->nodes[t->nodes[n].u.target].skip > from && (n < from || n >= to))
      return n;
  return PAI__NO_NODE;
}

int pai__edit_explain(const pai__edit *e, pai_error **err)
{
  pai__node n = find_sharer(e->t, e->key != PAI__NO_NODE ? e->key : e->node,
                            e->t->nodes[e->node].skip);
  int rc;

  if (n != PAI__NO_NODE) {
    rc = pai__edit_fail(
      e, PAI_ENOTSUP, e->node, err,
      "cannot be changed alone: the alias at line %u shares the value",
      (unsigned)pai__tree_where(e->t, n).line);
    pai__error_help(err, "replace the alias with its value first");
    return rc;
  }
  rc = pai__edit_fail(e, PAI_ENOTSUP, e->node, err,
                      "cannot be changed without changing another place");
  pai__error_help(err, "format the file first, or change it by hand");
  return rc;
}
