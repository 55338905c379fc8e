/* rules.c - finds the rule of a place in the tables of job files */
#include "spec/rules.h"

const pai__spec_field *pai__spec_rule_field(const pai__spec_rule *rule,
                                            const char *name, size_t len)
{
  const pai__spec_field *fields = rule->fields;

  for (; fields != NULL && fields->name != NULL; fields++)
    if (len > 0 && *fields->name == *name && strlen(fields->name) == len &&
        memcmp(fields->name, name, len) == 0)
      return fields;
  return NULL;
}

static const pai__spec_rule *open_rule(const pai__spec_rule *rule)
{
  return rule->known != NULL ? rule->known : rule;
}

const char *pai__spec_rule_selects(const pai__spec_rule *rule)
{
  return rule->shape_key != NULL ? rule->shape_key : "type";
}

const pai__spec_rule *pai__spec_rule_inside(const pai__spec_rule *rule,
                                            const pai__tree *t, pai__node n)
{
  const char *type;

  rule = open_rule(rule);
  if (rule->shapes == NULL)
    return rule;
  type = pai__tree_look_text(t, n, pai__spec_rule_selects(rule), NULL);
  for (const pai__spec_shape *s = rule->shapes; s->type != NULL; s++)
    if (type != NULL && strcmp(s->type, type) == 0)
      return s->rule;
  return NULL;
}

pai__spec_ruled pai__spec_rule_below(const pai__spec_rule *rule,
                                     const pai__tree *t, pai__node n,
                                     const char *key, size_t len)
{
  const pai__spec_rule *inside = pai__spec_rule_inside(rule, t, n);
  const pai__spec_field *field;

  rule = open_rule(rule);
  if (inside == NULL) { /* only the field that selects the shape is known */
    const char *selects = pai__spec_rule_selects(rule);

    inside = rule->shapes->rule;
    if (inside == NULL || strlen(selects) != len ||
        memcmp(selects, key, len) != 0)
      return (pai__spec_ruled){ NULL, NULL };
  }
  field = pai__spec_rule_field(inside, key, len);
  if (field != NULL)
    return (pai__spec_ruled){ field->rule, field };
  return (pai__spec_ruled){ inside->values, NULL };
}

/* Reads one token of a pointer, without its escapes.  Returns its length, or
 * `cap` if it is longer. */
static size_t read_token(char *out, size_t cap, const char *s, size_t len)
{
  size_t n = 0;

  for (size_t i = 0; i < len && n < cap; i++) {
    bool escaped = s[i] == '~' && i + 1 < len;

    out[n++] = !escaped ? s[i] : s[i + 1] == '1' ? '/' : '~';
    i += escaped;
  }
  return n;
}

/* Returns the entry or item of a node, or PAI__NO_NODE. */
static pai__node step(const pai__tree *t, pai__node n, const char *key,
                      size_t len)
{
  size_t index = 0;
  pai__tree_walk walk;
  pai__node item = PAI__NO_NODE;

  if (pai__tree_is(t, n, PAI__MAPPING)) {
    n = pai__tree_find(t, n, key, len);
    return n != PAI__NO_NODE ? pai__tree_value(t, n) : n;
  }
  if (!pai__tree_is(t, n, PAI__SEQUENCE) || len == 0 || len > 8)
    return PAI__NO_NODE;
  for (size_t i = 0; i < len; i++)
    index = index * 10 + (size_t)(key[i] - '0');
  if (index >= pai__tree_count(t, n))
    return PAI__NO_NODE;
  walk = pai__tree_iter(t, n);
  for (size_t i = 0; i <= index; i++)
    item = pai__tree_next(&walk);
  return item;
}

pai__spec_ruled pai__spec_rule_at(const pai__spec_rule *root,
                                  const pai__tree *t, const char *pointer,
                                  unsigned up)
{
  pai__spec_ruled at = { root, NULL };
  pai__node n = t->count > 0 ? 0 : PAI__NO_NODE;
  size_t len = strlen(pointer);

  for (; up > 0; up--) {
    while (len > 0 && pointer[len - 1] != '/')
      len--;
    if (len == 0)
      return (pai__spec_ruled){ NULL, NULL };
    len--;
  }
  for (size_t i = 0, end; i < len && at.rule != NULL; i = end) {
    char token[256];
    size_t n_token;

    for (end = i + 1; end < len && pointer[end] != '/';)
      end++;
    n_token = read_token(token, sizeof(token), pointer + i + 1, end - i - 1);
    at = pai__spec_rule_below(at.rule, t, n, token, n_token);
    n = step(t, n, token, n_token);
  }
  return at;
}
