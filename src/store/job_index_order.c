/*
 * job_index_order.c - sorted list of jobs, optimized for changes at its ends
 *
 * Inserting or removing moves the shorter side: new jobs come at the end, and
 * jobs that are dropped, or wait no longer, leave at the front.
 */
#include "store/job_index.h"

static bool is_before(const pai__job_index_list *l,
                      const pai__job_index_row *row, pai_time submitted,
                      uint64_t id)
{
  if (!l->by_id && row->job.submitted != submitted)
    return row->job.submitted < submitted;
  return row->job.id < id;
}

size_t pai__job_index_place(const pai__job_index_list *l, pai_time submitted,
                            uint64_t id)
{
  size_t low = 0, high = l->n;

  if (high > 0 && is_before(l, l->at[l->begin + high - 1], submitted, id))
    return high; /* the common case */
  while (low < high) {
    size_t middle = low + (high - low) / 2;

    if (is_before(l, l->at[l->begin + middle], submitted, id))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Ensures space for one more at the end. */
static int make_room(pai__job_index_list *l, const pai_alloc *alloc)
{
  if (l->begin + l->n < l->cap)
    return PAI_OK;
  if (l->begin <= l->cap / 4)
    return pai__vec_grow(alloc, (void *)&l->at, &l->cap, sizeof(*l->at));
  memmove(l->at, l->at + l->begin, l->n * sizeof(*l->at));
  l->begin = 0;
  return PAI_OK;
}

int pai__job_index_insert(pai__job_index_list *l, pai__job_index_row *row,
                          const pai_alloc *alloc)
{
  size_t i = pai__job_index_place(l, row->job.submitted, row->job.id);
  pai__job_index_row **at;

  if (l->begin > 0 && i < l->n / 2) {
    at = l->at + --l->begin;
    memmove(at, at + 1, i * sizeof(*at));
  } else {
    if (make_room(l, alloc) < 0)
      return PAI_ENOMEM;
    at = l->at + l->begin;
    memmove(at + i + 1, at + i, (l->n - i) * sizeof(*at));
  }
  at[i] = row;
  l->n++;
  return PAI_OK;
}

void pai__job_index_remove(pai__job_index_list *l,
                           const pai__job_index_row *row,
                           const pai_alloc *alloc)
{
  size_t i = pai__job_index_place(l, row->job.submitted, row->job.id);
  pai__job_index_row **at = l->at + l->begin;

  if (--l->n == 0) {
    pai__job_index_dispose(l, alloc);
  } else if (i < l->n / 2) {
    memmove(at + 1, at, i * sizeof(*at));
    l->begin++;
  } else {
    memmove(at + i, at + i + 1, (l->n - i) * sizeof(*at));
  }
}

void pai__job_index_dispose(pai__job_index_list *l, const pai_alloc *alloc)
{
  pai__free(alloc, l->at, l->cap * sizeof(*l->at));
  *l = (pai__job_index_list){ .by_id = l->by_id };
}
