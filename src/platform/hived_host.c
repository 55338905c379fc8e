/*
 * hived_host.c - HiveD in Kubernetes: what the API server tells, and its life
 *
 * Nodes are listed first and then pods, so that a pod that is bound finds its
 * cells healthy; only then requests are answered.
 */
#include "platform/hived_host.h"

#include "platform/kube_config.h"
#include "resource/cluster.h"

/* --- what the API server tells ----------------------------------------------------- */

/* What is wrong with a pod is told and stops nothing, as for HiveD.  What
 * cannot be read at all, which has a line, is asked for again. */
static int tell(pai_hived_host *h, const char *json, size_t len)
{
  pai_error *err = NULL;
  int rc = pai_hived_extender_event(h->extender, json, len,
                                    pai__loop_wall_time(), &err);
  bool done =
    rc == PAI_EEXISTS || (rc == PAI_EINVAL && pai_error_line(err) == 0);

  if (rc < 0)
    pai__log_line(&h->log, PAI_LOG_WARNING, "%s", pai_error_message(err));
  pai_error_free(err);
  return done ? PAI_OK : rc;
}

static int on_event(void *user_data, const char *json, size_t len)
{
  return tell(user_data, json, len);
}

static int on_pods(void *user_data, const char *json, size_t len)
{
  pai_hived_host *h = user_data;
  int rc = tell(h, json, len);

  if (rc == PAI_OK && !h->ready) {
    h->ready = true;
    pai__log_line(&h->log, PAI_LOG_INFO, "all nodes and pods are known");
    if (h->on_ready != NULL)
      h->on_ready(h->user_data);
  }
  return rc;
}

/* Those that have ended have no cells, and there may be very many. */
static const char living[] =
  "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

static int on_nodes(void *user_data, const char *json, size_t len)
{
  pai_hived_host *h = user_data;
  pai__kube_watch_want pods = { .path = "/api/v1/pods",
                                .kind = "PodList",
                                .selector = living,
                                .on_list = on_pods,
                                .on_event = on_event,
                                .user_data = h };
  int rc = tell(h, json, len);

  if (rc < 0 || h->pods != NULL || h->closing)
    return rc;
  return pai__kube_watch_new(&h->pods, h->kube, &pods, NULL);
}

/* --- its end ------------------------------------------------------------------------ */

static void free_host(pai_hived_host *h)
{
  pai_alloc alloc = h->alloc;
  void (*closed)(void *) = h->closed;
  void *closed_data = h->closed_data;

  pai__turn_close(h->turn);
  pai__timer_close(h->timer);
  pai_hived_extender_free(h->extender);
  pai__free(&alloc, h, sizeof(*h));
  if (closed != NULL)
    closed(closed_data);
}

static void on_kube_closed(void *user_data)
{
  free_host(user_data); /* bindings that were under way are cancelled */
}

static void on_turn(void *user_data)
{
  pai_hived_host *h = user_data;

  if (!h->closing) {
    pai__hived_answer_next(h);
    return;
  }
  pai__hived_cancel_asks(h);
  pai__kube_watch_close(h->pods);
  pai__kube_watch_close(h->nodes);
  pai__kube_close(h->kube, on_kube_closed, h);
}

static void on_timer(void *user_data)
{
  pai__hived_release(user_data);
}

void pai_hived_host_close(pai_hived_host *host,
                          void (*closed)(void *user_data), void *user_data)
{
  if (host == NULL || host->closing)
    return;
  host->closing = true;
  host->closed = closed;
  host->closed_data = user_data;
  pai__timer_stop(host->timer);
  pai__turn_ask(host->turn);
}

/* --- its beginning ------------------------------------------------------------------ */

static int open_kube(pai_hived_host *h, const pai_hived_host_options *o,
                     pai_error **err)
{
  pai__kube_config c;
  pai__kube_options kube;
  int rc = pai__kube_config_find(&c, &h->alloc, h->cluster, o, err);

  if (rc < 0)
    return rc;
  kube = (pai__kube_options){ .url = c.url,
                              .token = c.token,
                              .token_file = c.token_file,
                              .user = c.user,
                              .password = c.password,
                              .ca = c.ca,
                              .certificate = c.certificate,
                              .key = c.key,
                              .proxy = c.proxy,
                              .log = h->log };
  if (c.program.words != NULL && c.token == NULL && c.token_file == NULL &&
      c.user == NULL)
    kube.program = &c.program;
  rc = pai__kube_new(&h->kube, &h->alloc, h->loop, &kube, err);
  if (rc == PAI_OK)
    pai__log_line(&h->log, PAI_LOG_INFO, "Kubernetes' API server is %s",
                  c.url);
  if (rc == PAI_OK && strncmp(c.url, "http:", 5) == 0 &&
      (c.token != NULL || c.token_file != NULL || c.user != NULL ||
       kube.program != NULL))
    pai__log_line(&h->log, PAI_LOG_WARNING,
                  "it is told a token or a password without TLS");
  pai__kube_config_dispose(&c);
  return rc;
}

static int begin(pai_hived_host *h, const pai_hived_host_options *o,
                 pai_error **err)
{
  pai_hived_extender_options extender = PAI_HIVED_EXTENDER_OPTIONS_INIT;
  int rc;

  extender.alloc = &h->alloc;
  rc = pai_hived_extender_new(&h->extender, h->cluster, &extender, err);
  if (rc < 0)
    return rc;
  if (pai__turn_new(&h->turn, &h->alloc, h->loop, on_turn, h) < 0 ||
      pai__timer_new(&h->timer, &h->alloc, h->loop, on_timer, h) < 0)
    return pai__oom(err);
  return open_kube(h, o, err);
}

int pai_hived_host_new(pai_hived_host **out, pai_loop *loop,
                       const pai_cluster *cluster,
                       const pai_hived_host_options *opts, pai_error **err)
{
  pai__kube_watch_want nodes = { .path = "/api/v1/nodes",
                                 .kind = "NodeList",
                                 .on_list = on_nodes,
                                 .on_event = on_event };
  pai_hived_host_options o;
  pai_hived_host *h;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(loop != NULL && cluster != NULL, err);
  rc = PAI__COPY_IN(&o, opts, pai_hived_host_options, user_data);
  if (rc < 0)
    return pai__fail(err, rc,
                     "pai_hived_host_options: bad or newer struct_size");
  h = pai__zalloc(pai__alloc_or_libc(o.alloc), sizeof(*h));
  if (h == NULL)
    return pai__oom(err);
  h->alloc = *pai__alloc_or_libc(o.alloc);
  h->loop = loop;
  h->cluster = cluster;
  h->log = (pai__log){ o.on_log, o.user_data, PAI_LOG_DEBUG };
  h->on_ready = o.on_ready;
  h->user_data = o.user_data;
  rc = begin(h, &o, err);
  if (rc < 0) {
    free_host(h); /* with `kube` all is there */
    return rc;
  }
  nodes.user_data = h;
  rc = pai__kube_watch_new(&h->nodes, h->kube, &nodes, err);
  if (rc < 0) {
    pai_hived_host_close(h, NULL, NULL);
    return rc;
  }
  *out = h;
  return PAI_OK;
}

int pai_hived_host_ready(const pai_hived_host *host)
{
  return host->ready;
}

const char *pai_hived_host_address(const pai_hived_host *host)
{
  const pai_cluster *c = host->cluster;

  for (size_t i = 0; i < c->nsettings; i++)
    if (strcmp(c->settings[i].key, "webServerAddress") == 0 &&
        c->settings[i].text != NULL && c->settings[i].text[0] != '\0')
      return c->settings[i].text;
  return ":9096";
}
