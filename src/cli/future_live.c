/* future_live.c - a platform's scheduler as it is now, and what its jobs took */
#include "future.h"

#include <stdlib.h>
#include <string.h>

/* --- of a log, or live ----------------------------------------------------- */

int future_words(const cli_verb *verb, future *f, int words, char **argv,
                 future_job takes, const char **job)
{
  bool logged =
    words > 1 ||
    (words == 1 && (takes == FUTURE_NO_JOB || sched_log_is(argv[0])));
  int left = words - logged, most = takes == FUTURE_NO_JOB ? 0 : 1;

  *job = NULL;
  if (left > most) {
    cli_misused(verb, "too many arguments", argv[words - 1]);
    return CLI_USAGE;
  }
  if (takes == FUTURE_NEEDS_JOB && left == 0) {
    cli_misused(verb, "this verb requires", "JOB");
    return CLI_USAGE;
  }
  if (logged && cli_is_named()) {
    cli_misused(verb, "--root and a log exclude each other", argv[0]);
    return CLI_USAGE;
  }
  if (logged)
    f->log = argv[0];
  if (left > 0)
    *job = argv[words - 1];
  return CLI_OK;
}

/* --- what jobs took ---------------------------------------------------------- */

typedef struct rest {
  const char *text;
  size_t len;
} rest;

static ptrdiff_t read_some(void *user_data, char *buffer, size_t size)
{
  rest *r = user_data;

  if (size > r->len)
    size = r->len;
  memcpy(buffer, r->text, size);
  r->text += size;
  r->len -= size;
  return (ptrdiff_t)size;
}

/* A platform that has none yet is no mistake. */
static bool learn_of(cli_remote *r, future *f)
{
  pai_error *err = NULL;
  pai_trace *t = NULL;
  cli_answer a;
  int rc = PAI_OK;

  cli_remote_ask(r, &a, "GET",
                 "/api/v2/jobs?state=SUCCEEDED,FAILED&limit=1000", NULL, NULL,
                 0);
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (a.len > 2) {
    pai_trace_options o = PAI_TRACE_OPTIONS_INIT;
    rest jobs = { a.body, a.len };

    o.form = PAI_TRACE_OPENPAI;
    rc = pai_trace_new(&t, read_some, &jobs, &o, &err);
    if (rc == PAI_OK)
      rc = future_learn(f, t, &err);
    pai_trace_free(t);
  }
  if (rc < 0)
    (void)future_fail(err);
  rc = rc < 0 ? rc : a.status;
  cli_answer_free(&a);
  return rc == PAI_OK;
}

/* --- as it is now ------------------------------------------------------------- */

static bool ask(cli_remote *r, future *f, char **text, size_t *len)
{
  cli_answer a;
  bool good;

  cli_remote_ask(r, &a, "GET", "/api/v2/scheduler", NULL, NULL, 0);
  good = a.status == PAI_OK;
  if (good) {
    *text = a.body;
    *len = a.len;
    a.body = NULL;
  } else {
    cli_answer_tell(&a);
  }
  cli_answer_free(&a);
  return good && (f->history != NULL || learn_of(r, f));
}

int future_fetch(future *f, char **text, size_t *len)
{
  cli_remote r;
  bool good;

  *text = NULL;
  if (!cli_remote_open(&r, false))
    return CLI_NO;
  good = ask(&r, f, text, len);
  cli_remote_close(&r);
  return good ? CLI_OK : CLI_NO;
}
