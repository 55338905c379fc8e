/*
 * report_form.h - internal: tables of the members of a report
 *
 * JSON and CSV are written from these tables, JSON is read by them, and pages
 * take names and kinds from them.  All numbers are exact decimals.  The report
 * stores them as integers, in units of their last digit.
 */
#ifndef PAI_SRC_SIM_REPORT_REPORT_FORM_H
#define PAI_SRC_SIM_REPORT_REPORT_FORM_H

#include "sim/report/format.h"
#include "sim/report/report.h"

enum pai__report_kind {
  PAI__COUNT,      /* a number of things */
  PAI__TIME,       /* microseconds */
  PAI__PERCENT,    /* millionths, shown in percent */
  PAI__INDEX,      /* millionths, shown from 0 to 1 */
  PAI__TIMES,      /* thousandths */
  PAI__WORK,       /* GPU time: microseconds times GPUs */
  PAI__SEED,       /* any 64-bit number */
  PAI__REPORT_TEXT /* a string */
};

typedef struct pai__sim_member {
  const char *key; /* in JSON and CSV; NULL ends a table */
  size_t at, size; /* offset and size in the struct */
  enum pai__report_kind kind;
  bool csv;          /* of a report: also in CSV */
  bool optional;     /* of a text: left out of JSON if empty */
  int better;        /* -1: less is better; 1: more is better; 0: neither */
  const char *label; /* name on pages; NULL: not compared */
} pai__sim_member;

extern const pai__sim_member pai__report_members[], pai__group_members[],
  pai__bin_members[], pai__node_members[];

/* Returns the number of decimal digits. */
unsigned pai__member_digits(const pai__sim_member *m);
int64_t pai__member_get(const pai__sim_member *m, const void *in);
/* Returns false if the value does not fit. */
bool pai__member_set(const pai__sim_member *m, void *out, int64_t value);
/* Finds a member by its key, which must be in the list. */
const pai__sim_member *pai__member_of(const pai__sim_member *list,
                                      const char *key);

/* Groups and distributions of a report. */
enum { PAI__SPREADS = 2 };
extern const char *const pai__groups_keys[PAI__GROUPINGS];
extern const pai__sim_member pai__spread_members[PAI__SPREADS];

/* Returns the name of a bar's end (PAI_STATE_*); NULL: no such end. */
const char *pai__bar_end_name(int end);

#endif
