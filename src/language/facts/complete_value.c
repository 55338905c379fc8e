/* complete_value.c - completes values: words, names, defaults */
#include "language/facts/complete.h"

/* Tells a value; `text` if it is a text and not a number or a boolean. */
static void tell(pai__complete_state *s, pai__completion *c, bool text,
                 const char *before, enum pai__complete_group group)
{
  pai__buf b;

  pai__buf_init(&b, s->f->alloc);
  pai__buf_str(&b, before);
  if (text)
    pai__piece_text(&b, s->form, c->label, strlen(c->label));
  else
    pai__buf_str(&b, c->label);
  c->insert = pai__buf_ok(&b)
                ? pai__arena_strndup(&s->f->arena, pai__buf_text(&b), b.len)
                : NULL;
  pai__complete_tell(s, c, group);
  pai__buf_dispose(&b);
}

static bool is_number(const char *s)
{
  return *s != '\0' && s[strspn(s, "0123456789.-")] == '\0';
}

static bool is_literal(const pai__spec_rule *rule, const char *s)
{
  if (is_number(s))
    return (rule->types & (PAI__T_INT | PAI__T_NUMBER)) != 0;
  return (rule->types & PAI__T_BOOL) != 0 &&
         (strcmp(s, "true") == 0 || strcmp(s, "false") == 0);
}

/* --- names ----------------------------------------------------------------------- */

typedef struct wanted {
  pai__complete_state *s;
  const pai__spec_rule *rule;
  const char *before;
} wanted;

static bool is_wanted(const wanted *w, const pai__facts_name *name)
{
  enum pai__spec_names kind = w->rule->names != PAI__NAMES_CELL_PATH
                                ? w->rule->names
                                : PAI__NAMES_CELL_TYPE;

  return name->declares && name->kind == kind &&
         (w->rule->name_type == NULL ||
          (name->type != NULL && strcmp(name->type, w->rule->name_type) == 0));
}

static int on_name(void *user_data, const pai__facts_name *name)
{
  const wanted *w = user_data;
  pai__completion c = { .kind = PAI__COMPLETE_REFERENCE };

  if (!is_wanted(w, name))
    return PAI_OK;
  c.label = pai__arena_strndup(&w->s->f->arena, name->name, name->len);
  c.detail = name->type != NULL ? name->type : pai__facts_kind_of(name);
  if (c.label == NULL)
    return PAI_ENOMEM;
  tell(w->s, &c, true, w->before, PAI__GROUP_FIRST);
  return w->s->rc;
}

static void tell_declared(pai__complete_state *s, const pai__spec_rule *rule,
                          const char *before)
{
  wanted w = { s, rule, before };
  const pai__facts_visitor visitor = { on_name, NULL, &w };
  int rc = pai__facts_names(s->f, &visitor);

  if (s->rc == PAI_OK)
    s->rc = rc;
}

/* Tells names of the cluster; of them the default says so. */
static void tell_cluster(pai__complete_state *s, const pai__spec_ruled *ruled,
                         const char *before)
{
  const pai__spec_rule *rule = ruled->rule;
  const char *usual = ruled->field != NULL ? ruled->field->absent : NULL;
  const char *const *list = NULL;
  const char *detail = NULL;

  switch (s->names != NULL ? rule->names : PAI__NAMES_NOTHING) {
  case PAI__NAMES_VC:
    list = s->names->virtual_clusters;
    detail = "virtual cluster";
    break;
  case PAI__NAMES_SKU:
    list = s->names->skus;
    detail = "SKU";
    break;
  case PAI__NAMES_STORAGE:
    list = s->names->storages;
    detail = "storage";
    break;
  case PAI__NAMES_IMAGE:
    list = s->names->images;
    detail = "image";
    break;
  default: break;
  }
  for (; list != NULL && *list != NULL && s->rc == PAI_OK; list++) {
    pai__completion c = { .kind = PAI__COMPLETE_VALUE,
                          .label = *list,
                          .detail = detail };

    if (usual != NULL && strcmp(usual, *list) == 0)
      c.detail = "default";

    tell(s, &c, true, before, PAI__GROUP_FIRST);
  }
}

/* --- values ------------------------------------------------------------------------ */

static void tell_words(pai__complete_state *s, const pai__spec_ruled *ruled,
                       const char *before)
{
  const pai__spec_rule *rule = ruled->rule;

  for (size_t i = 0; rule->words != NULL && rule->words[i] != NULL; i++) {
    pai__completion c = { .kind = PAI__COMPLETE_ENUM,
                          .label = rule->words[i] };

    if (ruled->field != NULL && ruled->field->absent != NULL &&
        strcmp(ruled->field->absent, rule->words[i]) == 0)
      c.detail = "default";
    tell(s, &c, !is_literal(rule, c.label), before, PAI__GROUP_FIRST);
  }
}

/* The types of a shape, at the field that selects it. */
static void tell_shapes(pai__complete_state *s, const pai__spec_field *field,
                        const char *before)
{
  const char *pointer = pai__buf_text(&s->place.pointer);
  pai__spec_ruled up = pai__spec_rule_at(s->f->rules, s->f->tree, pointer, 1);

  if (up.rule == NULL || field == NULL)
    return;
  if (up.rule->known != NULL)
    up.rule = up.rule->known;
  if (up.rule->shapes == NULL ||
      strcmp(pai__spec_rule_selects(up.rule), field->name) != 0)
    return;
  for (const pai__spec_shape *p = up.rule->shapes; p->type != NULL; p++) {
    pai__completion c = { .kind = PAI__COMPLETE_ENUM,
                          .label = p->type,
                          .detail = p->says };

    tell(s, &c, true, before, PAI__GROUP_FIRST);
  }
}

/* Returns whether a virtual cluster of the chosen cluster has this name. */
static bool has_cluster(const pai__complete_state *s, const char *name)
{
  const char *const *list =
    s->names != NULL ? s->names->virtual_clusters : NULL;

  while (list != NULL && *list != NULL && strcmp(*list, name) != 0)
    list++;
  return list != NULL && *list != NULL;
}

/* Booleans, the default, and a usual value. */
static void tell_usual(pai__complete_state *s, const pai__spec_ruled *ruled,
                       const char *before)
{
  const pai__spec_rule *rule = ruled->rule;
  const pai__spec_field *field = ruled->field;
  const char *usual = field != NULL ? field->absent : NULL;
  const char *values[4] = { NULL, NULL, NULL, NULL };

  if (rule->words != NULL || pai__piece_is_collection(rule))
    return;
  if (usual == PAI__NEEDED ||
      (usual != NULL && !is_literal(rule, usual) &&
       (rule->names == PAI__NAMES_NOTHING && rule->types != PAI__T_ANY)))
    usual = NULL;
  if ((rule->types & PAI__T_BOOL) != 0 && rule->types != PAI__T_ANY) {
    values[0] = "true";
    values[1] = "false";
  } else {
    values[0] = usual;
    values[1] = rule->declares ? NULL : rule->example;
  }
  for (size_t i = 0; i < 2 && s->rc == PAI_OK; i++) {
    pai__completion c = { .kind = PAI__COMPLETE_VALUE, .label = values[i] };

    if (c.label == NULL ||
        (i == 1 && values[0] != NULL && strcmp(values[0], values[1]) == 0))
      continue;
    if (rule->names == PAI__NAMES_VC && has_cluster(s, c.label))
      continue;
    if (rule->names != PAI__NAMES_NOTHING && c.label != usual &&
        rule->names != PAI__NAMES_IMAGE)
      continue; /* an example of a name that nothing has */
    c.detail = usual != NULL && strcmp(c.label, usual) == 0 ? "default"
               : rule->types == PAI__T_BOOL                 ? NULL
                                                            : "for example";
    tell(s, &c,
         !is_literal(rule, c.label) &&
           !(rule->types == PAI__T_ANY &&
             (strcmp(c.label, "true") == 0 || strcmp(c.label, "false") == 0)),
         before, PAI__GROUP_USUAL);
  }
}

void pai__complete_values(pai__complete_state *s, const pai__spec_ruled *ruled,
                          const char *before)
{
  const pai__spec_rule *rule = ruled->rule;

  if (s->replaces.start == s->replaces.end && s->place.on == PAI_ON_VALUE)
    return; /* a text of several lines */
  tell_words(s, ruled, before);
  tell_shapes(s, ruled->field, before);
  if (rule->names != PAI__NAMES_NOTHING && !rule->declares)
    tell_declared(s, rule, before);
  tell_cluster(s, ruled, before);
  tell_usual(s, ruled, before);
}
