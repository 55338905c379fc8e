/* tags.c - template tags and environment variables in texts, as written */
#include "language/facts/parts.h"
#include "spec/commands.h"
#include "spec/template/template_value.h"

enum { LONGEST_PATH = 256 };
enum { MOST_ROLES = 256 }; /* whose names are looked for in variables */

static bool is_space(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

/* --- tags ------------------------------------------------------------------ */

bool pai__facts_tag_next(const pai__facts *f, pai__span in,
                         pai__facts_tag *tag)
{
  const char *s = f->text;
  size_t at = in.start;

  while (at + 1 < in.end && (s[at] != '<' || s[at + 1] != '%'))
    at++;
  if (at + 1 >= in.end)
    return false;
  *tag =
    (pai__facts_tag){ .whole = { at, at + 2 }, .path = { at + 2, at + 2 } };
  for (at += 2; at < in.end; at++) {
    tag->closed = s[at] == '%' && at + 1 < in.end && s[at + 1] == '>';
    if (tag->closed || s[at] == '\n' || s[at] == '\r' ||
        (s[at] == '<' && at + 1 < in.end && s[at + 1] == '%'))
      break;
  }
  tag->whole.end = tag->closed ? at + 2 : at;
  tag->path.end = at;
  while (tag->path.start < at && is_space(s[tag->path.start]))
    tag->path.start++;
  while (tag->path.end > tag->path.start && is_space(s[tag->path.end - 1]))
    tag->path.end--;
  return true;
}

void pai__facts_tag_split(const pai__facts *f, const pai__facts_tag *tag,
                          pai__span *root, pai__span *key)
{
  const char *s = f->text;
  size_t at = tag->path.start, end = tag->path.end;

  while (at < end && s[at] != '.' && s[at] != '[')
    at++;
  *root = (pai__span){ tag->path.start, at };
  at += at < end && s[at] == '.';
  *key = (pai__span){ at, at };
  while (key->end < end && s[key->end] != '.' && s[key->end] != '[')
    key->end++;
}

/* --- variables -------------------------------------------------------------- */

/* Names of task roles may have underscores, so each role is tried. */
static bool fits_role(const pai__facts *f, const pai__platform_variable *p,
                      pai__facts_variable *v)
{
  pai__variable_part *part = &v->parts.part[PAI__VARIABLE_ROLE];
  size_t before = strcspn(p->name, "{"), len = v->span.end - v->span.start;
  const char *name = f->text + v->span.start;

  if (len < before || memcmp(name, p->name, before) != 0)
    return false;
  for (size_t i = 0; i < MOST_ROLES && i < f->nroles; i++) {
    v->parts = (pai__variable_parts){ 0 };
    part->fixed = f->roles[i].name;
    part->len = f->roles[i].len;
    if (part->len > 0 && pai__variable_fits(p, name, len, &v->parts))
      return true;
  }
  return false;
}

/* Finds which variable a word is. */
static void find_variable(const pai__facts *f, pai__facts_variable *v)
{
  const char *name = f->text + v->span.start;
  size_t len = v->span.end - v->span.start;

  for (const pai__platform_variable *p = pai__platform_variables;
       p->name != NULL && v->is == NULL; p++) {
    v->parts = (pai__variable_parts){ 0 };
    if ((!p->v1 || f->version == 1) &&
        (pai__variable_has(p, PAI__VARIABLE_ROLE)
           ? fits_role(f, p, v)
           : pai__variable_fits(p, name, len, &v->parts)))
      v->is = p;
  }
}

bool pai__facts_variable_next(const pai__facts *f, pai__span in,
                              pai__facts_variable *variable)
{
  const char *s = f->text;

  for (size_t at = in.start; at < in.end; at++) {
    size_t end = at;

    while (end < in.end && is_word(s[end]))
      end++;
    if (end > at + 4 && s[at] >= 'A' && s[at] <= 'Z' &&
        memchr(s + at, '_', end - at) != NULL) {
      *variable = (pai__facts_variable){ .span = { at, end } };
      find_variable(f, variable);
      if (variable->is != NULL || memcmp(s + at, "PAI_", 4) == 0)
        return true;
    }
    if (end > at)
      at = end - 1;
  }
  return false;
}

/* --- values ------------------------------------------------------------------ */

unsigned pai__facts_scopes(const pai__facts *f, enum pai__spec_templates kind,
                           const char *role, size_t role_len,
                           pai__template_scope *scopes)
{
  const pai__tree *t = f->tree;
  pai__node node = PAI__NO_NODE, key;
  unsigned n = 0;

  if (kind == PAI__TEMPLATES_NONE || f->version == 1 || t->count == 0)
    return 0;
  if (kind != PAI__TEMPLATES_ACCOUNT) {
    key = role != NULL ? pai__tree_find(t, pai__tree_get(t, 0, "taskRoles"),
                                        role, role_len)
                       : PAI__NO_NODE;
    if (key != PAI__NO_NODE)
      node = pai__tree_value(t, key);
    pai__role_scopes(scopes, &f->index, node);
    n = PAI__ROLE_SCOPES;
  }
  scopes[n++] = pai__secrets_scope(t);
  return n;
}

/* As templates do, [n] of a path is read as .n. */
bool pai__facts_value(const pai__facts *f, enum pai__spec_templates kind,
                      const char *role, size_t role_len, pai__span path,
                      pai__node *node)
{
  pai__template_scope scopes[PAI__FACTS_SCOPES];
  pai__template how = { .scopes = scopes };
  pai__template_value value;
  char name[LONGEST_PATH];
  uint64_t work = 0;
  size_t n = 0;

  *node = PAI__NO_NODE;
  if (path.end - path.start > sizeof(name))
    return false;
  for (size_t i = path.start; i < path.end; i++)
    if (f->text[i] != ']')
      name[n++] = f->text[i] == '[' ? '.' : f->text[i];
  how.nscopes = pai__facts_scopes(f, kind, role, role_len, scopes);
  if (!pai__template_find(&value, &how, name, n, &work) ||
      value.kind == PAI__TEMPLATE_NOTHING)
    return false;
  if (value.kind == PAI__TEMPLATE_NODE)
    *node = value.node;
  return true;
}
