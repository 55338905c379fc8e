/* pages.c - metrics, levels over time and groups that a page of reports shows */
#include "sim/report/pages.h"

/* --- metrics ------------------------------------------------------------- */

const char *pai__show_member(char out[PAI__CELL], const pai__sim_member *m,
                             int64_t value)
{
  switch (m->kind) {
  case PAI__TIME: return pai__show_time(out, value);
  case PAI__PERCENT: return pai__show_percent(out, value);
  case PAI__INDEX: return pai__show_index(out, value);
  case PAI__TIMES: return pai__show_times(out, value);
  case PAI__WORK: return pai__show_hours(out, value);
  default: return pai__show_count(out, value);
  }
}

void pai__put_label(pai__buf *out, const pai_sim_report *const *reports,
                    size_t i)
{
  size_t same = 1;

  for (size_t k = 0; k < i; k++)
    same += strcmp(reports[k]->view.policy, reports[i]->view.policy) == 0;
  pai__buf_str(out, reports[i]->view.policy);
  if (same > 1)
    pai__buf_printf(out, " #%zu", same);
}

bool pai__is_best(const pai__sim_member *m,
                  const pai_sim_report *const *reports, size_t n, size_t i)
{
  int64_t mine = pai__member_get(m, reports[i]);
  bool differ = false;

  for (size_t k = 0; k < n; k++) {
    int64_t other = pai__member_get(m, reports[k]);

    if (m->better < 0 ? other < mine : other > mine)
      return false;
    differ = differ || other != mine;
  }
  return m->better != 0 && differ;
}

/* --- time ---------------------------------------------------------------- */

int64_t pai__capacity(const pai_sim_report *r)
{
  uint64_t all = r->gpus > 0 ? r->gpus : r->cpus;

  return all < INT64_MAX ? (int64_t)all : INT64_MAX;
}

const char *pai__unit(const pai_sim_report *r)
{
  return r->gpus > 0 || r->cpus == 0 ? "GPU" : "CPU";
}

pai_time pai__bin_length(const pai_sim_report *r, size_t i)
{
  pai_time rest = r->span - (pai_time)i * r->bin;

  return rest < 0 ? 0 : rest < r->bin ? rest : r->bin;
}

pai_time pai__longest(const pai_sim_report *const *reports, size_t n)
{
  pai_time longest = 0;

  for (size_t i = 0; i < n; i++)
    if (reports[i]->span > longest)
      longest = reports[i]->span;
  return longest;
}

static int64_t amount(const pai_sim_report *r, int what, size_t i)
{
  const pai__bin *b = &r->bins[i];

  switch (what) {
  case PAI__BUSY: return b->busy;
  case PAI__FRAGMENTED: return b->fragmented;
  case PAI__WANTED: return b->wanted;
  case PAI__WAITING: return b->waiting;
  default: {
    int64_t all = pai__capacity(r);

    all =
      all < INT64_MAX / (r->bin + 1) ? all * pai__bin_length(r, i) : INT64_MAX;
    return all > b->up ? all - b->up : 0;
  }
  }
}

int64_t pai__level(const pai_sim_report *r, int what, pai_time from,
                   pai_time to)
{
  pai_time known = 0;
  int64_t sum = 0, more;

  for (size_t i = r->bin > 0 ? (size_t)(from / r->bin) : r->nbins;
       i < r->nbins && (pai_time)i * r->bin < to; i++) {
    pai_time length = pai__bin_length(r, i), begin = (pai_time)i * r->bin;
    pai_time end = begin + length < to ? begin + length : to, part;

    part = end - (begin > from ? begin : from);
    if (part <= 0)
      continue;
    more = pai__portion(amount(r, what, i), part, length);
    sum = more < INT64_MAX - sum ? sum + more : INT64_MAX;
    known += part;
  }
  return known > 0 ? pai__portion(sum, 1000, known) : -1;
}

/* --- distributions ------------------------------------------------------- */

static const struct {
  pai_time end;
  const char *name;
} classes[PAI__CLASSES] = {
  { PAI__SECOND, "< 1 s" },         { PAI__MINUTE, "< 1 min" },
  { 10 * PAI__MINUTE, "< 10 min" }, { PAI__HOUR, "< 1 h" },
  { 6 * PAI__HOUR, "< 6 h" },       { PAI__DAY, "< 1 d" },
  { 7 * PAI__DAY, "< 1 week" },     { 28 * PAI__DAY, "< 4 weeks" },
  { INT64_MAX, "longer" },
};

const char *pai__class_name(size_t i)
{
  return classes[i].name;
}

/* Returns how many of a thousand values are below `value`. */
static int below(const pai__spread *s, int64_t value)
{
  int n = 0;

  if (value == INT64_MAX)
    return 1000;
  while (n <= 1000 && s->at[n] < value)
    n++;
  return n > 0 ? n - 1 : 0;
}

int pai__class_share(const pai__spread *s, size_t i)
{
  if (s->count == 0)
    return 0;
  return below(s, classes[i].end) - (i > 0 ? below(s, classes[i - 1].end) : 0);
}

/* --- groups -------------------------------------------------------------- */

const pai__sim_group *pai__group_named(const pai__groups *g, const char *name)
{
  for (size_t i = 0; i < g->count; i++)
    if (strcmp(g->list[i].name, name) == 0)
      return &g->list[i];
  return NULL;
}

bool pai__group_before(const pai_sim_report *const *reports, size_t n,
                       int kind, const char *name)
{
  while (n-- > 0)
    if (pai__group_named(&reports[n]->groups[kind], name) != NULL)
      return true;
  return false;
}
