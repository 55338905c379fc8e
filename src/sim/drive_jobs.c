/* drive_jobs.c - records, index and timers of the driver's jobs */
#include "sim/drive.h"

enum { CHUNK = 256, FIRST_INDEX = 64 };

#define WAITS (UINT32_C(1) << 31) /* index bit: slot of `waits` */

/* --- pools of records ---------------------------------------------------- */

static void *at(const pai__drive_places *p, uint32_t slot)
{
  return p->chunks[slot / CHUNK] + (size_t)(slot % CHUNK) * p->size;
}

static uint32_t *link_of(const pai__drive_places *p, uint32_t slot)
{
  return (uint32_t *)(void *)((char *)at(p, slot) + p->timer);
}

static int add_chunk(pai__drive_places *p, const pai_alloc *alloc)
{
  char *chunk;

  if (p->nchunks == p->cap) {
    uint32_t cap = p->cap + p->cap / 2 + 8;
    char **chunks =
      pai__realloc(alloc, p->chunks, p->cap, cap, sizeof(*chunks));

    if (chunks == NULL)
      return PAI_ENOMEM;
    p->chunks = chunks;
    p->cap = cap;
  }
  chunk = pai__zalloc(alloc, CHUNK * p->size);
  if (chunk == NULL)
    return PAI_ENOMEM;
  p->chunks[p->nchunks++] = chunk;
  for (uint32_t i = CHUNK; i-- > 0;) {
    uint32_t slot = (p->nchunks - 1) * CHUNK + i;

    *link_of(p, slot) = p->free;
    p->free = slot;
  }
  return PAI_OK;
}

/* Returns a free slot, or PAI__NONE without memory. */
static uint32_t take_slot(pai__drive_places *p, const pai_alloc *alloc)
{
  uint32_t slot;

  if (p->free == PAI__NONE && add_chunk(p, alloc) < 0)
    return PAI__NONE;
  slot = p->free;
  p->free = *link_of(p, slot);
  return slot;
}

static void give_slot(pai__drive_places *p, uint32_t slot)
{
  *link_of(p, slot) = p->free;
  p->free = slot;
}

static void drop_chunks(pai__drive_places *p, const pai_alloc *alloc)
{
  for (uint32_t i = 0; i < p->nchunks; i++)
    pai__free(alloc, p->chunks[i], CHUNK * p->size);
  pai__free(alloc, p->chunks, p->cap * sizeof(*p->chunks));
  p->chunks = NULL;
  p->nchunks = p->cap = 0;
  p->free = PAI__NONE;
}

void pai__drive_open_jobs(pai__drive *d)
{
  size_t wait =
    d->o.wait_size != 0 ? d->o.wait_size : sizeof(pai__waiting_job);

  d->jobs = (pai__drive_places){ .free = PAI__NONE,
                                 .size = d->o.job_size,
                                 .timer = offsetof(pai__driven_job, timer) };
  d->waits = (pai__drive_places){ .free = PAI__NONE,
                                  .size = wait,
                                  .timer = offsetof(pai__waiting_job, timer) };
}

pai__driven_job *pai__drive_job(const pai__drive *d, uint32_t slot)
{
  return at(&d->jobs, slot);
}

pai__waiting_job *pai__drive_wait_at(const pai__drive *d, uint32_t slot)
{
  return at(&d->waits, slot);
}

/* --- the index ----------------------------------------------------------- */

typedef struct run_id {
  uint64_t id;
  uint32_t instance;
} run_id;

/* A waiting job is always instance 0 of its request. */
static run_id who_is(const pai__drive *d, uint32_t entry)
{
  const pai__driven_job *job;

  if ((entry & WAITS) != 0)
    return (run_id){ pai__drive_wait_at(d, (entry & ~WAITS) - 1)->id, 0 };
  job = pai__drive_job(d, entry - 1);
  return (run_id){ job->id, job->instance };
}

static uint32_t home(const pai__drive *d, run_id x)
{
  uint64_t h =
    (x.id ^ (uint64_t)x.instance << 40) * UINT64_C(0x9e3779b97f4a7c15);

  return (uint32_t)(h >> 32) & (d->nindex - 1);
}

static uint32_t *find(const pai__drive *d, run_id x)
{
  uint32_t i = home(d, x);

  for (; d->index[i] != 0; i = (i + 1) & (d->nindex - 1)) {
    run_id other = who_is(d, d->index[i]);

    if (other.id == x.id && other.instance == x.instance)
      break;
  }
  return &d->index[i];
}

static uint32_t entry_of(const pai__drive *d, uint64_t id, uint32_t instance)
{
  return d->nindex != 0 ? *find(d, (run_id){ id, instance }) : 0;
}

pai__driven_job *pai__drive_find(const pai__drive *d, uint64_t id,
                                 uint32_t instance)
{
  uint32_t entry = entry_of(d, id, instance);

  return entry != 0 && (entry & WAITS) == 0 ? pai__drive_job(d, entry - 1)
                                            : NULL;
}

pai__waiting_job *pai__drive_find_wait(const pai__drive *d, uint64_t id)
{
  uint32_t entry = entry_of(d, id, 0);

  return (entry & WAITS) != 0 ? pai__drive_wait_at(d, (entry & ~WAITS) - 1)
                              : NULL;
}

/* Makes space for one more entry; at most three quarters are used. */
static int reserve_index(pai__drive *d)
{
  uint32_t old = d->nindex, *from = d->index;
  uint32_t n = old != 0 ? old * 2 : FIRST_INDEX;
  uint32_t *index;

  if (d->njobs + 1 <= old / 4 * 3)
    return PAI_OK;
  index = pai__zalloc(&d->alloc, n * sizeof(*index));
  if (index == NULL)
    return PAI_ENOMEM;
  d->index = index;
  d->nindex = n;
  for (uint32_t i = 0; i < old; i++)
    if (from[i] != 0)
      *find(d, who_is(d, from[i])) = from[i];
  pai__free(&d->alloc, from, old * sizeof(*from));
  return PAI_OK;
}

/* Removes an entry and moves later ones up, so that linear probing finds
 * them. */
static void unindex(pai__drive *d, run_id x)
{
  uint32_t mask = d->nindex - 1;
  uint32_t gap = (uint32_t)(find(d, x) - d->index);

  for (uint32_t i = (gap + 1) & mask; d->index[i] != 0; i = (i + 1) & mask) {
    uint32_t from = home(d, who_is(d, d->index[i]));

    if (((i - from) & mask) < ((i - gap) & mask))
      continue; /* its home is between the gap and here */
    d->index[gap] = d->index[i];
    gap = i;
  }
  d->index[gap] = 0;
}

/* --- waiting jobs -------------------------------------------------------- */

int pai__drive_await(pai__drive *d, pai__waiting_job **out, uint64_t id)
{
  uint32_t slot;

  *out = NULL;
  if (reserve_index(d) < 0)
    return PAI_ENOMEM;
  slot = take_slot(&d->waits, &d->alloc);
  if (slot == PAI__NONE)
    return PAI_ENOMEM;
  *out = pai__drive_wait_at(d, slot);
  memset(*out, 0, d->waits.size);
  **out = (pai__waiting_job){ id, slot, PAI__NO_TIMER };
  *find(d, (run_id){ id, 0 }) = (slot + 1) | WAITS;
  d->njobs++;
  d->nwaits++;
  return PAI_OK;
}

static void give_wait(pai__drive *d, pai__waiting_job *wait)
{
  pai__timer_drop(&d->timers, &wait->timer);
  wait->id = 0;
  give_slot(&d->waits, wait->slot);
  d->nwaits--;
}

void pai__drive_unawait(pai__drive *d, pai__waiting_job *wait)
{
  unindex(d, (run_id){ wait->id, 0 });
  d->njobs--;
  give_wait(d, wait);
}

pai__waiting_job *pai__drive_each_wait(const pai__drive *d, uint32_t *slot)
{
  while (*slot < d->waits.nchunks * CHUNK) {
    pai__waiting_job *wait = pai__drive_wait_at(d, (*slot)++);

    if (wait->id != 0)
      return wait;
  }
  return NULL;
}

/* --- jobs with a fold ---------------------------------------------------- */

static const pai__form_role alone = { 1, 1, 0, { false, 0 } };
static const pai__job_form as_found = {
  .roles = &alone, .nroles = 1, .retry = { true, 0 }, .raw = true
};

pai_time pai__drive_submitted(const pai__drive *d, uint64_t id)
{
  pai__request_info r;

  return pai__inspect_request(d->sched, id, &r) ? r.submitted : 0;
}

/* Drops the first actions: the request was submitted before. */
static void ask(pai__job *life)
{
  pai__action a;

  while (pai__job_next(life, 1, &a))
    continue;
}

/* Copies the caller's data and makes the fold. */
static int begin(pai__drive *d, pai__driven_job *job,
                 const pai__waiting_job *wait)
{
  const pai__job_form *form = &as_found;
  int rc = PAI_OK;

  if (wait != NULL && d->o.ops->begins != NULL)
    rc = d->o.ops->begins(d->o.data, wait, job, &form);
  if (rc == PAI_OK)
    rc = pai__job_init(&job->life, &d->alloc, form,
                       d->o.seed ^ job->id * UINT64_C(0xff51afd7ed558ccd));
  if (rc == PAI_OK)
    ask(&job->life);
  return rc;
}

int pai__drive_born(pai__drive *d, pai__driven_job **out, uint64_t id,
                    uint32_t instance)
{
  uint32_t slot, *entry;
  pai__waiting_job *wait = NULL;
  pai__driven_job *job;
  int rc;

  *out = NULL;
  if (reserve_index(d) < 0)
    return PAI_ENOMEM;
  entry = find(d, (run_id){ id, instance });
  if ((*entry & WAITS) != 0)
    wait = pai__drive_wait_at(d, (*entry & ~WAITS) - 1);
  else if (*entry != 0)
    *out = pai__drive_job(d, *entry - 1);
  if (*out != NULL)
    return PAI_OK;
  slot = take_slot(&d->jobs, &d->alloc);
  if (slot == PAI__NONE)
    return PAI_ENOMEM;
  job = pai__drive_job(d, slot);
  memset(job, 0, d->o.job_size);
  job->slot = slot;
  job->timer = PAI__NO_TIMER;
  job->instance = instance;
  job->started = job->lasts = -1;
  job->id = id;
  job->submitted = pai__drive_submitted(d, id);
  rc = begin(d, job, wait);
  if (rc < 0) {
    pai__job_dispose(&job->life);
    job->id = 0;
    give_slot(&d->jobs, slot);
    return rc;
  }
  *entry = slot + 1;
  d->njobs += wait == NULL;
  if (wait != NULL)
    give_wait(d, wait);
  *out = job;
  return PAI_OK;
}

void pai__drive_unmake(pai__drive *d, pai__driven_job *job)
{
  pai__timer_drop(&d->timers, &job->timer);
  pai__job_dispose(&job->life);
  unindex(d, (run_id){ job->id, job->instance });
  job->id = 0;
  give_slot(&d->jobs, job->slot);
  d->njobs--;
}

pai__driven_job *pai__drive_each(const pai__drive *d, uint32_t *slot)
{
  while (*slot < d->jobs.nchunks * CHUNK) {
    pai__driven_job *job = pai__drive_job(d, (*slot)++);

    if (job->id != 0)
      return job;
  }
  return NULL;
}

void pai__drive_forget(pai__drive *d)
{
  pai__driven_job *job;

  for (uint32_t i = 0; (job = pai__drive_each(d, &i)) != NULL;)
    pai__job_dispose(&job->life);
  drop_chunks(&d->jobs, &d->alloc);
  drop_chunks(&d->waits, &d->alloc);
  pai__free(&d->alloc, d->index, d->nindex * sizeof(*d->index));
  d->nindex = d->njobs = d->nwaits = 0;
  d->index = NULL;
}

/* --- timers -------------------------------------------------------------- */

void pai__timers_dispose(pai__timers *t, const pai_alloc *alloc)
{
  pai__free(alloc, t->heap, t->cap * sizeof(*t->heap));
  *t = (pai__timers){ 0 };
}

static bool is_before(const pai__sim_timer *a, const pai__sim_timer *b)
{
  return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void put_timer(pai__timers *t, size_t i, const pai__sim_timer *x)
{
  t->heap[i] = *x;
  *x->at = (uint32_t)i;
}

static void rise(pai__timers *t, size_t i, const pai__sim_timer *x)
{
  while (i > 0 && is_before(x, &t->heap[(i - 1) / 4])) {
    put_timer(t, i, &t->heap[(i - 1) / 4]);
    i = (i - 1) / 4;
  }
  put_timer(t, i, x);
}

/* Returns the first of the entries below i, or len. */
static size_t first_below(const pai__timers *t, size_t i)
{
  size_t first = 4 * i + 1, end = first + 4;

  end = end < t->len ? end : t->len;
  for (size_t k = first + 1; k < end; k++)
    if (is_before(&t->heap[k], &t->heap[first]))
      first = k;
  return first < t->len ? first : t->len;
}

static void sink(pai__timers *t, size_t i, const pai__sim_timer *x)
{
  size_t below = first_below(t, i);

  while (below < t->len && is_before(&t->heap[below], x)) {
    put_timer(t, i, &t->heap[below]);
    i = below;
    below = first_below(t, i);
  }
  put_timer(t, i, x);
}

void pai__timer_drop(pai__timers *t, uint32_t *at)
{
  size_t i = *at;
  pai__sim_timer last;

  if (*at == PAI__NO_TIMER)
    return;
  t->nodes -= pai__timer_kind_of(&t->heap[i]) == PAI__TIMER_NODE;
  *at = PAI__NO_TIMER;
  last = t->heap[--t->len];
  if (i == t->len)
    return;
  if (i > 0 && is_before(&last, &t->heap[(i - 1) / 4]))
    rise(t, i, &last);
  else
    sink(t, i, &last);
}

int pai__timer_set(pai__timers *t, const pai_alloc *alloc, uint32_t *at,
                   enum pai__timer_kind kind, uint32_t who, pai_time time)
{
  pai__sim_timer x = { time, (uint64_t)kind << 56 | ++t->numbers, at, who };

  pai__timer_drop(t, at);
  if (PAI__VEC_ROOM(alloc, t->heap, t->len, t->cap) < 0)
    return PAI_ENOMEM;
  t->nodes += kind == PAI__TIMER_NODE;
  rise(t, t->len++, &x);
  return PAI_OK;
}
