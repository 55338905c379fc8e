/* audit.c - who changed what, for administrators */
#include "server/request.h"

enum { MOST_NOTES = 1000 };

static bool changes(const char *method)
{
  return strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 &&
         strcmp(method, "OPTIONS") != 0;
}

/* The path as it came, but for what a proxy puts before it, and a token in it.
 */
static void add_path(const pai__request *r, pai__buf *out)
{
  const char *path = r->route->path, *api = strstr(r->uri, "/api/");

  if (strstr(path, "/:token") != NULL)
    pai__buf_add(out, path, strcspn(path, " "));
  else
    pai__buf_add(out, api != NULL ? api : r->uri,
                 strcspn(api != NULL ? api : r->uri, "?"));
}

void pai__request_note(pai__request *r)
{
  pai__buf what;

  if (r->route == NULL || r->caller.name == NULL ||
      (!changes(r->method) && !r->route->noted) || r->server->accounts == NULL)
    return;
  pai__buf_init(&what, &r->server->alloc);
  pai__buf_printf(&what, "%s ", r->method);
  add_path(r, &what);
  if (!pai__buf_ok(&what) ||
      pai_accounts_note(r->server->accounts, r->caller.name,
                        r->remote ? r->peer : NULL, pai__buf_text(&what),
                        r->status) < 0)
    pai__log_line(&r->server->log, PAI_LOG_WARNING,
                  "what %s changed is not in the audit log: no memory",
                  r->caller.name);
  pai__buf_dispose(&what);
}

/* A time in ms, as those of jobs; false: that is refused. */
static bool read_time(pai__request *r, const char *name, pai_time *out)
{
  int64_t ms = 0;

  if (pai__request_number(r, name, &ms) == PAI_EINVAL ||
      ms > INT64_MAX / 1000) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "%s must be a time in milliseconds, not '%s'.", name,
                      pai__request_query(r, name));
    return false;
  }
  *out = ms * 1000;
  return true;
}

static bool read_query(pai__request *r, pai_audit_query *q)
{
  int64_t before = 0, limit = 0;

  if (!read_time(r, "since", &q->since) || !read_time(r, "until", &q->until))
    return false;
  if (pai__request_number(r, "before", &before) == PAI_EINVAL ||
      pai__request_number(r, "limit", &limit) == PAI_EINVAL ||
      limit > MOST_NOTES) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "before is the id of a note, and limit at most %d.",
                      (int)MOST_NOTES);
    return false;
  }
  q->user = pai__request_query(r, "username");
  q->before = (uint64_t)before;
  q->limit = (uint64_t)limit;
  return true;
}

static void on_safe(void *user_data, int status, const pai_error *err)
{
  pai__request *r = pai__answer_now(user_data);
  pai_audit_query q = PAI_AUDIT_QUERY_INIT;
  pai_error *trouble = NULL;
  int rc;

  (void)status; /* what the database has can be read */
  (void)err;
  if (r == NULL || !read_query(r, &q))
    return;
  rc = pai_accounts_write_audit(r->server->accounts, &q, pai__answer_write,
                                &r->answer, &trouble);
  pai__answer_written(r, rc, trouble);
}

/* What was answered before this was asked is in it. */
static void do_audit(pai__request *r)
{
  pai_audit_query q = PAI_AUDIT_QUERY_INIT;
  struct pai__waiting *w;

  if (!read_query(r, &q) || (w = pai__answer_later(r)) == NULL)
    return;
  if (pai_platform_sync(r->server->platform, on_safe, w) == PAI_OK)
    return;
  (void)pai__answer_now(w);
  pai__answer_failure(r, PAI_ENOMEM, NULL);
}

/* --- answers --- */

static const pai__field note_fields[] = { PAI__HAS(WHOLE, "id"),
                                          PAI__HAS(TIME, "time"),
                                          PAI__HAS_OR_NULL(TEXT, "user"),
                                          PAI__HAS_OR_NULL(TEXT, "from"),
                                          PAI__HAS(TEXT, "what"),
                                          PAI__HAS(WHOLE, "status"),
                                          { 0 } };

static const pai__shape note_shape = { "AuditNote", note_fields };

static const pai__result notes = { .kind = PAI__IS_LIST,
                                   .shape = &note_shape };

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/audit",
    .handle = do_audit,
    .right = PAI__OF_ADMIN,
    .result = &notes,
    .summary = "Who changed what, the newest first",
    .errors = "400 InvalidParametersError" },
};

const pai__routes pai__audit_routes = { routes, PAI__LEN(routes) };
