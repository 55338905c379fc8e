/* actions.c - changes of a file beyond the fixes of its problems */
#include "language/facts/parts.h"
#include "json/json.h"
#include "spec/edit/edit.h"
#include "yaml/yaml.h"

typedef struct action_state {
  pai__facts *f;
  pai__span span;
  pai__spec_scan place; /* of its start */
  pai__language_action_cb cb;
  void *user_data;
} action_state;

/* --- telling ---------------------------------------------------------------------- */

static bool is_part(char c) /* of a character in UTF-8 */
{
  return ((unsigned char)c & 0xc0) == 0x80;
}

/* Tells an action whose result is a whole text, as the shortest edit. */
static int tell(const action_state *a, const char *title,
                enum pai__language_action_kind kind, const pai__buf *text)
{
  const char *old = a->f->text, *new_text = pai__buf_text(text);
  size_t len = a->f->len, start = 0, end = 0;
  pai__language_edit edit;
  pai__language_action action = { title, kind, &edit, 1 };
  char *part;
  int rc;

  if (!pai__buf_ok(text) || title == NULL)
    return PAI_ENOMEM;
  while (start < len && start < text->len && old[start] == new_text[start])
    start++;
  while (start > 0 && is_part(old[start]))
    start--;
  while (end < len - start && end < text->len - start &&
         old[len - end - 1] == new_text[text->len - end - 1])
    end++;
  while (end > 0 && is_part(old[len - end]))
    end--;
  if (start + end == len && len == text->len)
    return PAI_OK; /* nothing changes */
  part = pai__strndup(a->f->alloc, new_text + start, text->len - start - end);
  if (part == NULL)
    return PAI_ENOMEM;
  edit = (pai__language_edit){ { start, len - end }, part };
  rc = a->cb(a->user_data, &action);
  pai__strfree(a->f->alloc, part);
  return rc;
}

/* An edit that the text does not allow is no action. */
static int kept(int rc)
{
  return rc < 0 && rc != PAI_ENOMEM ? PAI_ENOTFOUND : rc;
}

/* Sets a place of a tree to a value in YAML; *tree is replaced, unless it is
 * that of the text. */
static int set(const pai__facts *f, pai__tree **tree, pai__buf *text,
               const char *path, const char *value, size_t len)
{
  const pai__yaml_options o = { .alloc = f->alloc };
  pai__tree *made = NULL, *v = NULL;
  int rc = pai__yaml_parse(&v, value, len, &o, NULL);

  pai__buf_clear(text);
  if (rc == PAI_OK)
    rc = pai__edit_read(text, &made, *tree, path, v, NULL);
  pai__tree_free(v);
  if (rc == PAI_OK) {
    if (*tree != f->tree)
      pai__tree_free(*tree);
    *tree = made;
  }
  return kept(rc);
}

static void drop(const pai__facts *f, pai__tree *tree)
{
  if (tree != f->tree)
    pai__tree_free(tree);
}

/* --- fill in required fields -------------------------------------------------------- */

/* Adds the fields that a mapping lacks.  *count is their number. */
static int fill(const action_state *a, const pai__spec_rule *rule,
                pai__node mapping, const char *pointer, pai__buf *text,
                unsigned *count)
{
  pai__tree *tree = a->f->tree;
  int rc = PAI_OK;

  for (const pai__spec_field *p = rule->fields;
       rc == PAI_OK && p != NULL && p->name != NULL; p++) {
    pai__buf value, path;
    pai__piece_maker m = { .out = &value, .form = PAI__PIECE_JSON };

    if (!pai__piece_wants(p) || p->absent != PAI__NEEDED ||
        pai__tree_get(a->f->tree, mapping, p->name) != PAI__NO_NODE)
      continue;
    pai__buf_init(&value, a->f->alloc);
    pai__buf_init(&path, a->f->alloc);
    pai__piece_value(&m, p->rule, p, NULL, false);
    pai__buf_printf(&path, "%s/%s", pointer, p->name);
    rc = pai__buf_ok(&value) && pai__buf_ok(&path)
           ? set(a->f, &tree, text, pai__buf_text(&path),
                 pai__buf_text(&value), value.len)
           : PAI_ENOMEM;
    pai__buf_dispose(&path);
    pai__buf_dispose(&value);
    ++*count;
  }
  drop(a->f, tree);
  return rc;
}

/* For the innermost mapping that lacks fields. */
static int fill_in(const action_state *a)
{
  pai__facts *f = a->f;
  pai__buf pointer, text;
  int rc = PAI_OK;
  unsigned count = 0;

  pai__buf_init(&pointer, f->alloc);
  pai__buf_init(&text, f->alloc);
  pai__buf_str(&pointer, pai__buf_text(&a->place.pointer));
  while (rc == PAI_OK && count == 0 && pai__buf_ok(&pointer)) {
    const char *s = pai__buf_text(&pointer), *up = strrchr(s, '/');
    pai__spec_ruled ruled = pai__spec_rule_at(f->rules, f->tree, s, 0);
    pai__node n = pai__facts_node(f, s);
    const pai__spec_rule *rule =
      ruled.rule != NULL && n != PAI__NO_NODE
        ? pai__spec_rule_inside(ruled.rule, f->tree, n)
        : NULL;

    if (rule != NULL && pai__tree_is(f->tree, n, PAI__MAPPING))
      rc = fill(a, rule, n, s, &text, &count);
    if (up == NULL)
      break;
    pai__buf_cut(&pointer, (size_t)(up - s));
    pointer.data[pointer.len] = '\0';
  }
  if (!pai__buf_ok(&pointer))
    rc = PAI_ENOMEM;
  if (rc == PAI_OK && count > 0)
    rc = tell(a,
              pai__facts_format(f, "Add %u required field%s", count,
                                count == 1 ? "" : "s"),
              PAI__ACTION_QUICK, &text);
  pai__buf_dispose(&text);
  pai__buf_dispose(&pointer);
  return rc == PAI_ENOTFOUND ? PAI_OK : rc;
}

/* --- add a time limit ------------------------------------------------------------------ */

/* Offered at the fields of the job, and in extras. */
static int limit_time(const action_state *a)
{
  static const char path[] = "/extras/openpai/timeLimit";
  const char *pointer = pai__buf_text(&a->place.pointer);
  pai__tree *tree = a->f->tree;
  const pai__spec_field *field;
  const char *second;
  pai__buf text;
  int rc;

  second = *pointer == '/' ? strchr(pointer + 1, '/') : NULL;
  if (a->f->version != 2 || !pai__tree_is(tree, 0, PAI__MAPPING) ||
      pai__facts_node(a->f, path) != PAI__NO_NODE ||
      (second != NULL && strncmp(pointer, "/extras", 7) != 0))
    return PAI_OK;
  field = pai__spec_rule_field(&pai__rules_openpai, "timeLimit", 9);
  pai__buf_init(&text, a->f->alloc);
  rc = set(a->f, &tree, &text, path, field->rule->example,
           strlen(field->rule->example));
  drop(a->f, tree);
  if (rc == PAI_OK)
    rc = tell(a, "Add a time limit", PAI__ACTION_QUICK, &text);
  pai__buf_dispose(&text);
  return rc == PAI_ENOTFOUND ? PAI_OK : rc;
}

/* --- move a secret ----------------------------------------------------------------------- */

/* Returns a name that `secrets` does not have, after the field's name. */
static const char *free_name(pai__facts *f, const char *field)
{
  pai__node secrets = pai__tree_get(f->tree, 0, "secrets");
  const char *name = pai__facts_format(f, "%s", field);

  for (unsigned i = 2; name != NULL; i++) {
    if (secrets == PAI__NO_NODE ||
        pai__tree_get(f->tree, secrets, name) == PAI__NO_NODE)
      return name;
    name = pai__facts_format(f, "%s_%u", field, i);
  }
  return NULL;
}

/* Sets the secret to the text, and the text to the secret's name. */
static int move(const action_state *a, pai__node n, const char *name,
                pai__buf *text)
{
  pai__facts *f = a->f;
  pai__tree *tree = f->tree;
  const char *path = pai__facts_format(f, "/secrets/%s", name);
  const char *use = pai__facts_format(f, "\"<%% $secrets.%s %%>\"", name);
  size_t len;
  const char *s = pai__tree_str(f->tree, n, &len);
  pai__buf value;
  int rc = PAI_ENOMEM;

  pai__buf_init(&value, f->alloc);
  pai__piece_text(&value, PAI__PIECE_JSON, s, len);
  if (path != NULL && use != NULL && pai__buf_ok(&value))
    rc = set(f, &tree, text, path, pai__buf_text(&value), value.len);
  if (rc == PAI_OK)
    rc =
      set(f, &tree, text, pai__buf_text(&a->place.pointer), use, strlen(use));
  drop(f, tree);
  pai__buf_wipe(&value);
  return rc;
}

static int move_secret(const action_state *a)
{
  pai__facts *f = a->f;
  const char *pointer = pai__buf_text(&a->place.pointer), *name;
  pai__spec_ruled ruled = pai__spec_rule_at(f->rules, f->tree, pointer, 0);
  pai__node n = pai__facts_node(f, pointer);
  pai__buf text;
  size_t len;
  int rc;

  name = pai__text_at(f->tree, n, &len);
  if (f->version != 2 || ruled.rule == NULL || name == NULL ||
      (ruled.rule->templates != PAI__TEMPLATES_ACCOUNT &&
       ruled.rule->templates != PAI__TEMPLATES_PLUGIN) ||
      !pai__secrets_hide(&f->secrets, n) || strstr(name, "<%") != NULL ||
      strrchr(pointer, '/') == NULL)
    return PAI_OK;
  name = free_name(f, strrchr(pointer, '/') + 1);
  if (name == NULL)
    return PAI_ENOMEM;
  pai__buf_init(&text, f->alloc);
  rc = move(a, n, name, &text);
  if (rc == PAI_OK)
    rc = tell(a, pai__facts_format(f, "Move it to secrets, as '%s'", name),
              PAI__ACTION_REFACTOR, &text);
  pai__buf_dispose(&text);
  return rc == PAI_ENOTFOUND ? PAI_OK : rc;
}

/* --- convert ------------------------------------------------------------------------------- */

static int convert(const action_state *a)
{
  pai_spec_options options = PAI_SPEC_OPTIONS_INIT;
  pai_spec_write_options how = PAI_SPEC_WRITE_OPTIONS_INIT;
  pai_spec *spec;
  pai__buf text;
  int rc;

  options.alloc = a->f->alloc;
  how.secrets = 1;
  if (a->f->version != 1)
    return PAI_OK;
  rc = pai_spec_parse(&spec, a->f->text, a->f->len, &options, NULL);
  if (rc < 0)
    return rc == PAI_ENOMEM ? rc : PAI_OK;
  pai__buf_init(&text, a->f->alloc);
  rc = pai_spec_write(spec, &how, pai__buf_write, &text, NULL);
  if (rc == PAI_OK)
    rc = tell(a, "Convert to job protocol v2 (YAML, without comments)",
              PAI__ACTION_REFACTOR, &text);
  pai_spec_unref(spec);
  pai__buf_dispose(&text);
  return rc < 0 && rc != PAI_ENOMEM ? PAI_OK : rc;
}

/* --- all ------------------------------------------------------------------------------------ */

int pai__more_actions(const pai__language_text *t, pai__span span,
                      pai__language_action_cb cb, void *user_data)
{
  static int (*const makers[])(
    const action_state *a) = { fill_in, move_secret, limit_time, convert };
  pai__facts f;
  action_state a = { .f = &f, .span = span, .cb = cb, .user_data = user_data };
  int rc;

  if (span.start > t->len)
    return PAI_OK;
  rc = pai__facts_open(&f, t, SIZE_MAX);
  if (rc == PAI_OK && f.scan == NULL) {
    rc = pai__facts_place(&a.place, &f, span.start);
    for (size_t i = 0; rc == PAI_OK && i < PAI__LEN(makers); i++)
      rc = makers[i](&a);
    pai__buf_dispose(&a.place.pointer);
  }
  return pai__facts_end(&f, rc);
}
