/* plan.c - a task's own variables, its script and its folder */
#include "job/plan.h"

#include "job/env.h"
#include "resource/machine.h"

static void add_self(pai__env *env, const pai__plan_context *c, uint32_t task)
{
  const pai__role *role = &c->spec->roles[c->tasks[task].role];
  const uint32_t *ports = c->places[task].ports;
  uint32_t index = c->tasks[task].index;
  uint32_t http = pai__env_first_port(role, "http", ports);

  pai__env_add(env, "PAI_CURRENT_TASK_ROLE_NAME=%s", role->name);
  pai__env_add(env, "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX=%u", index);
  pai__env_add(env, "PAI_TASK_INDEX=%u", index);
  pai__env_add(env, "PAI_CURRENT_CONTAINER_IP=%s", c->places[task].ip);
  pai__env_add(env, "PAI_CONTAINER_HOST_IP=%s", c->places[task].ip);
  pai__env_add(env, "PAI_CURRENT_CONTAINER_PORT=%u", http);
  pai__env_add(env, "PAI_CONTAINER_HOST_PORT=%u", http);
  pai__env_add(env, "PAI_CONTAINER_SSH_PORT=%u",
               pai__env_first_port(role, "ssh", ports));
}

static void add_own_ports(pai__env *env, const pai__role *role,
                          const uint32_t *first)
{
  const uint32_t *ports = first;

  for (size_t l = 0; l < role->nports; l++) {
    pai__buf_printf(&env->line,
                    "PAI_CONTAINER_HOST_%s_PORT_LIST=", role->ports[l].label);
    pai__env_ports(env, ports, role->ports[l].count);
    pai__env_push(env);
    ports += role->ports[l].count;
  }
  ports = first;
  pai__buf_str(&env->line, "PAI_CONTAINER_HOST_PORT_LIST=");
  for (size_t l = 0; l < role->nports; l++) {
    pai__buf_printf(&env->line, "%s:", role->ports[l].label);
    pai__env_ports(env, ports, role->ports[l].count);
    pai__buf_char(&env->line, ';');
    ports += role->ports[l].count;
  }
  pai__env_push(env);
}

static void write_gpus(pai__env *env, uint64_t gpus)
{
  const char *comma = "";

  for (unsigned i = 0; i < PAI__MAX_GPUS; i++)
    if ((gpus >> i & 1) != 0) {
      pai__buf_printf(&env->line, "%s%u", comma, i);
      comma = ",";
    }
}

/* A task sees the GPUs it was given and no others. */
static void add_gpus(pai__env *env, uint64_t gpus)
{
  pai__buf_str(&env->line, "CUDA_VISIBLE_DEVICES=");
  write_gpus(env, gpus);
  pai__env_push(env);
  pai__buf_str(&env->line, "NVIDIA_VISIBLE_DEVICES=");
  if (gpus == 0)
    pai__buf_str(&env->line, "none");
  write_gpus(env, gpus);
  pai__env_push(env);
}

static const char *format(pai__arena *arena, const char *fmt, ...)
  PAI__PRINTF(2, 3);

static const char *format(pai__arena *arena, const char *fmt, ...)
{
  const char *text = NULL;
  pai__buf b;
  va_list ap;

  pai__buf_init(&b, arena->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&b, fmt, ap);
  va_end(ap);
  if (pai__buf_ok(&b))
    text = pai__arena_strndup(arena, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
  return text;
}

int pai__plan_make(pai__plan *out, pai__arena *arena,
                   const pai__plan_context *c, const pai__plan_shared *shared,
                   uint32_t task)
{
  const pai__role *role = &c->spec->roles[c->tasks[task].role];
  uint32_t index = c->tasks[task].index;
  pai__env env;

  pai__env_init(&env, arena);
  add_self(&env, c, task);
  add_own_ports(&env, role, c->places[task].ports);
  add_gpus(&env, c->places[task].gpus);
  *out = (pai__plan){
    .dir =
      format(arena, "%s/%u/%s-%u", c->job_dir, c->attempt, role->name, index),
    /* One shell for all commands; the first that fails ends the task. */
    .script = format(arena, "set -o errexit -o nounset -o pipefail\n%s\n",
                     role->command),
    .env = pai__env_finish(&env, shared->vars, shared->count),
  };
  return out->dir != NULL && out->script != NULL && out->env != NULL
           ? PAI_OK
           : PAI_ENOMEM;
}
