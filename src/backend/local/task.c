/*
 * task.c - a task as seen by the process that waits for it
 *
 * The result is what the supervisor wrote; its own exit only triggers reading
 * it.  So it does not matter whose child it is, or how often the platform was
 * restarted.
 */
#include "backend/local/local.h"

#include "backend/local/posix_files.h"
#include "backend/local/posix_launch.h"

#include "base/os/posix_errno.h"

#include <signal.h>
#include <stdio.h>

enum { TAIL = 65536, LATER_MS = 100 };

static void look_later(local_task *t);

/* --- memory -------------------------------------------------------------- */

static void free_memory(local_task *t)
{
  const pai_alloc *alloc = &t->owner->alloc;

  pai__strfree(alloc, t->dir);
  pai__strfree(alloc, t->own);
  pai__free(alloc, t->who, sizeof(*t->who));
  pai__strfree(alloc, t->about);
  pai__strfree(alloc, t->above);
  pai__free(alloc, t, sizeof(*t));
}

void pai__local_task_handle_closed(local_task *t)
{
  local *l = t->owner;

  if (--t->handles > 0)
    return;
  free_memory(t);
  l->unfreed--;
  pai__local_task_freed(l);
}

static void on_closed(uv_handle_t *handle)
{
  pai__local_task_handle_closed(handle->data);
}

static void close_watch(local_watch *w)
{
  if (w->process.fd < 0)
    return;
  uv_close((uv_handle_t *)&w->poll, on_closed);
  pai__process_forget(&w->process);
}

void pai__local_task_close(local_task *t)
{
  t->closing = true;
  pai__space_give_back(&t->owner->runtimes, &t->owner->alloc, t->space);
  t->space = NULL;
  (void)pai__map_remove(&t->owner->tasks, &t->id, sizeof(t->id));
  pai__local_follow_end(t);
  for (int i = 0; i < LOCAL_WATCHES; i++)
    close_watch(&t->watches[i]);
  if (t->waiting)
    uv_close((uv_handle_t *)&t->later, on_closed);
  uv_close((uv_handle_t *)&t->step, on_closed);
}

/* Looks up the task's owner, if that is another user. */
static int find_owner(local_task *t, pai_error **err)
{
  const pai_backend_host *host = &t->owner->host;
  const char *name =
    host->owner != NULL ? host->owner(host->user_data, t->id) : NULL;
  int rc;

  if (name == NULL)
    return PAI_OK;
  t->who = pai__zalloc(&t->owner->alloc, sizeof(*t->who));
  if (t->who == NULL)
    return pai__oom(err);
  rc = pai__user_by_name(t->who, name, err);
  if (rc < 0)
    return rc;
  if (t->who->uid == 0) { /* the same as this process */
    pai__free(&t->owner->alloc, t->who, sizeof(*t->who));
    t->who = NULL;
  } else if (!pai__user_is_root()) {
    return pai__fail(err, PAI_EPERM,
                     "only root may run the tasks of another user, %s", name);
  }
  return PAI_OK;
}

/* Sets its folder, and the folder that no task can write to, if there is a
 * root. */
static int set_dirs(local_task *t, const char *dir, pai_error **err)
{
  const pai_alloc *alloc = &t->owner->alloc;
  char own[PAI__OWN_PATH];
  bool has = pai__own_dir(own, t->owner->host.root, dir);

  t->dir = pai__strdup(alloc, dir);
  t->own = has ? pai__strdup(alloc, own) : NULL;
  return t->dir == NULL || (has && t->own == NULL) ? pai__oom(err) : PAI_OK;
}

int pai__local_task_new(local_task **out, local *l, uint64_t id,
                        const char *dir, pai_error **err)
{
  local_task *t = pai__zalloc(&l->alloc, sizeof(*t));
  int rc;

  *out = t;
  if (t == NULL)
    return pai__oom(err);
  t->owner = l;
  t->id = id;
  rc = set_dirs(t, dir, err);
  if (rc == PAI_OK)
    rc = find_owner(t, err);
  if (rc == PAI_OK && pai__map_set(&l->tasks, &id, sizeof(id), t) < 0)
    rc = pai__oom(err);
  if (rc < 0) {
    free_memory(t);
    return rc;
  }
  for (int i = 0; i < LOCAL_WATCHES; i++)
    t->watches[i].process.fd = -1;
  pai__local_follow_init(t);
  (void)uv_idle_init(pai__loop_uv(l->host.loop), &t->step); /* cannot fail */
  t->step.data = t;
  t->handles = 1;
  l->unfreed++;
  return PAI_OK;
}

/* Uses only the user's rights in the task's folder. */
int pai__local_task_status(pai__status *out, const local_task *t,
                           pai_error **err)
{
  int rc = PAI_EPERM;

  if (t->own != NULL)
    return pai__files_status(out, t->own, false, err);
  if (pai__as_user(t->who)) {
    rc = pai__files_status(out, t->dir, pai__local_hides(t->owner), err);
    pai__as_self(t->who);
  }
  return rc;
}

/* --- the end ------------------------------------------------------------- */

static void tell_lost(pai_task_end *end, const pai__status *s,
                      const char *boot)
{
  end->how = PAI_END_LOST;
  end->code = PAI_CODE_LOST;
  if (s->kind == PAI__STATUS_NEVER)
    end->text = "the task never started";
  else if (s->kind == PAI__STATUS_RUNS && strcmp(s->boot, boot) != 0)
    end->text = "the machine was restarted while the task ran";
  else
    end->text = "its supervisor was killed, and the task with it";
}

/* There is no status: the supervisor's exit code says why. */
static void tell_no_status(pai_task_end *end, const local_task *t, char *text,
                           size_t size)
{
  end->how =
    pai__errno_is_shortage(t->exit_code) ? PAI_END_SHORT : PAI_END_FAILED;
  end->code = 126;
  end->text = text;
  if (t->exit_code > 0)
    (void)snprintf(text, size, "its supervisor could not start: %s",
                   uv_strerror(-t->exit_code));
  else
    (void)snprintf(text, size, "its supervisor could not start");
}

static void fill_end(pai_task_end *end, const pai__status *s, const char *boot)
{
  end->started = s->started;
  end->ended = s->ended;
  end->max_rss = (uint64_t)s->max_rss * 1024;
  end->user_time = s->user_time;
  end->system_time = s->system_time;
  end->oom = s->oom;
  end->code = s->number;
  switch (s->kind) {
  case PAI__STATUS_EXIT: end->how = PAI_END_EXIT; break;
  case PAI__STATUS_SIGNAL:
    end->how = PAI_END_SIGNAL;
    end->signal = s->number;
    end->code = 128 + s->number;
    break;
  case PAI__STATUS_FAILED:
    end->how =
      pai__errno_is_shortage(s->error) ? PAI_END_SHORT : PAI_END_FAILED;
    end->text = "the task could not be started";
    break;
  case PAI__STATUS_EMPTY:
  case PAI__STATUS_NEVER:
  case PAI__STATUS_RUNS: tell_lost(end, s, boot); break;
  }
  if (s->oom == 1)
    end->text = "the task used more memory than it requested";
  else if (s->oom == 2)
    end->text = "killed; out of memory?";
}

/* Takes the cause of a failed start from the last line of the log
 * `runtime`. */
static void tell_last_line(pai_task_end *end, char *text, size_t size)
{
  size_t len = end->runtime_len;
  const char *line = end->runtime;

  while (len > 0 && line[len - 1] == '\n')
    len--;
  for (size_t i = len; i > 0; i--)
    if (line[i - 1] == '\n') {
      line += i;
      len -= i;
      break;
    }
  if (len == 0)
    return;
  (void)snprintf(text, size, "%.*s", (int)(len < size ? len : size - 1), line);
  end->text = text;
}

/* Reads the result; if this process lacks resources for that, it tries again
 * later, so that no result is lost. */
static bool find_end(pai_task_end *end, pai__status *status,
                     const local_task *t, char *text, size_t size)
{
  pai_error *err = NULL;
  bool lacks;
  int rc = pai__local_task_status(status, t, &err);

  lacks = rc < 0 && pai_error_retriable(err);
  pai_error_free(err);
  if (lacks)
    return false;
  if (rc < 0)
    tell_no_status(end, t, text, size);
  else
    fill_end(end, status, t->owner->boot);
  return true;
}

/* Removes what a supervisor could not remove.  The status stays until the next
 * start: if the platform is killed before, it finds there that nothing ran. */
static void clear(local_task *t, const pai_task_end *end, bool no_status)
{
  local *l = t->owner;

  if (end->how == PAI_END_LOST || end->how == PAI_END_SHORT || no_status ||
      t->who != NULL) /* the supervisor lacked the rights */
    pai__groups_end(&l->groups, t->dir, &l->alloc);
  pai__groups_leave(t->above);
}

static void report(local_task *t)
{
  local *l = t->owner;
  size_t most = l->host.tail != 0 ? l->host.tail : TAIL;
  pai_task_end end = { .struct_size = sizeof(end), .text = "" };
  pai__buf log, runtime;
  pai__status status = { .kind = PAI__STATUS_EMPTY };
  bool no_links = pai__local_hides(l);
  char text[512];

  if (!find_end(&end, &status, t, text, sizeof(text))) {
    look_later(t);
    return;
  }
  pai__buf_init(&log, &l->alloc);
  pai__buf_init(&runtime, &l->alloc);
  end.stopped = t->stopped;
  clear(t, &end, status.kind == PAI__STATUS_EMPTY);
  if (end.how == PAI_END_LOST)
    pai__container_forget(&l->runtimes, t->dir);
  end.output_lost = status.cut;
  if (status.cut) /* output missing in a log could not be passed on either */
    pai__log_line(&l->log, PAI_LOG_WARNING,
                  "output is missing in a log of %s (is the disk full?)",
                  t->dir);
  if (pai__as_user(t->who)) {
    pai__files_tail(&runtime, t->dir, "runtime", most, no_links);
    if (end.code != 0)
      pai__files_tail(&log, t->dir, "all", most, no_links);
    pai__as_self(t->who);
  }
  end.log = pai__buf_text(&log);
  end.log_len = log.len;
  end.runtime = pai__buf_text(&runtime);
  end.runtime_len = runtime.len;
  if (status.kind == PAI__STATUS_FAILED)
    tell_last_line(&end, text, sizeof(text));
  pai__local_task_close(t); /* before the owner's callback; t is freed later */
  l->host.ended(l->host.user_data, t->id, &end);
  pai__buf_dispose(&log);
  pai__buf_dispose(&runtime);
}

static void on_step(uv_idle_t *idle)
{
  local_task *t = idle->data;
  bool more = pai__local_follow_more(t);

  if (t->closing || more)
    return;
  (void)uv_idle_stop(idle);
  if (t->over && t->lacking)
    look_later(t);
  else if (t->over)
    report(t);
}

void pai__local_task_wake(local_task *t)
{
  (void)uv_idle_start(&t->step, on_step);
}

/* --- waiting ------------------------------------------------------------- */

/* The supervisor has ended: so has the task, unless its keeper still runs. */
static void supervisor_ended(local_task *t)
{
  int rc = pai__local_task_watch_keeper(t);

  if (rc > 0)
    return;
  t->over = rc == 0;
  if (t->over)
    pai__local_task_wake(t);
  else
    look_later(t);
}

static void on_later(uv_timer_t *timer)
{
  local_task *t = timer->data;

  if (t->over)
    pai__local_task_wake(t);
  else
    supervisor_ended(t);
}

static void look_later(local_task *t)
{
  if (!t->waiting) {
    (void)uv_timer_init(pai__loop_uv(t->owner->host.loop), &t->later);
    t->later.data = t;
    t->handles++;
    t->waiting = true;
  }
  (void)uv_timer_start(&t->later, on_later, LATER_MS, 0);
}

static void on_ended(uv_poll_t *poll, int status, int events)
{
  local_task *t = poll->data;
  bool supervisor = poll == &t->watches[LOCAL_SUPERVISOR].poll;
  local_watch *w = &t->watches[supervisor ? LOCAL_SUPERVISOR : LOCAL_KEEPER];

  (void)events;
  if (status == 0 && !pai__process_has_ended(&w->process))
    return;
  close_watch(w);
  if (supervisor && t->child != 0)
    t->exit_code = pai__local_reap(t->child);
  t->child = 0;
  if (supervisor) {
    supervisor_ended(t);
    return;
  }
  t->over = true;
  pai__local_task_wake(t);
}

int pai__local_task_watch(local_task *t, int which, pai__process *process)
{
  local_watch *w = &t->watches[which];
  int rc;

  rc = uv_poll_init(pai__loop_uv(t->owner->host.loop), &w->poll, process->fd);
  if (rc < 0) {
    pai__process_forget(process);
    return rc;
  }
  t->handles++;
  w->process = *process;
  w->poll.data = t;
  rc = uv_poll_start(&w->poll, UV_READABLE, on_ended);
  if (rc < 0)
    close_watch(w);
  return rc;
}

/* The supervisor leads its own session, whose number identifies the keeper. */
int pai__local_task_watch_keeper(local_task *t)
{
  pai_error *err = NULL;
  pai__process process;
  pai__status s;
  int64_t session;
  int is_of;
  int found = pai__local_task_status(&s, t, &err);
  int rc = found < 0 && pai_error_retriable(err) ? -1 : 0;

  pai_error_free(err);
  if (found < 0 || s.kind != PAI__STATUS_RUNS || s.keeper <= 0 ||
      strcmp(s.boot, t->owner->boot) != 0)
    return rc;
  found = pai__process_watch(&process, s.keeper);
  if (found <= 0)
    return found;
  session = pai__local_session(s.keeper);
  is_of = pai__local_is_of(s.keeper, t->who);
  if (session != s.pid || is_of != 1) {
    pai__process_forget(&process);
    return session < 0 || is_of < 0 ? -1 : 0;
  }
  return pai__local_task_watch(t, LOCAL_KEEPER, &process) == 0 ? 1 : -1;
}

static void forget_start(const local_task *t)
{
  if (!pai__as_user(t->who))
    return;
  pai__files_forget_start(t->dir);
  if (t->own == NULL)
    pai__files_forget_status(t->dir);
  pai__as_self(t->who);
  if (t->own != NULL)
    pai__files_forget_status(t->own);
}

/* The supervisor cannot be watched: kills it and undoes the start, so that it
 * can be repeated in the same folder. */
static void take_back(local_task *t, int pid)
{
  pai__status s = { .kind = PAI__STATUS_EMPTY };

  pai__local_kill(pid);
  if (pai__local_task_status(&s, t, NULL) == PAI_OK && s.keeper > 0)
    pai__local_await_gone(s.keeper);
  pai__groups_end(&t->owner->groups, t->dir, &t->owner->alloc);
  forget_start(t);
}

/* The previous start failed from a shortage, and may be repeated. */
static void forget_short(const local_task *t)
{
  pai__status s;

  if (pai__local_task_status(&s, t, NULL) == PAI_OK &&
      s.kind == PAI__STATUS_FAILED && pai__errno_is_shortage(s.error))
    forget_start(t);
}

/* Where the host ignores SIGCHLD, the kernel reaps children: a supervisor that
 * has ended before it can be watched is gone. */
static int watch_supervisor(local_task *t, pai_error **err)
{
  pai__process process;
  int rc = pai__process_watch(&process, t->child);

  if (rc < 0)
    return pai__local_watch_errno(err);
  if (rc == 0) {
    t->child = 0;
    supervisor_ended(t);
    return PAI_OK;
  }
  rc = pai__local_task_watch(t, LOCAL_SUPERVISOR, &process);
  return rc < 0
           ? pai__uv_fail(err, rc, "cannot watch the supervisor of a task")
           : PAI_OK;
}

int pai__local_task_start(local *l, uint64_t id, const pai_launch_plan *plan,
                          pai_error **err)
{
  local_task *t;
  int pid, spare, rc;

  if (pai__map_get(&l->tasks, &id, sizeof(id)) != NULL)
    return pai__fail(err, PAI_EEXISTS, "task %llu is already running",
                     (unsigned long long)id);
  rc = pai__local_task_new(&t, l, id, plan->dir, err);
  if (rc < 0)
    return rc;
  forget_short(t);
  spare = pai__local_spare(); /* for the watch; reserved before anything
                                 runs */
  pid =
    spare < 0 ? pai__local_watch_errno(err) : pai__local_launch(t, plan, err);
  pai__files_close(spare);
  if (pid < 0) {
    pai__local_task_close(t);
    return pid;
  }
  t->child = pid;
  rc = watch_supervisor(t, err);
  if (rc < 0) {
    take_back(t, pid);
    pai__local_task_close(t);
  }
  return rc;
}

/* --- stop ---------------------------------------------------------------- */

void pai__local_task_stop(local_task *t, int how)
{
  const pai__process *process = &t->watches[LOCAL_SUPERVISOR].process;

  if (how != PAI_STOP_ASK && how != PAI_STOP_NOW)
    return;
  t->stopped = true;
  if (process->fd >= 0)
    pai__process_signal(process, how == PAI_STOP_NOW ? SIGUSR1 : SIGTERM);
}
