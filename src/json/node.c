/* node.c - writes a node of a parsed tree as JSON */
#include "json/node.h"

static void write_children(pai__json_writer *w, const pai__tree *t,
                           pai__node n, bool keys)
{
  pai__tree_walk walk = pai__tree_iter(t, n);
  pai__node child;

  while ((child = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (keys) {
      size_t len;
      const char *key = pai__tree_str(t, child, &len);
      pai__json_key(w, key, len);
      child = pai__tree_value(t, child);
    }
    pai__json_node(w, t, child);
  }
}

/* The recursion is as deep as the tree, which the reader limits. */
void pai__json_node(pai__json_writer *w, const pai__tree *t, pai__node n)
{
  const char *text;
  size_t len;

  switch (pai__tree_type(t, n)) {
  case PAI__BOOL: pai__json_bool(w, pai__tree_bool(t, n)); break;
  case PAI__INT: pai__json_int(w, pai__tree_int(t, n)); break;
  case PAI__FLOAT: pai__json_double(w, pai__tree_float(t, n)); break;
  case PAI__STRING:
    text = pai__tree_str(t, n, &len);
    pai__json_text(w, text, len);
    break;
  case PAI__SEQUENCE:
    pai__json_begin_array(w);
    write_children(w, t, n, false);
    pai__json_end_array(w);
    break;
  case PAI__MAPPING:
    pai__json_begin_object(w);
    write_children(w, t, n, true);
    pai__json_end_object(w);
    break;
  default: pai__json_null(w); break;
  }
}
