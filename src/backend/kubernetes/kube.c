/* kube.c - requests to Kubernetes' API server, with credentials */
#include "backend/kubernetes/inside.h"

#include "base/os/posix_fs.h"
#include "base/text/utf8.h"
#include "base/text/encode.h"
#include "json/json.h"

enum {
  MOST_TOKEN = 1 << 20,
  MOST_ANSWER = 1 << 20, /* of a post's answer */
  POST_TIME = 30 * 1000 * 1000,
  CONNECT_TIME = 10 * 1000 * 1000
};

struct pai__kube_post {
  pai__kube *kube;
  pai__kube_request *request;
  pai__timer *timer;
  bool late;
  pai__buf answer;
  pai__kube_post_cb cb;
  void *user_data;
};

/* --- credentials --------------------------------------------------------- */

bool pai__kube_is_line(const char *text)
{
  for (; *text != '\0'; text++)
    if ((unsigned char)*text < ' ' || *text == 0x7f)
      return false;
  return true;
}

static int set_authorization(pai__kube *kube, const pai__kube_options *o,
                             pai_error **err)
{
  pai__buf value, pair;

  if (o->token == NULL && o->user == NULL)
    return PAI_OK;
  pai__buf_init(&value, &kube->alloc);
  pai__buf_init(&pair, &kube->alloc);
  if (o->token != NULL) {
    pai__buf_printf(&value, "Bearer %s", o->token);
  } else {
    pai__buf_printf(&pair, "%s:%s", o->user,
                    o->password != NULL ? o->password : "");
    pai__buf_str(&value, "Basic ");
    pai__put_base64(&value, pai__buf_text(&pair), pair.len);
  }
  value.failed = value.failed || pair.failed;
  pai__buf_dispose(&pair);
  kube->authorization = pai__buf_take(&value);
  if (kube->authorization == NULL)
    return pai__oom(err);
  return pai__kube_is_line(kube->authorization)
           ? PAI_OK
           : pai__fail(
               err, PAI_EINVAL,
               "the token for the Kubernetes API server must be one line");
}

/* Reads the token file, which the kubelet rewrites from time to time. */
static int read_token(pai__buf *out, const pai__kube *kube, pai_error **err)
{
  int rc;

  pai__buf_str(out, "Bearer ");
  rc = pai__fs_read(out, kube->token_file, MOST_TOKEN, err);
  if (rc < 0)
    return rc;
  while (out->len > 0 && (unsigned char)out->data[out->len - 1] <= ' ')
    pai__buf_cut(out, out->len - 1);
  if (!pai__buf_ok(out))
    return pai__oom(err);
  return pai__kube_is_line(pai__buf_text(out))
           ? PAI_OK
           : pai__fail(err, PAI_EINVAL, "the token in %s must be one line",
                       kube->token_file);
}

/* --- requests ------------------------------------------------------------ */

static void free_request(pai__kube_request *r)
{
  const pai_alloc *alloc = &r->kube->alloc;

  pai__buf_dispose(&r->authorization);
  pai__buf_dispose(&r->url);
  pai__buf_dispose(&r->body);
  pai__free(alloc, r, sizeof(*r));
}

static int on_body(void *user_data, int http_status, const char *bytes,
                   size_t len)
{
  pai__kube_request *r = user_data;

  return r->want.on_body(r->want.user_data, http_status, bytes, len);
}

static void on_done(void *user_data, int status,
                    const pai__http_answer *answer, const pai_error *err)
{
  pai__kube_request *r = user_data;
  pai__kube_want want = r->want;
  int http_status = answer->status;

  if (http_status == 401)
    pai__kube_refused(r->kube, pai__buf_text(&r->authorization));
  free_request(r);
  want.on_done(want.user_data, status, http_status, err);
}

void pai__kube_end(pai__kube_request *r, int status, const pai_error *err)
{
  static const pai__http_answer none = { .type = "", .location = "" };

  on_done(r, status, &none, err);
}

/* Copies the borrowed texts. */
static int fill_request(pai__kube_request *r, pai_error **err)
{
  pai__kube_want *want = &r->want;

  pai__buf_printf(&r->url, "%s%s", r->kube->url, want->path);
  pai__buf_add(&r->body, want->body, want->len);
  want->path = NULL;
  if (want->body != NULL)
    want->body = pai__buf_text(&r->body);
  return pai__buf_ok(&r->url) && pai__buf_ok(&r->body) ? PAI_OK
                                                       : pai__oom(err);
}

static int authorize(pai__kube_request *r, pai_error **err)
{
  const pai__kube *kube = r->kube;
  int rc = PAI_OK;

  if (kube->authorization != NULL)
    pai__buf_str(&r->authorization, kube->authorization);
  else if (kube->token_file != NULL)
    rc = read_token(&r->authorization, kube, err);
  return rc == PAI_OK && !pai__buf_ok(&r->authorization) ? pai__oom(err) : rc;
}

int pai__kube_send(pai__kube_request *r, pai_error **err)
{
  const pai__kube_want *want = &r->want;
  pai__http_want http = { .method = want->method,
                          .url = pai__buf_text(&r->url),
                          .type = "application/json",
                          .accept = "application/json",
                          .once = want->body != NULL,
                          .stream = want->stream,
                          .on_body = on_body,
                          .on_done = on_done,
                          .user_data = r };
  int rc = authorize(r, err);

  if (rc < 0)
    return rc;
  if (r->authorization.len > 0)
    http.authorization = pai__buf_text(&r->authorization);
  if (want->body != NULL) {
    http.body = want->body;
    http.body_len = r->body.len;
  }
  return pai__http_ask(&r->request, r->kube->http, &http, err);
}

int pai__kube_ask(pai__kube_request **out, pai__kube *kube,
                  const pai__kube_want *want, pai_error **err)
{
  pai__kube_request *r = pai__zalloc(&kube->alloc, sizeof(*r));
  int rc;

  *out = NULL;
  if (r == NULL)
    return pai__oom(err);
  r->kube = kube;
  r->want = *want;
  pai__buf_init(&r->authorization, &kube->alloc);
  pai__buf_init(&r->url, &kube->alloc);
  pai__buf_init(&r->body, &kube->alloc);
  rc = kube->closing
         ? pai__fail(err, PAI_ECANCELED, "the client is being closed")
         : fill_request(r, err);
  if (rc == PAI_OK)
    rc = pai__kube_must_wait(kube) ? pai__kube_wait(r, err)
                                   : pai__kube_send(r, err);
  if (rc < 0)
    free_request(r);
  else
    *out = r;
  return rc;
}

void pai__kube_suspect(pai__kube *kube)
{
  pai__http_suspect(kube->http);
}

void pai__kube_cancel(pai__kube_request *request)
{
  if (request->request != NULL)
    pai__http_cancel(request->request);
  else
    pai__kube_give_up(request);
}

/* --- answers ------------------------------------------------------------- */

void pai__kube_why(pai__buf *out, const pai_alloc *alloc, int http_status,
                   const char *body, size_t len)
{
  pai__json_options options = { .alloc = alloc,
                                .flags = PAI__JSON_DUPLICATES };
  pai__tree *tree = NULL;
  pai__node n = PAI__NO_NODE;
  char text[PAI__EXCERPT];

  if (pai__json_parse(&tree, body, len, &options, NULL) == PAI_OK)
    n = pai__tree_get(tree, 0, "message");
  if (n != PAI__NO_NODE && pai__tree_type(tree, n) == PAI__STRING)
    pai__buf_printf(out, "the API server answered %d: %s", http_status,
                    pai__tree_str(tree, n, NULL));
  else
    pai__buf_printf(out, "the API server answered %d%s%s", http_status,
                    len > 0 ? ": " : "", pai__excerpt(text, body, len));
  pai__tree_free(tree);
}

static int on_answer(void *user_data, int http_status, const char *bytes,
                     size_t len)
{
  pai__kube_post *p = user_data;

  (void)http_status;
  if (len <= MOST_ANSWER - p->answer.len) /* the text is only shown if it is an
                                             error */
    pai__buf_add(&p->answer, bytes, len);
  return PAI_OK;
}

static void on_posted(void *user_data, int status, int http_status,
                      const pai_error *err)
{
  pai__kube_post *p = user_data;
  pai_alloc alloc = p->kube->alloc;
  pai__kube_post_cb cb = p->cb;
  pai__buf why;

  user_data = p->user_data;
  pai__buf_init(&why, &alloc);
  if (status < 0) {
    pai__buf_str(&why, p->late ? "the API server did not answer in time"
                               : pai_error_message(err));
  } else if (http_status < 200 || http_status > 299) {
    status = PAI_EIO;
    pai__kube_why(&why, &alloc, http_status, pai__buf_text(&p->answer),
                  p->answer.len);
  }
  pai__timer_close(p->timer);
  pai__buf_dispose(&p->answer);
  pai__free(&alloc, p, sizeof(*p));
  cb(user_data, status, pai__buf_text(&why));
  pai__buf_dispose(&why);
}

static void on_late(void *user_data)
{
  pai__kube_post *p = user_data;

  p->late = true;
  pai__kube_suspect(p->kube);
  pai__kube_cancel(p->request);
}

int pai__kube_post_new(pai__kube *kube, const char *path, const char *body,
                       size_t len, pai__kube_post_cb cb, void *user_data,
                       pai_error **err)
{
  pai__kube_want want = { .method = "POST",
                          .path = path,
                          .body = body,
                          .len = len,
                          .on_body = on_answer,
                          .on_done = on_posted };
  pai__kube_post *p = pai__zalloc(&kube->alloc, sizeof(*p));
  int rc;

  if (p == NULL)
    return pai__oom(err);
  *p = (pai__kube_post){ .kube = kube, .cb = cb, .user_data = user_data };
  pai__buf_init(&p->answer, &kube->alloc);
  want.user_data = p;
  rc = pai__timer_new(&p->timer, &kube->alloc, kube->loop, on_late, p);
  rc = rc < 0 ? pai__oom(err) : pai__kube_ask(&p->request, kube, &want, err);
  if (rc == PAI_OK) {
    pai__timer_start(p->timer, POST_TIME);
    return PAI_OK;
  }
  pai__timer_close(p->timer);
  pai__free(&kube->alloc, p, sizeof(*p));
  return rc;
}

/* --- creation and closing ------------------------------------------------ */

const pai_alloc *pai__kube_alloc(const pai__kube *kube)
{
  return &kube->alloc;
}

pai_loop *pai__kube_loop(const pai__kube *kube)
{
  return kube->loop;
}

const pai__log *pai__kube_log(const pai__kube *kube)
{
  return &kube->log;
}

static void free_kube(pai__kube *kube)
{
  pai_alloc alloc = kube->alloc;

  pai__kube_drop_program(kube);
  pai__strfree(&alloc, kube->authorization);
  pai__strfree(&alloc, kube->token_file);
  pai__strfree(&alloc, kube->url);
  pai__free(&alloc, kube, sizeof(*kube));
}

static int fill(pai__kube *kube, const pai__kube_options *o, pai_error **err)
{
  pai__http_options http = { .place = o->url,
                             .proxy = o->proxy,
                             .connect_time = CONNECT_TIME,
                             .ca = o->ca,
                             .cert = o->certificate,
                             .key = o->key };
  int rc = pai__kube_keep_program(kube, o, err);

  if (rc == PAI_OK && o->program == NULL)
    rc = set_authorization(kube, o, err);
  if (rc < 0)
    return rc;
  kube->url = pai__strdup(&kube->alloc, o->url);
  if (kube->url == NULL)
    return pai__oom(err);
  if (o->token_file != NULL) {
    kube->token_file = pai__strdup(&kube->alloc, o->token_file);
    if (kube->token_file == NULL)
      return pai__oom(err);
  }
  return pai__http_new(&kube->http, &kube->alloc, kube->loop, &http, err);
}

int pai__kube_new(pai__kube **out, const pai_alloc *alloc, pai_loop *loop,
                  const pai__kube_options *options, pai_error **err)
{
  pai__kube *kube = pai__zalloc(alloc, sizeof(*kube));
  int rc;

  *out = NULL;
  if (kube == NULL)
    return pai__oom(err);
  kube->alloc = *alloc;
  kube->loop = loop;
  kube->log = options->log;
  rc = fill(kube, options, err);
  if (rc < 0)
    free_kube(kube);
  else
    *out = kube;
  return rc;
}

static void on_http_closed(void *user_data)
{
  pai__kube *kube = user_data;
  void (*closed)(void *) = kube->closed;
  void *closed_data = kube->closed_data;

  free_kube(kube);
  closed(closed_data);
}

void pai__kube_close_http(pai__kube *kube)
{
  pai__http_close(kube->http, on_http_closed, kube);
}

void pai__kube_close(pai__kube *kube, void (*closed)(void *user_data),
                     void *user_data)
{
  kube->closed = closed;
  kube->closed_data = user_data;
  kube->closing = true;
  if (kube->program != NULL)
    pai__kube_give_all_up(kube); /* closes the connections afterwards */
  else
    pai__kube_close_http(kube);
}
