/*
 * kube.h - internal: client of Kubernetes' API server, as far as a scheduler
 * needs it
 *
 * Lists, watches and posts objects.  No function of this header runs a
 * callback before it returns.
 */
#ifndef PAI_SRC_BACKEND_KUBERNETES_KUBE_H
#define PAI_SRC_BACKEND_KUBERNETES_KUBE_H

#include "base/buf.h"
#include "http/http.h"

typedef struct pai__kube pai__kube;
typedef struct pai__kube_watch pai__kube_watch;
typedef struct pai__kube_post pai__kube_post;

/* A program that makes tokens, by client.authentication.k8s.io. */
typedef struct pai__kube_program {
  const char *const *words; /* program, searched in PATH, and arguments; ended
                               by NULL */
  const char *const *env;   /* additional "NAME=value"; ended by NULL; or
                               NULL */
  const char *version;      /* apiVersion of its output */
  const char *hint;         /* where to get it, or NULL */
  bool wants_cluster;       /* pass it the API server's address */
} pai__kube_program;

/* Address and credentials.  All are copied. */
typedef struct pai__kube_options {
  const char *url;        /* "https://10.0.0.1:443/prefix" */
  const char *token;      /* NULL: none, or read from: */
  const char *token_file; /* a file that may change: it is read for each
                             request */
  const char *user;       /* with a password, if there is no token */
  const char *password;
  const char *ca; /* trusted authorities in PEM; NULL: the system's */
  const char *certificate, *key;    /* client certificate in PEM; NULL: none */
  const char *proxy;                /* NULL: from the environment */
  const pai__kube_program *program; /* instead of a token; or NULL */
  pai__log log;
} pai__kube_options;

int pai__kube_new(pai__kube **out, const pai_alloc *alloc, pai_loop *loop,
                  const pai__kube_options *options, pai_error **err);
/* Close watches first.  Posts end with PAI_ECANCELED. */
void pai__kube_close(pai__kube *kube, void (*closed)(void *user_data),
                     void *user_data);

/* --- watches (watch.c) --------------------------------------------------- */

/* Its callbacks may do anything but close it. */
typedef struct pai__kube_watch_want {
  const char *path;     /* "/api/v1/nodes"; a literal, as the next two */
  const char *kind;     /* "NodeList" */
  const char *selector; /* "fieldSelector=...", or NULL */
  /* The complete list, at the beginning and whenever changes may have been
   * missed.  A negative result: list again. */
  int (*on_list)(void *user_data, const char *json, size_t len);
  /* One event of the watch; a negative result as above. */
  int (*on_event)(void *user_data, const char *json, size_t len);
  void *user_data;
  pai_time first_pause; /* after a failure; it doubles.  0: 200 ms */
  /* Longest time for which the API server is asked to keep a watch open.  A
   * watch that has not ended some time after that is closed. 0: 40 seconds */
  pai_time watch_time;
} pai__kube_watch_want;

/* Continues until it is closed, whatever fails. */
int pai__kube_watch_new(pai__kube_watch **out, pai__kube *kube,
                        const pai__kube_watch_want *want, pai_error **err);
void pai__kube_watch_close(pai__kube_watch *watch); /* NULL is allowed */

/* --- posts --------------------------------------------------------------- */

/* status PAI_OK: done; else an error, with the API server's message if it sent
 * one. */
typedef void (*pai__kube_post_cb)(void *user_data, int status,
                                  const char *why);

int pai__kube_post_new(pai__kube *kube, const char *path, const char *body,
                       size_t len, pai__kube_post_cb cb, void *user_data,
                       pai_error **err);

/* --- shared by the files of this folder ---------------------------------- */

const pai_alloc *pai__kube_alloc(const pai__kube *kube);
pai_loop *pai__kube_loop(const pai__kube *kube);
const pai__log *pai__kube_log(const pai__kube *kube);

/* A request with the current credentials.  The options are copied. */
typedef struct pai__kube_request pai__kube_request;
typedef struct pai__kube_want {
  const char *method;
  const char *path; /* with query */
  const char *body; /* JSON; NULL: none */
  size_t len;
  bool stream; /* it lasts long */
  int (*on_body)(void *user_data, int http_status, const char *bytes,
                 size_t len);
  void (*on_done)(void *user_data, int status, int http_status,
                  const pai_error *err);
  void *user_data;
} pai__kube_want;

/* Its connections may be dead: later requests use new ones. */
void pai__kube_suspect(pai__kube *kube);
int pai__kube_ask(pai__kube_request **out, pai__kube *kube,
                  const pai__kube_want *want, pai_error **err);
void pai__kube_cancel(pai__kube_request *request);
/* Appends the message of a Status object, or the beginning of another body. */
void pai__kube_why(pai__buf *out, const pai_alloc *alloc, int http_status,
                   const char *body, size_t len);

#endif
