/*
 * report_html_gantt.c - who was where: a row for each node, in it one for each
 * GPU, on it a bar for each run
 *
 * Where nodes have no GPUs, bars of a time stand below each other in lanes.
 */
#include "sim/report_html.h"

#include "resource/svg.h"

#include <openpai/platform.h>

#include <stdlib.h>

enum {
  LEFT = 1100,
  MOST_NODES = 500,
  MOST_BARS = 4000, /* of all reports together */
  LANES = 8,        /* of a node without GPUs, at most */
  TALL = 90,        /* a lane */
  FLAT = 5,
  ALL = 9000, /* the lanes of all nodes, where they are not too many */
  LETTERS = 130
};

typedef struct gantt {
  pai__html_page *p;
  const pai_sim_report *r;
  pai__chart c;
  uint32_t *order; /* bars by node and time */
  size_t nbars, nnodes;
  uint8_t *lane;  /* of each bar of `order`, on nodes without GPUs */
  uint8_t *lanes; /* of each node */
  int *top;       /* of each node, below the chart's top */
  uint8_t *hue;   /* of each virtual cluster */
  int lane_height, gap;
  pai_time end;
} gantt;

/* --- sizes -------------------------------------------------------------------- */

typedef struct keyed {
  const pai__bar *bar;
  uint32_t at;
} keyed;

static int by_place(const void *a, const void *b)
{
  const keyed *x = a, *y = b;

  if (x->bar->node != y->bar->node)
    return x->bar->node < y->bar->node ? -1 : 1;
  if (x->bar->from != y->bar->from)
    return x->bar->from < y->bar->from ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

static int sort_bars(gantt *g)
{
  const pai_alloc *alloc = &g->r->alloc;
  keyed *list = pai__realloc(alloc, NULL, 0, g->nbars, sizeof(*list));

  if (list == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < g->nbars; i++)
    list[i] = (keyed){ &g->r->bars[i], (uint32_t)i };
  qsort(list, g->nbars, sizeof(*list), by_place);
  for (size_t i = 0; i < g->nbars; i++)
    g->order[i] = list[i].at;
  pai__free(alloc, list, g->nbars * sizeof(*list));
  return PAI_OK;
}

/* The first lane that is free, or the last one. */
static uint8_t find_lane(pai_time ends[LANES], const pai__bar *b)
{
  uint8_t lane = 0;

  while (lane + 1 < LANES && ends[lane] > b->from)
    lane++;
  ends[lane] = b->to;
  return lane;
}

static void find_lanes(gantt *g)
{
  pai_time ends[LANES];

  for (size_t i = 0; i < g->nnodes; i++)
    g->lanes[i] =
      (uint8_t)(g->r->node_list[i].gpus < 64 ? g->r->node_list[i].gpus : 64);
  for (size_t i = 0; i < g->nbars; i++) {
    const pai__bar *b = &g->r->bars[g->order[i]];

    if (i == 0 || g->r->bars[g->order[i - 1]].node != b->node)
      for (size_t k = 0; k < LANES; k++)
        ends[k] = INT64_MIN;
    if (b->node >= g->nnodes || g->r->node_list[b->node].gpus > 0)
      continue;
    g->lane[i] = find_lane(ends, b);
    if (g->lanes[b->node] <= g->lane[i])
      g->lanes[b->node] = (uint8_t)(g->lane[i] + 1);
  }
}

/* Returns the height of all. */
static int measure(gantt *g)
{
  int all = 0, y = 0;

  for (size_t i = 0; i < g->nnodes; i++)
    all += g->lanes[i] > 0 ? g->lanes[i] : 1;
  g->lane_height = all > 0 ? ALL / all : TALL;
  g->lane_height = g->lane_height > TALL   ? TALL
                   : g->lane_height < FLAT ? FLAT
                                           : g->lane_height;
  g->gap = g->lane_height >= 40 ? 40 : g->lane_height >= 20 ? 20 : 4;
  for (size_t i = 0; i < g->nnodes; i++) {
    g->top[i] = y;
    y += (g->lanes[i] > 0 ? g->lanes[i] : 1) * g->lane_height + g->gap;
  }
  return y;
}

/* So many that all reports together have no more than a page can bear. */
static size_t count_bars(const pai__html_page *p, const pai_sim_report *r)
{
  size_t most = MOST_BARS / p->n;

  return r->nbars < most ? r->nbars : most;
}

/* Where bars were cut off, what is right of the last beginning is not known. */
static pai_time find_end(const pai_sim_report *r, size_t nbars)
{
  pai_time end = 0, last = 0;

  for (size_t i = 0; i < nbars; i++) {
    pai_time from = r->bars[i].from - r->view.begin;
    pai_time to = r->bars[i].to - r->view.begin;

    end = to > end ? to : end;
    last = from > last ? from : last;
  }
  return last > 0 && (nbars < r->nbars || r->bars_cut) ? last : end;
}

/* --- one bar ---------------------------------------------------------------------- */

static const char *end_of(const pai__bar *b)
{
  switch (b->end) {
  case PAI_STATE_SUCCEEDED: return "succeeded";
  case PAI_STATE_FAILED: return "failed";
  case PAI_STATE_STOPPED: return "killed";
  case PAI_STATE_WAITING: return "preempted";
  default: return "still ran";
  }
}

static const char *class_of(const pai__bar *b)
{
  return b->end == PAI_STATE_FAILED    ? "x"
         : b->end == PAI_STATE_WAITING ? "p"
         : b->end == PAI_STATE_STOPPED ? "k"
                                       : "f";
}

static void put_piece(gantt *g, int x, int w, int y, int h)
{
  pai__chart_length(&g->c, "M", x);
  pai__chart_length(&g->c, " ", y);
  pai__chart_length(&g->c, "h", w);
  pai__chart_length(&g->c, "v", h);
  pai__chart_length(&g->c, "h", -w);
  pai__buf_char(g->c.out, 'z');
}

/* GPUs that stand beside each other are one piece. */
static unsigned put_pieces(gantt *g, const pai__bar *b, int lane, int x, int w)
{
  int y = g->c.top + g->top[b->node];
  unsigned count = 0;

  if (b->gpus == 0) { /* all of a lane, or a line below those of the GPUs */
    bool below = g->r->node_list[b->node].gpus > 0;
    int h = below ? g->gap / 2 : g->lane_height;

    put_piece(g, x, w, y + (below ? g->lanes[b->node] : lane) * g->lane_height,
              h);
    return 0;
  }
  for (unsigned i = 0, from = 0; i <= 64; i++) {
    bool in = i < 64 && (b->gpus >> i & 1) != 0;

    count += in;
    if (in && (i == 0 || (b->gpus >> (i - 1) & 1) == 0))
      from = i;
    if (!in && i > 0 && (b->gpus >> (i - 1) & 1) != 0)
      put_piece(g, x, w, y + (int)from * g->lane_height,
                (int)(i - from) * g->lane_height);
  }
  return count;
}

static void put_bar(gantt *g, const pai__bar *b, int lane)
{
  pai_time begin = g->r->view.begin;
  int x = pai__chart_x(&g->c, b->from - begin);
  int w = pai__chart_x(&g->c, b->to - begin) - x;
  unsigned hue = b->vc < g->r->vcs.count ? g->hue[b->vc] : PAI__HUES - 1;
  char from[PAI__CELL], length[PAI__CELL];
  unsigned gpus;

  pai__buf_printf(g->c.out, "<path class=\"%s%u\" d=\"", class_of(b), hue);
  gpus = put_pieces(g, b, lane, x, w > 10 ? w : 10);
  pai__buf_char(g->c.out, '"');
  pai__chart_hint(&g->c);
  pai__buf_printf(g->c.out, "job %llu, ", (unsigned long long)b->job);
  if (b->vc < g->r->vcs.count)
    pai__svg_escape(g->c.out, g->r->vcs.list[b->vc].name, 24);
  if (gpus > 0)
    pai__buf_printf(g->c.out, ": %u GPU%s", gpus, gpus == 1 ? "" : "s");
  pai__buf_str(g->c.out, " of ");
  pai__svg_escape(g->c.out, g->r->node_list[b->node].name, 24);
  pai__buf_printf(g->c.out, ", %s from %s, %s",
                  pai__show_time(length, b->to - b->from),
                  pai__show_time(from, b->from - begin), end_of(b));
  pai__chart_hint_end(&g->c, "path");
}

/* --- all of them -------------------------------------------------------------------- */

static void put_rows(gantt *g)
{
  int used = -LETTERS;

  for (size_t i = 0; i < g->nnodes; i++) {
    int y = g->c.top + g->top[i];
    int h = (g->lanes[i] > 0 ? g->lanes[i] : 1) * g->lane_height;

    pai__chart_rect(&g->c, "row", g->c.left, y, g->c.right - g->c.left, h);
    pai__buf_str(g->c.out, "/>\n");
    if (y + h / 2 - used < LETTERS)
      continue;
    used = y + h / 2;
    pai__chart_text(&g->c, "y", LEFT - 60, used + 40, g->r->node_list[i].name,
                    15);
  }
}

static void put_remark(gantt *g)
{
  char cell[PAI__CELL], many[PAI__CELL];
  size_t nodes = g->r->nnode_list - g->nnodes;

  if (g->r->bars_cut || g->nbars < g->r->nbars)
    pai__buf_printf(&g->p->out,
                    "<p class=\"hint\">The first %s runs, which began until "
                    "%s.</p>\n",
                    pai__show_count(many, (int64_t)g->nbars),
                    pai__show_time(cell, g->end));
  if (nodes > 0)
    pai__buf_printf(&g->p->out,
                    "<p class=\"hint\">%s more nodes are not "
                    "shown.</p>\n",
                    pai__show_count(cell, (int64_t)nodes));
}

static void put_chart(gantt *g)
{
  int height;

  find_lanes(g);
  height = measure(g);
  if (g->p->n > 1) {
    pai__buf_str(&g->p->out, "<h3>");
    for (size_t i = 0; i < g->p->n; i++)
      if (g->p->reports[i] == g->r)
        pai__html_text(g->p, pai__html_label(g->p, i));
    pai__buf_str(&g->p->out, "</h3>\n");
  }
  put_remark(g);
  pai__chart_begin(&g->c, &g->p->out, "Runs on each node", LEFT, height);
  put_rows(g);
  pai__chart_x_time(&g->c, g->end);
  pai__buf_str(g->c.out, g->lane_height >= 30 ? "<g class=\"b\">\n" : "<g>\n");
  for (size_t i = 0; i < g->nbars; i++) {
    const pai__bar *b = &g->r->bars[g->order[i]];

    if (b->node < g->nnodes && b->from - g->r->view.begin <= g->end)
      put_bar(g, b, g->lane[i]);
  }
  pai__buf_str(g->c.out, "</g>\n");
  pai__chart_end(&g->c);
}

static void find_hues(gantt *g, const pai__names *vcs)
{
  for (size_t i = 0; i < g->r->vcs.count; i++) {
    size_t k = 0;

    while (k < PAI__HUES - 1 && k < vcs->count &&
           strcmp(vcs->list[k], g->r->vcs.list[i].name) != 0)
      k++;
    g->hue[i] =
      (uint8_t)(k < PAI__HUES - 1 && k < vcs->count ? k : PAI__HUES - 1);
  }
}

static int put_report(pai__html_page *p, const pai_sim_report *r,
                      const pai__names *vcs, pai_time end)
{
  size_t vc_count = r->vcs.count + 1;
  gantt g = { .p = p, .r = r, .end = end };
  const pai_alloc *alloc = &r->alloc;
  int rc = PAI_ENOMEM;

  if (r->nbars == 0 || r->nnode_list == 0)
    return PAI_OK;
  g.nbars = count_bars(p, r);
  g.nnodes = r->nnode_list < MOST_NODES ? r->nnode_list : MOST_NODES;
  g.order = pai__zalloc(alloc, g.nbars * sizeof(*g.order));
  g.lane = pai__zalloc(alloc, g.nbars);
  g.lanes = pai__zalloc(alloc, g.nnodes);
  g.top = pai__zalloc(alloc, g.nnodes * sizeof(*g.top));
  g.hue = pai__zalloc(alloc, vc_count);
  if (g.order != NULL && g.lane != NULL && g.lanes != NULL && g.top != NULL &&
      g.hue != NULL)
    rc = sort_bars(&g);
  if (rc == PAI_OK) {
    find_hues(&g, vcs);
    put_chart(&g);
  }
  pai__free(alloc, g.order, g.nbars * sizeof(*g.order));
  pai__free(alloc, g.lane, g.nbars);
  pai__free(alloc, g.lanes, g.nnodes);
  pai__free(alloc, g.top, g.nnodes * sizeof(*g.top));
  pai__free(alloc, g.hue, vc_count);
  return rc;
}

static void put_keys(pai__html_page *p, const pai__names *vcs)
{
  char class[3] = "f0";

  pai__html_begin_keys(p);
  for (size_t i = 0; i < vcs->count && i < PAI__HUES - 1; i++) {
    class[1] = (char)('0' + i);
    pai__html_key_area(p, class, vcs->list[i]);
  }
  class[1] = (char)('0' + PAI__HUES - 1);
  if (vcs->count >= PAI__HUES)
    pai__html_key_area(p, class, "others");
  pai__html_key_area(p, "p7", "preempted");
  pai__html_key_area(p, "x7", "failed");
  pai__html_key_area(p, "k7", "killed");
  pai__html_end_keys(p);
}

int pai__html_gantt(pai__html_page *p)
{
  const pai_alloc *alloc = &p->reports[0]->alloc;
  size_t bars = 0;
  pai_time end = 0;
  pai__names vcs;
  int rc;

  for (size_t i = 0; i < p->n; i++)
    if (p->reports[i]->nbars > 0) {
      pai_time last = find_end(p->reports[i], count_bars(p, p->reports[i]));

      end = last > end ? last : end;
      bars += p->reports[i]->nbars;
    }
  if (bars == 0)
    return PAI_OK;
  rc = pai__names_by_use(&vcs, alloc, p->reports, p->n, PAI__VCS);
  if (rc == PAI_OK) {
    pai__html_begin(p, "Who was where",
                    "Nodes from top to bottom, a line for each of their GPUs; "
                    "colours are virtual clusters. A pointer on a bar shows "
                    "its job.");
    put_keys(p, &vcs);
    for (size_t i = 0; rc == PAI_OK && i < p->n; i++)
      rc = put_report(p, p->reports[i], &vcs, end);
    pai__html_end(p);
  }
  pai__names_dispose(&vcs, alloc);
  return rc;
}
