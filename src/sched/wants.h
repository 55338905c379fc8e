/* wants.h - internal: what requests want, kept once for all that want the same
 *
 * A list lies in the pool behind a word that says how often it is used and how
 * long it is.  It is found by what it says; one that was changed, or is long,
 * is its request's alone.
 */
#ifndef PAI_SRC_SCHED_WANTS_H
#define PAI_SRC_SCHED_WANTS_H

#include "sched/core.h"

enum { PAI__FEW_WANTS = 8 }; /* more are not shared */

/* Where that list is, used once more; *at is for pai__req.wants.  PAI_OK or
 * PAI_ENOMEM. */
int pai__wants_keep(pai_sched *s, const pai__want *list, uint32_t n,
                    uint32_t *at);
/* A new one of so many zeroed wants, that nobody shares. */
int pai__wants_take(pai_sched *s, uint32_t n, uint32_t *at);
/* Somebody else has a list, too, until it is dropped once more. */
void pai__wants_share(pai_sched *s, uint32_t at);
void pai__wants_drop(pai_sched *s, uint32_t at);
/* They are to be changed: from now on they are the request's alone. */
int pai__wants_own(pai_sched *s, pai__req *r);

#endif
