/* trial.c - rooms and shares as they might be */
#include "sched/trial.h"
#include "sched/shelf.h"

static int take_copy(pai__flat *real, pai__flat *f, const pai_alloc *alloc)
{
  *real = *f;
  pai__flat_init(f, real->size);
  return pai__flat_copy(f, real, alloc);
}

int pai__trial_begin(pai__trial *t, pai_sched *s)
{
  int rooms, used, lent;

  pai__shelves_leave(s);
  rooms = take_copy(&t->rooms, &s->rooms, &s->alloc);
  used = take_copy(&t->used, &s->shares_used, &s->alloc);
  lent = take_copy(&t->lent, &s->shares_lent, &s->alloc);
  return rooms < 0 || used < 0 || lent < 0 ? PAI_ENOMEM : PAI_OK;
}

static void copy_again(const pai__flat *real, pai__flat *f)
{
  if (real->len != 0)
    memcpy(f->data, real->data, (size_t)real->len * real->size);
}

void pai__trial_again(const pai__trial *t, pai_sched *s)
{
  copy_again(&t->rooms, &s->rooms);
  copy_again(&t->used, &s->shares_used);
  copy_again(&t->lent, &s->shares_lent);
}

static void give_back(pai__flat *real, pai__flat *f, const pai_alloc *alloc)
{
  pai__flat_dispose(f, alloc);
  *f = *real;
}

void pai__trial_end(pai__trial *t, pai_sched *s)
{
  give_back(&t->rooms, &s->rooms, &s->alloc);
  give_back(&t->used, &s->shares_used, &s->alloc);
  give_back(&t->lent, &s->shares_lent, &s->alloc);
  pai__shelves_return(s);
}
