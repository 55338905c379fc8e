/* backfill.h - internal: the state of policy backfill */
#ifndef PAI_SRC_SCHED_BACKFILL_H
#define PAI_SRC_SCHED_BACKFILL_H

#include "sched/easy.h"
#include "sched/walk.h"

enum { PAI__BACKFILL_EASY, PAI__BACKFILL_CONSERVATIVE };

typedef struct pai__backfill {
  pai_alloc alloc;
  /* Options. */
  int mode, place;
  bool reclaim;
  int64_t depth; /* how many of a virtual cluster are planned; 0: all */
  int64_t reserve_after;
  int64_t assume; /* seconds that what does not say it takes; 0: for ever */

  pai__promises old, new;
  pai__easy easy;
  /* For the time of one decision. */
  pai__plan plan;
  pai__flat queue;     /* of pai__entry */
  pai__flat first_of;  /* of old promises */
  pai__flat promised;  /* requests of each tenant */
  pai__flat marks;     /* of requests: 1, it is fresh; of tenants: 1, the next
                         of it come later; of old promises: 1, it is kept */
  pai__lookup roomy;   /* shapes that would fit now, to a request */
  pai__lookup unmoved; /* shapes for which no promise can move, likewise */
  pai__promises moved; /* planned again: backfill_move.c */
  uint32_t moves;      /* requests for which that was tried */
  uint32_t npromised;  /* requests in all */
  uint64_t head;       /* the first of them */
} pai__backfill;

/* Starts an instance of a request that finds no room beside what is promised, if
 * the promises can be kept on other nodes.  1; 0, and what was found in the plan
 * is there still; or PAI_ENOMEM. */
int pai__backfill_move(pai__backfill *b, pai_sched *s, uint32_t req);

/* Slots of the policy (backfill_state.c). */
int pai__backfill_open(void **state, void *data, const pai_policy_host *host,
                       const pai_cluster *cluster, const char *text);
void pai__backfill_close(void *state);
int pai__backfill_clone(void **copy, const void *state, void *data,
                        const pai_policy_host *host);
int pai__backfill_save(const void *state, void *data, pai_write_cb write,
                       void *user_data);
int pai__backfill_load(void **state, void *data, const pai_policy_host *host,
                       const pai_cluster *cluster, const char *text,
                       const char *saved, size_t len);
int pai__backfill_event(void *state, void *data, const pai_policy_host *host,
                        const pai_sched_event *event);

#endif
