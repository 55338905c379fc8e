/* complete.c - finds what may be inserted at the cursor */
#include "language/facts/complete.h"

#include <stdio.h>

/* Returns whether a text here needs a space before it: just after a colon or
 * a dash of YAML. */
static bool needs_space(const pai__complete_state *s)
{
  const char *text = s->f->text;
  size_t at = s->replaces.start, line = pai__facts_line(s->f, at);

  if (s->form == PAI__PIECE_JSON || s->place.on != PAI_ON_SPACE || at == line)
    return false;
  if (text[at - 1] == ':')
    return true;
  if (text[--at] != '-')
    return false;
  while (at > line && strchr(" \t-", text[at - 1]) != NULL)
    at--;
  return at == line;
}

void pai__complete_tell(pai__complete_state *s, pai__completion *c,
                        enum pai__complete_group group)
{
  char sort[16];

  if (s->rc != PAI_OK)
    return;
  if (c->label == NULL || c->insert == NULL) {
    s->rc = PAI_ENOMEM;
    return;
  }
  if (needs_space(s))
    c->insert = pai__facts_format(s->f, " %s", c->insert);
  if (c->insert == NULL) {
    s->rc = PAI_ENOMEM;
    return;
  }
  (void)snprintf(sort, sizeof(sort), "%d%06u", (int)group, s->count++);
  c->sort = sort;
  c->replaces = s->replaces;
  s->rc = s->cb(s->user_data, c);
}

/* --- the place ---------------------------------------------------------------- */

/* Sets the span that completions replace: the word at the cursor.  A text of
 * several lines is not replaced. */
static void set_span(pai__complete_state *s)
{
  const pai__facts *f = s->f;
  size_t start = s->at, end = s->at;

  if (s->place.on == PAI_ON_KEY && s->place.key < s->place.key_end) {
    start = s->place.key;
    end = s->place.key_end;
  } else if (s->place.on == PAI_ON_VALUE) {
    start = s->place.value;
    end = s->place.value_end;
  }
  if (start > s->at || end < s->at || pai__facts_eol(f, start) < end)
    start = end = s->at;
  s->replaces = (pai__span){ start, end };
  s->column = start - pai__facts_line(f, start);
}

/* Returns whether the mapping or list around a place is in brackets. */
static enum pai__piece_form form_at(const pai__facts *f, const char *pointer)
{
  pai__node n;
  const char *end = pointer + strlen(pointer);
  pai__buf up;
  enum pai__piece_form form = PAI__PIECE_BLOCK;

  if (pai__facts_is_json(f))
    return PAI__PIECE_JSON;
  pai__buf_init(&up, f->alloc);
  pai__buf_str(&up, pointer);
  for (;;) { /* the first that exists */
    n =
      pai__buf_ok(&up) ? pai__facts_node(f, pai__buf_text(&up)) : PAI__NO_NODE;
    if (n != PAI__NO_NODE && f->tree->nodes[n].type >= PAI__SEQUENCE &&
        f->tree->nodes[n].type != PAI__ALIAS) {
      if ((f->tree->nodes[n].flags & PAI__STYLE) == PAI__FLOW)
        form = PAI__PIECE_FLOW;
      break;
    }
    while (end > pointer && *--end != '/') {
    }
    if (!pai__buf_ok(&up) || up.len == 0)
      break;
    pai__buf_cut(&up, (size_t)(end - pointer));
    if (up.data != NULL)
      up.data[up.len] = '\0';
  }
  pai__buf_dispose(&up);
  return form;
}

/* Returns the node around that of a pointer, or PAI__NO_NODE. */
static pai__node node_above(const pai__facts *f, const char *pointer)
{
  const char *slash = strrchr(pointer, '/');
  pai__node n = PAI__NO_NODE;
  pai__buf up;

  pai__buf_init(&up, f->alloc);
  if (slash != NULL) {
    pai__buf_add(&up, pointer, (size_t)(slash - pointer));
    n = pai__buf_ok(&up) ? pai__facts_node(f, pai__buf_text(&up)) : n;
  }
  pai__buf_dispose(&up);
  return n;
}

/* Blanks after an open tag belong to its text, which ends before them where it
 * is plain.  Moves the place there. */
static int enter_tag(pai__complete_state *s)
{
  const pai__facts *f = s->f;
  size_t line = pai__facts_line(f, s->at), back = s->at;
  pai__spec_scan place;
  int rc;

  while (back > line &&
         (f->text[back - 1] == ' ' || f->text[back - 1] == '\t'))
    back--;
  if (s->place.on != PAI_ON_SPACE || back == s->at || back < line + 2 ||
      memcmp(f->text + back - 2, "<%", 2) != 0)
    return PAI_OK;
  rc = pai__facts_place(&place, f, back);
  if (rc == PAI_OK && place.on == PAI_ON_VALUE && place.value_end < s->at) {
    pai__spec_scan kept = s->place;

    s->place = place;
    s->place.value_end = s->at;
    place = kept;
  }
  pai__buf_dispose(&place.pointer);
  return rc;
}

/* --- the kinds ------------------------------------------------------------------ */

/* A node that is not a mapping yet, as a word being typed, has no keys. */
static pai__node mapping_or_none(const pai__facts *f, pai__node n)
{
  return pai__tree_is(f->tree, n, PAI__MAPPING) ? n : PAI__NO_NODE;
}

static void complete_here(pai__complete_state *s)
{
  const pai__facts *f = s->f;
  const char *pointer = pai__buf_text(&s->place.pointer);
  pai__spec_ruled ruled = pai__spec_rule_at(f->rules, f->tree, pointer, 0);
  pai__node node = pai__facts_node(f, pointer);

  if (s->place.on == PAI_ON_KEY) {
    ruled = pai__spec_rule_at(f->rules, f->tree, pointer, 1);
    if (ruled.rule != NULL)
      pai__complete_keys(s, ruled.rule,
                         mapping_or_none(f, node_above(f, pointer)));
    return;
  }
  if (ruled.rule == NULL)
    return;
  if (s->place.on == PAI_ON_VALUE && pai__complete_text(s, ruled.rule))
    return;
  if ((s->place.may & PAI_MAY_KEY) != 0)
    pai__complete_keys(s, ruled.rule, mapping_or_none(f, node));
  if ((s->place.may & PAI_MAY_VALUE) != 0)
    pai__complete_values(s, &ruled, "");
  if ((s->place.may & PAI_MAY_ITEM) != 0)
    pai__complete_items(s, ruled.rule, node);
}

int pai__complete(const pai__language_text *t, size_t at,
                  const pai__cluster_names *names, pai__completion_cb cb,
                  void *user_data, pai_error **err)
{
  pai__facts f;
  pai__complete_state s = {
    .f = &f, .at = at, .names = names, .cb = cb, .user_data = user_data
  };
  int rc;

  pai__clear_err(err);
  if (at > t->len)
    return pai__fail(err, PAI_EINVAL, "the text has no byte %zu", at);
  rc = pai__facts_open(&f, t, at);
  if (rc == PAI_OK) {
    rc = pai__facts_place(&s.place, &f, at);
    if (rc == PAI_OK)
      rc = enter_tag(&s);
    if (rc == PAI_OK) {
      set_span(&s);
      s.form = form_at(&f, pai__buf_text(&s.place.pointer));
      complete_here(&s);
      rc = s.rc;
    }
    pai__buf_dispose(&s.place.pointer);
  }
  rc = pai__facts_end(&f, rc);
  return rc == PAI_ENOMEM ? pai__oom(err) : rc;
}
