/*
 * kubeconfig.c - reading a kubeconfig file
 *
 * Reads the address of the API server and the credentials of the current
 * context.  Unsupported fields are refused rather than ignored.
 */
#include "base/os/posix_fs.h"
#include "platform/hived/kube_config.h"
#include "yaml/scalar.h"
#include "yaml/yaml.h"

typedef struct reader {
  pai__kube_config *c;
  const pai__tree *t;
  const char *path; /* of the file */
  pai_error **err;
} reader;

static pai__node get(const reader *r, pai__node n, const char *key)
{
  n = n != PAI__NO_NODE ? pai__tree_get(r->t, n, key) : PAI__NO_NODE;
  return n != PAI__NO_NODE && pai__tree_type(r->t, n) != PAI__NULL
           ? n
           : PAI__NO_NODE;
}

/* The text of a field, or NULL. */
static const char *text_of(const reader *r, pai__node n, const char *key,
                           size_t *len)
{
  n = get(r, n, key);
  if (n == PAI__NO_NODE || pai__tree_type(r->t, n) != PAI__STRING ||
      pai__tree_str(r->t, n, len)[0] == '\0')
    return NULL;
  return pai__tree_str(r->t, n, len);
}

/* Finds the entry with this name in a list [{name, KIND: {...}}]. */
static pai__node find(const reader *r, const char *list, const char *kind,
                      const char *name)
{
  pai__node n = get(r, 0, list), item;
  pai__tree_walk walk;

  if (n == PAI__NO_NODE || name == NULL ||
      pai__tree_type(r->t, n) != PAI__SEQUENCE)
    return PAI__NO_NODE;
  walk = pai__tree_iter(r->t, n);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *have = text_of(r, item, "name", NULL);
    if (have != NULL && strcmp(have, name) == 0)
      return get(r, item, kind);
  }
  return PAI__NO_NODE;
}

static int set(const reader *r, char **to, const char *text)
{
  if (text == NULL || *to != NULL)
    return PAI_OK;
  *to = pai__strdup(&r->c->alloc, text);
  return *to != NULL ? PAI_OK : pai__oom(r->err);
}

/* Sets a path, which may be relative to the folder of the file. */
static int set_path(const reader *r, char **to, const char *path)
{
  const char *slash = strrchr(r->path, '/');
  pai__buf b;

  if (path == NULL || *to != NULL)
    return PAI_OK;
  pai__buf_init(&b, &r->c->alloc);
  if (path[0] != '/' && slash != NULL)
    pai__buf_add(&b, r->path, (size_t)(slash + 1 - r->path));
  pai__buf_str(&b, path);
  *to = pai__buf_take(&b);
  return *to != NULL ? PAI_OK : pai__oom(r->err);
}

static int decode(const reader *r, char **to, const char *key,
                  const char *text, size_t len)
{
  size_t size = len / 4 * 3 + 4, n = 0;
  char *pem = pai__zalloc(&r->c->alloc, size);
  int rc = PAI_OK;

  if (pem == NULL)
    return pai__oom(r->err);
  if (pai__base64(pem, &n, text, len) && memchr(pem, '\0', n) == NULL)
    *to = pai__strndup(&r->c->alloc, pem, n);
  else
    rc = pai__fail(r->err, PAI_EINVAL, "%s: %s is not base64-encoded text",
                   r->path, key);
  pai__free(&r->c->alloc, pem, size);
  return rc == PAI_OK && *to == NULL ? pai__oom(r->err) : rc;
}

/* Sets a PEM text from "KEY-data", or from the file named by "KEY". */
static int set_pem(const reader *r, char **to, pai__node n, const char *key)
{
  char data[64], *path = NULL;
  const char *text;
  size_t len;
  int rc;

  if (*to != NULL)
    return PAI_OK;
  memcpy(data, key, strlen(key) + 1);
  memcpy(data + strlen(key), "-data", 6);
  text = text_of(r, n, data, &len);
  if (text != NULL)
    return decode(r, to, data, text, len);
  rc = set_path(r, &path, text_of(r, n, key, NULL));
  if (rc == PAI_OK)
    rc = pai__kube_config_read(to, &r->c->alloc, path, r->err);
  pai__strfree(&r->c->alloc, path);
  return rc;
}

/* Refuses an unsupported field, unless it is null or false. */
static int refuse(const reader *r, pai__node n, const char *key,
                  const char *help)
{
  pai__node value = get(r, n, key);
  int rc;

  if (value == PAI__NO_NODE || (pai__tree_type(r->t, value) == PAI__BOOL &&
                                !pai__tree_bool(r->t, value)))
    return PAI_OK;
  rc = pai__fail_at(r->err, PAI_ENOTSUP, pai__tree_where(r->t, value),
                    "%s: %s is not supported", r->path, key);
  pai__error_help(r->err, "%s", help);
  return rc;
}

/* Accepts the schemes that both curl and Kubernetes support. */
static int set_proxy(const reader *r, const char *url)
{
  static const char *const schemes[] = { "http://", "https://", "socks5://" };
  bool good = url == NULL;
  int rc;

  for (size_t i = 0; !good && i < PAI__LEN(schemes); i++)
    good = strncmp(url, schemes[i], strlen(schemes[i])) == 0 &&
           url[strlen(schemes[i])] != '\0';
  for (const char *p = url; good && p != NULL && *p != '\0'; p++)
    good = (unsigned char)*p > ' ' && *p != 0x7f;
  if (good)
    return set(r, &r->c->proxy, url);
  rc = pai__fail(r->err, PAI_EINVAL, "%s: proxy-url is no address of a proxy",
                 r->path);
  pai__error_help(r->err, "write it as http://10.0.0.1:3128, with http, https "
                          "or socks5");
  return rc;
}

static int read_cluster(const reader *r, pai__node n)
{
  int rc = refuse(r, n, "insecure-skip-tls-verify",
                  "the server's certificate is always checked: set "
                  "certificate-authority to the CA that signed it");

  if (rc == PAI_OK)
    rc = refuse(r, n, "tls-server-name",
                "name the server by what its certificate says");
  if (rc == PAI_OK)
    rc = set_proxy(r, text_of(r, n, "proxy-url", NULL));
  if (rc == PAI_OK)
    rc = set(r, &r->c->url, text_of(r, n, "server", NULL));
  return rc < 0 ? rc : set_pem(r, &r->c->ca, n, "certificate-authority");
}

/* --- a program that makes tokens ------------------------------------------ */

static const char *keep(const reader *r, const char *text)
{
  return pai__arena_strndup(&r->c->arena, text, strlen(text));
}

static int wrong_exec(const reader *r, pai__node n, const char *what)
{
  return pai__fail_at(r->err, PAI_EINVAL, pai__tree_where(r->t, n),
                      "%s: exec: %s", r->path, what);
}

/* Finds a list that may be missing, and its number of entries. */
static int find_list(const reader *r, pai__node n, const char *key,
                     pai__node *list, size_t *count)
{
  pai__tree_walk walk;

  *list = get(r, n, key);
  *count = 0;
  if (*list == PAI__NO_NODE)
    return PAI_OK;
  if (pai__tree_type(r->t, *list) != PAI__SEQUENCE)
    return wrong_exec(r, *list, "its args and env are lists");
  walk = pai__tree_iter(r->t, *list);
  while (pai__tree_next(&walk) != PAI__NO_NODE)
    ++*count;
  return PAI_OK;
}

/* A name without a slash is looked for along PATH, others begin at the folder
 * of the file. */
static const char *keep_command(const reader *r, const char *command)
{
  char *path = NULL;
  const char *kept = NULL;

  if (strchr(command, '/') == NULL)
    return keep(r, command);
  if (set_path(r, &path, command) == PAI_OK)
    kept = keep(r, path);
  pai__strfree(&r->c->alloc, path);
  return kept;
}

static int read_words(const reader *r, pai__node exec)
{
  const char *command = text_of(r, exec, "command", NULL), **words;
  pai__tree_walk walk;
  pai__node list, n;
  size_t count, i = 0;
  int rc = find_list(r, exec, "args", &list, &count);

  if (rc < 0)
    return rc;
  if (command == NULL)
    return wrong_exec(r, exec, "it names no command");
  words = pai__arena_zalloc(&r->c->arena, count + 2, sizeof(*words));
  if (words == NULL || (words[i++] = keep_command(r, command)) == NULL)
    return pai__oom(r->err);
  if (count > 0)
    walk = pai__tree_iter(r->t, list);
  for (; i <= count && (n = pai__tree_next(&walk)) != PAI__NO_NODE; i++) {
    if (pai__tree_type(r->t, n) != PAI__STRING)
      return wrong_exec(r, n, "its args are texts");
    words[i] = keep(r, pai__tree_str(r->t, n, NULL));
    if (words[i] == NULL)
      return pai__oom(r->err);
  }
  r->c->program.words = words;
  return PAI_OK;
}

/* "NAME=value", or NULL. */
static const char *keep_variable(const reader *r, const char *name,
                                 const char *value)
{
  const char *kept;
  pai__buf b;

  pai__buf_init(&b, &r->c->alloc);
  pai__buf_printf(&b, "%s=%s", name, value != NULL ? value : "");
  kept = pai__buf_ok(&b) ? keep(r, pai__buf_text(&b)) : NULL;
  pai__buf_dispose(&b);
  return kept;
}

static int read_env(const reader *r, pai__node exec)
{
  const char **env;
  pai__tree_walk walk;
  pai__node list, n;
  size_t count;
  int rc = find_list(r, exec, "env", &list, &count);

  if (rc < 0 || count == 0)
    return rc;
  env = pai__arena_zalloc(&r->c->arena, count + 1, sizeof(*env));
  if (env == NULL)
    return pai__oom(r->err);
  walk = pai__tree_iter(r->t, list);
  for (size_t i = 0; (n = pai__tree_next(&walk)) != PAI__NO_NODE; i++) {
    const char *name = text_of(r, n, "name", NULL);
    if (name == NULL || strchr(name, '=') != NULL)
      return wrong_exec(r, n, "its env has names and values");
    env[i] = keep_variable(r, name, text_of(r, n, "value", NULL));
    if (env[i] == NULL)
      return pai__oom(r->err);
  }
  r->c->program.env = env;
  return PAI_OK;
}

static int read_manners(const reader *r, pai__node exec)
{
  const char *version = text_of(r, exec, "apiVersion", NULL),
             *mode = text_of(r, exec, "interactiveMode", NULL),
             *hint = text_of(r, exec, "installHint", NULL);
  pai__node cluster = get(r, exec, "provideClusterInfo");
  pai__kube_program *p = &r->c->program;

  if (version == NULL ||
      (strcmp(version, "client.authentication.k8s.io/v1") != 0 &&
       strcmp(version, "client.authentication.k8s.io/v1beta1") != 0))
    return wrong_exec(r, exec,
                      "its apiVersion is client.authentication.k8s.io/v1 or "
                      "v1beta1");
  if (mode != NULL && strcmp(mode, "Always") == 0)
    return wrong_exec(r, exec, "it wants a terminal, and there is none");
  p->wants_cluster = cluster != PAI__NO_NODE &&
                     pai__tree_type(r->t, cluster) == PAI__BOOL &&
                     pai__tree_bool(r->t, cluster);
  p->version = keep(r, version);
  if (hint != NULL)
    p->hint = keep(r, hint);
  return p->version != NULL && (hint == NULL) == (p->hint == NULL)
           ? PAI_OK
           : pai__oom(r->err);
}

static int read_exec(const reader *r, pai__node exec)
{
  int rc;

  if (exec == PAI__NO_NODE)
    return PAI_OK;
  rc = read_manners(r, exec);
  if (rc == PAI_OK)
    rc = read_env(r, exec);
  return rc < 0 ? rc : read_words(r, exec);
}

/* --- the file ------------------------------------------------------------- */

static int read_user(const reader *r, pai__node n)
{
  pai__kube_config *c = r->c;
  int rc = refuse(r, n, "auth-provider",
                  "Kubernetes has none since 1.26: name the provider's "
                  "program as exec, or a token of a service account as "
                  "tokenFile");

  if (rc == PAI_OK)
    rc = read_exec(r, get(r, n, "exec"));
  if (rc == PAI_OK)
    rc = set_path(r, &c->token_file, text_of(r, n, "tokenFile", NULL));
  if (rc == PAI_OK && c->token_file == NULL)
    rc = set(r, &c->token, text_of(r, n, "token", NULL));
  if (rc == PAI_OK)
    rc = set(r, &c->user, text_of(r, n, "username", NULL));
  if (rc == PAI_OK)
    rc = set(r, &c->password, text_of(r, n, "password", NULL));
  if (rc == PAI_OK)
    rc = set_pem(r, &c->certificate, n, "client-certificate");
  return rc < 0 ? rc : set_pem(r, &c->key, n, "client-key");
}

static int read_all(const reader *r)
{
  const char *name = text_of(r, 0, "current-context", NULL);
  pai__node context = find(r, "contexts", "context", name), cluster;
  int rc;

  if (context == PAI__NO_NODE) {
    rc = pai__fail(r->err, PAI_EINVAL, "%s has no context that is current",
                   r->path);
    pai__error_help(r->err, "kubectl config use-context NAME chooses one");
    return rc;
  }
  cluster =
    find(r, "clusters", "cluster", text_of(r, context, "cluster", NULL));
  if (cluster == PAI__NO_NODE)
    return pai__fail(r->err, PAI_EINVAL,
                     "%s does not have the cluster of its current context",
                     r->path);
  rc = read_cluster(r, cluster);
  return rc < 0 ? rc
                : read_user(r, find(r, "users", "user",
                                    text_of(r, context, "user", NULL)));
}

/* The faulty text may be a secret, so the error has only its position. */
static int hide(const reader *r, pai_error **err)
{
  pai__pos where = { 0 };

  if (err != NULL)
    where = (pai__pos){ pai_error_line(*err), pai_error_column(*err) };
  if (err != NULL)
    pai_error_free(*err);
  return pai__fail_at(err, PAI_EINVAL, where, "%s is not YAML", r->path);
}

int pai__kube_config_parse(pai__kube_config *c, const char *text, size_t len,
                           const char *path, pai_error **err)
{
  pai__yaml_options options = { .mode = PAI__YAML_CORE, .alloc = &c->alloc };
  reader r = { .c = c, .path = path, .err = err };
  pai__tree *tree = NULL;
  int rc = pai__yaml_parse(&tree, text, len, &options, err);

  if (rc == PAI_ENOMEM)
    return rc;
  if (rc < 0)
    return hide(&r, err);
  r.t = tree;
  rc = read_all(&r);
  pai__tree_free(tree);
  return rc;
}
