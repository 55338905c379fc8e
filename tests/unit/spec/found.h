/*
 * found.h - job files in tests of the room `spec`: their pieces, and what is
 * found in them
 */
#ifndef PAI_TESTS_SPEC_FOUND_H
#define PAI_TESTS_SPEC_FOUND_H

#include "testing.h"

#include <openpai/spec.h>

/* A job file is JOB_HEAD JOB_IMAGE JOB_ROLES; or JOB_WITH() one more field of
 * its root, in line 6; or ROLE_WITH() one more of its role, in line 10 from
 * column 5. */
#define JOB_HEAD "protocolVersion: 2\nname: n\ntype: job\n"
#define JOB_IMAGE "prerequisites: [{name: x, type: dockerimage, uri: x}]\n"
#define ROLE_SIZES "resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}"
#define ROLE_FIELDS "dockerImage: x, " ROLE_SIZES ", commands: [c]"
#define JOB_ROLES "taskRoles: {a: {" ROLE_FIELDS "}}\n"
#define JOB_WITH(field) JOB_HEAD JOB_IMAGE JOB_ROLES field "\n"
#define ROLE_WITH(field)                                      \
  JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n" \
                     "    commands: [c]\n    " ROLE_SIZES "\n    " field "\n"

/* A file, and what is found in it: "CODE POINTER LINE:COLUMN-LINE:COLUMN" for
 * each, a line each, with a ? before the code of warnings. */
typedef struct found {
  const char *text;
  const char *list;
  const char *says, *help; /* parts of the first one's; NULL: any, none */
} found;

/* Checks the file and compares.  What holds of every report is looked at, too:
 * the order, one line for each message, views that agree. */
void test_found(const found *want, const pai_spec_options *opts);
/* The same for a text that holds NULs. */
void test_found_in(const char *text, size_t len, const found *want,
                   const pai_spec_options *opts);

/* What must be a job file; warnings do not count. */
pai_spec *test_spec(const char *text, const pai_spec_options *opts);

#endif
