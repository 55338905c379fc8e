/*
 * pattern.h - internal to the room: the patterns of the exit spec
 *
 * The part of RE2 that they are written in: flags i and m, ASCII text, the
 * point, \S, sets without ranges, groups, | in groups, *, +, ?, ^ and $.
 * Nothing in it matches the end of a line, so a match lies in one.
 *
 * As RE2 does, it finds the leftmost match, and of those the one that comes
 * first by the order of alternatives and by greed; in time that grows with the
 * text times the pattern, and not faster.
 */
#ifndef PAI_SRC_JOB_PATTERN_H
#define PAI_SRC_JOB_PATTERN_H

#include "base/base.h"

enum { PAI__PATTERN_STEPS = 160, PAI__PATTERN_SETS = 2 };

typedef struct pai__pattern_step {
  uint8_t op;
  uint8_t byte; /* of a byte; of a set its number */
  int16_t to;   /* where else to go, from here */
} pai__pattern_step;

typedef struct pai__pattern {
  pai__pattern_step steps[PAI__PATTERN_STEPS];
  int len;
  bool folds;        /* flag i; bytes are in lower case */
  bool lines;        /* flag m */
  int needs, nneeds; /* steps of a text that each match contains */
  uint8_t sets[PAI__PATTERN_SETS][256];
  int nsets;
} pai__pattern;

/* Bytes [start, end) of a text. */
typedef struct pai__span {
  size_t start, end;
} pai__span;

/* False: it is no such pattern. */
bool pai__pattern_make(pai__pattern *p, const char *text);

bool pai__pattern_find(pai__span *out, const pai__pattern *p, const char *text,
                       size_t len);

#endif
