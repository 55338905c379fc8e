/* request.c - the queue of requests: carries them out, answers, cancels */
#include "json/node.h"
#include "language/language.h"

#include <stdio.h>

int pai__language_refuse(pai__language_request *r, int code, const char *fmt,
                         ...)
{
  char message[512];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(message, sizeof(message), fmt, ap);
  va_end(ap);
  r->code = code;
  return pai__fail(r->err, PAI_EINVAL, "%s", message);
}

static void free_request(pai_language *l, pai__language_request *r)
{
  pai__tree_free(r->tree);
  pai__free(&l->alloc, r, sizeof(*r));
}

static void pop(pai_language *l)
{
  pai__language_request *r = l->queue;

  l->queue = r->next;
  free_request(l, r);
}

static void drop_hosted(pai_language *l, pai__language_hosted *h)
{
  pai__language_hosted **at = &l->hosted;

  while (*at != h)
    at = &(*at)->next;
  *at = h->next;
  pai__strfree(&l->alloc, h->id);
  pai__free(&l->alloc, h, sizeof(*h));
}

void pai__language_drop_requests(pai_language *l)
{
  while (l->queue != NULL)
    pop(l);
  while (l->hosted != NULL)
    drop_hosted(l, l->hosted);
}

/* --- requests for the host --------------------------------------------------- */

static char *text_of(pai_language *l, const pai__tree *t, pai__node n)
{
  pai__json_writer w;
  pai__buf out;

  pai__buf_init(&out, &l->alloc);
  pai__json_writer_init(&w, &out, false);
  if (n == PAI__NO_NODE)
    pai__json_null(&w);
  else
    pai__json_node(&w, t, n);
  if (pai__json_finish(&w) == PAI_OK)
    return pai__buf_take(&out);
  pai__buf_dispose(&out);
  return NULL;
}

static pai__language_hosted *add_hosted(pai_language *l,
                                        const pai__language_request *r)
{
  pai__language_hosted *h = pai__zalloc(&l->alloc, sizeof(*h));

  if (h == NULL)
    return NULL;
  h->id = text_of(l, r->tree, r->id);
  if (h->id == NULL) {
    pai__free(&l->alloc, h, sizeof(*h));
    return NULL;
  }
  h->number = ++l->numbers;
  h->next = l->hosted;
  l->hosted = h;
  return h;
}

static int pass_on(pai_language *l, pai__language_request *r)
{
  pai__bytes name =
    pai__language_bytes(r->tree, pai__tree_get(r->tree, 0, "method"));
  pai__language_hosted *h;
  char *params;
  int taken;

  if (l->o.other == NULL)
    return pai__language_refuse(r, PAI__RPC_NO_METHOD, "no method '%s'",
                                (const char *)name.data);
  params = text_of(l, r->tree, r->params);
  h = params != NULL ? add_hosted(l, r) : NULL;
  if (h == NULL) {
    pai__strfree(&l->alloc, params);
    return pai__oom(r->err);
  }
  taken =
    l->o.other(l->o.user_data, h->number, name.data, params, strlen(params));
  pai__strfree(&l->alloc, params);
  if (taken > 0)
    return PAI_OK;
  drop_hosted(l, h);
  return pai__language_refuse(r, PAI__RPC_NO_METHOD, "no method '%s'",
                              (const char *)name.data);
}

static pai__language_hosted *find_hosted(const pai_language *l,
                                         uint64_t number)
{
  pai__language_hosted *h = l->hosted;

  while (h != NULL && h->number != number)
    h = h->next;
  return h;
}

static int no_request(uint64_t number, pai_error **err)
{
  return pai__fail(err, PAI_ENOTFOUND, "there is no request %llu",
                   (unsigned long long)number);
}

int pai_language_respond(pai_language *l, uint64_t request, const char *json,
                         size_t len, pai_error **err)
{
  pai__language_hosted *h;
  pai__json_writer w;
  int rc;

  PAI__CHECK_ARG_ERR(l != NULL, err);
  PAI__CHECK_ARG_ERR(json != NULL, err);
  h = find_hosted(l, request);
  if (h == NULL)
    return no_request(request, err);
  pai__buf_clear(&l->out);
  pai__json_writer_init(&w, &l->out, false);
  pai__json_write(&w, "{jsonrpc:s,id:", "2.0");
  pai__json_written(&w, h->id, strlen(h->id));
  pai__json_member(&w, "result");
  pai__json_ready(&w, json, len);
  pai__json_end_object(&w);
  rc = pai__language_send(l, &w, err);
  drop_hosted(l, h);
  return rc;
}

int pai_language_refuse(pai_language *l, uint64_t request, int code,
                        const char *message, const char *data, pai_error **err)
{
  pai__language_hosted *h;
  int rc;

  PAI__CHECK_ARG_ERR(l != NULL, err);
  PAI__CHECK_ARG_ERR(message != NULL, err);
  h = find_hosted(l, request);
  if (h == NULL)
    return no_request(request, err);
  rc = pai__language_send_error(l, h->id, code, message, data, err);
  drop_hosted(l, h);
  return rc;
}

/* --- cancelling ---------------------------------------------------------------- */

static bool same_id(const pai__tree *a, pai__node m, const pai__tree *b,
                    pai__node n)
{
  return pai__tree_same(a, m, b, n);
}

int pai__language_cancel(pai_language *l, const pai__tree *t, pai__node id,
                         pai_error **err)
{
  char *text;

  if (id == PAI__NO_NODE)
    return PAI_OK;
  for (pai__language_request *r = l->queue; r != NULL; r = r->next)
    if (same_id(r->tree, r->id, t, id)) {
      r->cancelled = true;
      return PAI_OK;
    }
  if (l->hosted == NULL || l->o.cancel == NULL)
    return PAI_OK;
  text = text_of(l, t, id);
  if (text == NULL)
    return pai__oom(err);
  for (pai__language_hosted *h = l->hosted; h != NULL; h = h->next)
    if (strcmp(h->id, text) == 0) {
      l->o.cancel(l->o.user_data, h->number);
      break;
    }
  pai__strfree(&l->alloc, text);
  return PAI_OK;
}

/* --- carrying out ---------------------------------------------------------------- */

static int may_request(pai_language *l, pai__language_request *r)
{
  bool early =
    r->method != NULL && (r->method->flags & PAI__METHOD_EARLY) != 0;

  if (r->cancelled)
    return pai__language_refuse(r, PAI__RPC_CANCELLED, "cancelled");
  if (l->state == PAI__LANGUAGE_NEW && !early)
    return pai__language_refuse(r, PAI__RPC_NOT_INITIALIZED,
                                "the first request must be 'initialize'");
  if (l->state > PAI__LANGUAGE_RUNNING)
    return pai__language_refuse(r, PAI__RPC_INVALID_REQUEST,
                                "the server is shut down");
  return PAI_OK;
}

static void begin_reply(pai_language *l, pai__language_request *r)
{
  pai__buf_clear(&l->reply);
  pai__json_writer_init(&r->w, &l->reply, false);
  pai__json_write(&r->w, "{jsonrpc:s,id:", "2.0");
  pai__json_node(&r->w, r->tree, r->id);
  pai__json_member(&r->w, "result");
}

static int handle(pai_language *l, pai__language_request *r)
{
  int rc = may_request(l, r);

  if (rc < 0)
    return rc;
  if (r->method == NULL)
    return pass_on(l, r);
  begin_reply(l, r);
  rc = pai__language_read_params(l, r);
  if (rc == PAI_OK)
    rc = r->method->handle(l, r);
  r->step++;
  if (rc != PAI_OK)
    return rc;
  pai__json_end_object(&r->w);
  if (pai__json_finish(&r->w) < 0)
    return pai__oom(r->err);
  r->sent = true;
  return pai__language_send(l, &r->w, r->err);
}

/* Sends why a request was refused.  Lack of memory is answered and returned. */
static int refuse(pai_language *l, const pai__language_request *r, int rc,
                  pai_error *why, pai_error **err)
{
  int code = rc == PAI_ENOMEM ? PAI__RPC_INTERNAL
             : r->code != 0   ? r->code
                              : PAI__RPC_FAILED;
  int sent = pai__language_send_refusal(
    l, r, code, rc == PAI_ENOMEM ? "out of memory" : pai_error_message(why),
    NULL);

  if (rc == PAI_ENOMEM || sent == PAI_ENOMEM)
    return pai__oom(err);
  return sent < 0 ? pai__fail(err, sent, "the message could not be sent")
                  : PAI_OK;
}

int pai__language_step(pai_language *l, pai_error **err)
{
  pai__language_request *r = l->queue;
  pai_error *why = NULL;
  int rc;

  if (r == NULL)
    return 0;
  r->err = &why;
  rc = handle(l, r);
  if (rc == PAI__LANGUAGE_MORE)
    return 1;
  if (rc < 0 && !r->sent)
    rc = refuse(l, r, rc, why, err);
  else if (rc < 0)
    (void)pai__fail(err, rc, "the message could not be sent");
  pai_error_free(why);
  pop(l);
  return rc < 0 ? rc : 1;
}

int pai__language_drain(pai_language *l, pai_error **err)
{
  int rc;

  do
    rc = pai__language_step(l, err);
  while (rc > 0);
  return rc;
}
