/*
 * pattern.h - internal to src/job/end: regular expressions of the exit spec
 * and of known failures
 *
 * A part of RE2: flags i and m at the beginning, ASCII text, the dot, \d, \s,
 * \w and their opposites, sets, groups, |, *, +, ?, ^ and $. Patterns are
 * translated for POSIX regcomp(), which finds the leftmost match, and of
 * several there the longest.  A match lies within one line.
 */
#ifndef PAI_SRC_JOB_END_PATTERN_H
#define PAI_SRC_JOB_END_PATTERN_H

#include "base/base.h"

enum {
  PAI__PATTERN_BYTES = 1024, /* of a translated pattern */
  PAI__PATTERN_NEEDS = 64,
  PAI__PATTERN_MOST = 24, /* groups of a translated pattern */
  PAI__PATTERN_GROUPS = 4 /* groups of which the match is reported */
};

typedef struct pai__pattern {
  char posix[PAI__PATTERN_BYTES];
  char needs[PAI__PATTERN_NEEDS];  /* substring of every match; may be empty */
  bool folds, lines;               /* flags i and m */
  int groups[PAI__PATTERN_GROUPS]; /* their numbers in posix */
  int ngroups, nposix;
  size_t stop; /* position of the syntax error, if any */
} pai__pattern;

/* Bytes [start, end) of a text. */
typedef struct pai__pattern_span {
  size_t start, end;
} pai__pattern_span;

/* Compiles a pattern.  False: syntax error. */
bool pai__pattern_make(pai__pattern *p, const char *text);

/* Finds the first match, or the first match in the last line that has one.
 * Returns 1, 0 if there is none, or PAI_ENOMEM. out[0] is the match, out[1]
 * that of its first group, and so on.  A group that matched nothing is
 * empty. */
int pai__pattern_find(pai__pattern_span out[1 + PAI__PATTERN_GROUPS],
                      const pai__pattern *p, const char *text, size_t len,
                      bool last);

static inline char pai__pattern_fold(const pai__pattern *p, char c)
{
  return (char)(p->folds && c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

#endif
