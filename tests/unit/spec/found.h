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

/* The same job with other fields in its head, in `prerequisites`, as `auth` of
 * its image; with other roles; and with other sizes or commands (lines "    -
 * c\n") of its role, in line 9 and from line 10. */
#define JOB_HEADED(version, name, type)                       \
  "protocolVersion: " version "\nname: " name "\ntype: " type \
  "\n" JOB_IMAGE JOB_ROLES
#define JOB_PREREQUISITES(list) \
  JOB_HEAD "prerequisites: [" list "]\n" JOB_ROLES
#define JOB_AUTH(fields)                                                      \
  JOB_PREREQUISITES("{name: x, type: dockerimage, uri: x, auth: {" fields "}" \
                    "}")
#define JOB_TASK_ROLES(roles) JOB_HEAD JOB_IMAGE "taskRoles: " roles "\n"
#define JOB_SIZED(sizes)                                                    \
  JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    commands: " \
                     "[c]\n    resourcePerInstance: {" sizes "}\n"
#define JOB_COMMANDS(text)                                                   \
  JOB_HEAD JOB_IMAGE "taskRoles:\n  a:\n    dockerImage: x\n    " ROLE_SIZES \
                     "\n    commands:\n" text

/* A file, and what is found in it: "CODE POINTER LINE:COLUMN-LINE:COLUMN" for
 * each, a line each, with a ? before the code of warnings, and without the
 * second LINE where it is the first.  A pointer may begin with a word: `role`
 * for /taskRoles/a, `sizes` for its resourcePerInstance, `plugins` and `hived`
 * for the two fields of extras that have these names. */
typedef struct found {
  const char *text;
  const char *list;
  const char *says, *help; /* parts of the first one's; NULL: any, none */
} found;

/* Checks the file and compares.  What holds of every report is looked at, too:
 * the order, one line for each message, views that agree. */
void test_found(const found *want, const pai_spec_options *opts);
void test_found_each(const found *rows, size_t n,
                     const pai_spec_options *opts);
void test_found_none(const char *const *texts, size_t n);

pai_report *test_report(const char *text, size_t len,
                        const pai_spec_options *opts);
/* A file is checked with each allocation failing; `use`, which may be NULL,
 * gets the spec of a valid one, and allocates as that does. */
void test_spec_faults(const char *text, int (*use)(const pai_spec *spec));

/* `have` must be the text with the first `from` replaced by `to`, or, where
 * `from` is NULL, as it is. */
void test_replaced(const char *have, const char *text, const char *from,
                   const char *to);

/* Writes nothing: PAI_EUSER. */
int test_refuse(void *user_data, const char *bytes, size_t len);

/* What must be a job file; warnings do not count. */
pai_spec *test_spec(const char *text, const pai_spec_options *opts);

#endif
