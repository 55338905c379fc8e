/*
 * ledger.h - internal: what virtual clusters and users had, and what they were
 * entitled to
 *
 * GPUs that nobody owns are nobody's to lend: they are used first.  What is
 * used beyond that and beyond the own share is borrowed of those who leave
 * theirs idle, in parts as these are, whole GPUs at any moment.  So the books
 * of who lends and who borrows are always equal.
 */
#ifndef PAI_SRC_SIM_LEDGER_H
#define PAI_SRC_SIM_LEDGER_H

#include "sched/flat.h"
#include "sim/scale.h"

typedef struct pai__account_vc {
  int64_t own;                  /* GPUs; -1: it has no share */
  int64_t used, lends, borrows; /* now */
  int64_t users;                /* who have jobs here, now */
  pai_time since;               /* up to where it is counted */
  int64_t time_used, time_lent, time_borrowed;
  int64_t each, rest; /* what each of its users was entitled to, and what could
                         not be divided */
} pai__account_vc;

/* A user in a virtual cluster. */
typedef struct pai__account_user {
  uint32_t vc, user;
  uint32_t jobs; /* there now */
  int64_t since; /* of `each` */
  int64_t entitled;
} pai__account_user;

typedef struct pai__ledger {
  const pai_alloc *alloc; /* borrowed */
  pai__account_vc *vcs;
  uint32_t nvcs;
  int64_t unowned;
  bool dirty; /* who lends and borrows has to be found anew */
  bool any;   /* somebody borrows */
  pai__flat users;
  pai__lookup index;
} pai__ledger;

/* `own` of each virtual cluster, of `gpus` in all.  PAI_OK or PAI_ENOMEM, and
 * then it can be disposed of. */
int pai__ledger_init(pai__ledger *l, const pai_alloc *alloc,
                     const int64_t *own, uint32_t nvcs, int64_t gpus);
void pai__ledger_dispose(pai__ledger *l);

/* A virtual cluster uses so many more, or less. */
void pai__ledger_use(pai__ledger *l, uint32_t vc, int64_t gpus, pai_time now);

/* A user's job comes to, and leaves, a virtual cluster.  *pair is what to say
 * when it leaves.  PAI_OK or PAI_ENOMEM. */
int pai__ledger_come(pai__ledger *l, uint32_t vc, uint32_t user, pai_time now,
                     uint32_t *pair);
void pai__ledger_leave(pai__ledger *l, uint32_t pair, pai_time now);

/* Time is about to go on. */
void pai__ledger_settle(pai__ledger *l, pai_time now);

/* What account says, if it is looked at now. */
pai__account_vc pai__ledger_vc(const pai__ledger *l, uint32_t vc,
                               pai_time now);
static inline const pai__account_user *pai__ledger_pair(const pai__ledger *l,
                                                        uint32_t pair)
{
  return (const pai__account_user *)l->users.data + pair;
}

/* Of pair i of users.len. */
pai__account_user pai__ledger_user(const pai__ledger *l, uint32_t i,
                                   pai_time now);

#endif
