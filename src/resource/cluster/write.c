/* write.c - YAML and JSON output shared by the writers of clusters, and cells
 * with HiveD's keys */
#include "base/text/number.h"
#include "resource/cluster/write.h"

int pai__out_begin(pai__output *o, const pai_cluster *c, int format,
                   pai_error **err)
{
  if (format != 0 && format != PAI_FORMAT_YAML && format != PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "a cluster is written as YAML or JSON");
  *o = (pai__output){ .json = format == PAI_FORMAT_JSON };
  pai__buf_init(&o->text, &c->alloc);
  if (o->json)
    pai__json_writer_init(&o->j, &o->text, true);
  else
    pai__yaml_writer_init(&o->y, &o->text);
  return PAI_OK;
}

int pai__out_end(pai__output *o, pai_write_cb write, void *user_data,
                 pai_error **err)
{
  int rc = o->json ? pai__json_finish(&o->j) : pai__yaml_finish(&o->y);

  if (rc == PAI_OK)
    rc = write(user_data, pai__buf_text(&o->text), o->text.len);
  else
    rc = rc == PAI_ENOMEM ? pai__oom(err)
                          : pai__fail(err, rc, "a name cannot be written");
  pai__buf_dispose(&o->text);
  return rc;
}

void pai__out_begin_mapping(pai__output *o)
{
  if (o->json)
    pai__json_begin_object(&o->j);
  else
    pai__yaml_begin_mapping(&o->y);
}

void pai__out_end_mapping(pai__output *o)
{
  if (o->json)
    pai__json_end_object(&o->j);
  else
    pai__yaml_end_mapping(&o->y);
}

void pai__out_begin_list(pai__output *o)
{
  if (o->json)
    pai__json_begin_array(&o->j);
  else
    pai__yaml_begin_sequence(&o->y);
}

void pai__out_end_list(pai__output *o)
{
  if (o->json)
    pai__json_end_array(&o->j);
  else
    pai__yaml_end_sequence(&o->y);
}

void pai__out_key(pai__output *o, const char *s)
{
  if (o->json)
    pai__json_member(&o->j, s);
  else
    pai__yaml_key(&o->y, s, strlen(s));
}

void pai__out_text(pai__output *o, const char *s)
{
  if (o->json)
    pai__json_string(&o->j, s);
  else
    pai__yaml_text(&o->y, s, strlen(s));
}

void pai__out_number(pai__output *o, int64_t v)
{
  if (o->json)
    pai__json_int(&o->j, v);
  else
    pai__yaml_int(&o->y, v);
}

static void put_flag(pai__output *o, const char *name, bool v)
{
  if (!v)
    return;
  pai__out_key(o, name);
  if (o->json)
    pai__json_bool(&o->j, v);
  else
    pai__yaml_boolean(&o->y, v);
}

void pai__out_put_text(pai__output *o, const char *name, const char *s)
{
  if (s == NULL)
    return;
  pai__out_key(o, name);
  pai__out_text(o, s);
}

/* Unknown values are left out. */
void pai__out_put_number(pai__output *o, const char *name, uint32_t v)
{
  if (v == 0)
    return;
  pai__out_key(o, name);
  pai__out_number(o, v);
}

static void put_size(pai__output *o, const char *name, uint64_t v)
{
  char size[PAI__SIZE_TEXT];

  if (v != 0)
    pai__out_put_text(o, name, pai__size_text(size, v));
}

void pai__out_begin_once(pai__output *o, const char *key, bool list,
                         bool *begun)
{
  if (*begun)
    return;
  *begun = true;
  pai__out_key(o, key);
  (list ? pai__out_begin_list : pai__out_begin_mapping)(o);
}

static void put_field(pai__output *o, const pai_cluster *c,
                      const pai__read_field *f, const void *record)
{
  const void *place = (const char *)record + f->place;

  if (f->write != NULL) {
    f->write(o, c, record);
    return;
  }
  switch (f->as != 0 ? f->as : f->type) {
  case PAI__FIELD_TEXT:
    pai__out_put_text(o, f->key, *(const char *const *)place);
    break;
  case PAI__FIELD_SIZE: put_size(o, f->key, *(const uint64_t *)place); break;
  case PAI__FIELD_FLAG: put_flag(o, f->key, *(const bool *)place); break;
  case PAI__FIELD_NUMBER:
    if (*(const uint32_t *)place != f->usual)
      pai__out_put_number(o, f->key, *(const uint32_t *)place);
    break;
  default: break;
  }
}

void pai__out_put_record(pai__output *o, const pai_cluster *c, const char *key,
                         const pai__read_field *fields, size_t nfields,
                         const void *record)
{
  if (key != NULL)
    pai__out_key(o, key);
  pai__out_begin_mapping(o);
  for (size_t i = 0; i < nfields; i++)
    put_field(o, c, &fields[i], record);
  pai__out_end_mapping(o);
}

/* --- cells with HiveD's keys --------------------------------------------- */

/* Cells are written without what the reader infers.  The name of a cell
 * without a given address is counted as the reader does in grow_children() of
 * read_cells.c. */

typedef struct plan {
  const pai_cluster *c;
  pai__output *o;
  bool *named;  /* the cell's address differs from its default */
  bool *needed; /* the cell or a cell within it must be written */
} plan;

/* --- cells that must be written ------------------------------------------ */

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

/* Whether a cell's children must be written; either all or none are. */
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

int pai__out_put_cells(pai__output *o, const pai_cluster *c)
{
  size_t size = (c->ncells + 1) * sizeof(bool);
  plan p = { .c = c, .o = o };
  uint64_t number = 0;

  p.named = pai__zalloc(&c->alloc, size);
  p.needed = pai__zalloc(&c->alloc, size);
  if (p.named != NULL && p.needed != NULL) {
    pai__out_put_types(o, c);
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
