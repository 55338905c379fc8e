/* derive_nodes.c - the nodes of each SKU, and whether racks are cells */
#include "resource/derive.h"

#include <stdlib.h>

/* --- lists ---------------------------------------------------------------- */

int pai__sku_nodes_init(pai__sku_nodes *n, const pai_cluster *c)
{
  size_t from = 0;

  n->c = c;
  n->list = pai__realloc(&c->alloc, NULL, 0, c->nnodes + 1, sizeof(*n->list));
  n->first = pai__zalloc(&c->alloc, (c->nskus + 2) * sizeof(*n->first));
  if (n->list == NULL || n->first == NULL)
    return PAI_ENOMEM;
  /* first[sku + 1] is where its next node goes, and in the end, its end. */
  for (size_t i = 0; i < c->nnodes; i++)
    n->first[c->nodes[i].sku + 2]++;
  for (size_t s = 2; s <= c->nskus; s++)
    n->first[s] += n->first[s - 1];
  for (; from < c->nnodes; from++) {
    const pai__member *m = &c->nodes[from];

    n->list[n->first[m->sku + 1]++] = (pai__placed){ m->rack, (uint32_t)from };
  }
  return PAI_OK;
}

void pai__sku_nodes_dispose(pai__sku_nodes *n)
{
  const pai_cluster *c = n->c;

  pai__free(&c->alloc, n->list, (c->nnodes + 1) * sizeof(*n->list));
  pai__free(&c->alloc, n->first, (c->nskus + 2) * sizeof(*n->first));
}

/* --- racks ---------------------------------------------------------------- */

static int by_rack(const void *a, const void *b)
{
  const pai__placed *x = a, *y = b;

  if (x->rack != y->rack)
    return x->rack < y->rack ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

static int by_node(const void *a, const void *b)
{
  const pai__placed *x = a, *y = b;

  return x->node < y->node ? -1 : x->node > y->node;
}

/* How many each rack has that has any; 0: they differ. */
static size_t equal_runs(const pai__placed *list, size_t n)
{
  size_t equal = 0, run = 1;

  for (size_t i = 1; i <= n; i++, run++) {
    if (i < n && list[i].rack == list[i - 1].rack)
      continue;
    if (equal != 0 && run != equal)
      return 0;
    equal = run;
    run = 0;
  }
  return equal;
}

uint32_t pai__sku_nodes_rack(pai__sku_nodes *n, uint32_t sku)
{
  pai__placed *list = n->list + n->first[sku];
  size_t count = n->first[sku + 1] - n->first[sku], equal;

  if (count < 2)
    return 0;
  qsort(list, count, sizeof(*list), by_rack);
  equal = list[count - 1].rack != PAI__NOTHING ? equal_runs(list, count) : 0;
  if (equal < 2)
    qsort(list, count, sizeof(*list), by_node);
  return equal < 2 ? 0 : (uint32_t)equal;
}
