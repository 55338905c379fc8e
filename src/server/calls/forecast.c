/* forecast.c - answers about a job's future that another thread computes, and
 * the snapshot from which clients compute their own */
#include "server/server.h"
#include "api/records.h"

/* Limits of one caller at a time. */
enum { ESTIMATES = 4, REASONS = 32 };

/* An estimate for a request.  It is in the server's list as long as the
 * request exists. */
typedef struct pai__estimate_wait {
  pai_alloc alloc;
  struct pai__estimate_wait *next;
  pai__request *request; /* NULL: gone */
  struct pai__waiting *waiting;
  pai_estimate *estimate; /* one of the two is set */
  pai_answer *answer;
} estimate_waits;

static void take_out(estimate_waits *a)
{
  estimate_waits **at;

  if (a->request == NULL)
    return;
  for (at = &a->request->server->estimate_waits; *at != a; at = &(*at)->next) {
  }
  *at = a->next;
  a->request = NULL;
}

static void free_wait(estimate_waits *a)
{
  pai_alloc alloc = a->alloc;

  take_out(a);
  pai__free(&alloc, a, sizeof(*a));
}

static bool is_same_caller(const pai__caller *a, const pai__caller *b)
{
  return a->self == b->self &&
         (a->name == NULL || b->name == NULL ? a->name == b->name
                                             : strcmp(a->name, b->name) == 0);
}

/* All callers share one queue, so each has a limit. */
static bool has_enough(const pai__request *r, bool why)
{
  int n = 0;

  for (const estimate_waits *a = r->server->estimate_waits; a != NULL;
       a = a->next)
    n += (a->answer != NULL) == why &&
         is_same_caller(&a->request->caller, &r->caller);
  return n >= (why ? REASONS : ESTIMATES);
}

static void fail(pai__request *r, int rc, const pai_error *err)
{
  if (rc == PAI_ENOTSUP)
    pai__answer_coded(r, 501, "NotImplementedError", err);
  else if (rc == PAI_ECANCELED)
    pai__answer_cancelled(r);
  else
    pai__answer_why(r, rc, err);
}

static void on_told(void *user_data, int status, const char *json, size_t len,
                    const pai_error *err)
{
  estimate_waits *a = user_data;
  pai__request *r = pai__answer_now(a->waiting);

  free_wait(a);
  if (r == NULL)
    return;
  if (status < 0) {
    fail(r, status, err);
    return;
  }
  pai__buf_add(&r->answer, json, len);
  pai__answer_written(r, PAI_OK);
}

/* The client has hung up, or the server ends. */
static void on_gone(void *user_data)
{
  estimate_waits *a = user_data;

  take_out(a);
  pai_estimate_cancel(a->estimate);
  pai_answer_cancel(a->answer);
}

static void begin(pai__request *r, pai_job_id job, estimate_waits *a, bool why)
{
  int rc;

  a->waiting = pai__answer_later(r);
  if (a->waiting == NULL) {
    free_wait(a);
    return;
  }
  rc = why ? pai_platform_why_beside(&a->answer, r->server->platform, job,
                                     on_told, a, &r->err)
           : pai_platform_estimate_beside(&a->estimate, r->server->platform,
                                          job, on_told, a, &r->err);
  if (rc == PAI_OK) {
    a->request = r;
    a->next = r->server->estimate_waits;
    r->server->estimate_waits = a;
    pai__waiting_watch(a->waiting, on_gone, a);
    return;
  }
  (void)pai__answer_now(a->waiting);
  free_wait(a);
  fail(r, rc, r->err);
}

void pai__forecast_ask(pai__request *r, bool why)
{
  pai_job_id job = pai__request_job(r);
  estimate_waits *a;

  if (job == 0)
    return;
  if (has_enough(r, why)) {
    pai__answer_error(
      r, 503, "UnknownError", "You already wait for %d %s: try again later.",
      why ? REASONS : ESTIMATES, why ? "explanations" : "estimates");
    return;
  }
  a = pai__zalloc(&r->server->alloc, sizeof(*a));
  if (a == NULL) {
    pai__answer_failure(r, PAI_ENOMEM);
    return;
  }
  a->alloc = r->server->alloc;
  begin(r, job, a, why);
}

/* --- snapshot --------------------- */

/* For clients that simulate the future themselves. */
void pai__do_scheduler_snapshot(pai__request *r)
{
  int rc = pai_platform_snapshot(r->server->platform, pai__answer_write,
                                 &r->answer, &r->err);

  if (rc == PAI_ENOTSUP)
    fail(r, rc, r->err);
  else
    pai__answer_written(r, rc);
}
