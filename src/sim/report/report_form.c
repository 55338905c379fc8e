/* report_form.c - tables of a report's members; writes reports as JSON and
 * CSV */
#include "sim/report/report_form.h"

#include "sim/report/pages.h"

#include <openpai/platform.h>

#include <inttypes.h>
#include <stdio.h>

/* --- tables -------------------------------------------------------------- */

#define PLACE(type, m, name, of)                                          \
  .key = (name), .at = offsetof(type, m), .size = sizeof(((type *)0)->m), \
  .kind = (of)
#define MEMBER(type, m, name, of) \
  {                               \
    PLACE(type, m, name, of)      \
  }
#define HEAD(m, name, of, ...)                      \
  {                                                 \
    PLACE(pai_sim_report, m, name, of), __VA_ARGS__ \
  }
#define METRIC(name, m, of, whose, text) \
  HEAD(view.m, name, of, .csv = true, .better = (whose), .label = (text))

const pai__sim_member pai__report_members[] = {
  HEAD(view.policy, "policy", PAI__REPORT_TEXT, .csv = true),
  HEAD(options, "options", PAI__REPORT_TEXT, .csv = true, .optional = true),
  HEAD(view.seed, "seed", PAI__SEED, .csv = true),
  HEAD(cluster, "cluster", PAI__REPORT_TEXT, .csv = true),
  HEAD(trace, "trace", PAI__REPORT_TEXT, .csv = true),
  HEAD(nodes, "nodes", PAI__COUNT, .csv = true),
  HEAD(gpus, "gpus", PAI__COUNT, .csv = true),
  HEAD(cpus, "cpus", PAI__COUNT, .csv = true),
  HEAD(view.lines_skipped, "lines_skipped", PAI__COUNT, .csv = true),
  HEAD(view.mapped_vcs, "mapped_vcs", PAI__COUNT, .csv = true),
  HEAD(view.mapped_types, "mapped_types", PAI__COUNT, .csv = true),
  HEAD(view.begin, "begin_s", PAI__TIME, .csv = true),
  MEMBER(pai_sim_report, outside, "outside_gpu_s", PAI__WORK),
  MEMBER(pai_sim_report, span, "span_s", PAI__TIME),
  MEMBER(pai_sim_report, bin, "bin_s", PAI__TIME),
  METRIC("makespan_s", makespan, PAI__TIME, -1, "makespan"),
  METRIC("utilization", utilization, PAI__PERCENT, 1, "utilization"),
  METRIC("wait_mean_s", wait_mean, PAI__TIME, -1, "wait, mean"),
  METRIC("wait_p50_s", wait_p50, PAI__TIME, -1, "wait, P50"),
  METRIC("wait_p90_s", wait_p90, PAI__TIME, -1, "wait, P90"),
  METRIC("wait_p99_s", wait_p99, PAI__TIME, -1, "wait, P99"),
  METRIC("wait_max_s", wait_max, PAI__TIME, -1, "wait, longest"),
  METRIC("slowdown_mean", slowdown_mean, PAI__TIMES, -1, "slowdown, mean"),
  METRIC("slowdown_p50", slowdown_p50, PAI__TIMES, -1, "slowdown, P50"),
  METRIC("slowdown_p90", slowdown_p90, PAI__TIMES, -1, "slowdown, P90"),
  METRIC("fairness", fairness, PAI__INDEX, 1, "fairness"),
  METRIC("fragmentation", fragmentation, PAI__PERCENT, -1, "fragmentation"),
  METRIC("preemptions", preemptions, PAI__COUNT, -1, "preemptions"),
  METRIC("retries", retries, PAI__COUNT, 0, "retries"),
  METRIC("lost_gpu_s", lost, PAI__WORK, -1, "lost work"),
  METRIC("jobs", jobs, PAI__COUNT, 0, "jobs"),
  METRIC("started", started, PAI__COUNT, 1, "started"),
  METRIC("finished", finished, PAI__COUNT, 1, "finished"),
  METRIC("failed", failed, PAI__COUNT, 0, "failed"),
  METRIC("killed", killed, PAI__COUNT, 0, "killed"),
  METRIC("rejected", rejected, PAI__COUNT, -1, "rejected"),
  METRIC("left", left, PAI__COUNT, -1, "not ended"),
  { .key = NULL },
};

const pai__sim_member pai__group_members[] = {
  MEMBER(pai__sim_group, name, "name", PAI__REPORT_TEXT),
  MEMBER(pai__sim_group, jobs, "jobs", PAI__COUNT),
  MEMBER(pai__sim_group, rejected, "rejected", PAI__COUNT),
  MEMBER(pai__sim_group, started, "started", PAI__COUNT),
  MEMBER(pai__sim_group, finished, "finished", PAI__COUNT),
  MEMBER(pai__sim_group, failed, "failed", PAI__COUNT),
  MEMBER(pai__sim_group, killed, "killed", PAI__COUNT),
  MEMBER(pai__sim_group, left, "left", PAI__COUNT),
  MEMBER(pai__sim_group, preemptions, "preemptions", PAI__COUNT),
  MEMBER(pai__sim_group, retries, "retries", PAI__COUNT),
  MEMBER(pai__sim_group, wait_sum, "wait_sum_s", PAI__TIME),
  MEMBER(pai__sim_group, wait_p50, "wait_p50_s", PAI__TIME),
  MEMBER(pai__sim_group, wait_p90, "wait_p90_s", PAI__TIME),
  MEMBER(pai__sim_group, wait_p99, "wait_p99_s", PAI__TIME),
  MEMBER(pai__sim_group, wait_max, "wait_max_s", PAI__TIME),
  MEMBER(pai__sim_group, slowdown_p50, "slowdown_p50", PAI__TIMES),
  MEMBER(pai__sim_group, slowdown_p90, "slowdown_p90", PAI__TIMES),
  MEMBER(pai__sim_group, used, "used_gpu_s", PAI__WORK),
  MEMBER(pai__sim_group, lost, "lost_gpu_s", PAI__WORK),
  MEMBER(pai__sim_group, entitled, "entitled_gpu_s", PAI__WORK),
  MEMBER(pai__sim_group, borrowed, "borrowed_gpu_s", PAI__WORK),
  MEMBER(pai__sim_group, lent, "lent_gpu_s", PAI__WORK),
  { .key = NULL },
};

const pai__sim_member pai__bin_members[] = {
  MEMBER(pai__bin, busy, "busy_gpu_s", PAI__WORK),
  MEMBER(pai__bin, up, "up_gpu_s", PAI__WORK),
  MEMBER(pai__bin, fragmented, "fragmented_gpu_s", PAI__WORK),
  MEMBER(pai__bin, wanted, "wanted_gpu_s", PAI__WORK),
  MEMBER(pai__bin, waiting, "waiting_job_s", PAI__WORK),
  MEMBER(pai__bin, running, "running_job_s", PAI__WORK),
  MEMBER(pai__bin, came, "came", PAI__COUNT),
  MEMBER(pai__bin, started, "started", PAI__COUNT),
  MEMBER(pai__bin, ended, "ended", PAI__COUNT),
  MEMBER(pai__bin, preempted, "preempted", PAI__COUNT),
  { .key = NULL },
};

const pai__sim_member pai__node_members[] = {
  MEMBER(pai__sim_node, name, "name", PAI__REPORT_TEXT),
  MEMBER(pai__sim_node, gpus, "gpus", PAI__COUNT),
  { .key = NULL },
};

const pai__sim_member pai__spread_members[PAI__SPREADS] = {
  MEMBER(pai_sim_report, waits, "waits_s", PAI__TIME),
  MEMBER(pai_sim_report, slowdowns, "slowdowns", PAI__TIMES),
};

const char *const pai__groups_keys[PAI__GROUPINGS] = {
  [PAI__BY_VC] = "vcs", [PAI__BY_SIZE] = "sizes", [PAI__BY_USER] = "users"
};

const char *pai__bar_end_name(int end)
{
  switch (end) {
  case PAI_STATE_WAITING: return "preempted";
  case PAI_STATE_RUNNING: return "running";
  case PAI_STATE_SUCCEEDED: return "succeeded";
  case PAI_STATE_FAILED: return "failed";
  case PAI_STATE_STOPPED: return "stopped";
  default: return NULL;
  }
}

/* --- members ------------------------------------------------------------- */

unsigned pai__member_digits(const pai__sim_member *m)
{
  return m->kind == PAI__COUNT ? 0 : m->kind == PAI__TIMES ? 3 : 6;
}

int64_t pai__member_get(const pai__sim_member *m, const void *in)
{
  const char *p = (const char *)in + m->at;
  uint32_t small;
  int64_t large;

  if (m->size == sizeof(small)) {
    memcpy(&small, p, sizeof(small));
    return small;
  }
  memcpy(&large, p, sizeof(large));
  return large;
}

bool pai__member_set(const pai__sim_member *m, void *out, int64_t value)
{
  char *p = (char *)out + m->at;
  uint32_t small = (uint32_t)value;

  if (m->size != sizeof(small)) {
    memcpy(p, &value, sizeof(value));
    return true;
  }
  memcpy(p, &small, sizeof(small));
  return value >= 0 && value <= UINT32_MAX;
}

const pai__sim_member *pai__member_of(const pai__sim_member *list,
                                      const char *key)
{
  while (strcmp(list->key, key) != 0)
    list++;
  return list;
}

static const char *text_of(const pai__sim_member *m, const void *in)
{
  const char *text;

  memcpy(&text, (const char *)in + m->at, sizeof(text));
  return text;
}

static const char *show(char cell[PAI__CELL], const pai__sim_member *m,
                        const void *in)
{
  int64_t value = pai__member_get(m, in);

  if (m->kind != PAI__SEED)
    return pai__show_decimal(cell, value, pai__member_digits(m));
  (void)snprintf(cell, PAI__CELL, "%" PRIu64, (uint64_t)value);
  return cell;
}

/* --- JSON ---------------------------------------------------------------- */

/* The member is a number. */
static void put_number(pai__json_writer *w, const pai__sim_member *m,
                       const void *in)
{
  char cell[PAI__CELL];
  const char *text = show(cell, m, in);

  pai__json_ready(w, text, strlen(text));
}

static void put_members(pai__json_writer *w, const pai__sim_member *m,
                        const void *in)
{
  for (; m->key != NULL; m++) {
    if (m->optional && *text_of(m, in) == '\0')
      continue;
    pai__json_member(w, m->key);
    if (m->kind == PAI__REPORT_TEXT)
      pai__json_string(w, text_of(m, in));
    else
      put_number(w, m, in);
  }
}

static void put_objects(pai__json_writer *w, const char *key,
                        const pai__sim_member *m, const void *list, size_t n,
                        size_t size)
{
  pai__json_put_array(w, key);
  for (size_t i = 0; i < n; i++) {
    pai__json_begin_object(w);
    put_members(w, m, (const char *)list + i * size);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
}

static void put_spread(pai__json_writer *w, const pai__sim_member *m,
                       const pai_sim_report *r)
{
  const pai__spread *s = (const void *)((const char *)r + m->at);

  pai__json_put_object(w, m->key);
  pai__json_put_int(w, "count", (int64_t)s->count);
  pai__json_member(w, "sum");
  pai__sim_put_decimal(w, s->sum, pai__member_digits(m));
  pai__json_put_array(w, "at");
  for (size_t i = 0; s->count != 0 && i <= 1000; i++)
    pai__sim_put_decimal(w, s->at[i], pai__member_digits(m));
  pai__json_end_array(w);
  pai__json_end_object(w);
}

static void put_bins(pai__json_writer *w, const pai_sim_report *r)
{
  pai__json_put_object(w, "bins");
  for (const pai__sim_member *m = pai__bin_members; m->key != NULL; m++) {
    pai__json_put_array(w, m->key);
    for (size_t i = 0; i < r->nbins; i++)
      put_number(w, m, &r->bins[i]);
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

/* A bar is a list, as there are many: job, from, to, index of the node, index
 * of the virtual cluster, mask of GPUs, end. */
static void put_bar(pai__json_writer *w, const pai__bar *bar)
{
  const char *end = pai__bar_end_name(bar->end);
  char mask[PAI__CELL];

  (void)snprintf(mask, sizeof(mask), "%" PRIx64, bar->gpus);
  pai__json_begin_array(w);
  pai__json_int(w, (int64_t)bar->job);
  pai__sim_put_decimal(w, bar->from, 6);
  pai__sim_put_decimal(w, bar->to, 6);
  pai__json_int(w, bar->node);
  pai__json_int(w, bar->vc);
  pai__json_string(w, mask);
  pai__json_string(w, end != NULL ? end : "");
  pai__json_end_array(w);
}

static void put_report(pai__json_writer *w, const pai_sim_report *r)
{
  pai__json_begin_object(w);
  put_members(w, pai__report_members, r);
  for (int i = 0; i < PAI__GROUPINGS; i++)
    put_objects(w, pai__groups_keys[i], pai__group_members, r->groups[i].list,
                r->groups[i].count, sizeof(*r->groups[i].list));
  for (int i = 0; i < PAI__SPREADS; i++)
    put_spread(w, &pai__spread_members[i], r);
  put_bins(w, r);
  put_objects(w, "bar_nodes", pai__node_members, r->node_list, r->nnode_list,
              sizeof(*r->node_list));
  pai__json_put_bool(w, "bars_cut", r->bars_cut);
  pai__json_put_array(w, "bars");
  for (size_t i = 0; i < r->nbars; i++)
    put_bar(w, &r->bars[i]);
  pai__json_end_array(w);
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
  pai__json_write(&w, n > 1 ? "{runs:[" : "");
  for (size_t i = 0; i < n; i++)
    put_report(&w, reports[i]);
  pai__json_write(&w, n > 1 ? "]}" : "");
  rc = pai__json_finish(&w);
  pai__buf_char(&out, '\n');
  return pai__text_write(&out, rc, write, user_data, err);
}

/* --- CSV ----------------------------------------------------------------- */

/* Writes a text, quoted if necessary. */
static void put_cell(pai__buf *out, const char *text)
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

/* Writes a row of values; NULL: of names. */
static void put_row(pai__buf *out, const pai_sim_report *r)
{
  char cell[PAI__CELL];

  for (const pai__sim_member *m = pai__report_members; m->key != NULL; m++) {
    if (!m->csv)
      continue;
    if (m != pai__report_members)
      pai__buf_char(out, ',');
    put_cell(out, r == NULL                     ? m->key
                  : m->kind == PAI__REPORT_TEXT ? text_of(m, r)
                                                : show(cell, m, r));
  }
  pai__buf_char(out, '\n');
}

int pai__report_csv(const pai_sim_report *const *reports, size_t n,
                    pai_write_cb write, void *user_data, pai_error **err)
{
  pai__buf out;

  pai__buf_init(&out, &reports[0]->alloc);
  put_row(&out, NULL);
  for (size_t i = 0; i < n; i++)
    put_row(&out, reports[i]);
  return pai__text_write(&out, PAI_OK, write, user_data, err);
}

/* --- reports ------------------------------------------------------------- */

int pai__sim_report_make(pai_sim_report **out, const pai_alloc *alloc)
{
  pai_sim_report *r = pai__zalloc(alloc, sizeof(*r));

  *out = r;
  if (r == NULL)
    return PAI_ENOMEM;
  r->alloc = *alloc;
  pai__arena_init(&r->arena, &r->alloc);
  r->view.struct_size = sizeof(r->view);
  r->view.policy = r->options = r->cluster = r->trace = "";
  return PAI_OK;
}

void pai_sim_report_free(pai_sim_report *report)
{
  pai_alloc alloc;

  if (report == NULL)
    return;
  alloc = report->alloc;
  pai__arena_dispose(&report->arena);
  pai__free(&alloc, report, sizeof(*report));
}

int pai_sim_look(const pai_sim_report *report, pai_sim_view *view)
{
  PAI__CHECK_ARG(report != NULL && view != NULL);
  return PAI__FILL_VIEW(view, report->view, pai_sim_view, lost);
}

int pai_sim_write(const pai_sim_report *const *reports, size_t n, int format,
                  pai_write_cb write, void *user_data, pai_error **err)
{
  PAI__CHECK_ARG_ERR(reports != NULL && n != 0 && write != NULL, err);
  for (size_t i = 0; i < n; i++)
    PAI__CHECK_ARG_ERR(reports[i] != NULL, err);
  switch (format) {
  case PAI_FORMAT_JSON:
    return pai__report_json(reports, n, write, user_data, err);
  case PAI_FORMAT_TEXT:
    return pai__report_text(reports, n, write, user_data, err);
  case PAI_FORMAT_CSV:
    return pai__report_csv(reports, n, write, user_data, err);
  case PAI_FORMAT_HTML:
    return pai__report_html(reports, n, write, user_data, err);
  default:
    return pai__fail(
      err, PAI_EINVAL,
      "a report is written as JSON, text, CSV or HTML, not in format %d",
      format);
  }
}
