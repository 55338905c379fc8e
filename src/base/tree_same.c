/* tree_same.c - compares two documents by value */
#include "base/tree.h"

static bool is_number(int type)
{
  return type == PAI__INT || type == PAI__FLOAT;
}

static bool same_number(const pai__tree *a, pai__node m, const pai__tree *b,
                        pai__node n)
{
  double x, y;

  if (pai__tree_type(a, m) == PAI__INT && pai__tree_type(b, n) == PAI__INT)
    return pai__tree_int(a, m) == pai__tree_int(b, n);
  x = pai__tree_float(a, m);
  y = pai__tree_float(b, n);
  return x == y || (x != x && y != y);
}

static bool same_text(const pai__tree *a, pai__node m, const pai__tree *b,
                      pai__node n)
{
  size_t x, y;
  const char *s = pai__tree_str(a, m, &x), *t = pai__tree_str(b, n, &y);

  return x == y && memcmp(s, t, x) == 0;
}

static bool same_items(const pai__tree *a, pai__node m, const pai__tree *b,
                       pai__node n)
{
  bool mapping = pai__tree_type(a, m) == PAI__MAPPING;
  pai__tree_walk v = pai__tree_iter(a, m), w = pai__tree_iter(b, n);
  pai__node x, y;

  if (v.left != w.left)
    return false;
  while ((x = pai__tree_next(&v)) != PAI__NO_NODE) {
    y = pai__tree_next(&w);
    if (mapping) {
      if (!same_text(a, x, b, y))
        return false;
      x = pai__tree_value(a, x);
      y = pai__tree_value(b, y);
    }
    if (!pai__tree_same(a, x, b, y))
      return false;
  }
  return true;
}

bool pai__tree_same(const pai__tree *a, pai__node m, const pai__tree *b,
                    pai__node n)
{
  int type = pai__tree_type(a, m);

  if (is_number(type) && is_number(pai__tree_type(b, n)))
    return same_number(a, m, b, n);
  if (type != pai__tree_type(b, n))
    return false;
  switch (type) {
  case PAI__NULL: return true;
  case PAI__BOOL: return pai__tree_bool(a, m) == pai__tree_bool(b, n);
  case PAI__TIMESTAMP: return pai__tree_int(a, m) == pai__tree_int(b, n);
  case PAI__STRING:
  case PAI__BINARY: return same_text(a, m, b, n);
  default: return same_items(a, m, b, n);
  }
}
