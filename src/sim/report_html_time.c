/* report_html_time.c - what happened over time, as areas and lines */
#include "sim/report_html.h"

#include "resource/svg.h"

#include <stdio.h>

enum { LEFT = 640, HEIGHT = 2000, STRIPS = 128, MEANS = 96 };

static const char *show_level(char out[PAI__CELL], int64_t thousandths)
{
  return pai__show_count(out, thousandths / 1000);
}

/* --- one bin ------------------------------------------------------------------- */

/* What is drawn of a bin: thousandths, or millionths of all for what the
 * cluster has. */
static int64_t value_of(const pai_sim_report *r, int what, pai_time from,
                        pai_time to)
{
  int64_t level = pai__level(r, what, from, to);

  if (what > PAI__DOWN || level < 0)
    return level;
  return pai__portion(level, 1000, pai__capacity(r));
}

static int64_t bin_value(const pai_sim_report *r, int what, size_t i)
{
  pai_time from = (pai_time)i * r->bin;

  return value_of(r, what, from, from + pai__bin_length(r, i));
}

static int64_t highest(const pai__html_page *p, int what)
{
  int64_t most = 0;

  for (size_t k = 0; k < p->n; k++)
    for (size_t i = 0; i < p->reports[k]->nbins; i++)
      if (bin_value(p->reports[k], what, i) > most)
        most = bin_value(p->reports[k], what, i);
  return most;
}

/* --- lines and areas -------------------------------------------------------------- */

/* What stands on what: the sum of the first `count` amounts of a list. */
static int64_t stacked(const pai_sim_report *r, const int *whats, size_t count,
                       size_t i)
{
  int64_t sum = 0;

  for (size_t k = 0; k < count; k++)
    sum += bin_value(r, whats[k], i);
  return sum;
}

/* Steps from the left to the right, and where wanted back again below. */
static void put_steps(pai__chart *c, const pai_sim_report *r, const int *whats,
                      size_t count, bool back)
{
  int last = -1;

  for (size_t i = 0; i < r->nbins; i++) {
    pai_time from = (pai_time)i * r->bin;
    int y = pai__chart_y(c, stacked(r, whats, count, i));

    if (i == 0) {
      pai__chart_length(c, "M", pai__chart_x(c, from));
      pai__chart_length(c, " ", y);
    } else if (y != last) {
      pai__chart_length(c, "V", y);
    }
    if (i + 1 < r->nbins &&
        stacked(r, whats, count, i + 1) == stacked(r, whats, count, i)) {
      last = y;
      continue;
    }
    pai__chart_length(c, "H", pai__chart_x(c, from + pai__bin_length(r, i)));
    last = y;
  }
  for (size_t i = r->nbins; back && i-- > 0;) {
    int y = pai__chart_y(c, stacked(r, whats, count - 1, i));

    if (y != last)
      pai__chart_length(c, "V", y);
    pai__chart_length(c, "H", pai__chart_x(c, (pai_time)i * r->bin));
    last = y;
  }
  if (back)
    pai__buf_char(c->out, 'Z');
}

static void put_path(pai__chart *c, const char *class, const pai_sim_report *r,
                     const int *whats, size_t count, bool area)
{
  if (r->nbins == 0)
    return;
  pai__buf_printf(c->out, "<path class=\"%s\" d=\"", class);
  put_steps(c, r, whats, count, area);
  pai__buf_str(c->out, "\"/>\n");
}

/* Of several reports: lines from mean to mean, which are calmer. */
static void put_means(pai__chart *c, const pai_sim_report *r, int what)
{
  char letter = 'M';

  for (int64_t i = 0; i < MEANS; i++) {
    pai_time from = pai__portion(c->x_end, i, MEANS);
    pai_time to = pai__portion(c->x_end, i + 1, MEANS);
    int64_t value = value_of(r, what, from, to > from ? to : from + 1);

    if (value < 0)
      continue;
    pai__buf_char(c->out, letter);
    pai__chart_length(c, "", pai__chart_x(c, from + (to - from) / 2));
    pai__chart_length(c, " ", pai__chart_y(c, value));
    letter = 'L';
  }
}

static void put_lines(pai__html_page *p, pai__chart *c, int what)
{
  if (p->n == 1) {
    put_path(c, "l l0", p->reports[0], &what, 1, false);
    return;
  }
  for (size_t i = 0; i < p->n; i++) {
    if (p->reports[i]->nbins == 0)
      continue;
    pai__buf_printf(c->out, "<path class=\"l l%u d%u\" d=\"",
                    (unsigned)(i % (PAI__HUES - 1)), (unsigned)(i % 4));
    put_means(c, p->reports[i], what);
    pai__buf_str(c->out, "\"/>\n");
  }
}

/* --- hints ------------------------------------------------------------------------ */

static void put_value(pai__chart *c, int what, int64_t value, const char *noun)
{
  char cell[PAI__CELL];

  if (value < 0)
    pai__buf_str(c->out, "over");
  else if (what <= PAI__DOWN)
    pai__buf_str(c->out, pai__show_percent(cell, value));
  else
    pai__buf_str(c->out, pai__show_times(cell, value));
  pai__buf_printf(c->out, "%s%s", *noun != '\0' ? " " : "", noun);
}

static void put_hint(pai__html_page *p, pai__chart *c, int what,
                     const char *noun, pai_time from, pai_time to)
{
  const pai_sim_report *r = p->reports[0];
  char cell[PAI__CELL];

  pai__buf_printf(c->out, "%s: ", pai__show_time(cell, from));
  if (p->n == 1 && what == PAI__BUSY) {
    put_value(c, what, value_of(r, what, from, to), "in use, ");
    put_value(c, what, value_of(r, PAI__FRAGMENTED, from, to), "fragmented, ");
    put_value(c, what, value_of(r, PAI__DOWN, from, to), "down");
    return;
  }
  for (size_t i = 0; i < p->n; i++) {
    if (p->n > 1) {
      pai__buf_char(c->out, '\n');
      pai__svg_escape(c->out, pai__html_label(p, i), 60);
      pai__buf_char(c->out, ' ');
    }
    put_value(c, what, value_of(p->reports[i], what, from, to), noun);
  }
}

/* Upright strips that tell their values where a pointer rests. */
static void put_strips(pai__html_page *p, pai__chart *c, int what,
                       const char *noun)
{
  for (size_t i = 0; i < STRIPS; i++) {
    pai_time from = pai__portion(c->x_end, (int64_t)i, STRIPS);
    pai_time to = pai__portion(c->x_end, (int64_t)i + 1, STRIPS);
    int x = pai__chart_x(c, from);

    if (to <= from)
      continue;
    pai__chart_rect(c, "s", x, c->top, pai__chart_x(c, to) - x,
                    c->bottom - c->top);
    pai__chart_hint(c);
    put_hint(p, c, what, noun, from, to);
    pai__chart_hint_end(c, "rect");
  }
}

/* --- charts ------------------------------------------------------------------------ */

static void put_keys(pai__html_page *p)
{
  if (p->n == 1)
    return;
  pai__html_begin_keys(p);
  for (size_t i = 0; i < p->n; i++)
    pai__html_key_line(p, i, pai__html_label(p, i));
  pai__html_end_keys(p);
}

/* What is used, and on it what is fragmented; what is down hangs from above. */
static void put_stack(pai__html_page *p, pai__chart *c)
{
  static const int whats[] = { PAI__BUSY, PAI__FRAGMENTED };
  static const int hung[] = { PAI__UP, PAI__DOWN };

  put_path(c, "f0", p->reports[0], whats, 1, true);
  put_path(c, "f1", p->reports[0], whats, 2, true);
  put_path(c, "down", p->reports[0], hung, 2, true);
}

static void put_use(pai__html_page *p)
{
  const char *unit = pai__unit(p->reports[0]);
  char title[64];
  pai__chart c;

  (void)snprintf(title, sizeof(title), "%ss in use", unit);
  pai__html_begin(p, title, "Of all, over time.");
  if (p->n == 1) {
    pai__html_begin_keys(p);
    pai__html_key_area(p, "f0", "in use");
    pai__html_key_area(p, "f1",
                       "fragmented: free, but of no use for whole-node tasks");
    pai__html_key_area(p, "down", "of nodes that are down");
    pai__html_end_keys(p);
  }
  put_keys(p);
  pai__chart_begin(&c, &p->out, title, LEFT, HEIGHT);
  pai__chart_y_value(&c, 1000000, 200000, pai__show_round_percent);
  pai__chart_x_time(&c, pai__longest(p->reports, p->n));
  if (p->n == 1)
    put_stack(p, &c);
  else
    put_lines(p, &c, PAI__BUSY);
  put_strips(p, &c, PAI__BUSY, "");
  pai__chart_end(&c);
  pai__html_end(p);
}

static void put_queue(pai__html_page *p, int what, const char *title,
                      const char *hint, const char *noun)
{
  pai__chart c;

  pai__html_begin(p, title, hint);
  put_keys(p);
  pai__chart_begin(&c, &p->out, title, LEFT, HEIGHT * 3 / 4);
  pai__chart_y_value(&c, highest(p, what), 1000, show_level);
  pai__chart_x_time(&c, pai__longest(p->reports, p->n));
  if (p->n == 1)
    put_path(&c, "f0 soft", p->reports[0], &what, 1, true);
  put_lines(p, &c, what);
  put_strips(p, &c, what, noun);
  pai__chart_end(&c);
  pai__html_end(p);
}

void pai__html_time(pai__html_page *p)
{
  bool cpus = *pai__unit(p->reports[0]) == 'C';

  if (pai__longest(p->reports, p->n) == 0)
    return;
  put_use(p);
  put_queue(p, PAI__WAITING, "Queue", "Jobs that wait, over time.", "jobs");
  put_queue(p, PAI__WANTED, "Backlog",
            cpus ? "CPUs that waiting jobs ask for, over time."
                 : "GPUs that waiting jobs ask for, over time.",
            cpus ? "CPUs" : "GPUs");
}
