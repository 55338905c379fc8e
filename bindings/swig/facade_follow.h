/*
 * facade_follow.h - who follows a platform's scheduler, and what is to be
 * durable; for facade.h, which includes this
 */
#ifndef OPENPAI_BINDINGS_FACADE_FOLLOW_H
#define OPENPAI_BINDINGS_FACADE_FOLLOW_H

#include "facade.h"

typedef struct Follower Follower;
typedef struct Promise Promise;

/* May be kept longer than its platform. */
Follower *facade_follow(Platform *p, failure *f);
void facade_follow_free(Follower *w);
/* Lines of the scheduler's log that have come since the last time. */
job_text facade_follow_read(Follower *w, failure *f);

/* Is kept, or broken, when all that the platform was asked for so far is in its
 * database.  Without one it is kept soon. */
Promise *facade_promise(Platform *p, failure *f);
void facade_promise_free(Promise *w);
/* 1: it is known which; 0: not yet. */
int facade_promise_state(const Promise *w);
/* Fails if it was broken. */
void facade_promise_take(const Promise *w, failure *f);

#endif /* OPENPAI_BINDINGS_FACADE_FOLLOW_H */
