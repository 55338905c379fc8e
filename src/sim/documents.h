/*
 * documents.h - internal: traces that are values of JSON
 *
 * A text is one list, or an object with a list in it, or one object behind
 * another; however long, only one element of it is in memory.
 */
#ifndef PAI_SRC_SIM_DOCUMENTS_H
#define PAI_SRC_SIM_DOCUMENTS_H

#include "base/tree.h"
#include "sim/trace.h"

/* Puts the records of one element. */
typedef int (*pai__element_fn)(pai_trace *t, const pai__tree *tree,
                               uint64_t line, pai_error **err);

typedef struct pai__documents {
  const char *list; /* the key of an object's list */
  pai__element_fn put;
  bool in_list;
  bool in_object; /* behind its list, or around it */
} pai__documents;

int pai__documents_begin(pai_trace *t, const char *list, pai__element_fn put,
                         pai_error **err);
int pai__documents_read(pai_trace *t, pai_error **err);
void pai__documents_end(pai_trace *t);

/* --- what is in an element -------------------------------------------------- */

/* A value by a path, as "spec.template"; PAI__NO_NODE: there is none. */
pai__node pai__at(const pai__tree *tree, pai__node n, const char *path);
/* A string, or s NULL. */
pai__slice pai__string_at(const pai__tree *tree, pai__node n,
                          const char *path);
bool pai__text_is(pai__slice text, const char *s);
/* A whole number, or one in a string; false: there is none. */
bool pai__number_at(const pai__tree *tree, pai__node n, const char *path,
                    int64_t *out);
/* A date in a string; false: there is none. */
bool pai__date_at(const pai__tree *tree, pai__node n, const char *path,
                  pai_time *out);

#endif
