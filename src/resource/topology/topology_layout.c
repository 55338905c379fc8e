/*
 * topology_layout.c - layout of the SVG picture of a machine: sizes and
 * positions of boxes
 *
 * Works from the inside out: the size of a box is known once its content is
 * placed, row by row, in the given width.
 */
#include "resource/topology/topology_svg.h"

#include "resource/svg.h"

enum { LINE = 256 }; /* usual width of a line about cores */

/* --- what is drawn ------------------------------------------------------- */

bool pai__svg_is_frame(const pai_topology *t, uint32_t object)
{
  const pai__topo_object *o = &t->objects[object];

  if (o->kind == PAI_OBJECT_PACKAGE)
    return true;
  if (o->kind == PAI_OBJECT_NUMA || o->kind >= PAI_OBJECT_CORE)
    return false;
  for (uint32_t i = object + 1; i < o->skip; i++) {
    int kind = t->objects[i].kind;
    if (kind == PAI_OBJECT_PACKAGE || kind == PAI_OBJECT_NUMA ||
        kind >= PAI_OBJECT_BRIDGE)
      return true;
  }
  return false;
}

/* Returns the class of an object.  Boxes are ordered by class: CPUs, GPUs,
 * switches with GPUs, other objects. */
static int class_of(const pai_topology *t, uint32_t object)
{
  const pai__topo_object *o = &t->objects[object];

  if (o->kind < PAI_OBJECT_BRIDGE)
    return pai__svg_is_frame(t, object) ? 0 : -1;
  if (o->kind == PAI_OBJECT_GPU)
    return 1;
  if (o->kind == PAI_OBJECT_BRIDGE)
    return pai__topo_count(t, object, PAI_OBJECT_GPU) > 0 ? 2 : 3;
  return 4;
}

void pai__svg_add_title(pai__buf *out, const pai_topology *t, uint32_t object)
{
  const pai__topo_object *o = &t->objects[object];
  const char *name = pai__topo_text(t, o->name);

  switch (o->kind) {
  case PAI_OBJECT_MACHINE:
    pai__buf_str(out, *name != '\0' ? name : "machine");
    return;
  case PAI_OBJECT_BRIDGE: pai__buf_str(out, "PCI switch"); return;
  case PAI_OBJECT_PACKAGE:
    pai__buf_str(out, "package");
    if (o->os_index != PAI_NONE)
      pai__buf_printf(out, " %u", o->os_index);
    if (*name != '\0')
      pai__buf_printf(out, " · %s", name);
    return;
  case PAI_OBJECT_CACHE: pai__buf_printf(out, "L%u", o->level); return;
  default:
    pai__buf_str(out, *name != '\0' ? name : "group");
    if (*name != '\0' && o->os_index != PAI_NONE)
      pai__buf_printf(out, " %u", o->os_index);
    return;
  }
}

/* --- sizes --------------------------------------------------------------- */

static int add_box(pai__svg *s, pai__svg_look look, uint32_t object, int w,
                   int h)
{
  if (PAI__VEC_ROOM(&s->t->alloc, s->box, s->len, s->cap) < 0)
    return PAI_ENOMEM;
  s->box[s->len] = (pai__svg_box){ .look = look,
                                   .object = object,
                                   .alike = 1,
                                   .skip = s->len + 1,
                                   .w = w,
                                   .h = h };
  s->len++;
  return PAI_OK;
}

static int add_frame(pai__svg *s, uint32_t object, int room);

static int add_child(pai__svg *s, uint32_t object, size_t alike, int room)
{
  size_t at = s->len;
  int kind = s->t->objects[object].kind;
  int rc;

  if (kind == PAI_OBJECT_GPU)
    rc = add_box(s, PAI__SVG_GPU, object, PAI__SVG_TILE,
                 s->p->mark_count > 0 ? 80 : 64);
  else if (kind > PAI_OBJECT_BRIDGE)
    rc = add_box(s, PAI__SVG_DEVICE, object, PAI__SVG_TILE, 40);
  else
    rc = add_frame(s, object, room);
  if (rc == PAI_OK)
    s->box[at].alike = alike;
  return rc;
}

/* Sorts GPUs by number, however they are wired. */
static void sort_gpus(const pai_topology *t, pai__topo_list *l)
{
  for (size_t i = 1; i < l->len; i++)
    for (size_t k = i; k > 0; k--) {
      uint32_t a = l->at[k - 1], b = l->at[k];
      if (t->objects[b].gpu >= t->objects[a].gpu)
        break; /* objects that are not GPUs sort last */
      l->at[k - 1] = b;
      l->at[k] = a;
    }
}

/* Returns the width for a frame of CPUs: half the room if there are
 * several. */
static int room_of(const pai_topology *t, const pai__topo_list *l, int room)
{
  int frames = 0, half = (room - PAI__SVG_GAP) / 2;

  for (size_t i = 0; i < l->len; i++)
    frames += class_of(t, l->at[i]) == 0;
  return frames > 1 && half > PAI__SVG_TILE + 2 * PAI__SVG_PAD ? half : room;
}

/* Adds the objects of `class` to the frame, equal ones once. */
static int add_class(pai__svg *s, const pai__topo_list *l, int class, int room)
{
  int rc = PAI_OK;

  for (size_t i = 0, n = 1; rc == PAI_OK && i < l->len; i += n) {
    n = 1;
    if (class_of(s->t, l->at[i]) != class)
      continue;
    if (class > 2)
      n = pai__topo_run(s->t, l, i);
    rc = add_child(s, l->at[i], n, room);
  }
  return rc;
}

/* Adds the lines at the top: memory, and cores without a frame. */
static int add_notes(pai__svg *s, uint32_t object)
{
  const pai_topology *t = s->t;
  const pai__topo_object *o = &t->objects[object];
  uint32_t framed = 0;
  int rc = PAI_OK;

  if (o->kind >= PAI_OBJECT_BRIDGE)
    return PAI_OK;
  for (uint32_t i = object + 1; rc == PAI_OK && i < o->skip;
       i = t->objects[i].skip) {
    if (t->objects[i].kind == PAI_OBJECT_NUMA)
      rc = add_box(s, PAI__SVG_MEMORY, i, 0, PAI__SVG_NOTE);
    else if (pai__svg_is_frame(t, i))
      framed += t->objects[i].pus;
  }
  if (rc == PAI_OK && framed < o->pus)
    rc = add_box(s, PAI__SVG_CPUS, object, 0, PAI__SVG_NOTE);
  return rc;
}

static int most(int a, int b)
{
  return a > b ? a : b;
}

/* --- places -------------------------------------------------------------- */

static int title_width(const pai__svg *s, uint32_t object)
{
  pai__buf title;
  size_t columns;

  pai__buf_init(&title, &s->t->alloc);
  pai__svg_add_title(&title, s->t, object);
  columns = pai__svg_columns(pai__buf_text(&title));
  pai__buf_dispose(&title);
  return columns < 100 ? (int)columns * 8 : 800;
}

/* Makes the frames of CPUs in a row as high as the highest. */
static void end_row(pai__svg *s, size_t from, size_t to, int height)
{
  for (; from < to; from = s->box[from].skip)
    if (s->box[from].look == PAI__SVG_FRAME &&
        s->t->objects[s->box[from].object].kind < PAI_OBJECT_BRIDGE)
      s->box[from].h = height;
}

/* The position of the next box in a frame. */
typedef struct pen {
  int x, y;
  int row;      /* height of this row */
  int widest;   /* width of the widest row */
  size_t first; /* first box of this row */
} pen;

static void next_row(pai__svg *s, pen *p, size_t to, int gap)
{
  end_row(s, p->first, to, p->row);
  p->y += p->row + gap;
  *p = (pen){ PAI__SVG_PAD, p->y, 0, p->widest, to };
}

/* Places one box.  A line takes a row, as wide as the frame. */
static void place_one(pai__svg *s, pen *p, size_t i, int room)
{
  pai__svg_box *b = &s->box[i];
  bool is_line = b->look >= PAI__SVG_MEMORY;

  if (p->x > PAI__SVG_PAD && p->x + b->w > PAI__SVG_PAD + room)
    next_row(s, p, i, PAI__SVG_GAP);
  b->x = p->x;
  b->y = p->y;
  p->row = most(p->row, b->h);
  p->x += b->w;
  p->widest = most(p->widest, is_line ? LINE : p->x - PAI__SVG_PAD);
  p->x += PAI__SVG_GAP;
  if (is_line)
    next_row(s, p, b->skip, 4);
}

/* Places the content of box `at`, and sets its size. */
static void place(pai__svg *s, size_t at, int room)
{
  pen p = { PAI__SVG_PAD, PAI__SVG_TITLE, 0, 0, at + 1 };

  if (at == 0)
    p.y += PAI__SVG_TITLE; /* room for its second line */
  for (size_t i = at + 1; i < s->len; i = s->box[i].skip)
    place_one(s, &p, i, room);
  end_row(s, p.first, s->len, p.row);
  p.widest = most(p.widest, title_width(s, s->box[at].object));
  p.widest = p.widest < room ? p.widest : room;
  s->box[at].w = p.widest + 2 * PAI__SVG_PAD;
  s->box[at].h = p.y + p.row + PAI__SVG_PAD;
  for (size_t i = at + 1; i < s->len; i = s->box[i].skip)
    if (s->box[i].look >= PAI__SVG_MEMORY)
      s->box[i].w = p.widest;
}

/* Adds a frame at most `room` wide. */
static int add_frame(pai__svg *s, uint32_t object, int room)
{
  pai__topo_list l = { .alloc = &s->t->alloc };
  size_t at = s->len;
  int inner = room - 2 * PAI__SVG_PAD;
  int rc = add_box(s, PAI__SVG_FRAME, object, 0, 0);

  if (rc == PAI_OK)
    rc = add_notes(s, object);
  if (rc == PAI_OK)
    rc = pai__topo_shown(&l, s->t, object);
  if (rc == PAI_OK)
    sort_gpus(s->t, &l);
  for (int class = 0; rc == PAI_OK && class < 5; class ++)
    rc =
      add_class(s, &l, class, class == 0 ? room_of(s->t, &l, inner) : inner);
  pai__topo_list_dispose(&l);
  if (rc < 0)
    return rc;
  s->box[at].skip = s->len;
  place(s, at, inner > PAI__SVG_TILE ? inner : PAI__SVG_TILE);
  return PAI_OK;
}

int pai__svg_lay_out(pai__svg *s, const pai__topo_picture *p)
{
  *s = (pai__svg){ .p = p, .t = p->t };
  return add_frame(s, 0, PAI__SVG_WIDTH);
}

void pai__svg_dispose(pai__svg *s)
{
  pai__free(&s->t->alloc, s->box, s->cap * sizeof(*s->box));
}
