/*
 * program.h - internal: runs a program that makes tokens for Kubernetes' API
 * server (exec in kubeconfig)
 */
#ifndef PAI_SRC_BACKEND_KUBERNETES_PROGRAM_H
#define PAI_SRC_BACKEND_KUBERNETES_PROGRAM_H

#include "backend/kubernetes/kube.h"

/* --- its input and output; pure (credential.c) --------------------------- */

/* Appends the value of KUBERNETES_EXEC_INFO. */
void pai__kube_put_info(pai__buf *out, const pai__kube_options *o);
/* Appends the token of the program's output and sets its expiry by the wall
 * clock (0: not given).  PAI_EINVAL; PAI_ENOTSUP: it makes a certificate;
 * PAI_ENOMEM.  Errors contain no part of the output. */
int pai__kube_read_credential(pai__buf *token, pai_time *expires,
                              const char *json, size_t len,
                              const char *version, pai_error **err);

/* --- a process beside the loop (posix_program.c) ------------------------- */

typedef struct pai__program pai__program;

typedef struct pai__program_want {
  const char *const *words; /* program, searched in PATH, and arguments; ended
                               by NULL */
  const char *const *env;   /* "NAME=value", the whole environment; ended by
                               NULL */
  pai_time most;            /* it is killed after this time */
  /* Called once, last, from the loop: PAI_OK and its output, or an error. */
  void (*on_done)(void *user_data, int status, const char *text, size_t len,
                  const pai_error *err);
  void *user_data;
} pai__program_want;

/* The options are copied.  PAI_ENOTFOUND: no such program; PAI_EIO;
 * PAI_ENOMEM. */
int pai__program_start(pai__program **out, const pai_alloc *alloc,
                       pai_loop *loop, const pai__program_want *want,
                       pai_error **err);
/* Kills it without calling on_done.  NULL is allowed. */
void pai__program_kill(pai__program *program);

#endif
