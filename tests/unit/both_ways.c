/* both_ways.c - YAML read as it comes and by libyaml alone */
#include "both_ways.h"

#include <stdio.h>

/* --- trees -------------------------------------------------------------- */

static const char *compare_values(const pai__tree *a, const pai__tree *b,
                                  pai__node n)
{
  const pai__tree_node *p = &a->nodes[n], *q = &b->nodes[n];

  switch (p->type) {
  case PAI__NULL: return NULL;
  case PAI__BOOL: return p->u.b != q->u.b ? "booleans" : NULL;
  case PAI__INT:
  case PAI__TIMESTAMP: return p->u.i != q->u.i ? "integers" : NULL;
  case PAI__FLOAT: /* not a number is equal, too */
    return memcmp(&p->u.f, &q->u.f, sizeof(p->u.f)) != 0 ? "floats" : NULL;
  case PAI__ALIAS: return p->u.target != q->u.target ? "targets" : NULL;
  case PAI__SEQUENCE:
  case PAI__MAPPING:
    return p->u.c.count != q->u.c.count || p->u.c.side != q->u.c.side
             ? "entries"
             : NULL;
  default:
    return p->u.s.len != q->u.s.len ||
               memcmp(a->strings + p->u.s.off, b->strings + q->u.s.off,
                      p->u.s.len + 1) != 0
             ? "strings"
             : NULL;
  }
}

static const char *compare_nodes(const pai__tree *a, const pai__tree *b,
                                 pai__node n)
{
  const pai__tree_node *p = &a->nodes[n], *q = &b->nodes[n];

  if (p->type != q->type)
    return "types";
  if (p->flags != q->flags)
    return "flags";
  if (p->start != q->start)
    return "starts";
  if (p->end != q->end)
    return "ends";
  return p->skip != q->skip ? "sizes" : compare_values(a, b, n);
}

/* What differs first, or NULL. */
static const char *compare_trees(const pai__tree *a, const pai__tree *b)
{
  const char *what = a->count != b->count ? "numbers of nodes" : NULL;

  for (pai__node n = 0; what == NULL && n < a->count; n++)
    what = compare_nodes(a, b, n);
  if (what == NULL &&
      (a->side_len != b->side_len ||
       (a->side_len != 0 &&
        memcmp(a->side, b->side, a->side_len * sizeof(*a->side)) != 0)))
    what = "lists of keys";
  return what;
}

/* --- outcomes ----------------------------------------------------------- */

static const char *compare_errors(const pai_error *a, const pai_error *b)
{
  const char *x = pai_error_help(a), *y = pai_error_help(b);

  if (strcmp(pai_error_message(a), pai_error_message(b)) != 0)
    return "messages";
  if (pai_error_line(a) != pai_error_line(b) ||
      pai_error_column(a) != pai_error_column(b))
    return "places of the error";
  return (x == NULL) != (y == NULL) || (x != NULL && strcmp(x, y) != 0)
           ? "helps"
           : NULL;
}

static void show_text(const char *text, size_t len)
{
  fprintf(stderr, "read differently: \"");
  for (size_t i = 0; i < len; i++)
    if (text[i] == '\n')
      fprintf(stderr, "\\n");
    else if (text[i] == '"' || text[i] == '\\')
      fprintf(stderr, "\\%c", text[i]);
    else
      fputc(text[i], stderr);
  fprintf(stderr, "\"\n");
}

bool test_both_ways(const char *text, size_t len, int mode)
{
  pai__tree *trees[2];
  pai_error *errors[2];
  const char *what = NULL;
  int codes[2];
  bool quick[2] = { false, false };

  for (int i = 0; i < 2; i++) {
    pai__yaml_options opts = { .mode = mode,
                               .slow = i == 1,
                               .quick = &quick[i] };
    codes[i] = pai__yaml_parse(&trees[i], text, len, &opts, &errors[i]);
  }
  CHECK(!quick[1] && (!quick[0] || codes[0] == PAI_OK));
  if (codes[0] != codes[1])
    what = "codes";
  else if (codes[0] < 0)
    what = compare_errors(errors[0], errors[1]);
  else
    what = compare_trees(trees[0], trees[1]);
  if (what != NULL) {
    show_text(text, len);
    test_does_not_hold(__FILE__, __LINE__, what);
  }
  for (int i = 0; i < 2; i++) {
    pai__tree_free(trees[i]);
    pai_error_free(errors[i]);
  }
  return quick[0];
}
