/* kube_config.h - where Kubernetes' API server is, and as whom to ask it */
#ifndef PAI_SRC_PLATFORM_KUBE_CONFIG_H
#define PAI_SRC_PLATFORM_KUBE_CONFIG_H

#include "backend/kubernetes/kube.h"
#include "base/arena.h"

#include <openpai/hived_host.h>

/* NULL: it was not said. */
typedef struct pai__kube_config {
  pai_alloc alloc;
  char *url;
  char *token, *token_file;
  char *user, *password;
  char *ca, *certificate, *key; /* PEM */
  char *proxy;
  pai__kube_program program; /* its words are NULL: there is none */
  pai__arena arena;          /* its texts */
} pai__kube_config;

/* posix_kube_config.c: as pai_hived_host_options tells; codes as
 * pai_hived_host_new(). */
int pai__kube_config_find(pai__kube_config *out, const pai_alloc *alloc,
                          const pai_cluster *cluster,
                          const pai_hived_host_options *options,
                          pai_error **err);
void pai__kube_config_dispose(pai__kube_config *c);
/* A file's text; nothing is done if there is a text already, or no path. */
int pai__kube_config_read(char **out, const pai_alloc *alloc, const char *path,
                          pai_error **err);

/* kubeconfig.c: adds what such a file says.  Paths in it begin at `folder`. */
int pai__kube_config_parse(pai__kube_config *c, const char *text, size_t len,
                           const char *path, pai_error **err);

#endif
