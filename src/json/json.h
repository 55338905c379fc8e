/*
 * json.h - reads JSON (RFC 8259) into a tree
 *
 * Strict unless flags loosen it: no trailing commas, no lone surrogates,
 * nothing behind the value.
 * Whole numbers of up to 64 bits stay exact.  A byte-order mark is skipped.
 */
#ifndef PAI_SRC_JSON_JSON_H
#define PAI_SRC_JSON_JSON_H

#include "base/tree.h"

enum {
  PAI__JSON_COMMENTS = 1,   /* allow // and C comments where space may be */
  PAI__JSON_DUPLICATES = 2, /* of two equal keys the later counts, as in
                               JavaScript; otherwise they are an error */
  PAI__JSON_COMMAS = 4      /* allow one comma before a closing bracket */
};

typedef struct pai__json_options {
  unsigned flags;
  uint32_t max_depth;     /* 0: 64 */
  size_t max_bytes;       /* 0: 64 MiB; at most 1 GiB */
  const pai_alloc *alloc; /* NULL: libc */
} pai__json_options;

/* opts may be NULL.  PAI_EINVAL for what is no JSON, PAI_ELIMIT, PAI_ENOMEM;
 * free with pai__tree_free(). */
int pai__json_parse(pai__tree **out, const char *text, size_t len,
                    const pai__json_options *opts, pai_error **err);

#endif
