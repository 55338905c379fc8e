/* kubernetes.h - internal to the room: the parts of a Kubernetes node */
#ifndef PAI_SRC_RESOURCE_KUBERNETES_H
#define PAI_SRC_RESOURCE_KUBERNETES_H

#include "resource/import.h"

/* A node of Kubernetes: where its parts are, or PAI__NO_NODE. */
typedef struct pai__kube_node {
  pai__node at;
  const char *name; /* in the arena */
  pai__node labels, capacity, allocatable, conditions, taints, addresses;
  bool is_unschedulable;
  bool is_leaving; /* it is being deleted */
} pai__kube_node;

/* The value of one of its labels, or NULL. */
pai__piece pai__kube_label(const pai__reader *r, const pai__kube_node *k,
                           const char *key);

/* Whether a resource stands for GPUs, as nvidia.com/gpu or amd.com/gpu. */
bool pai__kube_is_gpu(pai__piece resource);

/* The GPUs of a node, into its shape (kubernetes_gpus.c). */
void pai__kube_gpus(pai__reader *r, const pai__kube_node *k,
                    pai__shape *shape);
/* Which of them are not offered is not said: the last ones are taken. */
void pai__kube_sick_gpus(pai__reader *r, const pai__member *m,
                         const pai__shape *shape);

/* Why no job can run there (kubernetes_health.c). */
void pai__kube_health(pai__reader *r, const pai__kube_node *k, pai__buf *why);

#endif
