/*
 * openapi_schema.c - the document's schemas: of bodies, and of what is answered
 *
 * A body that has what its table has not is refused; answers may have more in
 * later versions, and so their schemas do not close them.
 */
#include "server/openapi.h"

#include <stdio.h>

typedef pai__json_writer writer;

void pai__openapi_text(writer *w, const char *key, const char *text)
{
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, text, strlen(text));
}

void pai__openapi_begin(writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
  pai__json_begin_object(w);
}

/* --- kinds ------------------------------------------------------------------------ */

static void put_reference(writer *w, const pai__shape *to)
{
  char text[80];

  (void)snprintf(text, sizeof(text), "#/components/schemas/%s", to->name);
  pai__openapi_text(w, "$ref", text);
}

/* What each in a list or a map is. */
static void put_each(writer *w, const char *key, const char *type,
                     const pai__shape *shape)
{
  pai__openapi_begin(w, key);
  if (type != NULL)
    pai__openapi_text(w, "type", type);
  if (shape != NULL)
    put_reference(w, shape);
  pai__json_end_object(w);
}

static void put_choices(writer *w, const char *const *choices)
{
  pai__json_key(w, "enum", 4);
  pai__json_begin_array(w);
  for (; *choices != NULL; choices++)
    pai__json_text(w, *choices, strlen(*choices));
  pai__json_end_array(w);
}

static void put_texts(writer *w, const char *const *choices)
{
  pai__openapi_begin(w, "items");
  pai__openapi_text(w, "type", "string");
  if (choices != NULL)
    put_choices(w, choices);
  pai__json_end_object(w);
}

static void put_nullable(writer *w)
{
  pai__json_key(w, "nullable", 8);
  pai__json_bool(w, true);
}

/* Beside a reference nothing else counts. */
static void put_named(writer *w, const pai__shape *shape, bool nullable)
{
  if (!nullable) {
    put_reference(w, shape);
    return;
  }
  put_nullable(w);
  pai__json_key(w, "allOf", 5);
  pai__json_begin_array(w);
  pai__json_begin_object(w);
  put_reference(w, shape);
  pai__json_end_object(w);
  pai__json_end_array(w);
}

/* In the object of its schema. */
static void put_kind(writer *w, enum pai__kind kind, const pai__shape *shape,
                     bool nullable, const char *const *choices)
{
  static const char *const types[PAI__KINDS] = {
    [PAI__IS_TEXT] = "string",   [PAI__IS_FLAG] = "boolean",
    [PAI__IS_NUMBER] = "number", [PAI__IS_WHOLE] = "integer",
    [PAI__IS_OBJECT] = "object", [PAI__IS_TEXTS] = "array",
    [PAI__IS_TIME] = "integer",  [PAI__IS_LIST] = "array",
    [PAI__IS_MAP] = "object",
  };

  if (kind == PAI__IS_OBJECT && shape != NULL) {
    put_named(w, shape, nullable);
    return;
  }
  if (types[kind] != NULL) {
    pai__openapi_text(w, "type", types[kind]);
    if (nullable)
      put_nullable(w);
  }
  if (kind == PAI__IS_TIME) {
    pai__openapi_text(w, "format", "int64");
    pai__openapi_text(w, "description", "milliseconds since 1970");
  }
  if (kind == PAI__IS_TEXTS)
    put_texts(w, choices);
  else if (choices != NULL)
    put_choices(w, choices);
  if (kind == PAI__IS_LIST)
    put_each(w, "items", NULL, shape);
  if (kind == PAI__IS_MAP)
    put_each(w, "additionalProperties", NULL, shape);
}

/* --- fields ----------------------------------------------------------------------- */

static void put_fields(writer *w, const pai__field *fields, bool closed);

static void put_number(writer *w, const char *key, int64_t n)
{
  pai__json_key(w, key, strlen(key));
  pai__json_int(w, n);
}

static void put_range(writer *w, const pai__field *f)
{
  bool text = f->kind == PAI__IS_TEXT;
  bool number = f->kind == PAI__IS_NUMBER || f->kind == PAI__IS_WHOLE;

  if (text && f->least > 0)
    put_number(w, "minLength", f->least);
  if (text && f->most > 0)
    put_number(w, "maxLength", f->most);
  if (number && (f->least != 0 || f->most != 0)) {
    put_number(w, "minimum", f->least);
    put_number(w, "maximum", f->most);
  }
}

static void put_field(writer *w, const char *key, const pai__field *f)
{
  pai__openapi_begin(w, key);
  put_kind(w, f->kind, f->shape, (f->flags & PAI__MAY_BE_NULL) != 0,
           f->choices);
  put_range(w, f);
  if (f->pattern != NULL)
    pai__openapi_text(w, "pattern", f->pattern->regex);
  if ((f->flags & PAI__IS_MAIL) != 0)
    pai__openapi_text(w, "format", "email");
  if (f->missing != NULL) {
    pai__json_key(w, "default", 7);
    pai__json_ready(w, f->missing, strlen(f->missing));
  }
  if (f->fields != NULL)
    put_fields(w, f->fields, true);
  pai__json_end_object(w);
}

/* What an object has, in the object of its schema. */
static void put_fields(writer *w, const pai__field *fields, bool closed)
{
  bool any = false;

  pai__openapi_begin(w, "properties");
  for (const pai__field *f = fields; f->kind != PAI__END; f++) {
    put_field(w, f->name, f);
    any = any || (f->flags & PAI__NEEDED) != 0;
  }
  pai__json_end_object(w);
  if (closed) {
    pai__json_key(w, "additionalProperties", 20);
    pai__json_bool(w, false);
  }
  if (!any)
    return;
  pai__json_key(w, "required", 8);
  pai__json_begin_array(w);
  for (const pai__field *f = fields; f->kind != PAI__END; f++)
    if ((f->flags & PAI__NEEDED) != 0)
      pai__json_text(w, f->name, strlen(f->name));
  pai__json_end_array(w);
}

static void put_object(writer *w, const char *key, const pai__field *fields,
                       bool closed)
{
  pai__openapi_begin(w, key);
  pai__openapi_text(w, "type", "object");
  put_fields(w, fields, closed);
  pai__json_end_object(w);
}

void pai__openapi_query(writer *w, const pai__field *f)
{
  pai__openapi_text(w, "name", f->name);
  pai__openapi_text(w, "in", "query");
  pai__openapi_text(w, "description", f->what);
  if (f->kind == PAI__IS_TEXTS) { /* with commas between */
    pai__openapi_text(w, "style", "form");
    pai__json_key(w, "explode", 7);
    pai__json_bool(w, false);
  }
  put_field(w, "schema", f);
}

void pai__openapi_body(writer *w, const pai__field *fields)
{
  put_object(w, "schema", fields, true);
}

/* --- what is answered --------------------------------------------------------------- */

static void put_result(writer *w, const pai__result *result)
{
  put_kind(w, result->kind, result->shape, false, NULL);
}

static void put_json(writer *w, const pai__result *result)
{
  bool one = result->other == NULL || result->other->type != NULL;

  pai__openapi_begin(w, "application/json");
  pai__openapi_begin(w, "schema");
  if (one) {
    put_result(w, result);
  } else {
    pai__json_key(w, "anyOf", 5);
    pai__json_begin_array(w);
    for (; result != NULL && result->type == NULL; result = result->other) {
      pai__json_begin_object(w);
      put_result(w, result);
      pai__json_end_object(w);
    }
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
  pai__json_end_object(w);
}

/* JSON comes before other types. */
void pai__openapi_content(writer *w, const pai__result *result)
{
  if (result->kind == 0 && result->type == NULL)
    return;
  pai__openapi_begin(w, "content");
  if (result->type == NULL)
    put_json(w, result);
  for (; result != NULL; result = result->other) {
    if (result->type == NULL)
      continue;
    pai__openapi_begin(w, result->type);
    put_each(w, "schema", "string", NULL);
    pai__json_end_object(w);
  }
  pai__json_end_object(w);
}

/* --- those that have names ------------------------------------------------------------ */

enum { MOST = 128 };

typedef struct shapes {
  const pai__shape *at[MOST];
  size_t n;
} shapes;

/* Each once, those in it, too. */
static void add_shape(shapes *all, const pai__shape *shape)
{
  size_t i = 0;

  while (i < all->n && all->at[i] != shape)
    i++;
  if (shape == NULL || i < all->n || i == MOST)
    return;
  all->at[all->n++] = shape;
  for (const pai__field *f = shape->fields; f->kind != PAI__END; f++)
    add_shape(all, f->shape);
}

static void add_routes(shapes *all, const pai__routes *table,
                       enum pai__mode mode)
{
  for (size_t i = 0; i < table->n; i++)
    if (table->at[i].mode == PAI__WITH_ANY || table->at[i].mode == mode)
      for (const pai__result *r = table->at[i].result; r != NULL; r = r->other)
        add_shape(all, r->shape);
}

void pai__openapi_schemas(writer *w, enum pai__mode mode)
{
  const pai__routes *table;
  shapes all = { .n = 0 };

  add_shape(&all, &pai__error_shape);
  add_shape(&all, pai__done_result.shape);
  for (size_t i = 0; (table = pai__routes_at(i)) != NULL; i++)
    add_routes(&all, table, mode);
  pai__openapi_begin(w, "schemas");
  for (size_t i = 0; i < all.n; i++)
    put_object(w, all.at[i]->name, all.at[i]->fields, false);
  pai__json_end_object(w);
}
