/*
 * inside.h - internal to src/backend/kubernetes: the API server and its
 * requests
 *
 * If a program makes tokens, requests wait in a list until there is a valid
 * token.
 */
#ifndef PAI_SRC_BACKEND_KUBERNETES_INSIDE_H
#define PAI_SRC_BACKEND_KUBERNETES_INSIDE_H

#include "backend/kubernetes/program.h"
#include "base/arena.h"

struct pai__kube {
  pai_alloc alloc;
  pai_loop *loop;
  pai__log log;
  pai__http *http;
  char *url;
  char *authorization; /* NULL: none, or from: */
  char *token_file;
  void (*closed)(void *user_data);
  void *closed_data;
  /* tokens.c: a program that makes tokens, or NULL */
  pai__kube_program *program;
  pai__arena arena;         /* holds its texts */
  pai__program *running;    /* NULL: not running */
  pai__kube_request *first; /* requests that wait for it */
  pai__loop_step *step;     /* ends requests that no longer wait */
  pai_time expires;         /* when the token expires, by the wall clock; 0:
                               never */
  bool closing;
};

struct pai__kube_request {
  pai__kube *kube;
  pai__http_request *request; /* NULL: it waits for a token */
  pai__kube_want want;        /* without its borrowed texts */
  pai__buf authorization, url, body;
  pai__kube_request *next; /* in the list */
  bool canceled;
};

/* kube.c: ends a request that was not sent. */
void pai__kube_end(pai__kube_request *r, int status, const pai_error *err);
/* Sends it with the current credentials. */
int pai__kube_send(pai__kube_request *r, pai_error **err);
/* All waiting requests have ended: closes the connections. */
void pai__kube_close_http(pai__kube *kube);
/* Returns whether a text is valid in a header. */
bool pai__kube_is_line(const char *text);

/* tokens.c */
int pai__kube_keep_program(pai__kube *kube, const pai__kube_options *o,
                           pai_error **err);
void pai__kube_drop_program(pai__kube *kube); /* no request may be waiting */
/* Returns whether a request must wait for a token. */
bool pai__kube_must_wait(const pai__kube *kube);
/* Makes it wait.  It is sent or ended from the loop. */
int pai__kube_wait(pai__kube_request *r, pai_error **err);
/* Ends the wait of a request, or of all; their callbacks come in the next
 * step. */
void pai__kube_give_up(pai__kube_request *r);
void pai__kube_give_all_up(pai__kube *kube);
/* The API server refused this token. */
void pai__kube_refused(pai__kube *kube, const char *authorization);

#endif
