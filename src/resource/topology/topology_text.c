/*
 * topology_text.c - picture of a machine as a tree of text
 *
 * Equal objects are written once, with their number; an object with a single
 * part shares its line with that part.
 */
#include "resource/topology/topology_picture.h"

typedef struct teller {
  const pai__topo_picture *p;
  const pai_topology *t;
  pai__buf *out;
  pai__buf indent;
  bool many; /* within an object that stands for several: no numbers */
} teller;

/* --- one line ------------------------------------------------------------- */

static void say_number(teller *w, const char *what, const pai__topo_object *o)
{
  pai__buf_str(w->out, what);
  if (o->os_index != PAI_NONE)
    pai__buf_printf(w->out, " %u", o->os_index);
}

static void say_pci(teller *w, const pai__topo_object *o)
{
  while (o->pci == 0 && o->parent != PAI_NONE && o->kind > PAI_OBJECT_BRIDGE)
    o = &w->t->objects[o->parent];
  if (o->pci != 0)
    pai__buf_printf(w->out, ", %s", pai__topo_text(w->t, o->pci));
}

static void say_mark(teller *w, uint32_t gpu)
{
  pai_gpu_mark mark = pai__topo_mark(w->p, gpu);

  if (mark.state <= PAI_MARK_NONE || mark.state > PAI_MARK_SICK)
    return;
  pai__buf_printf(w->out, "  [%s", pai__topo_state(mark.state));
  if (*mark.text != '\0')
    pai__buf_printf(w->out, "%s%s",
                    mark.state == PAI_MARK_USED ? " by " : ": ", mark.text);
  pai__buf_char(w->out, ']');
}

static void say_gpu(teller *w, const pai__topo_object *o)
{
  pai__buf_printf(w->out, "GPU %u", o->gpu);
  if (o->name != 0)
    pai__buf_printf(w->out, ": %s", pai__topo_text(w->t, o->name));
  if (o->bytes != 0) {
    pai__buf_str(w->out, ", ");
    pai__topo_add_bytes(w->out, o->bytes);
  }
  say_pci(w, o);
  say_mark(w, o->gpu);
}

static void say_device(teller *w, const char *what, const pai__topo_object *o)
{
  pai__buf_printf(w->out, "%s%s%s", what, o->name != 0 ? " " : "",
                  pai__topo_text(w->t, o->name));
  if (o->kind == PAI_OBJECT_STORAGE && o->bytes != 0) {
    pai__buf_str(w->out, ", ");
    pai__topo_add_disk(w->out, o->bytes);
  }
  say_pci(w, o);
}

static void say_cache(teller *w, const pai__topo_object *o)
{
  pai__buf_printf(w->out, "L%u", o->level);
  if (o->cache != 'u')
    pai__buf_char(w->out, o->cache);
  if (o->bytes != 0) {
    pai__buf_char(w->out, ' ');
    pai__topo_add_bytes(w->out, o->bytes);
  }
}

static void say(teller *w, uint32_t object)
{
  const pai__topo_object *o = &w->t->objects[object];
  static const pai__topo_object nameless = { .os_index = PAI_NONE };
  const pai__topo_object *number = w->many ? &nameless : o;
  const char *name = pai__topo_text(w->t, o->name);

  switch (o->kind) {
  case PAI_OBJECT_PACKAGE:
    say_number(w, "package", number);
    if (o->name != 0)
      pai__buf_printf(w->out, ": %s", name);
    break;
  case PAI_OBJECT_NUMA:
    say_number(w, "NUMA node", number);
    if (o->bytes != 0) {
      pai__buf_str(w->out, ": ");
      pai__topo_add_bytes(w->out, o->bytes);
    }
    break;
  case PAI_OBJECT_CACHE: say_cache(w, o); break;
  case PAI_OBJECT_CORE:
    pai__buf_str(w->out, "core (");
    pai__topo_add_count(w->out, o->pus, "thread");
    pai__buf_char(w->out, ')');
    break;
  case PAI_OBJECT_PU: pai__buf_str(w->out, "thread"); break;
  case PAI_OBJECT_BRIDGE: pai__buf_str(w->out, "PCI switch"); break;
  case PAI_OBJECT_PCI:
    pai__buf_str(w->out, *name != '\0' ? name : "PCI device");
    if (!w->many)
      say_pci(w, o);
    break;
  case PAI_OBJECT_GPU: say_gpu(w, o); break;
  case PAI_OBJECT_NETWORK: say_device(w, "network", o); break;
  case PAI_OBJECT_INFINIBAND: say_device(w, "InfiniBand", o); break;
  case PAI_OBJECT_STORAGE: say_device(w, "disk", o); break;
  case PAI_OBJECT_OTHER: say_device(w, "device", o); break;
  default: say_number(w, *name != '\0' ? name : "group", number); break;
  }
}

/* --- the tree ------------------------------------------------------------ */

/* Returns the only part of an object if it fits on the same line: a part of
 * the CPU. */
static uint32_t only_part(const pai_topology *t, const pai__topo_list *l)
{
  int kind = l->len == 1 ? t->objects[l->at[0]].kind : 0;

  return kind == PAI_OBJECT_CACHE || kind == PAI_OBJECT_CORE ||
             kind == PAI_OBJECT_PU
           ? l->at[0]
           : PAI_NONE;
}

static int tell_all(teller *w, uint32_t object);

/* Writes an object with its content. */
static int tell(teller *w, uint32_t object, bool last)
{
  size_t indent = w->indent.len;
  uint32_t part = object;
  int rc = PAI_OK;

  say(w, object);
  while (rc == PAI_OK && w->t->objects[object].kind != PAI_OBJECT_CORE) {
    pai__topo_list l = { .alloc = &w->t->alloc };
    rc = pai__topo_shown(&l, w->t, object);
    part = only_part(w->t, &l);
    pai__topo_list_dispose(&l);
    if (part == PAI_NONE || rc < 0)
      break;
    pai__buf_str(w->out, " + ");
    say(w, part);
    object = part;
  }
  pai__buf_char(w->out, '\n');
  if (rc < 0 || w->t->objects[object].kind == PAI_OBJECT_CORE)
    return rc;
  pai__buf_str(&w->indent, last ? "   " : "│  ");
  rc = tell_all(w, object);
  pai__buf_cut(&w->indent, indent);
  return rc;
}

static int tell_all(teller *w, uint32_t object)
{
  pai__topo_list l = { .alloc = &w->t->alloc };
  int rc = pai__topo_shown(&l, w->t, object);

  if (!pai__buf_ok(&w->indent))
    rc = PAI_ENOMEM;
  for (size_t i = 0, n; rc == PAI_OK && i < l.len; i += n) {
    bool last, many = w->many;
    n = pai__topo_run(w->t, &l, i);
    last = i + n == l.len;
    pai__buf_printf(w->out, "%s%s", pai__buf_text(&w->indent),
                    last ? "└─ " : "├─ ");
    if (n > 1)
      pai__buf_printf(w->out, "%zu × ", n);
    w->many = many || n > 1;
    rc = tell(w, l.at[i], last);
    w->many = many;
  }
  pai__topo_list_dispose(&l);
  return rc;
}

/* --- links --------------------------------------------------------------- */

static void tell_links(teller *w)
{
  const pai_topology *t = w->t;
  pai_topology_link link = { .struct_size = sizeof(link) };

  pai__buf_str(w->out, "\nlinks of GPUs, in GB/s (NV NVLink, SW NVSwitch, XG "
                       "xGMI, XE Xe Link, . PCI)\n   ");
  for (uint32_t b = 0; b < t->ngpus; b++)
    pai__buf_printf(w->out, " %5u", b);
  for (uint32_t a = 0; a < t->ngpus; a++) {
    pai__buf_printf(w->out, "\n%3u", a);
    for (uint32_t b = 0; b < t->ngpus; b++) {
      (void)pai_topology_between(t, a, b, &link);
      if (a == b || link.kind <= PAI_LINK_PCI)
        pai__buf_printf(w->out, " %5s", a == b ? "-" : ".");
      else if (link.mbps < 1000)
        pai__buf_printf(w->out, " %5s", pai__topo_link_sign(link.kind));
      else
        pai__buf_printf(w->out, " %2s%3u", pai__topo_link_sign(link.kind),
                        link.mbps / 1000);
    }
  }
  pai__buf_char(w->out, '\n');
}

int pai__topo_write_text(pai__buf *out, const pai__topo_picture *p)
{
  teller w = { .p = p, .t = p->t, .out = out };
  const char *name = pai__topo_text(p->t, p->t->objects[0].name);
  int rc;

  pai__buf_init(&w.indent, &p->t->alloc);
  pai__buf_printf(out, "%s: ", *name != '\0' ? name : "machine");
  pai__topo_add_summary(out, p->t);
  pai__buf_char(out, '\n');
  rc = tell_all(&w, 0);
  if (rc == PAI_OK && pai__topo_has_links(p->t))
    tell_links(&w);
  pai__buf_dispose(&w.indent);
  return rc;
}
