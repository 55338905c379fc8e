/* edit_find.c - follows a path to the nodes of a text */
#include "spec/edit/edit_parts.h"
#include "base/text/utf8.h"

/* --- errors ------------------------------------------------------------- */

static void put_place(const pai__edit *e, pai__buf *out)
{
  char text[PAI__EXCERPT];

  if (e->step == 0)
    pai__buf_str(out, "the document");
  else
    pai__buf_printf(
      out, "'%s'",
      pai__excerpt(text, e->path.text, e->path.steps[e->step - 1].end));
}

int pai__edit_fail(const pai__edit *e, int code, pai__node n, pai_error **err,
                   const char *what, ...)
{
  pai__buf text, pointer;
  va_list ap;
  int rc;

  pai__buf_init(&text, &e->t->alloc);
  pai__buf_init(&pointer, &e->t->alloc);
  put_place(e, &text);
  pai__buf_char(&text, ' ');
  va_start(ap, what);
  pai__buf_vprintf(&text, what, ap);
  va_end(ap);
  pai__tree_pointer(e->t, n, &pointer);
  if (pai__buf_ok(&text) && pai__buf_ok(&pointer)) {
    rc = pai__fail_at(err, code, pai__tree_where(e->t, n), "%s",
                      pai__buf_text(&text));
    pai__error_pointer(err, pai__buf_text(&pointer));
  } else {
    rc = pai__oom(err);
  }
  pai__buf_dispose(&text);
  pai__buf_dispose(&pointer);
  return rc;
}

int pai__edit_fail_step(const pai__edit *e, int code, pai_error **err)
{
  static const char *const names[] = {
    [PAI__NULL] = "null",        [PAI__BOOL] = "true or false",
    [PAI__INT] = "a number",     [PAI__FLOAT] = "a number",
    [PAI__STRING] = "text",      [PAI__TIMESTAMP] = "a date",
    [PAI__BINARY] = "bytes",     [PAI__SEQUENCE] = "a list",
    [PAI__MAPPING] = "a mapping"
  };
  const pai__spec_step *s = &e->path.steps[e->step];
  size_t from = e->step > 0 ? s[-1].end : 0;
  int type = pai__tree_type(e->t, e->node);
  char rest[PAI__EXCERPT];

  if (e->path.text[from] == '.' || e->path.text[from] == '/')
    from++;
  (void)pai__excerpt(rest, e->path.text + from, s->end - from);
  if (type < PAI__SEQUENCE)
    return pai__edit_fail(e, code, e->node, err, "is %s: it has no '%s'",
                          names[type], rest);
  return pai__edit_fail(e, code, e->node, err, "is %s of %u: it has no '%s'",
                        names[type], (unsigned)pai__tree_count(e->t, e->node),
                        rest);
}

/* Fails because the place is shared by several places. */
static int fail_shared(const pai__edit *e, pai__node from, const char *what,
                       pai_error **err)
{
  int rc = pai__edit_fail(e, PAI_ENOTSUP, e->node, err, "%s", what);

  pai__error_help(err, "change it at line %u, or copy the value here first",
                  (unsigned)pai__tree_where(e->t, from).line);
  return rc;
}

/* --- one step ----------------------------------------------------------- */

/* Moves to a child.  Returns false if the child is not written in e->node. */
static bool enter(pai__edit *e, pai__node child)
{
  const pai__tree_node *nodes = e->t->nodes;
  pai__node n = pai__tree_written(e->t, e->node), key = PAI__NO_NODE;
  pai__node before = PAI__NO_NODE, before_key = PAI__NO_NODE;

  for (; n < nodes[e->node].skip && n != child; n = nodes[n].skip) {
    if ((nodes[n].flags & PAI__IS_KEY) != 0) {
      key = n;
      continue;
    }
    before = n;
    before_key = key;
  }
  if (n != child)
    return false;
  e->parent = e->node;
  e->node = child;
  e->key = key;
  e->before = before;
  e->before_key = before_key;
  e->in_flow = (nodes[e->parent].flags & PAI__STYLE) == PAI__FLOW;
  e->step++;
  return true;
}

/* *there says whether the item exists. */
static int step_into_list(pai__edit *e, bool *there, pai_error **err)
{
  int64_t count = pai__tree_count(e->t, e->node), index;
  pai__step_kind kind = pai__path_item(&e->path, e->step, &index);
  pai__tree_walk w = pai__tree_iter(e->t, e->node);
  pai__node item = PAI__NO_NODE;

  *there = false;
  if (kind == PAI__STEP_APPEND) { /* "-" means a new item here */
    e->path.steps[e->step].kind = kind;
    return PAI_OK;
  }
  if (kind != PAI__STEP_ITEM)
    return pai__edit_fail_step(e, PAI_EINVAL, err);
  if (index < 0)
    index += count;
  if (index < 0 || index >= count)
    return pai__edit_fail_step(e, PAI_ENOTFOUND, err);
  for (; index >= 0; index--)
    item = pai__tree_next(&w);
  *there = enter(e, item);
  return PAI_OK;
}

static int step_into_mapping(pai__edit *e, bool *there, pai_error **err)
{
  const pai__spec_step *s = &e->path.steps[e->step];
  pai__node key;

  *there = false;
  if (s->kind != PAI__STEP_KEY && s->kind != PAI__STEP_TOKEN)
    return pai__edit_fail_step(e, PAI_EINVAL, err);
  key =
    pai__tree_find(e->t, e->node, pai__path_key(&e->path, e->step), s->len);
  if (key == PAI__NO_NODE)
    return PAI_OK;
  *there = enter(e, pai__tree_value(e->t, key));
  if (*there || (e->value != NULL && e->step + 1 == e->path.len))
    return PAI_OK; /* an own key takes precedence over a merged one */
  return fail_shared(e, key,
                     "gets this from a merge key: a change would affect all "
                     "places that merge it",
                     err);
}

int pai__edit_find(pai__edit *e, pai_error **err)
{
  bool there = true;
  int rc = PAI_OK;

  while (there && rc == PAI_OK && e->step < e->path.len) {
    switch (e->t->nodes[e->node].type) {
    case PAI__MAPPING: rc = step_into_mapping(e, &there, err); break;
    case PAI__SEQUENCE: rc = step_into_list(e, &there, err); break;
    case PAI__NULL: there = false; break;
    case PAI__ALIAS:
      rc = fail_shared(
        e, e->t->nodes[e->node].u.target,
        "is an alias here: a change would affect all places that share it",
        err);
      break;
    default: rc = pai__edit_fail_step(e, PAI_EINVAL, err); break;
    }
  }
  /* An index cannot be created below a missing step. */
  for (size_t i = e->step + (e->t->nodes[e->node].type != PAI__NULL);
       rc == PAI_OK && e->value != NULL && i < e->path.len; i++) {
    if (e->path.steps[i].kind != PAI__STEP_ITEM)
      continue;
    rc = pai__fail(err, PAI_ENOTFOUND, "nothing exists yet at '%.*s'",
                   (int)e->path.steps[i].end, e->path.text);
    pai__error_help(err, "a new list begins with [+]");
  }
  return rc;
}
