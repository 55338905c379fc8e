/* queue.h - internal: requests, their instances, and who comes first */
#ifndef PAI_SRC_SCHED_QUEUE_H
#define PAI_SRC_SCHED_QUEUE_H

#include "sched/core.h"

/* A request as it was asked for; it waits at the end of the queue.  Changes
 * nothing when it fails, with the codes of pai_sched_send(). */
int pai__req_add(pai_sched *s, const pai_request *q, pai_time now,
                 pai_error **err);
/* By its id, or PAI__NONE. */
uint32_t pai__req_find(const pai_sched *s, uint64_t id);
/* It is found from now on, and there is room for that; or no longer. */
int pai__req_reserve_id(pai_sched *s);
void pai__req_add_id(pai_sched *s, uint32_t req);
void pai__req_remove_id(pai_sched *s, uint32_t req);

/* How many of it wait has changed. */
void pai__req_update(pai_sched *s, uint32_t req);
/* Likewise; and if it is done, it goes. */
void pai__req_settle(pai_sched *s, uint32_t req);
/* Its name for people; NULL: none.  PAI_OK or PAI_ENOMEM. */
int pai__req_set_name(pai_sched *s, pai__req *r, const char *text);
/* How many words of the pool a name takes. */
static inline uint32_t pai__name_words(const char *text)
{
  return pai__words_of(strlen(text) + 1);
}

/* Would it do with fewer tasks? */
bool pai__req_is_elastic(const pai_sched *s, const pai__req *r);

/* So many more wait for a request. */
void pai__req_follow(pai_sched *s, uint64_t id, int more);
/* It does not wait for that any more, or for nothing. */
void pai__req_unfollow(pai_sched *s, const pai__after *after);
void pai__req_unfollow_all(pai_sched *s, const pai__req *r);
/* Its parts go back to the pool; it is not in use any more. */
void pai__req_give(pai_sched *s, const pai__req *r);
void pai__req_drop(pai_sched *s, uint32_t req);
/* The virtual cluster of that name, NULL being the default one. */
uint32_t pai__tenant_of(const pai_sched *s, const char *vc);
/* Could it ever start?  PAI_OK, or PAI_ENOROOM with what lacks. */
int pai__req_check_possible(pai_sched *s, uint32_t req, pai_error **err);
/* What it has in common with others that fit alike, after a change: a hash,
 * which others may have as well, by chance or by intent. */
void pai__req_set_shape(pai_sched *s, uint32_t req);
/* Do two requests fit alike?  Exactly: of equal hashes that has to be asked. */
bool pai__req_fits_alike(const pai_sched *s, const pai__req *a,
                         const pai__req *b);
/* And are they alike to a policy? */
bool pai__req_is_alike(const pai_sched *s, enum pai__alike alike,
                       const pai__req *a, const pai__req *b);

/* Tenants have other numbers, or a request another one. */
void pai__queue_recount(pai_sched *s);
/* How many tenants somebody in the queue belongs to. */
uint32_t pai__queue_tenants(const pai_sched *s);

/* Their names, by PAI_LACK_*; "" for none; NULL at the end. */
extern const char *const pai__lack_words[PAI_LACKS + 1];
/* What a lack is of, for people, as "GPUs", and how much in that unit. */
const char *pai__lack_things(uint32_t lack);
uint64_t pai__lack_amount(uint32_t lack, uint64_t amount);

/* What holds for a tenant from now on.  PAI_OK or PAI_ENOMEM. */
int pai__rule_keep(pai_sched *s, uint32_t tenant, const pai__rule *rule);
/* The one of the last decision that keeps a request behind another one, or
 * NULL. */
const pai__rule *pai__rule_for(const pai_sched *s, const pai__req *r);
/* What is the same of those that are alike. */
uint64_t pai__alike_key(enum pai__alike alike, const pai__req *r);
/* A decision that will say of one what holds for others begins. */
void pai__alike_begin(pai_sched *s, enum pai__alike alike);
/* From now on that is said of those like `req` that come behind it.  PAI_OK or
 * PAI_ENOMEM. */
int pai__alike_refuse(pai_sched *s, uint32_t req, const pai__why *why);
/* Likewise that they found no room, as it did not. */
int pai__shape_refuse(pai_sched *s, uint32_t req);
/* What is said of shapes is said of each request, before one of them changes. */
void pai__shapes_settle(pai_sched *s);
/* What was said of a request, or of its shape. */
pai__why pai__req_said(const pai_sched *s, uint32_t req);
/* To say why it waits; it has what was said last. */
pai__why *pai__why_make(pai_sched *s, uint32_t req);
/* Nothing is said of it any more. */
void pai__why_drop(pai_sched *s, uint32_t req);
/* Why it waits, as it was found when it was last considered. */
pai__why pai__req_why(const pai_sched *s, uint32_t req);

/* Instances that have not begun or wait again; none of what is cancelled. */
static inline uint32_t pai__req_waiting(const pai__req *r)
{
  return r->cancelled ? 0
                      : (uint32_t)r->instances - (uint32_t)r->next +
                          (uint32_t)r->returned;
}

/* What keeps it from beginning, apart from room: PAI_LACK_RELEASE, _STOPPED,
 * _AFTER, _THROTTLE, or PAI_LACK_NOTHING. */
uint32_t pai__req_lack(const pai_sched *s, const pai__req *r);

/* The run for the next instance that waits, not yet placed; PAI__NONE without
 * memory. */
uint32_t pai__run_next(pai_sched *s, uint32_t req);
/* By its instance, or PAI__NONE. */
uint32_t pai__run_find(const pai_sched *s, uint32_t req, uint32_t instance);

/* A run has ended and holds nothing any more: `ok`, 1 or 0. */
void pai__run_end(pai_sched *s, uint32_t run, bool ok);

#endif
