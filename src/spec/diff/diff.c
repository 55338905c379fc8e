/*
 * diff.c - compares two specs by their meaning
 *
 * Both trees are walked together.  A field that only one spec has is compared
 * with the meaning of its absence (values.c).  Prerequisites and deployments
 * are matched by name, other lists by a longest common subsequence, and
 * commands by lines.
 */
#include "spec/diff/diff.h"

#include "spec/scan/index.h"
#include "spec/spec.h"
#include "spec/template/template.h"

#include <stdlib.h>

enum { BUDGET = 1 << 24 }; /* cells of all tables; about 50 ms */

typedef struct side {
  const pai_spec *spec;
  const pai__tree *tree;
  pai__secrets secrets;
  pai__index index;
  const pai__role **by_node; /* sorted, for role_at() */
  const pai__role *role;     /* the role that is compared, or NULL */
} side;

typedef struct differ {
  const pai_alloc *alloc;
  side a, b;
  pai__teller tell;
  size_t budget;
} differ;

static void compare(differ *d, const pai__site_field *field, pai__node a,
                    pai__node b);

/* --- mappings ----------------------------------------------------------- */

static void compare_entry(differ *d, enum pai__spec_site site, const char *key,
                          size_t len, pai__node a, pai__node b)
{
  pai__site_field field = pai__site_below(site, key);
  size_t before = pai__tell_key(&d->tell, key, len);

  compare(d, &field, a, b);
  pai__tell_up(&d->tell, before);
}

/* Either mapping may be PAI__NO_NODE, which counts as empty. */
static void compare_mappings(differ *d, enum pai__spec_site site, pai__node a,
                             pai__node b)
{
  pai__tree_walk walk = { .left = 0 };
  pai__node key, found;
  const char *s;
  size_t len;

  if (a != PAI__NO_NODE)
    walk = pai__tree_iter(d->a.tree, a);
  while (d->tell.rc == PAI_OK &&
         (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    s = pai__tree_str(d->a.tree, key, &len);
    if (b == PAI__NO_NODE ||
        pai__tree_find(d->b.tree, b, s, len) == PAI__NO_NODE)
      compare_entry(d, site, s, len, pai__tree_value(d->a.tree, key),
                    PAI__NO_NODE);
  }
  walk = (pai__tree_walk){ .left = 0 };
  if (b != PAI__NO_NODE)
    walk = pai__tree_iter(d->b.tree, b);
  while (d->tell.rc == PAI_OK &&
         (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    s = pai__tree_str(d->b.tree, key, &len);
    found = PAI__NO_NODE;
    if (a != PAI__NO_NODE)
      found = pai__tree_find(d->a.tree, a, s, len);
    if (found != PAI__NO_NODE)
      found = pai__tree_value(d->a.tree, found);
    compare_entry(d, site, s, len, found, pai__tree_value(d->b.tree, key));
  }
}

/* --- roles -------------------------------------------------------------- */

static int by_node(const void *x, const void *y)
{
  const pai__role *a = *(const pai__role *const *)x;
  const pai__role *b = *(const pai__role *const *)y;

  return (a->node > b->node) - (a->node < b->node);
}

static const pai__role *role_at(const side *s, pai__node node)
{
  const pai__role wanted = { .node = node }, *key = &wanted;
  const pai__role *const *found;

  if (node == PAI__NO_NODE)
    return NULL;
  found =
    bsearch(&key, s->by_node, s->spec->nroles, sizeof(*s->by_node), by_node);
  return found != NULL ? *found : NULL;
}

static void tell_move(differ *d, const pai__role *from, const pai__role *to)
{
  size_t before = pai__tell_key(&d->tell, from->name, strlen(from->name));

  pai__tell_move(&d->tell, (size_t)(from - d->a.spec->roles),
                 (size_t)(to - d->b.spec->roles));
  pai__tell_up(&d->tell, before);
}

/* Reports the roles of both specs that changed their order: the fewest that
 * explain the new order. */
static void compare_order(differ *d, pai__node roles)
{
  const pai_spec *spec = d->a.spec;
  size_t n = spec->nroles, common = 0;
  uint32_t *from = pai__realloc(d->alloc, NULL, 0, n, sizeof(*from));
  uint32_t *to = pai__realloc(d->alloc, NULL, 0, n, sizeof(*to));
  bool *keep = pai__realloc(d->alloc, NULL, 0, n, sizeof(*keep));

  if (from == NULL || to == NULL || keep == NULL) {
    pai__tell_rc(&d->tell, PAI_ENOMEM);
  } else {
    for (size_t i = 0; i < n; i++) {
      const pai__role *role =
        role_at(&d->b, pai__tree_get(d->b.tree, roles, spec->roles[i].name));
      if (role == NULL)
        continue;
      from[common] = (uint32_t)i;
      to[common++] = (uint32_t)(role - d->b.spec->roles);
    }
    pai__tell_rc(&d->tell, pai__longest_rise(d->alloc, to, common, keep));
    for (size_t i = 0; d->tell.rc == PAI_OK && i < common; i++)
      if (!keep[i])
        tell_move(d, &spec->roles[from[i]], &d->b.spec->roles[to[i]]);
  }
  pai__free(d->alloc, from, n * sizeof(*from));
  pai__free(d->alloc, to, n * sizeof(*to));
  pai__free(d->alloc, keep, n * sizeof(*keep));
}

/* --- lists -------------------------------------------------------------- */

/* Returns the item of the same name in the other spec, or PAI__NO_NODE. */
static pai__node find_named(const side *other, const pai__tree *t,
                            pai__node item, enum pai__spec_site site)
{
  size_t len;
  const char *name = pai__text_at(t, pai__tree_get(t, item, "name"), &len);
  const char *type = "deployment";
  size_t type_len;

  if (site == PAI__SITE_PREREQUISITES)
    type = pai__text_at(t, pai__tree_get(t, item, "type"), &type_len);
  return name != NULL && type != NULL
           ? pai__index_find(&other->index, type, name, len)
           : PAI__NO_NODE;
}

/* Compares items by name, in any order. */
static void compare_named(differ *d, enum pai__spec_site site, pai__node a,
                          pai__node b)
{
  pai__site_field field = pai__site_below(site, NULL);
  pai__tree_walk walk = pai__tree_iter(d->a.tree, a);
  pai__node item;
  size_t before;

  for (uint32_t i = 0;
       d->tell.rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE;
       i++) {
    if (find_named(&d->b, d->a.tree, item, site) != PAI__NO_NODE)
      continue;
    before = pai__tell_item(&d->tell, i);
    compare(d, &field, item, PAI__NO_NODE);
    pai__tell_up(&d->tell, before);
  }
  walk = pai__tree_iter(d->b.tree, b);
  for (uint32_t i = 0;
       d->tell.rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE;
       i++) {
    before = pai__tell_item(&d->tell, i);
    compare(d, &field, find_named(&d->a, d->b.tree, item, site), item);
    pai__tell_up(&d->tell, before);
  }
}

static void add_lines(differ *d, pai__pieces *out, pai__spec_piece item)
{
  size_t len;
  const char *s = pai__tree_str(item.tree, item.node, &len), *end;

  pai__template_trim(&s, &len); /* as commands are trimmed before they run */
  for (;; s = end + 1) {
    end = memchr(s, '\n', len);
    item.s = s;
    item.len = end != NULL ? (size_t)(end - s) : len;
    pai__tell_rc(&d->tell, pai__pieces_add(out, item));
    if (end == NULL)
      return;
    len -= item.len + 1;
  }
}

static void add_pieces(differ *d, pai__pieces *out, const side *s,
                       pai__node list, bool lines)
{
  pai__tree_walk walk = pai__tree_iter(s->tree, list);
  pai__spec_piece item = { .tree = s->tree };

  out->alloc = d->alloc;
  for (; d->tell.rc == PAI_OK &&
         (item.node = pai__tree_next(&walk)) != PAI__NO_NODE;
       item.index++)
    if (lines)
      add_lines(d, out, item);
    else
      pai__tell_rc(&d->tell, pai__pieces_add(out, item));
}

/* Compares two pieces of the same gap, or a piece and nothing. */
static void compare_pieces(differ *d, enum pai__spec_site site,
                           const pai__spec_piece *a, const pai__spec_piece *b)
{
  pai__site_field field = pai__site_below(site, NULL);
  const pai__spec_piece *there = b != NULL ? b : a;
  size_t before = pai__tell_item(&d->tell, there != NULL ? there->index : 0);

  if (site == PAI__SITE_LINES)
    pai__tell_lines(&d->tell, &d->a.secrets, a, &d->b.secrets, b);
  else
    compare(d, &field, a != NULL ? a->node : PAI__NO_NODE,
            b != NULL ? b->node : PAI__NO_NODE);
  pai__tell_up(&d->tell, before);
}

static void compare_gaps(differ *d, enum pai__spec_site site,
                         const pai__pieces *p, const pai__pieces *q)
{
  size_t i = 0, j = 0;

  while (d->tell.rc == PAI_OK && (i < p->len || j < q->len)) {
    bool in_gap = i < p->len && p->list[i].mate == 0;
    bool in_other = j < q->len && q->list[j].mate == 0;

    if (in_gap || in_other)
      compare_pieces(d, site, in_gap ? &p->list[i] : NULL,
                     in_other ? &q->list[j] : NULL);
    i += in_gap || !in_other;
    j += in_other || !in_gap;
  }
}

static void compare_lists(differ *d, enum pai__spec_site site, pai__node a,
                          pai__node b)
{
  pai__pieces p = { .len = 0 }, q = { .len = 0 };

  add_pieces(d, &p, &d->a, a, site == PAI__SITE_LINES);
  add_pieces(d, &q, &d->b, b, site == PAI__SITE_LINES);
  if (d->tell.rc == PAI_OK)
    pai__tell_rc(&d->tell, pai__pieces_match(&p, &q, &d->budget));
  compare_gaps(d, site, &p, &q);
  pai__pieces_dispose(&p);
  pai__pieces_dispose(&q);
}

/* --- values ------------------------------------------------------------- */

static void compare_collections(differ *d, enum pai__spec_site site,
                                pai__node a, pai__node b)
{
  if (site == PAI__SITE_ROLE) {
    d->a.role = role_at(&d->a, a);
    d->b.role = role_at(&d->b, b);
  }
  if (pai__tree_type(d->a.tree, a) == PAI__MAPPING) {
    compare_mappings(d, site, a, b);
    if (site == PAI__SITE_ROLES && d->tell.rc == PAI_OK)
      compare_order(d, b);
  } else if (site == PAI__SITE_PREREQUISITES ||
             site == PAI__SITE_DEPLOYMENTS) {
    compare_named(d, site, a, b);
  } else {
    compare_lists(d, site, a, b);
  }
}

static void tell_values(differ *d, pai__node a, pai__node b)
{
  pai__tell_values(&d->tell, &d->a.secrets, a, &d->b.secrets, b);
}

/* Compares a value that only one spec has with its default. */
static void compare_one(differ *d, const pai__site_field *field, pai__node a,
                        pai__node b)
{
  bool in_a = a != PAI__NO_NODE;
  const side *has = in_a ? &d->a : &d->b, *lacks = in_a ? &d->b : &d->a;
  pai__node n = in_a ? a : b;

  if (pai__site_is_default(field, has->tree, n,
                           lacks->role != NULL ? lacks->role->instances : 0))
    return;
  if (field->absence == PAI__ABSENT_EMPTY &&
      field->site != PAI__SITE_SECRETS &&
      pai__tree_type(has->tree, n) == PAI__MAPPING)
    compare_mappings(d, field->site, a, b);
  else
    tell_values(d, a, b);
}

static void compare(differ *d, const pai__site_field *field, pai__node a,
                    pai__node b)
{
  int type;

  a = pai__site_counted(field, d->a.tree, a);
  b = pai__site_counted(field, d->b.tree, b);
  if (field->site == PAI__SITE_PROTOCOL ||
      (a == PAI__NO_NODE && b == PAI__NO_NODE))
    return;
  if (field->absence == PAI__ABSENT_TRUE ||
      field->absence == PAI__ABSENT_FALSE) {
    if (pai__site_is_on(field, d->a.tree, a) !=
        pai__site_is_on(field, d->b.tree, b))
      tell_values(d, a, b);
    return;
  }
  if (a == PAI__NO_NODE || b == PAI__NO_NODE) {
    compare_one(d, field, a, b);
    return;
  }
  type = pai__tree_type(d->a.tree, a);
  if (type >= PAI__SEQUENCE && type == pai__tree_type(d->b.tree, b) &&
      field->site != PAI__SITE_SECRETS)
    compare_collections(d, field->site, a, b);
  else if (!pai__value_same(d->a.tree, a, d->b.tree, b))
    tell_values(d, a, b);
}

/* --- the call ----------------------------------------------------------- */

/* Dispose of the side also after a failure. */
static int side_init(side *s, const pai_spec *spec, const pai_alloc *alloc)
{
  s->spec = spec;
  s->tree = spec->tree;
  s->by_node = pai__realloc(alloc, NULL, 0, spec->nroles, sizeof(*s->by_node));
  if (s->by_node == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < spec->nroles; i++)
    s->by_node[i] = &spec->roles[i];
  qsort(s->by_node, spec->nroles, sizeof(*s->by_node), by_node);
  if (pai__secrets_find(&s->secrets, s->tree) < 0)
    return PAI_ENOMEM;
  return pai__index_init(&s->index, s->tree, alloc, NULL, NULL);
}

static void side_dispose(side *s, const pai_alloc *alloc)
{
  pai__index_dispose(&s->index);
  pai__secrets_dispose(&s->secrets);
  if (s->by_node != NULL)
    pai__free(alloc, s->by_node, s->spec->nroles * sizeof(*s->by_node));
}

int pai_spec_diff(const pai_spec *a, const pai_spec *b, pai_spec_diff_cb cb,
                  void *user_data, pai_error **err)
{
  differ d = { .budget = BUDGET };
  int rc;

  PAI__CHECK_ARG_ERR(a != NULL, err);
  PAI__CHECK_ARG_ERR(b != NULL, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  d.alloc = &a->alloc;
  pai__teller_init(&d.tell, d.alloc, cb, user_data);
  pai__tell_rc(&d.tell, side_init(&d.a, a, d.alloc));
  pai__tell_rc(&d.tell, side_init(&d.b, b, d.alloc));
  if (d.tell.rc == PAI_OK)
    compare_mappings(&d, PAI__SITE_ROOT, 0, 0);
  rc = d.tell.rc;
  side_dispose(&d.a, d.alloc);
  side_dispose(&d.b, d.alloc);
  pai__teller_dispose(&d.tell);
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  return rc < 0 ? pai__fail(err, rc, "the difference is not complete")
                : d.tell.count;
}
