/* at.c - finds the place at a position of a text, and the range of a place */
#include "spec/edit/at.h"

#include "spec/edit/gap.h"
#include "spec/read.h"

struct pai_spec_place {
  pai_alloc alloc;
  pai__buf pointer;
  pai_place_view view;
};

static pai_text_range range_of(const pai__tree *t, size_t start, size_t end)
{
  pai__pos from = pai__tree_pos(t, start), to = pai__tree_pos(t, end);

  return (pai_text_range){ from.line, from.column, to.line, to.column };
}

/* Returns the key of a value in the text, or PAI__NO_NODE. */
static pai__node key_of(const pai__tree *t, pai__node value)
{
  for (pai__node n = value; n > 0 && n + 2 > value; n--)
    if ((t->nodes[n - 1].flags & PAI__IS_KEY) != 0 &&
        t->nodes[n - 1].skip == value)
      return n - 1;
  return PAI__NO_NODE;
}

/* Sets the ranges of a place. */
static void set_spans(pai__spec_scan *p, const pai__tree *t, pai__node key,
                      pai__node value)
{
  const pai__tree_node *v = &t->nodes[value];

  if (key != PAI__NO_NODE) {
    p->key = t->nodes[key].start;
    p->key_end = t->nodes[key].end;
  }
  if (v->start < v->end) {
    p->value = v->start;
    p->value_end = v->end;
  }
}

/* --- in a document ------------------------------------------------------ */

static bool is_leaf(const pai__tree_node *n)
{
  return (n->type < PAI__SEQUENCE || n->type == PAI__ALIAS) &&
         n->start < n->end;
}

/* Returns the key or value that contains a byte or ends there, or
 * PAI__NO_NODE. */
static pai__node find_leaf(const pai__tree *t, size_t at)
{
  pai__node before = PAI__NO_NODE;

  for (pai__node n = 0; n < t->count; n++) {
    const pai__tree_node *x = &t->nodes[n];

    if (x->start > at)
      break;
    if (!is_leaf(x))
      continue;
    if (at < x->end)
      return n;
    if (at == x->end && before == PAI__NO_NODE &&
        strchr("\r\n", t->text[at - 1]) == NULL)
      before = n;
  }
  return before;
}

/* Returns the innermost collection that contains a byte. */
static pai__node find_around(const pai__tree *t, size_t at)
{
  pai__node found = 0;

  for (pai__node n = 0; n < t->count && t->nodes[n].start <= at; n++)
    if (!is_leaf(&t->nodes[n]) && t->nodes[n].type >= PAI__SEQUENCE &&
        at <= t->nodes[n].end)
      found = n;
  return found;
}

/* Returns whether a scalar may become a key: a word on a line of its own. */
static bool may_be_key(const pai__tree *t, pai__node n)
{
  const pai__tree_node *x = &t->nodes[n];
  pai__node around = find_around(t, x->start);
  size_t back = pai__gap_back(t, x->start);

  if (t->syntax != PAI__SYNTAX_YAML || x->type == PAI__ALIAS ||
      (x->flags & PAI__STYLE) != PAI__PLAIN ||
      pai__gap_eol(t, x->start) < x->end ||
      (around != n && (t->nodes[around].flags & PAI__STYLE) == PAI__FLOW))
    return false;
  return pai__gap_leads(t, x->start) ||
         (t->text[back - 1] == '-' && pai__gap_leads(t, back - 1));
}

static void tell_leaf(pai__spec_scan *p, const pai__tree *t, pai__node n)
{
  bool is_key = (t->nodes[n].flags & PAI__IS_KEY) != 0;
  pai__node value = is_key ? pai__tree_value(t, n) : n;

  p->on = is_key ? PAI_ON_KEY : PAI_ON_VALUE;
  p->may = is_key ? PAI_MAY_KEY : PAI_MAY_VALUE;
  if (!is_key && may_be_key(t, n))
    p->may |= PAI_MAY_KEY;
  pai__tree_pointer(t, n, &p->pointer);
  set_spans(p, t, is_key ? n : key_of(t, n), value);
}

/* Returns which of `may` are still possible where node n is already. */
static unsigned still_may(const pai__tree *t, pai__node n, unsigned may,
                          size_t at)
{
  const pai__tree_node *x = &t->nodes[n];
  bool block =
    t->syntax == PAI__SYNTAX_YAML && (x->flags & PAI__STYLE) != PAI__FLOW;

  if (x->type == PAI__NULL && x->start == x->end)
    return may;
  if (block && pai__tree_pos(t, at).column != pai__tree_where(t, n).column)
    return 0;
  if (x->type == PAI__MAPPING && (may & PAI_MAY_VALUE) == 0)
    return may; /* an item may follow in the list that the mapping ends with */
  return x->type == PAI__MAPPING    ? may & PAI_MAY_KEY
         : x->type == PAI__SEQUENCE ? may & PAI_MAY_ITEM
                                    : 0;
}

static bool is_block_scalar(const pai__tree_node *n)
{
  int style = n->flags & PAI__STYLE;

  return is_leaf(n) && n->type != PAI__ALIAS &&
         (style == PAI__LITERAL || style == PAI__FOLDED);
}

/* --- at a position ------------------------------------------------------ */

/* Describes a place between keys and values, where the scan found `may`. */
static void tell_gap(pai__spec_scan *p, const pai__tree *t, size_t at)
{
  pai__node n = pai__tree_resolve(t, pai__buf_text(&p->pointer));

  p->may = n != PAI__NO_NODE ? still_may(t, n, p->may, at) : 0;
  if (p->on == PAI_ON_VALUE && n != PAI__NO_NODE &&
      is_block_scalar(&t->nodes[n])) /* an empty line at its end */
    p->may = PAI_MAY_VALUE;
  else
    p->on = PAI_ON_SPACE;
  if (n == PAI__NO_NODE)
    n = find_around(t, at);
  pai__buf_clear(&p->pointer);
  p->key = p->key_end = p->value = p->value_end = 0;
  pai__tree_pointer(t, n, &p->pointer);
  set_spans(p, t, key_of(t, n), n);
}

int pai__place_at(pai__spec_scan *out, const pai__tree *t, size_t at)
{
  pai__node n = find_leaf(t, at);
  int rc;

  if (n == PAI__NO_NODE) {
    rc = pai__scan_at(out, t, at);
    if (rc == PAI_OK && t->count > 0)
      tell_gap(out, t, at);
  } else {
    *out = (pai__spec_scan){ 0 };
    pai__buf_init(&out->pointer, &t->alloc);
    tell_leaf(out, t, n);
    rc = PAI_OK;
  }
  return rc == PAI_OK && !pai__buf_ok(&out->pointer) ? PAI_ENOMEM : rc;
}

static int tell(pai_spec_place *p, const pai__tree *t, uint32_t line,
                uint32_t column, pai_error **err)
{
  size_t at = pai__tree_offset(t, (pai__pos){ line, column });
  pai__pos there = pai__tree_pos(t, at);
  pai__spec_scan place;
  int rc;

  if (there.line != line || there.column != column)
    return pai__fail(err, PAI_ENOTFOUND,
                     "the text has no line %u with a column %u",
                     (unsigned)line, (unsigned)column);
  rc = pai__place_at(&place, t, at);
  if (rc == PAI_OK) {
    p->view.on = place.on;
    p->view.may = place.may;
    if (place.key < place.key_end)
      p->view.key = range_of(t, place.key, place.key_end);
    if (place.value < place.value_end)
      p->view.value = range_of(t, place.value, place.value_end);
    pai__buf_add(&p->pointer, pai__buf_text(&place.pointer),
                 place.pointer.len);
  }
  pai__buf_dispose(&place.pointer);
  return rc;
}

/* --- the calls ---------------------------------------------------------- */

static pai_spec_place *place_new(const pai_alloc *alloc)
{
  pai_spec_place *p = pai__zalloc(alloc, sizeof(*p));

  if (p == NULL)
    return NULL;
  p->alloc = *alloc;
  pai__buf_init(&p->pointer, &p->alloc);
  return p;
}

/* Parses a text.  With `any`, a text that cannot be parsed gives a tree
 * without nodes. */
static int read_text(pai__tree **t, const char *text, size_t len,
                     const pai_spec_options *o, bool any, pai_error **err)
{
  pai_error *why = NULL;
  int version, rc = pai__spec_tree(t, &version, NULL, text, len, o, &why);

  if (rc == PAI_EINVAL)
    rc = pai__spec_tree_again(t, &version, text, len, o);
  if (any && rc < 0 && rc != PAI_ENOMEM && len <= o->max_bytes) {
    rc = pai__tree_new(t, o->alloc, text, len, NULL);
    if (rc == PAI_OK)
      (*t)->syntax =
        pai__spec_braced(text, len) ? PAI__SYNTAX_JSON : PAI__SYNTAX_YAML;
  }
  if (rc == PAI_ENOMEM) {
    rc = pai__oom(err);
  } else if (rc < 0 && err != NULL) {
    *err = why;
    why = NULL;
  }
  pai_error_free(why);
  return rc;
}

static int finish(pai_spec_place **out, pai_spec_place *p, int rc,
                  pai_error **err)
{
  if (rc == PAI_OK && !pai__buf_ok(&p->pointer))
    rc = PAI_ENOMEM;
  if (rc == PAI_ENOMEM && (err == NULL || *err == NULL))
    rc = pai__oom(err);
  if (rc < 0) {
    pai_spec_place_free(p);
    return rc;
  }
  p->view.pointer = pai__buf_text(&p->pointer);
  *out = p;
  return PAI_OK;
}

int pai_spec_at(pai_spec_place **out, const char *text, size_t len,
                uint32_t line, uint32_t column, const pai_spec_options *opts,
                pai_error **err)
{
  pai_spec_place *p;
  pai_spec_options o;
  pai__tree *t = NULL;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  rc = pai__spec_options(&o, opts, err);
  if (rc < 0)
    return rc;
  p = place_new(o.alloc);
  if (p == NULL)
    return pai__oom(err);
  rc = read_text(&t, text, len, &o, true, err);
  if (rc == PAI_OK) {
    p->view.valid = t->count > 0;
    rc = tell(p, t, line, column, err);
  }
  pai__tree_free(t);
  return finish(out, p, rc, err);
}

int pai_spec_range(pai_spec_place **out, const char *text, size_t len,
                   const char *pointer, const pai_spec_options *opts,
                   pai_error **err)
{
  pai_spec_place *p;
  pai_spec_options o;
  pai__tree *t = NULL;
  pai__node n;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  PAI__CHECK_ARG_ERR(pointer != NULL, err);
  rc = pai__spec_options(&o, opts, err);
  if (rc < 0)
    return rc;
  p = place_new(o.alloc);
  if (p == NULL)
    return pai__oom(err);
  rc = read_text(&t, text, len, &o, false, err);
  if (rc == PAI_OK) {
    n = pai__tree_resolve(t, pointer);
    if (n == PAI__NO_NODE) {
      rc = pai__fail(err, PAI_ENOTFOUND, "nothing exists at '%s'", pointer);
    } else {
      pai__node key = key_of(t, n);

      pai__buf_str(&p->pointer, pointer);
      p->view.on = PAI_ON_VALUE;
      p->view.valid = 1;
      if (key != PAI__NO_NODE)
        p->view.key = range_of(t, t->nodes[key].start, t->nodes[key].end);
      if (t->nodes[n].start < t->nodes[n].end)
        p->view.value = range_of(t, t->nodes[n].start, t->nodes[n].end);
    }
  }
  pai__tree_free(t);
  return finish(out, p, rc, err);
}

int pai_spec_view_place(const pai_spec_place *place, pai_place_view *view)
{
  PAI__CHECK_ARG(place != NULL && view != NULL);
  return PAI__FILL_VIEW(view, place->view, pai_place_view, valid);
}

void pai_spec_place_free(pai_spec_place *place)
{
  pai_alloc alloc;

  if (place == NULL)
    return;
  alloc = place->alloc;
  pai__buf_dispose(&place->pointer);
  pai__free(&alloc, place, sizeof(*place));
}
