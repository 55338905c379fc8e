/*
 * pages.h - internal to the room: metrics, levels over time and groups that a
 * page of reports shows
 *
 * A page compares reports by the same rules and under the same names as their
 * data.
 */
#ifndef PAI_SRC_SIM_REPORT_PAGES_H
#define PAI_SRC_SIM_REPORT_PAGES_H

#include "sim/report/report_form.h"

/* --- metrics ------------------------------------------------------------- */

/* Formats a value of a member, short and rounded. */
const char *pai__show_member(char out[PAI__CELL], const pai__sim_member *m,
                             int64_t value);

/* Appends the label of a report: its policy, and "#2" if an earlier report has
 * the same policy. */
void pai__put_label(pai__buf *out, const pai_sim_report *const *reports,
                    size_t i);

/* Returns whether report i of n has the best value, unless all have the
 * same. */
bool pai__is_best(const pai__sim_member *m,
                  const pai_sim_report *const *reports, size_t n, size_t i);

/* --- time ---------------------------------------------------------------- */

/* Amounts of a bin that can be drawn. */
enum {
  PAI__BUSY,
  PAI__FRAGMENTED,
  PAI__DOWN, /* GPUs of nodes that are down */
  PAI__WANTED,
  PAI__WAITING
};

/* Returns the number of GPUs, or of CPUs if there are no GPUs; and "GPU" or
 * "CPU". */
int64_t pai__capacity(const pai_sim_report *r);
const char *pai__unit(const pai_sim_report *r);

/* Returns the length of bin i; the last bin ends with the span. */
pai_time pai__bin_length(const pai_sim_report *r, size_t i);
/* Returns the mean amount between two times, in thousandths; -1: no data. */
int64_t pai__level(const pai_sim_report *r, int what, pai_time from,
                   pai_time to);
/* Returns the longest span of the reports; 0: nothing to draw. */
pai_time pai__longest(const pai_sim_report *const *reports, size_t n);

/* --- distributions ------------------------------------------------------- */

/* Classes of waits: each has an upper bound, and begins at that of the class
 * before it. */
enum { PAI__CLASSES = 9 };
const char *pai__class_name(size_t i);
/* Returns how many of a thousand values are in class i. */
int pai__class_share(const pai__spread *s, size_t i);

/* --- groups -------------------------------------------------------------- */

/* Returns the group with that name, or NULL. */
const pai__sim_group *pai__group_named(const pai__groups *g, const char *name);
/* Returns whether one of n reports has it; `kind` is PAI__BY_*. */
bool pai__group_before(const pai_sim_report *const *reports, size_t n,
                       int kind, const char *name);

#endif
