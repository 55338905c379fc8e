/* estimate.c - what is found out beside the loop: why a job waits, and when it
 * starts or ends, as far as can be told */
#include "server/server.h"
#include "server/shapes.h"

/* At a time that one caller may ask for. */
enum { ESTIMATES = 4, REASONS = 32 };

/* One that is being made for a request, and is not in the server's list without
 * one. */
typedef struct pai__asked {
  pai_alloc alloc;
  struct pai__asked *next;
  pai__request *request; /* NULL: it is gone */
  struct pai__waiting *waiting;
  pai_estimate *estimate; /* one of these */
  pai_answer *answer;
} asked;

static void take_out(asked *a)
{
  asked **at;

  if (a->request == NULL)
    return;
  for (at = &a->request->server->asked; *at != a; at = &(*at)->next) {
  }
  *at = a->next;
  a->request = NULL;
}

static void free_asked(asked *a)
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

/* There is one line for all: nobody fills it alone. */
static bool has_enough(const pai__request *r, bool why)
{
  int n = 0;

  for (const asked *a = r->server->asked; a != NULL; a = a->next)
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
  asked *a = user_data;
  pai__request *r = pai__answer_now(a->waiting);

  free_asked(a);
  if (r == NULL)
    return;
  if (status < 0) {
    fail(r, status, err);
    return;
  }
  pai__buf_add(&r->answer, json, len);
  pai__answer_written(r, PAI_OK, NULL);
}

/* Who asked has hung up, or the server ends. */
static void on_gone(void *user_data)
{
  asked *a = user_data;

  take_out(a);
  pai_estimate_cancel(a->estimate);
  pai_answer_cancel(a->answer);
}

static void begin(pai__request *r, pai_job_id job, asked *a, bool why)
{
  pai_error *err = NULL;
  int rc;

  a->waiting = pai__answer_later(r);
  if (a->waiting == NULL) {
    free_asked(a);
    return;
  }
  rc = why ? pai_platform_why_beside(&a->answer, r->server->platform, job,
                                     on_told, a, &err)
           : pai_platform_estimate_beside(&a->estimate, r->server->platform,
                                          job, on_told, a, &err);
  if (rc == PAI_OK) {
    a->request = r;
    a->next = r->server->asked;
    r->server->asked = a;
    pai__waiting_watch(a->waiting, on_gone, a);
    return;
  }
  (void)pai__answer_now(a->waiting);
  free_asked(a);
  fail(r, rc, err);
  pai_error_free(err);
}

static void ask(pai__request *r, bool why)
{
  pai_job_id job = pai__request_job(r);
  asked *a;

  if (job == 0)
    return;
  if (has_enough(r, why)) {
    pai__answer_error(
      r, 503, "UnknownError",
      "You have asked for %d %s that are not there yet: ask again later.",
      why ? REASONS : ESTIMATES, why ? "explanations" : "estimates");
    return;
  }
  a = pai__zalloc(&r->server->alloc, sizeof(*a));
  if (a == NULL) {
    pai__answer_failure(r, PAI_ENOMEM, NULL);
    return;
  }
  a->alloc = r->server->alloc;
  begin(r, job, a, why);
}

static void do_estimate(pai__request *r)
{
  ask(r, false);
}

static void do_why(pai__request *r)
{
  ask(r, true);
}

/* --- all of it --- */

/* For who looks ahead himself. */
static void do_snapshot(pai__request *r)
{
  pai_error *err = NULL;
  int rc = pai_platform_snapshot(r->server->platform, pai__answer_write,
                                 &r->answer, &err);

  if (rc != PAI_ENOTSUP) {
    pai__answer_written(r, rc, err);
    return;
  }
  fail(r, rc, err);
  pai_error_free(err);
}

static const pai__result snapshot = { .kind = PAI__IS_MAP };

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/jobs/:job/why",
    .packs = true,
    .handle = do_why,
    .right = PAI__OF_READERS,
    .result = &pai__job_why_result,
    .summary = "Explain why a job waits, or why it ended",
    .errors = "404 NoJobError, 503 UnknownError" },
  { .method = "GET",
    .path = "/api/v2/jobs/:job/estimate",
    .handle = do_estimate,
    .right = PAI__OF_READERS,
    .result = &pai__job_estimate_result,
    .summary = "Estimate when a waiting job will start",
    .errors = "404 NoJobError, 501 NotImplementedError, 503 UnknownError" },
  { .method = "GET",
    .path = "/api/v2/scheduler",
    .packs = true,
    .handle = do_snapshot,
    .right = PAI__OF_USERS,
    .result = &snapshot,
    .summary = "Get a snapshot of the scheduler",
    .errors = "501 NotImplementedError" },
};

const pai__routes pai__estimate_routes = { routes, PAI__LEN(routes) };
