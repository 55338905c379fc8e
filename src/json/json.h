/*
 * json.h - strict JSON parser (RFC 8259) that builds a tree
 *
 * Unless flags allow them, it refuses trailing commas and comments.  It always
 * refuses lone surrogates and text behind the value.  Whole numbers of up to
 * 64 bits stay exact.  A byte-order mark is skipped.
 */
#ifndef PAI_SRC_JSON_JSON_H
#define PAI_SRC_JSON_JSON_H

#include "base/tree.h"

enum {
  PAI__JSON_COMMENTS = 1,   /* allow // and C comments where space may be */
  PAI__JSON_DUPLICATES = 2, /* the later of two equal keys counts, as in
                               JavaScript; else equal keys are an error */
  PAI__JSON_COMMAS = 4      /* allow one comma before a closing bracket */
};

typedef struct pai__json_options {
  unsigned flags;
  uint32_t max_depth;     /* 0: 64 */
  size_t max_bytes;       /* 0: 64 MiB; at most 1 GiB */
  const pai_alloc *alloc; /* NULL: libc */
} pai__json_options;

/* Parses a text.  opts may be NULL.  Returns PAI_OK, PAI_EINVAL for invalid
 * JSON, PAI_ELIMIT or PAI_ENOMEM.  Free the tree with pai__tree_free(). */
int pai__json_parse(pai__tree **out, const char *text, size_t len,
                    const pai__json_options *opts, pai_error **err);

#endif
