/*
 * task_stream.c - a connection becomes a stream into a task
 *
 * The connection is passed to the task's supervisor, so its bytes do not pass
 * through here.  As the supervisor has neither TLS nor WebSockets, such a
 * connection is proxied (posix_proxy_stream.c).
 */
#include "server/http/listener.h"
#include "server/http/request.h"
#include "server/http/websocket.h"

static const char protocol[] = "openpai-stream", websocket[] = "websocket";

enum { MOST_EARLY = 16 << 10 };

/* Compares the first `n` characters, ignoring case. */
static bool is_same(const char *a, const char *b, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if ((a[i] | 32) != (b[i] | 32))
      return false;
  return true;
}

/* Returns whether a list with commas has the word, ignoring case. */
static bool has_word(const char *list, const char *word)
{
  size_t len = strlen(word);

  while (list != NULL && *list != '\0') {
    size_t n;

    list += strspn(list, " \t,");
    n = strcspn(list, " \t,");
    if (n == len && is_same(list, word, n))
      return true;
    list += n;
  }
  return false;
}

static void answer_failure(pai__request *r, int rc)
{
  const char *help = pai_error_help(r->err);

  if (rc == PAI_EINVAL || rc == PAI_ENOTFOUND)
    pai__answer_error(r, rc == PAI_EINVAL ? 400 : 404,
                      rc == PAI_EINVAL ? "TaskNotRunningError" : "NoTaskError",
                      "Cannot enter the task: %s%s%s",
                      pai_error_message(r->err), help != NULL ? "; " : "",
                      help != NULL ? help : "");
  else
    pai__answer_failure(r, rc);
}

/* --- a WebSocket --------------------------------------------------------- */

static bool refuse(pai__request *r, int status, const char *code,
                   const char *why)
{
  pai__answer_error(r, status, code, "%s", why);
  return false;
}

/* Checks that the client may open a WebSocket; if not, answers.  Other origins
 * are refused whoever the caller is: at a socket that is passed on to a
 * browser's machine the kernel names the user, and no cookie is needed. */
static bool may_open_web(pai__request *r, char accept[PAI__WS_ACCEPT])
{
  const char *version = pai__conn_field(r->conn, "Sec-WebSocket-Version");
  const char *key = pai__conn_field(r->conn, "Sec-WebSocket-Key");

  if (pai__session_is_elsewhere(r))
    return refuse(r, 403, "ForbiddenUserError",
                  "A WebSocket must come from a page of this server: its "
                  "Origin must be this host.");
  if (!has_word(pai__conn_field(r->conn, "Connection"), "upgrade") ||
      version == NULL || strcmp(version, "13") != 0)
    return refuse(r, 426, "UpgradeRequiredError",
                  "This path requires version 13 of WebSockets.");
  if (!has_word(pai__conn_field(r->conn, "Sec-WebSocket-Protocol"), protocol))
    return refuse(r, 400, "InvalidParametersError",
                  "This path requires 'Sec-WebSocket-Protocol: "
                  "openpai-stream'.");
  if (key == NULL || !pai__ws_accept(accept, key))
    return refuse(r, 400, "InvalidParametersError",
                  "Sec-WebSocket-Key is not the base64 of 16 bytes.");
  return true;
}

/* --- begin --------------------------------------------------------------- */

/* The connection gets no answer: it is suspended until the stream is over. */
static void begin_relay(pai__request *r, const char *accept)
{
  pai__buf head;
  int rc;

  pai__buf_init(&head, &r->server->alloc);
  pai__buf_printf(&head,
                  "HTTP/1.1 101 Switching Protocols\r\n"
                  "Connection: Upgrade\r\nUpgrade: %s\r\n",
                  accept != NULL ? websocket : protocol);
  if (accept != NULL)
    pai__buf_printf(&head,
                    "Sec-WebSocket-Accept: %s\r\n"
                    "Sec-WebSocket-Protocol: %s\r\n",
                    accept, protocol);
  pai__buf_str(&head, "\r\n");
  rc = pai__buf_ok(&head) ? pai__proxy_stream_begin(r, pai__buf_text(&head),
                                                    accept != NULL, &r->err)
                          : PAI_ENOMEM;
  pai__buf_dispose(&head);
  if (rc < 0) {
    pai__enter_forget(r);
    pai__answer_failure(r, rc);
    return;
  }
  pai__count_answer(r);
  pai__request_note(r);
}

void pai__do_jobs_enter(pai__request *r)
{
  const char *upgrade = pai__conn_field(r->conn, "Upgrade");
  const char *role = r->params[1];
  bool web = has_word(upgrade, websocket);
  char accept[PAI__WS_ACCEPT];
  pai_job_id job;
  int64_t index;
  int rc;

  if (!pai__request_may_enter(r))
    return;
  job = pai__request_job(r);
  if (job == 0)
    return;
  if (web && !may_open_web(r, accept))
    return;
  if (!web && !has_word(upgrade, protocol)) {
    pai__answer_error(r, 426, "UpgradeRequiredError",
                      "This path requires 'Upgrade: %s' or 'Upgrade: %s'.",
                      protocol, websocket);
    return;
  }
  if (pai__param_number(r->params[2], &index) < 0 || index > UINT32_MAX) {
    pai__answer_error(r, 404, "NoTaskError", "Task %s[%s] is not found.", role,
                      r->params[2]);
    return;
  }
  rc = pai_platform_enter(&r->entered, r->server->platform, job, role,
                          (uint32_t)index, &r->err);
  if (rc < 0) {
    answer_failure(r, rc);
    return;
  }
  r->status = 101;
  if (r->listener->tls || web)
    begin_relay(r, web ? accept : NULL);
  else
    r->ready = true;
}

static void on_upgrade(void *user_data, int fd, const char *early, size_t len)
{
  pai__request *r = user_data;

  if (len > MOST_EARLY || !pai__pass_fd(r->entered, fd, early, len))
    pai__log_line(&r->server->log, PAI_LOG_WARNING,
                  "a stream did not reach its task");
}

pai__payload pai__enter_payload(pai__request *r)
{
  pai__conn_add_field(r->conn, "Connection", "Upgrade");
  pai__conn_add_field(r->conn, "Upgrade", protocol);
  return (pai__payload){ .upgrade = on_upgrade, .user_data = r };
}

void pai__enter_forget(pai__request *r)
{
  pai__pass_fd_close(r->entered);
  r->entered = -1;
}
