/* kubernetes.h - internal: Kubernetes' resource names, used outside its reader
 * too */
#ifndef PAI_SRC_RESOURCE_CLUSTER_KUBERNETES_H
#define PAI_SRC_RESOURCE_CLUSTER_KUBERNETES_H

#include "resource/cluster/import.h"

/* Whether a resource stands for GPUs, as nvidia.com/gpu or amd.com/gpu. */
bool pai__kube_is_gpu(pai__piece resource);

#endif
