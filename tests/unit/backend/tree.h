/* tree.h - a folder of the test's own, and files in it */
#ifndef PAI_TESTS_BACKEND_TREE_H
#define PAI_TESTS_BACKEND_TREE_H

#include "files.h"

/* Its path. */
extern char root[64];

/* Before and after a test. */
int make_tree(void **state);
int remove_tree(void **state);
/* A file, or a folder if there is no text.  Paths begin with a slash. */
void make(const char *path, const char *text);
/* The path of a file without a slash; until some calls later. */
const char *in_tree(const char *name);
void append(const char *name, const void *bytes, size_t n);
/* What is in a file, or "missing"; until the next call. */
const char *content(const char *path);

#endif
