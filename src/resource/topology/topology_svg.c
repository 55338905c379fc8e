/*
 * topology_svg.c - picture of a machine as SVG: one file without scripts,
 * readable on light and dark pages
 */
#include "resource/topology/topology_svg.h"

#include "resource/svg.h"

static const char style[] =
  "<style>\n"
  "text{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;"
  "font-size:11px;fill:#1f2328}\n"
  ".h{font-size:12px;font-weight:bold}.t{font-size:16px;font-weight:bold}\n"
  ".m{text-anchor:middle}.e{text-anchor:end}\n"
  "rect{stroke:#d0d7de;fill:#fff}.bg{stroke:none}\n"
  ".part{fill:#f6f8fa}.sub{fill:#eaeef2}"
  ".switch{fill:#fff;stroke:#8c959f;stroke-dasharray:4 3}\n"
  ".memory{fill:#fff8c5;stroke:#eac54f}.cpus{fill:#fff;stroke:#d0d7de}\n"
  ".device{fill:#fff;stroke:#afb8c1}.gpu{fill:#fbefff;stroke:#c297ff}\n"
  ".free{fill:#dafbe1;stroke:#2da44e}.used{fill:#ddf4ff;stroke:#0969da}"
  ".sick{fill:#ffebe9;stroke:#cf222e;stroke-width:2}\n"
  ".l0,.l1{fill:#f6f8fa}.l2{fill:#aceebb}.l3{fill:#b3e5d8}.l4{fill:#ffd8b5}"
  ".l5{fill:#b6e3ff}\n"
  "@media (prefers-color-scheme:dark){text{fill:#e6edf3}"
  "rect{stroke:#30363d;fill:#0d1117}.part{fill:#161b22}.sub{fill:#21262d}"
  ".switch{fill:#0d1117;stroke:#6e7681}.memory{fill:#3b2e00;stroke:#9e6a03}"
  ".cpus{fill:#0d1117;stroke:#30363d}.device{fill:#0d1117;stroke:#484f58}"
  ".gpu{fill:#2a1a45;stroke:#8957e5}.free{fill:#0f2d1a;stroke:#2ea043}"
  ".used{fill:#0c2d6b;stroke:#388bfd}.sick{fill:#490202;stroke:#f85149}"
  ".l0,.l1{fill:#161b22}.l2{fill:#033a16}.l3{fill:#04403a}.l4{fill:#5a2e02}"
  ".l5{fill:#0c2d6b}}\n"
  "</style>\n";

/* --- boxes --------------------------------------------------------------- */

typedef struct painter {
  const pai__svg *s;
  const pai_topology *t;
  pai__buf *out;
  pai__buf line; /* buffer for one text at a time */
} painter;

static pai__buf *line(painter *w)
{
  pai__buf_clear(&w->line);
  return &w->line;
}

static void put_line(painter *w, int x, int y, const char *class, int width)
{
  pai__svg_text(w->out, x, y, class, pai__buf_text(&w->line), width);
}

/* Drops the domain 0000: "34:00.0". */
static const char *short_pci(const char *pci)
{
  return strncmp(pci, "0000:", 5) == 0 ? pci + 5 : pci;
}

static void draw_gpu(painter *w, const pai__svg_box *b, int x, int y)
{
  const pai__topo_object *o = &w->t->objects[b->object];
  pai_gpu_mark mark = pai__topo_mark(w->s->p, o->gpu);
  const char *state = pai__topo_state(mark.state);
  const char *name = pai__topo_text(w->t, o->name);
  int room = b->w - 16;

  pai__buf_str(w->out, "<g><title>");
  pai__buf_printf(line(w), "GPU %u %s %s %s", o->gpu, name, state, mark.text);
  pai__svg_escape(w->out, pai__buf_text(&w->line), 1000);
  pai__buf_str(w->out, "</title>\n");
  pai__svg_rect(w->out, x, y, b->w, b->h, *state != '\0' ? state : "gpu");
  pai__buf_printf(line(w), "GPU %u", o->gpu);
  put_line(w, x + 8, y + 17, "h", room);
  pai__buf_str(line(w), state);
  if (*state != '\0')
    put_line(w, x + b->w - 8, y + 17, "e", room - 60);
  pai__svg_text(w->out, x + 8, y + 34, "", name, room);
  line(w);
  if (o->bytes != 0)
    pai__topo_add_bytes(&w->line, o->bytes);
  if (o->pci != 0)
    pai__buf_printf(&w->line, "%s%s", o->bytes != 0 ? " · " : "",
                    short_pci(pai__topo_text(w->t, o->pci)));
  put_line(w, x + 8, y + 51, "", room);
  if (*state != '\0' && *mark.text != '\0')
    pai__svg_text(w->out, x + 8, y + 68, "", mark.text, room);
  pai__buf_str(w->out, "</g>\n");
}

/* Returns the PCI address of an OS device, or "". */
static const char *pci_of(const pai_topology *t, const pai__topo_object *o)
{
  while (o->pci == 0 && o->parent != PAI_NONE && o->kind > PAI_OBJECT_BRIDGE)
    o = &t->objects[o->parent];
  return pai__topo_text(t, o->pci);
}

static void draw_device(painter *w, const pai__svg_box *b, int x, int y)
{
  static const char *const kinds[] = { "PCI",        "",     "network",
                                       "InfiniBand", "disk", "device" };
  const pai__topo_object *o = &w->t->objects[b->object];
  const char *name = pai__topo_text(w->t, o->name);
  const char *kind = kinds[o->kind - PAI_OBJECT_PCI];

  pai__svg_rect(w->out, x, y, b->w, b->h, "device");
  line(w);
  if (b->alike > 1)
    pai__buf_printf(&w->line, "%zu × ", b->alike);
  pai__buf_str(&w->line, *name != '\0' ? name : "PCI device");
  put_line(w, x + 8, y + 16, "h", b->w - 16);
  pai__buf_str(line(w), kind);
  if (o->kind == PAI_OBJECT_STORAGE && o->bytes != 0) {
    pai__buf_str(&w->line, " · ");
    pai__topo_add_disk(&w->line, o->bytes);
  }
  if (b->alike == 1 && *pci_of(w->t, o) != '\0')
    pai__buf_printf(&w->line, " · %s", short_pci(pci_of(w->t, o)));
  put_line(w, x + 8, y + 32, "", b->w - 16);
}

static void draw_memory(painter *w, const pai__svg_box *b, int x, int y)
{
  const pai__topo_object *o = &w->t->objects[b->object];

  pai__svg_rect(w->out, x, y, b->w, b->h, "memory");
  pai__buf_str(line(w), "NUMA node");
  if (o->os_index != PAI_NONE)
    pai__buf_printf(&w->line, " %u", o->os_index);
  if (o->bytes != 0) {
    pai__buf_str(&w->line, " · ");
    pai__topo_add_bytes(&w->line, o->bytes);
  }
  put_line(w, x + 8, y + 15, "", b->w - 16);
}

/* Draws a line with cores, threads and the largest caches that are not in
 * frames. */
static void draw_cpus(painter *w, const pai__svg_box *b, int x, int y)
{
  const pai_topology *t = w->t;
  uint32_t end = t->objects[b->object].skip, cores = 0, threads = 0,
           caches = 0;
  const pai__topo_object *cache = NULL;

  for (uint32_t i = b->object + 1; i < end; i++) {
    const pai__topo_object *o = &t->objects[i];
    if (pai__svg_is_frame(t, i)) {
      i = o->skip - 1;
      continue;
    }
    cores += o->kind == PAI_OBJECT_CORE;
    threads += o->kind == PAI_OBJECT_PU;
    if (o->kind != PAI_OBJECT_CACHE ||
        (cache != NULL && o->level < cache->level))
      continue;
    caches = cache != NULL && o->level == cache->level ? caches + 1 : 1;
    cache = o;
  }
  line(w);
  if (cores > 0) {
    pai__topo_add_count(&w->line, cores, "core");
    pai__buf_str(&w->line, " · ");
  }
  pai__topo_add_count(&w->line, threads, "thread");
  if (cache != NULL) {
    pai__buf_str(&w->line, " · ");
    if (caches > 1)
      pai__buf_printf(&w->line, "%u × ", caches);
    pai__buf_printf(&w->line, "L%u ", cache->level);
    pai__topo_add_bytes(&w->line, cache->bytes);
  }
  pai__svg_rect(w->out, x, y, b->w, b->h, "cpus");
  put_line(w, x + 8, y + 15, "", b->w - 16);
}

static void draw_frame(painter *w, size_t at, int x, int y)
{
  const pai__svg_box *b = &w->s->box[at];
  int kind = w->t->objects[b->object].kind;

  line(w);
  if (b->alike > 1)
    pai__buf_printf(&w->line, "%zu × ", b->alike);
  pai__svg_add_title(&w->line, w->t, b->object);
  if (at == 0) {
    put_line(w, x + PAI__SVG_PAD, y + 22, "t", b->w - 2 * PAI__SVG_PAD);
    pai__topo_add_summary(line(w), w->t);
    put_line(w, x + PAI__SVG_PAD, y + 40, "", b->w - 2 * PAI__SVG_PAD);
    return;
  }
  pai__svg_rect(w->out, x, y, b->w, b->h,
                kind == PAI_OBJECT_BRIDGE    ? "switch"
                : kind == PAI_OBJECT_PACKAGE ? "part"
                                             : "sub");
  put_line(w, x + PAI__SVG_PAD, y + 17, "h", b->w - 2 * PAI__SVG_PAD);
}

/* Draws box `at` with its content. */
static void draw(painter *w, size_t at, int x, int y)
{
  const pai__svg_box *b = &w->s->box[at];

  x += b->x;
  y += b->y;
  switch (b->look) {
  case PAI__SVG_GPU: draw_gpu(w, b, x, y); break;
  case PAI__SVG_DEVICE: draw_device(w, b, x, y); break;
  case PAI__SVG_MEMORY: draw_memory(w, b, x, y); break;
  case PAI__SVG_CPUS: draw_cpus(w, b, x, y); break;
  case PAI__SVG_FRAME: draw_frame(w, at, x, y); break;
  }
  for (size_t i = at + 1; i < b->skip; i = w->s->box[i].skip)
    draw(w, i, x, y);
}

/* --- links --------------------------------------------------------------- */

enum { LINKS_TOP = 58, LINKS_LEFT = 40, LINKS_ROOM = 1100 };

/* Returns the width of a square of the matrix: enough for words, or just a
 * colour. */
static int cell_width(uint32_t gpus)
{
  int fits = gpus > 0 ? LINKS_ROOM / (int)gpus : LINKS_ROOM;

  return fits > 36 ? 36 : fits < 4 ? 4 : fits;
}

static int cell_height(uint32_t gpus)
{
  return cell_width(gpus) > 20 ? 20 : cell_width(gpus);
}

static void draw_names(painter *w, uint32_t n, int x, int y)
{
  for (uint32_t i = 0; i < n && cell_width(n) >= 16; i++) {
    pai__buf_printf(line(w), "%u", i);
    put_line(w, x + (int)i * cell_width(n) + cell_width(n) / 2, y - 5, "m",
             cell_width(n) + 8);
    put_line(w, x - 6, y + (int)i * cell_height(n) + cell_height(n) - 5, "e",
             30);
  }
}

/* Draws the legend of the colours that are used. */
static void draw_kinds(painter *w, const bool *seen, int x, int y)
{
  for (int kind = PAI_LINK_PCI; kind <= PAI_LINK_XELINK; kind++) {
    char class[] = "l0";
    if (!seen[kind])
      continue;
    class[1] = (char)('0' + kind);
    pai__svg_rect(w->out, x, y, 12, 12, class);
    pai__svg_text(w->out, x + 18, y + 10, "", pai_link_name(kind), 80);
    x += 100;
  }
}

static void draw_links(painter *w, int x, int y)
{
  uint32_t n = (uint32_t)w->t->ngpus;
  int wide = cell_width(n), high = cell_height(n);
  pai_topology_link link = { .struct_size = sizeof(link) };
  bool seen[PAI_LINK_XELINK + 1] = { false };

  pai__svg_text(w->out, x, y + 12, "h", "links of GPUs, in GB/s", 300);
  draw_names(w, n, x + LINKS_LEFT, y + LINKS_TOP);
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = 0; b < n; b++) {
      int left = x + LINKS_LEFT + (int)b * wide;
      int top = y + LINKS_TOP + (int)a * high;
      char class[] = "l0";
      (void)pai_topology_between(w->t, a, b, &link);
      seen[link.kind] = true;
      class[1] = (char)('0' + link.kind);
      pai__svg_rect(w->out, left, top, wide, high, class);
      pai__buf_printf(line(w), "%u", link.mbps / 1000);
      if (wide >= 30 && link.kind > PAI_LINK_PCI && link.mbps >= 1000)
        put_line(w, left + wide / 2, top + 14, "m", wide);
    }
  draw_kinds(w, seen, x, y + 22);
}

/* --- the whole ----------------------------------------------------------- */

static void draw_legend(painter *w, int x, int y)
{
  for (int state = PAI_MARK_FREE; state <= PAI_MARK_SICK; state++) {
    pai__svg_rect(w->out, x, y, 12, 12, pai__topo_state(state));
    pai__svg_text(w->out, x + 18, y + 10, "", pai__topo_state(state), 60);
    x += 70;
  }
}

static void begin(painter *w, int width, int height)
{
  pai__buf_printf(w->out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
                  "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
                  width, height, width, height);
  pai__svg_add_title(line(w), w->t, 0);
  pai__buf_str(&w->line, ": ");
  pai__topo_add_summary(&w->line, w->t);
  pai__svg_escape(w->out, pai__buf_text(&w->line), 1000);
  pai__buf_printf(w->out, "</title>\n%s", style);
  pai__buf_printf(w->out, "<rect class=\"bg\" width=\"%d\" height=\"%d\"/>\n",
                  width, height);
}

static void paint(painter *w)
{
  const pai__svg_box *all = &w->s->box[0];
  uint32_t n = (uint32_t)w->t->ngpus;
  bool links = pai__topo_has_links(w->t), marks = w->s->p->mark_count > 0;
  int legend = all->h, matrix = legend + (marks && n > 0 ? 28 : 0);
  int width = all->w, height = matrix;

  if (links) {
    height += LINKS_TOP + (int)n * cell_height(n) + 20;
    if (width < LINKS_LEFT + (int)n * cell_width(n) + 40)
      width = LINKS_LEFT + (int)n * cell_width(n) + 40;
  }
  begin(w, width, height);
  draw(w, 0, 0, 0);
  if (marks && n > 0)
    draw_legend(w, PAI__SVG_PAD, legend);
  if (links)
    draw_links(w, PAI__SVG_PAD, matrix);
  pai__buf_str(w->out, "</svg>\n");
}

int pai__topo_write_svg(pai__buf *out, const pai__topo_picture *p)
{
  pai__svg s;
  painter w = { .s = &s, .t = p->t, .out = out };
  int rc = pai__svg_lay_out(&s, p);

  pai__buf_init(&w.line, &p->t->alloc);
  if (rc == PAI_OK)
    paint(&w);
  if (!pai__buf_ok(&w.line))
    rc = PAI_ENOMEM;
  pai__buf_dispose(&w.line);
  pai__svg_dispose(&s);
  return rc;
}
