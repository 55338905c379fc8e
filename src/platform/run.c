/* run.c - the blocking form: one job, its own loop; public API only */
#include "base/base.h"

#include <openpai/platform.h>

typedef struct run {
  pai_platform *platform;
  pai_event_cb on_event; /* the caller's */
  pai_log_cb on_log;     /* likewise */
  void *user_data;
  int state;
  int code;
} run;

static bool is_final(int state)
{
  return state >= PAI_STATE_SUCCEEDED;
}

static void on_event(void *user_data, const pai_event *event)
{
  run *r = user_data;

  if (r->on_event != NULL)
    r->on_event(r->user_data, event);
  if (pai_event_type(event) != PAI_EVENT_JOB ||
      !is_final(pai_event_state(event)))
    return;
  r->state = pai_event_state(event);
  r->code = pai_event_code(event);
  pai_platform_close(r->platform, NULL, NULL);
}

static void on_log(void *user_data, int level, const char *line)
{
  run *r = user_data;

  r->on_log(r->user_data, level, line);
}

int pai_run(int *code, pai_spec *spec, const pai_platform_options *opts,
            pai_error **err)
{
  pai_platform_options o;
  run r = { 0 };
  pai_loop *loop;
  pai_job_id job;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG(spec != NULL);
  rc = PAI__COPY_IN(&o, opts, pai_platform_options, user_data);
  if (rc < 0)
    return pai__fail(err, rc,
                     "pai_platform_options: bad or newer struct_size");
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
  rc = pai_platform_new(&r.platform, loop, &o, err);
  if (rc == PAI_OK) {
    rc = pai_platform_submit(&job, r.platform, spec, err);
    if (rc < 0)
      pai_platform_close(r.platform, NULL, NULL);
    if (pai_loop_run(loop) < 0)
      rc = pai__fail(err, PAI_EINTERNAL, "the loop could not be run");
  }
  pai_loop_free(loop);
  if (code != NULL)
    *code = r.code;
  return rc < 0 ? rc : r.state;
}
