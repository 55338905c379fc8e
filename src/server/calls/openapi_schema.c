/*
 * openapi_schema.c - schemas of the OpenAPI document: bodies and answers
 *
 * A body with an unknown member is refused.  Answers may have more members in
 * later versions, so their schemas are not closed.
 */
#include "server/calls/openapi.h"

#include "api/records.h"

#include <stdio.h>

typedef pai__json_writer writer;

/* --- types --------------------------------------------------------------- */

static void put_reference(writer *w, const pai__api_record *to)
{
  char text[80];

  (void)snprintf(text, sizeof(text), "#/components/schemas/%s", to->name);
  pai__json_put_text(w, "$ref", text);
}

/* Writes the schema of the items of a list or map. */
static void put_each(writer *w, const char *key, const char *type,
                     const pai__api_record *record)
{
  pai__json_put_object(w, key);
  pai__json_put_known(w, "type", type);
  if (record != NULL)
    put_reference(w, record);
  pai__json_end_object(w);
}

static void put_choices(writer *w, const char *const *choices)
{
  pai__json_put_array(w, "enum");
  for (; *choices != NULL; choices++)
    pai__json_string(w, *choices);
  pai__json_end_array(w);
}

static void put_texts(writer *w, const char *const *choices)
{
  pai__json_write(w, "items:{type:s", "string");
  if (choices != NULL)
    put_choices(w, choices);
  pai__json_end_object(w);
}

/* A reference must be alone in its object, so that of a member, which has a
 * description, is in a list of one. */
static void put_named(writer *w, const pai__api_record *record, bool nullable)
{
  if (nullable)
    pai__json_put_bool(w, "nullable", true);
  pai__json_write(w, "allOf:[{");
  put_reference(w, record);
  pai__json_write(w, "}]");
}

/* Writes a type into the object of its schema. */
static void put_kind(writer *w, enum pai__api_kind kind,
                     const pai__api_record *record, bool nullable,
                     const char *const *choices)
{
  static const char *const types[PAI__KINDS] = {
    [PAI__IS_TEXT] = "string",   [PAI__IS_FLAG] = "boolean",
    [PAI__IS_NUMBER] = "number", [PAI__IS_WHOLE] = "integer",
    [PAI__IS_OBJECT] = "object", [PAI__IS_TEXTS] = "array",
    [PAI__IS_TIME] = "integer",  [PAI__IS_LIST] = "array",
    [PAI__IS_MAP] = "object",
  };

  if (types[kind] != NULL) {
    pai__json_put_text(w, "type", types[kind]);
    if (nullable)
      pai__json_put_bool(w, "nullable", true);
  }
  if (kind == PAI__IS_TIME)
    pai__json_put_known(w, "format", "int64");
  if (kind == PAI__IS_TEXTS)
    put_texts(w, choices);
  else if (choices != NULL)
    put_choices(w, choices);
  if (kind == PAI__IS_LIST)
    put_each(w, "items", NULL, record);
  if (kind == PAI__IS_MAP)
    put_each(w, "additionalProperties", NULL, record);
}

/* --- fields -------------------------------------------------------------- */

static void put_fields(writer *w, const pai__api_field *fields, bool closed);

static void put_range(writer *w, const pai__api_field *f)
{
  bool text = f->kind == PAI__IS_TEXT;
  bool number = f->kind == PAI__IS_NUMBER || f->kind == PAI__IS_WHOLE;

  if (text && f->least > 0)
    pai__json_put_int(w, "minLength", f->least);
  if (text && f->most > 0)
    pai__json_put_int(w, "maxLength", f->most);
  if (number && (f->least != 0 || f->most != 0)) {
    pai__json_put_int(w, "minimum", f->least);
    pai__json_put_int(w, "maximum", f->most);
  }
}

/* Writes the schema of a value, without its description. */
static void put_value(writer *w, const pai__api_field *f)
{
  bool nullable = (f->flags & PAI__MAY_BE_NULL) != 0;

  if (f->kind == PAI__IS_OBJECT && f->record != NULL)
    put_named(w, f->record, nullable);
  else
    put_kind(w, f->kind, f->record, nullable, f->choices);
  put_range(w, f);
  if (f->pattern != NULL)
    pai__json_put_text(w, "pattern", f->pattern->regex);
  if ((f->flags & PAI__IS_MAIL) != 0)
    pai__json_put_text(w, "format", "email");
  if (f->missing != NULL) {
    pai__json_member(w, "default");
    pai__json_ready(w, f->missing, strlen(f->missing));
  }
  if (f->fields != NULL)
    put_fields(w, f->fields, true);
}

static void put_description(writer *w, const pai__api_field *f)
{
  pai__buf text;

  if (f->kind != PAI__IS_TIME) {
    pai__json_put_text(w, "description", f->what);
    return;
  }
  pai__buf_init(&text, w->out->alloc);
  pai__buf_printf(&text, "%s, in milliseconds since 1970", f->what);
  pai__json_put_text(w, "description", pai__buf_text(&text));
  pai__buf_dispose(&text);
}

/* Writes the schema of a member. */
static void put_member(writer *w, const pai__api_field *f)
{
  pai__json_put_object(w, f->name);
  put_description(w, f);
  put_value(w, f);
  pai__json_end_object(w);
}

/* Writes the members of an object into its schema. */
static void put_fields(writer *w, const pai__api_field *fields, bool closed)
{
  bool any = false;

  pai__json_put_object(w, "properties");
  for (const pai__api_field *f = fields; f->kind != PAI__END; f++) {
    put_member(w, f);
    any = any || (f->flags & PAI__NEEDED) != 0;
  }
  pai__json_end_object(w);
  if (closed)
    pai__json_put_bool(w, "additionalProperties", false);
  if (!any)
    return;
  pai__json_put_array(w, "required");
  for (const pai__api_field *f = fields; f->kind != PAI__END; f++)
    if ((f->flags & PAI__NEEDED) != 0)
      pai__json_string(w, f->name);
  pai__json_end_array(w);
}

static void put_object(writer *w, const char *key,
                       const pai__api_field *fields, bool closed)
{
  pai__json_write(w, "*:{type:s", key, "object");
  put_fields(w, fields, closed);
  pai__json_end_object(w);
}

void pai__openapi_query(writer *w, const pai__api_field *f)
{
  pai__json_write(w, "name:s,in:s,description:s", f->name, "query", f->what);
  if (f->kind == PAI__IS_TEXTS) /* separated by commas */
    pai__json_write(w, "style:s,explode:false", "form");
  pai__json_put_object(w, "schema");
  put_value(w, f);
  pai__json_end_object(w);
}

void pai__openapi_body(writer *w, const pai__api_field *fields)
{
  put_object(w, "schema", fields, true);
}

/* --- answers ------------------------------------------------------------- */

static void put_result(writer *w, const pai__api_answer *result)
{
  if (result->kind == PAI__IS_OBJECT && result->record != NULL)
    put_reference(w, result->record);
  else
    put_kind(w, result->kind, result->record, false, NULL);
}

static void put_json(writer *w, const pai__api_answer *result)
{
  bool one = result->other == NULL || result->other->type != NULL;

  pai__json_write(w, "application/json:{schema:{");
  if (one) {
    put_result(w, result);
  } else {
    pai__json_put_array(w, "anyOf");
    for (; result != NULL && result->type == NULL; result = result->other) {
      pai__json_begin_object(w);
      put_result(w, result);
      pai__json_end_object(w);
    }
    pai__json_end_array(w);
  }
  pai__json_write(w, "}}");
}

/* JSON comes before other media types. */
void pai__openapi_content(writer *w, const pai__api_answer *result)
{
  if (result->kind == 0 && result->type == NULL)
    return;
  pai__json_put_object(w, "content");
  if (result->type == NULL)
    put_json(w, result);
  for (; result != NULL; result = result->other) {
    if (result->type == NULL)
      continue;
    pai__json_put_object(w, result->type);
    put_each(w, "schema", "string", NULL);
    pai__json_end_object(w);
  }
  pai__json_end_object(w);
}

/* --- named schemas ------------------------------------------------------- */

enum { MOST = 128 };

typedef struct records {
  const pai__api_record *at[MOST];
  size_t n;
} records;

/* Adds a record once, and the records inside it. */
static void add_record(records *all, const pai__api_record *record)
{
  size_t i = 0;

  while (i < all->n && all->at[i] != record)
    i++;
  if (record == NULL || i < all->n || i == MOST)
    return;
  all->at[all->n++] = record;
  for (const pai__api_field *f = record->fields; f->kind != PAI__END; f++)
    add_record(all, f->record);
}

void pai__openapi_schemas(writer *w, enum pai__api_mode mode)
{
  const pai__api_route *route = NULL;
  records all = { .n = 0 };

  add_record(&all, &pai__api_Error);
  add_record(&all, &pai__api_Done);
  while ((route = pai__route_next(route, mode)) != NULL)
    for (const pai__api_answer *a = route->result; a != NULL; a = a->other)
      add_record(&all, a->record);
  pai__json_put_object(w, "schemas");
  for (size_t i = 0; i < all.n; i++)
    put_object(w, all.at[i]->name, all.at[i]->fields, false);
  pai__json_end_object(w);
}
