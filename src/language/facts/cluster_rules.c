/* cluster_rules.c - rules of cluster files, made of the tables by which they
 * are read */
#include "language/facts/parts.h"
#include "resource/cluster/tables.h"

enum { DEEPEST = 8 };

static pai__spec_rule *make_rule(pai__facts *f, const pai__read_table *table,
                                 int depth);

/* Says what a value names: a text, the texts of a list, or keys. */
static int add_names(pai__facts *f, pai__spec_rule *rule,
                     const pai__read_shown *shown)
{
  static const enum pai__spec_names names[] = {
    [PAI__READ_NO_NAME] = PAI__NAMES_NOTHING,
    [PAI__READ_TYPE] = PAI__NAMES_CELL_TYPE,
    [PAI__READ_PATH] = PAI__NAMES_CELL_PATH,
    [PAI__READ_NODE] = PAI__NAMES_NODE,
    [PAI__READ_PIN] = PAI__NAMES_PIN
  };
  pai__spec_rule *item;

  if (shown->names == PAI__READ_NO_NAME)
    return PAI_OK;
  rule->declares = shown->declares;
  if (shown->kind == PAI__KIND_KEYS || shown->kind == PAI__KIND_MAPPING) {
    rule->key_names = names[shown->names];
    return PAI_OK;
  }
  if (shown->kind != PAI__KIND_LIST) {
    rule->names = names[shown->names];
    return PAI_OK;
  }
  item = pai__arena_zalloc(&f->arena, 1, sizeof(*item));
  if (item == NULL)
    return PAI_ENOMEM;
  item->what = shown->key;
  item->types = PAI__T_STRING;
  item->names = names[shown->names];
  rule->values = item;
  return PAI_OK;
}

/* Returns the rule of a field's value, or NULL when out of memory. */
static pai__spec_rule *value_rule(pai__facts *f, const pai__read_shown *shown,
                                  int depth)
{
  static const unsigned types[] = { [PAI__KIND_ANY] = PAI__T_ANY,
                                    [PAI__KIND_TEXT] = PAI__T_STRING,
                                    [PAI__KIND_NUMBER] = PAI__T_INT,
                                    [PAI__KIND_SIZE] =
                                      PAI__T_STRING | PAI__T_INT,
                                    [PAI__KIND_FLAG] = PAI__T_BOOL,
                                    [PAI__KIND_LIST] = PAI__T_LIST,
                                    [PAI__KIND_KEYS] = PAI__T_MAPPING,
                                    [PAI__KIND_MAPPING] = PAI__T_MAPPING };
  pai__spec_rule *rule = pai__arena_zalloc(&f->arena, 1, sizeof(*rule));
  pai__spec_rule *inside = NULL;

  if (rule == NULL)
    return NULL;
  if (shown->inside != NULL && depth < DEEPEST) {
    inside = make_rule(f, shown->inside, depth + 1);
    if (inside == NULL || shown->kind == PAI__KIND_MAPPING)
      return inside;
  }
  rule->what = shown->key;
  rule->types = types[shown->kind];
  rule->values = inside;
  if (shown->kind == PAI__KIND_KEYS) {
    rule->example = "name";
    rule->declares = true;
  }
  if (shown->kind == PAI__KIND_NUMBER && shown->most > 0) {
    rule->has_min = true;
    rule->min = shown->least;
  }
  return add_names(f, rule, shown) == PAI_OK ? rule : NULL;
}

static pai__spec_rule *make_rule(pai__facts *f, const pai__read_table *table,
                                 int depth)
{
  pai__spec_rule *rule = pai__arena_zalloc(&f->arena, 1, sizeof(*rule));
  pai__spec_field *fields;
  pai__read_shown shown;
  size_t n = 0;

  while (pai__table_field(table, n, &shown))
    n++;
  fields = pai__arena_zalloc(&f->arena, n + 1, sizeof(*fields));
  if (rule == NULL || fields == NULL)
    return NULL;
  for (size_t i = 0; i < n; i++) {
    (void)pai__table_field(table, i, &shown);
    fields[i].name = shown.key;
    fields[i].says = shown.says;
    fields[i].absent = shown.needed ? PAI__NEEDED : NULL;
    fields[i].rule = value_rule(f, &shown, depth);
    if (fields[i].rule == NULL)
      return NULL;
  }
  rule->what = pai__table_what(table);
  rule->types = PAI__T_MAPPING;
  rule->fields = fields;
  return rule;
}

int pai__facts_cluster_rules(pai__facts *f, enum pai__language_kind kind)
{
  f->rules = make_rule(
    f, kind == PAI__LANGUAGE_HIVED ? &pai__table_hived : &pai__table_openpai,
    0);
  return f->rules != NULL ? PAI_OK : PAI_ENOMEM;
}
