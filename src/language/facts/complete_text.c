/* complete_text.c - completes template names and variables in texts */
#include "language/facts/complete.h"
#include "spec/template/template_value.h"

enum { MOST_TASKS = 4, MOST_VARIABLES = 2000, LONGEST_DETAIL = 60 };

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

/* Moves a text to the arena; NULL without memory. */
static const char *kept(pai__complete_state *s, pai__buf *b)
{
  const char *text =
    pai__buf_ok(b) ? pai__arena_strndup(&s->f->arena, pai__buf_text(b), b->len)
                   : NULL;

  if (text == NULL)
    s->rc = PAI_ENOMEM;
  pai__buf_dispose(b);
  return text;
}

/* --- templates ---------------------------------------------------------------------- */

/* Finds the tag that is open at the cursor. */
static bool find_tag(const pai__complete_state *s, pai__facts_tag *tag)
{
  pai__span in = { pai__facts_line(s->f, s->at), pai__facts_eol(s->f, s->at) };

  if (in.start < s->place.value)
    in.start = s->place.value;
  while (pai__facts_tag_next(s->f, in, tag)) {
    if (tag->whole.start + 2 <= s->at &&
        s->at <= tag->whole.end - (tag->closed ? 2 : 0))
      return true;
    in.start = tag->whole.end;
  }
  return false;
}

typedef struct names {
  pai__complete_state *s;
  const pai__facts_tag *tag;
} names;

/* Tells a name: `before` and, unless it is NULL, a key below it. */
static void tell_name(const names *n, const char *before, size_t before_len,
                      const char *key, size_t key_len, pai__node value)
{
  pai__facts *f = n->s->f;
  pai__completion c = { .kind = PAI__COMPLETE_VARIABLE };
  const char *name = key != NULL
                       ? pai__facts_format(f, "%.*s.%.*s", (int)before_len,
                                           before, (int)key_len, key)
                       : pai__arena_strndup(&f->arena, before, before_len);
  pai__buf b;

  c.label = name;
  c.insert = name;
  if (name != NULL && !n->tag->closed)
    c.insert = pai__facts_format(f, "%s %%>", name);
  if (value != PAI__NO_NODE) {
    pai__buf_init(&b, f->alloc);
    pai__facts_put_plain(&b, f, value, LONGEST_DETAIL);
    c.detail = kept(n->s, &b);
    pai__buf_init(&b, f->alloc);
    pai__facts_put_value(&b, f, value);
    c.documentation = kept(n->s, &b);
  }
  pai__complete_tell(n->s, &c, PAI__GROUP_FIRST);
}

/* Tells the keys of a mapping. */
static void tell_keys(const names *n, const char *before, size_t before_len,
                      pai__node mapping)
{
  const pai__tree *t = n->s->f->tree;
  pai__tree_walk walk;
  pai__node key;

  if (!pai__tree_is(t, mapping, PAI__MAPPING))
    return;
  walk = pai__tree_iter(t, mapping);
  while (n->s->rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *s = pai__tree_str(t, key, &len);

    tell_name(n, before, before_len, s, len, pai__tree_value(t, key));
  }
}

static void complete_tag(pai__complete_state *s, const pai__spec_rule *rule,
                         const pai__facts_tag *tag)
{
  const char *pointer = pai__buf_text(&s->place.pointer);
  const names n = { s, tag };
  pai__template_scope scopes[PAI__FACTS_SCOPES];
  const pai__facts_role *role = pai__facts_role_of(s->f, pointer);
  const char *name = role != NULL ? role->name : NULL;
  size_t len = role != NULL ? role->len : 0;
  size_t start = tag->path.start < s->at ? tag->path.start : s->at;
  size_t end = tag->path.end > s->at ? tag->path.end : s->at, dot = s->at;
  pai__node node;
  unsigned count;

  s->replaces = (pai__span){ start, end };
  while (dot > start && s->f->text[dot - 1] != '.')
    dot--;
  if (dot > start) { /* keys of what precedes the dot */
    if (pai__facts_value(s->f, rule->templates, name, len,
                         (pai__span){ start, dot - 1 }, &node))
      tell_keys(&n, s->f->text + start, dot - 1 - start, node);
    return;
  }
  count = pai__facts_scopes(s->f, rule->templates, name, len, scopes);
  for (unsigned i = 0; i < count; i++)
    tell_keys(&n, scopes[i].root, strlen(scopes[i].root), scopes[i].node);
}

/* --- variables ------------------------------------------------------------------------ */

typedef struct variables {
  pai__complete_state *s;
  const pai_spec *spec; /* NULL: the file has errors */
  const pai__platform_variable *variable;
  const pai__facts_role *role; /* in its name; NULL: none */
  const pai__facts_role *own;  /* around the cursor, or NULL */
  uint64_t index;
} variables;

/* Makes "number of tasks of a role (4)". */
static const char *detail_of(const variables *v)
{
  const pai__facts_role *role = v->role != NULL ? v->role : v->own;
  pai__buf value, b;

  pai__buf_init(&value, v->s->f->alloc);
  pai__buf_init(&b, v->s->f->alloc);
  pai__buf_str(&b, v->variable->says);
  if (pai__facts_put_known(&value, v->spec, v->variable,
                           role != NULL ? role->name : "",
                           role != NULL ? role->len : 0) > 0)
    pai__buf_printf(&b, " (%s)", pai__buf_text(&value));
  b.failed |= value.failed;
  pai__buf_dispose(&value);
  return kept(v->s, &b);
}

static int tell_variable(void *user_data, const char *label, size_t len)
{
  const variables *v = user_data;
  pai__completion c = { .kind = PAI__COMPLETE_VARIABLE };
  pai__buf b;

  if (v->s->count > MOST_VARIABLES)
    return v->s->rc;
  pai__buf_init(&b, v->s->f->alloc);
  pai__variable_put_name(&b, v->variable, v->role != NULL ? v->role->name : "",
                         v->role != NULL ? v->role->len : 0, v->index, label,
                         len);
  c.label = c.insert = kept(v->s, &b);
  c.detail = detail_of(v);
  pai__complete_tell(v->s, &c,
                     v->variable->v1 || *v->variable->name != 'P'
                       ? PAI__GROUP_LAST
                       : PAI__GROUP_USUAL);
  return v->s->rc;
}

/* Tells a variable for some tasks of a role. */
static void tell_tasks(variables *v)
{
  bool labels = pai__variable_has(v->variable, PAI__VARIABLE_LABEL);
  bool tasks = pai__variable_has(v->variable, PAI__VARIABLE_INDEX);
  const pai__facts_role *of = v->role != NULL ? v->role : v->own;
  uint64_t end = !tasks || of == NULL ? 1 : of->tasks;

  for (v->index = 0;
       v->index < end && v->index < MOST_TASKS && v->s->rc == PAI_OK;
       v->index++)
    if (!labels)
      (void)tell_variable(v, "", 0);
    else if (of != NULL)
      (void)pai__facts_labels(v->s->f, of, tell_variable, v);
}

static void complete_variable(pai__complete_state *s)
{
  const char *pointer = pai__buf_text(&s->place.pointer);
  variables v = { .s = s, .own = pai__facts_role_of(s->f, pointer) };
  pai_spec *spec;

  if (s->rc != PAI_OK)
    return;
  s->rc = pai__facts_spec(&spec, s->f);
  v.spec = spec;
  for (v.variable = pai__platform_variables;
       v.variable->name != NULL && s->rc == PAI_OK; v.variable++) {
    if (v.variable->v1 && s->f->version != 1)
      continue;
    v.role = NULL;
    if (!pai__variable_has(v.variable, PAI__VARIABLE_ROLE)) {
      tell_tasks(&v);
      continue;
    }
    for (size_t i = 0; s->rc == PAI_OK && i < s->f->nroles; i++) {
      v.role = &s->f->roles[i];
      if (v.role->len > 0)
        tell_tasks(&v);
    }
  }
  pai_spec_unref(spec);
}

/* Variables that the job file sets. */
static void complete_own(pai__complete_state *s)
{
  const pai__tree *t = s->f->tree;
  pai__node n = PAI__NO_NODE, key;
  pai__tree_walk walk;

  if (t->count > 0)
    n = pai__tree_look(
      t, pai__tree_look(t, pai__tree_get(t, 0, "extras"), "openpai"),
      "environment");
  if (!pai__tree_is(t, n, PAI__MAPPING))
    return;
  walk = pai__tree_iter(t, n);
  while (s->rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__completion c = { .kind = PAI__COMPLETE_VARIABLE,
                          .label = pai__tree_str(t, key, NULL) };
    pai__buf b;

    pai__buf_init(&b, s->f->alloc);
    pai__buf_str(&b, "variable of this job (");
    pai__facts_put_plain(&b, s->f, pai__tree_value(t, key), LONGEST_DETAIL);
    pai__buf_char(&b, ')');
    c.insert = c.label;
    c.detail = kept(s, &b);
    pai__complete_tell(s, &c, PAI__GROUP_FIRST);
  }
}

/* --- both ------------------------------------------------------------------------------- */

bool pai__complete_text(pai__complete_state *s, const pai__spec_rule *rule)
{
  const char *text = s->f->text;
  size_t start = s->at, end;
  pai__facts_tag tag;

  if (rule->templates == PAI__TEMPLATES_NONE)
    return false;
  if (s->f->version != 1 && find_tag(s, &tag)) {
    complete_tag(s, rule, &tag);
    return true;
  }
  while (start > s->place.value && is_word(text[start - 1]))
    start--;
  end = s->at;
  while (end < s->place.value_end && is_word(text[end]))
    end++;
  if (rule->templates != PAI__TEMPLATES_COMMAND || start == 0 ||
      (text[start - 1] != '$' &&
       !(text[start - 1] == '{' && start > 1 && text[start - 2] == '$') &&
       (s->at < start + 3 || memcmp(text + start, "PAI", 3) != 0)))
    return rule->templates == PAI__TEMPLATES_COMMAND &&
           s->place.value_end > s->place.value;
  s->replaces = (pai__span){ start, end };
  complete_own(s);
  complete_variable(s);
  return true;
}
