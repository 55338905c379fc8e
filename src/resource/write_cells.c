/*
 * write_cells.c - cells with HiveD's keys, without what follows from the rest
 *
 * What a cell would be called if nothing was written is counted as the reader
 * counts it: grow_children() in read_cells.c.
 */
#include "base/number.h"
#include "resource/read.h"
#include "resource/write.h"

typedef struct plan {
  const pai_cluster *c;
  pai__output *o;
  bool *named;  /* a cell's address is its own */
  bool *needed; /* it, or something in it, must be written */
} plan;

/* --- what must be written ------------------------------------------------- */

static bool is_number(const char *s, uint64_t number)
{
  char text[PAI__DOUBLE_TEXT];

  (void)pai__format_int(text, (int64_t)number);
  return strcmp(s, text) == 0;
}

static void plan_cell(const plan *p, uint32_t cell, uint64_t number)
{
  const pai__cell *self = &p->c->cells[cell];
  const pai__cell_type *type = &p->c->types[self->type];
  uint32_t children = 0;

  p->named[cell] = !is_number(pai__cell_own(p->c, cell), number);
  p->needed[cell] = p->named[cell] || self->pin != NULL;
  number = (type->is_node ? 0 : number) * type->children;
  for (uint32_t i = cell + 1; i < self->skip; i = p->c->cells[i].skip) {
    plan_cell(p, i, number + children++);
    p->needed[cell] |= p->needed[i];
  }
  p->needed[cell] |= children != type->children;
}

/* Whether a cell's children must be written: all of them, then. */
static bool needs_children(const plan *p, uint32_t cell)
{
  const pai__cell *self = &p->c->cells[cell];
  uint32_t children = 0;

  for (uint32_t i = cell + 1; i < self->skip; i = p->c->cells[i].skip) {
    if (p->needed[i])
      return true;
    children++;
  }
  return children != p->c->types[self->type].children;
}

/* --- writing -------------------------------------------------------------- */

static void put_cell(const plan *p, uint32_t cell)
{
  const pai__cell *self = &p->c->cells[cell];
  pai__output *o = p->o;

  pai__out_begin_mapping(o);
  if (self->parent == PAI__NOTHING)
    pai__out_put_text(o, "cellType", p->c->types[self->type].name);
  if (p->named[cell])
    pai__out_put_text(o, "cellAddress", pai__cell_own(p->c, cell));
  pai__out_put_text(o, "pinnedCellId", self->pin);
  if (needs_children(p, cell)) {
    pai__out_key(o, "cellChildren");
    pai__out_begin_list(o);
    for (uint32_t i = cell + 1; i < self->skip; i = p->c->cells[i].skip)
      put_cell(p, i);
    pai__out_end_list(o);
  }
  pai__out_end_mapping(o);
}

static void put_types(pai__output *o, const pai_cluster *c)
{
  pai__out_key(o, "cellTypes");
  pai__out_begin_mapping(o);
  for (size_t i = 0; i < c->ntypes; i++) {
    const pai__cell_type *t = &c->types[i];

    if (t->child == PAI__NOTHING)
      continue;
    pai__out_key(o, t->name);
    pai__out_begin_mapping(o);
    pai__out_put_text(o, "childCellType", c->types[t->child].name);
    pai__out_put_number(o, "childCellNumber", t->children);
    if (t->is_node) {
      pai__out_key(o, "isNodeLevel");
      pai__out_flag(o, true);
    }
    pai__out_end_mapping(o);
  }
  pai__out_end_mapping(o);
}

/* As Kubernetes reads it, whose units are not ours. */
static void put_memory(pai__output *o, uint64_t memory)
{
  char text[PAI__DOUBLE_TEXT + 2];
  int shift = memory % (1 << 20) == 0 ? 20 : memory % 1024 == 0 ? 10 : 0;
  size_t len = pai__format_int(text, (int64_t)(memory >> shift));

  if (memory == 0)
    return;
  if (shift > 0) {
    text[len++] = shift == 20 ? 'M' : 'K';
    text[len++] = 'i';
  }
  text[len] = '\0';
  pai__out_put_text(o, "memory", text);
}

void pai__out_put_units(pai__output *o, const pai__unit *units, size_t n)
{
  if (n == 0)
    return;
  pai__out_key(o, "skuTypes");
  pai__out_begin_mapping(o);
  for (size_t i = 0; i < n; i++) {
    pai__out_key(o, units[i].name);
    pai__out_begin_mapping(o);
    pai__out_put_number(o, "gpu", units[i].gpus);
    pai__out_put_number(o, "cpu", units[i].cpus);
    put_memory(o, units[i].memory);
    pai__out_put_text(o, "gpuType", units[i].gpu_type);
    pai__out_end_mapping(o);
  }
  pai__out_end_mapping(o);
}

int pai__out_put_cells(pai__output *o, const pai_cluster *c)
{
  size_t size = (c->ncells + 1) * sizeof(bool);
  plan p = { .c = c, .o = o };
  uint64_t number = 0;

  p.named = pai__zalloc(&c->alloc, size);
  p.needed = pai__zalloc(&c->alloc, size);
  if (p.named != NULL && p.needed != NULL) {
    put_types(o, c);
    for (uint32_t i = 0; i < c->ncells; i = c->cells[i].skip)
      plan_cell(&p, i, number++);
    pai__out_key(o, "physicalCells");
    pai__out_begin_list(o);
    for (uint32_t i = 0; i < c->ncells; i = c->cells[i].skip)
      put_cell(&p, i);
    pai__out_end_list(o);
  }
  pai__free(&c->alloc, p.named, size);
  pai__free(&c->alloc, p.needed, size);
  return p.named != NULL && p.needed != NULL ? PAI_OK : PAI_ENOMEM;
}
