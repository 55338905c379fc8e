/*
 * mask.c - a tree that anybody may see
 *
 * All that lies below a secret is masked, too, for an alias elsewhere may lead
 * into it.
 */
#include "spec/mask.h"

#include "spec/secrets.h"

static void mask_node(pai__tree_node *n, uint32_t mask, uint32_t len)
{
  n->type = PAI__STRING;
  n->flags &= PAI__IS_KEY | PAI__IS_MERGE;
  n->u.s.off = mask;
  n->u.s.len = len;
}

static void mask_range(pai__tree *t, pai__range range, uint32_t mask,
                       uint32_t len)
{
  char *text = (char *)(uintptr_t)t->text; /* the copy's own */

  for (size_t i = 0; i < t->count; i++) {
    pai__tree_node *n = &t->nodes[i];
    bool inside = n->start >= range.start && n->end <= range.end;

    if (inside && (n->flags & PAI__IS_KEY) == 0 &&
        (n->type < PAI__SEQUENCE || n->start == range.start))
      mask_node(n, mask, len);
  }
  for (uint32_t i = range.start; i < range.end; i++)
    if (text[i] != '\n' && text[i] != '\r')
      text[i] = '*';
}

int pai__mask(pai__tree **out, const pai__tree *tree)
{
  pai__secrets secrets;
  uint32_t mask;
  int rc = pai__secrets_find(&secrets, tree);

  *out = NULL;
  if (rc == PAI_OK)
    rc = pai__tree_copy(out, tree);
  if (rc == PAI_OK)
    rc = pai__tree_store(*out, &mask, PAI__MASK, sizeof(PAI__MASK) - 1);
  for (size_t i = 0; rc == PAI_OK && i < secrets.len; i++)
    mask_range(*out, secrets.list[i], mask, sizeof(PAI__MASK) - 1);
  pai__secrets_dispose(&secrets);
  if (rc < 0) {
    pai__tree_free(*out);
    *out = NULL;
  }
  return rc;
}
