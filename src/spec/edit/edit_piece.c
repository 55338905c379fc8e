/* edit_piece.c - renders new text for YAML in block style */
#include "spec/edit/edit_parts.h"

enum { LONGEST_LIST = 60 };

/* Returns whether a value stays in the brackets in which it was given. */
static bool stays_flow(const pai__tree *t)
{
  bool mapping = t->nodes[0].type == PAI__MAPPING;
  pai__tree_walk w = pai__tree_iter(t, 0);
  pai__node child;

  if (w.left == 0)
    return true;
  if ((t->nodes[0].flags & PAI__STYLE) != PAI__FLOW ||
      t->nodes[0].end - t->nodes[0].start > LONGEST_LIST)
    return false;
  while ((child = pai__tree_next(&w)) != PAI__NO_NODE)
    if (pai__tree_type(t, mapping ? pai__tree_value(t, child) : child) >=
        PAI__SEQUENCE)
      return false;
  return true;
}

void pai__edit_make_piece(const pai__edit *e, size_t step, const char *fixed,
                          pai__edit_piece *p)
{
  pai__yaml_writer w;

  pai__buf_init(&p->text, e->out->alloc);
  p->below = false;
  if (fixed != NULL) {
    pai__buf_str(&p->text, fixed);
    return;
  }
  if (e->one_line || (step == e->path.len && stays_flow(e->value) &&
                      pai__tree_type(e->value, 0) >= PAI__SEQUENCE)) {
    pai__edit_put_flow(e, &p->text, step, (pai__flow){ 0 });
    return;
  }
  p->below =
    step < e->path.len || pai__tree_type(e->value, 0) >= PAI__SEQUENCE;
  pai__yaml_writer_init(&w, &p->text);
  for (size_t i = step; i < e->path.len; i++) {
    if (e->path.steps[i].kind == PAI__STEP_APPEND) {
      pai__yaml_begin_sequence(&w);
      continue;
    }
    pai__yaml_begin_mapping(&w);
    pai__yaml_key(&w, pai__path_key(&e->path, i), e->path.steps[i].len);
  }
  pai__write_yaml_value(&w, e->value, 0);
  for (size_t i = e->path.len; i > step; i--) {
    if (e->path.steps[i - 1].kind == PAI__STEP_APPEND)
      pai__yaml_end_sequence(&w);
    else
      pai__yaml_end_mapping(&w);
  }
  if (pai__yaml_finish(&w) == PAI_OK) /* drop the last line end */
    p->text.data[--p->text.len] = '\0';
  else
    p->text.failed = true;
}

const char *pai__edit_put_line(pai__edit *e, const char *line)
{
  size_t n = strcspn(line, "\n");

  pai__buf_add(e->out, line, n);
  return line[n] == '\n' ? line + n + 1 : NULL;
}

void pai__edit_put_lines(pai__edit *e, const char *line, size_t column)
{
  while (line != NULL) {
    pai__edit_line(e, *line != '\0' && *line != '\n' ? column : 0);
    line = pai__edit_put_line(e, line);
  }
}
