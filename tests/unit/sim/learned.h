/* learned.h - what a history was told, and what it guesses, in few words */
#ifndef PAI_TESTS_LEARNED_H
#define PAI_TESTS_LEARNED_H

#include "testing.h"

#include "sim/calibrate.h"

/* An empty one, that always is there. */
pai_history *learned_new(void);
/* A job that took so long; as pai_history_add(). */
int learned_add(pai_history *h, const char *user, const char *name,
                uint64_t gpus, int64_t seconds);
/* How long one takes that has run for some seconds. */
pai_guess learned_guess(const pai_history *h, const char *user,
                        const char *name, uint64_t gpus, int64_t ran);

#endif
