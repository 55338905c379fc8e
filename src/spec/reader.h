/*
 * reader.h - internal to the room: fields out of a tree, with errors that
 * name the place
 *
 * After the first failure every call does nothing and gives an empty value,
 * so a reader checks r->rc once, at the end.
 */
#ifndef PAI_SRC_SPEC_READER_H
#define PAI_SRC_SPEC_READER_H

#include "base/tree.h"
#include "spec/spec.h"

typedef struct reader {
  const pai__tree *tree;
  pai_spec *spec; /* strings go to its arena */
  pai_error **err;
  int rc; /* PAI_OK until something is wrong */
} reader;

/* Fails at a node; for a missing field, at the mapping that lacks it. */
void pai__read_fail(reader *r, int code, pai__node at, const char *fmt, ...)
  PAI__PRINTF(4, 5);
void pai__read_help(reader *r, const char *fmt, ...) PAI__PRINTF(2, 3);
/* Notes something that is not acted on. */
void pai__read_note(reader *r, const char *fmt, ...) PAI__PRINTF(2, 3);

/* n must be a mapping with these keys and no others; NULL ends the list. */
bool pai__read_mapping(reader *r, pai__node n, const char *what,
                       const char *const *known);
/* The field, or PAI__NO_NODE; a missing one is an error if `needed`. */
pai__node pai__read_field(reader *r, pai__node mapping, const char *name,
                          bool needed);
/* A whole number in [least, most], or `missing` for PAI__NO_NODE. */
int64_t pai__read_int(reader *r, pai__node n, const char *what, int64_t least,
                      int64_t most, int64_t missing);
/* A string, copied; "" after a failure. */
const char *pai__read_string(reader *r, pai__node n, const char *what);
/* Memory of the spec, zeroed; NULL and a failure when it is short. */
void *pai__read_alloc(reader *r, size_t n, size_t size);

/* Notes all that the file asks for and that is not acted on (notes.c). */
void pai__read_notes(reader *r, pai__node root);

#endif
