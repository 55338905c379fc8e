/* names.c - definition, references, highlights and renaming of names */
#include "language/language.h"

typedef struct pai__language_naming {
  pai_language *l;
  pai__language_request *r;
  bool declaration;     /* references: the declaration, too */
  const char *new_name; /* of a renaming */
} pai__language_naming;

static void put_location(pai__language_naming *x, pai__span span)
{
  pai__json_write(&x->r->w, "{uri:s", x->r->doc->uri);
  pai__put_range(x->l, x->r->doc, &x->r->w, "range", span);
  pai__json_end_object(&x->r->w);
}

static int put_definition(void *user_data, const pai__reference *ref)
{
  if (ref->is_declaration)
    put_location(user_data, ref->span);
  return PAI_OK;
}

static int put_reference(void *user_data, const pai__reference *ref)
{
  pai__language_naming *x = user_data;

  if (!ref->is_declaration || x->declaration)
    put_location(x, ref->span);
  return PAI_OK;
}

static int put_highlight(void *user_data, const pai__reference *ref)
{
  enum { READ = 2, WRITE = 3 };
  pai__language_naming *x = user_data;
  pai__json_writer *w = &x->r->w;

  pai__json_begin_object(w);
  pai__put_range(x->l, x->r->doc, w, "range", ref->span);
  pai__json_put_int(w, "kind", ref->is_write ? WRITE : READ);
  pai__json_end_object(w);
  return PAI_OK;
}

static int put_names(pai__language_naming *x, pai__reference_cb cb)
{
  pai__language_text text = pai__doc_text(&x->l->docs, x->r->doc);
  int rc;

  pai__json_begin_array(&x->r->w);
  rc = pai__references(&text, x->r->at, cb, x);
  pai__json_end_array(&x->r->w);
  return rc;
}

PAI__LANGUAGE_HANDLER(definition)
{
  return put_names(&(pai__language_naming){ .l = l, .r = r }, put_definition);
}

PAI__LANGUAGE_HANDLER(references)
{
  pai__node context = pai__tree_get(r->tree, r->params, "context");
  pai__language_naming x = { .l = l,
                             .r = r,
                             .declaration = pai__tree_is_true(
                               r->tree, pai__tree_get(r->tree, context,
                                                      "includeDeclaration")) };

  return put_names(&x, put_reference);
}

PAI__LANGUAGE_HANDLER(highlight)
{
  return put_names(&(pai__language_naming){ .l = l, .r = r }, put_highlight);
}

/* --- renaming ------------------------------------------------------------------------ */

static int put_new_name(void *user_data, const pai__reference *ref)
{
  pai__language_naming *x = user_data;

  pai__put_edit(x->l, x->r->doc, &x->r->w, ref->span, x->new_name,
                strlen(x->new_name));
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(prepare_rename)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai_error *why = NULL;
  pai__span name;
  int rc = pai__can_rename(&text, r->at, NULL, &name, &why);

  pai_error_free(why);
  if (rc == PAI_OK)
    pai__put_span(l, r->doc, &r->w, name);
  else if (rc != PAI_ENOMEM)
    pai__json_null(&r->w);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

PAI__LANGUAGE_HANDLER(rename)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai__language_naming x = { .l = l,
                             .r = r,
                             .new_name = pai__tree_look_text(
                               r->tree, r->params, "newName", NULL) };
  pai__span name;
  int rc;

  if (x.new_name == NULL)
    return pai__language_refuse(r, PAI__RPC_INVALID_PARAMS,
                                "newName must be a string");
  rc = pai__can_rename(&text, r->at, x.new_name, &name, r->err);
  if (rc < 0)
    return rc;
  pai__put_workspace_edit(r->doc, &r->w);
  rc = pai__references(&text, r->at, put_new_name, &x);
  pai__end_workspace_edit(&r->w);
  return rc;
}
