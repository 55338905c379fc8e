/* posix_kube_config.c - finding Kubernetes' API server in the way of HiveD */
#include "platform/hived/kube_config.h"

#include "base/os/posix_fs.h"
#include "resource/cluster.h"

#include <stdlib.h>
#include <unistd.h>

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount/"

enum { MOST_FILE = 16 << 20 };

static const char *nonempty(const char *text)
{
  return text != NULL && text[0] != '\0' ? text : NULL;
}

/* Returns a setting of HiveD's configuration, or an environment variable. */
static const char *setting(const pai_cluster *c, const char *key,
                           const char *variable)
{
  for (size_t i = 0; i < c->nsettings; i++)
    if (strcmp(c->settings[i].key, key) == 0 &&
        nonempty(c->settings[i].text) != NULL)
      return c->settings[i].text;
  return variable != NULL ? nonempty(getenv(variable)) : NULL;
}

static int set(char **to, const pai_alloc *alloc, const char *text,
               pai_error **err)
{
  if (text == NULL)
    return PAI_OK;
  pai__strfree(alloc, *to);
  *to = pai__strdup(alloc, text);
  return *to != NULL ? PAI_OK : pai__oom(err);
}

int pai__kube_config_read(char **out, const pai_alloc *alloc, const char *path,
                          pai_error **err)
{
  pai__buf text;
  int rc;

  if (*out != NULL || path == NULL)
    return PAI_OK;
  pai__buf_init(&text, alloc);
  rc = pai__fs_read(&text, path, MOST_FILE, err);
  if (rc < 0) {
    pai__buf_dispose(&text);
    return rc;
  }
  *out = pai__buf_take(&text);
  return *out != NULL ? PAI_OK : pai__oom(err);
}

static int read_config(pai__kube_config *c, const char *path, pai_error **err)
{
  char *text = NULL;
  int rc = pai__kube_config_read(&text, &c->alloc, path, err);

  if (rc == PAI_OK && text != NULL)
    rc = pai__kube_config_parse(c, text, strlen(text), path, err);
  pai__strfree(&c->alloc, text);
  return rc;
}

/* --- places --------------------------------------------------------------- */

/* Finds $KUBECONFIG, or ~/.kube/config; *out is unchanged if it is missing. */
static int find_usual(char **out, const pai_alloc *alloc, pai_error **err)
{
  const char *path = nonempty(getenv("KUBECONFIG")),
             *home = nonempty(getenv("HOME"));
  pai__buf b;

  pai__buf_init(&b, alloc);
  if (path != NULL)
    pai__buf_str(&b, path);
  else if (home != NULL)
    pai__buf_printf(&b, "%s/.kube/config", home);
  if (b.len == 0 || access(pai__buf_text(&b), F_OK) != 0) {
    bool failed = b.failed;
    pai__buf_dispose(&b);
    return failed ? pai__oom(err) : PAI_OK;
  }
  *out = pai__buf_take(&b);
  return *out != NULL ? PAI_OK : pai__oom(err);
}

/* Takes address and credentials from the pod that this process runs in. */
static int find_pod(pai__kube_config *c, const pai_hived_host_options *o,
                    pai_error **err)
{
  const char *host = nonempty(getenv("KUBERNETES_SERVICE_HOST")),
             *port = nonempty(getenv("KUBERNETES_SERVICE_PORT"));
  bool v6 = host != NULL && strchr(host, ':') != NULL;
  pai__buf url;
  int rc;

  if (host == NULL || port == NULL) {
    rc =
      pai__fail(err, PAI_ENOTFOUND,
                "the address of the Kubernetes API server is not configured");
    pai__error_help(
      err, "set it with --kube-url, with kubeApiServerAddress or "
           "kubeConfigFilePath of the configuration, or with a kubeconfig "
           "file in $KUBECONFIG; in a pod it is found automatically");
    return rc;
  }
  pai__buf_init(&url, &c->alloc);
  pai__buf_printf(&url, "https://%s%s%s:%s", v6 ? "[" : "", host,
                  v6 ? "]" : "", port);
  c->url = pai__buf_take(&url);
  if (c->url == NULL)
    return pai__oom(err);
  rc = c->token_file != NULL
         ? PAI_OK
         : set(&c->token_file, &c->alloc, ACCOUNT "token", err);
  if (rc == PAI_OK && o->kube_ca_file == NULL)
    rc = pai__kube_config_read(&c->ca, &c->alloc, ACCOUNT "ca.crt", err);
  return rc;
}

/* Looks in the configuration first, and then in the environment. */
static int find_as_hived(pai__kube_config *c, const pai_cluster *cluster,
                         const pai_hived_host_options *o, pai_error **err)
{
  const char *url = setting(cluster, "kubeApiServerAddress",
                            "KUBE_APISERVER_ADDRESS"),
             *path = setting(cluster, "kubeConfigFilePath", NULL);
  char *usual = NULL;
  int rc = path == NULL ? find_usual(&usual, &c->alloc, err) : PAI_OK;

  if (path == NULL)
    path = usual;
  if (rc == PAI_OK && url == NULL && path == NULL)
    rc = find_pod(c, o, err);
  else if (rc == PAI_OK)
    rc = read_config(c, path, err);
  if (rc == PAI_OK)
    rc = set(&c->url, &c->alloc, url, err);
  pai__strfree(&c->alloc, usual);
  return rc;
}

/* --- the address ---------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
  return strncmp(text, with, strlen(with)) == 0;
}

/* An address without a scheme is https if there are TLS credentials, as in
 * HiveD. */
static int add_scheme(pai__kube_config *c, pai_error **err)
{
  pai__buf url;

  if (strstr(c->url, "://") != NULL)
    return PAI_OK;
  pai__buf_init(&url, &c->alloc);
  pai__buf_printf(&url, "%s://%s",
                  c->ca != NULL || c->certificate != NULL ? "https" : "http",
                  c->url);
  pai__strfree(&c->alloc, c->url);
  c->url = pai__buf_take(&url);
  return c->url != NULL ? PAI_OK : pai__oom(err);
}

static int check_url(pai__kube_config *c, pai_error **err)
{
  int rc = add_scheme(c, err);
  const char *host = c->url;
  size_t len;

  if (rc < 0)
    return rc;
  len = strlen(c->url);
  if (begins(host, "https://"))
    host += 8;
  else if (begins(host, "http://"))
    host += 7;
  else
    host = "";
  for (const char *p = host; *p != '\0'; p++)
    if ((unsigned char)*p <= ' ' || strchr("?#@\"<>\\\x7f", *p) != NULL)
      host = ""; /* '@': no password in the address */
  if (host[0] == '\0' || host[0] == '/') {
    rc = pai__fail(err, PAI_EINVAL,
                   "the address of the Kubernetes API server is invalid");
    pai__error_help(err, "write it as https://10.0.0.1:6443");
    return rc;
  }
  while (len > 0 && c->url[len - 1] == '/')
    len--;
  if (c->url[len] != '\0') {
    char *shorter = pai__strndup(&c->alloc, c->url, len);
    pai__strfree(&c->alloc, c->url);
    c->url = shorter;
  }
  return c->url != NULL ? PAI_OK : pai__oom(err);
}

static int find(pai__kube_config *c, const pai_cluster *cluster,
                const pai_hived_host_options *o, pai_error **err)
{
  int rc = set(&c->token_file, &c->alloc, o->kube_token_file, err);

  if (rc == PAI_OK)
    rc = pai__kube_config_read(&c->ca, &c->alloc, o->kube_ca_file, err);
  if (rc == PAI_OK && o->kube_url == NULL && o->kube_config == NULL)
    rc = find_as_hived(c, cluster, o, err);
  else if (rc == PAI_OK)
    rc = read_config(c, o->kube_config, err);
  if (rc == PAI_OK)
    rc = set(&c->url, &c->alloc, o->kube_url, err);
  if (rc < 0)
    return rc;
  if (c->url == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "the kubeconfig file names no API server");
  return check_url(c, err);
}

int pai__kube_config_find(pai__kube_config *out, const pai_alloc *alloc,
                          const pai_cluster *cluster,
                          const pai_hived_host_options *options,
                          pai_error **err)
{
  pai_hived_host_options o = *options;
  int rc;

  *out = (pai__kube_config){ .alloc = *alloc };
  pai__arena_init(&out->arena, &out->alloc);
  o.kube_url = nonempty(o.kube_url);
  o.kube_token_file = nonempty(o.kube_token_file);
  o.kube_ca_file = nonempty(o.kube_ca_file);
  o.kube_config = nonempty(o.kube_config);
  rc = find(out, cluster, &o, err);
  if (rc < 0)
    pai__kube_config_dispose(out);
  return rc;
}

void pai__kube_config_dispose(pai__kube_config *c)
{
  pai_alloc alloc = c->alloc;
  char *all[] = { c->url, c->token,       c->token_file, c->user, c->password,
                  c->ca,  c->certificate, c->key,        c->proxy };

  for (size_t i = 0; i < PAI__LEN(all); i++)
    pai__strfree(&alloc, all[i]);
  pai__arena_dispose(&c->arena);
  *c = (pai__kube_config){ .alloc = alloc };
}
