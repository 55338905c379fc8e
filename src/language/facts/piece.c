/* piece.c - writes pieces of a file by their rules: for snippets, and for
 * fields that are missing */
#include "language/facts/parts.h"
#include "spec/format/write.h"

#include <ctype.h>

/* --- scalars ----------------------------------------------------------------- */

/* Returns whether YAML reads a text without quotes as this text. */
static bool is_plain(const char *s, size_t len)
{
  static const char *const words[] = { "true", "false", "null", "yes",
                                       "no",   "on",    "off",  "y",
                                       "n",    "nan",   "inf" };
  bool letter = false;

  for (size_t i = 0; i < len; i++) {
    letter |= isalpha((unsigned char)s[i]) != 0;
    if (strchr("\n\r\t\"'#{}[],&*!|>%@`", s[i]) != NULL ||
        (s[i] == ':' && (i + 1 == len || s[i + 1] == ' ')))
      return false;
  }
  for (size_t i = 0; i < PAI__LEN(words); i++)
    if (strlen(words[i]) == len) {
      size_t k = 0;

      while (k < len && tolower((unsigned char)s[k]) == words[i][k])
        k++;
      if (k == len)
        return false;
    }
  return letter &&
         (isalpha((unsigned char)*s) || *s == '/' || *s == '_' ||
          (isdigit((unsigned char)*s) &&
           !isdigit((unsigned char)s[len - 1]))) &&
         s[len - 1] != ' ' && strncmp(s, "0x", 2) != 0;
}

void pai__piece_text(pai__buf *out, enum pai__piece_form form, const char *s,
                     size_t len)
{
  if (form != PAI__PIECE_JSON && len > 0 && is_plain(s, len))
    pai__buf_add(out, s, len);
  else
    pai__write_flow_text(out, s, len, (pai__flow){ .quotes = true });
}

/* Appends a text inside a place to fill in. */
static void put_escaped(pai__buf *out, const char *s, size_t len)
{
  for (size_t i = 0; i < len; i++) {
    if (strchr("$}\\", s[i]) != NULL)
      pai__buf_char(out, '\\');
    pai__buf_char(out, s[i]);
  }
}

static bool is_text(const pai__spec_rule *rule, const char *s)
{
  bool digits = s[strspn(s, "0123456789.-")] == '\0' && *s != '\0';

  if ((rule->types & (PAI__T_INT | PAI__T_NUMBER)) != 0 && digits)
    return false;
  if ((rule->types & PAI__T_BOOL) != 0 || rule->types == PAI__T_ANY)
    return strcmp(s, "true") != 0 && strcmp(s, "false") != 0 && !digits;
  return (rule->types & PAI__T_STRING) != 0;
}

/* Appends a value as a text or otherwise, or as a place to fill in. */
static void put_value(pai__piece_maker *m, const pai__spec_rule *rule,
                      const char *value, bool fixed)
{
  pai__buf text;

  pai__buf_init(&text, m->out->alloc);
  if (is_text(rule, value))
    pai__piece_text(&text, m->form, value, strlen(value));
  else
    pai__buf_str(&text, value);
  if (m->snippet && !fixed) {
    pai__buf_printf(m->out, "${%u:", ++m->stops);
    put_escaped(m->out, pai__buf_text(&text), text.len);
    pai__buf_char(m->out, '}');
  } else if (m->snippet) {
    put_escaped(m->out, pai__buf_text(&text), text.len);
  } else {
    pai__buf_add(m->out, pai__buf_text(&text), text.len);
  }
  m->out->failed |= !pai__buf_ok(&text);
  pai__buf_dispose(&text);
}

static void put_choice(pai__piece_maker *m, const char *const *words)
{
  const char *quote = m->form == PAI__PIECE_JSON ? "\"" : "";

  if (!m->snippet) {
    pai__buf_printf(m->out, "%s%s%s", quote, words[0], quote);
    return;
  }
  pai__buf_printf(m->out, "${%u|", ++m->stops);
  for (size_t i = 0; words[i] != NULL; i++)
    pai__buf_printf(m->out, "%s%s%s%s", i > 0 ? "," : "", quote, words[i],
                    quote);
  pai__buf_str(m->out, "|}");
}

/* Appends a usual value of a scalar. */
static void put_scalar(pai__piece_maker *m, const pai__spec_rule *rule,
                       const pai__spec_field *field)
{
  if (rule->words != NULL && rule->words[1] != NULL)
    put_choice(m, rule->words);
  else if (rule->words != NULL)
    put_value(m, rule, *rule->words, true);
  else if (rule->example != NULL)
    put_value(m, rule, rule->example, false);
  else if (field != NULL && field->absent != NULL &&
           field->absent != PAI__NEEDED)
    put_value(m, rule, field->absent, false);
  else if ((rule->types & PAI__T_INT) != 0 &&
           (rule->types & PAI__T_STRING) == 0) {
    pai__buf number_text;

    pai__buf_init(&number_text, m->out->alloc);
    pai__buf_printf(&number_text, "%lld",
                    (long long)(rule->has_min ? rule->min : 0));
    put_value(m, rule, pai__buf_text(&number_text), false);
    pai__buf_dispose(&number_text);
  } else if (m->snippet && m->form != PAI__PIECE_JSON)
    pai__buf_printf(m->out, "${%u}", ++m->stops);
  else if (m->snippet)
    pai__buf_printf(m->out, "\"${%u}\"", ++m->stops);
  else
    pai__buf_str(m->out, "\"\"");
}

/* --- collections -------------------------------------------------------------- */

bool pai__piece_wants(const pai__spec_field *field)
{
  return !field->rule->never &&
         (field->absent == PAI__NEEDED || field->rule->usual);
}

static void new_line(pai__piece_maker *m)
{
  pai__buf_char(m->out, '\n');
  for (size_t i = 0; i < m->indent; i++)
    pai__buf_char(m->out, ' ');
}

static void put_key(pai__piece_maker *m, const char *key)
{
  pai__buf_printf(m->out, m->form == PAI__PIECE_JSON ? "\"%s\":" : "%s:", key);
}

bool pai__piece_is_collection(const pai__spec_rule *rule)
{
  return rule->types != PAI__T_ANY &&
         (rule->types & (PAI__T_LIST | PAI__T_MAPPING)) != 0 &&
         (rule->types & (PAI__T_STRING | PAI__T_INT)) == 0;
}

/* Appends a field, in a mapping of a known shape. */
static void put_field(pai__piece_maker *m, const pai__spec_field *field,
                      const char *selects, const char *shape)
{
  put_key(m, field->name);
  if (shape != NULL && strcmp(field->name, selects) == 0) {
    pai__buf_char(m->out, ' ');
    put_value(m, field->rule, shape, true);
  } else {
    pai__piece_value(m, field->rule, field, NULL, false);
  }
}

static void put_fields(pai__piece_maker *m, const pai__spec_rule *rule,
                       const char *selects, const char *shape)
{
  bool any = false;

  for (const pai__spec_field *p = rule->fields; p != NULL && p->name != NULL;
       p++) {
    if (!pai__piece_wants(p))
      continue;
    if (any && m->form != PAI__PIECE_BLOCK)
      pai__buf_char(m->out, ',');
    if (any && m->form == PAI__PIECE_FLOW)
      pai__buf_char(m->out, ' ');
    if (m->form == PAI__PIECE_JSON || (any && m->form == PAI__PIECE_BLOCK))
      new_line(m);
    put_field(m, p, selects, shape);
    any = true;
  }
  if (!any && rule->values != NULL && rule->example != NULL) {
    if (m->form == PAI__PIECE_JSON)
      new_line(m);
    pai__piece_entry(m, rule);
  } else if (!any && m->snippet) {
    pai__buf_printf(m->out, "${%u}", ++m->stops);
  }
}

void pai__piece_mapping(pai__piece_maker *m, const pai__spec_rule *rule,
                        const char *shape)
{
  const char *selects;

  if (rule->known != NULL)
    rule = rule->known;
  selects = pai__spec_rule_selects(rule);
  if (rule->shapes != NULL) {
    const pai__spec_shape *s = rule->shapes;

    if (shape == NULL)
      shape = s->type;
    while (strcmp(s->type, shape) != 0 && s[1].type != NULL)
      s++;
    rule = s->rule;
  }
  if (m->form != PAI__PIECE_BLOCK)
    pai__buf_str(m->out, m->form == PAI__PIECE_JSON ? "{" : "{ ");
  put_fields(m, rule, selects, shape);
  if (m->form == PAI__PIECE_FLOW)
    pai__buf_str(m->out, " }");
}

void pai__piece_entry(pai__piece_maker *m, const pai__spec_rule *rule)
{
  const char *name = rule->example != NULL ? rule->example : "name";

  if (m->form == PAI__PIECE_JSON)
    pai__buf_char(m->out, '"');
  if (m->snippet)
    pai__buf_printf(m->out, "${%u:%s}", ++m->stops, name);
  else
    pai__buf_str(m->out, name);
  pai__buf_str(m->out, m->form == PAI__PIECE_JSON ? "\":" : ":");
  pai__piece_value(m, rule->values, NULL, NULL, false);
}

static void put_list(pai__piece_maker *m, const pai__spec_rule *rule)
{
  const pai__spec_rule *item = rule->values;

  if (m->form == PAI__PIECE_BLOCK) {
    m->indent += 2;
    new_line(m);
    pai__buf_str(m->out, "- ");
    if (item != NULL)
      pai__piece_value(m, item, NULL, NULL, true);
    else if (m->snippet)
      pai__buf_printf(m->out, "${%u}", ++m->stops);
    m->indent -= 2;
    return;
  }
  pai__buf_str(m->out, " [");
  if (item != NULL)
    pai__piece_value(m, item, NULL, NULL, true);
  pai__buf_char(m->out, ']');
}

/* The fields of a mapping that is an item begin beside its dash. */
static void put_mapping(pai__piece_maker *m, const pai__spec_rule *rule,
                        const char *shape, bool item)
{
  if (m->form != PAI__PIECE_BLOCK && !item)
    pai__buf_char(m->out, ' ');
  if (m->form == PAI__PIECE_FLOW) {
    pai__piece_mapping(m, rule, shape);
    return;
  }
  m->indent += 2;
  if (m->form == PAI__PIECE_BLOCK && !item)
    new_line(m);
  pai__piece_mapping(m, rule, shape);
  m->indent -= 2;
  if (m->form == PAI__PIECE_JSON) {
    new_line(m);
    pai__buf_char(m->out, '}');
  }
}

void pai__piece_value(pai__piece_maker *m, const pai__spec_rule *rule,
                      const pai__spec_field *field, const char *shape,
                      bool item)
{
  if (pai__piece_is_collection(rule) && (rule->types & PAI__T_MAPPING) != 0) {
    put_mapping(m, rule, shape, item);
  } else if (pai__piece_is_collection(rule)) {
    put_list(m, rule);
  } else {
    if (!item)
      pai__buf_char(m->out, ' ');
    put_scalar(m, rule, field);
  }
}

void pai__piece_field(pai__piece_maker *m, const pai__spec_field *field)
{
  put_field(m, field, "", NULL);
}
