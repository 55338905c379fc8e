/*
 * mask.c - a tree that anybody may see
 *
 * All that lies below a secret is masked, too, for an alias elsewhere may lead
 * into it.
 */
#include "spec/mask.h"

#include "spec/secrets.h"

static void mask_nodes(pai__tree *t, const pai__secrets *secrets,
                       uint32_t mask, uint32_t len)
{
  for (size_t i = 0; i < t->count; i++) {
    pai__tree_node *n = &t->nodes[i];

    if ((n->flags & PAI__IS_KEY) != 0 || n->type == PAI__ALIAS ||
        !pai__secrets_has(secrets, n->start))
      continue;
    n->type = PAI__STRING;
    n->flags &= PAI__IS_MERGE;
    n->u.s.off = mask;
    n->u.s.len = len;
  }
}

/* The lines stay, and all places; how long a secret is does not show. */
static void mask_text(pai__tree *t, const pai__secrets *secrets)
{
  char *text = (char *)(uintptr_t)t->text; /* the copy's own */

  for (size_t i = 0; i < secrets->len; i++) {
    const pai__range *range = &secrets->list[i];

    for (uint32_t at = range->start; at < range->end; at++)
      if (text[at] != '\n' && text[at] != '\r')
        text[at] = at - range->start < sizeof(PAI__MASK) - 1 ? '*' : ' ';
  }
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
  if (rc == PAI_OK) {
    mask_nodes(*out, &secrets, mask, sizeof(PAI__MASK) - 1);
    mask_text(*out, &secrets);
  }
  pai__secrets_dispose(&secrets);
  if (rc < 0) {
    pai__tree_free(*out);
    *out = NULL;
  }
  return rc;
}
