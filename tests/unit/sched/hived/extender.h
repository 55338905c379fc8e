/* extender.h - for tests of HiveD's extender: events, requests, answers */
#ifndef PAI_TESTS_EXTENDER_H
#define PAI_TESTS_EXTENDER_H

#include "cases.h"

#include <openpai/hived.h>

enum { TEST_SECOND = 1795243779 }; /* 2026-11-21T06:49:39Z */
#define TEST_NOW ((pai_time)TEST_SECOND * 1000000)

/* Whether two JSON texts mean the same; of lists called "items" and "Pods" the
 * order is free.  Otherwise `where` is told. */
bool test_same_json(const char *want, size_t want_len, const char *got,
                    size_t got_len, char where[256]);

/* All of it must succeed. */
void test_event(pai_hived_extender *e, const char *json);
pai_hived_answer test_ask(pai_hived_extender *e, const char *method,
                          const char *target, const char *body);

#endif
