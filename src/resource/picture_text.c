/*
 * picture_text.c - a cluster as text, rack by rack
 *
 *   r1
 *     dgx01             8 × h100 (80 GB)  ■■■■□□□□  alice 4
 *     dgx02 … dgx08     7 nodes of 8 × h100 (80 GB), all free
 */
#include "resource/picture.h"
#include "resource/svg.h"

enum { NAMES = 24, MOST_GLYPHS = 64 };

static const char *const glyphs[] = { "·", "□", "✗", "■" };

/* Escape sequences by PAI__SHOW_*. */
static const char *colour_of(int show)
{
  static const char *const colours[] = {
    "\033[2m",  "\033[32m", "\033[1;31m", "\033[34m", "\033[33m",
    "\033[35m", "\033[36m", "\033[94m",   "\033[93m", "\033[95m",
    "\033[96m", "\033[37m", "\033[90m",
  };

  return colours[show];
}

static void begin_colour(const pai__cluster_picture *p, pai__buf *out,
                         int show)
{
  if (p->colour)
    pai__buf_str(out, colour_of(show));
}

static void end_colour(const pai__cluster_picture *p, pai__buf *out)
{
  if (p->colour)
    pai__buf_str(out, "\033[0m");
}

/* What a node's GPUs are all shown as; -1: they differ. */
static int all_shown_as(const pai__cluster_picture *p, const pai__member *m)
{
  int show = PAI__SHOW_PLAIN;

  for (uint32_t i = 0; i < pai__sku_of(p->c, m)->gpus; i++) {
    int now = pai__picture_show(p, m, i);

    if (i > 0 && now != show)
      return -1;
    show = now;
  }
  return show;
}

/* Whether two nodes can stand on one line. */
static bool are_alike(const pai__cluster_picture *p, const pai__member *a,
                      const pai__member *b)
{
  int show = all_shown_as(p, a);

  return a->sku == b->sku && a->sick == NULL && b->sick == NULL &&
         (show == PAI__SHOW_PLAIN || show == PAI__SHOW_FREE) &&
         all_shown_as(p, b) == show;
}

static void pad(pai__buf *out, size_t columns, size_t wanted)
{
  do
    pai__buf_char(out, ' ');
  while (++columns < wanted);
}

static void put_glyphs(const pai__cluster_picture *p, pai__buf *out,
                       const pai__member *m)
{
  uint32_t gpus = pai__sku_of(p->c, m)->gpus;
  int last = -1;

  for (uint32_t i = 0; i < gpus && i < MOST_GLYPHS; i++) {
    int show = pai__picture_show(p, m, i);

    if (show != last && last >= 0)
      end_colour(p, out);
    if (show != last)
      begin_colour(p, out, show);
    pai__buf_str(out, glyphs[show < PAI__SHOW_USED ? show : PAI__SHOW_USED]);
    last = show;
  }
  if (last >= 0)
    end_colour(p, out);
  if (gpus > MOST_GLYPHS)
    pai__buf_str(out, "…");
}

/* "alice 4, bob 2"; and what is sick: "GPU 3: hot". */
static void put_words(const pai__cluster_picture *p, pai__buf *out,
                      const pai__member *m)
{
  uint32_t gpus = pai__sku_of(p->c, m)->gpus;
  const char *before = "  ";

  if (m->sick != NULL) {
    begin_colour(p, out, PAI__SHOW_SICK);
    pai__buf_printf(out, "%s%s", before, m->sick);
    end_colour(p, out);
    return;
  }
  for (uint32_t i = 0, n; i < gpus; i += n) {
    int show = pai__picture_show(p, m, i);
    const char *text = pai__picture_text(p, m, i);

    for (n = 1; i + n < gpus && pai__picture_show(p, m, i + n) == show &&
                strcmp(pai__picture_text(p, m, i + n), text) == 0;
         n++)
      ;
    if (show < PAI__SHOW_SICK || *text == '\0')
      continue;
    begin_colour(p, out, show);
    if (show == PAI__SHOW_SICK)
      pai__buf_printf(out, "%sGPU %u: %s", before,
                      p->c->gpus[m->first_gpu + i].number, text);
    else
      pai__buf_printf(out, "%s%s %u", before, text, n);
    end_colour(p, out);
    before = ", ";
  }
}

static void put_node(const pai__cluster_picture *p, pai__buf *out,
                     const pai__member *m)
{
  const pai__sku *s = pai__sku_of(p->c, m);

  pai__buf_printf(out, "  %s", m->name);
  pad(out, pai__svg_columns(m->name), NAMES);
  pai__picture_gpus(p, s, out);
  if (s->gpus > 0) {
    pai__buf_str(out, "  ");
    put_glyphs(p, out, m);
  }
  put_words(p, out, m);
  pai__buf_char(out, '\n');
}

static void put_alike(const pai__cluster_picture *p, pai__buf *out,
                      const pai__member *first, const pai__member *last,
                      size_t n)
{
  const pai__sku *s = pai__sku_of(p->c, first);

  pai__buf_printf(out, "  %s … %s", first->name, last->name);
  pad(out, pai__svg_columns(first->name) + pai__svg_columns(last->name) + 3,
      NAMES);
  pai__buf_printf(out, "%zu nodes", n);
  if (s->gpus > 0) {
    pai__buf_str(out, " of ");
    pai__picture_gpus(p, s, out);
  }
  if (s->gpus > 0 && pai__picture_show(p, first, 0) == PAI__SHOW_FREE) {
    begin_colour(p, out, PAI__SHOW_FREE);
    pai__buf_str(out, ", all free");
    end_colour(p, out);
  }
  pai__buf_char(out, '\n');
}

static void put_rack(const pai__cluster_picture *p, pai__buf *out, size_t rack)
{
  const pai_cluster *c = p->c;
  uint32_t i = p->first[rack];

  if (i == PAI__NOTHING)
    return;
  if (c->nracks > 0)
    pai__buf_printf(out, "%s\n",
                    rack < c->nracks ? c->racks[rack] : "in no rack");
  while (i != PAI__NOTHING) {
    const pai__member *first = &c->nodes[i], *last = first;
    size_t n = 1;

    for (i = p->next[i];
         i != PAI__NOTHING && are_alike(p, first, &c->nodes[i]);
         i = p->next[i], n++)
      last = &c->nodes[i];
    if (n > 1)
      put_alike(p, out, first, last, n);
    else
      put_node(p, out, first);
  }
}

static void put_vcs(const pai__cluster_picture *p, pai__buf *out)
{
  const pai_cluster *c = p->c;

  for (size_t v = 0; v < c->nvcs; v++) {
    const pai__vc *vc = &c->vcs[v];

    pai__buf_printf(out, "%s  %s", v == 0 ? "virtual clusters\n" : "",
                    vc->name);
    pad(out, pai__svg_columns(vc->name), NAMES);
    for (uint32_t i = 0; i < vc->nshares; i++)
      if (vc->shares[i].path != NULL)
        pai__buf_printf(out, "%s%u × %s", i > 0 ? ", " : "",
                        vc->shares[i].count, vc->shares[i].path);
      else
        pai__buf_printf(out, "%spinned %s", i > 0 ? ", " : "",
                        vc->shares[i].pin);
    pai__buf_str(out, vc->nshares > 0 ? "\n" : "nothing\n");
  }
}

void pai__picture_write_text(const pai__cluster_picture *p, pai__buf *out)
{
  pai__picture_summary(p, out);
  pai__buf_char(out, '\n');
  for (size_t rack = 0; rack <= p->c->nracks; rack++)
    put_rack(p, out, rack);
  put_vcs(p, out);
}
