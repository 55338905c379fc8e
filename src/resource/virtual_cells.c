/* virtual_cells.c - make the virtual cells of a virtual cluster */
#include "resource/virtual_cells.h"

#include "base/buf.h"

#include <inttypes.h>

typedef struct growing {
  pai__virtual_cells *v;
  const pai_cluster *c;
  const pai__cells *cells;
  pai__buf address; /* address of the parent */
} growing;

/* Adds a cell and all cells within it.  Numbers of a level run through the
 * whole root. */
static int grow(growing *g, const pai__virtual_cell *as, uint64_t number)
{
  pai__virtual_cells *v = g->v;
  const pai__cell_type *type = &g->c->types[as->type];
  uint32_t index = (uint32_t)v->count;
  size_t before = g->address.len;
  pai__virtual_cell cell = *as, child = *as;
  int rc = PAI_OK;

  pai__buf_printf(&g->address, "/%" PRIu64, number);
  if (!pai__buf_ok(&g->address))
    return PAI_ENOMEM;
  if (cell.parent == PAI__NOTHING)
    cell.root = index;
  cell.number = (uint32_t)number;
  cell.address =
    pai__arena_strndup(&v->arena, g->address.data, g->address.len);
  if (cell.address == NULL ||
      PAI__VEC_ROOM(&v->alloc, v->list, v->count, v->cap) < 0)
    return PAI_ENOMEM;
  v->list[v->count++] = cell;
  child.type = type->child;
  child.parent = index;
  child.root = cell.root;
  number = (cell.parent == PAI__NOTHING ? 0 : number) * type->children;
  for (uint32_t i = 0; i < type->children && rc == PAI_OK; i++)
    rc = grow(g, &child, number + i);
  v->list[index].skip = (uint32_t)v->count;
  pai__buf_cut(&g->address, before);
  return rc;
}

/* The share names "CHAIN.TYPE" or a pinned cell. */
pai__virtual_cell pai__share_root(const pai_cluster *c,
                                  const pai__cells *cells, const pai__share *s)
{
  pai__virtual_cell root = { .parent = PAI__NOTHING, .pinned = PAI__NOTHING };
  const char *dot;
  uint32_t top = 0;

  if (s->pin == NULL) {
    top = pai__cluster_find_type(c, s->path, strcspn(s->path, "."));
    dot = strrchr(s->path, '.');
    dot = dot != NULL ? dot + 1 : s->path;
    root.type = pai__cluster_find_type(c, dot, strlen(dot));
  } else {
    while (c->cells[top].pin == NULL || strcmp(c->cells[top].pin, s->pin) != 0)
      top++;
    root.pinned = top;
    root.type = c->cells[top].type;
    while (c->cells[top].parent != PAI__NOTHING)
      top = c->cells[top].parent;
    top = c->cells[top].type;
  }
  root.chain = cells->chain_of[top];
  return root;
}

int pai__virtual_cells_init(pai__virtual_cells *v, const pai_cluster *c,
                            const pai__cells *cells, const pai__vc *vc,
                            const pai_alloc *alloc)
{
  growing g = { .v = v, .c = c, .cells = cells };
  uint64_t number = 0, total = 0;
  pai__virtual_cell root;
  int rc = PAI_OK;

  *v = (pai__virtual_cells){ .alloc = *alloc };
  pai__arena_init(&v->arena, &v->alloc);
  pai__buf_init(&g.address, &v->alloc);
  pai__buf_str(&g.address, vc->name);
  for (uint32_t i = 0; i < vc->nshares && rc == PAI_OK; i++) {
    root = pai__share_root(c, cells, &vc->shares[i]);
    total += vc->shares[i].count * cells->types[root.type].cells;
    if (total > PAI__CLUSTER_MAX_GPUS)
      rc = PAI_ELIMIT;
    for (uint32_t k = 0; k < vc->shares[i].count && rc == PAI_OK; k++)
      rc = grow(&g, &root, number++);
  }
  pai__buf_dispose(&g.address);
  return rc;
}

void pai__virtual_cells_dispose(pai__virtual_cells *v)
{
  pai__free(&v->alloc, v->list, v->cap * sizeof(*v->list));
  pai__arena_dispose(&v->arena);
}
