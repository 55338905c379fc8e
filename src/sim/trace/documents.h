/*
 * documents.h - internal: reads traces that are JSON values
 *
 * A text is one list, an object that contains the list, or a sequence of
 * objects.  Only one element is in memory at a time.
 */
#ifndef PAI_SRC_SIM_TRACE_DOCUMENTS_H
#define PAI_SRC_SIM_TRACE_DOCUMENTS_H

#include "sim/trace/trace.h"

int pai__documents_begin(pai_trace *t, pai_error **err);
int pai__documents_read(pai_trace *t, pai_error **err);
void pai__documents_end(pai_trace *t);

/* --- values of an element ------------------------------------------------ */

/* Returns the value at a path, as "spec.template"; PAI__NO_NODE: there is
 * none. */
pai__node pai__at(const pai__tree *tree, pai__node n, const char *path);
/* Returns a string; s is NULL if there is none. */
pai__slice pai__string_at(const pai__tree *tree, pai__node n,
                          const char *path);
bool pai__text_is(pai__slice text, const char *s);
/* Begins to walk a list; returns false if there is none. */
bool pai__list_at(const pai__tree *tree, pai__node n, const char *path,
                  pai__tree_walk *walk);
/* Reads an integer, or a string with an integer; returns false if there is
 * none. */
bool pai__number_at(const pai__tree *tree, pai__node n, const char *path,
                    int64_t *out);
/* Reads a string with a date; returns false if there is none. */
bool pai__date_at(const pai__tree *tree, pai__node n, const char *path,
                  pai_time *out);

#endif
