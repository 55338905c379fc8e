/* report_csv.c - reports as comma-separated values, a row for each
 *
 * Columns are called as in JSON.  Times are seconds, shares are parts of one;
 * both are exact decimals.
 */
#include "sim/report_form.h"

/* A text; quoted where it has to be. */
static void put_text(pai__buf *out, const char *text)
{
  if (text[strcspn(text, ",\"\r\n")] == '\0') {
    pai__buf_str(out, text);
    return;
  }
  pai__buf_char(out, '"');
  for (; *text != '\0'; text++) {
    if (*text == '"')
      pai__buf_char(out, '"');
    pai__buf_char(out, *text);
  }
  pai__buf_char(out, '"');
}

static void put_count(pai__buf *out, uint64_t n)
{
  pai__buf_printf(out, ",%llu", (unsigned long long)n);
}

static void put_figure(pai__buf *out, const pai__figure *f,
                       const pai_sim_report *r)
{
  char cell[PAI__CELL];

  pai__buf_char(out, ',');
  pai__buf_str(out, pai__show_decimal(cell, pai__figure_value(f, r),
                                      pai__figure_digits(f)));
}

static void put_row(pai__buf *out, const pai_sim_report *r)
{
  const pai_sim_view *v = &r->view;
  char cell[PAI__CELL];

  put_text(out, v->policy);
  pai__buf_char(out, ',');
  put_text(out, r->options);
  put_count(out, v->seed);
  pai__buf_char(out, ',');
  put_text(out, r->cluster);
  pai__buf_char(out, ',');
  put_text(out, r->trace);
  put_count(out, r->nodes);
  put_count(out, r->gpus);
  put_count(out, r->cpus);
  put_count(out, v->lines_skipped);
  put_count(out, v->mapped_vcs);
  put_count(out, v->mapped_types);
  pai__buf_char(out, ',');
  pai__buf_str(out, pai__show_decimal(cell, v->begin, 6));
  for (size_t i = 0; pai__figure_at(i) != NULL; i++)
    put_figure(out, pai__figure_at(i), r);
  pai__buf_char(out, '\n');
}

int pai__report_csv(const pai_sim_report *const *reports, size_t n,
                    pai_write_cb write, void *user_data, pai_error **err)
{
  pai__buf out;

  pai__buf_init(&out, &reports[0]->alloc);
  pai__buf_str(&out, "policy,options,seed,cluster,trace,nodes,gpus,cpus,"
                     "lines_skipped,mapped_vcs,mapped_types,begin_s");
  for (size_t i = 0; pai__figure_at(i) != NULL; i++)
    pai__buf_printf(&out, ",%s", pai__figure_at(i)->key);
  pai__buf_char(&out, '\n');
  for (size_t i = 0; i < n; i++)
    put_row(&out, reports[i]);
  return pai__page_write(&out, PAI_OK, write, user_data, err);
}
