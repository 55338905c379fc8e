/*
 * generate.c - generates traces that resemble two published clusters
 *
 * Each kind of number has a random stream of its own, so that drawing more of
 * one kind does not change the others.  The total work of all jobs is computed
 * before the first job is made, as the rate of arrivals depends on it.
 */
#include "sim/trace/generate.h"

#include "base/arena.h"
#include "base/text/number.h"
#include "sim/scale.h"

#include <inttypes.h>
#include <stdio.h>

enum {
  USUAL_GPUS = 8000,
  USUAL_LOAD = 800,
  USUAL_PER_NODE = 8,
  MOST_LOAD = 1000000,
  MOST_CLUSTER = 1 << 24,
  MOST_NAMES = 100000,
  UNIT = 4000 /* of the square roots, in microseconds */
};
#define MOST_JOBS UINT64_C(1000000000)
#define HOUR INT64_C(3600000000)

typedef struct pai__sim_work {
  uint32_t gpus;
  uint32_t position; /* rank of its duration, of 2^32 - 1 */
  uint64_t us;
} pai__sim_work;

typedef struct pai__generator {
  pai__arena arena;
  const pai__like *like;
  pai__quantile_curve curve;
  uint32_t most_gpus, per_node;
  bool faults;
  pai__prng work, arrival, people, guess, fate;
  uint64_t left, number;
  /* arrivals: even time, as if all hours had the same rate, in 2^-10 us */
  uint64_t mean_gap, even;
  uint64_t hour, hour_even; /* current hour; even time at its start */
  uint32_t nusers;
  uint32_t *user_sums; /* cumulative weights of the users */
  pai__slice *users, *user_vcs;
  pai__slice model;
  char id[1 + PAI__DOUBLE_TEXT];
} pai__generator;

/* --- curves -------------------------------------------------------------- */

static uint64_t square_root(uint64_t n)
{
  uint64_t root = 0;

  for (uint64_t bit = UINT64_C(1) << 62; bit != 0; bit >>= 2)
    if (n >= root + bit) {
      n -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  return root;
}

/* Fills in points between two quantiles with equal factors: the middle of two
 * points is their geometric mean. */
static void fill_between(pai__quantile_curve *c, size_t from, size_t to)
{
  size_t mid = from + (to - from) / 2;

  if (mid == from)
    return;
  /* the unit is so large that the product of two months fits */
  c->us[mid] = UNIT * square_root((c->us[from] / UNIT) * (c->us[to] / UNIT));
  c->position[mid] = c->position[from] / 2 + c->position[to] / 2;
  fill_between(c, from, mid);
  fill_between(c, mid, to);
}

void pai__curve_make(pai__quantile_curve *c, const pai__quantile *q,
                     size_t count)
{
  for (size_t i = 0; i < count; i++) {
    size_t at = i * PAI__CURVE_STEPS;

    c->position[at] = (uint32_t)((uint64_t)q[i].position * UINT32_MAX / 10000);
    c->us[at] = (uint64_t)q[i].seconds * 1000000;
    if (i > 0)
      fill_between(c, at - PAI__CURVE_STEPS, at);
  }
  c->count = (count - 1) * PAI__CURVE_STEPS + 1;
}

uint64_t pai__curve_at(const pai__quantile_curve *c, uint32_t position)
{
  size_t low = 0, high = c->count - 1;
  uint64_t here, width, rise;

  while (high - low > 1) {
    size_t mid = (low + high) / 2;

    if (c->position[mid] <= position)
      low = mid;
    else
      high = mid;
  }
  here = position - c->position[low];
  width = c->position[high] - c->position[low];
  if (width == 0) /* a curve of one point */
    return c->us[low];
  rise = (c->us[high] - c->us[low]) / 1000;
  return c->us[low] + rise * here / width * 1000;
}

/* Returns the index of the first cumulative sum greater than `number`. */
static size_t find_share(const uint32_t *sums, size_t count, uint32_t number)
{
  size_t low = 0, high = count - 1;

  while (low < high) {
    size_t mid = (low + high) / 2;

    if (number < sums[mid])
      high = mid;
    else
      low = mid + 1;
  }
  return low;
}

/* --- one job ------------------------------------------------------------- */

static pai__sim_work draw_work(pai__generator *g, pai__prng *r)
{
  const pai__size_class *size = g->like->sizes;
  uint64_t random = pai__prng_next(r);
  uint32_t share = (uint32_t)((random >> 32) * 10000 >> 32);
  pai__sim_work work;

  while (share >= size->share)
    share -= (size++)->share;
  work.gpus = size->gpus < g->most_gpus ? size->gpus : g->most_gpus;
  work.position = (uint32_t)random;
  work.us = pai__curve_at(&g->curve, work.position) * size->longer / 16;
  if (work.us < 1000000)
    work.us = 1000000;
  work.us -= work.us % 1000;
  return work;
}

static uint32_t tasks_of(const pai__generator *g, uint32_t gpus)
{
  return (gpus + g->per_node - 1) / g->per_node;
}

static uint32_t task_gpus(const pai__generator *g, uint32_t gpus)
{
  return gpus < g->per_node ? gpus : g->per_node;
}

static pai_time draw_arrival(pai__generator *g)
{
  uint64_t length, into;

  g->even += (uint64_t)pai__draw_time(&g->arrival, (pai_time)g->mean_gap);
  for (;;) {
    length = ((uint64_t)HOUR / 1000 * pai__week[g->hour % PAI__WEEK_HOURS])
             << 10;
    if (g->even - g->hour_even < length)
      break;
    g->hour_even += length;
    g->hour++;
  }
  into = (g->even - g->hour_even) / pai__week[g->hour % PAI__WEEK_HOURS];
  return (pai_time)(g->hour * (uint64_t)HOUR + ((into * 1000) >> 10));
}

/* Draws a round number above the duration, mostly far above. */
static pai_time draw_estimate(pai__generator *g, uint64_t us)
{
  static const uint32_t minutes[] = { 5,     10,    15,    30,    60,    120,
                                      180,   240,   360,   480,   720,   1440,
                                      2160,  2880,  4320,  7200,  10080, 14400,
                                      20160, 30240, 43200, 86400, 172800 };
  uint64_t random = pai__prng_next(&g->guess);
  /* factor of one to eight; small factors are more frequent */
  uint64_t eighths = 8 + (random & 7) * (random >> 3 & 7) * 8 / 7;
  uint64_t thought = us / 8 * eighths;
  size_t i = 0;

  while (i + 1 < PAI__LEN(minutes) &&
         thought > (uint64_t)minutes[i] * 60000000)
    i++;
  return (pai_time)minutes[i] * 60000000;
}

enum { PASSES, IS_KILLED, FAILS, FAILS_FIRST };

static int draw_end(pai__generator *g, uint32_t position)
{
  const pai__end_class *c = g->like->ends;
  uint32_t random = (uint32_t)pai__prng_below(&g->fate, 1000);
  uint32_t at = (uint32_t)(((uint64_t)position * 10000) >> 32);

  while (at >= c->position)
    c++;
  if (random < c->killed)
    return IS_KILLED;
  random -= c->killed;
  if (random < c->failed)
    return FAILS;
  return random - c->failed < 30 ? FAILS_FIRST : PASSES;
}

static void add_attempts(pai_trace *t, const pai__sim_work *work, int end)
{
  pai_time whole = (pai_time)work->us;

  if (end == FAILS_FIRST) {
    t->draft.retries = 3;
    pai__draft_add_attempt(t, whole / 4, PAI__CODE_FAILED);
  }
  if (end == FAILS) {
    t->draft.retries = 2; /* all attempts are the same */
    pai__draft_add_attempt(t, whole / 3, PAI__CODE_FAILED);
    return;
  }
  pai__draft_add_attempt(t, whole, end == IS_KILLED ? PAI__CODE_KILLED : 0);
}

static void draw_people(pai__generator *g, pai__draft *d)
{
  uint32_t number =
    (uint32_t)pai__prng_below(&g->people, g->user_sums[g->nusers - 1]);
  size_t user = find_share(g->user_sums, g->nusers, number);

  d->texts[PAI__TEXT_USER] = g->users[user];
  d->texts[PAI__TEXT_VC] = g->user_vcs[user];
}

static size_t write_id(char out[1 + PAI__DOUBLE_TEXT], uint64_t number)
{
  out[0] = 'j';
  return 1 + pai__format_int(out + 1, (int64_t)number);
}

static int generate(pai_trace *t, pai_error **err)
{
  pai__generator *g = t->state;
  pai__draft *d = &t->draft;
  pai__draft_want want = { .tasks = 1 };
  pai__sim_work work;
  int rc;

  if (g->left == 0)
    return 0;
  g->left--;
  work = draw_work(g, &g->work);
  want.gpus = task_gpus(g, work.gpus);
  want.tasks = tasks_of(g, work.gpus);
  want.type = g->model;
  pai__draft_clear(d);
  d->time = draw_arrival(g);
  d->texts[PAI__TEXT_ID] = (pai__slice){ g->id, write_id(g->id, ++g->number) };
  draw_people(g, d);
  d->estimate = draw_estimate(g, work.us);
  add_attempts(t, &work, g->faults ? draw_end(g, work.position) : PASSES);
  pai__draft_add_want(t, &want);
  rc = pai__trace_put(t, g->number, err);
  return rc < 0 ? rc : 1;
}

static void end(pai_trace *t)
{
  pai__generator *g = t->state;

  if (g == NULL)
    return;
  pai__arena_dispose(&g->arena);
  pai__free(&t->alloc, g, sizeof(*g));
  t->state = NULL;
}

static const pai__trace_form generated = { .name = "generated",
                                           .read = generate,
                                           .end = end };

/* --- setup --------------------------------------------------------------- */

static int check_options(pai_generate_options *o,
                         const pai_generate_options *opts, pai_error **err)
{
  int rc = PAI__OPTIONS_IN(o, opts, pai_generate_options, faults);

  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_generate_options");
  o->alloc = pai__alloc_or_libc(o->alloc);
  o->like = o->like != 0 ? o->like : PAI_LIKE_PHILLY;
  o->gpus = o->gpus != 0 ? o->gpus : USUAL_GPUS;
  o->load = o->load != 0 ? o->load : USUAL_LOAD;
  o->gpus_per_node = o->gpus_per_node != 0 ? o->gpus_per_node : USUAL_PER_NODE;
  if (pai__like_of(o->like) == NULL)
    return pai__fail(err, PAI_EINVAL, "unknown value of PAI_LIKE_*: %d",
                     o->like);
  if (o->jobs > MOST_JOBS)
    return pai__fail(err, PAI_EINVAL, "at most 10^9 jobs can be generated");
  if (o->gpus > MOST_CLUSTER || o->load > MOST_LOAD)
    return pai__fail(
      err, PAI_EINVAL,
      "the limits are 2^24 GPUs and a load of 1000 times their capacity");
  if (o->users > MOST_NAMES || o->virtual_clusters > MOST_NAMES)
    return pai__fail(
      err, PAI_EINVAL,
      "the limits are 100,000 users and 100,000 virtual clusters");
  if (o->vc_names != NULL && o->virtual_clusters == 0)
    return pai__fail(
      err, PAI_EINVAL,
      "names of virtual clusters are given without their number");
  if (o->users == 0)
    o->users = pai__like_of(o->like)->users;
  if (o->virtual_clusters == 0)
    o->virtual_clusters = pai__like_of(o->like)->vcs;
  return PAI_OK;
}

static pai__slice keep_text(pai__generator *g, const char *text)
{
  size_t len = strlen(text);

  return (pai__slice){ pai__arena_strndup(&g->arena, text, len), len };
}

static pai__slice keep_number(pai__generator *g, const char *what,
                              uint32_t number)
{
  char text[32];

  (void)snprintf(text, sizeof(text), "%s%" PRIu32, what, number);
  return keep_text(g, text);
}

/* Cumulative weights of Zipf's law: the n-th has 1/n of the first one's
 * weight. */
static uint32_t *zipf(pai__generator *g, uint32_t count)
{
  uint32_t *sums = pai__arena_zalloc(&g->arena, count, sizeof(*sums));
  uint32_t sum = 0;

  for (uint32_t i = 0; sums != NULL && i < count; i++) {
    sum += (1u << 24) / (i + 1);
    sums[i] = sum;
  }
  return sums;
}

/* Makes the users; each belongs to one virtual cluster. */
static int make_people(pai__generator *g, const pai_generate_options *o)
{
  uint32_t nvcs = o->virtual_clusters;
  uint32_t *vc_sums = zipf(g, nvcs);
  pai__slice *vcs = pai__arena_zalloc(&g->arena, nvcs, sizeof(*vcs));
  bool ok = vc_sums != NULL && vcs != NULL;

  g->nusers = o->users;
  g->user_sums = zipf(g, o->users);
  g->users = pai__arena_zalloc(&g->arena, o->users, sizeof(*g->users));
  g->user_vcs = pai__arena_zalloc(&g->arena, o->users, sizeof(*g->user_vcs));
  ok = ok && g->user_sums != NULL && g->users != NULL && g->user_vcs != NULL;
  for (uint32_t i = 0; ok && i < nvcs; i++) {
    vcs[i] = o->vc_names != NULL ? keep_text(g, o->vc_names[i])
                                 : keep_number(g, "vc", i + 1);
    ok = vcs[i].s != NULL;
  }
  for (uint32_t i = 0; ok && i < o->users; i++) {
    uint32_t number = (uint32_t)pai__prng_below(&g->people, vc_sums[nvcs - 1]);

    g->user_vcs[i] = vcs[find_share(vc_sums, nvcs, number)];
    g->users[i] = keep_number(g, "u", i + 1);
    ok = g->users[i].s != NULL;
  }
  if (ok && o->model != NULL)
    g->model = keep_text(g, o->model);
  return ok && (o->model == NULL || g->model.s != NULL) ? PAI_OK : PAI_ENOMEM;
}

/* Computes the total work, and sets the rate of arrivals so that the load is
 * `load`. */
static void set_pace(pai__generator *g, const pai_generate_options *o)
{
  uint64_t gpus = (uint64_t)o->load * o->gpus; /* in thousandths */
  uint64_t milliseconds = 0, seconds = 0, span;
  pai__prng again = g->work;

  for (uint64_t i = 0; i < o->jobs; i++) {
    pai__sim_work work = draw_work(g, &again);

    milliseconds +=
      work.us / 1000 * task_gpus(g, work.gpus) * tasks_of(g, work.gpus);
    seconds += milliseconds / 1000;
    milliseconds %= 1000;
  }
  span = seconds / gpus * 1000000000 + seconds % gpus * 1000000 / gpus * 1000;
  if (o->jobs > 0)
    g->mean_gap = (span / o->jobs << 10) + (span % o->jobs << 10) / o->jobs;
}

static void seed(pai__generator *g, uint64_t seed)
{
  pai__prng r = { seed };

  g->work.state = pai__prng_next(&r);
  g->arrival.state = pai__prng_next(&r);
  g->people.state = pai__prng_next(&r);
  g->guess.state = pai__prng_next(&r);
  g->fate.state = pai__prng_next(&r);
}

static int make(pai_trace *t, const pai_generate_options *o)
{
  pai__generator *g = pai__zalloc(&t->alloc, sizeof(*g));

  if (g == NULL)
    return PAI_ENOMEM;
  t->state = g;
  pai__arena_init(&g->arena, &t->alloc);
  g->like = pai__like_of(o->like);
  g->per_node = o->gpus_per_node;
  g->most_gpus = o->most_gpus != 0 ? o->most_gpus : o->gpus / 8;
  if (g->most_gpus == 0)
    g->most_gpus = 1;
  g->faults = o->faults != 0;
  g->left = o->jobs;
  seed(g, o->seed);
  pai__curve_make(&g->curve, g->like->quantiles, g->like->nquantiles);
  set_pace(g, o);
  return make_people(g, o);
}

int pai_trace_generate(pai_trace **out, const pai_generate_options *opts,
                       pai_error **err)
{
  pai_generate_options o;
  pai_trace *t;
  int rc;

  PAI__CLEAR_OUT(out, err);
  rc = check_options(&o, opts, err);
  if (rc == PAI_OK)
    rc = pai__trace_make(&t, o.alloc, err);
  if (rc != PAI_OK)
    return rc;
  t->form = PAI_TRACE_GENERATED;
  t->how = &generated;
  if (make(t, &o) < 0) {
    pai_trace_free(t);
    return pai__oom(err);
  }
  *out = t;
  return PAI_OK;
}
