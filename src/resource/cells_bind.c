/* cells_bind.c - cells that refer to nodes which are given */
#include "resource/read.h"

/* The GPU of that number and kind which no cell has yet. */
static uint32_t find_gpu(const pai_cluster *c, const pai__member *m,
                         const char *kind, uint16_t number, const bool *taken)
{
  uint32_t n = c->skus[m->sku].gpus;

  for (uint32_t i = 0; i < n; i++) {
    /* mostly its place is its number */
    uint32_t place = m->first_gpu + (uint32_t)((number + i) % n);

    if (c->gpus[place].number == number && !taken[place] &&
        strcmp(c->kinds[c->gpus[place].kind].name, kind) == 0)
      return place;
  }
  return PAI__NOTHING;
}

static void bind_gpu(pai__reader *r, uint32_t cell, bool *taken)
{
  pai_cluster *c = r->c;
  pai__cell *leaf = &c->cells[cell];
  const pai__member *m = &c->nodes[leaf->node];
  const char *kind = c->types[leaf->type].name;
  uint16_t number;

  if (!pai__read_device(r, cell, &number))
    return;
  leaf->gpu = find_gpu(c, m, kind, number, taken);
  if (leaf->gpu != PAI__NOTHING)
    taken[leaf->gpu] = true;
  else if (pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-gpu", r->cell_at[cell],
                     "node '%.80s' has no GPU %u of kind '%.80s' for this "
                     "cell",
                     m->name, (unsigned)number, kind))
    pai__find_help(r->f,
                   "it has %u GPUs; a cell's address is the number of "
                   "one that is in no other cell",
                   (unsigned)c->skus[m->sku].gpus);
}

static uint32_t bind_node(pai__reader *r, uint32_t cell)
{
  const char *name = pai__cell_own(r->c, cell);
  size_t node;
  pai__names names;

  if (pai_cluster_find_node(r->c, name, &node) == PAI_OK)
    return (uint32_t)node;
  if (!pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-node", r->cell_at[cell],
                 "there is no node '%.80s' for this cell", name))
    return PAI__NOTHING;
  pai__names_init(&names, &r->c->alloc, name, strlen(name));
  for (size_t i = 0; i < r->c->nnodes; i++)
    pai__names_add(&names, r->c->nodes[i].name, strlen(r->c->nodes[i].name));
  pai__names_help(&names, r->f, "the nodes of this file");
  return PAI__NOTHING;
}

void pai__read_cells_bind(pai__reader *r)
{
  pai_cluster *c = r->c;
  size_t size = (c->ngpus + 1) * sizeof(bool);
  bool *taken = pai__zalloc(&c->alloc, size);

  if (taken == NULL) {
    r->f->failed = true;
    return;
  }
  for (size_t i = 0; i < c->ncells && !r->f->failed; i++) {
    pai__cell *cell = &c->cells[i];
    const pai__cell_type *type = &c->types[cell->type];

    if (type->is_node)
      cell->node = bind_node(r, (uint32_t)i);
    else if (type->in_node)
      cell->node = c->cells[cell->parent].node;
    if (type->child == PAI__NOTHING && cell->node != PAI__NOTHING)
      bind_gpu(r, (uint32_t)i, taken);
  }
  pai__free(&c->alloc, taken, size);
}
