/* audit.c - the audit log, for administrators */
#include "server/http/request.h"

enum { MOST_NOTES = 1000 };

static bool changes(const char *method)
{
  return strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 &&
         strcmp(method, "OPTIONS") != 0;
}

/* Writes the path as received, without a proxy's prefix and without tokens. */
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

  (void)status; /* on failure, what the database has is still readable */
  (void)err;
  if (r == NULL)
    return;
  q = read_query(r);
  pai__answer_written(r, pai_accounts_write_audit(r->server->accounts, &q,
                                                  pai__answer_write,
                                                  &r->answer, &r->err));
}

/* Waits, so that all requests answered before this one are in the list. */
void pai__do_audit_list(pai__request *r)
{
  struct pai__waiting *w = pai__answer_later(r);

  if (w == NULL)
    return;
  if (pai_platform_sync(r->server->platform, on_safe, w) == PAI_OK)
    return;
  (void)pai__answer_now(w);
  pai__answer_failure(r, PAI_ENOMEM);
}
