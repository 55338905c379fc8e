/* hived_count.h - what HiveD's engine counts, counted again */
#ifndef PAI_TESTS_SCHED_HIVED_COUNT_H
#define PAI_TESTS_SCHED_HIVED_COUNT_H

#include "cases.h"

#include "sched/hived/engine.h"

/* NULL, or what is wrong with the lists, counts, bindings and groups of an
 * engine. */
const char *test_hived_wrong(const pai__hived *h);

/* Whether virtual clusters have what they were promised: as HiveD counts it,
 * level by level; `whole`: and with all that is promised of larger cells taken
 * away.  HiveD does not keep that when it goes round sick nodes. */
bool test_hived_is_safe(const pai__hived *h, bool whole);

/* A hash of all that decisions depend on. */
uint64_t test_hived_digest(const pai__hived *h);

#endif
