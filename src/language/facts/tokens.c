/* tokens.c - semantic tokens: templates, variables and names */
#include "language/facts/parts.h"

#include <stdlib.h>

typedef struct token {
  pai__span span;
  enum pai__token_type type;
  unsigned modifiers;
} token;

typedef struct tokens {
  const pai__facts *f;
  token *list;
  size_t len, cap;
} tokens;

static int add(tokens *t, size_t start, size_t end, enum pai__token_type type,
               unsigned modifiers)
{
  if (start >= end)
    return PAI_OK;
  if (PAI__VEC_ROOM(t->f->alloc, t->list, t->len, t->cap) < 0)
    return PAI_ENOMEM;
  t->list[t->len++] = (token){ { start, end }, type, modifiers };
  return PAI_OK;
}

/* --- names ------------------------------------------------------------------ */

static int on_name(void *user_data, const pai__facts_name *name)
{
  tokens *t = user_data;
  unsigned modifiers = name->declares ? PAI__TOKEN_DECLARATION : 0;

  if (name->in_text || (name->kind != PAI__NAMES_ROLE &&
                        name->kind != PAI__NAMES_PREREQUISITE &&
                        name->kind != PAI__NAMES_DEPLOYMENT &&
                        name->kind != PAI__NAMES_CELL_TYPE))
    return PAI_OK;
  return add(t, name->span.start, name->span.end,
             name->kind == PAI__NAMES_ROLE ? PAI__TOKEN_CLASS
                                           : PAI__TOKEN_TYPE,
             modifiers);
}

/* --- texts ------------------------------------------------------------------- */

static int add_tag(tokens *t, const pai__facts_text *text,
                   const pai__facts_tag *tag)
{
  pai__span root, key;
  pai__node node;
  unsigned modifiers =
    pai__facts_value(t->f, text->rule->templates, text->role, text->role_len,
                     tag->path, &node)
      ? 0
      : PAI__TOKEN_UNRESOLVED;
  int rc = add(t, tag->whole.start, tag->whole.start + 2, PAI__TOKEN_MACRO, 0);

  pai__facts_tag_split(t->f, tag, &root, &key);
  if (rc == PAI_OK)
    rc = add(t, root.start, root.end, PAI__TOKEN_NAMESPACE, 0);
  if (rc == PAI_OK)
    rc = add(t, key.start, tag->path.end, PAI__TOKEN_PARAMETER, modifiers);
  if (rc == PAI_OK && tag->closed)
    rc = add(t, tag->whole.end - 2, tag->whole.end, PAI__TOKEN_MACRO, 0);
  return rc;
}

static int on_text(void *user_data, const pai__facts_text *text)
{
  tokens *t = user_data;
  pai__span left = text->span;
  pai__facts_tag tag;
  pai__facts_variable v;
  int rc = PAI_OK;

  if (t->f->version == 1)
    left.start = left.end; /* v1 has no templates */
  while (rc == PAI_OK && pai__facts_tag_next(t->f, left, &tag)) {
    rc = add_tag(t, text, &tag);
    left.start = tag.whole.end;
  }
  left = text->span;
  while (rc == PAI_OK && text->rule->templates == PAI__TEMPLATES_COMMAND &&
         pai__facts_variable_next(t->f, left, &v)) {
    rc = add(t, v.span.start, v.span.end, PAI__TOKEN_VARIABLE,
             v.is != NULL ? PAI__TOKEN_READONLY : PAI__TOKEN_UNRESOLVED);
    left.start = v.span.end;
  }
  return rc;
}

/* --- all ---------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
  const token *x = a, *y = b;

  if (x->span.start != y->span.start)
    return x->span.start < y->span.start ? -1 : 1;
  return (x->span.end < y->span.end) - (x->span.end > y->span.end);
}

static int tell(tokens *t, pai__token_cb cb, void *user_data)
{
  size_t last = 0;
  int rc = PAI_OK;

  if (t->len > 0)
    qsort(t->list, t->len, sizeof(*t->list), compare);
  for (size_t i = 0; rc == PAI_OK && i < t->len; i++) {
    const token *x = &t->list[i];

    if (x->span.start < last || !pai__facts_one_line(t->f, x->span))
      continue; /* inside of another, or on several lines */
    rc = cb(user_data, x->span, x->type, x->modifiers);
    last = x->span.end;
  }
  return rc;
}

int pai__tokens(const pai__language_text *t, pai__token_cb cb, void *user_data)
{
  pai__facts f;
  tokens all = { .f = &f };
  const pai__facts_visitor visitor = { on_name, on_text, &all };
  int rc = pai__facts_open(&f, t, SIZE_MAX);

  if (rc == PAI_OK)
    rc = pai__facts_names(&f, &visitor);
  if (rc == PAI_OK)
    rc = tell(&all, cb, user_data);
  pai__free(f.alloc, all.list, all.cap * sizeof(*all.list));
  return pai__facts_end(&f, rc);
}
