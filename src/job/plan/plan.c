/* plan.c - launch plan of a task: its variables, script and folder */
#include "job/plan/plan.h"

#include "job/plan/env.h"
#include "job/plan/names.h"
#include "job/plan/plugin.h"
#include "resource/machine.h"

enum { USUAL_SHM = 512 }; /* MiB */

/* --- runtime ------------------------------------------------------------- */

static const char *const runtimes[] = { "auto", "process", "bwrap", "podman",
                                        "docker" };

int pai__plan_runtime_named(const char *name)
{
  for (size_t i = 0; i < PAI__LEN(runtimes); i++)
    if (strcmp(runtimes[i], name) == 0)
      return (int)i;
  return -1;
}

const char *pai__plan_runtime_name(int runtime)
{
  return runtimes[runtime];
}

int pai__plan_runtime_of(const pai_spec *spec)
{
  pai__node n = pai__spec_own(spec->tree, "runtime");

  return n != PAI__NO_NODE && pai__tree_type(spec->tree, n) == PAI__STRING
           ? pai__plan_runtime_named(pai__tree_str(spec->tree, n, NULL))
           : -1;
}

/* --- variables ----------------------------------------------------------- */

static void add_self(pai__env *env, const pai__plan_context *c, uint32_t task)
{
  const pai__role *role = &c->spec->roles[c->tasks[task].role];
  const uint32_t *ports = c->places[task].ports;
  uint32_t http = pai__env_first_port(role, "http", ports);

  pai__env_add(env, "PAI_CURRENT_CONTAINER_IP=%s", c->places[task].ip);
  pai__env_add(env, "PAI_CONTAINER_HOST_IP=%s", c->places[task].ip);
  pai__env_add(env, "PAI_CURRENT_CONTAINER_PORT=%u", http);
  pai__env_add(env, "PAI_CONTAINER_HOST_PORT=%u", http);
  pai__env_add(env, "PAI_CONTAINER_SSH_PORT=%u",
               pai__env_first_port(role, "ssh", ports));
}

/* Adds an identifier of the task as "NAME=UID"; if `instance` is given, also
 * "INSTANCE=number_UID". */
static void add_uid(pai__env *env, const pai__uid_of *of, const char *name,
                    const char *instance)
{
  char uid[PAI__UID];

  pai__env_add(env, "%s=%s", name, pai__uid(uid, env->arena->alloc, of));
  env->failed |= *uid == '\0';
  if (instance != NULL)
    pai__env_add(env, "%s=%u_%s", instance, of->retry, uid);
}

/* Adds FrameworkController's variables of the task (job-spec 5.8). */
static void add_framework(pai__env *env, const pai__plan_context *c,
                          uint32_t task)
{
  const pai__task *t = &c->tasks[task];
  const char *role = c->spec->roles[t->role].name;
  pai__uid_of of = { .job = c->uid, .role = role, .kind = PAI__UID_ROLE };
  pai__buf job;

  pai__buf_str(&env->line, "FC_TASKROLE_NAME=");
  pai__name_role(&env->line, role);
  pai__env_push(env);
  pai__buf_init(&job, env->arena->alloc);
  pai__buf_printf(&job, "%s~%s", c->user, pai__plan_name(c));
  pai__buf_str(&env->line, "FC_POD_NAME=");
  pai__name_encode(&env->line, pai__buf_text(&job));
  pai__buf_char(&env->line, '-');
  pai__name_role(&env->line, role);
  pai__buf_printf(&env->line, "-%u", t->index);
  pai__env_push(env);
  env->failed |= !pai__buf_ok(&job);
  pai__buf_dispose(&job);
  add_uid(env, &of, "FC_TASKROLE_UID", NULL);
  of.kind = PAI__UID_TASK;
  of.attempt = c->attempt;
  of.index = t->index;
  add_uid(env, &of, "FC_TASK_UID", NULL);
  of.kind = PAI__UID_POD;
  of.retry = t->retries;
  pai__env_add(env, "FC_TASK_ATTEMPT_ID=%u", t->retries);
  add_uid(env, &of, "FC_POD_UID", "FC_TASK_ATTEMPT_INSTANCE_UID");
}

/* Adds what the job file says of the task and its role. */
static void add_known(pai__env *env, const pai__plan_context *c, uint32_t task)
{
  const pai__task *t = &c->tasks[task];
  pai__variable_of of = { .spec = c->spec,
                          .role = &c->spec->roles[t->role],
                          .role_tasks = pai__plan_role_tasks(c, t->role),
                          .index = t->index };

  for (const pai__platform_variable *v = pai__platform_variables;
       v->name != NULL; v++)
    if (v->put != NULL && v->task && (!v->v1 || c->spec->was_v1))
      pai__env_known(env, v, &of);
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

/* A task sees only the GPUs it was given. */
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

const char *pai__plan_uid(pai__arena *arena, const pai__plan_context *c)
{
  return c->uid != NULL ? c->uid
                        : format(arena, "%s~%s", c->user, pai__plan_name(c));
}

/*
 * Makes the script.  One shell runs all commands; the first that fails ends
 * the task.  If something must run after them, they get a shell of their own,
 * so that it runs however they end; the outer shell waits for them when the
 * task is asked to end.
 */
static const char *make_script(pai__arena *arena, const char *command,
                               const char *dir, const char *job_dir,
                               const pai__plan_role *role)
{
  const char *text = NULL;
  bool pieces = *role->before != '\0' || *role->after != '\0';
  pai__buf b;

  pai__buf_init(&b, arena->alloc);
  pai__buf_str(&b, "set -o errexit -o nounset -o pipefail\n"
                   "export PAI_WORK_DIR=\"$PWD\"\n");
  if (pieces) {
    pai__buf_str(&b, "pai__dir=");
    pai__put_word(&b, dir);
    pai__buf_str(&b, " pai__job=");
    pai__put_word(&b, job_dir);
    pai__buf_printf(&b, "\n%s", role->before);
  }
  if (*role->after == '\0') {
    pai__buf_printf(&b, "%s%s\n", pieces ? "unset pai__dir pai__job\n" : "",
                    command);
  } else {
    pai__buf_str(&b, "trap : TERM INT HUP\n(\nunset pai__dir pai__job\neval ");
    pai__put_word(&b, command);
    pai__buf_printf(&b, "\n)\ntrap - TERM INT HUP\n%s", role->after);
  }
  if (pai__buf_ok(&b))
    text = pai__arena_strndup(arena, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
  return text;
}

/* Names the task's folder: a new one for each start. */
static const char *make_dir(pai__arena *arena, const char *job_dir,
                            const char *role, const pai__task *t)
{
  if (t->retries == 0)
    return format(arena, "%s/%s-%u", job_dir, role, t->index);
  return format(arena, "%s/%s-%u.%u", job_dir, role, t->index, t->retries);
}

static const char *const *make_env(pai__arena *arena,
                                   const pai__plan_context *c,
                                   const pai__plan_shared *shared,
                                   uint32_t task, const char *dir)
{
  pai__env env;

  pai__env_init(&env, arena);
  add_framework(&env, c, task);
  add_self(&env, c, task);
  add_known(&env, c, task);
  if (c->spec->was_v1)
    pai__env_add(&env, "PAI_CONTAINER_ID=%s_%u_%s_%u", c->uid, c->attempt,
                 c->spec->roles[c->tasks[task].role].name,
                 c->tasks[task].index);
  add_own_ports(&env, &c->spec->roles[c->tasks[task].role],
                c->places[task].ports);
  add_gpus(&env, c->places[task].gpus);
  pai__env_add(&env, "RUNTIME_LOG_PIPE=%s/runtime", dir);
  return pai__env_finish(&env, shared->vars, shared->count);
}

int pai__plan_make(pai_launch_plan *out, pai__arena *arena,
                   const pai__plan_context *context,
                   const pai__plan_shared *shared, uint32_t task)
{
  pai__plan_context c = *context;
  const pai__task *t = &c.tasks[task];
  const pai__role *role = &c.spec->roles[t->role];
  const pai__plan_role *alike = &shared->roles[t->role];
  const char *job_dir = format(arena, "%s/%u", c.job_dir, c.attempt);
  const char *command = format(arena, "%s%s", shared->exports, role->command);
  const char *dir = c.task_dir;

  if (dir == NULL && job_dir != NULL)
    dir = make_dir(arena, job_dir, role->name, t);
  c.uid = pai__plan_uid(arena, context);
  if (dir == NULL || c.uid == NULL || command == NULL)
    return PAI_ENOMEM;
  *out = (pai_launch_plan){
    .struct_size = sizeof(*out),
    .dir = dir,
    .workdir = c.workdir,
    .script = make_script(arena, command, dir, job_dir, alike),
    .env = make_env(arena, &c, shared, task, dir),
    .own_env = shared->own,
    .own_env_outside = shared->own_outside,
    .gpus = c.places[task].gpus,
    .cpus = role->cpus,
    .milli_cpus = role->cpu_millis,
    .memory = (uint64_t)role->memory_mb << 20,
    .shm = (uint64_t)(role->shm_mb > 0 ? role->shm_mb : USUAL_SHM) << 20,
    .runtime = c.runtime,
    /* Tasks of one job refer to each other by pid. */
    .flags = (c.spec->ntasks > 1 ? PAI_LAUNCH_SHARE_PIDS : 0) |
             pai__input_flags(c.spec),
    .image = alike->image,
    .mounts = alike->mounts,
    .nmounts = alike->nmounts,
    .folders = alike->folders,
    .job_dir = c.job_dir
  };
  return out->script != NULL && out->env != NULL ? PAI_OK : PAI_ENOMEM;
}
