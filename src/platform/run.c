/* run.c - pai_run(): runs one job on its own loop; uses only the public API */
#include "base/base.h"

#include <openpai/platform.h>

typedef struct run {
  pai_platform *platform;
  pai_event_cb on_event; /* the caller's */
  pai_log_cb on_log;     /* the caller's */
  void *user_data;
  int failed; /* negative result of the caller's on_event, or 0 */
  int state;  /* final state; 0: not yet */
  int code;
} run;

static bool is_final(int state)
{
  return state >= PAI_STATE_SUCCEEDED;
}

/* After its first failure the caller's on_event is not called again. */
static int on_event(void *user_data, const pai_event *event)
{
  run *r = user_data;
  int rc = PAI_OK;

  if (r->on_event != NULL && r->failed == PAI_OK)
    rc = r->on_event(r->user_data, event);
  if (rc < 0)
    r->failed = rc;
  if (pai_event_type(event) == PAI_EVENT_JOB &&
      is_final(pai_event_state(event))) {
    r->state = pai_event_state(event);
    r->code = pai_event_code(event);
    pai_platform_close(r->platform, NULL, NULL);
  }
  return rc;
}

static void on_log(void *user_data, int level, const char *line)
{
  run *r = user_data;

  r->on_log(r->user_data, level, line);
}

static int result(const run *r, pai_error **err)
{
  if (r->failed < 0)
    return pai__fail(err, r->failed, "the job was stopped by on_event");
  if (r->state == 0)
    return pai__fail(err, PAI_EINTERNAL,
                     "the job is not over, and there is nothing to wait for");
  return r->state;
}

/* Runs the job on a platform of its own, which is closed on return. */
static int run_on(pai_loop *loop, run *r, pai_spec *spec,
                  const pai_platform_options *opts, pai_error **err)
{
  pai_job_id job;
  int rc = pai_platform_new(&r->platform, loop, opts, err);

  if (rc < 0)
    return rc;
  rc = pai_platform_submit(&job, r->platform, spec, err);
  if (rc < 0)
    pai_platform_close(r->platform, NULL, NULL);
  (void)!pai_loop_run(loop); /* cannot fail: only this function runs it */
  if (rc < 0)
    return rc;
  rc = result(r, err);
  if (r->state == 0) { /* not closed by on_event() */
    pai_platform_close(r->platform, NULL, NULL);
    (void)!pai_loop_run(loop);
  }
  return rc;
}

int pai_run(int *code, pai_spec *spec, const pai_platform_options *opts,
            pai_error **err)
{
  pai_platform_options o;
  run r = { 0 };
  pai_loop *loop;
  int rc;

  PAI__CHECK_ARG_ERR(spec != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_platform_options, seed);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_platform_options");
  rc = pai_loop_new(
    &loop, &(pai_loop_options){ sizeof(pai_loop_options), o.alloc }, err);
  if (rc < 0)
    return rc;
  r.on_event = o.on_event;
  r.on_log = o.on_log;
  r.user_data = o.user_data;
  o.struct_size = sizeof(o);
  o.on_event = on_event;
  o.on_log = o.on_log != NULL ? on_log : NULL;
  o.user_data = &r;
  rc = run_on(loop, &r, spec, &o, err);
  pai_loop_free(loop);
  if (code != NULL)
    *code = r.code;
  return rc;
}
