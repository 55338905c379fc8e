/* report_text_tables.c - waits; by virtual cluster, size and user */
#include "sim/report_text.h"

#include "resource/svg.h"

enum { NAME = 15, MOST_USERS = 10, PER_BLOCK = 5, WIDE = 12 };

/* What a column shows of a group. */
typedef enum shown { COUNT, TIME, TIMES, WORK } shown;

typedef struct column {
  const char *title;
  shown shown;
  size_t width, at;
} column;

#define COLUMN(title, shown, width, field)           \
  {                                                  \
    title, shown, width, offsetof(pai__group, field) \
  }

static const column by_vc[] = {
  COLUMN("jobs", COUNT, 6, jobs),
  COLUMN("wait P50", TIME, 12, wait_p50),
  COLUMN("P90", TIME, 12, wait_p90),
  COLUMN("used", WORK, 8, used),
  COLUMN("share", WORK, 8, entitled),
  COLUMN("lent", WORK, 7, lent),
  COLUMN("borrowed", WORK, 9, borrowed),
};
static const column by_size[] = {
  COLUMN("jobs", COUNT, 6, jobs),
  COLUMN("wait P50", TIME, 12, wait_p50),
  COLUMN("P90", TIME, 12, wait_p90),
  COLUMN("longest", TIME, 12, wait_max),
  COLUMN("slowdown", TIMES, 10, slowdown_p50),
  COLUMN("used", WORK, 8, used),
};
static const column by_user[] = {
  COLUMN("jobs", COUNT, 6, jobs),     COLUMN("wait P50", TIME, 12, wait_p50),
  COLUMN("P90", TIME, 12, wait_p90),  COLUMN("used", WORK, 8, used),
  COLUMN("share", WORK, 8, entitled), COLUMN("in vain", WORK, 9, lost),
};

/* --- one report ---------------------------------------------------------------- */

static void put_column(pai__text_page *p, const column *c, const pai__group *g)
{
  const char *text;
  char cell[PAI__CELL];
  int64_t value;

  memcpy(&value, (const char *)g + c->at, sizeof(value));
  switch (c->shown) {
  case TIME: text = pai__show_time(cell, value); break;
  case TIMES:
    text = value < 100000000 ? pai__show_times(cell, value)
                             : pai__show_short(cell, value / 1000);
    break;
  case WORK: text = pai__show_hours(cell, value); break;
  default: text = pai__show_short(cell, value); break;
  }
  pai__text_cell(p, text, c->width);
}

static const char *const titles[] = { "virtual cluster", "GPUs of a job",
                                      "user" };

static void put_table(pai__text_page *p, int kind, const pai__names *names)
{
  static const struct {
    const column *list;
    size_t count, most;
  } tables[] = { { by_vc, PAI__LEN(by_vc), SIZE_MAX },
                 { by_size, PAI__LEN(by_size), SIZE_MAX },
                 { by_user, PAI__LEN(by_user), MOST_USERS } };
  size_t most = tables[kind].most;
  char cell[PAI__CELL];

  pai__buf_str(&p->out, "\n  ");
  pai__text_name(p, titles[kind], NAME);
  for (size_t k = 0; k < tables[kind].count; k++)
    pai__text_cell(p, tables[kind].list[k].title, tables[kind].list[k].width);
  pai__text_end(p);
  for (size_t i = 0; i < names->count && i < most; i++) {
    const pai__group *g =
      pai__group_named(pai__groups_of(p->reports[0], kind), names->list[i]);

    pai__buf_str(&p->out, "  ");
    pai__text_name(p, names->list[i], NAME);
    for (size_t k = 0; k < tables[kind].count; k++)
      put_column(p, &tables[kind].list[k], g);
    pai__text_end(p);
  }
  if (names->count > most)
    pai__buf_printf(&p->out, "  and %s more\n",
                    pai__show_count(cell, (int64_t)(names->count - most)));
}

static void put_waits(pai__text_page *p)
{
  const pai__spread *s = &p->reports[0]->waits;
  char cell[PAI__CELL];

  if (s->count == 0)
    return;
  pai__text_title(p, "Waiting, of the jobs that started");
  for (size_t i = 0; i < PAI__CLASSES; i++) {
    int share = pai__class_share(s, i);

    pai__buf_str(&p->out, "  ");
    pai__text_name(p, pai__class_name(i), 13);
    pai__text_bar(p, share, 1000, 48);
    pai__text_cell(p, pai__show_percent(cell, share * 1000), 9);
    pai__text_end(p);
  }
}

/* --- several reports --------------------------------------------------------------- */

/* The names of reports from one on, over columns of their values. */
static size_t put_labels(pai__text_page *p, const char *title, size_t from)
{
  size_t to = from + PER_BLOCK < p->n ? from + PER_BLOCK : p->n;

  pai__buf_str(&p->out, "\n  ");
  pai__text_name(p, title, NAME);
  for (size_t i = from; i < to; i++) {
    const char *name = pai__text_label(p, i);
    size_t wide = pai__svg_columns(name);

    pai__buf_printf(&p->out, "%*s", wide < WIDE - 1 ? (int)(WIDE - wide) : 1,
                    "");
    (void)pai__put_name(&p->out, name, WIDE - 1);
  }
  pai__text_end(p);
  return to;
}

static void put_waits_compared(pai__text_page *p, size_t from)
{
  size_t to = put_labels(p, "waited", from);
  char cell[PAI__CELL];

  for (size_t k = 0; k < PAI__CLASSES; k++) {
    pai__buf_str(&p->out, "  ");
    pai__text_name(p, pai__class_name(k), NAME);
    for (size_t i = from; i < to; i++) {
      int share = pai__class_share(&p->reports[i]->waits, k);

      pai__text_cell(p, pai__show_percent(cell, share * 1000), WIDE);
    }
    pai__text_end(p);
  }
}

static void put_table_compared(pai__text_page *p, int kind,
                               const pai__names *names, size_t from)
{
  size_t to = put_labels(p, titles[kind], from);
  char cell[PAI__CELL];

  for (size_t k = 0; k < names->count; k++) {
    pai__buf_str(&p->out, "  ");
    pai__text_name(p, names->list[k], NAME);
    for (size_t i = from; i < to; i++) {
      const pai__group *g =
        pai__group_named(pai__groups_of(p->reports[i], kind), names->list[k]);

      pai__text_cell(p, g != NULL ? pai__show_time(cell, g->wait_p90) : "-",
                     WIDE);
    }
    pai__text_end(p);
  }
}

/* --- both -------------------------------------------------------------------------- */

static int put_groups(pai__text_page *p, int kind)
{
  const pai_alloc *alloc = &p->reports[0]->alloc;
  pai__names names;
  int rc = kind == PAI__USERS
             ? pai__names_by_use(&names, alloc, p->reports, p->n, kind)
             : pai__names_collect(&names, alloc, p->reports, p->n, kind);

  if (rc == PAI_OK && names.count > 0 && p->n == 1)
    put_table(p, kind, &names);
  for (size_t i = 0; rc == PAI_OK && names.count > 0 && p->n > 1 && i < p->n;
       i += PER_BLOCK)
    put_table_compared(p, kind, &names, i);
  pai__names_dispose(&names, alloc);
  return rc;
}

int pai__text_tables(pai__text_page *p)
{
  int rc;

  if (p->n == 1) {
    put_waits(p);
  } else {
    pai__text_title(p, "Waiting, of the jobs that started");
    for (size_t i = 0; i < p->n; i += PER_BLOCK)
      put_waits_compared(p, i);
    pai__text_title(p, "Waiting, P90, by groups");
  }
  rc = put_groups(p, PAI__VCS);
  if (rc == PAI_OK)
    rc = put_groups(p, PAI__SIZES);
  if (rc == PAI_OK && p->n == 1)
    rc = put_groups(p, PAI__USERS);
  if (p->n == 1 && p->reports[0]->users.count > 0)
    pai__buf_printf(&p->out,
                    "\n  used, share, lent, borrowed, in vain: hours of %ss\n",
                    pai__unit(p->reports[0]));
  return rc;
}
