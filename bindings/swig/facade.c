/* facade.c - a platform with its loop, and errors, for all bindings */
#include "facade.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* A signal may come just before poll(), or to another thread: so look for it
 * at least this often. */
enum { LOOK_MS = 250 };

typedef struct entry {
  pai_job_id id;
  bool over; /* and the listener was told */
} entry;

struct Platform {
  pai_loop *loop;
  pai_platform *platform; /* NULL: closed */
  listener *listener;     /* NULL: nobody is told any more */
  entry *jobs;
  size_t njobs, cap;
  bool failed;           /* the listener keeps an error */
  pai_job_id failed_job; /* its event was the reason; 0: none */
  bool interrupted;      /* in this step, by a signal */
  bool busy;             /* in a call that calls back, by `runner` */
  pthread_t runner;
};

/* --- errors and names --------------------------------------------------- */

static void fail(failure *f, int code, const char *text)
{
  f->code = code;
  f->text = text;
}

const char *facade_message(const failure *f)
{
  if (f->err != NULL)
    return pai_error_message(f->err);
  return f->text != NULL ? f->text : pai_code_name(f->code);
}

bool facade_cause(failure *cause, const failure *f)
{
  *cause = (failure){ .err = (pai_error *)pai_error_cause(f->err) };
  cause->code = pai_error_code(cause->err);
  return cause->err != NULL;
}

char *facade_describe(const failure *f)
{
  const char *help = pai_error_help(f->err);
  const char *message = facade_message(f);
  char where[64] = "";
  char *text;
  int len;

  if (pai_error_line(f->err) > 0)
    (void)snprintf(where, sizeof(where),
                   "line %u, column %u: ", (unsigned)pai_error_line(f->err),
                   (unsigned)pai_error_column(f->err));
  for (size_t size = 256;; size = (size_t)len + 1) {
    text = malloc(size);
    if (text == NULL)
      return NULL;
    len = snprintf(text, size, "%s%s%s%s", where, message,
                   help != NULL ? "\nhelp: " : "", help != NULL ? help : "");
    if (len >= 0 && (size_t)len < size)
      return text;
    free(text);
    if (len < 0)
      return NULL;
  }
}

const char *facade_event_type(const pai_event *event)
{
  switch (pai_event_type(event)) {
  case PAI_EVENT_JOB: return "job";
  case PAI_EVENT_TASK: return "task";
  case PAI_EVENT_OUTPUT: return "output";
  default: return "?"; /* of a newer library */
  }
}

const char *facade_event_stream(const pai_event *event)
{
  switch (pai_event_stream(event)) {
  case 1: return "stdout";
  case 2: return "stderr";
  default: return NULL;
  }
}

const char *facade_state_name(int state)
{
  return state > 0 ? pai_state_name(state) : NULL;
}

bool facade_is_final(int state)
{
  return state >= PAI_STATE_SUCCEEDED;
}

/* --- events ------------------------------------------------------------- */

static entry *find(const Platform *p, pai_job_id job)
{
  for (size_t i = 0; i < p->njobs; i++)
    if (p->jobs[i].id == job)
      return &p->jobs[i];
  return NULL;
}

static void tell(Platform *p, const pai_event *event)
{
  int rc = p->listener->on_event(p->listener, event);

  p->failed = rc != PAI_OK;
  if (rc == PAI_ECANCELED) {
    p->interrupted = true;
  } else if (rc != PAI_OK) {
    p->failed_job = pai_event_job(event);
    (void)!pai_platform_stop(p->platform, p->failed_job); /* may be over */
  }
}

static void on_event(void *user_data, const pai_event *event)
{
  Platform *p = user_data;
  entry *e;

  if (p->listener != NULL && p->listener->on_event != NULL && !p->failed)
    tell(p, event);
  e = find(p, pai_event_job(event)); /* after: the callback may submit */
  if (e != NULL && pai_event_type(event) == PAI_EVENT_JOB)
    e->over = facade_is_final(pai_event_state(event));
}

static void on_closed(void *user_data)
{
  Platform *p = user_data;

  p->platform = NULL;
}

/* A second request kills. */
static void kill_all(Platform *p)
{
  for (size_t i = 0; i < p->njobs; i++) {
    (void)!pai_platform_stop(p->platform, p->jobs[i].id);
    (void)!pai_platform_stop(p->platform, p->jobs[i].id);
  }
}

/* Waits once, and runs what is due.  PAI_EUSER: a signal's handler raised. */
static int step(Platform *p)
{
  struct pollfd fd = { .fd = pai_loop_fd(p->loop), .events = POLLIN };
  int timeout = pai_loop_timeout_ms(p->loop);
  int rc;

  p->interrupted = false;
  (void)poll(&fd, 1, timeout < 0 || timeout > LOOK_MS ? LOOK_MS : timeout);
  rc = pai_loop_dispatch(p->loop);
  if (rc < 0)
    return rc;
  if (p->listener != NULL && p->listener->check(p->listener) != 0)
    p->failed = p->interrupted = true;
  return p->interrupted ? PAI_EUSER : PAI_OK;
}

/* --- one thread at a time ----------------------------------------------- */

/* Is the platform there, and not used by another thread? */
static bool usable(const Platform *p, failure *f)
{
  if (p->busy && !pthread_equal(p->runner, pthread_self()))
    fail(f, PAI_EBUSY, "the platform is in use by another thread");
  else if (p->platform == NULL)
    fail(f, PAI_EINVAL, "the platform is closed");
  return f->code == PAI_OK;
}

static bool enter(Platform *p, failure *f)
{
  if (!usable(p, f))
    return false;
  if (p->busy) {
    fail(f, PAI_EBUSY, "called from inside a callback of the same platform");
    return false;
  }
  p->busy = true;
  p->runner = pthread_self();
  return true;
}

/* Hands a kept error to the interpreter. */
static void leave(Platform *p, failure *f)
{
  p->busy = false;
  if (!p->failed)
    return;
  p->failed = false;
  p->failed_job = 0;
  f->code = PAI_EUSER;
  p->listener->rethrow(p->listener);
}

/* --- life --------------------------------------------------------------- */

static void drop_listener(Platform *p)
{
  if (p->listener != NULL)
    p->listener->free(p->listener);
  p->listener = NULL;
}

Platform *facade_open(const char *root, listener *l, failure *f)
{
  pai_platform_options options = PAI_PLATFORM_OPTIONS_INIT;
  Platform *p = calloc(1, sizeof(*p));

  if (p == NULL) {
    l->free(l);
    fail(f, PAI_ENOMEM, "out of memory");
    return NULL;
  }
  p->listener = l;
  options.root = root;
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

/* A handler that raises in here means: hurry up. */
static void close_down(Platform *p)
{
  int rc = PAI_OK;

  pai_platform_close(p->platform, on_closed, p);
  while (p->platform != NULL && rc == PAI_OK) {
    rc = step(p);
    if (rc == PAI_EUSER) {
      kill_all(p);
      rc = PAI_OK;
    }
  }
}

void facade_close(Platform *p, failure *f)
{
  if (!p->busy && p->platform == NULL)
    return;
  if (!enter(p, f))
    return;
  close_down(p);
  leave(p, f);
  drop_listener(p); /* breaks a cycle from its function to the platform */
}

bool facade_is_closed(const Platform *p)
{
  return p->platform == NULL;
}

void facade_free(Platform *p)
{
  drop_listener(p);
  if (p->platform != NULL)
    close_down(p);
  pai_loop_free(p->loop);
  free(p->jobs);
  free(p);
}

/* --- jobs --------------------------------------------------------------- */

static bool make_room(Platform *p)
{
  size_t cap = p->cap > 0 ? 2 * p->cap : 8;
  entry *jobs;

  if (p->njobs < p->cap)
    return true;
  jobs = realloc(p->jobs, cap * sizeof(*jobs));
  if (jobs == NULL)
    return false;
  p->jobs = jobs;
  p->cap = cap;
  return true;
}

pai_job_id facade_submit(Platform *p, Job *job, failure *f)
{
  pai_job_id id = 0;

  if (!usable(p, f))
    return 0;
  if (!make_room(p)) {
    fail(f, PAI_ENOMEM, "out of memory");
    return 0;
  }
  f->code = pai_platform_submit(&id, p->platform, job, &f->err);
  if (f->code == PAI_OK)
    p->jobs[p->njobs++] = (entry){ id, false };
  return id;
}

void facade_stop(Platform *p, pai_job_id job, failure *f)
{
  if (usable(p, f) && pai_platform_stop(p->platform, job) < 0)
    fail(f, PAI_ENOTFOUND, "no such job, or it is over");
}

static bool known(const Platform *p, pai_job_id job, failure *f)
{
  if (usable(p, f) && find(p, job) == NULL)
    fail(f, PAI_ENOTFOUND, "no such job");
  return f->code == PAI_OK;
}

job_state facade_state(Platform *p, pai_job_id job, failure *f)
{
  job_state s = { 0, 0 };

  if (!known(p, job, f))
    return s;
  s.state = pai_platform_job_state(p->platform, job);
  s.code = pai_platform_job_code(p->platform, job);
  return s;
}

const char *facade_dir(Platform *p, pai_job_id job, failure *f)
{
  return known(p, job, f) ? pai_platform_job_dir(p->platform, job) : NULL;
}

/* --- waiting ------------------------------------------------------------ */

int facade_fd(Platform *p, failure *f)
{
  return usable(p, f) ? pai_loop_fd(p->loop) : -1;
}

int facade_timeout_ms(Platform *p, failure *f)
{
  return usable(p, f) ? pai_loop_timeout_ms(p->loop) : -1;
}

bool facade_dispatch(Platform *p, failure *f)
{
  int more;

  if (!enter(p, f))
    return false;
  more = pai_loop_dispatch(p->loop);
  if (more < 0)
    fail(f, more, NULL);
  leave(p, f);
  return more > 0;
}

/* Until `job` is over, or a signal handler has raised.  If the callback fails,
 * until the job is over whose event made it fail; a signal then kills it. */
static void wait_for(Platform *p, pai_job_id job, failure *f)
{
  while (f->code == PAI_OK && !find(p, job)->over) {
    f->code = step(p);
    if (p->failed_job == 0)
      continue;
    if (f->code == PAI_EUSER) {
      f->code = PAI_OK;
      (void)!pai_platform_stop(p->platform, p->failed_job);
    }
    job = p->failed_job;
  }
}

job_state facade_wait(Platform *p, pai_job_id job, failure *f)
{
  job_state s = { 0, 0 };

  if (!known(p, job, f) || !enter(p, f))
    return s;
  wait_for(p, job, f);
  leave(p, f);
  return f->code == PAI_OK ? facade_state(p, job, f) : s;
}

job_state facade_run(Job *job, const char *root, listener *l, failure *f)
{
  Platform *p = facade_open(root, l, f);
  job_state s = { 0, 0 };
  pai_job_id id;

  if (p == NULL)
    return s;
  id = facade_submit(p, job, f);
  if (f->code == PAI_OK && enter(p, f)) {
    wait_for(p, id, f);
    if (f->code == PAI_OK)
      s = facade_state(p, id, f);
    close_down(p); /* before an error is raised: the job ends first */
    leave(p, f);
  }
  facade_free(p);
  return s;
}
