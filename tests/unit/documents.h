/*
 * documents.h - JSON and YAML in tests: reading, showing, comparing
 */
#ifndef PAI_TESTS_DOCUMENTS_H
#define PAI_TESTS_DOCUMENTS_H

#include "testing.h"
#include "trees.h"

#include "json/json.h"
#include "yaml/yaml.h"

/* Parse what must be right; the tree is checked. */
pai__tree *test_json_parse(const char *text, const pai__json_options *opts);
pai__tree *test_yaml_parse(const char *text, const pai__yaml_options *opts);

/* Parse what may fail, and return the code: either there is a tree, which is
 * checked, or an error of that code, with `part` in its message. */
int test_json_try(const char *text, const pai__json_options *opts,
                  const char *part);
int test_yaml_try(const char *text, const pai__yaml_options *opts,
                  const char *part);

/* Parse must fail with this code at this place, with this in its message. */
void test_json_fails(const char *text, int code, uint32_t line,
                     uint32_t column, const char *part);
void test_yaml_fails(const char *text, int code, uint32_t line,
                     uint32_t column, const char *part);

/* The tree's effective view on one line: null, true, 1, 1.5, "text", [..],
 * {key: ..}, with ! before dates and binaries, and .0 behind floats that look
 * like integers. */
void test_shows(const pai__tree *t, const char *want);
/* Parse, and compare the same. */
void test_json_shows(const char *text, const char *want);
void test_yaml_shows(const char *text, const char *want, int mode);

/* The source of each node, in document order. */
void test_sources(const pai__tree *t, const char *const *want, size_t n);

/* The JSON Pointer to the node. */
void test_pointer(const pai__tree *t, pai__node n, const char *want);

/* Whether two nodes mean the same; 1 and 1.0 do. */
bool test_same(const pai__tree *a, pai__node m, const pai__tree *b,
               pai__node n);

#endif
