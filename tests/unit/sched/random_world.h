/*
 * random_world.h - a scheduler in a world that follows from a seed
 *
 * The cluster (kinds of GPUs, racks, pins, virtual clusters with cells or with
 * parts), what is asked for (gangs of several roles, arrays, priorities, who
 * waits for whom) and what happens (ends, sick nodes, drains, reservations,
 * other clusters) are drawn, and whatever decides must hold what
 * random_world_check() asserts.
 */
#ifndef PAI_TESTS_RANDOM_WORLD_H
#define PAI_TESTS_RANDOM_WORLD_H

#include "scene.h"

#include "base/buf.h"
#include "base/prng.h"

enum { RANDOM_NODES = 16, RANDOM_TEXT = 4096, RANDOM_BESIDE = 3 };

typedef struct random_variant {
  const char *policy, *options;
  const pai_policy *table; /* instead of a built-in one */
} random_variant;

/* All built-in policies, with what changes how they decide, and a wild one. */
extern const random_variant random_variants[];
extern const size_t random_nvariants;

/* How virtual clusters have their shares. */
enum random_shares { RANDOM_WHOLE, RANDOM_CELLS, RANDOM_PARTS };

typedef struct random_world {
  uint64_t seed;
  const random_variant *variant;
  pai__prng prng;
  pai_cluster *cluster; /* at the beginning */
  pai_sched *s;
  pai_sched *beside[RANDOM_BESIDE]; /* or NULL: told and decide the same */
  pai_time now;
  uint64_t last; /* the last request's id */
  uint32_t priorities;
  enum random_shares shares;
  bool prompt; /* who is told to stop has stopped at once */
  char nodes[RANDOM_NODES][8];
  size_t nnodes, nvcs;
  const char *types[12]; /* kinds of GPUs and machines that are there */
  uint32_t ntypes;
  uint32_t gpus;              /* of the largest machine */
  char machines[RANDOM_TEXT]; /* the cluster but its virtual clusters */
  pai__buf *decided;          /* decisions are added, a line each; or NULL */
  bool may_fail; /* a decision may fail, since policies are swapped */
  size_t taken, refused, decisions, failed;
  size_t kinds[PAI_DECISION_SHRINK + 1]; /* of decisions */
} random_world;

/* The number in an environment variable. */
uint64_t random_number_of(const char *name, uint64_t otherwise);
uint32_t random_below(random_world *w, uint32_t n);

/* A world at its beginning; to be ended. */
void random_world_begin(random_world *w, uint64_t seed,
                        const random_variant *variant);
void random_world_end(random_world *w);
/* Another scheduler, as at the beginning; and one that was saved. */
pai_sched *random_world_make(const random_world *w);
pai_sched *random_world_load(const random_world *w, const char *saved);
/* Writes the scheduler's log to a file, to look at a world that fails. */
void random_world_log(random_world *w, const char *path);

/* Tells all of an event, at the world's time; they answer the same. */
int random_world_tell(random_world *w, pai_sched_event e);
/* Something happens, and is told. */
void random_world_happen(random_world *w);
/* Some requests come. */
void random_world_submit(random_world *w);
/* The policy decides, which must succeed, and some of it is done; the number of
 * decisions.  All decide the same. */
size_t random_world_decide(random_world *w);

/* Everything is cancelled and ends, and all is free again. */
void random_world_end_all(random_world *w);

/* What must hold between any two events: nothing is given twice, gangs are
 * whole, what is saved can be loaded and is saved alike. */
void random_world_check(const random_world *w);
/* Each request can be explained. */
void random_world_explain(const random_world *w);
/* Everybody does at once what was decided, and nothing else happens: at some
 * point nothing more is decided.  On a copy; the number of decisions. */
size_t random_world_settle(const random_world *w);

#endif
