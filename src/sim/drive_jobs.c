/* drive_jobs.c - the jobs of a drive: where they are, and how they are found */
#include "sim/driving.h"

enum { CHUNK = 256, FIRST_INDEX = 64 };

/* --- places --------------------------------------------------------------- */

pai__djob *pai__drive_job(const pai__drive *d, uint32_t slot)
{
  return (pai__djob *)(d->chunks[slot / CHUNK] +
                       (size_t)(slot % CHUNK) * d->o.job_size);
}

static int add_chunk(pai__drive *d)
{
  char *chunk;

  if (d->nchunks == d->chunk_cap) {
    uint32_t cap = d->chunk_cap + d->chunk_cap / 2 + 8;
    char **chunks =
      pai__realloc(&d->alloc, d->chunks, d->chunk_cap, cap, sizeof(*chunks));

    if (chunks == NULL)
      return PAI_ENOMEM;
    d->chunks = chunks;
    d->chunk_cap = cap;
  }
  chunk = pai__zalloc(&d->alloc, CHUNK * d->o.job_size);
  if (chunk == NULL)
    return PAI_ENOMEM;
  d->chunks[d->nchunks++] = chunk;
  for (uint32_t i = CHUNK; i-- > 0;) {
    uint32_t slot = (d->nchunks - 1) * CHUNK + i;
    pai__djob *job = pai__drive_job(d, slot);

    job->slot = slot;
    job->timer = d->free_job;
    d->free_job = slot;
  }
  return PAI_OK;
}

/* --- the index ------------------------------------------------------------ */

static uint32_t home(const pai__drive *d, uint64_t id, uint32_t instance)
{
  uint64_t h = (id ^ (uint64_t)instance << 40) * UINT64_C(0x9e3779b97f4a7c15);

  return (uint32_t)(h >> 32) & (d->nindex - 1);
}

static uint32_t *find(const pai__drive *d, uint64_t id, uint32_t instance)
{
  uint32_t i = home(d, id, instance);

  for (; d->index[i] != 0; i = (i + 1) & (d->nindex - 1)) {
    const pai__djob *job = pai__drive_job(d, d->index[i] - 1);

    if (job->id == id && job->instance == instance)
      break;
  }
  return &d->index[i];
}

pai__djob *pai__drive_find(const pai__drive *d, uint64_t id, uint32_t instance)
{
  uint32_t slot = d->nindex != 0 ? *find(d, id, instance) : 0;

  return slot != 0 ? pai__drive_job(d, slot - 1) : NULL;
}

static int grow_index(pai__drive *d)
{
  uint32_t old = d->nindex, *from = d->index;
  uint32_t n = old != 0 ? old * 2 : FIRST_INDEX;
  uint32_t *index = pai__zalloc(&d->alloc, n * sizeof(*index));

  if (index == NULL)
    return PAI_ENOMEM;
  d->index = index;
  d->nindex = n;
  for (uint32_t i = 0; i < old; i++)
    if (from[i] != 0) {
      const pai__djob *job = pai__drive_job(d, from[i] - 1);

      *find(d, job->id, job->instance) = from[i];
    }
  pai__free(&d->alloc, from, old * sizeof(*from));
  return PAI_OK;
}

/* What stands behind it moves up, so that nothing is hidden behind a gap. */
static void unindex(pai__drive *d, const pai__djob *job)
{
  uint32_t mask = d->nindex - 1;
  uint32_t gap = (uint32_t)(find(d, job->id, job->instance) - d->index);

  for (uint32_t i = (gap + 1) & mask; d->index[i] != 0; i = (i + 1) & mask) {
    const pai__djob *other = pai__drive_job(d, d->index[i] - 1);
    uint32_t from = home(d, other->id, other->instance);

    if (((i - from) & mask) < ((i - gap) & mask))
      continue; /* it is at home between the gap and here */
    d->index[gap] = d->index[i];
    gap = i;
  }
  d->index[gap] = 0;
}

/* --- coming and going ----------------------------------------------------- */

int pai__drive_make(pai__drive *d, pai__djob **out, uint64_t id,
                    uint32_t instance, const pai__job_form *form)
{
  pai__djob *job;
  uint32_t slot;

  *out = NULL;
  if (d->free_job == PAI__NO_TIMER && add_chunk(d) < 0)
    return PAI_ENOMEM;
  if (d->njobs >= d->nindex / 2 && grow_index(d) < 0)
    return PAI_ENOMEM;
  slot = d->free_job;
  job = pai__drive_job(d, slot);
  d->free_job = job->timer;
  memset(job, 0, d->o.job_size);
  job->slot = slot;
  job->timer = PAI__NO_TIMER;
  job->id = id;
  job->instance = instance;
  job->started = job->lasts = -1;
  *find(d, id, instance) = slot + 1;
  d->njobs++;
  if (pai__job_init(&job->life, &d->alloc, form,
                    d->o.seed ^ id * UINT64_C(0xff51afd7ed558ccd)) < 0) {
    pai__drive_unmake(d, job);
    return PAI_ENOMEM;
  }
  *out = job;
  return PAI_OK;
}

void pai__drive_unmake(pai__drive *d, pai__djob *job)
{
  pai__timer_drop(&d->timers, &job->timer);
  pai__job_dispose(&job->life);
  unindex(d, job);
  job->id = 0;
  job->timer = d->free_job;
  d->free_job = job->slot;
  d->njobs--;
}

pai__djob *pai__drive_each(const pai__drive *d, uint32_t *slot)
{
  while (*slot < d->nchunks * CHUNK) {
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
  for (uint32_t i = 0; i < d->nchunks; i++)
    pai__free(&d->alloc, d->chunks[i], CHUNK * d->o.job_size);
  pai__free(&d->alloc, d->chunks, d->chunk_cap * sizeof(*d->chunks));
  pai__free(&d->alloc, d->index, d->nindex * sizeof(*d->index));
  d->nchunks = d->chunk_cap = d->nindex = d->njobs = 0;
  d->chunks = NULL;
  d->index = NULL;
}
