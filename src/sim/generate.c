/*
 * generate.c - jobs as they came to two clusters
 *
 * Each kind of number has a stream of its own, so that more of one does not
 * change another.  How much work all jobs are is counted before the first one
 * is made: how fast they come follows from it.
 */
#include "sim/generate.h"

#include "base/arena.h"
#include "sim/distribution.h"

#include <inttypes.h>
#include <stdio.h>

enum {
  USUAL_GPUS = 8000,
  USUAL_LOAD = 800,
  USUAL_PER_NODE = 8,
  MOST_LOAD = 1000000,
  MOST_CLUSTER = 1 << 24,
  MOST_NAMES = 100000
};
#define MOST_JOBS UINT64_C(1000000000)
#define HOUR INT64_C(3600000000)

typedef struct pai__work {
  uint32_t gpus;
  uint32_t position; /* how long among all: of 2^32 - 1 */
  uint64_t us;
} pai__work;

typedef struct pai__generator {
  pai__arena arena;
  const pai__like *like;
  pai__curve curve;
  uint32_t most_gpus, per_node;
  bool faults;
  pai__prng work, arrival, people, guess, fate;
  uint64_t left, number;
  /* arrival: time as it would go if all hours were alike, in 2^-10 us */
  uint64_t mean_gap, even;
  uint64_t hour, hour_even; /* the hour that is now, and its beginning */
  uint32_t nusers;
  uint32_t *user_sums; /* how often each is the one */
  pai__slice *users, *user_vcs;
  pai__slice model;
  char id[24];
} pai__generator;

/* --- one job --------------------------------------------------------------- */

static pai__work draw_work(pai__generator *g, pai__prng *r)
{
  const pai__size_class *size = g->like->sizes;
  uint64_t random = pai__prng_next(r);
  uint32_t share = (uint32_t)((random >> 32) * 10000 >> 32);
  pai__work work;

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

/* A round number above what it really takes, mostly far above. */
static pai_time draw_estimate(pai__generator *g, uint64_t us)
{
  static const uint32_t minutes[] = { 5,     10,    15,    30,    60,    120,
                                      180,   240,   360,   480,   720,   1440,
                                      2160,  2880,  4320,  7200,  10080, 14400,
                                      20160, 30240, 43200, 86400, 172800 };
  uint64_t random = pai__prng_next(&g->guess);
  /* one to eight times as long: small factors are more usual */
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

static int add_attempts(pai_trace *t, const pai__work *work, int end)
{
  pai__draft *d = &t->draft;
  pai_time whole = (pai_time)work->us;
  int rc = PAI_OK;

  if (end == FAILS_FIRST) {
    d->retries = 3;
    rc = pai__draft_add_attempt(d, &t->alloc, whole / 4, PAI__CODE_FAILED);
  }
  if (rc < 0 || end == PASSES || end == FAILS_FIRST)
    return rc < 0 ? rc : pai__draft_add_attempt(d, &t->alloc, whole, 0);
  if (end == IS_KILLED)
    return pai__draft_add_attempt(d, &t->alloc, whole, PAI__CODE_KILLED);
  d->retries = 2; /* each attempt fails alike */
  return pai__draft_add_attempt(d, &t->alloc, whole / 3, PAI__CODE_FAILED);
}

static void draw_people(pai__generator *g, pai__draft *d)
{
  uint32_t number =
    (uint32_t)pai__prng_below(&g->people, g->user_sums[g->nusers - 1]);
  size_t user = pai__find_share(g->user_sums, g->nusers, number);

  d->texts[PAI__TEXT_USER] = g->users[user];
  d->texts[PAI__TEXT_VC] = g->user_vcs[user];
}

static size_t write_id(char out[24], uint64_t number)
{
  char digits[24];
  size_t n = 0;

  do
    digits[n++] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  *out = 'j';
  for (size_t i = 0; i < n; i++)
    out[1 + i] = digits[n - 1 - i];
  return n + 1;
}

static int generate(pai_trace *t, pai_error **err)
{
  pai__generator *g = t->state;
  pai__draft *d = &t->draft;
  pai__draft_want want = { .tasks = 1 };
  pai__work work;
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
  rc = add_attempts(t, &work, g->faults ? draw_end(g, work.position) : PASSES);
  if (rc == PAI_OK)
    rc = pai__draft_add_want(d, &t->alloc, &want);
  if (rc < 0)
    return pai__oom(err);
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

static const pai__trace_form generated = { "generated", generate, NULL, end,
                                           false };

/* --- making one ------------------------------------------------------------- */

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
    return pai__fail(err, PAI_EINVAL, "jobs cannot be like number %d",
                     o->like);
  if (o->jobs > MOST_JOBS)
    return pai__fail(err, PAI_EINVAL, "there can be 10^9 jobs at most");
  if (o->gpus > MOST_CLUSTER || o->load > MOST_LOAD)
    return pai__fail(err, PAI_EINVAL,
                     "there can be 2^24 GPUs, and a load of "
                     "1000 times them, at most");
  if (o->users > MOST_NAMES || o->virtual_clusters > MOST_NAMES)
    return pai__fail(err, PAI_EINVAL,
                     "there can be 100,000 users and virtual "
                     "clusters at most");
  if (o->vc_names != NULL && o->virtual_clusters == 0)
    return pai__fail(err, PAI_EINVAL,
                     "names of virtual clusters need their number");
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

/* Zipf's: the second one comes half as often as the first, and so on. */
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

/* Each user is at home in one virtual cluster. */
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

    g->user_vcs[i] = vcs[pai__find_share(vc_sums, nvcs, number)];
    g->users[i] = keep_number(g, "u", i + 1);
    ok = g->users[i].s != NULL;
  }
  if (ok && o->model != NULL)
    g->model = keep_text(g, o->model);
  return ok && (o->model == NULL || g->model.s != NULL) ? PAI_OK : PAI_ENOMEM;
}

/* Counts all work, and makes jobs come so fast that it is what `load` says. */
static void set_pace(pai__generator *g, const pai_generate_options *o)
{
  uint64_t gpus = (uint64_t)o->load * o->gpus; /* thousandths */
  uint64_t milliseconds = 0, seconds = 0, span;
  pai__prng again = g->work;

  for (uint64_t i = 0; i < o->jobs; i++) {
    pai__work work = draw_work(g, &again);

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
