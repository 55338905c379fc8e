/* names.c - finds all names of a job file, by its rules */
#include "language/facts/parts.h"

enum { LONGEST_TYPE = 256 }; /* that is split */

typedef struct walker {
  const pai__facts *f;
  const pai__facts_visitor *to;
  const char *role; /* whose mapping is walked, or NULL */
  size_t role_len;
} walker;

static int walk(walker *w, const pai__spec_rule *rule, pai__node n,
                pai__node in);

/* --- names in texts ---------------------------------------------------------- */

static int tell(const walker *w, pai__facts_name *name)
{
  name->name = w->f->text + name->span.start;
  name->len = name->span.end - name->span.start;
  return name->len > 0 ? w->to->on_name(w->to->user_data, name) : PAI_OK;
}

static int in_tag(const walker *w, const pai__facts_tag *tag)
{
  static const struct {
    const char *root;
    enum pai__spec_names kind;
  } roots[] = { { "$parameters", PAI__NAMES_PARAMETER },
                { "$secrets", PAI__NAMES_SECRET } };
  pai__facts_name name = { .in_text = true };
  pai__span root;

  pai__facts_tag_split(w->f, tag, &root, &name.span);
  for (size_t i = 0; i < PAI__LEN(roots); i++)
    if (strlen(roots[i].root) == root.end - root.start &&
        memcmp(w->f->text + root.start, roots[i].root,
               root.end - root.start) == 0) {
      name.kind = roots[i].kind;
      return tell(w, &name);
    }
  return PAI_OK;
}

static int in_variable(const walker *w, const pai__facts_variable *v)
{
  const pai__variable_part *role = &v->parts.part[PAI__VARIABLE_ROLE];
  const pai__variable_part *label = &v->parts.part[PAI__VARIABLE_LABEL];
  pai__facts_name name = { .in_text = true };
  int rc = PAI_OK;

  if (v->is == NULL)
    return rc;
  if (role->len > 0) {
    name.kind = PAI__NAMES_ROLE;
    name.span.start = v->span.start + role->at;
    name.span.end = name.span.start + role->len;
    rc = tell(w, &name);
  }
  if (rc == PAI_OK && label->len > 0) {
    name.kind = PAI__NAMES_PORT;
    name.role =
      role->len > 0 ? w->f->text + v->span.start + role->at : w->role;
    name.role_len = role->len > 0 ? role->len : w->role_len;
    name.span.start = v->span.start + label->at;
    name.span.end = name.span.start + label->len;
    rc = tell(w, &name);
  }
  return rc;
}

/* Names in tags are names wherever they are: plugins fill in more texts than
 * the rules know. */
static int visit_tags(const walker *w, pai__node n)
{
  const pai__tree_node *x = &w->f->tree->nodes[n];
  pai__span left = { x->start, x->end };
  pai__facts_tag tag;
  int rc = PAI_OK;

  while (rc == PAI_OK && w->f->job && w->f->version != 1 &&
         pai__facts_tag_next(w->f, left, &tag)) {
    rc = in_tag(w, &tag);
    left.start = tag.whole.end;
  }
  return rc;
}

static int visit_text(const walker *w, const pai__spec_rule *rule, pai__node n)
{
  const pai__tree_node *x = &w->f->tree->nodes[n];
  pai__facts_text text = {
    rule, n, { x->start, x->end }, w->role, w->role_len
  };
  pai__span left = text.span;
  pai__facts_variable variable;
  int rc = PAI_OK;

  if (w->to->on_text != NULL)
    rc = w->to->on_text(w->to->user_data, &text);
  if (rc == PAI_OK)
    rc = visit_tags(w, n);
  while (rc == PAI_OK && rule->templates == PAI__TEMPLATES_COMMAND &&
         pai__facts_variable_next(w->f, left, &variable)) {
    rc = in_variable(w, &variable);
    left.start = variable.span.end;
  }
  return rc;
}

/* --- names in the tree -------------------------------------------------------- */

/* Returns the length of the SKU's name in that of a type that is derived from
 * it: 3 of "dgx-numa". */
static size_t sku_length(const walker *w, const char *s, size_t len)
{
  const pai__tree *t = w->f->tree;
  pai__node skus = pai__tree_get(t, 0, "skus");

  if (len > LONGEST_TYPE || !pai__tree_is(t, skus, PAI__MAPPING))
    return len;
  for (size_t n = len; n > 0; n--)
    if ((n == len || s[n] == '-') &&
        pai__tree_find(t, skus, s, n) != PAI__NO_NODE)
      return n;
  return len;
}

/* Reports the types of CHAIN.TYPE. */
static int visit_path(const walker *w, pai__facts_name *name)
{
  const char *s = w->f->text;
  size_t at = name->span.start, end = name->span.end;
  int rc = PAI_OK;

  name->kind = PAI__NAMES_CELL_TYPE;
  for (; rc == PAI_OK && at < end; at++) {
    size_t from = at;

    while (at < end && s[at] != '.')
      at++;
    name->span.start = from;
    name->span.end = from + sku_length(w, s + from, at - from);
    rc = tell(w, name);
  }
  return rc;
}

/* Reports a key or value that is a name; `in` is the mapping around it. */
static int visit_name(const walker *w, enum pai__spec_names kind,
                      const pai__spec_rule *rule, pai__node n, pai__node in)
{
  pai__facts_name name = { .kind = kind,
                           .type = rule->name_type,
                           .declares = rule->declares };

  if (kind >= PAI__NAMES_VC || !pai__facts_inner(w->f, n, &name.span))
    return PAI_OK;
  if (kind == PAI__NAMES_CELL_PATH)
    return visit_path(w, &name);
  if (kind == PAI__NAMES_PREREQUISITE && rule->declares)
    name.type = pai__tree_look_text(w->f->tree, in, "type", NULL);
  if (kind == PAI__NAMES_PORT) {
    name.role = w->role;
    name.role_len = w->role_len;
  }
  return tell(w, &name);
}

static int visit_scalar(const walker *w, const pai__spec_rule *rule,
                        pai__node n, pai__node in)
{
  int rc = PAI_OK;

  if (w->f->tree->nodes[n].type != PAI__STRING)
    return rc;
  if (rule->names != PAI__NAMES_NOTHING)
    rc = visit_name(w, rule->names, rule, n, in);
  if (rc == PAI_OK)
    rc = rule->templates != PAI__TEMPLATES_NONE ? visit_text(w, rule, n)
                                                : visit_tags(w, n);
  return rc;
}

/* Remembers the role that a mapping belongs to, by the node of its name. */
static void enter_role(walker *w, pai__node name)
{
  if (pai__tree_is(w->f->tree, name, PAI__STRING))
    w->role = pai__tree_str(w->f->tree, name, &w->role_len);
}

/* Visits all texts of a place of which no rule is known. */
static int walk_unknown(const walker *w, pai__node from)
{
  const pai__tree *t = w->f->tree;
  int rc = PAI_OK;

  for (pai__node n = from; rc == PAI_OK && n < t->nodes[from].skip; n++)
    if (t->nodes[n].type == PAI__STRING)
      rc = visit_tags(w, n);
  return rc;
}

static int walk_mapping(walker *w, const pai__spec_rule *rule, pai__node n)
{
  const pai__tree *t = w->f->tree;
  walker outer = *w;
  int rc = PAI_OK;

  for (pai__node key = n + 1, value; rc == PAI_OK && key < t->nodes[n].skip;
       key = t->nodes[value].skip) {
    pai__spec_ruled below;
    size_t len;
    const char *s;

    value = t->nodes[key].skip;
    if ((t->nodes[key].flags & PAI__IS_MERGE) != 0) {
      rc = walk(w, rule, value, n);
      continue;
    }
    if (rule->key_names != PAI__NAMES_NOTHING)
      rc = visit_name(w, rule->key_names, rule, key, n);
    s = pai__tree_str(t, key, &len);
    below = pai__spec_rule_below(rule, t, n, s, len);
    if (rule->key_names == PAI__NAMES_ROLE)
      enter_role(w, key);
    if (rc == PAI_OK)
      rc = below.rule != NULL ? walk(w, below.rule, value, n)
                              : walk_unknown(w, value);
    *w = outer;
  }
  return rc;
}

static int walk_list(walker *w, const pai__spec_rule *rule, pai__node n)
{
  const pai__tree *t = w->f->tree;
  const pai__spec_rule *inside = pai__spec_rule_inside(rule, t, n);
  walker outer = *w;
  int rc = PAI_OK;

  if (inside == NULL || inside->values == NULL)
    return walk_unknown(w, n);
  for (pai__node item = n + 1; rc == PAI_OK && item < t->nodes[n].skip;
       item = t->nodes[item].skip) {
    if (w->role == NULL && w->f->version == 1)
      enter_role(w, pai__tree_look(t, item, "name"));
    rc = walk(w, inside->values, item, n);
    *w = outer;
  }
  return rc;
}

static int walk(walker *w, const pai__spec_rule *rule, pai__node n,
                pai__node in)
{
  switch (w->f->tree->nodes[n].type) {
  case PAI__MAPPING:
    return rule->types != PAI__T_ANY || rule->values != NULL
             ? walk_mapping(w, rule, n)
             : walk_unknown(w, n);
  case PAI__SEQUENCE: return walk_list(w, rule, n);
  default: return visit_scalar(w, rule, n, in);
  }
}

int pai__facts_names(const pai__facts *f, const pai__facts_visitor *visitor)
{
  walker w = { .f = f, .to = visitor };

  if (f->tree->count == 0)
    return PAI_OK;
  return walk(&w, f->rules, 0, 0);
}

/* --- the name at a byte -------------------------------------------------------- */

static bool same(const char *a, size_t a_len, const char *b, size_t b_len)
{
  return a_len == b_len && memcmp(a, b, a_len) == 0;
}

const char *pai__facts_kind_of(const pai__facts_name *name)
{
  switch (name->kind) {
  case PAI__NAMES_ROLE: return "task role";
  case PAI__NAMES_PREREQUISITE: return "prerequisite";
  case PAI__NAMES_DEPLOYMENT: return "deployment";
  case PAI__NAMES_PARAMETER: return "parameter";
  case PAI__NAMES_SECRET: return "secret";
  case PAI__NAMES_CELL_TYPE: return "type of cell";
  case PAI__NAMES_NODE: return "node";
  case PAI__NAMES_PIN: return "pinned cell";
  default: return "port label";
  }
}

bool pai__facts_same_name(const pai__facts_name *a, const pai__facts_name *b)
{
  if (a->kind != b->kind || !same(a->name, a->len, b->name, b->len))
    return false;
  if (a->type != NULL && b->type != NULL && strcmp(a->type, b->type) != 0)
    return false;
  return a->kind != PAI__NAMES_PORT ||
         same(a->role != NULL ? a->role : "", a->role_len,
              b->role != NULL ? b->role : "", b->role_len);
}

typedef struct finder {
  size_t at;
  const pai__facts_name *like;
  pai__facts_name *out;
} finder;

static int on_any(void *user_data, const pai__facts_name *name)
{
  finder *find = user_data;

  if (name->span.start > find->at || name->span.end < find->at)
    return PAI_OK;
  *find->out = *name;
  return 1;
}

int pai__facts_name_at(const pai__facts *f, size_t at, pai__facts_name *out)
{
  finder find = { .at = at, .out = out };
  const pai__facts_visitor visitor = { on_any, NULL, &find };
  int rc = pai__facts_names(f, &visitor);

  return rc == PAI_OK ? PAI_ENOTFOUND : rc == 1 ? PAI_OK : rc;
}

static int on_same(void *user_data, const pai__facts_name *name)
{
  const finder *find = user_data;

  return name->declares && pai__facts_same_name(name, find->like);
}

bool pai__facts_declared(const pai__facts *f, const pai__facts_name *name)
{
  finder find = { .like = name };
  const pai__facts_visitor visitor = { on_same, NULL, &find };

  return pai__facts_names(f, &visitor) == 1;
}
