/*
 * reports.h - reports made by hand, for the pages that are made of them
 */
#ifndef PAI_TESTS_SIM_REPORTS_H
#define PAI_TESTS_SIM_REPORTS_H

#include "testing.h"

#include "base/buf.h"
#include "sim/report/report.h"

/* What they are; the same seed makes the same. */
typedef struct test_made {
  const char *policy;
  uint64_t seed;
  uint32_t nodes, gpus; /* of each node; 0: it has CPUs only */
  uint32_t vcs, users, bars;
  int64_t busy; /* of a thousand */
  bool strange; /* names that nobody wants, times from a late beginning */
} test_made;

/* Freed with test_report_free(). */
pai_sim_report *test_report_empty(const char *policy);
/* One job on one node, which waited for a minute. */
pai_sim_report *test_report_one(const char *policy);
/* Some days of a cluster. */
pai_sim_report *test_report_made(const test_made *made);
/* Every number as large as can be. */
pai_sim_report *test_report_huge(void);
void test_report_free(pai_sim_report *r);

/* The set of that name, as of pages_made.c; how many, 0: there is none. */
size_t test_reports_of(const char *name, pai_sim_report *out[8]);

#endif
