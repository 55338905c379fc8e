/*
 * styled.h - documents as people write them, at random: block and brackets,
 * all quotes, odd indentation, comments, empty lines, anchors
 */
#ifndef PAI_TESTS_STYLED_H
#define PAI_TESTS_STYLED_H

#include "base/buf.h"
#include "base/prng.h"

typedef struct test_styled {
  bool json;
  bool shared;       /* with anchors, aliases and merge keys */
  unsigned comments; /* out: the comments are "<1>" to this one, in order */
} test_styled;

/* Writes the document of a seed. */
void test_write_styled(pai__buf *out, test_styled *how, uint64_t seed);

/* A value on one line, for YAML and, with `json`, for JSON too. */
void test_write_value(pai__buf *out, pai__prng *r, bool json, int depth);

#endif
