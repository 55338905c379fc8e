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

  const char *who = r->caller.name != NULL ? r->caller.name : r->claimed;

  if (r->route == NULL || who == NULL ||
      (!changes(r->method) && !r->route->noted) || r->server->accounts == NULL)
    return;
  pai__buf_init(&what, &r->server->alloc);
  pai__buf_printf(&what, "%s ", r->method);
  add_path(r, &what);
  if (!pai__buf_ok(&what) ||
      pai_accounts_note(r->server->accounts, who, r->remote ? r->peer : NULL,
                        pai__buf_text(&what), r->status) < 0)
    pai__log_line(
      &r->server->log, PAI_LOG_WARNING,
      "out of memory: a change by %s is missing from the audit log", who);
  pai__buf_dispose(&what);
}

void pai__request_act(const pai__request *r)
{
  if (r->server->accounts != NULL)
    (void)!pai_accounts_act_as(r->server->accounts, r->caller.name,
                               r->remote ? r->peer : NULL,
                               r->caller.self ? PAI_ACT_OWNER : 0);
}

void pai__request_acted(const pai__request *r)
{
  if (r->server->accounts != NULL)
    (void)!pai_accounts_act_as(r->server->accounts, NULL, NULL, 0);
}

static pai_audit_query read_query(const pai__request *r)
{
  pai_audit_query q = PAI_AUDIT_QUERY_INIT;

  q.user = pai__request_query(r, "username");
  q.since = pai__request_number(r, "since") * 1000;
  q.until = pai__request_number(r, "until") * 1000;
  q.before = (uint64_t)pai__request_number(r, "before");
  q.limit = (uint64_t)pai__request_number(r, "limit");
  return q;
}

static void on_safe(void *user_data, int status, const pai_error *err)
{
  pai__request *r = pai__answer_now(user_data);
  pai_audit_query q;
  pai_error *trouble = NULL;
  int rc;

  (void)status; /* what the database has can be read */
  (void)err;
  if (r == NULL)
    return;
  q = read_query(r);
  rc = pai_accounts_write_audit(r->server->accounts, &q, pai__answer_write,
                                &r->answer, &trouble);
  pai__answer_written(r, rc, trouble);
}

/* What was answered before this was asked is in it. */
static void do_audit(pai__request *r)
{
  struct pai__waiting *w = pai__answer_later(r);

  if (w == NULL)
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

/* --- queries --- */

static const pai__field queries[] = {
  PAI__TAKES(TEXT, "username", "of this user"),
  { .name = "since",
    .kind = PAI__IS_WHOLE,
    .most = PAI__MOST_WHOLE,
    .what = "not before this time, in milliseconds since 1970" },
  { .name = "until",
    .kind = PAI__IS_WHOLE,
    .most = PAI__MOST_WHOLE,
    .what = "and before this one" },
  { .name = "before",
    .kind = PAI__IS_WHOLE,
    .most = PAI__MOST_WHOLE,
    .what =
      "after the entry with this id, the last one of the previous page" },
  { .name = "limit",
    .kind = PAI__IS_WHOLE,
    .most = MOST_NOTES,
    .missing = "100",
    .what = "at most so many" },
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/audit",
    .handle = do_audit,
    .right = PAI__OF_ADMIN,
    .result = &notes,
    .queries = queries,
    .summary = "List changes from the audit log, the newest first" },
};

const pai__routes pai__audit_routes = { routes, PAI__LEN(routes) };
