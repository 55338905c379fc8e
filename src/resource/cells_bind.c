/* cells_bind.c - cells that refer to nodes which are given */
#include "resource/read.h"

/* --- which node, which GPU ------------------------------------------------ */

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

/* More names are not compared, and not for more findings. */
enum { MOST_HELPED = 20, MOST_NAMES = 1000 };

static uint32_t bind_node(pai__reader *r, uint32_t cell)
{
  const char *name = pai__cell_own(r->c, cell);
  size_t node;
  pai__names names;

  if (pai_cluster_find_node(r->c, name, &node) == PAI_OK)
    return (uint32_t)node;
  if (!pai__find(r->f, PAI_SEVERITY_ERROR, "unknown-node", r->cell_at[cell],
                 "there is no node '%.80s' for this cell", name) ||
      r->c->nnodes > MOST_NAMES || r->f->errors > MOST_HELPED)
    return PAI__NOTHING;
  pai__names_init(&names, &r->c->alloc, name, strlen(name));
  names.made_up = true;
  for (size_t i = 0; i < r->c->nnodes; i++)
    pai__names_add(&names, r->c->nodes[i].name, strlen(r->c->nodes[i].name));
  pai__names_help(&names, r->f, "the nodes of this file");
  return PAI__NOTHING;
}

/* --- what no cell covers -------------------------------------------------- */

enum { MOST_NAMED = 3 };

/* Nodes of which the same is told: the first ones by name. */
typedef struct told {
  pai__node at; /* of the first */
  size_t count;
  pai__buf names;
} told;

static void told_init(told *t, const pai_cluster *c)
{
  *t = (told){ .at = PAI__NO_NODE };
  pai__buf_init(&t->names, &c->alloc);
}

static void add_told(told *t, const pai__reader *r, size_t node)
{
  if (t->count == 0)
    t->at = r->places[node];
  if (t->count++ < MOST_NAMED)
    pai__buf_printf(&t->names, "%s'%.80s'", t->count > 1 ? ", " : "",
                    r->c->nodes[node].name);
}

/* Their names, behind "node " or "nodes ". */
static const char *told_names(told *t)
{
  if (t->count > MOST_NAMED)
    pai__buf_str(&t->names, ", …");
  return pai__buf_text(&t->names);
}

static void tell_nodes(pai__reader *r, told *t)
{
  if (t->count > 0 &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "in-no-cell", t->at,
                t->count == 1 ? "node %s is in no cell: no job can get it"
                              : "nodes %s are in no cell: no job can get them",
                told_names(t)))
    pai__find_help(r->f, "add a cell for each to physicalCells, or leave "
                         "physicalCluster out: cells then follow from the "
                         "nodes");
  pai__buf_dispose(&t->names);
}

static void tell_gpus(pai__reader *r, told *t)
{
  if (t->count > 0 &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "in-no-cell", t->at,
                t->count == 1
                  ? "some GPUs of node %s are in no cell: no job can get them"
                  : "some GPUs of nodes %s are in no cell: no job can get "
                    "them",
                told_names(t)))
    pai__find_help(r->f, "the cells of a node should have as many leaf cells "
                         "as it has GPUs, of each kind");
  pai__buf_dispose(&t->names);
}

static void tell_pins(pai__reader *r, told *t)
{
  if (t->count > 0 &&
      pai__find(r->f, PAI_SEVERITY_WARNING, "no-effect", t->at,
                t->count == 1 ? "the pin of node %s has no effect"
                              : "the pins of nodes %s have no effect",
                told_names(t)))
    pai__find_help(r->f, "cells are given here; pin the node's cell, with "
                         "pinnedCellId");
  pai__buf_dispose(&t->names);
}

static void look_at_nodes(pai__reader *r, const bool *taken)
{
  const pai_cluster *c = r->c;
  told nodes, gpus, pins;

  told_init(&nodes, c);
  told_init(&gpus, c);
  told_init(&pins, c);
  for (size_t i = 0; i < c->nnodes; i++) {
    uint32_t n = pai__sku_of(c, &c->nodes[i])->gpus, used = 0;

    for (uint32_t k = 0; k < n; k++)
      used += taken[c->nodes[i].first_gpu + k];
    if (used < n)
      add_told(used == 0 ? &nodes : &gpus, r, i);
    if (c->nodes[i].pin != NULL)
      add_told(&pins, r, i);
  }
  tell_nodes(r, &nodes);
  tell_gpus(r, &gpus);
  tell_pins(r, &pins);
}

/* --- all ------------------------------------------------------------------ */

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
  if (r->f->errors == 0 && !r->f->failed)
    look_at_nodes(r, taken);
  pai__free(&c->alloc, taken, size);
}
