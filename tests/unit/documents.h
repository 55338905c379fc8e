/*
 * documents.h - trees in tests: showing, comparing, making them at random
 */
#ifndef PAI_TESTS_DOCUMENTS_H
#define PAI_TESTS_DOCUMENTS_H

#include "testing.h"

#include "base/prng.h"
#include "base/tree.h"
#include "json/json.h"
#include "yaml/yaml.h"

/* The tree's effective view on one line: null, true, 1, 1.5, "text", [..],
 * {key: ..}, with ! before dates and binaries, and .0 behind floats that look
 * like integers.  Freed with pai__strfree(&pai__libc_alloc, ...). */
char *test_show(const pai__tree *t);

/* Parse, and compare what test_show() gives. */
void test_json_shows(const char *text, const char *want);
void test_yaml_shows(const char *text, const char *want, int mode);

/* Parse must fail with this code at this place, with this in its message. */
void test_json_fails(const char *text, int code, uint32_t line,
                     uint32_t column, const char *part);
void test_yaml_fails(const char *text, int code, uint32_t line,
                     uint32_t column, const char *part);

/* Whether two nodes mean the same; 1 and 1.0 do. */
bool test_same(const pai__tree *a, pai__node m, const pai__tree *b,
               pai__node n);

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

/* Writes the document of a seed. */
void test_write_random(const test_writer *table, void *w, uint64_t seed);
/* Writes what a tree holds; dates and binaries as text. */
void test_write_tree(const test_writer *table, void *w, const pai__tree *t,
                     pai__node n);

#endif
