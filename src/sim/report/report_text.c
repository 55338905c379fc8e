/*
 * report_text.c - writes reports as text for a terminal of 80 columns
 *
 * One report is written with all its numbers.  Several reports get a column
 * each, with marks for the best values and changes from the first report.
 */
#include "sim/report/pages.h"

#include "resource/svg.h"

typedef struct page {
  const pai_sim_report *const *reports;
  size_t n;
  pai__buf out, label; /* label: scratch buffer */
} page;

/* Writes a title after an empty line. */
static void put_title(page *p, const char *title)
{
  pai__buf_printf(&p->out, "\n%s\n", title);
}

/* Writes a name on the left of `columns` columns, and a space. */
static void put_name(page *p, const char *name, size_t columns)
{
  size_t used = pai__put_name(&p->out, name, columns);

  pai__buf_printf(&p->out, "%*s", (int)(columns - used + 1), "");
}

/* Writes a text on the right of `columns` columns. */
static void put_cell(page *p, const char *text, size_t columns)
{
  size_t used = pai__svg_columns(text);

  pai__buf_printf(&p->out, "%*s%s", used < columns ? (int)(columns - used) : 0,
                  "", text);
}

/* Ends a line and removes trailing spaces. */
static void put_end(page *p)
{
  while (!p->out.failed && p->out.len > 0 &&
         p->out.data[p->out.len - 1] == ' ')
    p->out.len--;
  pai__buf_char(&p->out, '\n');
}

/* Returns the label of a report. */
static const char *label_of(page *p, size_t i)
{
  pai__buf_clear(&p->label);
  pai__put_label(&p->label, p->reports, i);
  p->out.failed |= !pai__buf_ok(&p->label);
  return pai__buf_text(&p->label);
}

/* Draws a part of a whole as a bar of `columns` columns. */
static void put_bar(page *p, int64_t part, int64_t whole, size_t columns)
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

/* Begins a row with its name. */
static void begin_row(page *p, const char *name, size_t columns)
{
  pai__buf_str(&p->out, "  ");
  put_name(p, name, columns);
}

/* Writes the label of a report on the right, above its values. */
static void put_over(page *p, size_t i, size_t columns)
{
  const char *name = label_of(p, i);
  size_t wide = pai__svg_columns(name);

  pai__buf_printf(&p->out, "%*s", wide < columns ? (int)(columns - wide) : 0,
                  "");
  (void)pai__put_name(&p->out, name, columns);
}

static void put_note(page *p, uint64_t n, const char *what)
{
  char cell[PAI__CELL];

  if (n > 0)
    pai__buf_printf(
      &p->out, "%s %s\n",
      pai__show_count(cell, n < INT64_MAX ? (int64_t)n : INT64_MAX), what);
}

/* Writes the options of a policy. */
static void put_options(page *p, size_t i)
{
  if (*p->reports[i]->options == '\0')
    return;
  (void)pai__put_name(&p->out, label_of(p, i), 24);
  pai__buf_str(&p->out, " with ");
  (void)pai__put_name(&p->out, p->reports[i]->options, 48);
  pai__buf_char(&p->out, '\n');
}

/* Writes what all reports share: they are of one trace on one cluster. */
static void put_head(page *p)
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
  put_note(p, r->view.mapped_vcs, "jobs named an unknown virtual cluster");
  put_note(p, r->view.mapped_types, "jobs asked for an unknown type of GPU");
}

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

/* Writes a value, in a shorter form if it is too wide. */
static void put_value(page *p, const pai__sim_member *f, int64_t value,
                      size_t columns)
{
  char cell[PAI__CELL];
  const char *text = pai__show_member(cell, f, value);

  if (f->kind == PAI__WORK)
    memcpy(cell + strlen(cell), " h", sizeof(" h"));
  if (pai__svg_columns(text) > columns && f->kind != PAI__TIME)
    text = pai__show_short(cell, f->kind == PAI__TIMES ? value / 1000 : value);
  put_cell(p, text, columns);
}

static void put_metrics(page *p)
{
  static const size_t labels[COLUMNS] = { 14, 9, 15 };

  pai__buf_char(&p->out, '\n');
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t k = 0; k < COLUMNS; k++) {
      const pai__sim_member *f =
        grid[i][k] != NULL ? pai__member_of(pai__report_members, grid[i][k])
                           : NULL;

      begin_row(p, f != NULL ? f->label : "", labels[k]);
      if (f != NULL)
        put_value(p, f, pai__member_get(f, p->reports[0]), 11);
      else
        put_cell(p, "", 11);
    }
    put_end(p);
  }
}

/* A block of columns has the first report and two others. */
enum { BLOCK = 2, LABEL = 16, VALUE = 12, CHANGE = 9 };

static void put_compared(page *p, const pai__sim_member *f, size_t i)
{
  int64_t first = pai__member_get(f, p->reports[0]);
  int64_t value = pai__member_get(f, p->reports[i]);
  char cell[PAI__CELL];

  put_value(p, f, value, VALUE);
  pai__buf_char(&p->out, pai__is_best(f, p->reports, p->n, i) ? '*' : ' ');
  if (i > 0)
    put_cell(p, pai__show_change(cell, value, first), CHANGE);
}

static void put_block(page *p, size_t from)
{
  size_t to = from + BLOCK < p->n ? from + BLOCK : p->n;

  pai__buf_printf(&p->out, "\n%*s", LABEL + 3, "");
  put_over(p, 0, VALUE);
  for (size_t i = from; i < to; i++) {
    pai__buf_printf(&p->out, "%*s", 2 + (i > from ? CHANGE : 0), "");
    put_over(p, i, VALUE - 1);
  }
  put_end(p);
  for (const pai__sim_member *f = pai__report_members; f->key != NULL; f++) {
    if (f->label == NULL)
      continue;
    begin_row(p, f->label, LABEL);
    put_compared(p, f, 0);
    for (size_t i = from; i < to; i++)
      put_compared(p, f, i);
    put_end(p);
  }
}

static void put_comparison(page *p)
{
  for (size_t from = 1; from < p->n; from += BLOCK)
    put_block(p, from);
  pai__buf_str(&p->out, "\n  * the best value; changes are relative to ");
  (void)pai__put_name(&p->out, label_of(p, 0), 40);
  pai__buf_char(&p->out, '\n');
}

/* --- charts over time, with eight heights -------------------------------- */

enum { SERIES_LABEL = 13, STEPS = 48, TICKS = 5 };

static const char *const heights[] = { " ", "▁", "▂", "▃", "▄",
                                       "▅", "▆", "▇", "█" };

/* Returns the time at a step of the line. */
static pai_time step_at(const page *p, size_t i)
{
  return pai__portion(pai__longest(p->reports, p->n), (int64_t)i, STEPS);
}

static int64_t level_at(const page *p, const pai_sim_report *r, int what,
                        size_t i)
{
  pai_time from = step_at(p, i), to = step_at(p, i + 1);

  return pai__level(r, what, from, to > from ? to : from + 1);
}

static int64_t highest(const page *p, const pai_sim_report *r, int what)
{
  int64_t most = 0;

  for (size_t i = 0; i < STEPS; i++)
    if (level_at(p, r, what, i) > most)
      most = level_at(p, r, what, i);
  return most;
}

/* A thin line marks the end of a report that ends before others. */
static void put_line(page *p, const pai_sim_report *r, int what, int64_t full)
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

/* Writes the mean for amounts that are a part of all GPUs, else the greatest
 * value. */
static void put_remark(page *p, const pai_sim_report *r, int what,
                       int64_t full)
{
  int64_t level = highest(p, r, what);
  char cell[PAI__CELL];

  if (what <= PAI__DOWN) {
    level = pai__level(r, what, 0, r->span);
    put_cell(p, pai__show_percent(cell, pai__portion(level, 1000000, full)),
             8);
    pai__buf_str(&p->out, " mean");
  } else {
    put_cell(p, pai__show_short(cell, (level + 999) / 1000), 8);
    pai__buf_str(&p->out, " at most");
  }
}

/* Returns the value of a full height: the capacity for what is in use, and for
 * other parts of it unless `drawn`; else the greatest value. */
static int64_t full_of(const page *p, int what, bool drawn)
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

static void put_series(page *p, const char *name, int what)
{
  int64_t full = full_of(p, what, false);
  int64_t height = full_of(p, what, true);

  if (p->n > 1)
    pai__buf_printf(&p->out, "  %s\n", name);
  for (size_t i = 0; i < p->n; i++) {
    begin_row(p, p->n > 1 ? label_of(p, i) : name, SERIES_LABEL);
    put_line(p, p->reports[i], what, height);
    put_remark(p, p->reports[i], what, full);
    put_end(p);
  }
}

/* Writes round times below their steps. */
static void put_axis(page *p)
{
  pai_time span = pai__longest(p->reports, p->n);
  pai_time step = pai__tick_time(span, TICKS);
  size_t column = 0;
  char cell[PAI__CELL];

  pai__buf_printf(&p->out, "%*s", SERIES_LABEL + 3, "");
  for (pai_time at = 0; at <= span - step / 8; at += step) {
    size_t wanted = (size_t)pai__portion(at, STEPS, span);

    if (wanted < column || at > INT64_MAX - step)
      break;
    pai__buf_printf(&p->out, "%*s╵", (int)(wanted - column), "");
    pai__buf_str(&p->out, pai__show_time(cell, at));
    column = wanted + 1 + pai__svg_columns(cell);
  }
  put_end(p);
}

static bool is_ever(const page *p, int what)
{
  for (size_t i = 0; i < p->n; i++)
    if (highest(p, p->reports[i], what) > 0)
      return true;
  return false;
}

static void put_time(page *p)
{
  bool cpus = *pai__unit(p->reports[0]) == 'C';

  if (pai__longest(p->reports, p->n) == 0)
    return;
  put_title(p, "Over time");
  put_series(p, cpus ? "CPUs in use" : "GPUs in use", PAI__BUSY);
  if (is_ever(p, PAI__FRAGMENTED))
    put_series(p, "fragmented", PAI__FRAGMENTED);
  if (is_ever(p, PAI__DOWN))
    put_series(p, "down", PAI__DOWN);
  put_series(p, "jobs waiting", PAI__WAITING);
  put_series(p, cpus ? "CPUs wanted" : "GPUs wanted", PAI__WANTED);
  put_axis(p);
}

/* --- waits; by virtual cluster, size and user ---------------------------- */

enum { NAME = 15, MOST_USERS = 10, PER_BLOCK = 5, WIDE = 12 };

typedef struct column {
  const char *title;
  const char *key; /* of the group's member; NULL ends the list */
  size_t width;
} column;

#define ALL_HAVE                                           \
  { "jobs", "jobs", 6 }, { "wait P50", "wait_p50_s", 12 }, \
  {                                                        \
    "P90", "wait_p90_s", 12                                \
  }

static const struct {
  const char *title;
  column columns[8];
} tables[] = {
  { "virtual cluster",
    { ALL_HAVE,
      { "used", "used_gpu_s", 8 },
      { "share", "entitled_gpu_s", 8 },
      { "lent", "lent_gpu_s", 7 },
      { "borrowed", "borrowed_gpu_s", 9 } } },
  { "GPUs of a job",
    { ALL_HAVE,
      { "longest", "wait_max_s", 12 },
      { "slowdown", "slowdown_p50", 10 },
      { "used", "used_gpu_s", 8 } } },
  { "user",
    { ALL_HAVE,
      { "used", "used_gpu_s", 8 },
      { "share", "entitled_gpu_s", 8 },
      { "lost", "lost_gpu_s", 9 } } },
};

static void put_column(page *p, const column *c, const pai__sim_group *g)
{
  const pai__sim_member *m = pai__member_of(pai__group_members, c->key);
  int64_t value = pai__member_get(m, g);
  char cell[PAI__CELL];

  if (m->kind == PAI__COUNT)
    put_cell(p, pai__show_short(cell, value), c->width);
  else if (m->kind == PAI__TIMES && value >= 100000000)
    put_cell(p, pai__show_short(cell, value / 1000), c->width);
  else
    put_cell(p, pai__show_member(cell, m, value), c->width);
}

static bool uses_more(const pai__sim_group *x, const pai__sim_group *y)
{
  return x->used != y->used ? x->used > y->used : strcmp(x->name, y->name) < 0;
}

/* Returns the group in row i, behind that of `last`; users are sorted by use,
 * the greatest first. */
static const pai__sim_group *row_of(const pai__groups *g, int kind, size_t i,
                                    const pai__sim_group *last)
{
  const pai__sim_group *next = NULL;

  if (kind != PAI__BY_USER)
    return &g->list[i];
  for (size_t k = 0; k < g->count; k++)
    if ((last == NULL || uses_more(last, &g->list[k])) &&
        (next == NULL || uses_more(&g->list[k], next)))
      next = &g->list[k];
  return next;
}

static void put_table(page *p, int kind)
{
  const pai__groups *g = &p->reports[0]->groups[kind];
  size_t most = kind == PAI__BY_USER ? MOST_USERS : SIZE_MAX;
  const pai__sim_group *row = NULL;
  char cell[PAI__CELL];

  if (g->count == 0)
    return;
  pai__buf_char(&p->out, '\n');
  begin_row(p, tables[kind].title, NAME);
  for (const column *c = tables[kind].columns; c->key != NULL; c++)
    put_cell(p, c->title, c->width);
  put_end(p);
  for (size_t i = 0; i < g->count && i < most; i++) {
    row = row_of(g, kind, i, row);
    if (row == NULL)
      break;
    begin_row(p, row->name, NAME);
    for (const column *c = tables[kind].columns; c->key != NULL; c++)
      put_column(p, c, row);
    put_end(p);
  }
  if (g->count > most)
    pai__buf_printf(&p->out, "  and %s more\n",
                    pai__show_count(cell, (int64_t)(g->count - most)));
}

static void put_waits(page *p)
{
  const pai__spread *s = &p->reports[0]->waits;
  char cell[PAI__CELL];

  if (s->count == 0)
    return;
  put_title(p, "Waiting, of the jobs that started");
  for (size_t i = 0; i < PAI__CLASSES; i++) {
    int share = pai__class_share(s, i);

    begin_row(p, pai__class_name(i), 13);
    put_bar(p, share, 1000, 48);
    put_cell(p, pai__show_percent(cell, share * 1000), 9);
    put_end(p);
  }
}

/* Writes the labels of the reports of a block, which begins with report
 * `from`.  Returns the report behind the block. */
static size_t put_labels(page *p, const char *title, size_t from)
{
  size_t to = from + PER_BLOCK < p->n ? from + PER_BLOCK : p->n;

  pai__buf_char(&p->out, '\n');
  begin_row(p, title, NAME);
  for (size_t i = from; i < to; i++) {
    pai__buf_char(&p->out, ' ');
    put_over(p, i, WIDE - 1);
  }
  put_end(p);
  return to;
}

static void put_waits_compared(page *p, size_t from)
{
  size_t to = put_labels(p, "waited", from);
  char cell[PAI__CELL];

  for (size_t k = 0; k < PAI__CLASSES; k++) {
    begin_row(p, pai__class_name(k), NAME);
    for (size_t i = from; i < to; i++) {
      int share = pai__class_share(&p->reports[i]->waits, k);

      put_cell(p, pai__show_percent(cell, share * 1000), WIDE);
    }
    put_end(p);
  }
}

/* Writes the groups of the first report in its order, then those that later
 * reports add. */
static void put_block_of(page *p, int kind, size_t from)
{
  size_t to = put_labels(p, tables[kind].title, from);
  char cell[PAI__CELL];

  for (size_t k = 0; k < p->n; k++) {
    const pai__groups *all = &p->reports[k]->groups[kind];

    for (size_t j = 0; j < all->count; j++) {
      const char *name = all->list[j].name;

      if (pai__group_before(p->reports, k, kind, name))
        continue;
      begin_row(p, name, NAME);
      for (size_t i = from; i < to; i++) {
        const pai__sim_group *g =
          pai__group_named(&p->reports[i]->groups[kind], name);

        put_cell(p, g != NULL ? pai__show_time(cell, g->wait_p90) : "-", WIDE);
      }
      put_end(p);
    }
  }
}

static void put_table_compared(page *p, int kind)
{
  bool any = false;

  for (size_t i = 0; i < p->n; i++)
    any = any || p->reports[i]->groups[kind].count > 0;
  for (size_t i = 0; any && i < p->n; i += PER_BLOCK)
    put_block_of(p, kind, i);
}

static void put_all_compared(page *p)
{
  put_title(p, "Waiting, of the jobs that started");
  for (size_t i = 0; i < p->n; i += PER_BLOCK)
    put_waits_compared(p, i);
  put_title(p, "Waiting, P90, by groups");
  put_table_compared(p, PAI__BY_VC);
  put_table_compared(p, PAI__BY_SIZE);
}

static void put_all(page *p)
{
  put_waits(p);
  for (int kind = 0; kind < PAI__GROUPINGS; kind++)
    put_table(p, kind);
  if (p->reports[0]->groups[PAI__BY_USER].count > 0)
    pai__buf_printf(&p->out,
                    "\n  used, share, lent, borrowed, lost: hours of %ss\n",
                    pai__unit(p->reports[0]));
}

/* --- entry point --------------------------------------------------------- */

int pai__report_text(const pai_sim_report *const *reports, size_t n,
                     pai_write_cb write, void *user_data, pai_error **err)
{
  page p = { .reports = reports, .n = n };

  pai__buf_init(&p.out, &reports[0]->alloc);
  pai__buf_init(&p.label, &reports[0]->alloc);
  put_head(&p);
  (n == 1 ? put_metrics : put_comparison)(&p);
  put_time(&p);
  (n == 1 ? put_all : put_all_compared)(&p);
  pai__buf_dispose(&p.label);
  return pai__text_write(&p.out, PAI_OK, write, user_data, err);
}
