/* write.c - writes a tree as text, without comments */
#include "spec/format/write.h"
#include "json/json.h"
#include "spec/secrets.h"
#include "base/text/encode.h"
#include "yaml/scalar.h"
#include "yaml/yaml.h"

#include <math.h>

/* Appends a date or bytes, which the writers do not support, as text. */
static void put_odd(pai__buf *out, const pai__tree *t, pai__node n, bool tag)
{
  size_t len;
  const char *s;

  if (pai__tree_type(t, n) == PAI__TIMESTAMP) {
    pai__date_iso(out, pai__tree_int(t, n));
    return;
  }
  s = pai__tree_str(t, n, &len);
  if (tag)
    pai__buf_str(out, "!!binary ");
  pai__put_base64(out, s, len);
  if (tag && len == 0)
    pai__buf_str(out, "''");
}

/* --- YAML --------------------------------------------------------------- */

static void write_odd_yaml(pai__yaml_writer *w, const pai__tree *t,
                           pai__node n)
{
  pai__buf text;

  pai__buf_init(&text, w->out->alloc);
  put_odd(&text, t, n, true);
  if (pai__buf_ok(&text))
    pai__yaml_verbatim(w, pai__buf_text(&text));
  else
    w->nest.rc = PAI_ENOMEM;
  pai__buf_dispose(&text);
}

static void write_yaml_items(pai__yaml_writer *w, const pai__tree *t,
                             pai__node n)
{
  bool mapping = pai__tree_type(t, n) == PAI__MAPPING;
  pai__tree_walk walk = pai__tree_iter(t, n);
  pai__node child;
  size_t len;

  if (mapping)
    pai__yaml_begin_mapping(w);
  else
    pai__yaml_begin_sequence(w);
  while ((child = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (mapping) {
      const char *key = pai__tree_str(t, child, &len);
      pai__yaml_key(w, key, len);
      child = pai__tree_value(t, child);
    }
    pai__write_yaml_value(w, t, child);
  }
  if (mapping)
    pai__yaml_end_mapping(w);
  else
    pai__yaml_end_sequence(w);
}

void pai__write_yaml_value(pai__yaml_writer *w, const pai__tree *t,
                           pai__node n)
{
  size_t len;
  const char *s;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: pai__yaml_nothing(w); break;
  case PAI__BOOL: pai__yaml_boolean(w, pai__tree_bool(t, n)); break;
  case PAI__INT: pai__yaml_int(w, pai__tree_int(t, n)); break;
  case PAI__FLOAT: pai__yaml_double(w, pai__tree_float(t, n)); break;
  case PAI__STRING:
    s = pai__tree_str(t, n, &len);
    pai__yaml_text(w, s, len);
    break;
  case PAI__SEQUENCE:
  case PAI__MAPPING: write_yaml_items(w, t, n); break;
  default: write_odd_yaml(w, t, n); break;
  }
}

int pai__write_yaml(pai__buf *out, const pai__tree *tree, pai__node n)
{
  pai__yaml_writer w;

  pai__yaml_writer_init(&w, out);
  pai__write_yaml_value(&w, tree, n);
  return pai__yaml_finish(&w);
}

/* --- JSON --------------------------------------------------------------- */

static void write_odd_json(pai__json_writer *w, const pai__tree *t,
                           pai__node n)
{
  pai__buf text;

  pai__buf_init(&text, w->out->alloc);
  put_odd(&text, t, n, false);
  if (pai__buf_ok(&text))
    pai__json_text(w, pai__buf_text(&text), text.len);
  else
    w->nest.rc = PAI_ENOMEM;
  pai__buf_dispose(&text);
}

typedef struct json_style {
  const pai__secrets *secrets; /* are masked; NULL: nothing is */
  bool as_written;             /* what JSON lacks is written as in the file */
} json_style;

static void write_json(pai__json_writer *w, const pai__tree *t, pai__node n,
                       json_style how);

static void write_json_items(pai__json_writer *w, const pai__tree *t,
                             pai__node n, json_style how)
{
  bool mapping = pai__tree_type(t, n) == PAI__MAPPING;
  pai__tree_walk walk = pai__tree_iter(t, n);
  pai__node child;
  size_t len;

  if (mapping)
    pai__json_begin_object(w);
  else
    pai__json_begin_array(w);
  while ((child = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (mapping) {
      const char *key = pai__tree_str(t, child, &len);
      pai__json_key(w, key, len);
      child = pai__tree_value(t, child);
    }
    write_json(w, t, child, how);
  }
  if (mapping)
    pai__json_end_object(w);
  else
    pai__json_end_array(w);
}

/* Returns whether JSON has no such value. */
static bool is_odd(const pai__tree *t, pai__node n)
{
  int type = pai__tree_type(t, n);

  return type == PAI__TIMESTAMP || type == PAI__BINARY ||
         (type == PAI__FLOAT && !isfinite(pai__tree_float(t, n)));
}

static void write_json(pai__json_writer *w, const pai__tree *t, pai__node n,
                       json_style how)
{
  const pai__tree_node *node = pai__tree_at(t, n);
  size_t len;
  const char *s;

  if (how.secrets != NULL && pai__secrets_hide(how.secrets, n)) {
    pai__json_string(w, PAI__MASK);
    return;
  }
  if (how.as_written && is_odd(t, n)) {
    pai__json_text(w, t->text + node->start, node->end - node->start);
    return;
  }
  switch (pai__tree_type(t, n)) {
  case PAI__NULL: pai__json_null(w); break;
  case PAI__BOOL: pai__json_bool(w, pai__tree_bool(t, n)); break;
  case PAI__INT: pai__json_int(w, pai__tree_int(t, n)); break;
  case PAI__FLOAT: pai__json_double(w, pai__tree_float(t, n)); break;
  case PAI__STRING:
    s = pai__tree_str(t, n, &len);
    pai__json_text(w, s, len);
    break;
  case PAI__SEQUENCE:
  case PAI__MAPPING: write_json_items(w, t, n, how); break;
  default: write_odd_json(w, t, n); break;
  }
}

void pai__write_json_masked(pai__json_writer *w, const pai__tree *t,
                            const pai__secrets *secrets, pai__node n)
{
  write_json(w, t, n, (json_style){ .secrets = secrets });
}

void pai__value_write(pai__json_writer *w, const pai__secrets *secrets,
                      pai__node n)
{
  write_json(w, secrets->tree, n, (json_style){ secrets, true });
}

void pai__write_json(pai__json_writer *w, const pai__tree *t, pai__node n)
{
  write_json(w, t, n, (json_style){ NULL, false });
}

/* --- on one line -------------------------------------------------------- */

void pai__write_flow_text(pai__buf *out, const char *s, size_t len,
                          pai__flow how)
{
  pai__yaml_form form;
  bool indicator;

  if (how.quotes) {
    pai__json_writer w;
    pai__json_writer_init(&w, out, false);
    pai__json_text(&w, s, len);
    return;
  }
  form = pai__yaml_choose_form(s, len, &indicator);
  if (form == PAI__FORM_LITERAL)
    form = PAI__FORM_DOUBLE;
  /* Readers disagree about colons in brackets. */
  for (size_t i = 0; i < len && form == PAI__FORM_PLAIN; i++)
    if (s[i] != '\0' && strchr("[]{},:?", s[i]) != NULL)
      form = PAI__FORM_SINGLE;
  pai__yaml_put_line(out, s, len, form);
}

/* Writes a scalar as the YAML writer does, but without its line end. */
static void put_flow_scalar(pai__buf *out, const pai__tree *t, pai__node n,
                            pai__flow how)
{
  size_t len;
  const char *s;

  if (pai__tree_type(t, n) == PAI__STRING) {
    s = pai__tree_str(t, n, &len);
    pai__write_flow_text(out, s, len, how);
  } else if (pai__write_yaml(out, t, n) == PAI_OK) {
    out->data[--out->len] = '\0';
  }
}

void pai__write_flow(pai__buf *out, const pai__tree *t, pai__node n,
                     pai__flow how)
{
  bool mapping = pai__tree_type(t, n) == PAI__MAPPING;
  pai__tree_walk walk = pai__tree_iter(t, n);
  const char *comma = "";
  pai__node child;
  size_t len;

  if (pai__tree_type(t, n) < PAI__SEQUENCE) {
    put_flow_scalar(out, t, n, how);
    return;
  }
  pai__buf_char(out, mapping ? '{' : '[');
  while ((child = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__buf_str(out, comma);
    comma = how.compact ? "," : ", ";
    if (mapping) {
      const char *key = pai__tree_str(t, child, &len);
      pai__write_flow_text(out, key, len, how);
      pai__buf_str(out, how.compact ? ":" : ": ");
      child = pai__tree_value(t, child);
    }
    pai__write_flow(out, t, child, how);
  }
  pai__buf_char(out, mapping ? '}' : ']');
}

/* --- reading back ------------------------------------------------------- */

int pai__read_back(pai__tree **tree, const pai__tree *like,
                   const pai__buf *out, size_t from, pai_error **err)
{
  pai__json_options json = { .flags = like->how,
                             .max_bytes = PAI__TREE_MAX_TEXT,
                             .alloc = &like->alloc };
  pai__yaml_options yaml = { .mode = like->how,
                             .max_bytes = PAI__TREE_MAX_TEXT,
                             .alloc = &like->alloc };
  const char *text = pai__buf_text(out) + from;

  *tree = NULL;
  if (!pai__buf_ok(out))
    return pai__oom(err);
  if (like->syntax == PAI__SYNTAX_JSON)
    return pai__json_parse(tree, text, out->len - from, &json, err);
  return pai__yaml_parse(tree, text, out->len - from, &yaml, err);
}
