/* template_value.c - looks up names and writes values as JavaScript does */
#include "spec/template/template_value.h"

#include "base/text/number.h"
#include "base/text/utf8.h"
#include "yaml/scalar.h"

typedef pai__template_value value;

static value node_value(const pai__tree *tree, pai__node n)
{
  value v = { .kind = PAI__TEMPLATE_NOTHING };

  if (n != PAI__NO_NODE && pai__tree_type(tree, n) != PAI__NULL)
    v = (value){ .kind = PAI__TEMPLATE_NODE, .tree = tree, .node = n };
  return v;
}

static value text_value(const char *text, size_t len)
{
  return (value){ .kind = PAI__TEMPLATE_TEXT, .text = text, .len = len };
}

static value number_value(uint64_t number)
{
  return (value){ .kind = PAI__TEMPLATE_NUMBER, .number = number };
}

/* Reads an index as JavaScript writes it: without leading zeros. */
static bool parse_index(uint64_t *index, const char *s, size_t len)
{
  if (len == 0 || len > 10 || (s[0] == '0' && len > 1))
    return false;
  *index = 0;
  for (size_t i = 0; i < len; i++) {
    if (s[i] < '0' || s[i] > '9')
      return false;
    *index = *index * 10 + (uint64_t)(s[i] - '0');
  }
  return true;
}

static bool is_length(const char *key, size_t len)
{
  return len == 6 && memcmp(key, "length", 6) == 0;
}

/* --- strings: UTF-16 units, as in JavaScript ---------------------------- */

/* Returns the offset of the character that contains unit `index`, or len.
 * *units is the number of units before it. */
static size_t find_unit(const char *s, size_t len, uint64_t index,
                        uint64_t *units)
{
  size_t i = 0;

  *units = 0;
  while (i < len) {
    /* a surrogate pair, or one */
    unsigned n = (unsigned char)s[i] >= 0xf0 ? 2 : 1;

    if (index - *units < n)
      break;
    *units += n;
    do
      i++;
    while (i < len && !pai__utf8_first(s[i]));
  }
  return i;
}

/* Returns a unit of a string, or its length.  Half of a surrogate pair becomes
 * U+FFFD, as when JavaScript writes UTF-8. */
static value string_member(const char *s, size_t len, const char *key,
                           size_t key_len, uint64_t *work)
{
  uint64_t index = UINT64_MAX, units;
  size_t at, end;

  if (!is_length(key, key_len) && !parse_index(&index, key, key_len))
    return (value){ .kind = PAI__TEMPLATE_NOTHING };
  at = find_unit(s, len, index, &units);
  *work += at;
  if (index == UINT64_MAX)
    return number_value(units);
  if (at == len)
    return (value){ .kind = PAI__TEMPLATE_NOTHING };
  if ((unsigned char)s[at] >= 0xf0)
    return text_value("\ufffd", 3);
  for (end = at + 1; end < len && !pai__utf8_first(s[end]);)
    end++;
  return text_value(s + at, end - at);
}

/* --- members ------------------------------------------------------------ */

static value list_member(const value *v, const char *key, size_t len,
                         uint64_t *work)
{
  uint32_t count = pai__tree_count(v->tree, v->node);
  pai__tree_walk w = pai__tree_iter(v->tree, v->node);
  pai__node item = PAI__NO_NODE;
  uint64_t index;

  if (is_length(key, len))
    return number_value(count);
  if (!parse_index(&index, key, len) || index >= count)
    return (value){ .kind = PAI__TEMPLATE_NOTHING };
  *work += index;
  for (uint64_t i = 0; i <= index; i++)
    item = pai__tree_next(&w);
  return node_value(v->tree, item);
}

/* Returns a member of Node's Buffer, which js-yaml makes of !!binary. */
static value bytes_member(const char *s, size_t len, const char *key,
                          size_t key_len)
{
  uint64_t index;

  if (is_length(key, key_len))
    return number_value(len);
  if (parse_index(&index, key, key_len) && index < len)
    return number_value((unsigned char)s[index]);
  return (value){ .kind = PAI__TEMPLATE_NOTHING };
}

/* Returns the own member v[key].  Members that JavaScript inherits from a
 * class, as toString, are left out. */
static value member(const value *v, const char *key, size_t len,
                    uint64_t *work)
{
  const char *s;
  size_t n;

  if (v->kind == PAI__TEMPLATE_TEXT)
    return string_member(v->text, v->len, key, len, work);
  if (v->kind == PAI__TEMPLATE_NODE) {
    switch (pai__tree_type(v->tree, v->node)) {
    case PAI__MAPPING: {
      pai__node k = pai__tree_find(v->tree, v->node, key, len);

      return node_value(v->tree,
                        k == PAI__NO_NODE ? k : pai__tree_value(v->tree, k));
    }
    case PAI__SEQUENCE: return list_member(v, key, len, work);
    case PAI__STRING:
      s = pai__tree_str(v->tree, v->node, &n);
      return string_member(s, n, key, len, work);
    case PAI__BINARY:
      s = pai__tree_str(v->tree, v->node, &n);
      return bytes_member(s, n, key, len);
    default: break;
    }
  }
  return (value){ .kind = PAI__TEMPLATE_NOTHING };
}

static value find_root(const pai__template *t, const char *name, size_t len)
{
  for (size_t i = 0; i < t->nscopes; i++) {
    const pai__template_scope *s = &t->scopes[i];

    if (strlen(s->root) == len && memcmp(s->root, name, len) == 0)
      return node_value(s->tree, s->node);
  }
  return (value){ .kind = PAI__TEMPLATE_NOTHING };
}

static size_t segment_len(const char *s, const char *end)
{
  const char *dot = memchr(s, '.', (size_t)(end - s));

  return (size_t)((dot != NULL ? dot : end) - s);
}

bool pai__template_find(pai__template_value *out, const pai__template *t,
                        const char *name, size_t len, uint64_t *work)
{
  const char *end = name + len;
  size_t n = segment_len(name, end);

  if (len == 1 && name[0] == '.') { /* Mustache's name for all values */
    *out = text_value("[object Object]", 15);
    return true;
  }
  *out = find_root(t, name, n);
  while (name + n < end && out->kind != PAI__TEMPLATE_NOTHING) {
    name += n + 1;
    n = segment_len(name, end);
    *out = member(out, name, n, work);
    if (*work > PAI__TEMPLATE_WORK)
      return false;
  }
  return true;
}

/* --- writing ------------------------------------------------------------ */

/* Array.prototype.join().  The recursion is as deep as the tree, which the
 * reader limits. */
static void put_list(pai__buf *out, const pai__tree *t, pai__node n,
                     size_t max_len)
{
  pai__tree_walk w = pai__tree_iter(t, n);
  pai__node item;

  for (bool first = true; (item = pai__tree_next(&w)) != PAI__NO_NODE &&
                          pai__buf_ok(out) && out->len <= max_len;
       first = false) {
    if (!first)
      pai__buf_char(out, ',');
    if (pai__tree_type(t, item) == PAI__SEQUENCE)
      put_list(out, t, item, max_len);
    else if (pai__tree_type(t, item) != PAI__NULL)
      pai__js_string(out, t, item);
  }
}

void pai__template_put(pai__buf *out, const pai__template_value *v,
                       size_t max_len)
{
  char number[PAI__DOUBLE_TEXT];

  switch (v->kind) {
  case PAI__TEMPLATE_NODE:
    if (pai__tree_type(v->tree, v->node) == PAI__SEQUENCE)
      put_list(out, v->tree, v->node, max_len);
    else
      pai__js_string(out, v->tree, v->node);
    break;
  case PAI__TEMPLATE_TEXT: pai__buf_add(out, v->text, v->len); break;
  case PAI__TEMPLATE_NUMBER:
    pai__buf_add(out, number, pai__format_int(number, (int64_t)v->number));
    break;
  case PAI__TEMPLATE_NOTHING: break;
  }
}
