/* hover.c - describes what is at a byte */
#include "language/facts/parts.h"
#include "spec/commands.h"
#include "spec/values.h"

enum { LONGEST_SCRIPT = 4000 };

typedef struct hover {
  const pai__facts *f;
  size_t at;
  pai__spec_scan place;
  pai__spec_ruled ruled;
  pai__node node;              /* of the value, or PAI__NO_NODE */
  const pai__facts_role *role; /* around it, or NULL */
  pai__span range;
  pai__buf out;
} hover;

/* --- texts ------------------------------------------------------------------- */

/* Appends a text as a block of code, at most so long. */
static void put_block(pai__buf *out, const char *s, size_t len)
{
  bool cut = len > LONGEST_SCRIPT;

  if (cut)
    for (len = LONGEST_SCRIPT; (s[len] & 0xc0) == 0x80;)
      len--;
  pai__buf_str(out, "~~~~sh\n");
  pai__buf_add(out, s, len);
  pai__buf_printf(out, "%s\n~~~~", cut ? "\n..." : "");
}

static const char *role_name(const hover *h)
{
  return h->role != NULL ? h->role->name : NULL;
}

static size_t role_len(const hover *h)
{
  return h->role != NULL ? h->role->len : 0;
}

/* Describes the template tag at the cursor. */
static bool hover_tag(hover *h)
{
  pai__span left = { h->place.value, h->place.value_end };
  pai__facts_tag tag;
  pai__node value;

  while (h->f->version != 1 && pai__facts_tag_next(h->f, left, &tag)) {
    left.start = tag.whole.end;
    if (h->at < tag.whole.start || h->at > tag.whole.end)
      continue;
    h->range = tag.whole;
    pai__buf_str(&h->out, "**");
    pai__buf_add(&h->out, h->f->text + tag.path.start,
                 tag.path.end - tag.path.start);
    pai__buf_str(&h->out, "**: ");
    if (!pai__facts_value(h->f, h->ruled.rule->templates, role_name(h),
                          role_len(h), tag.path, &value))
      pai__buf_str(&h->out, "has no value here, and stays as it is");
    else if (value != PAI__NO_NODE)
      pai__facts_put_value(&h->out, h->f, value);
    else
      pai__buf_str(&h->out, "a number");
    return true;
  }
  return false;
}

/* Appends the value of a variable, if the file says it. */
static int put_known(hover *h, const pai__facts_variable *v)
{
  const pai__variable_part *named = &v->parts.part[PAI__VARIABLE_ROLE];
  const char *role =
    named->len > 0 ? h->f->text + v->span.start + named->at : role_name(h);
  pai_spec *spec;
  pai__buf value;
  uint32_t n;
  int rc = pai__facts_spec(&spec, h->f);

  if (rc < 0)
    return rc;
  pai__buf_init(&value, h->f->alloc);
  n = pai__facts_put_known(&value, spec, v->is, role,
                           named->len > 0 ? named->len : role_len(h));
  if (n > 1)
    pai__buf_printf(&h->out, "\n\nValue of tasks 0 to %u: `%s`", n - 1,
                    pai__buf_text(&value));
  else if (n == 1)
    pai__buf_printf(&h->out, "\n\nValue: `%s`", pai__buf_text(&value));
  if (!pai__buf_ok(&value))
    rc = PAI_ENOMEM;
  pai__buf_dispose(&value);
  pai_spec_unref(spec);
  return rc;
}

/* Describes the variable at the cursor; PAI_ENOTFOUND: none is there. */
static int hover_variable(hover *h)
{
  pai__span left = { h->place.value, h->place.value_end };
  pai__facts_variable v;

  if (h->ruled.rule->templates != PAI__TEMPLATES_COMMAND)
    return PAI_ENOTFOUND;
  if (left.start < pai__facts_line(h->f, h->at))
    left.start = pai__facts_line(h->f, h->at);
  if (left.end > pai__facts_eol(h->f, h->at))
    left.end = pai__facts_eol(h->f, h->at);
  while (pai__facts_variable_next(h->f, left, &v)) {
    left.start = v.span.end;
    if (h->at < v.span.start || h->at > v.span.end)
      continue;
    h->range = v.span;
    pai__buf_str(&h->out, "**");
    pai__buf_add(&h->out, h->f->text + v.span.start,
                 v.span.end - v.span.start);
    pai__buf_printf(&h->out, "**: %s",
                    v.is != NULL ? v.is->says
                                 : "the platform sets no such variable");
    return v.is != NULL ? put_known(h, &v) : PAI_OK;
  }
  return PAI_ENOTFOUND;
}

/* Appends the text with its templates filled in, except secrets. */
static int put_rendered(hover *h, const char *s, size_t len)
{
  pai__template_scope scopes[PAI__FACTS_SCOPES];
  pai__template how = { .scopes = scopes };
  unsigned n = pai__facts_scopes(h->f, PAI__TEMPLATES_COMMAND, role_name(h),
                                 role_len(h), scopes);
  pai__buf text;
  int rc;

  how.nscopes = n > 0 ? n - 1 : 0; /* the last has the secrets */
  pai__buf_init(&text, h->f->alloc);
  rc = pai__template_render(&text, s, len, &how, NULL);
  if (rc == PAI_OK) {
    pai__buf_str(&h->out, "\n\nRuns:\n\n");
    put_block(&h->out, pai__buf_text(&text), text.len);
  }
  pai__buf_dispose(&text);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

/* The commands of a role, with those of the deployment in use. */
static int put_script(hover *h)
{
  pai__commands commands;
  int rc;

  if (h->f->version == 1 || h->role == NULL || h->ruled.field == NULL ||
      strcmp(h->ruled.field->name, "commands") != 0)
    return PAI_OK;
  pai__commands_init(&commands, h->f->alloc);
  commands.hide = &h->f->secrets;
  rc = pai__commands_join(&commands, &h->f->index, h->role->key);
  if (rc == PAI_OK)
    rc = put_rendered(h, pai__buf_text(&commands.text), commands.text.len);
  pai__commands_dispose(&commands);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

/* --- sizes --------------------------------------------------------------------- */

static void put_role(pai__buf *out, const pai__facts_role *role)
{
  pai__buf_str(out, "\n\nEach task: ");
  pai__facts_put_sizes(out, role->gpus, role->cpu_millis, role->memory_mb);
  if (role->tasks == 1)
    return;
  pai__buf_printf(out, "\n\n%llu tasks: ", (unsigned long long)role->tasks);
  pai__facts_put_sizes(out, role->tasks * role->gpus,
                       role->tasks * role->cpu_millis,
                       role->tasks * role->memory_mb);
}

/* Appends what the role at the place requests, or the whole job. */
static void put_sizes(hover *h)
{
  uint64_t tasks = 0, gpus = 0, cpus = 0, memory = 0;

  if (h->role != NULL) {
    if (h->node == h->role->node ||
        (h->ruled.field != NULL &&
         strcmp(h->ruled.field->name, "resourcePerInstance") == 0))
      put_role(&h->out, h->role);
    return;
  }
  if (h->ruled.field == NULL || strcmp(h->ruled.field->name, "taskRoles") != 0)
    return;
  for (size_t i = 0; i < h->f->nroles; i++) {
    const pai__facts_role *role = &h->f->roles[i];

    tasks += role->tasks;
    gpus += role->tasks * role->gpus;
    cpus += role->tasks * role->cpu_millis;
    memory += role->tasks * role->memory_mb;
  }
  pai__buf_printf(&h->out, "\n\n%llu task%s: ", (unsigned long long)tasks,
                  tasks == 1 ? "" : "s");
  pai__facts_put_sizes(&h->out, gpus, cpus, memory);
}

/* --- values --------------------------------------------------------------------- */

/* Returns the field of a place that says what its absence means. */
static pai__site_field site_of(const char *pointer)
{
  pai__site_field field = { .site = PAI__SITE_ROOT };
  char token[256];

  while (*pointer == '/') {
    size_t len = strcspn(++pointer, "/");

    if (len >= sizeof(token))
      return (pai__site_field){ .site = PAI__SITE_ANY };
    memcpy(token, pointer, len);
    token[len] = '\0';
    field = pai__site_below(field.site, token);
    pointer += len;
  }
  return field;
}

/* Appends the value, and what it means if that is the default. */
static void put_value(hover *h)
{
  const pai__tree *t = h->f->tree;
  pai__site_field site = site_of(pai__buf_text(&h->place.pointer));
  pai__node n = h->node;

  if (n == PAI__NO_NODE || pai__tree_type(t, n) >= PAI__SEQUENCE ||
      h->ruled.rule->templates == PAI__TEMPLATES_COMMAND)
    return;
  pai__buf_str(&h->out, "\n\nValue: ");
  pai__facts_put_value(&h->out, h->f, n);
  if (h->f->version == 1 || pai__site_counted(&site, t, n) != PAI__NO_NODE)
    return;
  if (site.absence == PAI__ABSENT_NUMBER)
    pai__buf_printf(&h->out, ", which means `%lld`", (long long)site.number);
  else if (site.absence == PAI__ABSENT_INSTANCES && h->role != NULL)
    pai__buf_printf(&h->out, ", which means `%llu`",
                    (unsigned long long)h->role->tasks);
  else if (site.absence == PAI__ABSENT_TEXT)
    pai__buf_printf(&h->out, ", which means `%s`", site.text);
}

/* Appends what a name stands for. */
static void put_named(hover *h)
{
  const pai__tree *t = h->f->tree;
  const char *type = h->ruled.rule->name_type, *name;
  pai__node found, uri;
  size_t len;

  name = pai__text_at(t, h->node, &len);
  if (h->ruled.rule->names != PAI__NAMES_PREREQUISITE || type == NULL ||
      name == NULL || h->ruled.rule->declares)
    return;
  found = pai__index_find(&h->f->index, type, name, len);
  uri = pai__tree_get(t, found, "uri");
  if (found == PAI__NO_NODE)
    pai__buf_printf(&h->out, "\n\nThere is no such %s prerequisite", type);
  else if (uri != PAI__NO_NODE) {
    pai__buf_str(&h->out, "\n\nUri: ");
    pai__facts_put_value(&h->out, h->f, uri);
  }
}

/* --- the place ---------------------------------------------------------------------- */

/* Appends the last token of the pointer, which names the entry. */
static void put_title(hover *h)
{
  const char *pointer = pai__buf_text(&h->place.pointer);
  const char *name = strrchr(pointer, '/');

  if (h->ruled.field != NULL) {
    pai__facts_describe(&h->out, &h->ruled, h->ruled.field->name);
    return;
  }
  if (h->place.on == PAI_ON_KEY && name != NULL) {
    pai__buf_printf(&h->out, "**%s**: %s", name + 1, h->ruled.rule->what);
    return;
  }
  pai__facts_describe(&h->out, &h->ruled, NULL);
}

static int describe_place(hover *h)
{
  size_t len = 0;
  const char *s = NULL;
  int rc = PAI_OK;

  put_title(h);
  put_value(h);
  put_named(h);
  put_sizes(h);
  if (h->place.on == PAI_ON_KEY)
    rc = put_script(h);
  if (h->node != PAI__NO_NODE)
    s = pai__text_at(h->f->tree, h->node, &len);
  if (s != NULL && h->ruled.rule->templates == PAI__TEMPLATES_COMMAND &&
      memchr(s, '<', len) != NULL && h->f->version != 1 &&
      !pai__secrets_hide(&h->f->secrets, h->node))
    rc = put_rendered(h, s, len);
  return rc;
}

static int describe(hover *h)
{
  int rc = PAI_ENOTFOUND;

  h->range = h->place.on == PAI_ON_KEY
               ? (pai__span){ h->place.key, h->place.key_end }
               : (pai__span){ h->place.value, h->place.value_end };
  if (h->place.on == PAI_ON_VALUE &&
      h->ruled.rule->templates != PAI__TEMPLATES_NONE)
    rc = hover_tag(h) ? PAI_OK : hover_variable(h);
  return rc == PAI_ENOTFOUND ? describe_place(h) : rc;
}

/* A key of a free mapping, as a parameter, has no rule of its own. */
static bool find_rule(hover *h)
{
  const char *pointer = pai__buf_text(&h->place.pointer);
  static const pai__spec_rule parameter = { .what = "a parameter",
                                            .types = PAI__T_ANY };
  static const pai__spec_rule secret = { .what = "a secret",
                                         .types = PAI__T_ANY };
  pai__spec_ruled up;

  h->ruled = pai__spec_rule_at(h->f->rules, h->f->tree, pointer, 0);
  if (h->ruled.rule != NULL)
    return true;
  up = pai__spec_rule_at(h->f->rules, h->f->tree, pointer, 1);
  if (up.rule == NULL || !up.rule->declares)
    return false;
  h->ruled.rule =
    up.rule->key_names == PAI__NAMES_SECRET ? &secret : &parameter;
  return true;
}

static int find(hover *h)
{
  int rc = pai__facts_place(&h->place, h->f, h->at);
  const char *pointer;

  if (rc < 0)
    return rc;
  pointer = pai__buf_text(&h->place.pointer);
  if (h->place.on == PAI_ON_SPACE || !find_rule(h))
    return PAI_ENOTFOUND;
  h->node = pai__facts_node(h->f, pointer);
  h->role = pai__facts_role_of(h->f, pointer);
  rc = describe(h);
  if (rc == PAI_OK && !pai__buf_ok(&h->out))
    rc = PAI_ENOMEM;
  return rc == PAI_OK && h->out.len == 0 ? PAI_ENOTFOUND : rc;
}

int pai__hover(const pai__language_text *t, size_t at, pai__span *range,
               pai__buf *markdown)
{
  pai__facts f;
  hover h = { .f = &f, .at = at };
  int rc;

  *range = (pai__span){ 0, 0 };
  if (at > t->len)
    return PAI_ENOTFOUND;
  rc = pai__facts_open(&f, t, SIZE_MAX);
  pai__buf_init(&h.out, t->alloc);
  pai__buf_init(&h.place.pointer, t->alloc);
  if (rc == PAI_OK)
    rc = find(&h);
  if (rc == PAI_OK) {
    *range = h.range;
    pai__buf_add(markdown, pai__buf_text(&h.out), h.out.len);
    rc = pai__buf_ok(markdown) ? PAI_OK : PAI_ENOMEM;
  }
  pai__buf_dispose(&h.place.pointer);
  pai__buf_dispose(&h.out);
  pai__facts_close(&f);
  return rc == PAI_ELIMIT ? PAI_ENOTFOUND : rc;
}
