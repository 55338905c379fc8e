/*
 * shapes.h - what answers hold
 *
 * The document of the API describes them from these tables, and tests hold
 * every answer against them: what is not in its table is in no answer.
 */
#ifndef PAI_SRC_SERVER_SHAPES_H
#define PAI_SRC_SERVER_SHAPES_H

#include "server/body.h"

/* An object, by its name in the document. */
typedef struct pai__shape {
  const char *name;
  const pai__field *fields;
} pai__shape;

/* What a route answers when all went well: JSON of that kind, or a text. */
typedef struct pai__result {
  const char *type;                /* of media; NULL: JSON */
  enum pai__kind kind;             /* of JSON; 0: there is no body */
  const pai__shape *shape;         /* what it is, or each in it; NULL: any */
  const struct pai__result *other; /* another that it may be, or NULL */
} pai__result;

extern const pai__shape pai__error_shape;
/* What a route answers that does something, and what a plain text is. */
extern const pai__result pai__done_result, pai__text_result, pai__no_result;
/* A token, and whose it is. */
extern const pai__result pai__login_result;
/* shapes_jobs.c: what several files of handlers answer. */
extern const pai__result pai__jobs_result, pai__job_result,
  pai__job_config_result, pai__job_attempts_result, pai__job_attempt_result,
  pai__job_task_result, pai__job_events_result, pai__job_why_result,
  pai__job_estimate_result;
/* ssh.c: v1.c answers it, too. */
extern const pai__result pai__ssh_result;

/* Rows of tables. */
#define PAI__HAS(k, n)                                     \
  {                                                        \
    .name = (n), .kind = PAI__IS_##k, .flags = PAI__NEEDED \
  }
#define PAI__HAS_OF(k, n, s)                                             \
  {                                                                      \
    .name = (n), .kind = PAI__IS_##k, .flags = PAI__NEEDED, .shape = (s) \
  }
#define PAI__HAS_OR_NULL(k, n)                                                \
  {                                                                           \
    .name = (n), .kind = PAI__IS_##k, .flags = PAI__NEEDED | PAI__MAY_BE_NULL \
  }
#define PAI__MAY_HAVE(k, n)          \
  {                                  \
    .name = (n), .kind = PAI__IS_##k \
  }
#define PAI__MAY_HAVE_OF(k, n, s)                  \
  {                                                \
    .name = (n), .kind = PAI__IS_##k, .shape = (s) \
  }

#endif
