/* format_json.c - formats JSON on several lines, with its comments */
#include "spec/format/format_parts.h"
#include "spec/format/write.h"

static void put_value(pai__format_state *f, pai__node n, size_t column,
                      bool last);

static bool is_open(const pai__format_state *f, pai__node n)
{
  const pai__tree_node *p = &f->t->nodes[n];

  return p->type >= PAI__SEQUENCE &&
         (p->skip > n + 1 || pai__comments_before(f, p->end));
}

static void put_text(pai__format_state *f, pai__node n)
{
  pai__json_writer w;
  size_t len;
  const char *s = pai__tree_str(f->t, n, &len);

  pai__json_writer_init(&w, f->out, false);
  pai__json_text(&w, s, len);
}

static void put_items(pai__format_state *f, pai__node n, size_t column)
{
  const pai__tree_node *nodes = f->t->nodes;
  pai__node value;

  for (pai__node child = n + 1; child < nodes[n].skip;
       child = nodes[value].skip) {
    bool key = (nodes[child].flags & PAI__IS_KEY) != 0;

    value = key ? nodes[child].skip : child;
    pai__comments_above(f, nodes[value].start, column);
    pai__format_indent(f, column);
    if (key) {
      put_text(f, child);
      pai__buf_str(f->out, ": ");
    }
    put_value(f, value, column, nodes[value].skip == nodes[n].skip);
  }
}

/* Writes a value on several lines. */
static void put_open(pai__format_state *f, pai__node n, size_t column)
{
  const pai__tree_node *p = &f->t->nodes[n];
  bool mapping = p->type == PAI__MAPPING;

  pai__buf_char(f->out, mapping ? '{' : '[');
  if (p->skip > n + 1) {
    pai__comments_end_line(f, p->start + 1, n + 1);
    put_items(f, n, column + 2);
  } else {
    pai__buf_char(f->out, '\n');
  }
  pai__comments_above(f, p->end, column + 2);
  pai__format_indent(f, column);
  pai__buf_char(f->out, mapping ? '}' : ']');
}

/* Writes a value and the end of its line.  `last` says that no comma
 * follows. */
static void put_value(pai__format_state *f, pai__node n, size_t column,
                      bool last)
{
  const pai__tree_node *p = &f->t->nodes[n];

  if (is_open(f, n)) {
    put_open(f, n, column);
  } else if (p->type == PAI__STRING) {
    put_text(f, n);
  } else {
    pai__json_writer w;
    pai__json_writer_init(&w, f->out, false);
    pai__write_json(&w, f->t, n);
  }
  if (!last)
    pai__buf_char(f->out, ',');
  pai__comments_end_line(f, p->end, p->skip);
}

void pai__format_json(pai__format_state *f)
{
  pai__comments_above(f, f->t->nodes[0].start, 0);
  put_value(f, 0, 0, true);
  pai__comments_above(f, f->t->len, 0);
}
