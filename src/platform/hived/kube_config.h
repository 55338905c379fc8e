/* kube_config.h - address and credentials of Kubernetes' API server */
#ifndef PAI_SRC_PLATFORM_HIVED_KUBE_CONFIG_H
#define PAI_SRC_PLATFORM_HIVED_KUBE_CONFIG_H

#include "backend/kubernetes/kube.h"
#include "base/arena.h"

#include <openpai/hived_host.h>

/* Texts are NULL if not given. */
typedef struct pai__kube_config {
  pai_alloc alloc;
  char *url;
  char *token, *token_file;
  char *user, *password;
  char *ca, *certificate, *key; /* PEM */
  char *proxy;
  pai__kube_program program; /* without words: there is none */
  pai__arena arena;          /* texts of `program` */
} pai__kube_config;

/* posix_kube_config.c: finds the configuration as pai_hived_host_options
 * describes; codes as pai_hived_host_new(). */
int pai__kube_config_find(pai__kube_config *out, const pai_alloc *alloc,
                          const pai_cluster *cluster,
                          const pai_hived_host_options *options,
                          pai_error **err);
void pai__kube_config_dispose(pai__kube_config *c);
/* Reads a file; does nothing if *out is set already, or without a path. */
int pai__kube_config_read(char **out, const pai_alloc *alloc, const char *path,
                          pai_error **err);

/* kubeconfig.c: adds the values of the kubeconfig file at `path`.  Relative
 * paths in it begin at its folder. */
int pai__kube_config_parse(pai__kube_config *c, const char *text, size_t len,
                           const char *path, pai_error **err);

#endif
