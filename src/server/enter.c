/*
 * enter.c - a connection becomes a stream that leads into a task
 *
 * What is said on it is no matter of ours: the connection is given to the
 * task's supervisor, and nothing of it passes through here.  The supervisor
 * speaks no TLS: there it is handed on (posix_relay.c).
 */
#include "server/door.h"
#include "server/request.h"

static const char protocol[] = "openpai-stream";

enum { MOST_EARLY = 16 << 10 };

/* Whether both begin alike, whatever their case. */
static bool is_same(const char *a, const char *b, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if ((a[i] | 32) != (b[i] | 32))
      return false;
  return true;
}

/* Whether a list of words, parted by commas, has it, whatever its case. */
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

static void answer_failure(pai__request *r, int rc, pai_error *err)
{
  const char *help = pai_error_help(err);

  if (rc == PAI_EINVAL || rc == PAI_ENOTFOUND) {
    pai__answer_error(r, rc == PAI_EINVAL ? 400 : 404,
                      rc == PAI_EINVAL ? "TaskNotRunningError" : "NoTaskError",
                      "Cannot enter: %s%s%s", pai_error_message(err),
                      help != NULL ? "; " : "", help != NULL ? help : "");
    pai_error_free(err);
    return;
  }
  pai__answer_failure(r, rc, err);
}

/* The connection is told no answer: it sleeps until all is said. */
static void begin_relay(pai__request *r)
{
  static const char head[] = "HTTP/1.1 101 Switching Protocols\r\n"
                             "Connection: Upgrade\r\n"
                             "Upgrade: openpai-stream\r\n\r\n";
  pai_error *err = NULL;
  int rc = pai__relay_begin(r, head, &err);

  if (rc < 0) {
    pai__enter_forget(r);
    pai__answer_failure(r, rc, err);
    return;
  }
  pai__count_answer(r);
  pai__request_note(r);
}

static void do_enter(pai__request *r)
{
  const char *upgrade = pai__conn_field(r->conn, "Upgrade");
  const char *role = r->params[1];
  pai_error *err = NULL;
  pai_job_id job;
  int64_t index;
  int rc;

  if (!pai__request_may_enter(r))
    return;
  job = pai__request_job(r);
  if (job == 0)
    return;
  if (!has_word(upgrade, protocol)) {
    pai__answer_error(r, 426, "UpgradeRequiredError",
                      "This path requires 'Upgrade: %s'.", protocol);
    return;
  }
  if (pai__param_number(r->params[2], &index) < 0 || index > UINT32_MAX) {
    pai__answer_error(r, 404, "NoTaskError", "Task %s[%s] is not found.", role,
                      r->params[2]);
    return;
  }
  rc = pai_platform_enter(&r->entered, r->server->platform, job, role,
                          (uint32_t)index, &err);
  if (rc < 0) {
    answer_failure(r, rc, err);
    return;
  }
  r->status = 101;
  if (r->door->tls)
    begin_relay(r);
  else
    r->ready = true;
}

static void on_upgrade(void *user_data, int fd, const char *early, size_t len)
{
  pai__request *r = user_data;

  if (len > MOST_EARLY || !pai__hand_over(r->entered, fd, early, len))
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
  pai__hand_close(r->entered);
  r->entered = -1;
}

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/jobs/:job/taskRoles/:role/taskIndex/:index/stream",
    .handle = do_enter,
    .right = PAI__OF_OWNER,
    .noted = true,
    .submits = true,
    .status = 101,
    .result = &pai__no_result,
    .summary = "Open a stream into a task",
    .errors = "400 TaskNotRunningError, 404 NoJobError, 404 NoTaskError, 426 "
              "UpgradeRequiredError, 503 UnknownError" },
};

const pai__routes pai__enter_routes = { routes, PAI__LEN(routes) };
