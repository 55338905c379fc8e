/*
 * trees.h - trees in unit tests and in fuzz targets: what must hold for them,
 * and both writers behind one table.  It needs no test framework.
 */
#ifndef PAI_TESTS_TREES_H
#define PAI_TESTS_TREES_H

#include "base/tree.h"

/* How this program fails: documents.c has one, and fuzz/check.c. */
void test_does_not_hold(const char *file, int line, const char *what);

#define CHECK(cond) \
  ((cond) ? (void)0 : test_does_not_hold(__FILE__, __LINE__, #cond))

/* Positions are inside the text, children inside their parents and in order,
 * counts and keys agree with the lists. */
void test_check_tree(const pai__tree *t);

/* A writer as a table, so that one generator drives both. */
typedef struct test_writer {
  void (*begin)(void *w, bool mapping);
  void (*end)(void *w, bool mapping);
  void (*key)(void *w, const char *s, size_t len);
  void (*text)(void *w, const char *s, size_t len);
  void (*integer)(void *w, int64_t v);
  void (*real)(void *w, double v);
  void (*boolean)(void *w, bool v);
  void (*nothing)(void *w);
} test_writer;

extern const test_writer test_json_table; /* of a pai__json_writer */
extern const test_writer test_yaml_table; /* of a pai__yaml_writer */

/* Writes what a tree holds; dates and binaries as text. */
void test_write_tree(const test_writer *table, void *w, const pai__tree *t,
                     pai__node n);
/* Writes the document of a seed. */
void test_write_random(const test_writer *table, void *w, uint64_t seed);

#endif
