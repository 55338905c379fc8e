/*
 * both_ways.h - YAML read as it comes and by libyaml alone, which must give
 * the same: for unit tests and fuzz targets.  It needs no test framework.
 */
#ifndef PAI_TESTS_BOTH_WAYS_H
#define PAI_TESTS_BOTH_WAYS_H

#include "trees.h"
#include "yaml/yaml.h"

/* Whether the text was read without libyaml. */
bool test_both_ways(const char *text, size_t len, int mode);

#endif
