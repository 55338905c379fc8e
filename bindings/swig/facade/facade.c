/* facade.c - platforms: opening, jobs, waiting, closing */
#include "facade_platform.h"
#include "options.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Milliseconds between looks for signals: a signal may come just before
 * poll(), or to another thread. */
enum { LOOK_MS = 250 };

static const char forked[] =
  "this platform belongs to the parent process: it was made before fork()";

/* --- events ------------------------------------------------------------- */

static bool is_live(const Platform *p, pai_job_id job)
{
  for (size_t i = 0; i < p->nlive; i++)
    if (p->live[i] == job)
      return true;
  return false;
}

static void end_of(Platform *p, const pai_event *event)
{
  pai_job_id job = pai_event_job(event);

  if (job == p->waited)
    p->ended = (job_state){ pai_event_state(event), pai_event_code(event) };
  for (size_t i = 0; i < p->nlive; i++)
    if (p->live[i] == job) {
      p->live[i] = p->live[--p->nlive];
      return;
    }
}

/* Delivers an event. A failure other than of a signal stops the job. */
static int tell(Platform *p, const pai_event *event)
{
  int rc = p->listener->on_event(p->listener, event);

  p->failed = rc != PAI_OK;
  if (rc == PAI_ECANCELED) {
    p->interrupted = true;
    return PAI_OK;
  }
  if (rc != PAI_OK)
    p->failed_job = pai_event_job(event);
  return rc;
}

static int on_event(void *user_data, const pai_event *event)
{
  Platform *p = user_data;
  int rc = PAI_OK;

  if (p->listener != NULL && p->listener->on_event != NULL && !p->failed)
    rc = tell(p, event);
  if (pai_event_type(event) == PAI_EVENT_JOB &&
      facade_is_final(pai_event_state(event)))
    end_of(p, event);
  return rc;
}

static void on_closed(void *user_data)
{
  Platform *p = user_data;

  p->platform = NULL;
}

/* Asks all live jobs to stop; a second request kills them. A job that could
 * not be made durable does not exist, so its end is never delivered. */
static void stop_all(Platform *p)
{
  for (size_t i = p->nlive; i-- > 0;)
    if (pai_platform_stop(p->platform, p->live[i]) < 0 &&
        pai_platform_job_state(NULL, p->platform, p->live[i]) < 0)
      p->live[i] = p->live[--p->nlive];
}

int platform_step(Platform *p, int most_ms)
{
  struct pollfd fd = { .fd = pai_loop_fd(p->loop), .events = POLLIN };
  int timeout = pai_loop_timeout_ms(p->loop);
  int more;

  p->interrupted = false;
  if (most_ms < 0 || most_ms > LOOK_MS)
    most_ms = LOOK_MS;
  (void)poll(&fd, 1, timeout < 0 || timeout > most_ms ? most_ms : timeout);
  more = pai_loop_dispatch(p->loop);
  logs_forget(p);
  followers_forget(p);
  if (more >= 0 && p->listener != NULL && p->listener->check(p->listener) != 0)
    p->failed = p->interrupted = true;
  return p->interrupted ? PAI_EUSER : more;
}

/* --- one thread at a time ----------------------------------------------- */

bool platform_take(Platform *p, failure *f)
{
  while (pthread_mutex_trylock(&p->owner) != 0) {
    if (atomic_load(&p->held) != 0) {
      facade_fail(f, PAI_EBUSY, "the platform is in use by another thread");
      return false;
    }
    (void)sched_yield(); /* soon done: a command is cancelled */
  }
  atomic_fetch_add(&p->held, 1);
  if (p->platform != NULL)
    return true;
  facade_fail(f, PAI_EINVAL, "the platform is closed");
  platform_give(p);
  return false;
}

void platform_give(Platform *p)
{
  atomic_fetch_sub(&p->held, 1);
  (void)pthread_mutex_unlock(&p->owner);
}

bool platform_enter(Platform *p, failure *f)
{
  if (!platform_take(p, f))
    return false;
  if (p->waiting) {
    facade_fail(f, PAI_EBUSY,
                "called from inside a callback of the same platform");
    platform_give(p);
    return false;
  }
  p->waiting = true;
  return true;
}

void platform_leave(Platform *p, failure *f)
{
  p->waiting = false;
  if (p->failed) {
    p->failed = false;
    p->failed_job = 0;
    f->code = PAI_EUSER;
    p->listener->rethrow(p->listener);
  }
  platform_give(p);
}

/* --- life --------------------------------------------------------------- */

static void drop_listener(Platform *p)
{
  if (p->listener != NULL)
    p->listener->free(p->listener);
  p->listener = NULL;
}

static Platform *new_platform(void)
{
  Platform *p = calloc(1, sizeof(*p));
  pthread_mutexattr_t recursive;

  if (p == NULL || pthread_mutexattr_init(&recursive) != 0) {
    free(p);
    return NULL;
  }
  (void)pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  (void)pthread_mutex_init(&p->owner, &recursive);
  (void)pthread_mutexattr_destroy(&recursive);
  return p;
}

Platform *facade_open(const char *root, bool durable, const char *runtime,
                      const char *policy, listener *l, words limits,
                      failure *f)
{
  pai_platform_options options = PAI_PLATFORM_OPTIONS_INIT;
  Platform *p;

  if (!options_read(&options, options_platform, &limits, f)) {
    l->free(l);
    return NULL;
  }
  p = new_platform();
  if (p == NULL) {
    l->free(l);
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return NULL;
  }
  p->listener = l;
  p->durable = durable;
  options.root = root;
  options.durable = durable;
  options.runtime = runtime;
  options.policy = policy;
  options.on_event = on_event;
  options.user_data = p;
  f->code = pai_loop_new(&p->loop, NULL, &f->err);
  if (f->code == PAI_OK)
    f->code = pai_platform_new(&p->platform, p->loop, &options, &f->err);
  if (f->code < 0) {
    facade_free(p);
    return NULL;
  }
  return p;
}

static void close_platform(Platform *p, bool leave)
{
  int rc = PAI_OK;

  logs_close(p); /* these need an open platform */
  execs_close(&p->execs);
  if (leave)
    pai_platform_leave(p->platform, on_closed, p);
  else
    pai_platform_close(p->platform, on_closed, p);
  while (p->platform != NULL && (rc >= 0 || rc == PAI_EUSER))
    rc = platform_step(p, -1);
  if (rc == PAI_EBUSY)
    p->platform = NULL; /* a child of fork() must not close it */
}

/* Stops all jobs, and closes the platform when they are over. A signal
 * meanwhile makes the stop a kill. */
static void close_down(Platform *p)
{
  int rc = PAI_EUSER;

  p->closing = true;
  while (p->nlive > 0 && (rc > 0 || rc == PAI_EUSER)) {
    if (rc == PAI_EUSER)
      stop_all(p);
    rc = platform_step(p, -1);
  }
  close_platform(p, false);
}

void facade_close(Platform *p, bool leave, failure *f)
{
  if (facade_is_closed(p) || !platform_enter(p, f))
    return;
  if (leave)
    close_platform(p, true);
  else
    close_down(p);
  platform_leave(p, f);
  drop_listener(p); /* its function may refer to `p`: a cycle */
}

bool facade_is_closed(const Platform *p)
{
  return p->platform == NULL;
}

void facade_free(Platform *p)
{
  drop_listener(p);
  if (p->platform != NULL)
    close_platform(p, p->durable);
  followers_leave(p);
  pai_loop_free(p->loop);
  (void)pthread_mutex_destroy(&p->owner);
  free(p->live);
  free(p);
}

/* --- jobs --------------------------------------------------------------- */

bool platform_room(Platform *p)
{
  size_t cap = p->cap > 0 ? 2 * p->cap : 8;
  pai_job_id *live;

  if (p->nlive < p->cap)
    return true;
  live = realloc(p->live, cap * sizeof(*live));
  if (live == NULL)
    return false;
  p->live = live;
  p->cap = cap;
  return true;
}

void platform_expect(Platform *p, pai_job_id job)
{
  int state = pai_platform_job_state(NULL, p->platform, job);

  if (state > 0 && !facade_is_final(state) && !is_live(p, job))
    p->live[p->nlive++] = job;
}

/* A submit returns when its job would survive a crash. */
void platform_synced(void *user_data, int status, const pai_error *err)
{
  platform_promise *promise = user_data;

  promise->kept = true;
  if (status < 0)
    facade_keep(promise->f, status, err);
}

void platform_await(Platform *p, platform_promise *promise)
{
  int rc = 1;

  while (promise->f->code == PAI_OK && !promise->kept &&
         (rc > 0 || rc == PAI_EUSER))
    rc = platform_step(p, -1);
}

void platform_sync(Platform *p, failure *f)
{
  platform_promise promise = { f, false };

  f->code = pai_platform_sync(p->platform, platform_synced, &promise);
  platform_await(p, &promise);
}

static pai_job_id submit(Platform *p, Job *job, const words *fields,
                         failure *f)
{
  pai_submit_options options = PAI_SUBMIT_OPTIONS_INIT;
  pai_job_id id = 0;

  if (!options_read(&options, options_submit, fields, f))
    return 0;
  if (p->closing)
    facade_fail(f, PAI_EBUSY, "the platform is closing");
  else if (!platform_room(p))
    facade_fail(f, PAI_ENOMEM, "out of memory");
  else
    f->code = pai_platform_submit_as(&id, p->platform, job, &options, &f->err);
  if (f->code == PAI_OK)
    platform_expect(p, id);
  return id;
}

pai_job_id facade_submit(Platform *p, Job *job, words fields, failure *f)
{
  pai_job_id id = 0;
  bool waits; /* a callback cannot wait */

  if (!platform_take(p, f))
    return 0;
  waits = p->durable && !p->waiting;
  p->waiting = p->waiting || waits;
  id = submit(p, job, &fields, f);
  if (waits && f->code == PAI_OK)
    platform_sync(p, f);
  if (waits)
    platform_leave(p, f);
  else
    platform_give(p);
  return f->code == PAI_OK ? id : 0;
}

pai_job_id facade_submit_soon(Platform *p, Job *job, words fields, failure *f)
{
  pai_job_id id;

  if (!platform_take(p, f))
    return 0;
  id = submit(p, job, &fields, f);
  platform_give(p);
  return f->code == PAI_OK ? id : 0;
}

void facade_stop(Platform *p, pai_job_id job, failure *f)
{
  if (!platform_take(p, f))
    return;
  switch (pai_platform_stop(p->platform, job)) {
  case PAI_OK: break;
  case PAI_EBUSY: facade_fail(f, PAI_EBUSY, forked); break;
  default: facade_fail(f, PAI_ENOTFOUND, "no such job, or it is over"); break;
  }
  platform_give(p);
}

void facade_forget(Platform *p, pai_job_id job, failure *f)
{
  if (!platform_take(p, f))
    return;
  f->code = pai_platform_forget(p->platform, job);
  if (f->code < 0)
    facade_fail(f, f->code,
                f->code == PAI_EBUSY ? "the job is not over" : "no such job");
  platform_give(p);
}

static job_state state_of(const Platform *p, pai_job_id job)
{
  job_state s = { 0, 0 };

  s.state = pai_platform_job_state(&s.code, p->platform, job);
  return s;
}

static bool knows(const Platform *p, pai_job_id job, failure *f)
{
  if (state_of(p, job).state < 0)
    facade_fail(f, PAI_ENOTFOUND, "no such job");
  return f->code == PAI_OK;
}

job_state facade_state(Platform *p, pai_job_id job, failure *f)
{
  job_state s = { 0, 0 };

  if (!platform_take(p, f))
    return s;
  if (knows(p, job, f))
    s = state_of(p, job);
  platform_give(p);
  return s;
}

char *facade_dir(Platform *p, pai_job_id job, failure *f)
{
  char *dir = NULL;

  if (!platform_take(p, f))
    return NULL;
  if (knows(p, job, f)) {
    dir = strdup(pai_platform_job_dir(p->platform, job));
    if (dir == NULL)
      facade_fail(f, PAI_ENOMEM, "out of memory");
  }
  platform_give(p);
  return dir;
}

/* --- waiting ------------------------------------------------------------ */

bool facade_dispatch(Platform *p, failure *f)
{
  int more;

  if (!platform_enter(p, f))
    return false;
  more = pai_loop_dispatch(p->loop);
  if (more < 0)
    facade_fail(f, more, NULL);
  platform_leave(p, f);
  return more > 0;
}

bool facade_step(Platform *p, int most_ms, failure *f)
{
  int rc;

  if (!platform_enter(p, f))
    return false;
  rc = platform_step(p, most_ms);
  if (rc < 0 && rc != PAI_EUSER)
    facade_fail(f, rc, NULL);
  platform_leave(p, f);
  return rc > 0;
}

/* Waits until `job` is over, or until a signal handler raises an error. If the
 * callback fails, waits for the job whose event it failed on; then a signal
 * kills that job. */
static job_state wait_for(Platform *p, pai_job_id job, failure *f)
{
  int rc = 1;

  p->waited = job;
  p->ended = state_of(p, job);
  while (is_live(p, job) && rc > 0) {
    rc = platform_step(p, -1);
    if (p->failed_job == 0)
      continue;
    job = p->failed_job;
    if (rc == PAI_EUSER) {
      (void)pai_platform_stop(p->platform, job);
      rc = 1;
    }
  }
  if (rc == PAI_EUSER)
    f->code = rc;
  else if (is_live(p, job) && rc == PAI_EBUSY)
    facade_fail(f, PAI_EBUSY, forked);
  else if (is_live(p, job))
    facade_fail(f, PAI_EINTERNAL,
                "the job is not over, and nothing is left to do");
  return p->ended;
}

job_state facade_wait(Platform *p, pai_job_id job, failure *f)
{
  job_state s = { 0, 0 };

  if (!platform_enter(p, f))
    return s;
  if (knows(p, job, f))
    s = wait_for(p, job, f);
  platform_leave(p, f);
  return s;
}

job_state facade_run(Job *job, const char *root, listener *l, failure *f)
{
  Platform *p = facade_open(root, false, NULL, NULL, l, (words){ "", 0 }, f);
  job_state s = { 0, 0 };
  pai_job_id id;

  if (p == NULL)
    return s;
  id = facade_submit(p, job, (words){ "", 0 }, f);
  if (f->code == PAI_OK && platform_enter(p, f)) {
    s = wait_for(p, id, f);
    close_down(p); /* the job has to end before an error is raised */
    platform_leave(p, f);
  }
  facade_free(p);
  return s;
}
