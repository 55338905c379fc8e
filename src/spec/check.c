/*
 * check.c - checks a tree against a table of rules, and finds all problems
 *
 * It accepts what Ajv and Joi accept, with which OpenPAI checks job files.
 * The messages are libopenpai's own.
 */
#include "spec/check.h"

#include "base/text/utf8.h"
#include "spec/check_value.h"
#include "spec/fix/fix.h"

static void check(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                  pai__node key);

/* --- collections -------------------------------------------------------- */

static void too_few(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                    pai__node key)
{
  char name[PAI__VALUE_TEXT];
  bool list = pai__tree_type(f->tree, n) == PAI__SEQUENCE;

  pai__check_name(f, rule, n, key, name);
  pai__find(f, PAI_SEVERITY_ERROR, "too-few", n, "%s is empty", name);
  pai__find_wanted(
    f, &(pai__demand){ .types = rule->types, .limit = rule->least });
  pai__find_help(f, list ? "add an item" : "add an entry");
}

static void unknown_key(pai__findings *f, const pai__spec_rule *rule,
                        pai__node mapping, pai__node key)
{
  char piece[PAI__EXCERPT];
  pai__names names;
  size_t len;
  const char *s = pai__key_shown(f, key, &len);

  if (!pai__find(f, PAI_SEVERITY_ERROR, "unknown-key", key,
                 "%s has no field '%s'", rule->what,
                 pai__excerpt(piece, s, len)))
    return;
  s = pai__tree_str(f->tree, key, &len);
  if (pai__hides_colon(s, len)) {
    pai__find_help(f, "YAML does not accept a no-break space (U+00A0): "
                      "replace it with a space");
    return;
  }
  s = pai__key_shown(f, key, &len);
  for (const pai__spec_field *p = rule->fields; p->name != NULL; p++)
    if (pai__spec_rule_field(p->rule, s, len) != NULL) {
      pai__find_help(f, "move it to %s", p->name);
      pai__mend_move(f, mapping, key, p->name);
      return;
    }
  pai__names_init(&names, f->arena->alloc, s, len);
  for (const pai__spec_field *p = rule->fields; p->name != NULL; p++)
    if (!p->rule->never &&
        pai__tree_get(f->tree, mapping, p->name) == PAI__NO_NODE)
      pai__names_add(&names, p->name, strlen(p->name));
  pai__names_help(&names, f, "unused fields are");
}

static void bad_key(pai__findings *f, const pai__spec_rule *rule,
                    pai__node key)
{
  char piece[PAI__EXCERPT];
  size_t len;
  const char *s = pai__key_shown(f, key, &len);

  pai__find(f, PAI_SEVERITY_ERROR, "bad-name", key,
            "'%s' cannot be a key of %s", pai__excerpt(piece, s, len),
            rule->what);
  pai__find_help(f, "use %s", pai__form_says(rule->keys));
  pai__mend_name(f, key, rule->keys);
}

/* Checks an entry of a mapping: a field, an entry of rule->values, or an
 * unknown key.  Returns the number of the field, or -1. */
static int check_entry(pai__findings *f, const pai__spec_rule *rule,
                       pai__node mapping, pai__node key)
{
  const pai__place *up = f->place;
  pai__place here = { up, key, 0 };
  size_t len;
  const char *s = pai__tree_str(f->tree, key, &len);
  const pai__spec_field *field = pai__spec_rule_field(rule, s, len);
  pai__node value = pai__tree_value(f->tree, key);

  f->place = &here;
  if (field != NULL && field->rule->never)
    pai__find(f, PAI_SEVERITY_ERROR, "unknown-key", key,
              "%s has no field '%s'", rule->what, field->name);
  else if (field != NULL)
    check(f, field->rule, value, key);
  else if (rule->values != NULL && pai__form_fits(rule->keys, s, len))
    check(f, rule->values, value, key);
  else if (rule->values != NULL)
    bad_key(f, rule, key);
  else if (!rule->open)
    unknown_key(f, rule, mapping, key);
  f->place = up;
  return field != NULL ? (int)(field - rule->fields) : -1;
}

/* Offers to add a missing field if it has only one possible value, and no fix
 * renames another key to it. */
static void add_field(pai__findings *f, pai__node mapping,
                      const pai__spec_field *field)
{
  const char *const *words = field->rule->words;
  const char *pointer;

  if (words == NULL || words[1] != NULL || f->failed || f->left_out > 0)
    return;
  pointer = f->list[f->len - 1].pointer;
  if (!pai__fix_offered(f, pointer, strlen(pointer), field->name,
                        strlen(field->name)))
    pai__mend_add(f, mapping, field->name, *words,
                  (field->rule->types & PAI__T_INT) == 0);
}

static void check_mapping(pai__findings *f, const pai__spec_rule *rule,
                          pai__node n, pai__node key)
{
  pai__tree_walk walk = pai__tree_iter(f->tree, n);
  uint32_t seen = 0; /* no rule has more than 32 fields */
  pai__node k;

  while ((k = pai__tree_next(&walk)) != PAI__NO_NODE) {
    int field = check_entry(f, rule, n, k);
    if (field >= 0)
      seen |= (uint32_t)1 << field;
  }
  for (const pai__spec_field *p = rule->fields; p != NULL && p->name != NULL;
       p++)
    if (p->absent == PAI__NEEDED && (seen >> (p - rule->fields) & 1) == 0) {
      pai__find(f, PAI_SEVERITY_ERROR, "missing-key", key,
                "%s lacks the field '%s'", rule->what, p->name);
      pai__find_wanted(f, &(pai__demand){ .missing = p->name });
      pai__find_help(f, "add %s: %s", p->name, p->says);
      add_field(f, n, p);
    }
}

static const pai__spec_shape *find_shape(const pai__spec_shape *shapes,
                                         const char *s, size_t len)
{
  for (; shapes->type != NULL; shapes++)
    if (strlen(shapes->type) == len && memcmp(shapes->type, s, len) == 0)
      return shapes;
  return NULL;
}

/* Adds a finding at the start of the item, besides those inside it, for
 * programs that show only one place. */
static void not_of_shape(pai__findings *f, const pai__spec_rule *rule,
                         pai__node n, const pai__spec_shape *shape)
{
  size_t start = f->tree->nodes[n].start;

  pai__find_part(f, PAI_SEVERITY_ERROR, "bad-item", n, start, start,
                 "this is not a valid %s", rule->what + 2);
  pai__find_help(f, "use the fields of its type %s", shape->type);
}

/* Checks a mapping by the shape that its field `type` selects.  Without a
 * valid type nothing else is checked. */
static void check_shape(pai__findings *f, const pai__spec_rule *rule,
                        pai__node n, pai__node key)
{
  pai__node type = pai__tree_get(f->tree, n, "type");
  const pai__spec_shape *shape;
  char value[PAI__VALUE_TEXT];
  size_t len = 0, before = f->errors;
  const char *s = "";
  pai__names names;

  if (pai__tree_is(f->tree, type, PAI__STRING))
    s = pai__tree_str(f->tree, type, &len);
  shape = find_shape(rule->shapes, s, len);
  if (shape != NULL) {
    check_mapping(f, shape->rule, n, key);
    if (f->errors > before)
      not_of_shape(f, rule, n, shape);
    return;
  }
  if (type == PAI__NO_NODE) {
    pai__find(f, PAI_SEVERITY_ERROR, "missing-key", key,
              "%s lacks the field 'type'", rule->what);
    pai__find_wanted(f, &(pai__demand){ .missing = "type" });
  } else {
    pai__find(f, PAI_SEVERITY_ERROR, "not-allowed", key,
              "the type of %s cannot be %s", rule->what,
              pai__value_text(value, f, type));
  }
  pai__names_init(&names, f->arena->alloc, s, len);
  for (shape = rule->shapes; shape->type != NULL; shape++)
    pai__names_add(&names, shape->type, strlen(shape->type));
  if (type != PAI__NO_NODE && pai__names_surely(&names))
    pai__fix_word(f, pai__names_only(&names), type, names.near[0].s,
                  names.near[0].len);
  pai__names_help(&names, f, "types are");
}

static void check_list(pai__findings *f, const pai__spec_rule *rule,
                       pai__node n)
{
  pai__tree_walk walk = pai__tree_iter(f->tree, n);
  pai__place here = { f->place, PAI__NO_NODE, 0 };
  pai__node item;

  f->place = &here;
  for (; (item = pai__tree_next(&walk)) != PAI__NO_NODE; here.index++)
    check(f, rule->values, item, item);
  f->place = here.up;
}

static void check(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                  pai__node key)
{
  int type = pai__tree_type(f->tree, n);

  if (!pai__has_type(f->tree, n, rule)) {
    pai__wrong_type(f, rule, n, key);
    return;
  }
  if (rule->words != NULL && !pai__is_word(f->tree, n, rule))
    pai__not_a_word(f, rule, n, key);
  if (type == PAI__STRING && (rule->types & PAI__T_STRING) != 0)
    pai__check_text(f, rule, n, key);
  if (rule->has_min)
    pai__check_min(f, rule, n, key);
  if (rule->fine)
    pai__check_fine(f, rule, n, key);
  if (type == PAI__SEQUENCE && rule->types != PAI__T_ANY) {
    if (pai__tree_count(f->tree, n) < rule->least)
      too_few(f, rule, n, key);
    if (rule->values != NULL)
      check_list(f, rule, n);
  } else if (type == PAI__MAPPING &&
             (rule->types != PAI__T_ANY || rule->values != NULL)) {
    if (pai__tree_count(f->tree, n) < rule->least)
      too_few(f, rule, n, key);
    if (rule->shapes != NULL)
      check_shape(f, rule, n, key);
    else
      check_mapping(f, rule, n, key);
  }
}

void pai__check(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                pai__node key)
{
  pai__place root = { NULL, PAI__NO_NODE, 0 };
  const pai__place *before = f->place;

  if (before == NULL)
    f->place = &root;
  check(f, rule, n, key);
  f->place = before;
}
