/*
 * write.h - internal: writes a tree, or a part of it, without comments
 *
 * Aliases and merge keys are resolved.  The same tree gives the same bytes.
 */
#ifndef PAI_SRC_SPEC_FORMAT_WRITE_H
#define PAI_SRC_SPEC_FORMAT_WRITE_H

#include "base/secrets.h"
#include "json/writer.h"
#include "yaml/writer.h"

/* Appends one block-style document to out.  Returns PAI_OK or PAI_ENOMEM. */
int pai__write_yaml(pai__buf *out, const pai__tree *tree, pai__node n);

/* Writes one value; a failure sticks to the writer.  Dates are written as
 * JavaScript writes them, bytes as base64, NaN and infinities as null. */
void pai__write_json(pai__json_writer *w, const pai__tree *tree, pai__node n);

/* As above, with a mask for each secret; secrets may be NULL. */
void pai__write_json_masked(pai__json_writer *w, const pai__tree *tree,
                            const pai__secrets *secrets, pai__node n);

/* As above, but what JSON lacks is written as in the file, in quotes. */
void pai__value_write(pai__json_writer *w, const pai__secrets *secrets,
                      pai__node n);

/* Writes one value in YAML, between other calls of the writer. */
void pai__write_yaml_value(pai__yaml_writer *w, const pai__tree *tree,
                           pai__node n);

/* The style of a value on one line: [a, {b: 1}]. */
typedef struct pai__flow {
  bool quotes;  /* texts in double quotes, as in JSON */
  bool compact; /* no spaces after ',' and ':' */
} pai__flow;

void pai__write_flow(pai__buf *out, const pai__tree *tree, pai__node n,
                     pai__flow how);
/* Writes a key or other text in this style. */
void pai__write_flow_text(pai__buf *out, const char *s, size_t len,
                          pai__flow how);

/* Parses out from byte `from` on, with the syntax and mode of another tree.
 * Returns PAI_ENOMEM also if out ran out of memory before. */
int pai__read_back(pai__tree **tree, const pai__tree *like,
                   const pai__buf *out, size_t from, pai_error **err);

#endif
