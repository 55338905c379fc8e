/*
 * pattern.h - internal to the room: the patterns of the exit spec and of
 * failures
 *
 * The part of RE2 that they are written in: flags i and m, ASCII text, the
 * point, \d, \s, \S, \w, sets, groups, | in groups, *, +, ?, ^ and $.
 * Nothing in it matches the end of a line, so a match lies in one.
 *
 * As RE2 does, it finds the leftmost match, and of those the one that comes
 * first by the order of alternatives and by greed; in time that grows with the
 * text times the pattern, and not faster.
 */
#ifndef PAI_SRC_JOB_PATTERN_H
#define PAI_SRC_JOB_PATTERN_H

#include "base/base.h"

enum {
  PAI__PATTERN_STEPS = 240,
  PAI__PATTERN_SETS = 8,
  PAI__PATTERN_GROUPS = 4 /* of which what they matched is told */
};

typedef struct pai__pattern_step {
  uint8_t op;
  uint8_t byte; /* of a byte; of a set or a mark its number */
  int16_t to;   /* where else to go, from here */
} pai__pattern_step;

typedef struct pai__pattern {
  pai__pattern_step steps[PAI__PATTERN_STEPS];
  int len;
  bool folds;        /* flag i; bytes are in lower case */
  bool lines;        /* flag m */
  int needs, nneeds; /* steps of a text that each match contains */
  uint8_t sets[PAI__PATTERN_SETS][256 / 8];
  int nsets, ngroups;
  size_t stop; /* of what is no pattern: where the mistake is */
} pai__pattern;

/* Bytes [start, end) of a text. */
typedef struct pai__span {
  size_t start, end;
} pai__span;

/* False: it is no such pattern. */
bool pai__pattern_make(pai__pattern *p, const char *text);

bool pai__pattern_find(pai__span *out, const pai__pattern *p, const char *text,
                       size_t len);
/* The same; out[0] is the match, out[1] what its first group matched, and so
 * on.  A group that matched nothing is empty. */
bool pai__pattern_match(pai__span out[1 + PAI__PATTERN_GROUPS],
                        const pai__pattern *p, const char *text, size_t len);

#endif
