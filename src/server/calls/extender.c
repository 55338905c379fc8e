/*
 * extender.c - HiveD's web server: a scheduler extender for Kubernetes, and
 * views of cells
 *
 * A server of a pai_hived_host has few other routes.  It does not authenticate
 * clients, as HiveD does not.  Paths and bodies are passed to HiveD as
 * received.
 */
#include "server/calls/extender.h"

#include "server/monitor/observed.h"

enum {
  MOST_BODY = 4 << 20,  /* names of nodes, and of victims on them */
  MOST_VALUES = 1 << 18 /* parsed on the loop: some 20 ms */
};

/* Media types that an answer may have. */
static const char *const types[] = { "application/json",
                                     "text/html; charset=utf-8" };

static const char *find_type(const char *type)
{
  for (size_t i = 0; type != NULL && i < PAI__LEN(types); i++)
    if (strcmp(type, types[i]) == 0)
      return types[i];
  return type != NULL ? types[0] : NULL;
}

/* Writes an error as HiveD does; `whose` is "User" or "Platform". */
static void answer_failure(pai__request *r, int status, const char *whose,
                           const char *why)
{
  pai__buf text;

  pai__buf_init(&text, &r->server->alloc);
  pai__buf_printf(&text, "hivedscheduler: %s Error: %s", whose, why);
  pai__json_writer_init(&r->json, &r->answer, false);
  pai__json_text(&r->json, pai__buf_text(&text), text.len);
  pai__buf_dispose(&text);
  pai__answer_json(r, status);
  r->type = types[0];
}

static void on_answer(void *user_data, int status,
                      const pai_hived_answer *answer, const pai_error *err)
{
  pai__request *r = pai__answer_now(user_data);

  if (r == NULL)
    return;
  if (status < 0) {
    answer_failure(r, 500, "Platform", pai_error_message(err));
    return;
  }
  pai__buf_add(&r->answer, answer->body, answer->body_len);
  if (answer->location != NULL) {
    r->location = pai__strdup(&r->server->alloc, answer->location);
    r->answer.failed |= r->location == NULL;
  }
  pai__answer_ready(r, answer->status, find_type(answer->content_type));
}

/* A request's body, lent to the host, as the request may be gone first. */
typedef struct lent {
  pai_alloc alloc;
  pai__buf body;
} lent;

static void take_back(void *user_data)
{
  lent *l = user_data;
  pai_alloc alloc = l->alloc;

  pai__buf_dispose(&l->body);
  pai__free(&alloc, l, sizeof(*l));
}

/* Returns NULL if out of memory. */
static lent *lend(pai__request *r)
{
  lent *l = pai__zalloc(&r->server->alloc, sizeof(*l));

  if (l == NULL)
    return NULL;
  l->alloc = r->server->alloc;
  l->body = r->body;
  l->body.alloc = &l->alloc;
  pai__buf_init(&r->body, &r->server->alloc);
  return l;
}

/* Returns an upper bound of the number of JSON values. */
static size_t count_values(const char *bytes, size_t len)
{
  size_t n = 0;

  for (size_t i = 0; i < len; i++) {
    char c = bytes[i];
    n += c == ',' || c == ':' || c == '[' || c == '{' ? 1U : 0U;
  }
  return n;
}

static void take_ask(pai__request *r, const char *bytes, size_t len)
{
  r->came += count_values(bytes, len);
  if (r->came > MOST_VALUES)
    answer_failure(r, 413, "User", "The body has too many values");
  else
    pai__request_keep(r, bytes, len);
}

static void do_ask(pai__request *r)
{
  pai_hived_request q = { .struct_size = sizeof(q),
                          .method = r->method,
                          .target = r->uri,
                          .release = take_back };
  pai_error *err = NULL;
  struct pai__waiting *w;
  lent *l;

  w = pai__answer_later(r);
  if (w == NULL)
    return;
  l = lend(r);
  if (l != NULL) {
    q.body = pai__buf_text(&l->body);
    q.body_len = l->body.len;
    q.body_data = l;
    if (pai_hived_host_ask(r->server->hived, &q, on_answer, w, &err) == PAI_OK)
      return;
    take_back(l);
  } else {
    (void)pai__oom(&err);
  }
  (void)pai__answer_now(w);
  answer_failure(r, 500, "Platform", pai_error_message(err));
  pai_error_free(err);
}

/* Returns 503 until all nodes and pods are known. */
static void do_health(pai__request *r)
{
  bool ready = pai_hived_host_ready(r->server->hived) != 0;

  pai__answer_text(r, ready ? 200 : 503, "text/plain; charset=utf-8",
                   ready ? "ok\n" : "not all nodes and pods are known yet\n");
}

static void do_metrics(pai__request *r)
{
  const pai__metric ready = { "openpai_extender_ready", "gauge",
                              "1 if all nodes and pods are known, 0 if not.",
                              .value =
                                pai_hived_host_ready(r->server->hived) != 0 };

  pai__metrics_write(&r->answer, &ready, 1);
  pai__count_write(r->server, &r->answer);
  r->type = PAI__METRICS_TYPE;
  pai__answer_written(r, PAI_OK);
}

/* HiveD itself answers all of these; the paths are listed for the metrics. */
#define ASK(of)                                                             \
  {                                                                         \
    .path = (of), .handle = do_ask, .right = PAI__OF_ALL, .take = take_ask, \
    .most_body = MOST_BODY                                                  \
  }

static const pai__api_route hiveds[] = { ASK("/v1/extender/filter"),
                                         ASK("/v1/extender/bind"),
                                         ASK("/v1/extender/preempt"),
                                         ASK("/v1/inspect/"), ASK("/") };

static const pai__api_route ours[] = { { .method = "GET",
                                         .path = "/healthz",
                                         .handle = do_health,
                                         .right = PAI__OF_ALL },
                                       { .method = "GET",
                                         .path = "/metrics",
                                         .handle = do_metrics,
                                         .right = PAI__OF_ALL } };

static bool is_path(const char *uri, const char *path)
{
  size_t len = strlen(path);

  if (strncmp(uri, path, len) != 0)
    return false;
  return path[len - 1] == '/' || uri[len] == '\0' || uri[len] == '?';
}

const pai__api_route *pai__extender_route(const char *method, const char *uri)
{
  bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
  size_t i = 0;

  for (size_t k = 0; reads && k < PAI__LEN(ours); k++)
    if (is_path(uri, ours[k].path))
      return &ours[k];
  while (i + 1 < PAI__LEN(hiveds) && !is_path(uri, hiveds[i].path))
    i++;
  return &hiveds[i]; /* the last one matches all other paths */
}
