/*
 * convert_read.c - reads the values of a v1 job, and makes names valid in v2
 */
#include "spec/convert/convert_parts.h"

#include "base/map.h"
#include "base/text/number.h"
#include "spec/rules.h"
#include "spec/spec.h"

enum { MAX_JOB_NAME = 255 };

/* --- looking ------------------------------------------------------------ */

pai__node pai__conv_only(const pai__conv *c, pai__node n, int type)
{
  return pai__tree_is(c->tree, n, type) ? n : PAI__NO_NODE;
}

pai__conv_str pai__conv_text(const pai__conv *c, pai__node n)
{
  pai__conv_str t = { "", 0 };

  if (pai__tree_is(c->tree, n, PAI__STRING))
    t.s = pai__tree_str(c->tree, n, &t.len);
  return t;
}

static size_t count_digits(const char *s)
{
  size_t n = 0;

  while (s[n] >= '0' && s[n] <= '9')
    n++;
  return n;
}

/* Reads the number at the start of a text, as JavaScript's parseFloat()
 * does. */
static int64_t parse_int(pai__conv *c, const char *s, int64_t missing)
{
  bool minus;
  size_t len, digits, exponent;
  double v = 0;

  s += strspn(s, " \t\n\r\v\f");
  minus = *s == '-';
  s += *s == '-' || *s == '+';
  digits = len = count_digits(s);
  if (s[len] == '.') {
    digits += count_digits(s + len + 1);
    len = digits + 1;
  }
  if (digits == 0)
    return missing;
  if ((s[len] | 0x20) == 'e') {
    exponent = len + 1 + (s[len + 1] == '+' || s[len + 1] == '-');
    if (count_digits(s + exponent) != 0)
      len = exponent + count_digits(s + exponent);
  }
  if (c->rc == PAI_OK)
    c->rc = pai__parse_double(&v, s, len);
  /* v1 refuses larger numbers as not whole. */
  if (c->rc < 0 || v > 9007199254740992.0 || v != (double)(int64_t)v)
    return missing;
  return minus ? -(int64_t)v : (int64_t)v;
}

int64_t pai__conv_int(pai__conv *c, pai__node n, int64_t missing)
{
  int64_t v;

  if (n == PAI__NO_NODE)
    return missing;
  switch (pai__tree_type(c->tree, n)) {
  case PAI__INT:
  case PAI__FLOAT: return pai__tree_whole(c->tree, n, &v) ? v : missing;
  case PAI__STRING:
    return parse_int(c, pai__tree_str(c->tree, n, NULL), missing);
  default: return missing;
  }
}

bool pai__conv_same(pai__conv_str a, pai__conv_str b)
{
  return a.len == b.len && (a.len == 0 || memcmp(a.s, b.s, a.len) == 0);
}

/* --- making ------------------------------------------------------------- */

void *pai__conv_alloc(pai__conv *c, size_t n, size_t size)
{
  void *p = c->rc < 0 ? NULL : pai__arena_zalloc(&c->arena, n, size);

  if (p == NULL && c->rc == PAI_OK)
    c->rc = PAI_ENOMEM;
  return p;
}

pai__conv_str pai__conv_take(pai__conv *c, pai__buf *b)
{
  pai__conv_str t = { NULL, b->len };

  if (c->rc == PAI_OK && pai__buf_ok(b))
    t.s = pai__arena_strndup(&c->arena, pai__buf_text(b), b->len);
  pai__buf_dispose(b);
  if (t.s != NULL)
    return t;
  if (c->rc == PAI_OK)
    c->rc = PAI_ENOMEM;
  return (pai__conv_str){ "", 0 };
}

static void add_string(pai__buf *out, const pai__tree *t, pai__node n)
{
  char number[PAI__DOUBLE_TEXT];
  pai__tree_walk w;
  const char *s, *comma = "";
  pai__node item;
  size_t len;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: pai__buf_str(out, "null"); break;
  case PAI__BOOL:
    pai__buf_str(out, pai__tree_bool(t, n) ? "true" : "false");
    break;
  case PAI__INT: /* JavaScript has only doubles */
  case PAI__FLOAT:
    (void)pai__format_double(number, pai__tree_float(t, n));
    pai__buf_str(out, number);
    break;
  case PAI__STRING:
    s = pai__tree_str(t, n, &len);
    pai__buf_add(out, s, len);
    break;
  case PAI__SEQUENCE:
    w = pai__tree_iter(t, n);
    for (; (item = pai__tree_next(&w)) != PAI__NO_NODE; comma = ",") {
      pai__buf_str(out, comma);
      if (pai__tree_type(t, item) != PAI__NULL)
        add_string(out, t, item);
    }
    break;
  default: pai__buf_str(out, "[object Object]"); break;
  }
}

pai__conv_str pai__conv_string(pai__conv *c, pai__node n)
{
  pai__buf b;

  pai__buf_init(&b, c->alloc);
  add_string(&b, c->tree, n);
  return pai__conv_take(c, &b);
}

/* --- names -------------------------------------------------------------- */

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

bool pai__conv_is_name(pai__conv_str s)
{
  return pai__form_fits(PAI__FORM_IDENT, s.s, s.len);
}

pai__conv_str pai__conv_job_name(pai__conv *c, pai__conv_str name)
{
  pai__buf b;

  pai__buf_init(&b, c->alloc);
  for (size_t i = 0; i < name.len && i < MAX_JOB_NAME; i++)
    pai__buf_char(&b,
                  is_word(name.s[i]) || name.s[i] == '-' ? name.s[i] : '_');
  return pai__conv_take(c, &b);
}

/* Makes a similar name that is not in use.  The map counts how often each name
 * was given, so that many equal names need no long search. */
static pai__conv_str replace_name(pai__conv *c, pai__map *given,
                                  pai__conv_str name)
{
  size_t room = PAI__MAX_ROLE_NAME - 12; /* room for "_" twice and a number */
  size_t *n;
  pai__conv_str found;
  pai__buf b;

  pai__buf_init(&b, c->alloc);
  if (name.len == 0 || (name.s[0] >= '0' && name.s[0] <= '9'))
    pai__buf_char(&b, '_');
  for (size_t i = 0; i < name.len && i < room; i++)
    pai__buf_char(&b, is_word(name.s[i]) ? name.s[i] : '_');
  found = name = pai__conv_take(c, &b);
  n = pai__map_get(given, name.s, name.len);
  while (c->rc == PAI_OK && pai__map_get(given, found.s, found.len) != NULL) {
    pai__buf_init(&b, c->alloc);
    pai__buf_printf(&b, "%s_%zu", name.s, ++*n);
    found = pai__conv_take(c, &b);
  }
  return found;
}

static void give_name(pai__conv *c, pai__map *given, pai__conv_str name)
{
  size_t *n = pai__conv_alloc(c, 1, sizeof(*n));

  if (n == NULL)
    return;
  *n = 1;
  if (pai__map_set(given, name.s, name.len, n) < 0)
    c->rc = PAI_ENOMEM;
}

/* The last of equal names keeps its name, as v1 used the last one. */
void pai__conv_unique(pai__conv *c, pai__conv_str *names, size_t n)
{
  bool *keeps = pai__conv_alloc(c, n, sizeof(*keeps));
  pai__map given;

  pai__map_init(&given, c->alloc);
  for (size_t i = n; i-- > 0 && c->rc == PAI_OK;) {
    if (!pai__conv_is_name(names[i]) || names[i].len > PAI__MAX_ROLE_NAME ||
        pai__map_get(&given, names[i].s, names[i].len) != NULL)
      continue;
    keeps[i] = true;
    give_name(c, &given, names[i]);
  }
  for (size_t i = 0; i < n && c->rc == PAI_OK; i++) {
    if (keeps[i])
      continue;
    names[i] = replace_name(c, &given, names[i]);
    give_name(c, &given, names[i]);
  }
  pai__map_dispose(&given);
}

/* --- ports -------------------------------------------------------------- */

pai__conv_port_list pai__conv_ports(pai__conv *c, pai__node list)
{
  pai__conv_port_list p = { .all_said = true };
  pai__tree_walk w;

  list = pai__conv_only(c, list, PAI__SEQUENCE);
  p.n = pai__tree_size(c->tree, list);
  w = pai__tree_iter(c->tree, list);
  p.labels = pai__conv_alloc(c, p.n, sizeof(*p.labels));
  p.counts = pai__conv_alloc(c, p.n, sizeof(*p.counts));
  if (c->rc < 0) {
    p.n = 0;
    return p;
  }
  for (size_t i = 0; i < p.n; i++) {
    pai__node port = pai__tree_next(&w);

    p.labels[i] = pai__conv_text(c, pai__tree_get(c->tree, port, "label"));
    p.counts[i] =
      pai__conv_int(c, pai__tree_get(c->tree, port, "portNumber"), 1);
    if (p.counts[i] < 1 ||
        pai__conv_int(c, pai__tree_get(c->tree, port, "beginAt"), 0) != 0)
      p.all_said = false;
  }
  pai__conv_unique(c, p.labels, p.n);
  w = pai__tree_iter(c->tree, list);
  for (size_t i = 0; i < p.n && p.all_said; i++) {
    pai__node label = pai__tree_get(c->tree, pai__tree_next(&w), "label");

    p.all_said = pai__conv_same(p.labels[i], pai__conv_text(c, label));
  }
  return p;
}
