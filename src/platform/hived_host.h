/*
 * hived_host.h - internal: HiveD in Kubernetes
 *
 * hived_host.c is told by the API server, hived_asks.c is asked by the
 * scheduler.
 */
#ifndef PAI_SRC_PLATFORM_HIVED_HOST_H
#define PAI_SRC_PLATFORM_HIVED_HOST_H

#include "backend/kubernetes/kube.h"
#include "base/fork.h"

#include <openpai/hived_host.h>

/* A request, until it is answered; or a binding that nobody waits for. */
typedef struct pai__hived_ask {
  struct pai__hived_ask *before, *after; /* in the list that it is in */
  pai_hived_host *host;
  char *method, *target;
  const char *body; /* of `body_len` bytes; own, or lent */
  size_t body_len;
  void (*release)(void *body_data); /* NULL: the body is own */
  void *body_data;
  pai_hived_host_cb cb; /* NULL: nobody waits */
  void *user_data;
  char *uid; /* of the pod that is being bound */
  /* the answer, where it is sent later */
  int status;
  char *type, *location;
  pai__buf answer;
} pai__hived_ask;

typedef struct pai__hived_asks {
  pai__hived_ask *first, *last;
} pai__hived_asks;

/* What one configuration makes of the nodes and pods. */
typedef struct pai__hived_view {
  pai_hived_host *host;
  const pai_cluster *cluster;
  pai_hived_extender *extender;
  pai_hived_extender *before; /* of one that is tried: what the configuration
                                 that counts makes of the same pods */
  pai__kube_watch *nodes, *pods;
  bool begun, known; /* asks for nodes and pods; has heard of all */
} pai__hived_view;

struct pai_hived_host {
  pai_alloc alloc;
  unsigned forks; /* see base/fork.h */
  pai_loop *loop;
  pai__log log;
  const pai_cluster *cluster;
  pai__kube *kube;
  pai__hived_view *view;
  pai__hived_view *next;        /* of another configuration, that is tried */
  pai__timer *patience;         /* so long; NULL: none was */
  pai_hived_reload_cb reloaded; /* NULL: none is */
  void *reloaded_data;
  pai__turn *turn;         /* in which the next request is answered, */
  pai__timer *timer;       /* if none is held: then after this */
  pai__hived_asks waiting; /* to be answered */
  pai__hived_asks binding; /* until the API server has done it */
  pai__hived_ask *held;    /* this one's answer holds up the others */
  bool closing, closed_kube;
  void (*on_ready)(void *user_data);
  void *user_data;
  void (*closed)(void *user_data);
  void *closed_data;
};

/* The next request, if there is one, and none is held. */
void pai__hived_answer_next(pai_hived_host *h);
/* The held one. */
void pai__hived_release(pai_hived_host *h);
/* All that wait, but those whose binding is under way. */
void pai__hived_cancel_asks(pai_hived_host *h);

/* A view makes its extender, and asks for nodes and pods when it begins.
 * hived_host.c */
int pai__hived_view_new(pai__hived_view **out, pai_hived_host *h,
                        const pai_cluster *cluster, pai_error **err);
int pai__hived_view_begin(pai__hived_view *v, pai_error **err);
void pai__hived_view_free(pai__hived_view *v); /* NULL is allowed */

/* Whatever can be done now for another configuration (hived_reload.c). */
void pai__hived_reload_step(pai_hived_host *h);
void pai__hived_reload_cancel(pai_hived_host *h);

#endif
