/*
 * host.c - HiveD in Kubernetes: opening, closing, and following nodes and pods
 *
 * Nodes are listed first and then pods, so that the cells of bound pods are
 * healthy.  Requests are answered only after both lists.
 */
#include "platform/hived/host.h"

#include "platform/hived/kube_config.h"
#include "resource/cluster.h"

/* --- events of the API server --------------------------------------------- */

/* Passes an event to the extender.  An error of one pod is only logged, as in
 * HiveD.  An unreadable event, whose error has a line, makes the watch list
 * again. */
static int tell(pai__platform_hived_view *v, const char *json, size_t len)
{
  pai_error *err = NULL;
  int rc = pai_hived_extender_event(v->extender, json, len,
                                    pai__loop_wall_time(), &err);
  const bool done =
    rc == PAI_EEXISTS || (rc == PAI_EINVAL && pai_error_line(err) == 0);

  if ((done || rc == PAI_OK) && v->before != NULL &&
      pai_hived_extender_event(v->before, json, len, pai__loop_wall_time(),
                               NULL) == PAI_ENOMEM)
    rc = PAI_ENOMEM; /* it is listed again */
  if (rc < 0)
    pai__log_line(&v->host->log, PAI_LOG_WARNING, "%s",
                  pai_error_message(err));
  pai_error_free(err);
  return done && rc != PAI_ENOMEM ? PAI_OK : rc;
}

static int on_event(void *user_data, const char *json, size_t len)
{
  return tell(user_data, json, len);
}

static void become_ready(pai_hived_host *h)
{
  pai__log_line(&h->log, PAI_LOG_INFO, "all nodes and pods are known");
  if (h->on_ready != NULL)
    h->on_ready(h->user_data);
}

static int on_pods(void *user_data, const char *json, size_t len)
{
  pai__platform_hived_view *v = user_data;
  pai_hived_host *h = v->host;
  int rc = tell(v, json, len);

  if (rc < 0 || v->known)
    return rc;
  v->known = true;
  if (v == h->next)
    pai__loop_step_ask(h->step); /* a watch is not closed in its callback */
  else
    become_ready(h);
  return PAI_OK;
}

/* Pods that have ended have no cells, and there may be very many. */
static const char living[] =
  "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

static int on_nodes(void *user_data, const char *json, size_t len)
{
  pai__platform_hived_view *v = user_data;
  pai__kube_watch_want pods = { .path = "/api/v1/pods",
                                .kind = "PodList",
                                .selector = living,
                                .on_list = on_pods,
                                .on_event = on_event,
                                .user_data = v };
  int rc = tell(v, json, len);

  if (rc < 0 || v->pods != NULL || v->host->closing)
    return rc;
  return pai__kube_watch_new(&v->pods, v->host->kube, &pods, NULL);
}

/* --- views ---------------------------------------------------------------- */

int pai__hived_view_new(pai__platform_hived_view **out, pai_hived_host *h,
                        const pai_cluster *cluster, pai_error **err)
{
  pai_hived_extender_options o = PAI_HIVED_EXTENDER_OPTIONS_INIT;
  pai__platform_hived_view *v = pai__zalloc(&h->alloc, sizeof(*v));
  int rc;

  *out = NULL;
  if (v == NULL)
    return pai__oom(err);
  v->host = h;
  v->cluster = cluster;
  o.alloc = &h->alloc;
  rc = pai_hived_extender_new(&v->extender, cluster, &o, err);
  if (rc == PAI_OK && h->view != NULL)
    rc = pai_hived_extender_new(&v->before, h->cluster, &o, err);
  if (rc < 0)
    pai__hived_view_free(v);
  else
    *out = v;
  return rc;
}

int pai__hived_view_begin(pai__platform_hived_view *v, pai_error **err)
{
  pai__kube_watch_want nodes = { .path = "/api/v1/nodes",
                                 .kind = "NodeList",
                                 .on_list = on_nodes,
                                 .on_event = on_event,
                                 .user_data = v };

  v->begun = true;
  return pai__kube_watch_new(&v->nodes, v->host->kube, &nodes, err);
}

void pai__hived_view_free(pai__platform_hived_view *v)
{
  pai_alloc alloc;

  if (v == NULL)
    return;
  alloc = v->host->alloc;
  pai__kube_watch_close(v->pods);
  pai__kube_watch_close(v->nodes);
  pai_hived_extender_free(v->extender);
  pai_hived_extender_free(v->before);
  pai__free(&alloc, v, sizeof(*v));
}

/* --- closing -------------------------------------------------------------- */

static void free_host(pai_hived_host *h)
{
  pai_alloc alloc = h->alloc;
  void (*closed)(void *) = h->closed;
  void *closed_data = h->closed_data;

  pai__loop_step_close(h->step);
  pai__timer_close(h->timer);
  pai__timer_close(h->patience);
  pai__hived_view_free(h->view);
  pai__free(&alloc, h, sizeof(*h));
  if (closed != NULL)
    closed(closed_data);
}

static void on_kube_closed(void *user_data)
{
  free_host(user_data); /* bindings that were under way are cancelled */
}

static void on_step(void *user_data)
{
  pai_hived_host *h = user_data;

  if (!h->closing) {
    pai__hived_reload_step(h);
    pai__hived_answer_next(h);
    return;
  }
  pai__hived_reload_cancel(h);
  pai__hived_cancel_asks(h);
  pai__kube_watch_close(h->view->pods);
  pai__kube_watch_close(h->view->nodes);
  h->view->pods = h->view->nodes = NULL;
  pai__kube_close(h->kube, on_kube_closed, h);
}

static void on_timer(void *user_data)
{
  pai__hived_release(user_data);
}

void pai_hived_host_close(pai_hived_host *host,
                          void (*closed)(void *user_data), void *user_data)
{
  if (host == NULL || host->closing || PAI__IS_FORKED(host))
    return;
  host->closing = true;
  host->closed = closed;
  host->closed_data = user_data;
  pai__timer_stop(host->timer);
  pai__loop_step_ask(host->step);
}

/* --- opening -------------------------------------------------------------- */

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
                  "a token or a password is sent to it without TLS");
  pai__kube_config_dispose(&c);
  return rc;
}

static int begin(pai_hived_host *h, const pai_hived_host_options *o,
                 pai_error **err)
{
  int rc = pai__hived_view_new(&h->view, h, h->cluster, err);

  if (rc < 0)
    return rc;
  if (pai__loop_step_new(&h->step, &h->alloc, h->loop, on_step, h) < 0 ||
      pai__timer_new(&h->timer, &h->alloc, h->loop, on_timer, h) < 0)
    return pai__oom(err);
  return open_kube(h, o, err);
}

int pai_hived_host_new(pai_hived_host **out, pai_loop *loop,
                       const pai_cluster *cluster,
                       const pai_hived_host_options *opts, pai_error **err)
{
  pai_hived_host_options o;
  pai_hived_host *h;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(loop != NULL && cluster != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_hived_host_options, user_data);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_hived_host_options");
  rc = pai__loop_check(loop, err);
  if (rc < 0)
    return rc;
  h = pai__zalloc(pai__alloc_or_libc(o.alloc), sizeof(*h));
  if (h == NULL)
    return pai__oom(err);
  h->alloc = *pai__alloc_or_libc(o.alloc);
  h->forks = pai__forks();
  h->loop = loop;
  h->cluster = cluster;
  h->log = (pai__log){ o.on_log, o.user_data, PAI_LOG_DEBUG };
  h->on_ready = o.on_ready;
  h->user_data = o.user_data;
  rc = begin(h, &o, err);
  if (rc < 0) {
    free_host(h); /* begin() opens `kube` last, so there is none */
    return rc;
  }
  rc = pai__hived_view_begin(h->view, err);
  if (rc < 0) {
    pai_hived_host_close(h, NULL, NULL);
    return rc;
  }
  *out = h;
  return PAI_OK;
}

int pai_hived_host_ready(const pai_hived_host *host)
{
  return host->view->known;
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
