/* place.c - places of nodes in the text */
#include "yaml/load.h"

bool pai__yaml_space(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns the end of the anchor or tag at p. */
static const char *prop_end(const char *p)
{
  if (p[0] == '!' && p[1] == '<')
    return p + strcspn(p, ">") + (strchr(p, '>') != NULL);
  return p + strcspn(p, " \t\r\n,[]{}");
}

/* Skips space and comments. */
static const char *skip_space(const char *p)
{
  while (pai__yaml_space(*p) || *p == '#') {
    if (*p == '#')
      p += strcspn(p, "\r\n");
    else
      p++;
  }
  return p;
}

/* Skips an anchor and a tag, and what separates them from the node. */
static uint32_t skip_props(const pai__tree *t, uint32_t at)
{
  const char *p = t->text + at;

  while (*p == '&' || *p == '!')
    p = skip_space(prop_end(p));
  return (uint32_t)(p - t->text);
}

bool pai__yaml_bare_tag(const pai__tree *t, uint32_t at)
{
  const char *p = t->text + at;

  if (*p == '&')
    p = skip_space(prop_end(p));
  return *p == '!';
}

void pai__yaml_place(pai__yaml_loader *l, const yaml_event_t *event,
                     bool props, uint32_t *start, uint32_t *end)
{
  *start = pai__yaml_offset(&l->src, event->start_mark.index);
  *end = pai__yaml_offset(&l->src, event->end_mark.index);
  if (props)
    *start = skip_props(l->t, *start);
  if (*start > *end && event->type == YAML_SCALAR_EVENT)
    *start = *end; /* only an anchor or a tag */
  if (*start < l->at)
    *start = l->at;
  if (*end < *start)
    *end = *start;
}

/* Returns the number of bytes before a byte on its line. */
static size_t column(const pai__tree *t, size_t at)
{
  size_t from = at;

  while (from > 0 && t->text[from - 1] != '\n' && t->text[from - 1] != '\r')
    from--;
  return at - from;
}

bool pai__yaml_explicit(const pai__tree *t, const pai__tree_node *mapping,
                        size_t at)
{
  while (at > 0 && pai__yaml_space(t->text[at - 1]))
    at--;
  return at > 0 && t->text[at - 1] == '?' &&
         column(t, at - 1) == column(t, mapping->start);
}
