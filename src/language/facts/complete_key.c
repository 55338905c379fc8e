/* complete_key.c - completes keys of mappings and items of lists */
#include "language/facts/complete.h"

/* --- pieces --------------------------------------------------------------------- */

/* Makes a piece of a file in a buffer. */
static pai__piece_maker maker(const pai__complete_state *s, pai__buf *out,
                              size_t indent)
{
  pai__buf_init(out, s->f->alloc);
  return (pai__piece_maker){
    .out = out, .form = s->form, .snippet = true, .indent = indent
  };
}

/* Moves a piece to the arena. */
static const char *keep(const pai__complete_state *s, pai__buf *b)
{
  const char *text =
    pai__buf_ok(b) ? pai__arena_strndup(&s->f->arena, pai__buf_text(b), b->len)
                   : NULL;

  pai__buf_dispose(b);
  return text;
}

static const char *describe(const pai__complete_state *s,
                            const pai__spec_ruled *ruled)
{
  pai__buf b;

  pai__buf_init(&b, s->f->alloc);
  pai__facts_describe(&b, ruled, NULL);
  return keep(s, &b);
}

/* --- whole mappings ----------------------------------------------------------------- */

/* Returns what messages call a thing, without its article. */
static const char *bare(const char *what)
{
  static const char *const articles[] = { "a ", "an ", "the " };

  for (size_t i = 0; i < PAI__LEN(articles); i++)
    if (strncmp(what, articles[i], strlen(articles[i])) == 0)
      return what + strlen(articles[i]);
  return what;
}

static void tell_piece(pai__complete_state *s, const pai__spec_rule *rule,
                       const pai__spec_shape *shape, bool dash)
{
  pai__completion c = { .kind = PAI__COMPLETE_SNIPPET,
                        .label =
                          shape != NULL ? shape->type : bare(rule->what),
                        .detail = shape != NULL ? shape->says
                                                : "all fields "
                                                  "it needs",
                        .is_snippet = true };
  pai__buf b;
  pai__piece_maker m = maker(s, &b, s->column + (dash ? 2 : 0));

  dash = dash && s->form == PAI__PIECE_BLOCK;
  if (dash)
    pai__buf_str(&b, "- ");
  if (s->form == PAI__PIECE_BLOCK)
    pai__piece_mapping(&m, rule, shape != NULL ? shape->type : NULL);
  else if (s->place.on == PAI_ON_SPACE)
    pai__piece_value(&m, rule, NULL, shape != NULL ? shape->type : NULL, true);
  c.insert = keep(s, &b);
  if (c.insert != NULL && *c.insert == '\0')
    return;
  pai__complete_tell(s, &c, PAI__GROUP_SNIPPET);
}

static void tell_pieces(pai__complete_state *s, const pai__spec_rule *rule,
                        bool dash)
{
  const pai__spec_rule *known = rule->known != NULL ? rule->known : rule;
  bool any = false;

  if (known->shapes != NULL)
    for (const pai__spec_shape *p = known->shapes; p->type != NULL; p++)
      tell_piece(s, known, p, dash);
  else
    for (const pai__spec_field *p = known->fields;
         p != NULL && p->name != NULL && !any; p++)
      any = pai__piece_wants(p);
  if (any)
    tell_piece(s, known, NULL, dash);
}

/* --- keys ------------------------------------------------------------------------ */

/* Returns whether the key at the cursor has a colon already. */
static bool has_colon(const pai__complete_state *s)
{
  const char *text = s->f->text;
  size_t at = s->replaces.end;

  while (text[at] == ' ' || text[at] == '\t')
    at++;
  return text[at] == ':';
}

/* Returns whether another key follows in JSON. */
static bool needs_comma(const pai__complete_state *s)
{
  const char *text = s->f->text;
  size_t at = s->replaces.end;

  while (at < s->f->len && strchr(" \t\r\n", text[at]) != NULL)
    at++;
  return s->form == PAI__PIECE_JSON && at < s->f->len && text[at] == '"';
}

/* Returns whether the mapping has a key, other than that at the cursor. */
static bool has_key(const pai__complete_state *s, pai__node mapping,
                    const char *name, size_t len)
{
  const pai__tree *t = s->f->tree;
  pai__node key = mapping != PAI__NO_NODE
                    ? pai__tree_find(t, mapping, name, len)
                    : PAI__NO_NODE;

  return key != PAI__NO_NODE &&
         (s->place.on != PAI_ON_KEY || t->nodes[key].start != s->place.key);
}

/* Makes the text of a key, with its value unless it has one. */
static const char *key_text(const pai__complete_state *s,
                            const pai__spec_field *field)
{
  pai__buf b;
  pai__piece_maker m = maker(s, &b, s->column);

  if (has_colon(s))
    pai__piece_text(&b, s->form, field->name, strlen(field->name));
  else
    pai__piece_field(&m, field);
  if (needs_comma(s) && !has_colon(s))
    pai__buf_char(&b, ',');
  return keep(s, &b);
}

static void tell_field(pai__complete_state *s, const pai__spec_field *field)
{
  const pai__spec_ruled ruled = { field->rule, field };
  pai__completion c = { .kind = PAI__COMPLETE_PROPERTY,
                        .label = field->name,
                        .insert = key_text(s, field),
                        .is_snippet = !has_colon(s),
                        .detail = field->says,
                        .documentation = describe(s, &ruled),
                        .deprecated = field->rule->unused,
                        .required = field->absent == PAI__NEEDED };

  if (c.documentation == NULL)
    c.insert = NULL;
  pai__complete_tell(s, &c,
                     c.required     ? PAI__GROUP_REQUIRED
                     : c.deprecated ? PAI__GROUP_LAST
                                    : PAI__GROUP_USUAL);
}

/* Returns whether a field is in all shapes. */
static bool in_all(const pai__spec_shape *shapes, const pai__spec_field *field)
{
  for (; shapes->type != NULL; shapes++)
    if (pai__spec_rule_field(shapes->rule, field->name, strlen(field->name)) ==
        NULL)
      return false;
  return true;
}

/* Task roles that the mapping does not name yet. */
static void tell_roles(pai__complete_state *s, const pai__spec_rule *rule,
                       pai__node mapping)
{
  for (size_t i = 0; s->rc == PAI_OK && i < s->f->nroles; i++) {
    const pai__facts_role *role = &s->f->roles[i];
    pai__completion c = { .kind = PAI__COMPLETE_REFERENCE,
                          .detail = "task role",
                          .is_snippet = true };
    pai__buf b;
    pai__piece_maker m = maker(s, &b, s->column);

    if (role->len == 0 || has_key(s, mapping, role->name, role->len)) {
      pai__buf_dispose(&b);
      continue;
    }
    pai__piece_text(&b, s->form, role->name, role->len);
    if (!has_colon(s)) {
      pai__buf_char(&b, ':');
      pai__piece_value(&m, rule->values, NULL, NULL, false);
    }
    c.label = role->name;
    c.insert = keep(s, &b);
    pai__complete_tell(s, &c, PAI__GROUP_FIRST);
  }
}

/* A new entry with a free key, such as a task role. */
static void tell_entry(pai__complete_state *s, const pai__spec_rule *rule)
{
  pai__completion c = { .kind = PAI__COMPLETE_SNIPPET,
                        .label = bare(rule->values->what),
                        .detail = "new entry",
                        .is_snippet = true };
  pai__buf b;
  pai__piece_maker m = maker(s, &b, s->column);

  if (has_colon(s)) {
    pai__buf_dispose(&b);
    return;
  }
  if (rule->key_names == PAI__NAMES_PORT)
    c.label = "port";
  pai__piece_entry(&m, rule);
  c.insert = keep(s, &b);
  pai__complete_tell(s, &c, PAI__GROUP_SNIPPET);
}

void pai__complete_keys(pai__complete_state *s, const pai__spec_rule *rule,
                        pai__node mapping)
{
  const pai__spec_rule *inside =
    pai__spec_rule_inside(rule, s->f->tree, mapping);
  const pai__spec_shape *shapes = NULL;

  if (rule->types != PAI__T_ANY && (rule->types & PAI__T_MAPPING) == 0)
    return;
  if (inside == NULL) {
    shapes = (rule->known != NULL ? rule->known : rule)->shapes;
    inside = shapes->rule;
  }
  for (const pai__spec_field *p = inside->fields;
       p != NULL && p->name != NULL && s->rc == PAI_OK; p++)
    if (!p->rule->never && !has_key(s, mapping, p->name, strlen(p->name)) &&
        (shapes == NULL || in_all(shapes, p)))
      tell_field(s, p);
  if (inside->key_names == PAI__NAMES_ROLE && !inside->declares)
    tell_roles(s, inside, mapping);
  if (inside->values != NULL && inside->declares)
    tell_entry(s, inside);
  if ((mapping == PAI__NO_NODE || pai__tree_size(s->f->tree, mapping) == 0) &&
      s->place.on != PAI_ON_KEY)
    tell_pieces(s, rule, false);
}

/* --- items --- */

void pai__complete_items(pai__complete_state *s, const pai__spec_rule *rule,
                         pai__node list)
{
  const pai__spec_rule *inside = pai__spec_rule_inside(rule, s->f->tree, list);
  pai__spec_ruled ruled = { NULL, NULL };
  bool block = s->form == PAI__PIECE_BLOCK;

  if (inside == NULL || (inside->types & PAI__T_LIST) == 0 ||
      inside->types == PAI__T_ANY || inside->values == NULL)
    return;
  ruled.rule = inside->values;
  if ((ruled.rule->types & PAI__T_MAPPING) != 0)
    tell_pieces(s, ruled.rule, true);
  else
    pai__complete_values(s, &ruled, block ? "- " : "");
}
