/*
 * picture_svg.c - picture of a cluster as SVG: a box for each rack, a line for
 * each node, a square for each GPU
 *
 * Squares of the same look share one path, so that 100,000 of them are a small
 * file.  Names are left out if there are too many nodes to read them.
 */
#include "resource/picture.h"
#include "resource/svg.h"

#include <stdio.h>

enum {
  WIDTH = 1240,
  NARROWEST = 480, /* room for the title */
  PAD = 12,
  GAP = 12,
  TITLE = 20, /* height of a box's title */
  HEAD = 64,  /* title and legend */
  LETTER = 7, /* width of a character */
  REST = 40,  /* width of "+4000" */
  RACK = 64   /* most nodes of one rack, usually */
};

/* The scale of the drawing. */
typedef struct scale {
  size_t most_gpus;
  /* size of a GPU, distance to the next one, distance to the next node */
  int square, step, line;
  bool names;
} scale;

static const scale scales[] = {
  { 2400, 11, 13, 16, true },
  { 24000, 5, 6, 7, false },
  { SIZE_MAX, 2, 3, 3, false },
};

/* The state of drawing. */
typedef struct sheet {
  const pai__cluster_picture *p;
  pai__buf *out;
  pai__buf paths[PAI__SHOW_COUNT];
  const scale *scale;
  int name_width; /* width of the longest name, with the gap to the squares */
  int column;     /* width of a column of nodes in a box */
  int width;      /* of the picture so far */
} sheet;

static const char *const colours[] = {
  "#0969da", "#bf8700", "#8250df", "#1b7c83", "#bc4c00",
  "#4d2d8f", "#0a3069", "#7d4e00", "#6e7781", "#57606a",
};

static const char style[] =
  "<style>\n"
  "text{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;"
  "font-size:11px;fill:#1f2328}\n"
  ".h{font-size:12px;font-weight:bold}.t{font-size:16px;font-weight:bold}\n"
  ".s{fill:#cf222e}\n"
  ".bg{fill:#fff}.box{fill:#f6f8fa;stroke:#d0d7de}\n"
  ".plain{fill:#c297ff}.free{fill:#aceebb;stroke:#2da44e;stroke-width:.5}"
  ".sick{fill:#cf222e}\n"
  "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#f85149}"
  ".bg{fill:#0d1117}.box{fill:#161b22;stroke:#30363d}"
  ".free{fill:#0f2d1a;stroke:#2ea043}.sick{fill:#f85149}}\n"
  "</style>\n";

/* --- sizes ---------------------------------------------------------------- */

static int text_width(const char *s)
{
  return (int)pai__svg_columns(s) * LETTER;
}

static void measure(sheet *s)
{
  const pai_cluster *c = s->p->c;
  uint32_t gpus = 1;
  int widest = 0;

  for (size_t i = 0; i < c->nskus; i++)
    gpus = c->skus[i].gpus > gpus ? c->skus[i].gpus : gpus;
  for (size_t i = 0; i < c->nnodes && s->scale->names; i++) {
    int w = text_width(c->nodes[i].name);

    widest = w > widest ? w : widest;
  }
  s->name_width = widest > 160 ? 160 : widest;
  if (s->scale->names)
    s->name_width += 8;
  s->column = s->name_width + (int)gpus * s->scale->step + GAP;
  if (s->column > WIDTH - 2 * PAD)
    s->column = WIDTH - 2 * PAD;
}

/* Returns the columns of a box so that it fits and is not much higher than
 * wide; racks are drawn upright. */
static int columns_for(const sheet *s, uint32_t nodes)
{
  int most = (WIDTH - 2 * PAD) / s->column, n = 1;
  int upright = nodes <= RACK ? 2 : 1;

  while (n < most &&
         n * s->column * upright < (int)(nodes / (uint32_t)n) * s->scale->line)
    n++;
  return n;
}

/* --- one node ------------------------------------------------------------- */

static void put_square(sheet *s, int show, int x, int y)
{
  int a = s->scale->square;

  pai__buf_printf(&s->paths[show], "M%d %dh%dv%dh-%dz", x, y, a, a, a);
  /* a cross, so that colour is not the only sign */
  if (show == PAI__SHOW_SICK && a > 8)
    pai__buf_printf(&s->paths[show], "M%d %dl%d %dM%d %dl-%d %d", x + 2, y + 2,
                    a - 4, a - 4, x + a - 2, y + 2, a - 4, a - 4);
}

/* Writes "+12" for GPUs that do not fit, in red if one of them is sick. */
static void put_rest(sheet *s, const pai__member *m, uint32_t from, int x,
                     int y)
{
  uint32_t gpus = pai__sku_of(s->p->c, m)->gpus;
  bool sick = false;
  char text[16];

  for (uint32_t i = from; i < gpus; i++)
    sick = sick || pai__picture_show(s->p, m, i) == PAI__SHOW_SICK;
  (void)snprintf(text, sizeof(text), "+%u", (unsigned)(gpus - from));
  pai__svg_text(s->out, x, y + 10, sick ? "s" : "", text, REST);
}

static void put_squares(sheet *s, const pai__member *m, int x, int y)
{
  uint32_t gpus = pai__sku_of(s->p->c, m)->gpus;
  uint32_t room =
    (uint32_t)((s->column - s->name_width - GAP) / s->scale->step);
  uint32_t shown = gpus;

  if (gpus > room)
    shown = room - (uint32_t)(REST / s->scale->step);
  for (uint32_t i = 0; i < shown; i++)
    put_square(s, pai__picture_show(s->p, m, i), x + (int)i * s->scale->step,
               y);
  if (shown < gpus)
    put_rest(s, m, shown, x + (int)shown * s->scale->step, y);
}

/* Writes the tooltip of a node. */
static void put_hint(sheet *s, const pai__member *m, int x, int y)
{
  pai__buf hint;

  pai__buf_init(&hint, &s->p->c->alloc);
  pai__buf_printf(&hint, "%s: ", m->name);
  pai__picture_gpus(s->p, pai__sku_of(s->p->c, m), &hint);
  if (m->sick != NULL)
    pai__buf_printf(&hint, "; sick: %s", m->sick);
  for (uint32_t i = 0; m->sick == NULL && i < pai__sku_of(s->p->c, m)->gpus;
       i++) {
    const char *text = pai__picture_text(s->p, m, i);

    if (*text != '\0')
      pai__buf_printf(&hint, "; %u: %s",
                      s->p->c->gpus[m->first_gpu + i].number, text);
  }
  pai__buf_printf(s->out,
                  "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                  "fill-opacity=\"0\"><title>",
                  x, y, s->column - GAP, s->scale->line);
  pai__svg_escape(s->out, pai__buf_text(&hint), SIZE_MAX);
  pai__buf_str(s->out, "</title></rect>\n");
  pai__buf_dispose(&hint);
}

static void put_node(sheet *s, const pai__member *m, int x, int y)
{
  put_squares(s, m, x + s->name_width, y + 2);
  if (!s->scale->names)
    return;
  pai__svg_text(s->out, x, y + 12, m->sick != NULL ? "s" : "", m->name,
                s->name_width - 4);
  if (pai__sku_of(s->p->c, m)->gpus == 0)
    pai__svg_text(s->out, x + s->name_width, y + 12, "", "no GPUs", 60);
  put_hint(s, m, x, y);
}

/* --- boxes ---------------------------------------------------------------- */

typedef struct box {
  size_t rack;
  int columns, lines, w, h;
} box;

static box make_box(const sheet *s, size_t rack)
{
  uint32_t nodes = s->p->in_rack[rack];
  box b = { .rack = rack, .columns = columns_for(s, nodes) };
  const char *name =
    rack < s->p->c->nracks ? s->p->c->racks[rack] : "in no rack";
  int title = text_width(name) + 60;

  b.lines = (int)((nodes + (uint32_t)b.columns - 1) / (uint32_t)b.columns);
  b.w = b.columns * s->column - GAP + 2 * PAD;
  if (b.w < title)
    b.w = title < WIDTH ? title : WIDTH;
  b.h = TITLE + b.lines * s->scale->line + PAD;
  return b;
}

static void put_box(sheet *s, const box *b, int x, int y)
{
  const pai_cluster *c = s->p->c;
  const char *name = b->rack < c->nracks ? c->racks[b->rack]
                     : c->nracks > 0     ? "in no rack"
                                         : "nodes";
  char count[32];
  int at = 0;

  pai__svg_rect(s->out, x, y, b->w, b->h, "box");
  pai__svg_text(s->out, x + PAD, y + 15, "h", name, b->w - 2 * PAD - 30);
  (void)snprintf(count, sizeof(count), "%u", (unsigned)s->p->in_rack[b->rack]);
  pai__svg_text(s->out, x + b->w - PAD, y + 15, "e", count, 40);
  for (uint32_t i = s->p->first[b->rack]; i != PAI__NOTHING;
       i = s->p->next[i], at++)
    put_node(s, &c->nodes[i], x + PAD + at / b->lines * s->column,
             y + TITLE + at % b->lines * s->scale->line);
}

/* Places boxes from left to right, and the next row below the highest box. */
static int put_boxes(sheet *s, int top)
{
  int x = PAD, y = top, high = 0;

  for (size_t rack = 0; rack <= s->p->c->nracks; rack++) {
    box b;

    if (s->p->in_rack[rack] == 0)
      continue;
    b = make_box(s, rack);
    if (x > PAD && x + b.w > WIDTH) {
      x = PAD;
      y += high + GAP;
      high = 0;
    }
    put_box(s, &b, x, y);
    x += b.w + GAP;
    high = b.h > high ? b.h : high;
    s->width = x > s->width ? x : s->width;
  }
  return y + high;
}

/* --- around them ---------------------------------------------------------- */

static void put_style(pai__buf *out)
{
  pai__buf_str(out, style);
  pai__buf_str(out, "<style>.e{text-anchor:end}");
  for (int i = 0; i <= PAI__COLOURS; i++)
    pai__buf_printf(out, ".u%d{fill:%s}", i, colours[i]);
  pai__buf_str(out, "</style>\n");
}

static void class_of(char out[16], int show)
{
  static const char *const names[] = { "plain", "free", "sick" };

  if (show < PAI__SHOW_USED)
    (void)snprintf(out, 16, "%s", names[show]);
  else
    (void)snprintf(out, 16, "u%d", show - PAI__SHOW_USED);
}

/* Draws a square of the legend with its meaning; returns x of the next one. */
static int put_key(sheet *s, int x, int show, const char *name)
{
  char class[16], text[96];
  int width;

  if (s->p->counts[show] == 0)
    return x;
  class_of(class, show);
  (void)snprintf(text, sizeof(text), "%.60s: %zu", name, s->p->counts[show]);
  width = text_width(text);
  if (x + 16 + width > WIDTH)
    return x; /* the title has their number */
  pai__svg_rect(s->out, x, 40, 11, 11, class);
  pai__svg_text(s->out, x + 16, 50, "", text, width);
  return x + 16 + width + 16;
}

static void put_head(sheet *s)
{
  pai__buf title;
  int x = PAD;

  pai__buf_init(&title, &s->p->c->alloc);
  pai__picture_summary(s->p, &title);
  pai__svg_text(s->out, PAD, 26, "t", pai__buf_text(&title), WIDTH - 2 * PAD);
  pai__buf_dispose(&title);
  x = put_key(s, x, PAI__SHOW_PLAIN, "GPUs");
  x = put_key(s, x, PAI__SHOW_FREE, "free");
  x = put_key(s, x, PAI__SHOW_SICK, "sick");
  for (size_t i = 0; i < s->p->nusers; i++)
    x = put_key(s, x, PAI__SHOW_USED + (int)i,
                *s->p->users[i] != '\0' ? s->p->users[i] : "used");
  x = put_key(s, x, PAI__SHOW_COUNT - 1, "others");
  s->width = x > s->width ? x : s->width;
}

static void put_paths(sheet *s)
{
  char class[16];

  for (int i = 0; i < PAI__SHOW_COUNT; i++) {
    if (s->paths[i].len == 0)
      continue;
    class_of(class, i);
    pai__buf_printf(
      s->out, "<path pointer-events=\"none\" class=\"%s\"%s d=\"%s\"/>\n",
      class, i == PAI__SHOW_SICK ? " stroke=\"#fff\"" : "",
      pai__buf_text(&s->paths[i]));
  }
}

static void put_all(sheet *s, pai__buf *out)
{
  int height;

  measure(s);
  put_head(s);
  height = put_boxes(s, HEAD) + PAD;
  put_paths(s);
  pai__buf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                  "viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n",
                  s->width, height, s->width, height);
  put_style(out);
  pai__svg_rect(out, 0, 0, s->width, height, "bg");
  pai__buf_add(out, pai__buf_text(s->out), s->out->len);
  pai__buf_str(out, "</svg>\n");
}

void pai__picture_write_svg(const pai__cluster_picture *p, pai__buf *out)
{
  pai__buf body;
  sheet s = { .p = p, .out = &body, .scale = scales, .width = NARROWEST };

  while (p->c->ngpus > s.scale->most_gpus || p->c->nnodes > s.scale->most_gpus)
    s.scale++;
  pai__buf_init(&body, &p->c->alloc);
  for (int i = 0; i < PAI__SHOW_COUNT; i++)
    pai__buf_init(&s.paths[i], &p->c->alloc);
  put_all(&s, out);
  out->failed |= !pai__buf_ok(&body);
  for (int i = 0; i < PAI__SHOW_COUNT; i++) {
    out->failed |= !pai__buf_ok(&s.paths[i]);
    pai__buf_dispose(&s.paths[i]);
  }
  pai__buf_dispose(&body);
}
