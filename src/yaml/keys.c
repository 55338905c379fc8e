/* keys.c - JavaScript's text of a mapping key */
#include "yaml/load.h"
#include "yaml/scalar.h"
#include "base/text/number.h"
#include "base/text/utf8.h"

/* Appends bytes as text; invalid UTF-8 becomes U+FFFD. */
static void add_bytes(pai__buf *out, const char *s, size_t len)
{
  for (size_t i = 0; i < len;) {
    size_t n = pai__utf8_len(s + i, len - i);
    if (n != 0) {
      pai__buf_add(out, s + i, n);
      i += n;
    } else {
      pai__buf_str(out, "\xef\xbf\xbd");
      i += pai__utf8_bad(s + i, len - i);
    }
  }
}

void pai__js_string(pai__buf *out, const pai__tree *t, pai__node n)
{
  char number[PAI__DOUBLE_TEXT];
  size_t len;
  const char *text;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: pai__buf_str(out, "null"); break;
  case PAI__BOOL:
    pai__buf_str(out, pai__tree_bool(t, n) ? "true" : "false");
    break;
  case PAI__INT:
    pai__buf_add(out, number, pai__format_int(number, pai__tree_int(t, n)));
    break;
  case PAI__FLOAT:
    pai__buf_add(out, number,
                 pai__format_double(number, pai__tree_float(t, n)));
    break;
  case PAI__TIMESTAMP: pai__date_string(out, pai__tree_int(t, n)); break;
  case PAI__BINARY:
    text = pai__tree_str(t, n, &len);
    add_bytes(out, text, len);
    break;
  case PAI__STRING:
    text = pai__tree_str(t, n, &len);
    pai__buf_add(out, text, len);
    break;
  default: pai__buf_str(out, "[object Object]"); break;
  }
}

/* Array.prototype.join.  Returns false if an item is a list itself. */
static bool add_items(pai__buf *out, const pai__tree *t, pai__node n,
                      size_t max)
{
  pai__tree_walk w = pai__tree_iter(t, n);
  bool first = true;
  pai__node item;

  while ((item = pai__tree_next(&w)) != PAI__NO_NODE && out->len <= max) {
    if (!first)
      pai__buf_char(out, ',');
    first = false;
    if (pai__tree_type(t, item) == PAI__SEQUENCE)
      return false;
    if (pai__tree_type(t, item) != PAI__NULL)
      pai__js_string(out, t, item);
  }
  return true;
}

/* Limits the text made of keys that are not scalars.  Otherwise a short text
 * with aliases could make a long one. */
static int charge(pai__yaml_loader *l, pai__node key, size_t len)
{
  size_t most = l->t->len * l->opts.alias_factor + l->opts.alias_floor;

  l->key_bytes += len;
  if (l->key_bytes <= most)
    return PAI_OK;
  return pai__fail_at(l->err, PAI_ELIMIT, pai__tree_where(l->t, key),
                      "keys that are no scalars make more than %zu bytes",
                      most);
}

static int fail_key(pai__yaml_loader *l, pai__node key, const char *what)
{
  return pai__fail_at(l->err, PAI_EINVAL, pai__tree_where(l->t, key), "%s",
                      what);
}

static int make_text(pai__yaml_loader *l, pai__buf *text, pai__node key,
                     pai__node from)
{
  size_t most = l->t->len * l->opts.alias_factor + l->opts.alias_floor;

  if (pai__tree_type(l->t, from) != PAI__SEQUENCE)
    pai__js_string(text, l->t, from);
  else if (!add_items(text, l->t, from, most))
    return fail_key(l, key, "a list inside a list cannot be a key");
  if (!pai__buf_ok(text))
    return pai__oom(l->err);
  if (pai__tree_type(l->t, from) >= PAI__SEQUENCE)
    return charge(l, key, text->len);
  return PAI_OK;
}

int pai__yaml_key_text(pai__yaml_loader *l, pai__node key, pai__node from)
{
  pai__tree_node *k = &l->t->nodes[key];
  const pai__tree_node *f = pai__tree_at(l->t, from);
  pai__buf text;
  int rc;

  k->flags |= PAI__CONVERTED;
  if (f->type == PAI__STRING) { /* an alias: both share the text */
    k->u.s = f->u.s;
    return PAI_OK;
  }
  if (!l->js && f->type >= PAI__SEQUENCE)
    return fail_key(l, key, "a key must be a scalar");
  pai__buf_init(&text, &l->t->alloc);
  rc = make_text(l, &text, key, from);
  if (rc == PAI_OK) {
    k->u.s.len = (uint32_t)text.len;
    if (pai__tree_store(l->t, &k->u.s.off, pai__buf_text(&text), text.len) < 0)
      rc = pai__oom(l->err);
  }
  pai__buf_dispose(&text);
  return rc;
}
