/* queue.h - internal: requests, their instances, and the queue */
#ifndef PAI_SRC_SCHED_QUEUE_H
#define PAI_SRC_SCHED_QUEUE_H

#include "sched/core.h"

/* Adds a request to the end of the queue.  Changes nothing on failure.
 * Returns the codes of pai_sched_send(). */
int pai__req_add(pai_sched *s, const pai_request *q, pai_time now,
                 pai_error **err);
/* Returns the request with that id, or PAI__NONE. */
uint32_t pai__req_find(const pai_sched *s, uint64_t id);
/* The index of ids: reserve memory for one more; add a request; remove it.
 * pai__req_reserve_id() returns PAI_OK or PAI_ENOMEM. */
int pai__req_reserve_id(pai_sched *s);
void pai__req_add_id(pai_sched *s, uint32_t req);
void pai__req_remove_id(pai_sched *s, uint32_t req);

/* Puts a request into the queue or takes it out, after the number of its
 * waiting instances has changed. */
void pai__req_update(pai_sched *s, uint32_t req);
/* As pai__req_update(), but removes the request if it is done. */
void pai__req_settle(pai_sched *s, uint32_t req);
/* Sets the display name of a request; NULL: none.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__req_set_name(pai_sched *s, pai__req *r, const char *text);
/* Returns how many words of the pool a name takes. */
static inline uint32_t pai__name_words(const char *text)
{
  return pai__words_of(strlen(text) + 1);
}

/* Returns the number of tasks of a request. */
uint32_t pai__req_tasks(const pai_sched *s, const pai__req *r);
/* Returns whether a request can run with fewer tasks. */
bool pai__req_is_elastic(const pai_sched *s, const pai__req *r);

/* Adds `more` to the number of requests that wait for the request `id`. */
void pai__req_follow(pai_sched *s, uint64_t id, int more);
/* Make a request wait no longer for another one, or for any. */
void pai__req_unfollow(pai_sched *s, const pai__after *after);
void pai__req_unfollow_all(pai_sched *s, const pai__req *r);
/* pai__req_give() returns the lists and the name of a request to the pool.
 * pai__req_drop() returns its record to the free list. */
void pai__req_give(pai_sched *s, const pai__req *r);
void pai__req_drop(pai_sched *s, uint32_t req);
/* Checks whether a request could start on an empty cluster.  Returns PAI_OK,
 * PAI_ENOROOM with what lacks, or another code. */
int pai__req_check_possible(pai_sched *s, uint32_t req, pai_error **err);
/* Put a request into the class of what it asks for, and take it out of one.
 * The class takes over r->wants, a block of the pool of which nothing else
 * knows.  Returns PAI_OK, or PAI_ENOMEM and then changes nothing. */
int pai__class_join(pai_sched *s, pai__req *r);
void pai__class_leave(pai_sched *s, uint32_t class);
/* Returns how many words a list of n wants takes. */
static inline uint32_t pai__wants_words(uint32_t n)
{
  return pai__words_of(n * sizeof(pai__want));
}
/* Forgets which classes are possible, as the policy has changed. */
void pai__classes_doubt(pai_sched *s);
/* Moves the classes to another cluster, after their virtual clusters. */
void pai__classes_move(pai_sched *s, const pai__sched_cluster *cluster);
/* Returns a number that requests have in common if and only if they are
 * alike. */
uint64_t pai__alike_key(enum pai__alike alike, const pai__req *r);
/* A lookup of requests by class, for a finding that holds for all requests
 * that fit alike.  pai__found_alike() returns the request in it that fits as
 * `req` does, or PAI__NONE.  pai__found_keep() adds `req`, if there is memory
 * and no request of that class. */
uint32_t pai__found_alike(const pai_sched *s, const pai__lookup *found,
                          uint32_t req);
void pai__found_keep(pai_sched *s, pai__lookup *found, uint32_t req);

/* Counts the queued requests of each virtual cluster anew, after virtual
 * clusters have changed, or that of a request. */
void pai__queue_recount(pai_sched *s);
/* Returns how many virtual clusters have requests in the queue. */
uint32_t pai__queue_vcs(const pai_sched *s);

/* Names of lacks, by PAI_LACK_*; "" for PAI_LACK_NOTHING; NULL at the end. */
extern const char *const pai__lack_words[PAI_LACKS + 1];
/* Convert a reason to its public form, and back.  A node that does not exist
 * becomes PAI__NONE.  pai__reason_take() returns PAI_OK or PAI_ENOMEM. */
pai_reason pai__reason_of(const pai_sched *s, const pai__sched_reason *reason);
int pai__reason_take(pai_sched *s, const pai_reason *r,
                     pai__sched_reason *reason);

/* Stores the common reason of later requests of a virtual cluster.  Returns
 * PAI_OK or PAI_ENOMEM. */
int pai__vc_reason_keep(pai_sched *s, uint32_t vc_index,
                        const pai__vc_reason *vc_reason);
/* Returns the common reason that the last decision stored for a request, or
 * NULL. */
const pai__vc_reason *pai__vc_reason_for(const pai_sched *s,
                                         const pai__req *r);
/* Begins a decision in which the reason of one request holds for others that
 * are alike. */
void pai__alike_begin(pai_sched *s, enum pai__alike alike);
/* Stores a reason for the requests like `req` that come after it.  Returns
 * PAI_OK or PAI_ENOMEM. */
int pai__alike_refuse(pai_sched *s, uint32_t req,
                      const pai__sched_reason *reason);
/* As pai__alike_refuse(), with the recorded reason of `req`. */
int pai__alike_refuse_as_told(pai_sched *s, uint32_t req);
/* Records the reasons of alike requests for each of them, before a request
 * changes. */
void pai__alike_settle(pai_sched *s);
/* Returns the reason recorded for a request or for its class. */
pai__sched_reason pai__req_said(const pai_sched *s, uint32_t req);
/* Returns the record for the reason of a request.  It has the last reason. */
pai__sched_reason *pai__sched_reason_make(pai_sched *s, uint32_t req);
/* Sets a new reason with that lack and returns it, to be filled in. */
pai__sched_reason *pai__sched_reason_say(pai_sched *s, uint32_t req,
                                         uint32_t lack);
/* Removes the recorded reason of a request. */
void pai__sched_reason_drop(pai_sched *s, uint32_t req);
/* Returns why a request waits, as of when it was last considered. */
pai__sched_reason pai__req_reason(const pai_sched *s, uint32_t req);

/* Returns how many instances have not begun or wait again; 0 if the request is
 * cancelled. */
static inline uint32_t pai__req_waiting(const pai__req *r)
{
  return r->cancelled ? 0
                      : (uint32_t)r->instances - (uint32_t)r->next +
                          (uint32_t)r->returned;
}

/* Returns what keeps a request from starting, apart from room:
 * PAI_LACK_RELEASE, _STOPPED, _AFTER, _THROTTLE, or PAI_LACK_NOTHING. */
uint32_t pai__req_lack(const pai_sched *s, const pai__req *r);

/* Returns the run for the next waiting instance, not yet placed; PAI__NONE
 * without memory. */
uint32_t pai__run_next(pai_sched *s, uint32_t req);
/* Returns the run of an instance, or PAI__NONE; also if `req` is PAI__NONE. */
uint32_t pai__run_find(const pai_sched *s, uint32_t req, uint32_t instance);

/* Ends a run that holds nothing any more.  `ok`: it has succeeded. */
void pai__run_end(pai_sched *s, uint32_t run, bool ok);

/* Refusals in the current decision.  A request that is like a refused one, and
 * is tried in the same way, will be refused, too. */

enum pai__refusal_kind {
  PAI__REFUSAL_ROOM = 1, /* there is no room */
  PAI__REFUSAL_VICTIMS,  /* stopping other runs would not make room */
  PAI__REFUSAL_CELLS     /* the same, for cells */
};

/* Which requests are refused, and how they are tried: the kind, and then
 * numbers of which each kind has its own. */
typedef struct pai__refusal {
  uint64_t like[5];
  uint32_t req; /* the one that was tried */
} pai__refusal;

/* Returns the last request that was refused like that, or PAI__NONE. */
uint32_t pai__refusal_find(const pai_sched *s, const pai__refusal *how);
/* Stores a refusal.  Without memory it is forgotten. */
void pai__refusal_keep(pai_sched *s, const pai__refusal *how);
/* Forgets all refusals: there may be room again. */
void pai__refusals_forget(pai_sched *s);

#endif
