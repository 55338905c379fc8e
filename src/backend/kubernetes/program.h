/*
 * program.h - internal: a program that makes tokens for Kubernetes' API server,
 * as a kubeconfig file names it
 */
#ifndef PAI_SRC_BACKEND_KUBERNETES_PROGRAM_H
#define PAI_SRC_BACKEND_KUBERNETES_PROGRAM_H

#include "backend/kubernetes/kube.h"

/* --- credential.c: what is said to it, and what it answers.  Pure. ------------ */

/* Adds the value of KUBERNETES_EXEC_INFO. */
void pai__kube_put_info(pai__buf *out, const pai__kube_options *o);
/* Adds the token of what it has written, and says until when it is good, by the
 * wall's clock (0: it was not said).  PAI_EINVAL; PAI_ENOTSUP: it makes a
 * certificate; PAI_ENOMEM.  No error has any of it. */
int pai__kube_read_credential(pai__buf *token, pai_time *expires,
                              const char *json, size_t len,
                              const char *version, pai_error **err);

/* --- posix_program.c: it runs beside the loop ----------------------------------- */

typedef struct pai__program pai__program;

typedef struct pai__program_want {
  const char *const *words; /* it, along PATH, and its arguments; then NULL */
  const char *const *env;   /* "NAME=value", in the place of ours; then NULL */
  pai_time most;            /* after so long it is killed */
  /* Called once, last, from the loop: PAI_OK, and what it wrote; or why not. */
  void (*on_done)(void *user_data, int status, const char *text, size_t len,
                  const pai_error *err);
  void *user_data;
} pai__program_want;

/* What is wanted is copied.  PAI_ENOTFOUND: there is no such program; PAI_EIO;
 * PAI_ENOMEM. */
int pai__program_start(pai__program **out, const pai_alloc *alloc,
                       pai_loop *loop, const pai__program_want *want,
                       pai_error **err);
/* Kills it, and on_done is not called.  NULL is allowed. */
void pai__program_kill(pai__program *program);

#endif
