/*
 * write.h - internal: a tree, or a part of it, as text, without comments
 *
 * What is written is the effective view: aliases and merge keys are resolved.
 * The same tree gives the same bytes.
 */
#ifndef PAI_SRC_SPEC_WRITE_H
#define PAI_SRC_SPEC_WRITE_H

#include "base/secrets.h"
#include "json/writer.h"
#include "yaml/writer.h"

/* Adds to out: one block-style document.  PAI_ENOMEM. */
int pai__write_yaml(pai__buf *out, const pai__tree *tree, pai__node n);

/* Writes one value; failure sticks to the writer.  Dates become texts as
 * JavaScript writes them, bytes base 64, what is no number null. */
void pai__write_json(pai__json_writer *w, const pai__tree *tree, pai__node n);

/* The same with one mask for each secret; secrets may be NULL. */
void pai__write_json_masked(pai__json_writer *w, const pai__tree *tree,
                            const pai__secrets *secrets, pai__node n);

/* The same as one value among what a caller writes. */
void pai__write_yaml_value(pai__yaml_writer *w, const pai__tree *tree,
                           pai__node n);

/* Bytes as base 64, with its padding. */
void pai__put_base64(pai__buf *out, const char *s, size_t len);

/* How a value is written on one line: [a, {b: 1}]. */
typedef struct pai__flow {
  bool quotes;  /* text in double quotes, as JSON has it */
  bool compact; /* no spaces behind ',' and ':' */
} pai__flow;

void pai__write_flow(pai__buf *out, const pai__tree *tree, pai__node n,
                     pai__flow how);
/* A key or other text in it. */
void pai__write_flow_text(pai__buf *out, const char *s, size_t len,
                          pai__flow how);

/* Reads what was written behind the first `from` bytes of out, as the text of
 * another tree was read.  PAI_ENOMEM also when it could not be written. */
int pai__read_back(pai__tree **tree, const pai__tree *like,
                   const pai__buf *out, size_t from, pai_error **err);

#endif
