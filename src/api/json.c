/* json.c - pai_json: a parsed JSON text and access to its values */
#include "api/json.h"

#include "json/json.h"
#include "json/node.h"

enum { MOST_BYTES = 256 << 20 };

/* --- reading ------------------------------------------------------------ */

/* Returns the number of items and keys of all collections. */
static size_t count_entries(const pai__tree *t)
{
  size_t n = 0;

  for (size_t i = 0; i < t->count; i++)
    if (t->nodes[i].type >= PAI__SEQUENCE)
      n += t->nodes[i].u.c.count;
  return n;
}

static int make_index(pai_json *json)
{
  const pai__tree *t = json->tree;
  uint32_t at = 0;

  json->nentries = count_entries(t);
  json->begin =
    pai__realloc(&json->alloc, NULL, 0, t->count, sizeof(uint32_t));
  json->entries = pai__realloc(&json->alloc, NULL, 0, json->nentries + 1,
                               sizeof(uint32_t)); /* never 0 bytes */
  if (json->begin == NULL || json->entries == NULL)
    return PAI_ENOMEM;
  for (pai__node n = 0; n < t->count; n++) {
    pai__tree_walk walk;
    pai__node entry;

    json->begin[n] = at;
    if (t->nodes[n].type < PAI__SEQUENCE)
      continue;
    walk = pai__tree_iter(t, n);
    while ((entry = pai__tree_next(&walk)) != PAI__NO_NODE)
      json->entries[at++] = entry;
  }
  return PAI_OK;
}

int pai_json_read(pai_json **out, const char *text, size_t len,
                  const pai_json_options *opts, pai_error **err)
{
  pai__json_options how = { .flags = PAI__JSON_DUPLICATES };
  pai_json_options o = PAI_JSON_OPTIONS_INIT;
  pai_json *json;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL || len == 0, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_json_options, max_depth);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_json_options");
  how.alloc = pai__alloc_or_libc(o.alloc);
  how.max_bytes = o.max_bytes != 0 ? o.max_bytes : MOST_BYTES;
  how.max_depth = o.max_depth;
  json = pai__zalloc(how.alloc, sizeof(*json));
  if (json == NULL)
    return pai__oom(err);
  json->alloc = *how.alloc;
  rc = pai__json_parse(&json->tree, text, len, &how, err);
  if (rc == PAI_OK && make_index(json) < 0)
    rc = pai__oom(err);
  if (rc == PAI_OK)
    *out = json;
  else
    pai_json_free(json);
  return rc;
}

void pai_json_free(pai_json *json)
{
  pai_alloc alloc;

  if (json == NULL)
    return;
  alloc = json->alloc;
  if (json->begin != NULL)
    pai__free(&alloc, json->begin, json->tree->count * sizeof(uint32_t));
  if (json->entries != NULL)
    pai__free(&alloc, json->entries, (json->nentries + 1) * sizeof(uint32_t));
  pai__tree_free(json->tree);
  pai__free(&alloc, json, sizeof(*json));
}

/* --- places ------------------------------------------------------------- */

pai__node pai__json_node_of(const pai_json *json, size_t value)
{
  return json != NULL && value < json->tree->count ? (pai__node)value
                                                   : PAI__NO_NODE;
}

size_t pai_json_find(const pai_json *json, const char *pointer)
{
  if (json == NULL || pointer == NULL)
    return PAI_JSON_NONE;
  return pai__json_value_of(pai__tree_resolve(json->tree, pointer));
}

size_t pai_json_member(const pai_json *json, size_t value, const char *key)
{
  pai__node n = pai__json_node_of(json, value);

  if (n == PAI__NO_NODE || key == NULL)
    return PAI_JSON_NONE;
  return pai__json_value_of(pai__tree_get(json->tree, n, key));
}

size_t pai_json_count(const pai_json *json, size_t value)
{
  pai__node n = pai__json_node_of(json, value);

  return n != PAI__NO_NODE && pai__tree_type(json->tree, n) >= PAI__SEQUENCE
           ? pai__tree_count(json->tree, n)
           : 0;
}

/* Returns item i of a list, or key i of an object. */
static pai__node entry_at(const pai_json *json, size_t value, size_t i)
{
  if (i >= pai_json_count(json, value))
    return PAI__NO_NODE;
  return json->entries[json->begin[value] + i];
}

static bool is_object(const pai_json *json, size_t value)
{
  return pai__tree_type(json->tree, (pai__node)value) == PAI__MAPPING;
}

size_t pai_json_item(const pai_json *json, size_t value, size_t i)
{
  pai__node entry = entry_at(json, value, i);

  if (entry == PAI__NO_NODE || !is_object(json, value))
    return pai__json_value_of(entry);
  return pai__json_value_of(pai__tree_value(json->tree, entry));
}

const char *pai_json_key(const pai_json *json, size_t value, size_t i)
{
  pai__node entry = entry_at(json, value, i);

  if (entry == PAI__NO_NODE || !is_object(json, value))
    return NULL;
  return pai__tree_str(json->tree, entry, NULL);
}

size_t pai_json_page(const pai_json *json)
{
  size_t data = pai_json_member(json, 0, "data");

  return data != PAI_JSON_NONE ? data : json != NULL ? 0 : PAI_JSON_NONE;
}

size_t pai_json_tasks(const pai_json *json, size_t role)
{
  return pai_json_member(json, role, "taskStatuses");
}

/* --- values ------------------------------------------------------------- */

unsigned pai_json_type(const pai_json *json, size_t value)
{
  pai__node n = pai__json_node_of(json, value);
  int64_t whole;

  if (n == PAI__NO_NODE)
    return 0;
  switch (pai__tree_type(json->tree, n)) {
  case PAI__NULL: return PAI_VALUE_NULL;
  case PAI__BOOL: return PAI_VALUE_BOOL;
  case PAI__INT: return PAI_VALUE_WHOLE;
  case PAI__FLOAT:
    return pai__tree_whole(json->tree, n, &whole) ? PAI_VALUE_WHOLE
                                                  : PAI_VALUE_NUMBER;
  case PAI__SEQUENCE: return PAI_VALUE_LIST;
  case PAI__MAPPING: return PAI_VALUE_MAPPING;
  default: return PAI_VALUE_TEXT;
  }
}

const char *pai_json_text(const pai_json *json, size_t value, size_t *len)
{
  if (len != NULL)
    *len = 0;
  if (pai_json_type(json, value) != PAI_VALUE_TEXT)
    return NULL;
  return pai__tree_str(json->tree, (pai__node)value, len);
}

int64_t pai_json_int(const pai_json *json, size_t value, int64_t otherwise)
{
  int64_t whole;

  if (pai_json_type(json, value) != PAI_VALUE_WHOLE ||
      !pai__tree_whole(json->tree, (pai__node)value, &whole))
    return otherwise;
  return whole;
}

double pai_json_number(const pai_json *json, size_t value, double otherwise)
{
  return (pai_json_type(json, value) & (PAI_VALUE_WHOLE | PAI_VALUE_NUMBER)) !=
             0
           ? pai__tree_float(json->tree, (pai__node)value)
           : otherwise;
}

int pai_json_bool(const pai_json *json, size_t value)
{
  return pai_json_type(json, value) == PAI_VALUE_BOOL &&
         pai__tree_bool(json->tree, (pai__node)value);
}

int pai_json_write(const pai_json *json, size_t value, pai_write_cb write,
                   void *user_data, pai_error **err)
{
  pai__node n = pai__json_node_of(json, value);
  pai__json_writer w;
  pai__buf text;
  int rc;

  PAI__CHECK_ARG_ERR(n != PAI__NO_NODE && write != NULL, err);
  pai__buf_init(&text, &json->alloc);
  pai__json_writer_init(&w, &text, false);
  pai__json_node(&w, json->tree, n);
  rc = pai__json_finish(&w);
  if (rc < 0 || !pai__buf_ok(&text))
    rc = pai__oom(err);
  else
    rc = write(user_data, text.data, text.len);
  pai__buf_dispose(&text);
  return rc;
}
