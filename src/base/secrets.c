/* secrets.c - secret parts of a text: collects and looks up their ranges */
#include "base/secrets.h"

#include <stdlib.h>

int pai__secrets_add(pai__secrets *s, pai__node n)
{
  const pai__tree_node *node = pai__tree_at(s->tree, n);

  if (PAI__VEC_ROOM(&s->tree->alloc, s->list, s->len, s->cap) < 0)
    return PAI_ENOMEM;
  s->list[s->len++] =
    (pai__range){ node->start, node->end, pai__tree_real(s->tree, n) };
  return PAI_OK;
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

static bool ends_line(char c)
{
  return c == '\n' || c == '\r';
}

/* Returns the distance of a byte from the start of its line. */
static uint32_t indent_of(const pai__tree *t, uint32_t at)
{
  uint32_t start = at;

  while (start > 0 && !ends_line(t->text[start - 1]))
    start--;
  return at - start;
}

/* Returns the end of the comments after `at`: on the same line, and on
 * following lines that are indented by more than the line of `key`.  The
 * indent is computed only if needed: many keys may be on one line. */
static uint32_t skip_comments(const pai__tree *t, uint32_t at, uint32_t key)
{
  const char *text = t->text; /* followed by NULs */
  uint32_t end = at;

  for (;;) {
    bool behind = at > 0 && !ends_line(text[at - 1]);

    while (is_blank(text[at]))
      at++;
    if (text[at] == '#' && (behind || indent_of(t, at) > indent_of(t, key))) {
      while (at < t->len && !ends_line(text[at]))
        at++;
      end = at;
    }
    if (at >= t->len || !ends_line(text[at]))
      return end;
    at++;
  }
}

int pai__secrets_add_entry(pai__secrets *s, pai__node key)
{
  const pai__tree *t = s->tree;
  const pai__tree_node *k = &t->nodes[key];
  uint32_t from = k->end;
  int rc = pai__secrets_add(s, k->skip);
  pai__range *added;

  if (rc < 0 || t->nodes[k->skip].type == PAI__ALIAS)
    return rc;
  added = &s->list[s->len - 1];
  while (is_blank(t->text[from]))
    from++;
  if (from < added->start && t->text[from] == ':') {
    for (from++; is_blank(t->text[from]);)
      from++;
    added->start = from < added->start ? from : added->start;
  }
  added->end = skip_comments(t, added->end, k->start);
  return PAI_OK;
}

int pai__secrets_add_key(pai__secrets *s, pai__node key)
{
  int rc = pai__secrets_add(s, key);

  return rc == PAI_OK ? pai__secrets_add_entry(s, key) : rc;
}

/* Adds the targets of aliases in secrets, and of aliases in those; each anchor
 * once, because aliases can expand to more than memory. */
static int add_aliased(pai__secrets *s)
{
  const pai__tree *t = s->tree;
  bool *added = NULL;
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < s->len; i++) {
    pai__node end = t->nodes[s->list[i].node].skip;
    for (pai__node n = s->list[i].node; rc == PAI_OK && n < end; n++) {
      if (t->nodes[n].type != PAI__ALIAS)
        continue;
      if (added == NULL)
        added = pai__zalloc(&t->alloc, t->count * sizeof(*added));
      if (added == NULL)
        rc = PAI_ENOMEM;
      else if (!added[t->nodes[n].u.target])
        rc = pai__secrets_add(s, n);
      if (rc == PAI_OK)
        added[t->nodes[n].u.target] = true;
    }
  }
  pai__free(&t->alloc, added, t->count * sizeof(*added));
  return rc;
}

static int by_start(const void *a, const void *b)
{
  const pai__range *x = a, *y = b;

  return x->start < y->start ? -1 : x->start > y->start;
}

/* Sorts the ranges and merges overlapping ones. */
static void tidy(pai__secrets *s)
{
  size_t kept = 0;

  if (s->len > 0)
    qsort(s->list, s->len, sizeof(*s->list), by_start);
  for (size_t i = 1; i < s->len; i++) {
    pai__range *last = &s->list[kept];

    if (s->list[i].start > last->end)
      s->list[++kept] = s->list[i];
    else if (s->list[i].end > last->end)
      last->end = s->list[i].end;
  }
  if (s->len > 0)
    s->len = kept + 1;
}

int pai__secrets_end(pai__secrets *s)
{
  int rc = add_aliased(s);

  tidy(s);
  return rc;
}

void pai__secrets_dispose(pai__secrets *s)
{
  if (s->tree != NULL)
    pai__free(&s->tree->alloc, s->list, s->cap * sizeof(*s->list));
}

bool pai__secrets_has(const pai__secrets *s, uint32_t at)
{
  size_t from = 0, to = s->len;

  while (from < to) { /* finds the first range that ends after it */
    size_t middle = from + (to - from) / 2;

    if (s->list[middle].end <= at)
      from = middle + 1;
    else
      to = middle;
  }
  return from < s->len && s->list[from].start <= at;
}

bool pai__secrets_hide(const pai__secrets *s, pai__node n)
{
  return pai__secrets_has(s, pai__tree_at(s->tree, n)->start);
}
