/* outline.c - the parts of a file, as a tree */
#include "language/facts/parts.h"

#include <stdio.h>

enum { DEEPEST = 4, MOST_DETAIL = 60 };

typedef struct outliner {
  pai__facts *f;
  pai__outline_cb cb;
  void *user_data;
} outliner;

static int outline(const outliner *o, const pai__spec_rule *rule, pai__node n,
                   unsigned depth);

/* --- one item ---------------------------------------------------------------- */

static enum pai__outline_kind kind_of(enum pai__spec_names names)
{
  switch (names) {
  case PAI__NAMES_ROLE: return PAI__OUTLINE_ROLE;
  case PAI__NAMES_PREREQUISITE: return PAI__OUTLINE_PREREQUISITE;
  case PAI__NAMES_PARAMETER: return PAI__OUTLINE_PARAMETER;
  case PAI__NAMES_SECRET: return PAI__OUTLINE_SECRET;
  case PAI__NAMES_DEPLOYMENT: return PAI__OUTLINE_DEPLOYMENT;
  case PAI__NAMES_PORT: return PAI__OUTLINE_PORT;
  default: return PAI__OUTLINE_FIELD;
  }
}

/* Appends the first line of a scalar, unless it is a secret. */
static void put_scalar(pai__buf *out, const pai__facts *f, pai__node n)
{
  const pai__tree_node *x = &f->tree->nodes[n];

  if (pai__secrets_hide(&f->secrets, n)) {
    pai__buf_str(out, PAI__MASK);
    return;
  }
  if (x->type >= PAI__SEQUENCE || x->end - x->start > MOST_DETAIL ||
      !pai__facts_one_line(f, (pai__span){ x->start, x->end }))
    return;
  pai__buf_add(out, f->text + x->start, x->end - x->start);
}

/* Appends what a role requests: "4 tasks, 8 GPUs, 64 CPUs, 256 GiB". */
static void put_role(pai__buf *out, const pai__facts_role *role)
{
  pai__buf_printf(out, "%llu task%s, ", (unsigned long long)role->tasks,
                  role->tasks == 1 ? "" : "s");
  pai__facts_put_sizes(out, role->tasks * role->gpus,
                       role->tasks * role->cpu_millis,
                       role->tasks * role->memory_mb);
}

static int tell(const outliner *o, pai__outline_item *item, pai__node n)
{
  const pai__facts_role *role = NULL;
  pai__buf detail;
  int rc;

  pai__buf_init(&detail, o->f->alloc);
  if (item->kind == PAI__OUTLINE_ROLE)
    role = pai__facts_role_by_node(o->f, n);
  if (role != NULL)
    put_role(&detail, role);
  else if (item->kind == PAI__OUTLINE_PREREQUISITE)
    pai__buf_str(&detail, pai__tree_look_text(o->f->tree, n, "type", ""));
  else
    put_scalar(&detail, o->f, n);
  item->detail = detail.len > 0 ? pai__buf_text(&detail) : NULL;
  if (item->kind == PAI__OUTLINE_FIELD &&
      o->f->tree->nodes[n].type >= PAI__SEQUENCE)
    item->kind = PAI__OUTLINE_SECTION;
  rc = pai__buf_ok(&detail) && item->name != NULL ? o->cb(o->user_data, item)
                                                  : PAI_ENOMEM;
  pai__buf_dispose(&detail);
  return rc;
}

/* --- the tree ----------------------------------------------------------------- */

/* Returns whether an entry that is neither a list nor a mapping is shown. */
static bool is_shown(enum pai__outline_kind kind, unsigned depth, int type)
{
  return type >= PAI__SEQUENCE || depth == 0 || kind != PAI__OUTLINE_FIELD;
}

static int outline_entry(const outliner *o, const pai__spec_rule *rule,
                         pai__node in, pai__node key, unsigned depth)
{
  const pai__tree *t = o->f->tree;
  pai__node value = t->nodes[key].skip;
  size_t len;
  const char *s = pai__tree_str(t, key, &len);
  pai__spec_ruled below = { NULL, NULL };
  size_t end = t->nodes[value].end;
  pai__outline_item item = {
    .name = t->nodes[key].type == PAI__ALIAS ? "*" : s,
    .whole = { t->nodes[key].start,
               end > t->nodes[key].end ? end : t->nodes[key].end },
    .at = { t->nodes[key].start, t->nodes[key].end },
    .depth = depth
  };
  int rc;

  if (rule != NULL) {
    below = pai__spec_rule_below(rule, t, in, s, len);
    if (rule->declares)
      item.kind = kind_of(rule->key_names);
    if (rule == o->f->rules &&
        (strcmp(s, "name") == 0 || strcmp(s, "jobName") == 0))
      item.kind = PAI__OUTLINE_JOB;
  }
  if (!is_shown(item.kind, depth, t->nodes[value].type))
    return PAI_OK;
  rc = tell(o, &item, value);
  return rc == PAI_OK ? outline(o, below.rule, value, depth + 1) : rc;
}

static int outline_item(const outliner *o, const pai__spec_rule *rule,
                        pai__node n, unsigned index, unsigned depth)
{
  static const char *const fields[] = { "name", "plugin", "label" };
  const pai__tree *t = o->f->tree;
  const pai__spec_rule *inside =
    rule != NULL ? pai__spec_rule_inside(rule, t, n) : NULL;
  pai__outline_item item = { .depth = depth };
  pai__node name = PAI__NO_NODE;
  int rc;

  if (t->nodes[n].type != PAI__MAPPING)
    return PAI_OK;
  for (size_t i = 0; i < PAI__LEN(fields) && name == PAI__NO_NODE; i++)
    name = pai__tree_get(t, n, fields[i]);
  item.whole = item.at = (pai__span){ t->nodes[n].start, t->nodes[n].end };
  if (pai__tree_is(t, name, PAI__STRING)) {
    const pai__spec_field *field;

    item.name = pai__tree_str(t, name, NULL);
    if (t->nodes[name].start >= t->nodes[n].start &&
        t->nodes[name].end <= t->nodes[n].end)
      item.at = (pai__span){ t->nodes[name].start, t->nodes[name].end };
    field = inside != NULL ? pai__spec_rule_field(inside, "name", 4) : NULL;
    if (field != NULL && field->rule->declares)
      item.kind = kind_of(field->rule->names);
    else if (inside != NULL &&
             (field = pai__spec_rule_field(inside, "label", 5)) != NULL)
      item.kind = kind_of(field->rule->names);
  } else {
    item.name = pai__facts_format(o->f, "[%u]", index);
  }
  rc = tell(o, &item, n);
  return rc == PAI_OK ? outline(o, rule, n, depth + 1) : rc;
}

static int outline(const outliner *o, const pai__spec_rule *rule, pai__node n,
                   unsigned depth)
{
  const pai__tree *t = o->f->tree;
  const pai__spec_rule *inside =
    rule != NULL ? pai__spec_rule_inside(rule, t, n) : NULL;
  unsigned index = 0;
  int rc = PAI_OK;

  if (depth > DEEPEST)
    return rc;
  if (t->nodes[n].type == PAI__MAPPING)
    for (pai__node key = n + 1; rc == PAI_OK && key < t->nodes[n].skip;
         key = t->nodes[t->nodes[key].skip].skip)
      rc = outline_entry(o, rule, n, key, depth);
  else if (t->nodes[n].type == PAI__SEQUENCE)
    for (pai__node item = n + 1; rc == PAI_OK && item < t->nodes[n].skip;
         item = t->nodes[item].skip)
      rc = outline_item(o, inside != NULL ? inside->values : NULL, item,
                        index++, depth);
  return rc;
}

int pai__outline(const pai__language_text *t, pai__outline_cb cb,
                 void *user_data)
{
  pai__facts f;
  outliner o = { &f, cb, user_data };
  int rc = pai__facts_open(&f, t, SIZE_MAX);

  if (rc == PAI_OK && f.tree->count > 0)
    rc = outline(&o, f.rules, 0, 0);
  return pai__facts_end(&f, rc);
}
