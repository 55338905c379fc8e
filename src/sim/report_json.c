/* report_json.c - reports as JSON: of one an object, of several a list */
#include "sim/report_form.h"

#include "sched/form.h"

#include <inttypes.h>
#include <stdio.h>

static void put_decimal(pai__json_writer *w, int64_t value, unsigned digits)
{
  char cell[PAI__CELL];

  (void)pai__show_decimal(cell, value, digits);
  pai__json_ready(w, cell, strlen(cell));
}

static void put_unsigned(pai__json_writer *w, const char *key, uint64_t value)
{
  char cell[PAI__CELL];
  int len = snprintf(cell, sizeof(cell), "%" PRIu64, value);

  pai__form_put_key(w, key);
  pai__json_ready(w, cell, (size_t)len);
}

static void put_string(pai__json_writer *w, const char *key, const char *text)
{
  pai__form_put_key(w, key);
  pai__json_text(w, text, strlen(text));
}

static void put_numbers(pai__json_writer *w, const pai__number_form *f,
                        const void *in)
{
  for (; f->key != NULL; f++) {
    pai__form_put_key(w, f->key);
    put_decimal(w, pai__number_get(in, f->at, f->size), f->digits);
  }
}

/* --- parts ---------------------------------------------------------------- */

static void put_groups(pai__json_writer *w, const char *key,
                       const pai__groups *groups)
{
  pai__form_put_key(w, key);
  pai__json_begin_array(w);
  for (size_t i = 0; i < groups->count; i++) {
    pai__json_begin_object(w);
    put_string(w, "name", groups->list[i].name);
    put_numbers(w, pai__group_form, &groups->list[i]);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
}

static void put_spread(pai__json_writer *w, const char *key,
                       const pai__spread *s, unsigned digits)
{
  pai__form_put_key(w, key);
  pai__json_begin_object(w);
  put_unsigned(w, "count", s->count);
  pai__form_put_key(w, "sum");
  put_decimal(w, s->sum, digits);
  pai__form_put_key(w, "at");
  pai__json_begin_array(w);
  for (size_t i = 0; s->count != 0 && i <= 1000; i++)
    put_decimal(w, s->at[i], digits);
  pai__json_end_array(w);
  pai__json_end_object(w);
}

static void put_bins(pai__json_writer *w, const pai_sim_report *r)
{
  pai__form_put_key(w, "bins");
  pai__json_begin_object(w);
  for (const pai__number_form *f = pai__bin_form; f->key != NULL; f++) {
    pai__form_put_key(w, f->key);
    pai__json_begin_array(w);
    for (size_t i = 0; i < r->nbins; i++)
      put_decimal(w, pai__number_get(&r->bins[i], f->at, f->size), f->digits);
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

/* As a list, for there are many: job, from and to, node and virtual cluster by
 * their index, GPUs as a mask, and how it ended. */
static void put_bar(pai__json_writer *w, const pai__bar *bar)
{
  const char *end = pai__bar_end_name(bar->end);
  char mask[PAI__CELL];
  int len = snprintf(mask, sizeof(mask), "%" PRIx64, bar->gpus);

  pai__json_begin_array(w);
  pai__json_int(w, (int64_t)bar->job);
  put_decimal(w, bar->from, 6);
  put_decimal(w, bar->to, 6);
  pai__json_int(w, bar->node);
  pai__json_int(w, bar->vc);
  pai__json_text(w, mask, (size_t)len);
  pai__json_text(w, end != NULL ? end : "", end != NULL ? strlen(end) : 0);
  pai__json_end_array(w);
}

static void put_bars(pai__json_writer *w, const pai_sim_report *r)
{
  pai__form_put_key(w, "bar_nodes");
  pai__json_begin_array(w);
  for (size_t i = 0; i < r->nnode_list; i++) {
    pai__json_begin_object(w);
    put_string(w, "name", r->node_list[i].name);
    put_unsigned(w, "gpus", r->node_list[i].gpus);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
  pai__form_put_key(w, "bars_cut");
  pai__json_bool(w, r->bars_cut);
  pai__form_put_key(w, "bars");
  pai__json_begin_array(w);
  for (size_t i = 0; i < r->nbars; i++)
    put_bar(w, &r->bars[i]);
  pai__json_end_array(w);
}

/* --- the whole ------------------------------------------------------------ */

static void put_report(pai__json_writer *w, const pai_sim_report *r)
{
  const char *key;
  size_t at;
  unsigned digits;

  pai__json_begin_object(w);
  put_string(w, "policy", r->view.policy);
  if (*r->options != '\0')
    put_string(w, "options", r->options);
  put_unsigned(w, "seed", r->view.seed);
  put_string(w, "cluster", r->cluster);
  put_string(w, "trace", r->trace);
  put_numbers(w, pai__head_form, r);
  for (size_t i = 0; pai__figure_at(i) != NULL; i++) {
    const pai__figure *f = pai__figure_at(i);

    pai__form_put_key(w, f->key);
    put_decimal(w, pai__figure_value(f, r), pai__figure_digits(f));
  }
  for (size_t i = 0; (key = pai__groups_form(i, &at)) != NULL; i++)
    put_groups(w, key, (const pai__groups *)((const char *)r + at));
  for (size_t i = 0; (key = pai__spread_form(i, &at, &digits)) != NULL; i++)
    put_spread(w, key, (const pai__spread *)((const char *)r + at), digits);
  put_bins(w, r);
  put_bars(w, r);
  pai__json_end_object(w);
}

int pai__report_json(const pai_sim_report *const *reports, size_t n,
                     pai_write_cb write, void *user_data, pai_error **err)
{
  pai__json_writer w;
  pai__buf out;
  int rc;

  pai__buf_init(&out, &reports[0]->alloc);
  pai__json_writer_init(&w, &out, false);
  if (n > 1) {
    pai__json_begin_object(&w);
    pai__form_put_key(&w, "runs");
    pai__json_begin_array(&w);
  }
  for (size_t i = 0; i < n; i++)
    put_report(&w, reports[i]);
  if (n > 1) {
    pai__json_end_array(&w);
    pai__json_end_object(&w);
  }
  rc = pai__json_finish(&w);
  pai__buf_char(&out, '\n');
  return pai__page_write(&out, rc, write, user_data, err);
}
