/* describe.c - writes what the rules say of a field, as Markdown */
#include "language/facts/parts.h"
#include "spec/format/write.h"

enum { LONGEST_VALUE = 400 };

static void put_types(pai__buf *out, const pai__spec_rule *rule)
{
  static const struct {
    unsigned type;
    const char *name;
  } names[] = {
    { PAI__T_MAPPING, "mapping" }, { PAI__T_LIST, "list" },
    { PAI__T_STRING, "text" },     { PAI__T_INT, "whole number" },
    { PAI__T_NUMBER, "number" },   { PAI__T_BOOL, "true or false" },
    { PAI__T_NULL, "null" },
  };
  const char *before = "";

  if (rule->types == PAI__T_ANY) {
    pai__buf_str(out, "any value");
    return;
  }
  for (size_t i = 0; i < PAI__LEN(names); i++)
    if ((rule->types & names[i].type) != 0) {
      pai__buf_printf(out, "%s%s", before, names[i].name);
      before = ", ";
    }
}

static void put_words(pai__buf *out, const pai__spec_rule *rule)
{
  pai__buf_str(out, "\n\nAllowed: ");
  for (size_t i = 0; rule->words[i] != NULL; i++)
    pai__buf_printf(out, "%s`%s`", i > 0 ? ", " : "", rule->words[i]);
}

static void put_limits(pai__buf *out, const pai__spec_rule *rule)
{
  if (rule->words != NULL)
    put_words(out, rule);
  if (rule->form != PAI__FORM_ANY)
    pai__buf_printf(out, "\n\nForm: %s", pai__form_says(rule->form));
  if (rule->longest > 0)
    pai__buf_printf(out, "; at most %u characters", (unsigned)rule->longest);
  if (rule->has_min)
    pai__buf_printf(out, "\n\nAt least %lld", (long long)rule->min);
  if (rule->shapes != NULL)
    for (const pai__spec_shape *s = rule->shapes; s->type != NULL; s++)
      pai__buf_printf(out, "%s`%s`: %s", s == rule->shapes ? "\n\n" : "\n",
                      s->type, s->says);
}

void pai__facts_describe(pai__buf *out, const pai__spec_ruled *ruled,
                         const char *name)
{
  const pai__spec_field *field = ruled->field;

  if (name != NULL)
    pai__buf_printf(out, "**%s**: ", name);
  put_types(out, ruled->rule);
  if (field != NULL && field->absent == PAI__NEEDED)
    pai__buf_str(out, ", required");
  else if (field != NULL && field->absent != NULL)
    pai__buf_printf(out, ", default `%s`", field->absent);
  if (field != NULL && field->says != NULL)
    pai__buf_printf(out, "\n\n%s", field->says);
  put_limits(out, ruled->rule);
}

void pai__facts_put_plain(pai__buf *out, const pai__facts *f, pai__node n,
                          size_t most)
{
  pai__json_writer w;
  pai__buf text;
  size_t len;

  pai__buf_init(&text, f->alloc);
  pai__json_writer_init(&w, &text, false);
  pai__write_json_masked(&w, f->tree, &f->secrets, n);
  out->failed |= pai__json_finish(&w) == PAI_ENOMEM;
  len = text.len;
  if (len > most)
    for (len = most; (text.data[len] & 0xc0) == 0x80;)
      len--;
  pai__buf_add(out, pai__buf_text(&text), len);
  if (len < text.len)
    pai__buf_str(out, " ...");
  pai__buf_dispose(&text);
}

/* A backtick would end the code span. */
void pai__facts_put_value(pai__buf *out, const pai__facts *f, pai__node n)
{
  size_t start;

  pai__buf_char(out, '`');
  start = out->len;
  pai__facts_put_plain(out, f, n, LONGEST_VALUE);
  for (size_t i = start; pai__buf_ok(out) && i < out->len; i++)
    if (out->data[i] == '`')
      out->data[i] = '\'';
  pai__buf_char(out, '`');
}
