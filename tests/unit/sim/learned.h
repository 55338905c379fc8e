/*
 * learned.h - what a history was told, what waits in a scheduler, and when it
 * will start, in few words
 */
#ifndef PAI_TESTS_LEARNED_H
#define PAI_TESTS_LEARNED_H

#include "testing.h"

#include "base/buf.h"
#include "sched/scene.h"
#include "sim/forecast/forecast.h"

#define SECOND INT64_C(1000000)

/* What the calls below make without an allocator of the test is freed by
 * learned_free(), which ends a group of tests. */
enum learned_kind {
  LEARNED_HISTORY,
  LEARNED_SCHED,
  LEARNED_FORECAST,
  LEARNED_WHAT_IF,
  LEARNED_SHAPES,
  LEARNED_TEXT
};
void learned_keep(enum learned_kind kind, void *object);
int learned_free(void **state);
/* The text of a buffer, which is disposed of. */
const char *learned_text(pai__buf *out);

/* An empty one, that always is there. */
pai_history *learned_new(void);
/* A job that took so long; as pai_history_add(). */
int learned_add(pai_history *h, const char *user, const char *name,
                uint64_t gpus, int64_t seconds);
/* `n` jobs of a user, named train-7, with 4 GPUs, that took from `from` on a
 * second more each. */
pai_history *learned_range(const char *user, int n, int64_t from);
/* How long one takes that has run for some seconds. */
pai_guess learned_guess(const pai_history *h, const char *user,
                        const char *name, uint64_t gpus, int64_t ran);
/* A request of a user for one task with GPUs comes at a time. */
void learned_came(pai_history *h, const char *user, uint32_t gpus,
                  pai_time time);
/* The same, of any request. */
void learned_request(pai_history *h, const pai_request *request, uint32_t gpus,
                     pai_time time);

/*
 * Tells a scheduler what a line says, which is cut up:
 *
 *   [TIME] ID USER TASKSxGPUS DURATION [KEY=VALUE...]
 *   [TIME] started|finished|returned|cancelled|held ID [CODE or NUMBER]
 *   go
 *
 * with the keys name, vc, type, within, instances, once (so many at a time),
 * priority, after and hold=1; a USER "-" is none, a TIME "5:30" is that long
 * after `begin`, a DURATION is such a time or seconds; "go" decides, and all that
 * starts is told to have started.
 */
int learned_line(pai_sched *s, pai_time begin, char *line);
/* A scheduler that is told a text of such lines; NULL without memory. */
pai_sched *learned_queue(const char *cluster, const char *policy,
                         const char *options, const pai_alloc *alloc,
                         const char *text);
/* Its time goes on. */
void learned_go_to(pai_sched *s, int64_t seconds);

pai_forecast *learned_forecast(const pai_sched *s, const pai_history *h,
                               const pai_forecast_options *opts);
pai_when learned_when(const pai_forecast *f, uint64_t id);

/* The part must be in the text. */
void learned_says(const char *text, const char *part);

#endif
