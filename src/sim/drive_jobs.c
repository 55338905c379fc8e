/* drive_jobs.c - the jobs of a drive: where they are, and how they are found */
#include "sim/driving.h"

#include "sched/queue.h"

enum { CHUNK = 256, FIRST_INDEX = 64 };

#define WAITS (UINT32_C(1) << 31) /* in the index: it is among those */

/* --- places --------------------------------------------------------------- */

static void *at(const pai__dplaces *p, uint32_t slot)
{
  return p->chunks[slot / CHUNK] + (size_t)(slot % CHUNK) * p->size;
}

static uint32_t *link_of(const pai__dplaces *p, uint32_t slot)
{
  return (uint32_t *)(void *)((char *)at(p, slot) + p->timer);
}

static int add_chunk(pai__dplaces *p, const pai_alloc *alloc)
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

/* A slot that is not in use, or PAI__NONE. */
static uint32_t take_slot(pai__dplaces *p, const pai_alloc *alloc)
{
  uint32_t slot;

  if (p->free == PAI__NONE && add_chunk(p, alloc) < 0)
    return PAI__NONE;
  slot = p->free;
  p->free = *link_of(p, slot);
  return slot;
}

static void give_slot(pai__dplaces *p, uint32_t slot)
{
  *link_of(p, slot) = p->free;
  p->free = slot;
}

static void drop_chunks(pai__dplaces *p, const pai_alloc *alloc)
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
  size_t wait = d->o.wait_size != 0 ? d->o.wait_size : sizeof(pai__dwait);

  d->jobs = (pai__dplaces){ .free = PAI__NONE,
                            .size = d->o.job_size,
                            .timer = offsetof(pai__djob, timer) };
  d->waits = (pai__dplaces){ .free = PAI__NONE,
                             .size = wait,
                             .timer = offsetof(pai__dwait, timer) };
}

pai__djob *pai__drive_job(const pai__drive *d, uint32_t slot)
{
  return at(&d->jobs, slot);
}

pai__dwait *pai__drive_wait_at(const pai__drive *d, uint32_t slot)
{
  return at(&d->waits, slot);
}

/* --- the index ------------------------------------------------------------ */

typedef struct who {
  uint64_t id;
  uint32_t instance;
} who;

/* Those that wait are the first of their request. */
static who who_is(const pai__drive *d, uint32_t entry)
{
  const pai__djob *job;

  if ((entry & WAITS) != 0)
    return (who){ pai__drive_wait_at(d, (entry & ~WAITS) - 1)->id, 0 };
  job = pai__drive_job(d, entry - 1);
  return (who){ job->id, job->instance };
}

static uint32_t home(const pai__drive *d, who x)
{
  uint64_t h =
    (x.id ^ (uint64_t)x.instance << 40) * UINT64_C(0x9e3779b97f4a7c15);

  return (uint32_t)(h >> 32) & (d->nindex - 1);
}

static uint32_t *find(const pai__drive *d, who x)
{
  uint32_t i = home(d, x);

  for (; d->index[i] != 0; i = (i + 1) & (d->nindex - 1)) {
    who other = who_is(d, d->index[i]);

    if (other.id == x.id && other.instance == x.instance)
      break;
  }
  return &d->index[i];
}

static uint32_t entry_of(const pai__drive *d, uint64_t id, uint32_t instance)
{
  return d->nindex != 0 ? *find(d, (who){ id, instance }) : 0;
}

pai__djob *pai__drive_find(const pai__drive *d, uint64_t id, uint32_t instance)
{
  uint32_t entry = entry_of(d, id, instance);

  return entry != 0 && (entry & WAITS) == 0 ? pai__drive_job(d, entry - 1)
                                            : NULL;
}

pai__dwait *pai__drive_find_wait(const pai__drive *d, uint64_t id)
{
  uint32_t entry = entry_of(d, id, 0);

  return (entry & WAITS) != 0 ? pai__drive_wait_at(d, (entry & ~WAITS) - 1)
                              : NULL;
}

/* Room for one more.  It is never full by more than three quarters. */
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

/* What stands behind it moves up, so that nothing is hidden behind a gap. */
static void unindex(pai__drive *d, who x)
{
  uint32_t mask = d->nindex - 1;
  uint32_t gap = (uint32_t)(find(d, x) - d->index);

  for (uint32_t i = (gap + 1) & mask; d->index[i] != 0; i = (i + 1) & mask) {
    uint32_t from = home(d, who_is(d, d->index[i]));

    if (((i - from) & mask) < ((i - gap) & mask))
      continue; /* it is at home between the gap and here */
    d->index[gap] = d->index[i];
    gap = i;
  }
  d->index[gap] = 0;
}

/* --- waiting -------------------------------------------------------------- */

int pai__drive_await(pai__drive *d, pai__dwait **out, uint64_t id)
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
  **out = (pai__dwait){ id, slot, PAI__NO_TIMER };
  *find(d, (who){ id, 0 }) = (slot + 1) | WAITS;
  d->njobs++;
  d->nwaits++;
  return PAI_OK;
}

static void give_wait(pai__drive *d, pai__dwait *wait)
{
  pai__timer_drop(&d->timers, &wait->timer);
  wait->id = 0;
  give_slot(&d->waits, wait->slot);
  d->nwaits--;
}

void pai__drive_unawait(pai__drive *d, pai__dwait *wait)
{
  unindex(d, (who){ wait->id, 0 });
  d->njobs--;
  give_wait(d, wait);
}

pai__dwait *pai__drive_each_wait(const pai__drive *d, uint32_t *slot)
{
  while (*slot < d->waits.nchunks * CHUNK) {
    pai__dwait *wait = pai__drive_wait_at(d, (*slot)++);

    if (wait->id != 0)
      return wait;
  }
  return NULL;
}

/* --- living --------------------------------------------------------------- */

static const pai__form_role alone = { 1, 1, 0, { false, 0 } };
static const pai__job_form as_found = {
  .roles = &alone, .nroles = 1, .retry = { true, 0 }, .raw = true
};

pai_time pai__drive_submitted(const pai__drive *d, uint64_t id)
{
  uint32_t req = pai__req_find(d->sched, id);

  return req != PAI__NONE ? pai__req_at(d->sched, req)->submitted : 0;
}

/* To ask for room, which was done when it came. */
static void ask(pai__job *life)
{
  pai__action a;

  while (pai__job_next(life, 1, &a))
    continue;
}

/* What is behind it, and its life. */
static int begin(pai__drive *d, pai__djob *job, const pai__dwait *wait)
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

int pai__drive_born(pai__drive *d, pai__djob **out, uint64_t id,
                    uint32_t instance)
{
  uint32_t slot, *entry;
  pai__dwait *wait = NULL;
  pai__djob *job;
  int rc;

  *out = NULL;
  if (reserve_index(d) < 0)
    return PAI_ENOMEM;
  entry = find(d, (who){ id, instance });
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
  job->req = pai__req_find(d->sched, id);
  job->submitted = pai__req_at(d->sched, job->req)->submitted;
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

void pai__drive_unmake(pai__drive *d, pai__djob *job)
{
  pai__timer_drop(&d->timers, &job->timer);
  pai__job_dispose(&job->life);
  unindex(d, (who){ job->id, job->instance });
  job->id = 0;
  give_slot(&d->jobs, job->slot);
  d->njobs--;
}

pai__djob *pai__drive_each(const pai__drive *d, uint32_t *slot)
{
  while (*slot < d->jobs.nchunks * CHUNK) {
    pai__djob *job = pai__drive_job(d, (*slot)++);

    if (job->id != 0)
      return job;
  }
  return NULL;
}

void pai__drive_forget(pai__drive *d)
{
  pai__djob *job;

  for (uint32_t i = 0; (job = pai__drive_each(d, &i)) != NULL;)
    pai__job_dispose(&job->life);
  drop_chunks(&d->jobs, &d->alloc);
  drop_chunks(&d->waits, &d->alloc);
  pai__free(&d->alloc, d->index, d->nindex * sizeof(*d->index));
  d->nindex = d->njobs = d->nwaits = 0;
  d->index = NULL;
}
