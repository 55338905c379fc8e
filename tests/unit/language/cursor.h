/* cursor.h - a job file with a cursor, for tests of the facts of a text */
#ifndef PAI_TESTS_CURSOR_H
#define PAI_TESTS_CURSOR_H

#include "testing.h"

#include "language/facts/facts.h"

/* A text without its marker ^, and the byte where it was. */
typedef struct cursor_text {
  pai__buf text;
  size_t at;
  pai__language_text t;
} cursor_text;

/* The text must have a marker, and is a job file
 * unless it looks like another.  With an alloc, questions
 * use it. */
cursor_text cursor_open(const char *marked, const pai_alloc *alloc);
void cursor_close(cursor_text *c);

/* The text with a span between < and >, for 64 calls. */
const char *cursor_show(const cursor_text *c, pai__span span);
/* The characters of a span. */
const char *cursor_part(const cursor_text *c, pai__span span);

/* All completions at the cursor, a line each: LABEL -> INSERT (DETAIL), with
 * required ones marked by *. */
pai__buf cursor_completions(const cursor_text *c, int *rc);

/* A text with a ^ where the cursor is.  `has` are lines of the completions
 * that must be there, `not` labels that must not; each list ends with NULL. */
typedef struct cursor_row {
  const char *name, *text;
  const char *has[5], *not [4];
} cursor_row;
void cursor_check_row(const void *of);

/* Parts of such a text. */
#define CURSOR_JOB                               \
  "protocolVersion: 2\n"                         \
  "name: n\n"                                    \
  "type: job\n"                                  \
  "prerequisites:\n"                             \
  "  - name: img\n"                              \
  "    type: dockerimage\n"                      \
  "    uri: u\n"                                 \
  "  - name: d\n"                                \
  "    type: data\n"                             \
  "parameters: { lr: 1, model: { depth: 4 } }\n" \
  "secrets: { token: hunter2 }\n"
#define CURSOR_ROLE                                          \
  "taskRoles:\n"                                             \
  "  w:\n"                                                   \
  "    instances: 2\n"                                       \
  "    dockerImage: img\n"                                   \
  "    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}\n" \
  "    commands:\n"                                          \
  "      - a\n"

/* A job with prerequisites, parameters, secrets, two roles, a deployment. */
extern const char cursor_job[];

#endif
