/*
 * check_value.c - checks one value against its rule
 *
 * It accepts what Ajv and Joi accept, with which OpenPAI checks job files.
 * The messages are libopenpai's own.
 */
#include "spec/check_value.h"

#include "base/text/milli.h"
#include "base/text/number.h"
#include "base/text/utf8.h"
#include "spec/check.h"
#include "spec/fix/fix.h"

#include <math.h>
#include <stdio.h>

/* --- names -------------------------------------------------------------- */

/* Lists the rule's types: "a whole number or null". */
static const char *types_text(char out[128], const pai__spec_rule *rule)
{
  static const struct {
    unsigned type;
    const char *name;
  } names[] = {
    { PAI__T_MAPPING, "a mapping" },  { PAI__T_LIST, "a list" },
    { PAI__T_STRING, "a text" },      { PAI__T_NUMBER, "a number" },
    { PAI__T_INT, "a whole number" }, { PAI__T_BOOL, "true or false" },
    { PAI__T_NULL, "null" }
  };
  size_t len = 0;

  out[0] = '\0';
  for (size_t i = 0; i < PAI__LEN(names); i++)
    if ((rule->types & names[i].type) != 0)
      len += (size_t)snprintf(out + len, 128 - len, "%s%s",
                              len > 0 ? " or " : "", names[i].name);
  return out;
}

void pai__check_name(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                     pai__node key, char out[PAI__VALUE_TEXT])
{
  char piece[PAI__EXCERPT];
  const char *name;
  size_t len;

  if (key == n) {
    (void)snprintf(out, PAI__VALUE_TEXT, "%s", rule->what);
    return;
  }
  name = pai__key_shown(f, key, &len);
  (void)snprintf(out, PAI__VALUE_TEXT, "%s", pai__excerpt(piece, name, len));
}

/* --- scalars ------------------------------------------------------------ */

static bool is_number(const pai__tree *t, pai__node n)
{
  int type = pai__tree_type(t, n);

  return type == PAI__INT || type == PAI__FLOAT;
}

/* Reads a text that JavaScript's Number() and parseFloat() read as one
 * number. */
static bool text_number(const char *s, size_t len, double *value)
{
  const char *digits = s;

  while (len > 0 && strchr(" \t\n\r\v\f", s[len - 1]) != NULL)
    len--;
  while (len > 0 && strchr(" \t\n\r\v\f", *s) != NULL)
    s++, len--;
  digits = s;
  if (len > 0 && (*s == '-' || *s == '+'))
    digits++;
  if (digits == s + len || len > 400 ||
      ((*digits < '0' || *digits > '9') && *digits != '.'))
    return false;
  for (const char *p = digits; p < s + len; p++)
    if (strchr("0123456789.eE+-", *p) == NULL)
      return false;
  return pai__strtod_c(value, s) == PAI_OK && isfinite(*value);
}

bool pai__whole(const pai__tree *t, pai__node n, bool coerced, int64_t *value)
{
  const char *s;
  double d;
  size_t len;

  if (is_number(t, n))
    return pai__tree_whole(t, n, value);
  if (!coerced || pai__tree_type(t, n) != PAI__STRING)
    return false;
  s = pai__tree_str(t, n, &len);
  if (!text_number(s, len, &d) || fabs(d) > 9e15 || d != (double)(int64_t)d)
    return false;
  *value = (int64_t)d;
  return true;
}

/* All doubles from 2^53 on are whole. */
static bool is_large(double d)
{
  return d >= 9007199254740992.0 || d <= -9007199254740992.0;
}

/* Returns whether a number is whole, even if it does not fit 64 bits. */
static bool is_whole(const pai__tree *t, pai__node n, bool coerced)
{
  int64_t value;

  return pai__whole(t, n, coerced, &value) ||
         (is_number(t, n) && is_large(pai__tree_float(t, n)));
}

bool pai__has_type(const pai__tree *t, pai__node n, const pai__spec_rule *rule)
{
  unsigned types = rule->types;

  if (types == PAI__T_ANY)
    return true;
  switch (pai__tree_type(t, n)) {
  case PAI__NULL: return (types & PAI__T_NULL) != 0;
  case PAI__BOOL: return (types & PAI__T_BOOL) != 0;
  case PAI__STRING:
    return (types & PAI__T_STRING) != 0 ||
           (rule->coerced && is_whole(t, n, true));
  case PAI__SEQUENCE: return (types & PAI__T_LIST) != 0;
  case PAI__MAPPING: return (types & PAI__T_MAPPING) != 0;
  case PAI__INT:
  case PAI__FLOAT:
    return (types & PAI__T_NUMBER) != 0 ||
           ((types & PAI__T_INT) != 0 && is_whole(t, n, false));
  default: return false;
  }
}

bool pai__is_word(const pai__tree *t, pai__node n, const pai__spec_rule *rule)
{
  char number[PAI__DOUBLE_TEXT];
  const char *s = number;
  int64_t value;
  size_t len;

  if (pai__tree_type(t, n) == PAI__STRING)
    s = pai__tree_str(t, n, &len);
  else if (pai__tree_whole(t, n, &value))
    len = pai__format_int(number, value);
  else
    return false;
  for (size_t i = 0; rule->words[i] != NULL; i++)
    if (strlen(rule->words[i]) == len && memcmp(rule->words[i], s, len) == 0)
      return true;
  return false;
}

/* Returns whether a value is the mask of a secret. */
static bool is_mask(const pai__tree *t, pai__node n)
{
  return pai__tree_type(t, n) == PAI__STRING &&
         strcmp(pai__tree_str(t, n, NULL), PAI__MASK) == 0;
}

/* --- values of a wrong type --------------------------------------------- */

/* Reads a text like 1Gi as a number of MiB.  Returns 0 for other texts. */
static uint64_t mebibytes(const char *s, size_t len)
{
  uint64_t n = 0;
  size_t i = 0;

  for (; i < len && i < 9 && s[i] >= '0' && s[i] <= '9'; i++)
    n = n * 10 + (uint64_t)(s[i] - '0');
  while (i > 0 && i < len && s[i] == ' ')
    i++;
  if (i == 0 || i == len || len - i > 3 || strchr("GgMm", s[i]) == NULL)
    return 0;
  for (size_t k = i + 1; k < len; k++)
    if (strchr("iB", s[k]) == NULL)
      return 0;
  return s[i] == 'G' || s[i] == 'g' ? n * 1024 : n;
}

static void write_number(pai__findings *f, bool sure, pai__node n,
                         int64_t value)
{
  char text[PAI__DOUBLE_TEXT];

  text[pai__format_int(text, value)] = '\0';
  pai__fix_plain(f, sure, n, text);
}

/* Adds help for a value that must be a number, mostly a whole one. */
static void help_number(pai__findings *f, bool fine, pai__node n,
                        pai__node key)
{
  const pai__tree *t = f->tree;
  size_t len, name_len;
  const char *s, *name = pai__tree_str(t, key, &name_len);
  bool in_mib =
    key != n && name_len > 2 && memcmp(name + name_len - 2, "MB", 2) == 0;
  char number[PAI__MILLI_TEXT];
  uint64_t milli;
  int64_t value;
  double d;

  if (pai__secrets_hide(pai__findings_secrets(f), n))
    return;
  if (pai__tree_type(t, n) == PAI__FLOAT) {
    d = pai__tree_float(t, n);
    if (fabs(d) >= 1e15 || d != d)
      return;
    value = (int64_t)d; /* ceil() would require libm */
    value += d > (double)value;
    pai__find_help(f, "write a whole number such as %lld", (long long)value);
    write_number(f, false, n, value);
    return;
  }
  if (pai__tree_type(t, n) != PAI__STRING)
    return;
  s = pai__tree_str(t, n, &len);
  if (pai__whole(t, n, true, &value)) {
    pai__find_help(f, "write %lld, without quotes", (long long)value);
    write_number(f, true, n, value);
  } else if (fine && pai__milli_read(&milli, s, len, UINT32_MAX) == PAI_OK) {
    pai__find_help(f, "write %s, without quotes",
                   pai__milli_text(number, milli));
    pai__fix_plain(f, true, n, number);
  } else if (in_mib && mebibytes(s, len) > 0) {
    value = (int64_t)mebibytes(s, len);
    pai__find_help(f, "the unit is MiB: write %lld", (long long)value);
    write_number(f, true, n, value);
  }
}

/* Returns whether a value is a list with dashes, or a mapping without
 * braces. */
static bool is_block(const pai__tree *t, pai__node n)
{
  return pai__tree_type(t, n) >= PAI__SEQUENCE &&
         t->syntax == PAI__SYNTAX_YAML && pai__tree_count(t, n) > 0 &&
         (pai__tree_at(t, n)->flags & PAI__STYLE) != PAI__FLOW;
}

/* Adds help for a value that must be a text. */
static void help_text(pai__findings *f, pai__node n)
{
  const pai__tree *t = f->tree;
  int type = pai__tree_type(t, n);

  if (pai__mend_is_line(t, n))
    pai__find_help(
      f,
      "quote the whole text: a colon followed by a space makes it a mapping");
  else if (type != PAI__NULL && type < PAI__SEQUENCE)
    pai__find_help(f, "put it in quotes");
  else
    return;
  pai__mend_quote(f, n);
}

/* Adds help for a value that must be a list.  A mapping with a type is offered
 * as its only item. */
static void help_list(pai__findings *f, const pai__spec_rule *rule,
                      pai__node n)
{
  char value[PAI__VALUE_TEXT];

  if (pai__tree_type(f->tree, n) == PAI__STRING) {
    if (rule->values != NULL && (rule->values->types & PAI__T_STRING) == 0)
      return;
    pai__find_help(f, "write it as a list: [%s]",
                   pai__value_text(value, f, n));
    pai__mend_list(f, n);
  } else if (is_block(f->tree, n)) {
    pai__find_help(f, "begin each item with a dash");
    if (rule->values != NULL && rule->values->shapes != NULL &&
        pai__tree_get(f->tree, n, "type") != PAI__NO_NODE)
      pai__mend_item(f, n);
  }
}

void pai__wrong_type(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                     pai__node key)
{
  char name[PAI__VALUE_TEXT], value[PAI__VALUE_TEXT], types[128];
  pai__demand wanted = { .types = rule->types };
  int type = pai__tree_type(f->tree, n);

  if (n == 0 && f->tree->nodes[n].start == f->tree->nodes[n].end) {
    pai__find(f, PAI_SEVERITY_ERROR, "wrong-type", n, "the file is empty");
    pai__find_wanted(f, &wanted);
    return;
  }
  pai__check_name(f, rule, n, key, name);
  if (!pai__find(f, PAI_SEVERITY_ERROR, "wrong-type", n,
                 "%s must be %s, not %s", name, types_text(types, rule),
                 n == 0 && type == PAI__STRING ? "a text"
                                               : pai__value_text(value, f, n)))
    return;
  pai__find_wanted(f, &wanted);
  if (rule->types == PAI__T_STRING)
    help_text(f, n);
  else if ((rule->types & ~(unsigned)PAI__T_NULL) == PAI__T_INT || rule->fine)
    help_number(f, rule->fine, n, key);
  else if (rule->types == PAI__T_MAPPING && is_mask(f->tree, n))
    pai__find_help(f, "this is a masked copy: enter the secrets again, or "
                      "write the file with its secrets");
  else if (rule->types == PAI__T_LIST)
    help_list(f, rule, n);
  else if (rule->types == PAI__T_MAPPING && key != n && is_block(f->tree, n))
    pai__find_help(f, "write NAME: followed by its fields, without a dash");
  else if ((rule->types & (PAI__T_LIST | PAI__T_MAPPING)) != 0 && key != n &&
           type == PAI__NULL &&
           f->tree->nodes[n].start == f->tree->nodes[n].end)
    pai__find_help(f, "indent its fields further, or remove it");
}

void pai__not_a_word(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                     pai__node key)
{
  char name[PAI__VALUE_TEXT], value[PAI__VALUE_TEXT];
  pai__names names;
  const char *s = "";
  size_t len = 0;
  bool only;

  pai__check_name(f, rule, n, key, name);
  pai__find(f, PAI_SEVERITY_ERROR, "not-allowed", n, "%s cannot be %s", name,
            pai__value_text(value, f, n));
  pai__find_wanted(
    f, &(pai__demand){ .types = rule->types, .allowed = rule->words });
  if (pai__tree_type(f->tree, n) == PAI__STRING)
    s = pai__tree_str(f->tree, n, &len);
  pai__names_init(&names, f->arena->alloc, s, len);
  for (size_t i = 0; rule->words[i] != NULL; i++)
    pai__names_add(&names, rule->words[i], strlen(rule->words[i]));
  only = rule->words[0] != NULL && rule->words[1] == NULL &&
         !pai__names_surely(&names);
  pai__names_help(&names, f, "it can be");
  if (only && pai__tree_type(f->tree, n) == PAI__STRING)
    pai__fix_word(f, false, n, *rule->words, strlen(*rule->words));
  else if (only)
    pai__fix_plain(f, false, n, *rule->words);
}

static size_t count_characters(const char *s, size_t len)
{
  size_t n = 0;

  for (size_t i = 0; i < len; i++)
    n += pai__utf8_first(s[i]);
  return n;
}

static void text_empty(pai__findings *f, const pai__spec_rule *rule,
                       pai__node n, pai__node key)
{
  char name[PAI__VALUE_TEXT];

  pai__check_name(f, rule, n, key, name);
  pai__find(f, PAI_SEVERITY_ERROR, "empty", n, "%s must not be empty", name);
}

static void text_unfit(pai__findings *f, const pai__spec_rule *rule,
                       pai__node n, pai__node key)
{
  char name[PAI__VALUE_TEXT], value[PAI__VALUE_TEXT];

  pai__check_name(f, rule, n, key, name);
  pai__find(f, PAI_SEVERITY_ERROR, "bad-name", n, "%s cannot be %s", name,
            pai__value_text(value, f, n));
  pai__find_wanted(f,
                   &(pai__demand){ .pattern = pai__form_pattern(rule->form) });
  pai__find_help(f, "use %s", pai__form_says(rule->form));
  pai__mend_name(f, n, rule->form);
}

static void text_long(pai__findings *f, const pai__spec_rule *rule,
                      pai__node n, pai__node key, size_t characters)
{
  char name[PAI__VALUE_TEXT];

  pai__check_name(f, rule, n, key, name);
  pai__find(f, PAI_SEVERITY_ERROR, "too-long", n,
            "%s has %zu characters; the limit is %u", name, characters,
            rule->longest);
  pai__find_wanted(f, &(pai__demand){ .limit = rule->longest });
  pai__find_help(f, "shorten it");
}

void pai__check_text(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                     pai__node key)
{
  size_t len, characters;
  const char *s = pai__tree_str(f->tree, n, &len);

  if (rule->not_empty && len == 0)
    text_empty(f, rule, n, key);
  else if (!pai__form_fits(rule->form, s, len))
    text_unfit(f, rule, n, key);
  if (rule->longest == 0 || len <= rule->longest)
    return;
  characters = count_characters(s, len);
  if (characters > rule->longest)
    text_long(f, rule, n, key, characters);
}

void pai__check_fine(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                     pai__node key)
{
  char name[PAI__VALUE_TEXT], shown[PAI__VALUE_TEXT];
  uint64_t milli;
  int rc = pai__milli_of(&milli, f->tree, n);

  if (rc != PAI_EINVAL && rc != PAI_ENOTSUP)
    return;
  pai__check_name(f, rule, n, key, name);
  pai__find(f, PAI_SEVERITY_ERROR, "too-fine", n, "%s cannot be %s", name,
            pai__value_text(shown, f, n));
  pai__find_help(f, rc == PAI_ENOTSUP ? "use at most three decimals: 1.234"
                                      : "write a decimal number such as 0.5");
}

void pai__check_min(pai__findings *f, const pai__spec_rule *rule, pai__node n,
                    pai__node key)
{
  char name[PAI__VALUE_TEXT], shown[PAI__VALUE_TEXT];
  int64_t value;
  double d;

  if (pai__whole(f->tree, n, rule->coerced, &value))
    d = (double)value;
  else if (is_number(f->tree, n))
    d = pai__tree_float(f->tree, n);
  else
    return;
  if (d >= (double)rule->min)
    return;
  pai__check_name(f, rule, n, key, name);
  pai__find(f, PAI_SEVERITY_ERROR, "too-small", n, "%s cannot be %s", name,
            pai__value_text(shown, f, n));
  pai__find_wanted(f, &(pai__demand){ .limit = rule->min });
  pai__find_help(f, "use %lld or more", (long long)rule->min);
  write_number(f, false, n, rule->min);
}
