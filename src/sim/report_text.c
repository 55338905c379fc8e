/*
 * report_text.c - reports as a page for a terminal of 80 columns
 *
 * Of one report all numbers; of several a column for each, with what the best
 * of them is and how far the others are from the first.
 */
#include "sim/report_text.h"

#include "resource/svg.h"

/* --- pieces ------------------------------------------------------------------ */

void pai__text_title(pai__text_page *p, const char *title)
{
  pai__buf_printf(&p->out, "\n%s\n", title);
}

void pai__text_name(pai__text_page *p, const char *name, size_t columns)
{
  size_t used = pai__put_name(&p->out, name, columns);

  pai__buf_printf(&p->out, "%*s", (int)(columns - used + 1), "");
}

void pai__text_cell(pai__text_page *p, const char *text, size_t columns)
{
  size_t used = pai__svg_columns(text);

  pai__buf_printf(&p->out, "%*s%s", used < columns ? (int)(columns - used) : 0,
                  "", text);
}

void pai__text_end(pai__text_page *p)
{
  while (!p->out.failed && p->out.len > 0 &&
         p->out.data[p->out.len - 1] == ' ')
    p->out.len--;
  pai__buf_char(&p->out, '\n');
}

const char *pai__text_label(pai__text_page *p, size_t i)
{
  pai__buf_clear(&p->label);
  pai__put_label(&p->label, p->reports, i);
  p->out.failed |= !pai__buf_ok(&p->label);
  return pai__buf_text(&p->label);
}

void pai__text_bar(pai__text_page *p, int64_t part, int64_t whole,
                   size_t columns)
{
  static const char *const ends[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
  size_t eighths = (size_t)pai__portion(part < whole ? part : whole,
                                        (int64_t)columns * 8, whole);

  if (part > 0 && eighths == 0)
    eighths = 1;
  for (size_t i = 0; i < eighths / 8; i++)
    pai__buf_str(&p->out, "█");
  pai__buf_str(&p->out, ends[eighths % 8]);
  pai__buf_printf(&p->out, "%*s",
                  (int)(columns - eighths / 8 - (eighths % 8 > 0)), "");
}

/* --- head --------------------------------------------------------------------- */

static void put_note(pai__text_page *p, uint64_t n, const char *what)
{
  char cell[PAI__CELL];

  if (n > 0)
    pai__buf_printf(
      &p->out, "%s %s\n",
      pai__show_count(cell, n < INT64_MAX ? (int64_t)n : INT64_MAX), what);
}

/* What was said to a policy. */
static void put_options(pai__text_page *p, size_t i)
{
  if (*p->reports[i]->options == '\0')
    return;
  (void)pai__put_name(&p->out, pai__text_label(p, i), 24);
  pai__buf_str(&p->out, " with ");
  (void)pai__put_name(&p->out, p->reports[i]->options, 48);
  pai__buf_char(&p->out, '\n');
}

/* What all reports have in common, which is of one trace on one cluster. */
static void put_head(pai__text_page *p)
{
  const pai_sim_report *r = p->reports[0];

  if (p->n == 1) {
    (void)pai__put_name(&p->out, r->view.policy, 78);
    pai__buf_char(&p->out, '\n');
  } else {
    pai__buf_printf(&p->out, "%zu simulations\n", p->n);
  }
  (void)pai__put_name(&p->out, r->trace, 24);
  pai__buf_str(&p->out, " trace on ");
  (void)pai__put_name(&p->out, r->cluster, 44);
  pai__buf_char(&p->out, '\n');
  pai__buf_printf(&p->out, "seed %llu\n", (unsigned long long)r->view.seed);
  for (size_t i = 0; i < p->n; i++)
    put_options(p, i);
  put_note(p, r->view.lines_skipped, "lines of the trace were skipped");
  put_note(p, r->view.mapped_vcs, "jobs came from no known virtual cluster");
  put_note(p, r->view.mapped_types, "jobs asked for no known type");
}

/* --- numbers of one report ----------------------------------------------------- */

enum { ROWS = 8, COLUMNS = 3 };

static const char *const grid[ROWS][COLUMNS] = {
  { "makespan_s", "jobs", "wait_mean_s" },
  { "utilization", "started", "wait_p50_s" },
  { "fragmentation", "finished", "wait_p90_s" },
  { "fairness", "failed", "wait_p99_s" },
  { "preemptions", "killed", "wait_max_s" },
  { "retries", "rejected", "slowdown_mean" },
  { "lost_gpu_s", "left", "slowdown_p50" },
  { NULL, NULL, "slowdown_p90" },
};

/* A number as it is, or shorter where it has no room. */
static void put_value(pai__text_page *p, const pai__figure *f, int64_t value,
                      size_t columns)
{
  char cell[PAI__CELL];
  const char *text = pai__show_figure(cell, f, value);

  if (f->kind == PAI__WORK)
    memcpy(cell + strlen(cell), " h", sizeof(" h"));
  if (pai__svg_columns(text) > columns && f->kind != PAI__TIME)
    text = pai__show_short(cell, f->kind == PAI__TIMES ? value / 1000 : value);
  pai__text_cell(p, text, columns);
}

static void put_figures(pai__text_page *p)
{
  static const size_t labels[COLUMNS] = { 14, 9, 15 };

  pai__buf_char(&p->out, '\n');
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t k = 0; k < COLUMNS; k++) {
      const pai__figure *f =
        grid[i][k] != NULL ? pai__figure_of(grid[i][k]) : NULL;

      pai__buf_str(&p->out, "  ");
      pai__text_name(p, f != NULL ? f->label : "", labels[k]);
      if (f != NULL)
        put_value(p, f, pai__figure_value(f, p->reports[0]), 11);
      else
        pai__text_cell(p, "", 11);
    }
    pai__text_end(p);
  }
}

/* --- numbers side by side ------------------------------------------------------- */

/* One block of columns: the first report, and two others. */
enum { BLOCK = 2, LABEL = 16, VALUE = 12, CHANGE = 9 };

static void put_compared(pai__text_page *p, const pai__figure *f, size_t i)
{
  int64_t first = pai__figure_value(f, p->reports[0]);
  int64_t value = pai__figure_value(f, p->reports[i]);
  char cell[PAI__CELL];

  put_value(p, f, value, VALUE);
  pai__buf_char(&p->out, pai__is_best(f, p->reports, p->n, i) ? '*' : ' ');
  if (i > 0)
    pai__text_cell(p, pai__show_change(cell, value, first), CHANGE);
}

/* A name over its column, its end over those of the values. */
static void put_over(pai__text_page *p, size_t i, size_t columns)
{
  const char *name = pai__text_label(p, i);
  size_t wide = pai__svg_columns(name);

  pai__buf_printf(&p->out, "%*s", wide < columns ? (int)(columns - wide) : 0,
                  "");
  (void)pai__put_name(&p->out, name, columns);
}

static void put_block(pai__text_page *p, size_t from)
{
  size_t to = from + BLOCK < p->n ? from + BLOCK : p->n;

  pai__buf_printf(&p->out, "\n%*s", LABEL + 3, "");
  put_over(p, 0, VALUE);
  for (size_t i = from; i < to; i++) {
    pai__buf_printf(&p->out, "%*s", 2 + (i > from ? CHANGE : 0), "");
    put_over(p, i, VALUE - 1);
  }
  pai__text_end(p);
  for (size_t k = 0; pai__figure_at(k) != NULL; k++) {
    const pai__figure *f = pai__figure_at(k);

    pai__buf_str(&p->out, "  ");
    pai__text_name(p, f->label, LABEL);
    put_compared(p, f, 0);
    for (size_t i = from; i < to; i++)
      put_compared(p, f, i);
    pai__text_end(p);
  }
}

static void put_comparison(pai__text_page *p)
{
  for (size_t from = 1; from < p->n; from += BLOCK)
    put_block(p, from);
  pai__buf_str(&p->out, "\n  * the best of all; changes are from ");
  (void)pai__put_name(&p->out, pai__text_label(p, 0), 40);
  pai__buf_char(&p->out, '\n');
}

/* --- the call -------------------------------------------------------------------- */

int pai__report_text(const pai_sim_report *const *reports, size_t n,
                     pai_write_cb write, void *user_data, pai_error **err)
{
  pai__text_page p = { .reports = reports, .n = n };
  int rc;

  pai__buf_init(&p.out, &reports[0]->alloc);
  pai__buf_init(&p.label, &reports[0]->alloc);
  put_head(&p);
  if (n == 1)
    put_figures(&p);
  else
    put_comparison(&p);
  pai__text_time(&p);
  rc = pai__text_tables(&p);
  pai__buf_dispose(&p.label);
  return pai__page_write(&p.out, rc, write, user_data, err);
}
