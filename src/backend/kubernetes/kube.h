/*
 * kube.h - internal: Kubernetes' API server, as far as a scheduler needs it
 *
 * Lists what there is, hears of what changes, and posts.  Nothing calls back
 * from inside a call of this header.
 */
#ifndef PAI_SRC_BACKEND_KUBERNETES_KUBE_H
#define PAI_SRC_BACKEND_KUBERNETES_KUBE_H

#include "base/buf.h"
#include "http/http.h"

typedef struct pai__kube pai__kube;
typedef struct pai__kube_watch pai__kube_watch;
typedef struct pai__kube_post pai__kube_post;

/* One that makes tokens, as client.authentication.k8s.io has it. */
typedef struct pai__kube_program {
  const char *const *words; /* it, along PATH, and its arguments; then NULL */
  const char *const *env;   /* "NAME=value" for it alone; then NULL; or NULL */
  const char *version;      /* apiVersion of what it writes */
  const char *hint;         /* where it can be had, or NULL */
  bool wants_cluster;       /* to be told where the API server is */
} pai__kube_program;

/* Where it is, and who asks.  All are copied. */
typedef struct pai__kube_options {
  const char *url;        /* "https://10.0.0.1:443/prefix" */
  const char *token;      /* NULL: none, or that of a */
  const char *token_file; /* whose content changes: it is read each time */
  const char *user;       /* and a password, where there is no token */
  const char *password;
  const char *ca; /* PEM: whom to trust; NULL: whom the system trusts */
  const char *certificate, *key;    /* PEM, of ours; NULL: none */
  const char *proxy;                /* NULL: as the environment says */
  const pai__kube_program *program; /* in the place of a token; or NULL */
  pai__log log;
} pai__kube_options;

int pai__kube_new(pai__kube **out, const pai_alloc *alloc, pai_loop *loop,
                  const pai__kube_options *options, pai_error **err);
/* Watches are closed before.  Posts are done with PAI_ECANCELED. */
void pai__kube_close(pai__kube *kube, void (*closed)(void *user_data),
                     void *user_data);

/* --- watches (watch.c) ------------------------------------------------------ */

/* Its callbacks may do all but close it. */
typedef struct pai__kube_watch_want {
  const char *path;     /* "/api/v1/nodes"; a literal, as the next ones */
  const char *kind;     /* "NodeList" */
  const char *selector; /* "fieldSelector=...", or NULL */
  /* All that there is, as the API server lists it: at the beginning, and
   * whenever changes may have been missed.  A negative answer: again. */
  int (*on_list)(void *user_data, const char *json, size_t len);
  /* One event of the watch; likewise. */
  int (*on_event)(void *user_data, const char *json, size_t len);
  void *user_data;
  pai_time first_pause; /* after a failure; it doubles.  0: 200 ms */
  /* A watch is asked for at most so long, and once more: one that says nothing
   * beyond that, not even its end, is given up.  0: 40 seconds */
  pai_time watch_time;
} pai__kube_watch_want;

/* Goes on until it is closed, whatever fails. */
int pai__kube_watch_new(pai__kube_watch **out, pai__kube *kube,
                        const pai__kube_watch_want *want, pai_error **err);
void pai__kube_watch_close(pai__kube_watch *watch); /* NULL is allowed */

/* --- posts ------------------------------------------------------------------- */

/* PAI_OK: it is done; else why not, in words of the API server's if it has
 * any. */
typedef void (*pai__kube_post_cb)(void *user_data, int status,
                                  const char *why);

int pai__kube_post_new(pai__kube *kube, const char *path, const char *body,
                       size_t len, pai__kube_post_cb cb, void *user_data,
                       pai_error **err);

/* --- between its files -------------------------------------------------------- */

const pai_alloc *pai__kube_alloc(const pai__kube *kube);
pai_loop *pai__kube_loop(const pai__kube *kube);
const pai__log *pai__kube_log(const pai__kube *kube);

/* A request with the credentials that are right now.  What is wanted is
 * copied. */
typedef struct pai__kube_request pai__kube_request;
typedef struct pai__kube_want {
  const char *method;
  const char *path; /* and query */
  const char *body; /* JSON; NULL: none */
  size_t len;
  bool stream; /* it goes on for long */
  int (*on_body)(void *user_data, int http_status, const char *bytes,
                 size_t len);
  void (*on_done)(void *user_data, int status, int http_status,
                  const pai_error *err);
  void *user_data;
} pai__kube_want;

/* Its connections may lead nowhere: what is asked from now on gets others. */
void pai__kube_suspect(pai__kube *kube);
int pai__kube_ask(pai__kube_request **out, pai__kube *kube,
                  const pai__kube_want *want, pai_error **err);
void pai__kube_cancel(pai__kube_request *request);
/* What a Status object says, or the beginning of what is none. */
void pai__kube_why(pai__buf *out, const pai_alloc *alloc, int http_status,
                   const char *body, size_t len);

#endif
