/*
 * rows.h - real inputs with known answers, a line of JSON each
 *
 * They lie in the folder $OPENPAI_SHARED, by default ../shared beside the
 * source tree; where that is missing, tests say so and are skipped.
 */
#ifndef PAI_TESTS_ROWS_H
#define PAI_TESTS_ROWS_H

#include "testing.h"

#include "base/tree.h"

/* Calls `check` for each line of data/specs/NAME; returns their number, or -1
 * where there is no such file, and says so. */
int test_each_row(const char *name, void (*check)(const pai__tree *row));

/* The same of data/PATH. */
int test_each_line(const char *path, void (*check)(const pai__tree *row));

/* All of data/PATH, freed with free(); NULL where there is none, and says
 * so. */
char *test_shared_text(const char *path, size_t *len);

/* A text of a row, or NULL; len may be NULL. */
const char *test_row_text(const pai__tree *row, const char *key, size_t *len);

#endif
