/* event.c - sending events; events of requests and their instances */
#include "sched/start.h"
#include "sched/log/event.h"
#include "sched/sched.h"

#include <inttypes.h>

/* --- finding -------------------------------------------------------------- */

static uint32_t find_req(const pai_sched *s, uint64_t id, pai_error **err)
{
  uint32_t req = pai__req_find(s, id);

  if (req == PAI__NONE)
    (void)pai__fail(err, PAI_ENOTFOUND, "there is no request %" PRIu64, id);
  return req;
}

/* Returns the run of an instance that holds a place, or PAI__NONE. */
static uint32_t find_run(const pai_sched *s, const pai_sched_event *e,
                         pai_error **err)
{
  uint32_t req = find_req(s, e->id, err), run;

  if (req == PAI__NONE)
    return PAI__NONE;
  run = pai__run_find(s, req, e->instance);
  if (run != PAI__NONE && pai__run_at(s, run)->state >= PAI__RUN_PLACED)
    return run;
  (void)pai__fail(err, PAI_ENOTFOUND,
                  "instance %" PRIu32 " of request %" PRIu64
                  " was not started, or has ended",
                  e->instance, e->id);
  return PAI__NONE;
}

/* --- requests ------------------------------------------------------------- */

static int on_submit(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  pai_request q = { 0 };

  PAI__CHECK_ARG_ERR(e->request != NULL, err);
  if (PAI__COPY_IN(&q, e->request, pai_request, nafter) < 0)
    return pai__fail_struct(err, PAI_EINVAL, e->request, "pai_request");
  return pai__req_add(s, &q, e->time, err);
}

/* Reserves memory for all decisions first, so that all or none are made. */
static int stop_all(pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);

  if (pai__flat_reserve(&s->decisions, &s->alloc, r->active) < 0)
    return PAI_ENOMEM;
  for (uint32_t run = r->runs, next; run != PAI__NONE; run = next) {
    next = pai__run_at(s, run)->next;
    if (pai__run_at(s, run)->state != PAI__RUN_RETURNED)
      (void)pai__stop(s, run, PAI_STOP_CANCELLED, 0);
  }
  return PAI_OK;
}

static int cancel_all(pai_sched *s, uint32_t req, pai_error **err)
{
  pai__req *r = pai__req_at(s, req);

  if (stop_all(s, req) < 0)
    return pai__oom(err);
  r->cancelled = 1;
  pai__req_settle(s, req);
  return PAI_OK;
}

/* Instances that have not begun are all the same, so only the last one can be
 * cancelled. */
static int cancel_one(pai_sched *s, const pai_sched_event *e, uint32_t req,
                      pai_error **err)
{
  pai__req *r = pai__req_at(s, req);
  uint32_t run = pai__run_find(s, req, e->instance);

  if (e->instance >= r->instances)
    return pai__fail(err, PAI_ENOTFOUND,
                     "request %" PRIu64 " has no instance %" PRIu32, e->id,
                     e->instance);
  if (run == PAI__NONE && e->instance < r->next)
    return pai__fail(err, PAI_ENOTFOUND,
                     "instance %" PRIu32 " of request %" PRIu64 " has ended",
                     e->instance, e->id);
  if (run == PAI__NONE && e->instance + 1 != r->instances)
    return pai__fail(err, PAI_ENOTSUP,
                     "of instances that have not begun only the last can be "
                     "cancelled");
  if (run == PAI__NONE) {
    r->instances--;
    pai__req_settle(s, req);
    return PAI_OK;
  }
  if (pai__run_at(s, run)->state >= PAI__RUN_PLACED)
    return pai__stop(s, run, PAI_STOP_CANCELLED, 0) < 0 ? pai__oom(err)
                                                        : PAI_OK;
  if (pai__run_at(s, run)->state == PAI__RUN_CLAIMED)
    pai__release(s, run);
  pai__run_end(s, run, false);
  return PAI_OK;
}

static int on_cancel(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  uint32_t req = find_req(s, e->id, err);

  if (req == PAI__NONE)
    return PAI_ENOTFOUND;
  return e->instance == PAI_SCHED_ALL ? cancel_all(s, req, err)
                                      : cancel_one(s, e, req, err);
}

/* --- instances ------------------------------------------------------------ */

static int on_started(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  uint32_t run = find_run(s, e, err);

  if (run == PAI__NONE)
    return PAI_ENOTFOUND;
  if (pai__run_at(s, run)->state == PAI__RUN_STARTED)
    return pai__fail(err, PAI_EEXISTS,
                     "instance %" PRIu32 " of request %" PRIu64
                     " has started already",
                     e->instance, e->id);
  pai__ends_remove(s, run);
  pai__run_at(s, run)->since = e->time;
  pai__ends_add(s, run);
  if (pai__run_at(s, run)->state == PAI__RUN_PLACED)
    pai__run_at(s, run)->state = PAI__RUN_STARTED;
  pai__limit_set(s, pai__run_at(s, run));
  return PAI_OK;
}

static int on_finished(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  uint32_t run = find_run(s, e, err);

  if (run == PAI__NONE)
    return PAI_ENOTFOUND;
  pai__release(s, run);
  pai__run_end(s, run, e->number == 0);
  return PAI_OK;
}

static int on_returned(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  uint32_t run = find_run(s, e, err), req;

  if (run == PAI__NONE)
    return PAI_ENOTFOUND;
  req = pai__run_at(s, run)->req;
  pai__release(s, run);
  pai__req_settle(s, req);
  return PAI_OK;
}

static int on_lose_port(pai_sched *s, const pai_sched_event *e,
                        pai_error **err)
{
  uint32_t node = pai__node_named(s, e->node, err);

  if (node == PAI__NONE)
    return PAI_ENOTFOUND;
  PAI__CHECK_ARG_ERR(e->number > 0 && e->number <= UINT16_MAX, err);
  return pai__port_lose(s, node, (uint32_t)e->number) < 0 ? pai__oom(err)
                                                          : PAI_OK;
}

static int on_regain(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  (void)e;
  (void)err;
  pai__ports_regain(s);
  return PAI_OK;
}

static int on_time(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  (void)s;
  (void)e;
  (void)err;
  return PAI_OK;
}

/* --- sending -------------------------------------------------------------- */

typedef int (*taker)(pai_sched *s, const pai_sched_event *e, pai_error **err);

static const taker takers[] = {
  [PAI_SCHED_SUBMIT] = on_submit,
  [PAI_SCHED_CHANGE] = pai__on_change,
  [PAI_SCHED_CANCEL] = on_cancel,
  [PAI_SCHED_STARTED] = on_started,
  [PAI_SCHED_FINISHED] = on_finished,
  [PAI_SCHED_RETURNED] = on_returned,
  [PAI_SCHED_RESIZED] = pai__on_resized,
  [PAI_SCHED_NODE] = pai__on_node,
  [PAI_SCHED_CLUSTER] = pai__on_cluster,
  [PAI_SCHED_RESERVE] = pai__on_reserve,
  [PAI_SCHED_UNRESERVE] = pai__on_unreserve,
  [PAI_SCHED_LOSE_PORT] = on_lose_port,
  [PAI_SCHED_REGAIN_PORTS] = on_regain,
  [PAI_SCHED_POLICY] = pai__on_policy,
  [PAI_SCHED_SHADOW] = pai__on_shadow,
  [PAI_SCHED_TIME] = on_time,
};

/* Puts the number of the event before the message of the error.  Keeps its
 * help. */
static int tell_number(const pai_sched *s, int rc, pai_error **err)
{
  pai_error *cause = err != NULL ? *err : NULL;
  const char *help;

  if (cause == NULL)
    return rc;
  rc = pai__fail_above(err, rc, "event %" PRIu64 ": %s", s->m.events + 1,
                       pai_error_message(cause));
  help = pai_error_help(pai_error_cause(*err));
  if (help != NULL)
    pai__error_help(err, "%s", help);
  return rc;
}

/* Returns the event, or a copy if it comes from another version or has to be
 * logged in another form; NULL if it is invalid. */
static const pai_sched_event *as_it_is(const pai_sched_event *event,
                                       pai_sched_event *copy)
{
  if (event->struct_size == sizeof(*copy) && event->table == NULL)
    return event;
  if (PAI__COPY_IN(copy, event, pai_sched_event, table) < 0)
    return NULL;
  if (copy->table != NULL &&
      (copy->kind == PAI_SCHED_POLICY || copy->kind == PAI_SCHED_SHADOW))
    copy->text = copy->table->name;
  return copy;
}

/* Returns whether an event may invalidate the reasons of classes.  It does not
 * if it only adds or removes a request, or frees resources. */
static bool changes_who_waits(int kind)
{
  return kind != PAI_SCHED_SUBMIT && kind != PAI_SCHED_STARTED &&
         kind != PAI_SCHED_FINISHED && kind != PAI_SCHED_CANCEL &&
         kind != PAI_SCHED_TIME;
}

int pai_sched_send(pai_sched *s, const pai_sched_event *event, pai_error **err)
{
  pai_sched_event copy;
  const pai_sched_event *e;
  int rc;

  PAI__CHECK_ARG_ERR(s != NULL && event != NULL, err);
  if (s->deciding)
    return pai__fail(err, PAI_EBUSY, "a policy cannot send events");
  e = as_it_is(event, &copy);
  if (e == NULL)
    return tell_number(
      s, pai__fail_struct(err, PAI_EINVAL, event, "pai_sched_event"), err);
  if (e->kind < 1 || (size_t)e->kind >= PAI__LEN(takers))
    return tell_number(
      s, pai__fail(err, PAI_EINVAL, "%d is no kind of event", e->kind), err);
  if (!pai__is_time(e->time))
    rc = pai__fail(err, PAI_EINVAL,
                   "its time is not from %" PRId64 " to %" PRId64 ": %" PRId64,
                   -PAI__LAST_TIME, PAI__LAST_TIME, e->time);
  else if (e->time < s->m.now && s->m.events != 0)
    rc = pai__fail(err, PAI_EINVAL,
                   "it is of %" PRId64 ", and the one before of %" PRId64,
                   e->time, s->m.now);
  else
    rc = pai__log_event(s, e, err);
  s->m.left_before = INT64_MIN;
  if (changes_who_waits(e->kind))
    pai__alike_settle(s);
  if (rc == PAI_OK)
    rc = takers[e->kind](s, e, err);
  if (rc < 0)
    return tell_number(s, rc, err);
  return pai__event_taken(s, e, err);
}
