/*
 * asks.c - HiveD in Kubernetes: requests of the scheduler, and bindings
 *
 * Requests are answered one after the other, each in its own step of the loop,
 * so that events of the API server come in between.  A pod that has to wait may
 * delay all other requests, if HiveD's setting says so; a binding that is under
 * way does not.
 */
#include "platform/hived/host.h"

/* --- lists ---------------------------------------------------------------- */

static void add(pai__hived_asks *l, pai__platform_hived_ask *a)
{
  a->before = l->last;
  a->after = NULL;
  if (l->last != NULL)
    l->last->after = a;
  else
    l->first = a;
  l->last = a;
}

static void take(pai__hived_asks *l, pai__platform_hived_ask *a)
{
  if (a->before != NULL)
    a->before->after = a->after;
  else
    l->first = a->after;
  if (a->after != NULL)
    a->after->before = a->before;
  else
    l->last = a->before;
}

static pai__platform_hived_ask *new_ask(pai_hived_host *h)
{
  pai__platform_hived_ask *a = pai__zalloc(&h->alloc, sizeof(*a));

  if (a != NULL) {
    a->host = h;
    pai__buf_init(&a->answer, &h->alloc);
  }
  return a;
}

/* Frees the body as soon as it was read, because it may be large. */
static void release_body(pai__platform_hived_ask *a)
{
  if (a->release != NULL)
    a->release(a->body_data);
  else
    pai__free(&a->host->alloc, (void *)(uintptr_t)a->body, a->body_len + 1);
  a->body = NULL;
  a->body_len = 0;
  a->release = NULL;
}

static void free_ask(pai__platform_hived_ask *a)
{
  const pai_alloc *alloc = &a->host->alloc;

  pai__strfree(alloc, a->method);
  pai__strfree(alloc, a->target);
  if (a->body != NULL)
    release_body(a);
  pai__strfree(alloc, a->uid);
  pai__strfree(alloc, a->type);
  pai__strfree(alloc, a->location);
  pai__buf_dispose(&a->answer);
  pai__free(alloc, a, sizeof(*a));
}

/* --- answers -------------------------------------------------------------- */

/* Calls back and frees the request. */
static void end_ask(pai__platform_hived_ask *a, int status,
                    const pai_hived_answer *answer, const pai_error *err)
{
  if (a->body != NULL)
    release_body(a);
  if (a->cb != NULL)
    a->cb(a->user_data, status, answer, err);
  free_ask(a);
}

static void give(pai__platform_hived_ask *a, const pai_hived_answer *answer)
{
  pai_hived_answer told = *answer;

  told.hold_ms = 0;
  told.bind = PAI_HIVED_BIND_NOTHING;
  told.bind_path = told.bind_body = told.bind_uid = NULL;
  told.bind_body_len = 0;
  end_ask(a, PAI_OK, &told, NULL);
}

static void cancel(pai__platform_hived_ask *a)
{
  pai_error *err = NULL;

  (void)pai__fail(&err, PAI_ECANCELED, "the host was closed");
  end_ask(a, PAI_ECANCELED, NULL, err);
  pai_error_free(err);
}

static void end_without_memory(pai__platform_hived_ask *a)
{
  pai_error *err = NULL;
  int rc = pai__oom(&err);

  end_ask(a, rc, NULL, err);
}

/* Copies an answer to send later; the extender's texts are valid only now. */
static bool keep(pai__platform_hived_ask *a, const pai_hived_answer *answer)
{
  const pai_alloc *alloc = &a->host->alloc;
  const char *type = answer->content_type, *location = answer->location;

  a->status = answer->status;
  a->type = type != NULL ? pai__strdup(alloc, type) : NULL;
  a->location = location != NULL ? pai__strdup(alloc, location) : NULL;
  pai__buf_add(&a->answer, answer->body, answer->body_len);
  return (type == NULL) == (a->type == NULL) &&
         (location == NULL) == (a->location == NULL) &&
         pai__buf_ok(&a->answer);
}

static void give_kept(pai__platform_hived_ask *a)
{
  pai_hived_answer answer = { .struct_size = sizeof(answer),
                              .status = a->status,
                              .content_type = a->type,
                              .body = pai__buf_text(&a->answer),
                              .body_len = a->answer.len,
                              .location = a->location };

  end_ask(a, PAI_OK, &answer, NULL);
}

/* --- bindings ------------------------------------------------------------- */

/* Answers a waiting scheduler that the pod could not be bound. */
static void unbind(pai__platform_hived_ask *a, const char *why)
{
  pai_hived_answer answer = { .struct_size = sizeof(answer) };
  pai_error *err = NULL;
  int rc;

  pai__log_line(&a->host->log, PAI_LOG_WARNING, "pod %s was not bound: %s",
                a->uid, why);
  if (a->cb == NULL) {
    free_ask(a);
    return;
  }
  rc = pai_hived_extender_unbound(a->host->view->extender, a->uid, why,
                                  &answer, &err);
  if (rc == PAI_OK)
    give(a, &answer);
  else
    end_ask(a, rc, NULL, err);
  pai_error_free(err);
}

static void on_bound(void *user_data, int status, const char *why)
{
  pai__platform_hived_ask *a = user_data;
  pai_hived_host *h = a->host;

  take(&h->binding, a);
  if (h->reloaded != NULL)
    pai__loop_step_ask(h->step);
  if (h->closing) {
    cancel(a);
  } else if (status < 0) {
    unbind(a, why);
  } else {
    pai__log_line(&h->log, PAI_LOG_INFO, "pod %s was bound", a->uid);
    give_kept(a);
  }
}

/* Sends the binding of an answer to the API server. */
static void bind(pai__platform_hived_ask *a, const pai_hived_answer *answer)
{
  pai_hived_host *h = a->host;
  pai_error *err = NULL;

  a->uid = pai__strdup(&h->alloc, answer->bind_uid);
  if (a->uid == NULL) {
    end_without_memory(a);
  } else if (pai__kube_post_new(h->kube, answer->bind_path, answer->bind_body,
                                answer->bind_body_len, on_bound, a,
                                &err) < 0) {
    unbind(a, pai_error_message(err));
  } else {
    add(&h->binding, a);
  }
  pai_error_free(err);
}

/* Sends a binding for which the answer does not wait. */
static void bind_also(pai_hived_host *h, const pai_hived_answer *answer)
{
  pai__platform_hived_ask *a = new_ask(h);

  if (a != NULL)
    bind(a, answer);
  else /* the scheduler will ask again */
    pai__log_line(&h->log, PAI_LOG_WARNING,
                  "pod %s was not bound: out of memory", answer->bind_uid);
}

/* --- requests ------------------------------------------------------------- */

static void hold(pai__platform_hived_ask *a, const pai_hived_answer *answer)
{
  pai_hived_host *h = a->host;

  h->held = a;
  pai__timer_start(h->timer, (pai_time)answer->hold_ms * 1000);
}

static void carry_out(pai__platform_hived_ask *a,
                      const pai_hived_answer *answer)
{
  bool first = answer->bind == PAI_HIVED_BIND_FIRST;

  if (answer->bind == PAI_HIVED_BIND_ALSO)
    bind_also(a->host, answer);
  if (!first && answer->hold_ms <= 0)
    give(a, answer);
  else if (!keep(a, answer))
    end_without_memory(a);
  else if (first)
    bind(a, answer);
  else
    hold(a, answer);
}

/* Refuses a request before all nodes and pods are known. */
static void put_off(pai__platform_hived_ask *a)
{
  static const char body[] =
    "\"hivedscheduler: Platform Error: Nodes and Pods are not known yet\"";
  pai_hived_answer answer = { .struct_size = sizeof(answer),
                              .status = 503,
                              .content_type = "application/json",
                              .body = body,
                              .body_len = sizeof(body) - 1 };

  give(a, &answer);
}

static void respond(pai__platform_hived_ask *a)
{
  pai_hived_request q = { .struct_size = sizeof(q),
                          .method = a->method,
                          .target = a->target,
                          .body = a->body,
                          .body_len = a->body_len,
                          .now = pai__loop_wall_time() };
  pai_hived_answer answer = { .struct_size = sizeof(answer) };
  pai_error *err = NULL;
  int rc =
    pai_hived_extender_request(a->host->view->extender, &q, &answer, &err);

  release_body(a);
  if (rc == PAI_OK)
    carry_out(a, &answer);
  else
    end_ask(a, rc, NULL, err);
  pai_error_free(err);
}

void pai__hived_answer_next(pai_hived_host *h)
{
  pai__platform_hived_ask *a = h->waiting.first;

  if (a == NULL || h->held != NULL || h->reloaded != NULL)
    return;
  take(&h->waiting, a);
  if (h->waiting.first != NULL)
    pai__loop_step_ask(h->step);
  if (h->view->known)
    respond(a);
  else
    put_off(a);
}

void pai__hived_release(pai_hived_host *h)
{
  pai__platform_hived_ask *a = h->held;

  h->held = NULL;
  if (h->waiting.first != NULL || h->reloaded != NULL)
    pai__loop_step_ask(h->step);
  if (a != NULL)
    give_kept(a);
}

void pai__hived_cancel_asks(pai_hived_host *h)
{
  pai__platform_hived_ask *a = h->held;

  h->held = NULL;
  if (a != NULL)
    cancel(a);
  while ((a = h->waiting.first) != NULL) {
    take(&h->waiting, a);
    cancel(a);
  }
}

/* Takes a lent body, or copies it. */
static bool take_body(pai__platform_hived_ask *a, const pai_hived_request *q)
{
  size_t len = q->body != NULL ? q->body_len : 0;

  if (len > 0 && q->release != NULL) {
    a->body = q->body;
    a->release = q->release;
    a->body_data = q->body_data;
  } else {
    a->body = pai__strndup(&a->host->alloc, len > 0 ? q->body : "", len);
  }
  a->body_len = len;
  return a->body != NULL;
}

static bool fill(pai__platform_hived_ask *a, const pai_hived_request *q)
{
  const pai_alloc *alloc = &a->host->alloc;

  a->method = pai__strdup(alloc, q->method);
  a->target = pai__strdup(alloc, q->target);
  return a->method != NULL && a->target != NULL && take_body(a, q);
}

int pai_hived_host_ask(pai_hived_host *host, const pai_hived_request *request,
                       pai_hived_host_cb cb, void *user_data, pai_error **err)
{
  pai_hived_request q;
  pai__platform_hived_ask *a;
  int rc;

  PAI__CHECK_OBJECT(host, err);
  PAI__CHECK_ARG_ERR(request != NULL && cb != NULL, err);
  rc = PAI__COPY_IN(&q, request, pai_hived_request, body_data);
  if (rc < 0)
    return pai__fail_struct(err, rc, request, "pai_hived_request");
  if (q.method == NULL || q.target == NULL)
    return pai__fail(err, PAI_EINVAL, "a request has a method and a target");
  if (host->closing)
    return pai__fail(err, PAI_EBUSY, "the host is being closed");
  a = new_ask(host);
  if (a == NULL)
    return pai__oom(err);
  if (!fill(a, &q)) {
    free_ask(a);
    return pai__oom(err);
  }
  a->cb = cb;
  a->user_data = user_data;
  add(&host->waiting, a);
  pai__loop_step_ask(host->step);
  if (q.release != NULL && a->release == NULL) /* the body was empty */
    q.release(q.body_data);
  return PAI_OK;
}
