/* report_text_time.c - what happened over time, as lines of eight heights */
#include "sim/report_text.h"

#include "resource/svg.h"

enum { LABEL = 13, STEPS = 48, TICKS = 5 };

static const char *const heights[] = { " ", "▁", "▂", "▃", "▄",
                                       "▅", "▆", "▇", "█" };

/* A step of the line, in time. */
static pai_time step_at(const pai__text_page *p, size_t i)
{
  return pai__portion(pai__longest(p->reports, p->n), (int64_t)i, STEPS);
}

static int64_t level_at(const pai__text_page *p, const pai_sim_report *r,
                        int what, size_t i)
{
  pai_time from = step_at(p, i), to = step_at(p, i + 1);

  return pai__level(r, what, from, to > from ? to : from + 1);
}

static int64_t highest(const pai__text_page *p, const pai_sim_report *r,
                       int what)
{
  int64_t most = 0;

  for (size_t i = 0; i < STEPS; i++)
    if (level_at(p, r, what, i) > most)
      most = level_at(p, r, what, i);
  return most;
}

/* Where a report ends before others do, a thin line stands. */
static void put_line(pai__text_page *p, const pai_sim_report *r, int what,
                     int64_t full)
{
  bool over = false;

  for (size_t i = 0; i < STEPS; i++) {
    int64_t level = level_at(p, r, what, i);
    int64_t height = level > 0 ? pai__portion(level, 8, full) : 0;

    height = height > 8 ? 8 : level > 0 && height == 0 ? 1 : height;
    pai__buf_str(&p->out, level < 0 && !over ? "▏" : heights[height]);
    over = over || level < 0;
  }
}

/* What the greatest value is; of parts of all, the mean over the time. */
static void put_remark(pai__text_page *p, const pai_sim_report *r, int what,
                       int64_t full)
{
  int64_t level = highest(p, r, what);
  char cell[PAI__CELL];

  if (what <= PAI__DOWN) {
    level = pai__level(r, what, 0, r->span);
    pai__text_cell(
      p, pai__show_percent(cell, pai__portion(level, 1000000, full)), 8);
    pai__buf_str(&p->out, " mean");
  } else {
    pai__text_cell(p, pai__show_short(cell, (level + 999) / 1000), 8);
    pai__buf_str(&p->out, " at most");
  }
}

/* The value of a full height: of what is in use, all that there is; small
 * parts are drawn as high as there is room. */
static int64_t full_of(const pai__text_page *p, int what, bool drawn)
{
  int64_t full = 0;

  for (size_t i = 0; i < p->n; i++) {
    const pai_sim_report *r = p->reports[i];
    int64_t all = pai__capacity(r);
    bool all_of = what == PAI__BUSY || (what <= PAI__DOWN && !drawn);
    int64_t most = !all_of                  ? highest(p, r, what)
                   : all < INT64_MAX / 1000 ? all * 1000
                                            : INT64_MAX;

    full = most > full ? most : full;
  }
  return full;
}

static void put_series(pai__text_page *p, const char *name, int what)
{
  int64_t full = full_of(p, what, false);
  int64_t height = full_of(p, what, true);

  if (p->n > 1)
    pai__buf_printf(&p->out, "  %s\n", name);
  for (size_t i = 0; i < p->n; i++) {
    pai__buf_str(&p->out, "  ");
    pai__text_name(p, p->n > 1 ? pai__text_label(p, i) : name, LABEL);
    put_line(p, p->reports[i], what, height);
    put_remark(p, p->reports[i], what, full);
    pai__text_end(p);
  }
}

/* Round times below their steps. */
static void put_axis(pai__text_page *p)
{
  pai_time span = pai__longest(p->reports, p->n);
  pai_time step = pai__tick_time(span, TICKS);
  size_t column = 0;
  char cell[PAI__CELL];

  pai__buf_printf(&p->out, "%*s", LABEL + 3, "");
  for (pai_time at = 0; at <= span - step / 8; at += step) {
    size_t wanted = (size_t)pai__portion(at, STEPS, span);

    if (wanted < column || at > INT64_MAX - step)
      break;
    pai__buf_printf(&p->out, "%*s╵", (int)(wanted - column), "");
    pai__buf_str(&p->out, pai__show_time(cell, at));
    column = wanted + 1 + pai__svg_columns(cell);
  }
  pai__text_end(p);
}

static bool is_ever(const pai__text_page *p, int what)
{
  for (size_t i = 0; i < p->n; i++)
    if (highest(p, p->reports[i], what) > 0)
      return true;
  return false;
}

void pai__text_time(pai__text_page *p)
{
  bool cpus = *pai__unit(p->reports[0]) == 'C';

  if (pai__longest(p->reports, p->n) == 0)
    return;
  pai__text_title(p, "Over time");
  put_series(p, cpus ? "CPUs in use" : "GPUs in use", PAI__BUSY);
  if (is_ever(p, PAI__FRAGMENTED))
    put_series(p, "fragmented", PAI__FRAGMENTED);
  if (is_ever(p, PAI__DOWN))
    put_series(p, "down", PAI__DOWN);
  put_series(p, "jobs waiting", PAI__WAITING);
  put_series(p, cpus ? "CPUs wanted" : "GPUs wanted", PAI__WANTED);
  put_axis(p);
}
