/*
 * inside.h - internal: what files share of the API server and its requests
 *
 * Where a program makes tokens, requests wait in a list while there is none
 * that is good.
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
  char *authorization; /* NULL: none, or what is in */
  char *token_file;
  void (*closed)(void *user_data);
  void *closed_data;
  /* tokens.c: NULL, or a program that makes them */
  pai__kube_program *program;
  pai__arena arena;         /* its texts */
  pai__program *running;    /* while it runs, */
  pai__kube_request *first; /* who waits for it, */
  pai__turn *turn;          /* and who does no more: then they are told */
  pai_time expires;         /* the token, by the wall's clock; 0: never */
  bool closing;
};

struct pai__kube_request {
  pai__kube *kube;
  pai__http_request *request; /* NULL: it waits for a token */
  pai__kube_want want;        /* without texts that were lent */
  pai__buf authorization, url, body;
  pai__kube_request *next; /* in the list */
  bool canceled;
};

/* kube.c: ends a request that was not sent. */
void pai__kube_end(pai__kube_request *r, int status, const pai_error *err);
/* With the credentials that are right now. */
int pai__kube_send(pai__kube_request *r, pai_error **err);
/* What was said to be closed is: all who waited know it. */
void pai__kube_close_http(pai__kube *kube);
/* Whether a text may stand in a head. */
bool pai__kube_is_line(const char *text);

/* tokens.c */
int pai__kube_keep_program(pai__kube *kube, const pai__kube_options *o,
                           pai_error **err);
void pai__kube_drop_program(pai__kube *kube); /* nobody waits any more */
/* Whether a request has to wait for a token. */
bool pai__kube_must_wait(const pai__kube *kube);
/* It waits, and is sent or ended from the loop. */
int pai__kube_wait(pai__kube_request *r, pai_error **err);
/* It does not want to wait any more, or nobody may: told in the next turn. */
void pai__kube_give_up(pai__kube_request *r);
void pai__kube_give_all_up(pai__kube *kube);
/* The API server refused this one. */
void pai__kube_refused(pai__kube *kube, const char *authorization);

#endif
