/*
 * schema.c - writes the tables as JSON Schema, draft 7
 *
 * Each keyword has the effect that check.c gives the same entry of a table.
 * References and sums are in no table, and so in no schema.
 */
#include "spec/schema.h"

#include "json/writer.h"
#include "spec/rules.h"

#include <openpai/spec.h>

#include <stdio.h>

static void put_rule(pai__json_writer *w, const pai__spec_rule *rule,
                     const pai__spec_field *field);

/* --- scalars ------------------------------------------------------------ */

static void put_types(pai__json_writer *w, unsigned types)
{
  static const struct {
    unsigned type;
    const char *name;
  } names[] = {
    { PAI__T_MAPPING, "object" }, { PAI__T_LIST, "array" },
    { PAI__T_STRING, "string" },  { PAI__T_NUMBER, "number" },
    { PAI__T_INT, "integer" },    { PAI__T_BOOL, "boolean" },
    { PAI__T_NULL, "null" },
  };
  bool many = (types & (types - 1)) != 0;

  if (types == PAI__T_ANY)
    return;
  pai__json_member(w, "type");
  if (many)
    pai__json_begin_array(w);
  for (size_t i = 0; i < PAI__LEN(names); i++)
    if ((types & names[i].type) != 0)
      pai__json_string(w, names[i].name);
  if (many)
    pai__json_end_array(w);
}

static bool is_digits(const char *s)
{
  return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

static int64_t value_of(const char *digits)
{
  int64_t value = 0;

  for (; *digits != '\0'; digits++)
    value = value * 10 + (*digits - '0');
  return value;
}

/* Writes the allowed values; words of digits also as numbers. */
static void put_words(pai__json_writer *w, const pai__spec_rule *rule)
{
  pai__json_put_array(w, "enum");
  for (size_t i = 0; rule->words[i] != NULL; i++) {
    const char *word = rule->words[i];

    if ((rule->types & PAI__T_INT) != 0 && is_digits(word))
      pai__json_int(w, value_of(word));
    pai__json_string(w, word);
  }
  pai__json_end_array(w);
}

static void put_text_rules(pai__json_writer *w, const pai__spec_rule *rule)
{
  if (rule->not_empty)
    pai__json_put_int(w, "minLength", 1);
  if (rule->longest > 0)
    pai__json_put_int(w, "maxLength", rule->longest);
  if (rule->form != PAI__FORM_ANY)
    pai__json_put_text(w, "pattern", pai__form_pattern(rule->form));
}

/* Writes the pattern of texts that v1 takes for a whole number of at least the
 * minimum.  All minima in the tables have one digit. */
static void put_number_pattern(pai__json_writer *w, const pai__spec_rule *rule)
{
  static const char tail[] = "(\\.0*)?";
  int min = rule->has_min ? (int)rule->min : 0;
  char least[64], text[128];

  if (!rule->has_min)
    (void)snprintf(least, sizeof(least), "[+-]?[0-9]+");
  else if (min <= 0)
    (void)snprintf(least, sizeof(least), "([+]?[0-9]+|-0*[0-%d])", -min);
  else
    (void)snprintf(least, sizeof(least), "[+]?0*([%d-9]|[1-9][0-9]+)", min);
  (void)snprintf(text, sizeof(text), "^\\s*%s%s\\s*$", least, tail);
  pai__json_put_text(w, "pattern", text);
}

static void put_number_rules(pai__json_writer *w, const pai__spec_rule *rule)
{
  put_types(w, rule->types);
  if (rule->has_min)
    pai__json_put_int(w, "minimum", rule->min);
}

/* Writes the rules of a number, or of a text that is a number. */
static void put_coerced(pai__json_writer *w, const pai__spec_rule *rule)
{
  pai__json_write(w, "anyOf:[{");
  put_number_rules(w, rule);
  pai__json_write(w, "},{");
  put_types(w, PAI__T_STRING);
  put_number_pattern(w, rule);
  pai__json_write(w, "}]");
}

/* --- collections -------------------------------------------------------- */

static void put_fields(pai__json_writer *w, const pai__spec_field *fields)
{
  bool needed = false;

  pai__json_put_object(w, "properties");
  for (const pai__spec_field *p = fields; p->name != NULL; p++) {
    pai__json_member(w, p->name);
    put_rule(w, p->rule, p);
    needed |= p->absent == PAI__NEEDED;
  }
  pai__json_end_object(w);
  if (!needed)
    return;
  pai__json_put_array(w, "required");
  for (const pai__spec_field *p = fields; p->name != NULL; p++)
    if (p->absent == PAI__NEEDED)
      pai__json_string(w, p->name);
  pai__json_end_array(w);
}

static void put_mapping_rules(pai__json_writer *w, const pai__spec_rule *rule)
{
  if (rule->least > 0)
    pai__json_put_int(w, "minProperties", rule->least);
  if (rule->fields != NULL)
    put_fields(w, rule->fields);
  if (rule->values != NULL && rule->keys != PAI__FORM_ANY) {
    pai__json_put_object(w, "patternProperties");
    pai__json_member(w, pai__form_pattern(rule->keys));
    put_rule(w, rule->values, NULL);
    pai__json_end_object(w);
  }
  if (rule->values != NULL && rule->keys == PAI__FORM_ANY) {
    pai__json_member(w, "additionalProperties");
    put_rule(w, rule->values, NULL);
  } else if (!rule->open) {
    pai__json_put_bool(w, "additionalProperties", false);
  }
}

/* Writes the field `type`, of all shapes or of those with one rule. */
static void put_shape_types(pai__json_writer *w, const pai__spec_shape *shapes,
                            const pai__spec_rule *rule)
{
  pai__json_write(w, "properties:{type:{enum:[");
  for (const pai__spec_shape *p = shapes; p->type != NULL; p++)
    if (rule == NULL || p->rule == rule)
      pai__json_string(w, p->type);
  pai__json_write(w, "]}}");
}

static bool is_first_of_rule(const pai__spec_shape *shapes,
                             const pai__spec_shape *p)
{
  while (shapes->rule != p->rule)
    shapes++;
  return shapes == p;
}

/* Writes a condition for each shape.  An editor then shows what is wrong with
 * this shape, rather than that no shape fits. */
static void put_shapes(pai__json_writer *w, const pai__spec_shape *shapes)
{
  pai__json_write(w, "required:[s]", "type");
  put_shape_types(w, shapes, NULL);
  pai__json_put_array(w, "allOf");
  for (const pai__spec_shape *p = shapes; p->type != NULL; p++) {
    if (!is_first_of_rule(shapes, p))
      continue;
    pai__json_write(w, "{if:{");
    put_shape_types(w, shapes, p->rule);
    pai__json_write(w, "},then:");
    put_rule(w, p->rule, NULL);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
}

/* --- rules -------------------------------------------------------------- */

static void put_rule_body(pai__json_writer *w, const pai__spec_rule *rule)
{
  if (rule->words != NULL)
    put_words(w, rule);
  else if (rule->coerced)
    put_coerced(w, rule);
  else
    put_number_rules(w, rule);
  if ((rule->types & PAI__T_STRING) != 0)
    put_text_rules(w, rule);
  if (rule->types == PAI__T_LIST) {
    if (rule->least > 0)
      pai__json_put_int(w, "minItems", rule->least);
    pai__json_member(w, "items");
    put_rule(w, rule->values, NULL);
  } else if (rule->shapes != NULL) {
    put_shapes(w, rule->shapes);
  } else if ((rule->types & PAI__T_MAPPING) != 0 &&
             (rule->types != PAI__T_ANY || rule->values != NULL)) {
    put_mapping_rules(w, rule);
  }
}

/* Writes the description and default of a field. */
static void put_field(pai__json_writer *w, const pai__spec_field *field)
{
  bool has = field->absent != NULL && field->absent != PAI__NEEDED;
  char says[256];

  (void)snprintf(says, sizeof(says), "%s%s%s", field->says,
                 has ? "; default " : "", has ? field->absent : "");
  pai__json_put_text(w, "description", says);
  if (!has)
    return;
  pai__json_member(w, "default");
  if (is_digits(field->absent))
    pai__json_int(w, value_of(field->absent));
  else if (strcmp(field->absent, "false") == 0)
    pai__json_bool(w, false);
  else
    pai__json_string(w, field->absent);
}

/* Writes a rule.  `field` is the field that has this rule, or NULL. */
static void put_rule(pai__json_writer *w, const pai__spec_rule *rule,
                     const pai__spec_field *field)
{
  if (rule->never) {
    pai__json_bool(w, false);
    return;
  }
  pai__json_begin_object(w);
  if (field != NULL)
    put_field(w, field);
  put_rule_body(w, rule);
  pai__json_end_object(w);
}

static void put_schema(pai__json_writer *w, int version)
{
  bool v1 = version == 1;

  pai__json_write(
    w, "{$schema:s,$id:s,title:s,description:s",
    "http://json-schema.org/draft-07/schema#",
    v1 ? "urn:libopenpai:job-config-v1" : "urn:libopenpai:job-protocol-v2",
    v1 ? "OpenPAI job config v1" : "OpenPAI job protocol v2",
    v1 ? "A job file of OpenPAI before 1.0, in JSON"
       : "A job file of OpenPAI, in YAML or as the same in JSON");
  put_rule_body(w, v1 ? &pai__rules_v1 : &pai__rules_v2);
  pai__json_end_object(w);
}

int pai__spec_schema(const pai_alloc *alloc, int version, pai_write_cb write,
                     void *user_data, pai_error **err)
{
  pai__json_writer w;
  pai__buf out;
  int rc;

  PAI__CHECK_ARG_ERR(write != NULL, err);
  if (version != 1 && version != 2)
    return pai__fail(err, PAI_EINVAL, "there is no job file of version %d",
                     version);
  pai__buf_init(&out, alloc);
  pai__json_writer_init(&w, &out, true);
  pai__json_writer_to(&w, write, user_data);
  put_schema(&w, version);
  rc = pai__json_finish(&w);
  pai__buf_dispose(&out);
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  return rc < 0 ? pai__fail(err, rc, "the schema could not be written")
                : PAI_OK;
}

int pai_spec_schema(int version, pai_write_cb write, void *user_data,
                    pai_error **err)
{
  return pai__spec_schema(&pai__libc_alloc, version, write, user_data, err);
}
