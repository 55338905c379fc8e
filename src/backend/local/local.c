/* local.c - the back end that runs tasks on this machine */
#include "backend/local/local.h"

#include "backend/local/posix_files.h"
#include "backend/local/posix_launch.h"

static void free_local(local *l)
{
  pai_alloc alloc = l->alloc;

  pai__work_close(l->look.work);
  pai__runtimes_dispose(&l->runtimes, &alloc);
  pai__groups_dispose(&l->groups, &alloc);
  pai__strfree(&alloc, l->program);
  pai__files_close(l->pinned);
  pai__strfree(&alloc, l->limits);
  pai__strfree(&alloc, l->pass_env);
  pai__map_dispose(&l->tasks);
  pai__free(&alloc, l, sizeof(*l));
}

static int tell_limits(local *l, pai_error **err)
{
  pai__buf b;

  pai__buf_init(&b, &l->alloc);
  pai__groups_tell(&l->groups, &b);
  l->limits = pai__buf_take(&b);
  return l->limits != NULL ? PAI_OK : pai__oom(err);
}

static int find_all(local *l, pai_error **err)
{
  const char *pass = pai__local_pass_env(l->host.pass_env);
  int rc = pai__local_boot(l->boot, sizeof(l->boot), err);

  if (rc < 0)
    return rc;
  l->pass_env = pass != NULL ? pai__strdup(&l->alloc, pass) : NULL;
  if (pass != NULL && l->pass_env == NULL)
    return pai__oom(err);
  rc = pai__local_find_program(&l->program, l->host.program, &l->alloc, err);
  if (rc < 0)
    return rc;
  l->pinned = pai__local_pin_program(&l->program, &l->alloc);
  if (pai__runtimes_find(&l->runtimes, l->program, &l->alloc) < 0 ||
      pai__groups_find_here(&l->groups, &l->alloc) < 0)
    return pai__oom(err);
  l->runtimes.others = l->host.owner != NULL && pai__user_is_root();
  return tell_limits(l, err);
}

static int local_open(void **state, void *data, const pai_backend_host *host,
                      pai_error **err)
{
  pai_backend_host h;
  local *l;
  int rc;

  (void)data;
  PAI__CLEAR_OUT(state, err);
  PAI__CHECK_ARG_ERR(host != NULL, err);
  rc = PAI__COPY_IN(&h, host, pai_backend_host, log);
  if (rc < 0)
    return pai__fail_struct(err, rc, host, "pai_backend_host");
  PAI__CHECK_ARG_ERR(h.loop != NULL, err);
  PAI__CHECK_ARG_ERR(h.output != NULL && h.ended != NULL, err);
  h.alloc = pai__alloc_or_libc(h.alloc);
  l = pai__zalloc(h.alloc, sizeof(*l));
  if (l == NULL)
    return pai__oom(err);
  l->host = h;
  l->pinned = -1;
  l->alloc = *h.alloc;
  l->log = (pai__log){ h.log, h.user_data, PAI_LOG_DEBUG };
  pai__map_init(&l->tasks, &l->alloc);
  rc = find_all(l, err);
  if (rc < 0) {
    free_local(l);
    return rc;
  }
  *state = l;
  return PAI_OK;
}

static local_task *find(local *l, uint64_t task)
{
  return pai__map_get(&l->tasks, &task, sizeof(task));
}

static int local_start(void *state, uint64_t task, const pai_launch_plan *plan,
                       pai_error **err)
{
  pai__clear_err(err);
  return pai__local_task_start(state, task, plan, err);
}

static int local_adopt(void *state, uint64_t task, const char *dir,
                       pai_error **err)
{
  pai__clear_err(err);
  return pai__local_task_adopt(state, task, dir, err);
}

static int local_follow(void *state, uint64_t task, int from, pai_error **err)
{
  local_task *t = find(state, task);

  pai__clear_err(err);
  if (t == NULL)
    return pai__fail(err, PAI_ENOTFOUND, "there is no task %llu",
                     (unsigned long long)task);
  if (t->who != NULL)
    return pai__fail(err, PAI_ENOTSUP,
                     "the output belongs to another user's task");
  return pai__local_follow(t, from, err);
}

static void local_stop(void *state, uint64_t task, int how)
{
  local_task *t = find(state, task);

  if (t != NULL)
    pai__local_task_stop(t, how);
}

static const char *local_task_runtime(void *state, uint64_t task)
{
  local_task *t = find(state, task);

  return t != NULL ? t->about : NULL;
}

static int local_enter(void *state, uint64_t task, int *fd, pai_error **err)
{
  local_task *t = find(state, task);

  *fd = -1;
  pai__clear_err(err);
  if (t == NULL)
    return pai__fail(err, PAI_ENOTFOUND, "there is no task %llu",
                     (unsigned long long)task);
  return pai__local_task_enter(t, fd, err);
}

static int local_processes(void *state, uint64_t task, int64_t *session,
                           char *cgroup, size_t size)
{
  local_task *t = find(state, task);

  return t != NULL ? pai__local_task_processes(t, session, cgroup, size)
                   : PAI_ENOTFOUND;
}

static int local_port_is_free(void *state, uint32_t port)
{
  (void)state;
  return pai__local_port_is_free(port);
}

static const char *local_limits(void *state)
{
  return ((local *)state)->limits;
}

static const char *local_runtime(void *state)
{
  const pai_launch_plan plan = { .runtime = PAI_RUNTIME_AUTO };
  pai__surroundings around = { .root = NULL };
  local *l = state;

  return pai__runtimes_probe(&l->runtimes, &l->alloc, &plan, &around) < 0
           ? "unknown: out of memory"
           : l->runtimes.said;
}

void pai__local_task_freed(local *l)
{
  void (*closed)(void *user_data) = l->closed;
  void *user_data = l->host.user_data;

  if (closed == NULL || l->unfreed > 0)
    return;
  free_local(l);
  closed(user_data);
}

static void local_close(void *state, int how, void (*closed)(void *user_data))
{
  local *l = state;
  const pai__map_entry *e;

  l->closed = closed;
  pai__local_look_end(l);
  for (size_t i = 0; (e = pai__map_next(&l->tasks, &i)) != NULL;)
    if (how == PAI_CLOSE_DETACH)
      pai__local_task_close(e->value);
    else
      pai__local_task_stop(e->value, PAI_STOP_NOW);
  pai__local_task_freed(l);
}

const pai_backend_ops pai__backend_local = {
  .struct_size = sizeof(pai_backend_ops),
  .version = PAI_BACKEND_VERSION,
  .name = "local",
  .about = "tasks are processes of this machine",
  .open = local_open,
  .start = local_start,
  .adopt = local_adopt,
  .follow = local_follow,
  .stop = local_stop,
  .port_is_free = local_port_is_free,
  .limits = local_limits,
  .runtime = local_runtime,
  .close = local_close,
  .task_runtime = local_task_runtime,
  .enter = local_enter,
  .processes = local_processes,
};

const pai_backend_ops *pai_backend_builtin(size_t i)
{
  return i == 0 ? &pai__backend_local : NULL;
}
