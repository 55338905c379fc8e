/* plan_rows.c - times before which the plan has no place, by what they are of */
#include "sched/plan.h"

static bool is_same_row(const pai_sched *s, const pai__row *a,
                        const pai__row *b)
{
  return memcmp(a->like, b->like, sizeof(a->like)) == 0 &&
         (a->req == PAI__NONE) == (b->req == PAI__NONE) &&
         (a->req == PAI__NONE || pai__req_fits_alike(s, pai__req_at(s, a->req),
                                                     pai__req_at(s, b->req)));
}

static uint64_t hash_of(const pai_sched *s, const pai__row *row)
{
  uint64_t h = row->req != PAI__NONE ? pai__req_at(s, row->req)->shape : 1;

  for (size_t i = 0; i < PAI__LEN(row->like); i++)
    h = pai__mix(h, row->like[i]);
  return h | 1;
}

uint32_t pai__plan_row(pai__plan *p, const pai_sched *s, pai__row row,
                       uint32_t n)
{
  uint64_t key = hash_of(s, &row);
  uint32_t i;

  while ((i = pai__lookup_get(&p->row_of, key)) != PAI__NONE) {
    const pai__row *known = (const pai__row *)p->row_list.data + i;

    if (is_same_row(s, known, &row))
      return known->at;
    key = pai__mix(key, 1) | 1;
  }
  if (pai__lookup_reserve(&p->row_of, &p->alloc) < 0 ||
      pai__flat_reserve(&p->row_list, &p->alloc, 1) < 0 ||
      pai__flat_reserve(&p->rows, &p->alloc, n) < 0)
    return PAI__NONE;
  row.at = pai__flat_push(&p->rows, n);
  for (i = 0; i < n; i++)
    pai__row_at(p, row.at)[i] = p->now;
  i = pai__flat_push(&p->row_list, 1);
  ((pai__row *)p->row_list.data)[i] = row;
  pai__lookup_add(&p->row_of, key, i);
  return row.at;
}

void pai__plan_forget_rows(pai__plan *p)
{
  p->rows.len = p->row_list.len = 0;
  pai__lookup_clear(&p->row_of);
}
