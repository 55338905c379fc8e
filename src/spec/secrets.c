/*
 * secrets.c - which parts of a text nobody may see
 *
 * The value of `secrets`, and what an account of a registry holds unless it
 * is a template, which says where the secret is and not what.
 */
#include "spec/secrets.h"

#include "spec/template.h"

#include <stdlib.h>

/* Is a value one template and nothing else?  That says where a secret is, and
 * not what. */
static bool is_template(const pai__tree *t, pai__node n)
{
  size_t len;
  const char *s, *end;

  if (pai__tree_type(t, n) != PAI__STRING)
    return false;
  s = pai__tree_str(t, n, &len);
  pai__template_trim(&s, &len);
  if (len < 4 || memcmp(s, "<%", 2) != 0)
    return false;
  end = s + 2;
  while (end + 2 < s + len && memcmp(end, "%>", 2) != 0)
    end++;
  return end + 2 == s + len && memcmp(end, "%>", 2) == 0;
}

static bool is_secret(const pai__tree *tree, pai__node value)
{
  size_t len = 1;

  if (pai__tree_type(tree, value) == PAI__STRING)
    (void)pai__tree_str(tree, value, &len);
  return len > 0 && !is_template(tree, value);
}

static int add(pai__secrets *s, pai__node n)
{
  const pai__tree_node *node = pai__tree_at(s->tree, n);

  if (PAI__VEC_ROOM(&s->tree->alloc, s->list, s->len, s->cap) < 0)
    return PAI_ENOMEM;
  s->list[s->len++] =
    (pai__range){ node->start, node->end, pai__tree_real(s->tree, n) };
  return PAI_OK;
}

static int add_auth(pai__secrets *s, pai__node auth)
{
  const pai__tree *tree = s->tree;
  pai__tree_walk walk = pai__tree_iter(tree, auth);
  pai__node key;
  int rc = PAI_OK;

  if (pai__tree_type(tree, auth) != PAI__MAPPING)
    return add(s, auth);
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (strcmp(pai__tree_str(tree, key, NULL), "registryuri") != 0 &&
        is_secret(tree, pai__tree_value(tree, key)))
      rc = add(s, pai__tree_value(tree, key));
  return rc;
}

static int add_auths(pai__secrets *s, pai__node list)
{
  pai__tree_walk walk = pai__tree_iter(s->tree, list);
  pai__node item;
  int rc = PAI_OK;

  while (rc == PAI_OK && (item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node auth = pai__tree_get(s->tree, item, "auth");
    if (auth != PAI__NO_NODE)
      rc = add_auth(s, auth);
  }
  return rc;
}

/* Adds what the aliases in them stand for, and the aliases in that; each
 * anchor once, for aliases can stand for more than there is memory. */
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
        rc = add(s, n);
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

/* Sorts them, and makes one of those that overlap. */
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

int pai__secrets_find(pai__secrets *s, const pai__tree *tree)
{
  pai__node n = pai__tree_get(tree, 0, "secrets");
  int rc = PAI_OK;

  *s = (pai__secrets){ .tree = tree };
  if (n != PAI__NO_NODE && pai__tree_type(tree, n) != PAI__NULL)
    rc = add(s, n);
  n = pai__tree_get(tree, 0, "prerequisites");
  if (rc == PAI_OK && n != PAI__NO_NODE &&
      pai__tree_type(tree, n) == PAI__SEQUENCE)
    rc = add_auths(s, n);
  if (rc == PAI_OK)
    rc = add_aliased(s);
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

  while (from < to) { /* the first that ends behind it */
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
