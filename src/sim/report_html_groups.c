/* report_html_groups.c - by virtual cluster, size and user: waits, the ledger
 * of what was lent, and tables */
#include "sim/report_html.h"

#include "resource/svg.h"

#include <stdio.h>

enum {
  NARROW = 500,
  WIDE = 1700,
  BAR = 130,
  SPACE = 90,
  MOST_ROWS = 24,
  MOST_USERS = 20
};

static unsigned hue_of(const pai__html_page *p, size_t i)
{
  return p->n == 1 ? 0 : (unsigned)(i % (PAI__HUES - 1));
}

static void put_keys(pai__html_page *p)
{
  char class[8];

  for (size_t i = 0; p->n > 1 && i < p->n; i++) {
    (void)snprintf(class, sizeof(class), "f%u", hue_of(p, i));
    pai__html_key_area(p, class, pai__html_label(p, i));
  }
}

static void put_more(pai__html_page *p, size_t count, size_t most)
{
  char cell[PAI__CELL];

  if (count > most)
    pai__buf_printf(&p->out, "<p class=\"hint\">%s more are not shown.</p>\n",
                    pai__show_count(cell, (int64_t)(count - most)));
}

static const pai__group *group_of(const pai__html_page *p, size_t i, int kind,
                                  const char *name)
{
  return pai__group_named(pai__groups_of(p->reports[i], kind), name);
}

/* Room for names on the left. */
static int left_of(const pai__names *names, size_t rows)
{
  size_t columns = 0;

  for (size_t k = 0; k < rows; k++)
    if (pai__svg_columns(names->list[k]) > columns)
      columns = pai__svg_columns(names->list[k]);
  return columns >= 22                      ? WIDE
         : (int)columns * 70 + 160 < NARROW ? NARROW
                                            : (int)columns * 70 + 160;
}

/* --- waits ----------------------------------------------------------------------- */

/* Three bars on each other: the longer, the paler and thinner. */
static void put_wait(pai__html_page *p, pai__chart *c, size_t i,
                     const pai__group *g, int y)
{
  const struct {
    const char *class;
    int thick;
    pai_time value;
  } parts[] = { { "o1", BAR / 3, g->wait_p99 },
                { "o2", BAR * 2 / 3, g->wait_p90 },
                { "o3", BAR - 10, g->wait_p50 } };
  char class[32], p50[PAI__CELL], p90[PAI__CELL], p99[PAI__CELL];

  pai__buf_str(&p->out, "<g");
  pai__chart_hint(c);
  if (p->n > 1) {
    pai__html_text(p, pai__html_label(p, i));
    pai__buf_str(&p->out, ", ");
  }
  pai__html_text(p, g->name);
  pai__buf_printf(&p->out, ": P50 %s, P90 %s, P99 %s</title>\n",
                  pai__show_time(p50, g->wait_p50),
                  pai__show_time(p90, g->wait_p90),
                  pai__show_time(p99, g->wait_p99));
  for (size_t k = 0; k < PAI__LEN(parts); k++) {
    int w = pai__chart_x(c, parts[k].value) - c->left;

    (void)snprintf(class, sizeof(class), "f%u %s", hue_of(p, i),
                   parts[k].class);
    pai__chart_rect(c, class, c->left, y + (BAR - parts[k].thick) / 2,
                    w > 20 ? w : 20, parts[k].thick);
    pai__buf_str(&p->out, "/>\n");
  }
  pai__buf_str(&p->out, "</g>\n");
}

static pai_time longest_wait(const pai__html_page *p, int kind,
                             const pai__names *names, size_t rows)
{
  pai_time longest = 0;

  for (size_t k = 0; k < rows; k++)
    for (size_t i = 0; i < p->n; i++) {
      const pai__group *g = group_of(p, i, kind, names->list[k]);

      if (g != NULL && g->wait_p99 > longest)
        longest = g->wait_p99;
    }
  return longest;
}

static void put_waits(pai__html_page *p, int kind, const pai__names *names)
{
  static const char *const titles[] = { "Waiting by virtual cluster",
                                        "Waiting by GPUs of a job" };
  size_t rows = names->count < MOST_ROWS ? names->count : MOST_ROWS;
  int row = BAR * (int)p->n + SPACE;
  pai__chart c;

  pai__html_begin(p, titles[kind],
                  "P50 thick, P90 paler, P99 thin; the time is drawn by its "
                  "logarithm.");
  pai__html_begin_keys(p);
  put_keys(p);
  if (p->n == 1) {
    pai__html_key_area(p, "f0 o3", "P50");
    pai__html_key_area(p, "f0 o2", "P90");
    pai__html_key_area(p, "f0 o1", "P99");
  }
  pai__html_end_keys(p);
  pai__chart_begin(&c, &p->out, titles[kind], left_of(names, rows),
                   row * (int)rows);
  pai__chart_x_log_time(&c, longest_wait(p, kind, names, rows));
  for (size_t k = 0; k < rows; k++) {
    int y = c.top + (int)k * row + SPACE / 2;

    pai__chart_text(&c, "y", c.left - 80, y + (row - SPACE) / 2 + 40,
                    names->list[k], 22);
    for (size_t i = 0; i < p->n; i++) {
      const pai__group *g = group_of(p, i, kind, names->list[k]);

      if (g != NULL)
        put_wait(p, &c, i, g, y + (int)i * BAR);
    }
  }
  pai__chart_end(&c);
  put_more(p, names->count, MOST_ROWS);
  pai__html_end(p);
}

/* --- ledger ------------------------------------------------------------------------ */

static void put_part(pai__chart *c, const char *class, int64_t from,
                     int64_t to, int y, int h)
{
  int x = pai__chart_x(c, from);

  if (to <= from)
    return;
  pai__chart_rect(c, class, x, y, pai__chart_x(c, to) - x, h);
  pai__buf_str(c->out, "/>\n");
}

/* The share, in it what was used and what others had of it, and below what was
 * used of others'. */
static void put_entry(pai__html_page *p, pai__chart *c, size_t i,
                      const pai__group *g, int y)
{
  int64_t own = g->used - g->borrowed;
  char cells[4][PAI__CELL];

  pai__buf_str(&p->out, "<g");
  pai__chart_hint(c);
  if (p->n > 1) {
    pai__html_text(p, pai__html_label(p, i));
    pai__buf_str(&p->out, ", ");
  }
  pai__html_text(p, g->name);
  pai__buf_printf(&p->out,
                  ": share %s h, used %s h of it, lent %s h, borrowed %s "
                  "h</title>\n",
                  pai__show_hours(cells[0], g->entitled),
                  pai__show_hours(cells[1], own),
                  pai__show_hours(cells[2], g->lent),
                  pai__show_hours(cells[3], g->borrowed));
  put_part(c, "box", 0, g->entitled, y, BAR - 40);
  put_part(c, "f0", 0, own, y, BAR - 40);
  put_part(c, "p2", own, own < INT64_MAX - g->lent ? own + g->lent : INT64_MAX,
           y, BAR - 40);
  put_part(c, "f1", 0, g->borrowed, y + BAR - 30, 50);
  pai__buf_str(&p->out, "</g>\n");
}

static int64_t most_of_ledger(const pai__html_page *p, const pai__names *names,
                              size_t rows)
{
  int64_t most = 1;

  for (size_t k = 0; k < rows; k++)
    for (size_t i = 0; i < p->n; i++) {
      const pai__group *g = group_of(p, i, PAI__VCS, names->list[k]);

      if (g != NULL && g->entitled > most)
        most = g->entitled;
      if (g != NULL && g->used > most)
        most = g->used;
    }
  return most;
}

static const char *show_ticks(char out[PAI__CELL], int64_t hours)
{
  return pai__show_short(out, hours);
}

static void put_ledger(pai__html_page *p, const pai__names *names)
{
  size_t rows = names->count < MOST_ROWS ? names->count : MOST_ROWS;
  int one = BAR + 30, row = one * (int)p->n + SPACE;
  int64_t most = most_of_ledger(p, names, rows);
  char hint[96];
  pai__chart c;

  (void)snprintf(hint, sizeof(hint),
                 "Hours of %ss. What is lent in sum is borrowed in sum.",
                 pai__unit(p->reports[0]));
  pai__html_begin(p, "Shares, lent and borrowed", hint);
  pai__html_begin_keys(p);
  pai__html_key_area(p, "box", "own share");
  pai__html_key_area(p, "f0", "used of it");
  pai__html_key_area(p, "p2", "lent to others");
  pai__html_key_area(p, "f1", "borrowed from others");
  pai__html_end_keys(p);
  pai__chart_begin(&c, &p->out, "Shares, lent and borrowed",
                   left_of(names, rows), row * (int)rows);
  pai__chart_x_value(&c, (most - 1) / PAI__HOUR + 1, show_ticks);
  c.x_end = c.x_end < INT64_MAX / PAI__HOUR ? c.x_end * PAI__HOUR : INT64_MAX;
  for (size_t k = 0; k < rows; k++) {
    int y = c.top + (int)k * row + SPACE / 2;

    pai__chart_text(&c, "y", c.left - 80, y + (row - SPACE) / 2 + 30,
                    names->list[k], 22);
    for (size_t i = 0; i < p->n; i++) {
      const pai__group *g = group_of(p, i, PAI__VCS, names->list[k]);

      if (g != NULL)
        put_entry(p, &c, i, g, y + (int)i * one);
    }
  }
  pai__chart_end(&c);
  if (p->n > 1)
    pai__buf_str(&p->out, "<p class=\"hint\">Of each virtual cluster, from "
                          "top to bottom, in the order above.</p>\n");
  put_more(p, names->count, MOST_ROWS);
  pai__html_end(p);
}

/* --- tables ------------------------------------------------------------------------ */

typedef enum shown { COUNT, TIME, TIMES, WORK } shown;

static const struct {
  const char *title;
  size_t at;
  shown how;
  int kinds; /* bits of PAI__VCS, ... */
} columns[] = {
  { "jobs", offsetof(pai__group, jobs), COUNT, 7 },
  { "preempted", offsetof(pai__group, preemptions), COUNT, 7 },
  { "wait P50", offsetof(pai__group, wait_p50), TIME, 7 },
  { "P90", offsetof(pai__group, wait_p90), TIME, 7 },
  { "P99", offsetof(pai__group, wait_p99), TIME, 7 },
  { "slowdown", offsetof(pai__group, slowdown_p50), TIMES, 3 },
  { "used, h", offsetof(pai__group, used), WORK, 7 },
  { "in vain, h", offsetof(pai__group, lost), WORK, 7 },
  { "share, h", offsetof(pai__group, entitled), WORK, 5 },
  { "lent, h", offsetof(pai__group, lent), WORK, 1 },
  { "borrowed, h", offsetof(pai__group, borrowed), WORK, 1 },
};

static void put_cell(pai__html_page *p, shown how, const pai__group *g,
                     size_t at)
{
  char cell[PAI__CELL];
  int64_t value;

  memcpy(&value, (const char *)g + at, sizeof(value));
  pai__buf_str(&p->out, "<td>");
  switch (how) {
  case TIME: pai__buf_str(&p->out, pai__show_time(cell, value)); break;
  case TIMES: pai__buf_str(&p->out, pai__show_times(cell, value)); break;
  case WORK: pai__html_text(p, pai__show_hours(cell, value)); break;
  default: pai__buf_str(&p->out, pai__show_count(cell, value)); break;
  }
  pai__buf_str(&p->out, "</td>");
}

/* What somebody got of the own share, as a bar; the line in its middle is the
 * share. */
static void put_got(pai__html_page *p, const pai__group *g)
{
  int64_t part = pai__portion(g->used, 500, g->entitled);
  char cell[PAI__CELL];

  pai__buf_str(&p->out, "<td class=\"got\">");
  if (g->entitled > 0)
    pai__buf_printf(
      &p->out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
      "100 10\" role=\"img\" aria-label=\"%s\"><rect class=\"f0\" "
      "width=\"%d\" height=\"10\"/><path class=\"mark\" "
      "d=\"M50 0v10\"/></svg>",
      pai__show_percent(cell, part * 2000),
      part < 1000 ? (int)part / 10 : 100);
  pai__buf_str(&p->out, "</td>");
}

static void put_row(pai__html_page *p, int kind, const char *name)
{
  const pai__group *g = group_of(p, 0, kind, name);

  pai__buf_str(&p->out, "<tr><th scope=\"row\">");
  pai__html_text(p, name);
  pai__buf_str(&p->out, "</th>");
  for (size_t k = 0; p->n == 1 && k < PAI__LEN(columns); k++)
    if (columns[k].kinds >> kind & 1)
      put_cell(p, columns[k].how, g, columns[k].at);
  if (p->n == 1 && kind == PAI__USERS)
    put_got(p, g);
  for (size_t i = 0; p->n > 1 && i < p->n; i++) {
    g = group_of(p, i, kind, name);
    if (g != NULL)
      put_cell(p, TIME, g, offsetof(pai__group, wait_p90));
    else
      pai__buf_str(&p->out, "<td>-</td>");
  }
  pai__buf_str(&p->out, "</tr>\n");
}

static void put_table(pai__html_page *p, int kind, const pai__names *names)
{
  static const char *const titles[] = { "Virtual clusters", "GPUs of a job",
                                        "Users" };
  size_t most = kind == PAI__USERS ? MOST_USERS : SIZE_MAX;

  pai__html_begin(p, titles[kind],
                  p->n > 1             ? "Waiting, P90."
                  : kind == PAI__USERS ? "Those who used most."
                                       : "");
  pai__buf_str(&p->out, "<div class=\"wide\"><table><thead><tr><td></td>");
  for (size_t k = 0; p->n == 1 && k < PAI__LEN(columns); k++)
    if (columns[k].kinds >> kind & 1)
      pai__buf_printf(&p->out, "<th scope=\"col\">%s</th>", columns[k].title);
  if (p->n == 1 && kind == PAI__USERS)
    pai__buf_str(&p->out, "<th scope=\"col\">used of share</th>");
  for (size_t i = 0; p->n > 1 && i < p->n; i++) {
    pai__buf_str(&p->out, "<th scope=\"col\">");
    pai__html_text(p, pai__html_label(p, i));
    pai__buf_str(&p->out, "</th>");
  }
  pai__buf_str(&p->out, "</tr></thead><tbody>\n");
  for (size_t i = 0; i < names->count && i < most; i++)
    put_row(p, kind, names->list[i]);
  pai__buf_str(&p->out, "</tbody></table></div>\n");
  put_more(p, names->count, most);
  pai__html_end(p);
}

static int put_kind(pai__html_page *p, int kind)
{
  const pai_alloc *alloc = &p->reports[0]->alloc;
  pai__names names;
  int rc = kind == PAI__SIZES
             ? pai__names_collect(&names, alloc, p->reports, p->n, kind)
             : pai__names_by_use(&names, alloc, p->reports, p->n, kind);

  if (rc == PAI_OK && names.count > 0) {
    if (kind != PAI__USERS)
      put_waits(p, kind, &names);
    if (kind == PAI__VCS)
      put_ledger(p, &names);
    put_table(p, kind, &names);
  }
  pai__names_dispose(&names, alloc);
  return rc;
}

int pai__html_groups(pai__html_page *p)
{
  int rc = put_kind(p, PAI__VCS);

  if (rc == PAI_OK)
    rc = put_kind(p, PAI__SIZES);
  return rc == PAI_OK ? put_kind(p, PAI__USERS) : rc;
}
