/*
 * refusal.h - internal: for whom no place was found in this decision
 *
 * Who is alike, and is looked at in the same way, finds none either.  They are
 * found by a hash; how they were looked at is compared here, and who is alike by
 * the caller: others may have the same hash.
 */
#ifndef PAI_SRC_SCHED_REFUSAL_H
#define PAI_SRC_SCHED_REFUSAL_H

#include "sched/core.h"

enum pai__refusal_kind {
  PAI__REFUSAL_ROOM = 1, /* there is no room */
  PAI__REFUSAL_VICTIMS,  /* and nobody can make some: */
  PAI__REFUSAL_CELLS     /* likewise, of cells */
};

/* How a request was looked at, and when: with that many things placed, decided
 * and claimed. */
typedef struct pai__refusal {
  uint64_t orders;
  uint32_t decisions, claims;
  uint32_t strategy;
  uint32_t req;
  uint8_t kind;
  bool beyond_share, holding;
} pai__refusal;

/* The request that was refused last of those of that hash, if it was looked at
 * in that way; or PAI__NONE. */
uint32_t pai__refusal_find(const pai_sched *s, uint64_t key,
                           const pai__refusal *how);
/* how->req was refused.  Without memory it is forgotten. */
void pai__refusal_keep(pai_sched *s, uint64_t key, const pai__refusal *how);
/* There may be room for all of them. */
void pai__refusals_forget(pai_sched *s);

#endif
