/* hived_count.h - what HiveD's engine counts, counted again */
#ifndef PAI_TESTS_SCHED_HIVED_COUNT_H
#define PAI_TESTS_SCHED_HIVED_COUNT_H

#include "testing.h"

#include "sched/hived/engine.h"

/* NULL, or what is wrong with the lists, counts, bindings and groups of an
 * engine; and whether virtual clusters have what they were promised. */
const char *test_hived_wrong(const pai__hived *h);
bool test_hived_is_safe(const pai__hived *h);

/* A hash of all that decisions depend on. */
uint64_t test_hived_digest(const pai__hived *h);

#endif
