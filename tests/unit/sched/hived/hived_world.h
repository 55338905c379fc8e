/* hived_world.h - random clusters, and gangs for them, for HiveD's model */
#ifndef PAI_TESTS_HIVED_WORLD_H
#define PAI_TESTS_HIVED_WORLD_H

#include "sched/hived/hived_count.h"

#include "base/prng.h"

enum { GANGS = 40, LEAVES = 64, PODS = 16, SHARES = 8 };

/* A gang as its submitter knows it. */
typedef struct gang {
  bool live;
  char name[16];
  pai__hived_request r;
  pai__hived_member members[2];
  uint32_t npods, nleaves;
  bool bound; /* its placement: */
  uint32_t leaves[LEAVES], types[LEAVES];
  bool runs[PODS];
} gang;

typedef struct world {
  pai__prng r;
  pai_cluster *cluster;
  pai__hived *h;
  gang gangs[GANGS];
  uint64_t suggested[8];
  bool late; /* decisions may be carried out when it is too late */
  bool well; /* nodes are never sick */
  unsigned long names, done, bound, preempted, waited, restarts, clones;
} world;

static inline unsigned below(world *w, unsigned n)
{
  return (unsigned)pai__prng_below(&w->r, n);
}

static inline bool chance(world *w, unsigned percent)
{
  return below(w, 100) < percent;
}

/* One that can be; most cannot. */
void world_make_engine(world *w, const pai_alloc *alloc);

gang *world_draw_gang(world *w);

void world_make_gang(world *w, gang *g);

/* The size and index of a pod; it is so called, too. */
uint32_t gang_pod_of(const gang *g, uint32_t pod, uint32_t *index);

uint64_t world_pod_number(const world *w, const gang *g, uint32_t pod);

const uint64_t *world_draw_suggested(world *w);

gang *world_find_gang(world *w, const char *name);

#endif
