/*
 * host.h - internal: HiveD as a scheduler extender of Kubernetes
 *
 * hived/host.c follows the API server's nodes and pods; hived/asks.c answers
 * requests of the Kubernetes scheduler.
 */
#ifndef PAI_SRC_PLATFORM_HIVED_HOST_H
#define PAI_SRC_PLATFORM_HIVED_HOST_H

#include "backend/kubernetes/kube.h"
#include "base/os/fork.h"

#include <openpai/hived_host.h>

/* A request, until it is answered; or a binding without a caller. */
typedef struct pai__platform_hived_ask {
  struct pai__platform_hived_ask *before, *after; /* neighbours in its list */
  pai_hived_host *host;
  char *method, *target;
  const char *body; /* of `body_len` bytes; owned, or lent */
  size_t body_len;
  void (*release)(void *body_data); /* NULL: the body is owned */
  void *body_data;
  pai_hived_host_cb cb; /* NULL: no caller waits */
  void *user_data;
  char *uid; /* of the pod that is being bound */
             /* the answer, if it is sent later */
  int status;
  char *type, *location;
  pai__buf answer;
} pai__platform_hived_ask;

typedef struct pai__hived_asks {
  pai__platform_hived_ask *first, *last;
} pai__hived_asks;

/* The state of nodes and pods under one configuration. */
typedef struct pai__platform_hived_view {
  pai_hived_host *host;
  const pai_cluster *cluster;
  pai_hived_extender *extender;
  pai_hived_extender *before; /* of a view that is tried: the same pods under
                                 the configuration in force */
  pai__kube_watch *nodes, *pods;
  bool begun, known; /* follows nodes and pods; has received all */
} pai__platform_hived_view;

struct pai_hived_host {
  pai_alloc alloc;
  unsigned forks; /* see base/os/fork.h */
  pai_loop *loop;
  pai__log log;
  const pai_cluster *cluster;
  pai__kube *kube;
  pai__platform_hived_view *view;
  pai__platform_hived_view *next; /* of a new configuration that is tried */
  pai__timer *patience;           /* time limit of a try; NULL: never tried */
  pai_hived_reload_cb reloaded;   /* NULL: no configuration is tried */
  void *reloaded_data;
  pai__loop_step *step;    /* answers the next request, if none is held */
  pai__timer *timer;       /* releases the held request */
  pai__hived_asks waiting; /* requests to be answered */
  pai__hived_asks binding; /* bindings under way at the API server */
  pai__platform_hived_ask *held; /* request whose answer delays the others */
  bool closing, closed_kube;
  void (*on_ready)(void *user_data);
  void *user_data;
  void (*closed)(void *user_data);
  void *closed_data;
};

/* Answers the next request, if there is one and none is held. */
void pai__hived_answer_next(pai_hived_host *h);
/* Answers the held request. */
void pai__hived_release(pai_hived_host *h);
/* Cancels all waiting requests, except those whose binding is under way. */
void pai__hived_cancel_asks(pai_hived_host *h);

/* hived/host.c: makes a view with its extender; pai__hived_view_begin() starts
 * to follow nodes and pods. */
int pai__hived_view_new(pai__platform_hived_view **out, pai_hived_host *h,
                        const pai_cluster *cluster, pai_error **err);
int pai__hived_view_begin(pai__platform_hived_view *v, pai_error **err);
void pai__hived_view_free(pai__platform_hived_view *v); /* NULL is allowed */

/* hived/reload.c: goes on with the try of a new configuration. */
void pai__hived_reload_step(pai_hived_host *h);
void pai__hived_reload_cancel(pai_hived_host *h);

#endif
