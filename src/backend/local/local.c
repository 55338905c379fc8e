/* local.c - the back end that runs tasks on this machine */
#include "backend/local/local.h"

#include <signal.h>

static int local_open(void **state, const pai__backend_host *host,
                      pai_error **err)
{
  local *l = pai__zalloc(host->alloc, sizeof(*l));

  *state = l;
  if (l == NULL)
    return pai__oom(err);
  l->host = *host;
  pai__map_init(&l->tasks, host->alloc);
  return PAI_OK;
}

static int local_start(void *state, uint64_t task, const pai__plan *plan,
                       pai_error **err)
{
  return pai__local_task_start(state, task, plan, err);
}

static void local_stop(void *state, uint64_t task, bool now)
{
  local *l = state;
  local_task *t = pai__map_get(&l->tasks, &task, sizeof(task));

  if (t != NULL)
    pai__local_task_signal(t, now ? SIGKILL : SIGTERM);
}

static bool local_port_is_free(void *state, uint32_t port)
{
  (void)state;
  return pai__local_port_is_free(port);
}

void pai__local_task_freed(local *l)
{
  pai__backend_host host = l->host;
  void (*closed)(void *user_data) = l->closed;

  if (closed == NULL || l->unfreed > 0)
    return;
  pai__map_dispose(&l->tasks);
  pai__free(host.alloc, l, sizeof(*l));
  closed(host.user_data);
}

static void local_close(void *state, void (*closed)(void *user_data))
{
  local *l = state;
  const pai__map_entry *e;

  l->closed = closed;
  for (size_t i = 0; (e = pai__map_next(&l->tasks, &i)) != NULL;)
    pai__local_task_signal(e->value, SIGKILL);
  pai__local_task_freed(l);
}

const pai__backend_ops pai__backend_local = {
  .struct_size = sizeof(pai__backend_ops),
  .name = "local",
  .open = local_open,
  .start = local_start,
  .stop = local_stop,
  .port_is_free = local_port_is_free,
  .close = local_close,
};
