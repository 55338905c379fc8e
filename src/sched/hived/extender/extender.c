/* extender.c - HiveD as a Kubernetes scheduler extender: HTTP routes, and life
 * of the object */
#include "sched/hived/extender/extender.h"

/* --- calls ---------------------------------------------------------------- */

void pai__ext_begin(pai_hived_extender *e, pai_time now)
{
  enum { SECOND = 1000000 };

  pai__tree_free(e->tree);
  e->tree = NULL;
  pai__arena_dispose(&e->arena);
  pai__arena_init(&e->arena, &e->alloc);
  pai__buf_clear(&e->why);
  pai__buf_clear(&e->body);
  pai__buf_clear(&e->bind_path);
  pai__buf_clear(&e->bind_body);
  e->answer = (pai_hived_answer){ .struct_size = sizeof(e->answer) };
  e->engine->now = now / SECOND - (now % SECOND < 0);
}

static int answer(pai_hived_extender *e, pai_hived_answer *out,
                  pai_error **err)
{
  pai_hived_answer *a = &e->answer;

  if (!pai__buf_ok(&e->body) || !pai__buf_ok(&e->why))
    return pai__oom(err);
  a->body = pai__buf_text(&e->body);
  a->body_len = e->body.len;
  if (a->content_type == NULL && a->body_len > 0)
    a->content_type = "application/json";
  (void)PAI__FILL_VIEW(out, *a, pai_hived_answer, bind_uid);
  return PAI_OK;
}

/* Answers with `why`, which HiveD sends as a JSON string. */
static int put_error(pai_hived_extender *e, int status)
{
  const char *text = pai__ext_printf(e, "hivedscheduler: %s Error: %s",
                                     status < 500 ? "User" : "Platform",
                                     pai__buf_text(&e->why));
  pai__json_writer w;

  pai__buf_clear(&e->body);
  pai__json_writer_init(&w, &e->body, false);
  pai__json_write(&w, "s", text);
  e->answer.status = status;
  return pai__json_finish(&w);
}

const char *pai__ext_printf(pai_hived_extender *e, const char *fmt, ...)
{
  const char *copy;
  pai__buf text;
  va_list ap;

  pai__buf_init(&text, &e->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&text, fmt, ap);
  va_end(ap);
  copy = pai__buf_ok(&text)
           ? pai__arena_strndup(&e->arena, pai__buf_text(&text), text.len)
           : NULL;
  pai__buf_dispose(&text);
  e->why.failed |= copy == NULL;
  return copy != NULL ? copy : "";
}

/* --- routes --------------------------------------------------------------- */

typedef struct route {
  const char *path; /* with a slash at the end: also all paths below */
  int (*ask)(pai_hived_extender *e, const char *body, size_t len);
  int (*show)(pai_hived_extender *e, const char *rest); /* for GET only */
} route;

static const route routes[] = {
  { "/v1/extender/filter", pai__ext_on_filter, NULL },
  { "/v1/extender/bind", pai__ext_on_bind, NULL },
  { "/v1/extender/preempt", pai__ext_on_preempt, NULL },
  { "/v1/inspect/affinitygroups/", NULL, pai__ext_show_groups },
  { "/v1/inspect/clusterstatus", NULL, pai__ext_show_cluster },
  { "/v1/inspect/clusterstatus/physicalcluster", NULL,
    pai__ext_show_physical },
  { "/v1/inspect/clusterstatus/virtualclusters/", NULL, pai__ext_show_vcs },
};

static int show_routes(pai_hived_extender *e)
{
  pai__json_writer w;

  pai__json_writer_init(&w, &e->body, false);
  pai__json_write(&w, "{paths:[s", "/");
  for (size_t i = 0; i < PAI__LEN(routes); i++)
    pai__json_write(&w, "s", routes[i].path);
  pai__json_write(&w, "]}");
  return pai__json_finish(&w);
}

/* Redirects to the route; the answer to GET is a page with a link. */
static void redirect(pai_hived_extender *e, const route *r, bool get)
{
  e->answer.status = 301;
  e->answer.location = r->path;
  if (!get)
    return;
  e->answer.content_type = "text/html; charset=utf-8";
  pai__buf_printf(&e->body, "<a href=\"%s\">Moved Permanently</a>.\n\n",
                  r->path);
}

/* Returns the route of a path, or NULL; *rest is the rest of the path, and
 * *lacks is set if only the final slash is missing. */
static const route *find_route(const char *path, const char **rest,
                               bool *lacks)
{
  size_t len = strlen(path);

  *lacks = false;
  for (size_t i = 0; i < PAI__LEN(routes); i++) {
    const route *r = &routes[i];
    size_t n = strlen(r->path);
    bool below = r->path[n - 1] == '/';

    *rest = path + (len < n ? len : n);
    if (strcmp(path, r->path) == 0 ||
        (below && strncmp(path, r->path, n) == 0))
      return r;
    *lacks = below && len + 1 == n && strncmp(path, r->path, len) == 0;
    if (*lacks)
      return r;
  }
  return NULL;
}

static int hex(char c)
{
  static const char digits[] = "0123456789abcdef";
  const char *at = c != '\0'
                     ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c)
                     : NULL;

  return at != NULL ? (int)(at - digits) : -1;
}

/* Returns the path of a target without its query, with escapes decoded.  NULL
 * for invalid escapes and for NUL; *oom if memory is short. */
static const char *decode(pai_hived_extender *e, const char *target, bool *oom)
{
  size_t len = strcspn(target, "?#"), n = 0;
  char *path = pai__arena_zalloc(&e->arena, len + 1, 1);

  *oom = path == NULL;
  for (size_t i = 0; path != NULL && i < len; i++) {
    int high, low;

    if (target[i] != '%') {
      path[n++] = target[i];
      continue;
    }
    high = hex(target[i + 1]);
    low = high >= 0 ? hex(target[i + 2]) : -1;
    if (low < 0 || high + low == 0)
      return NULL;
    path[n++] = (char)(high * 16 + low);
    i += 2;
  }
  return path;
}

static int respond(pai_hived_extender *e, const pai_hived_request *q)
{
  bool get = strcmp(q->method, "GET") == 0, lacks, oom;
  const char *path = decode(e, q->target, &oom), *rest;
  const route *r;
  int rc;

  if (oom)
    return PAI_ENOMEM;
  if (path == NULL) {
    pai__buf_printf(&e->why, "Path is not encoded well: %s", q->target);
    return put_error(e, 400);
  }
  e->answer.status = 200;
  if (strcmp(path, "/") == 0)
    return show_routes(e);
  r = find_route(path, &rest, &lacks);
  if (r == NULL) {
    pai__buf_printf(&e->why, "Path not found: %s", path);
    return put_error(e, 404);
  }
  if (lacks) {
    redirect(e, r, get);
    return PAI_OK;
  }
  if (r->show != NULL && !get) {
    pai__buf_printf(&e->why, "NotImplemented: %s: %s", q->method, path);
    return put_error(e, 400);
  }
  rc = r->show != NULL ? r->show(e, rest) : r->ask(e, q->body, q->body_len);
  if (!pai__buf_ok(&e->why))
    return PAI_ENOMEM;
  if (rc == PAI_EINVAL || rc == PAI_EINTERNAL)
    return put_error(e, rc == PAI_EINVAL ? 400 : 500);
  return rc;
}

int pai_hived_extender_request(pai_hived_extender *e,
                               const pai_hived_request *request,
                               pai_hived_answer *out, pai_error **err)
{
  pai_hived_request q;
  int rc;

  PAI__CHECK_ARG_ERR(e != NULL && out != NULL, err);
  PAI__CHECK_ARG_ERR(out->struct_size >=
                       offsetof(pai_hived_answer, bind_uid) + sizeof(char *),
                     err);
  rc = request != NULL
         ? PAI__COPY_IN(&q, request, pai_hived_request, body_data)
         : PAI_EINVAL;
  if (rc < 0)
    return pai__fail_struct(err, rc, request, "pai_hived_request");
  if (q.method == NULL || q.target == NULL)
    return pai__fail(err, PAI_EINVAL, "a request has a method and a target");
  if (q.body == NULL) {
    q.body = "";
    q.body_len = 0;
  }
  pai__ext_begin(e, q.now);
  rc = respond(e, &q);
  if (rc == PAI_OK)
    return answer(e, out, err);
  return rc == PAI_ENOMEM
           ? pai__oom(err)
           : pai__fail(err, PAI_EINTERNAL, "the answer cannot be written");
}

int pai_hived_extender_unbound(pai_hived_extender *e, const char *uid,
                               const char *why, pai_hived_answer *out,
                               pai_error **err)
{
  pai__arena arena;
  char *kept, *words;
  int rc;

  PAI__CHECK_ARG_ERR(e != NULL && uid != NULL && why != NULL && out != NULL,
                     err);
  PAI__CHECK_ARG_ERR(out->struct_size >=
                       offsetof(pai_hived_answer, bind_uid) + sizeof(char *),
                     err);
  pai__arena_init(&arena, &e->alloc); /* both may point into the last answer */
  kept = pai__arena_strndup(&arena, uid, strlen(uid));
  words = pai__arena_strndup(&arena, why, strlen(why));
  rc = kept != NULL && words != NULL ? PAI_OK : PAI_ENOMEM;
  if (rc == PAI_OK) {
    pai__ext_begin(e, e->engine->now * 1000000);
    e->answer.status = 200;
    rc = pai__ext_put_unbound(e, kept, words);
  }
  pai__arena_dispose(&arena);
  return rc < 0 ? pai__oom(err) : answer(e, out, err);
}

/* --- life ----------------------------------------------------------------- */

static int64_t setting(const pai_cluster *c, const char *key,
                       int64_t otherwise)
{
  for (size_t i = 0; i < c->nsettings; i++)
    if (strcmp(c->settings[i].key, key) == 0 && c->settings[i].text == NULL)
      return c->settings[i].number;
  return otherwise;
}

int pai_hived_extender_new(pai_hived_extender **out,
                           const pai_cluster *cluster,
                           const pai_hived_extender_options *opts,
                           pai_error **err)
{
  pai_hived_extender_options o;
  pai_hived_extender *e;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(cluster != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_hived_extender_options, alloc);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_hived_extender_options");
  o.alloc = pai__alloc_or_libc(o.alloc);
  e = pai__zalloc(o.alloc, sizeof(*e));
  if (e == NULL)
    return pai__oom(err);
  e->alloc = *o.alloc;
  pai__map_init(&e->pods, &e->alloc);
  pai__map_init(&e->names, &e->alloc);
  pai__map_init(&e->numbers, &e->alloc);
  pai__map_init(&e->nodes, &e->alloc);
  pai__arena_init(&e->arena, &e->alloc);
  pai__buf_init(&e->why, &e->alloc);
  pai__buf_init(&e->body, &e->alloc);
  pai__buf_init(&e->bind_path, &e->alloc);
  pai__buf_init(&e->bind_body, &e->alloc);
  e->force_after = setting(cluster, "forcePodBindThreshold", 3);
  e->hold_ms = setting(cluster, "waitingPodSchedulingBlockMilliSec", 0);
  if (e->hold_ms < 0)
    e->hold_ms = 0;
  rc = pai__hived_new(&e->engine, cluster, &e->alloc, err);
  if (rc < 0) {
    pai_hived_extender_free(e);
    return rc;
  }
  *out = e;
  return PAI_OK;
}

void pai_hived_extender_free(pai_hived_extender *e)
{
  const pai__map_entry *entry;
  pai_alloc alloc;
  size_t i = 0;

  if (e == NULL)
    return;
  alloc = e->alloc;
  while ((entry = pai__map_next(&e->pods, &i)) != NULL)
    pai__ext_free_pod(e, entry->value);
  pai__map_dispose(&e->pods);
  pai__map_dispose(&e->names);
  pai__map_dispose(&e->numbers);
  pai__map_dispose(&e->nodes);
  pai__tree_free(e->tree);
  pai__arena_dispose(&e->arena);
  pai__buf_dispose(&e->why);
  pai__buf_dispose(&e->body);
  pai__buf_dispose(&e->bind_path);
  pai__buf_dispose(&e->bind_body);
  pai__hived_free(e->engine);
  pai__free(&alloc, e, sizeof(*e));
}
