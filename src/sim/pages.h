/*
 * pages.h - internal to the room: what the pages of a report have in common
 *
 * The same numbers stand on all of them, under the same names, and what is
 * said of two reports is said by the same rule.
 */
#ifndef PAI_SRC_SIM_PAGES_H
#define PAI_SRC_SIM_PAGES_H

#include "sim/format.h"
#include "sim/report.h"

/* --- figures: the numbers that people compare ------------------------------- */

enum {
  PAI__COUNT,   /* how many */
  PAI__TIME,    /* microseconds */
  PAI__PERCENT, /* millionths, for people in percent */
  PAI__INDEX,   /* millionths, for people from 0 to 1 */
  PAI__TIMES,   /* thousandths */
  PAI__WORK     /* GPU time: microseconds times GPUs */
};

typedef struct pai__figure {
  const char *key;   /* in JSON and CSV */
  const char *label; /* for people */
  const char *hint;  /* what it is, as a sentence's part */
  size_t at, size;   /* where in pai_sim_view */
  int kind;
  int better; /* -1: who has less; 1: who has more; 0: nobody is better */
} pai__figure;

/* In the order in which they are shown; NULL behind the last. */
const pai__figure *pai__figure_at(size_t i);
/* By its key, which there is. */
const pai__figure *pai__figure_of(const char *key);
int64_t pai__figure_value(const pai__figure *f, const pai_sim_report *r);
const char *pai__show_figure(char out[PAI__CELL], const pai__figure *f,
                             int64_t value);

/* What a report is called beside others: its policy, and "#2" where that of
 * another one before it is the same. */
void pai__put_label(pai__buf *out, const pai_sim_report *const *reports,
                    size_t i);

/* Whether report i of n has the best value, and not all have it. */
bool pai__is_best(const pai__figure *f, const pai_sim_report *const *reports,
                  size_t n, size_t i);

/* --- time -------------------------------------------------------------------- */

/* What a bin has an amount of, and what of it is drawn. */
enum {
  PAI__BUSY,
  PAI__FRAGMENTED,
  PAI__UP,
  PAI__DOWN, /* GPUs of nodes that are down */
  PAI__WANTED,
  PAI__WAITING,
  PAI__RUNNING
};

/* GPUs, or CPUs where there are none, and what one of them is called. */
int64_t pai__capacity(const pai_sim_report *r);
const char *pai__unit(const pai_sim_report *r);

/* How long bin i is: the last one ends with the span. */
pai_time pai__bin_length(const pai_sim_report *r, size_t i);
/* The mean amount from one time to another, in thousandths; -1: nothing is
 * known of that time. */
int64_t pai__level(const pai_sim_report *r, int what, pai_time from,
                   pai_time to);
/* The longest span of all; 0: there is nothing to be drawn. */
pai_time pai__longest(const pai_sim_report *const *reports, size_t n);

/* --- distributions ------------------------------------------------------------ */

/* Classes of waits, each of those below its end that are in none before. */
enum { PAI__CLASSES = 9 };
const char *pai__class_name(size_t i);
/* How many of a thousand are in one. */
int pai__class_share(const pai__spread *s, size_t i);

/* --- groups ------------------------------------------------------------------- */

/* Of each kind: virtual clusters, sizes, users. */
enum { PAI__VCS, PAI__SIZES, PAI__USERS };

const pai__groups *pai__groups_of(const pai_sim_report *r, int kind);
/* That of the name, or NULL. */
const pai__group *pai__group_named(const pai__groups *g, const char *name);

/* The names of all reports' groups of a kind, each once, as indexes are: in
 * the order of the first report, and then of those that have more. */
typedef struct pai__names {
  const char **list;
  size_t count, cap;
} pai__names;

int pai__names_collect(pai__names *names, const pai_alloc *alloc,
                       const pai_sim_report *const *reports, size_t n,
                       int kind);
/* Those that used most first, and of such the first of the alphabet. */
int pai__names_by_use(pai__names *names, const pai_alloc *alloc,
                      const pai_sim_report *const *reports, size_t n,
                      int kind);
void pai__names_dispose(pai__names *names, const pai_alloc *alloc);

/* --- the end ------------------------------------------------------------------- */

/* Hands the page over, or tells that memory was short, and disposes of it. */
int pai__page_write(pai__buf *page, int rc, pai_write_cb write,
                    void *user_data, pai_error **err);

#endif
