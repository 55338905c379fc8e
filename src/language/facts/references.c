/* references.c - definition, references and renaming of names */
#include "language/facts/parts.h"

/* --- references ---------------------------------------------------------- */

typedef struct collector {
  pai__facts_name like;
  pai__facts_name *list;
  size_t len, cap;
  const pai_alloc *alloc;
} collector;

static int on_name(void *user_data, const pai__facts_name *name)
{
  collector *c = user_data;

  if (!pai__facts_same_name(name, &c->like))
    return PAI_OK;
  if (PAI__VEC_ROOM(c->alloc, c->list, c->len, c->cap) < 0)
    return PAI_ENOMEM;
  c->list[c->len++] = *name;
  return PAI_OK;
}

/* Sorts by place; the list is nearly sorted. */
static void sort(collector *c)
{
  for (size_t i = 1; i < c->len; i++)
    for (size_t k = i;
         k > 0 && c->list[k - 1].span.start > c->list[k].span.start; k--) {
      pai__facts_name kept = c->list[k];

      c->list[k] = c->list[k - 1];
      c->list[k - 1] = kept;
    }
}

/* A use that may be of any type has the type of what it finds. */
static void add_type(const pai__facts *f, pai__facts_name *name)
{
  static const char *const types[] = { "dockerimage", "script", "output",
                                       "data" };

  if (name->kind != PAI__NAMES_PREREQUISITE || name->type != NULL)
    return;
  for (size_t i = 0; i < PAI__LEN(types) && name->type == NULL; i++)
    if (pai__index_find(&f->index, types[i], name->name, name->len) !=
        PAI__NO_NODE)
      name->type = types[i];
}

static int find_all(const pai__facts *f, size_t at, collector *c)
{
  const pai__facts_visitor visitor = { on_name, NULL, c };
  int rc = pai__facts_name_at(f, at, &c->like);

  c->alloc = f->alloc;
  if (rc == PAI_OK) {
    add_type(f, &c->like);
    rc = pai__facts_names(f, &visitor);
  }
  if (rc == PAI_OK)
    sort(c);
  return rc == PAI_ENOTFOUND ? PAI_OK : rc;
}

int pai__references(const pai__language_text *t, size_t at,
                    pai__reference_cb cb, void *user_data)
{
  collector c = { .len = 0 };
  bool declared = false;
  pai__facts f;
  int rc = pai__facts_open(&f, t, SIZE_MAX);

  if (rc == PAI_OK)
    rc = find_all(&f, at, &c);
  for (size_t i = 0; rc == PAI_OK && i < c.len; i++) {
    bool first = c.list[i].declares && !declared;
    const pai__reference r = { c.list[i].span, first, c.list[i].declares };

    declared |= first;
    rc = cb(user_data, &r);
  }
  pai__free(f.alloc, c.list, c.cap * sizeof(*c.list));
  return pai__facts_end(&f, rc);
}

/* --- renaming -------------------------------------------------------------- */

/* Names in templates end at dots and brackets, so they need a form, too. */
static enum pai__spec_form form_of(const pai__facts *f,
                                   const pai__facts_name *name)
{
  if (f->version == 1)
    return PAI__FORM_SKU;
  if (!f->job)
    return name->kind == PAI__NAMES_NODE ? PAI__FORM_V1_JOB : PAI__FORM_JOB;
  return name->kind == PAI__NAMES_ROLE || name->kind == PAI__NAMES_PORT
           ? PAI__FORM_IDENT
           : PAI__FORM_JOB;
}

static int check_new(const pai__facts *f, const pai__facts_name *old,
                     const char *text, pai_error **err)
{
  enum pai__spec_form form = form_of(f, old);
  pai__facts_name name = *old;

  name.name = text;
  name.len = strlen(text);
  if (name.len > 255 || !pai__form_fits(form, text, name.len))
    return pai__fail(err, PAI_EINVAL, "'%.80s' is not a name of a %s: use %s",
                     text, pai__facts_kind_of(old), pai__form_says(form));
  if (!pai__facts_same_name(&name, old) && pai__facts_declared(f, &name))
    return pai__fail(err, PAI_EEXISTS, "there is a %s '%s' already",
                     pai__facts_kind_of(old), text);
  return PAI_OK;
}

int pai__can_rename(const pai__language_text *t, size_t at,
                    const char *new_name, pai__span *name, pai_error **err)
{
  pai__facts_name found;
  pai__facts f;
  int rc;

  pai__clear_err(err);
  *name = (pai__span){ 0, 0 };
  rc = pai__facts_open(&f, t, SIZE_MAX);
  if (rc == PAI_OK)
    rc = pai__facts_name_at(&f, at, &found);
  if (rc == PAI_OK) {
    add_type(&f, &found);
    *name = found.span;
    if (new_name != NULL)
      rc = check_new(&f, &found, new_name, err);
  } else if (rc == PAI_ENOMEM) {
    rc = pai__oom(err);
  } else {
    rc = pai__fail(err, PAI_ENOTFOUND, "nothing here can be renamed");
  }
  pai__facts_close(&f);
  return rc;
}
