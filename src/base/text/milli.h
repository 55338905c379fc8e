/*
 * milli.h - internal: amounts of CPUs in thousandths, as decimal text
 *
 * "2", "0.5" and "1.250" are 2000, 500 and 1250.  Nothing is rounded: more
 * than three digits after the point have an error of their own.
 */
#ifndef PAI_SRC_BASE_TEXT_MILLI_H
#define PAI_SRC_BASE_TEXT_MILLI_H

#include "base/tree.h"

enum {
  PAI__MILLI_TEXT = PAI_CPUS_TEXT, /* size that any amount fits into */
  PAI__MOST_CPUS = 4294966 /* of a task, so that thousandths fit into 32
                              bits */
};
#define PAI__MOST_MILLI (UINT64_C(1000) * PAI__MOST_CPUS + 999)

/* Parses digits, with a point before, between or after them, and nothing else.
 * PAI_OK; PAI_EINVAL: not a number; PAI_ENOTSUP: more than three digits after
 * the point, not counting trailing zeros; PAI_ELIMIT: above `most`. */
int pai__milli_read(uint64_t *out, const char *s, size_t len, uint64_t most);

/* Parses a number of a document, exactly as written, also with an exponent.
 * PAI_OK; PAI_EINVAL: not a number; PAI_ENOTSUP: as above; PAI_ELIMIT:
 * negative, or above UINT32_MAX. */
int pai__milli_of(uint64_t *out, const pai__tree *t, pai__node n);

/* Writes the shortest text and a NUL: "2", "0.5"; returns `out`. */
const char *pai__milli_text(char out[PAI__MILLI_TEXT], uint64_t milli);

/* Rounds up to a whole number. */
static inline uint64_t pai__milli_up(uint64_t milli)
{
  return milli / 1000 + (milli % 1000 != 0);
}

#endif
