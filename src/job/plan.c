/*
 * plan.c - a task's environment and script
 *
 * Names and values are OpenPAI's own (job-spec 3.1 to 3.3).  Where the old
 * runtime spelt a role's name in lower case without its punctuation, both
 * spellings are given.
 */
#include "job/plan.h"

#include "base/buf.h"

typedef struct env_list {
  const pai_alloc *alloc; /* of the list while it grows */
  pai__arena *arena;      /* of the strings */
  const char **vars;
  size_t len, cap;
  bool failed;
} env_list;

static void add_text(env_list *env, const char *text, size_t len)
{
  char *copy = NULL;

  if (!env->failed &&
      PAI__VEC_ROOM(env->alloc, env->vars, env->len, env->cap) == PAI_OK)
    copy = pai__arena_strndup(env->arena, text, len);
  if (copy == NULL)
    env->failed = true;
  else
    env->vars[env->len++] = copy;
}

/* Adds "NAME=value", both from one format. */
static void add(env_list *env, const char *fmt, ...) PAI__PRINTF(2, 3);

static void add(env_list *env, const char *fmt, ...)
{
  pai__buf b;
  va_list ap;

  pai__buf_init(&b, env->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&b, fmt, ap);
  va_end(ap);
  if (pai__buf_ok(&b))
    add_text(env, pai__buf_text(&b), b.len);
  else
    env->failed = true;
  pai__buf_dispose(&b);
}

/* Adds "NAME=" and a list that was built in `value`, and empties it. */
static void add_list(env_list *env, const char *name, pai__buf *value)
{
  if (!pai__buf_ok(value))
    env->failed = true;
  else
    add(env, "%s=%s", name, pai__buf_text(value));
  pai__buf_clear(value);
}

/* The old runtime's spelling: lower case, letters and digits only. */
static void old_spelling(char *out, size_t size, const char *role)
{
  size_t n = 0;

  for (; *role != '\0' && n + 1 < size; role++) {
    char c = *role;
    if (c >= 'A' && c <= 'Z')
      c = (char)(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      out[n++] = c;
  }
  out[n] = '\0';
}

/* "p,p": the ports of label `l` of a task whose ports start at `first`. */
static void ports_of_label(pai__buf *b, const pai__role *role, size_t l,
                           const uint32_t *ports)
{
  for (size_t i = 0; i < l; i++)
    ports += role->ports[i].count;
  for (uint32_t i = 0; i < role->ports[l].count; i++)
    pai__buf_printf(b, "%s%u", i == 0 ? "" : ",", ports[i]);
}

/* The first port of a label, or 0. */
static uint32_t first_port(const pai__role *role, const char *label,
                           const uint32_t *ports)
{
  for (size_t l = 0; l < role->nports; l++) {
    if (strcmp(role->ports[l].label, label) == 0)
      return role->ports[l].count > 0 ? ports[0] : 0;
    ports += role->ports[l].count;
  }
  return 0;
}

static void add_job(env_list *env, const pai__plan_context *c)
{
  const pai_spec *spec = c->spec;
  pai__buf names;

  add(env, "PAI_JOB_NAME=%s~%s", c->user, spec->name);
  add(env, "PAI_FRAMEWORK_NAME=%s~%s", c->user, spec->name);
  add(env, "PAI_USER_NAME=%s", c->user);
  add(env, "PAI_USERNAME=%s", c->user);
  add(env, "PAI_DEFAULT_FS_URI=");
  add(env, "PAI_VIRTUAL_CLUSTER=default");
  add(env, "PAI_TASK_ROLE_COUNT=%zu", spec->nroles);
  add(env, "PAI_TASK_ROLES_NUM=%zu", spec->nroles);
  add(env, "PAI_JOB_TASK_ROLE_COUNT=%zu", spec->nroles);
  add(env, "PAI_TASKS_NUM=%zu", spec->ntasks);
  add(env, "PAI_JOB_TASK_COUNT=%zu", spec->ntasks);
  pai__buf_init(&names, env->alloc);
  for (size_t r = 0; r < spec->nroles; r++)
    pai__buf_printf(&names, "%s%s", r == 0 ? "" : ",", spec->roles[r].name);
  add(env, "PAI_JOB_TASK_ROLE_LIST=%s", pai__buf_text(&names));
  add_list(env, "PAI_TASK_ROLE_LIST", &names);
  pai__buf_dispose(&names);
}

static void add_role(env_list *env, const pai__role *role)
{
  int32_t succeeded = role->min_succeeded;

  add(env, "PAI_TASK_ROLE_TASK_COUNT_%s=%u", role->name, role->instances);
  add(env, "PAI_RESOURCE_%s=%u,%u,%u,%u", role->name, role->gpus, role->cpus,
      role->memory_mb, role->shm_mb);
  add(env, "PAI_MIN_FAILED_TASK_COUNT_%s=%d", role->name, role->min_failed);
  add(env, "PAI_MIN_SUCCEEDED_TASK_COUNT_%s=%d", role->name, succeeded);
}

/* Where one task of the job is found, under one spelling of its role. */
static void add_peer(env_list *env, const pai__plan_context *c, size_t task,
                     const char *name)
{
  const pai__role *role = &c->spec->roles[c->tasks[task].role];
  uint32_t index = c->tasks[task].index;
  pai__buf list;

  add(env, "PAI_HOST_IP_%s_%u=%s", name, index, c->nodes[task]->ip);
  pai__buf_init(&list, env->alloc);
  for (size_t l = 0; l < role->nports; l++) {
    const char *label = role->ports[l].label;
    ports_of_label(&list, role, l, c->slots[task].ports);
    if (!pai__buf_ok(&list))
      env->failed = true;
    add(env, "PAI_PORT_LIST_%s_%u_%s=%s", name, index, label,
        pai__buf_text(&list));
    add(env, "PAI_%s_%u_%s_PORT=%s", name, index, label, pai__buf_text(&list));
    pai__buf_clear(&list);
  }
  pai__buf_dispose(&list);
}

/* "ip:port" of all tasks of a role, under one spelling of its name. */
static void add_host_list(env_list *env, const pai__plan_context *c,
                          uint32_t role, const char *name)
{
  const pai__role *r = &c->spec->roles[role];
  bool first = true;
  pai__buf list;

  pai__buf_init(&list, env->alloc);
  for (size_t t = 0; t < c->spec->ntasks; t++) {
    if (c->tasks[t].role != role)
      continue;
    pai__buf_printf(&list, "%s%s:%u", first ? "" : ",", c->nodes[t]->ip,
                    first_port(r, "http", c->slots[t].ports));
    first = false;
  }
  if (!pai__buf_ok(&list))
    env->failed = true;
  add(env, "PAI_TASK_ROLE_%s_HOST_LIST=%s", name, pai__buf_text(&list));
  pai__buf_dispose(&list);
}

static void add_self(env_list *env, const pai__plan_context *c, uint32_t task)
{
  const pai__role *role = &c->spec->roles[c->tasks[task].role];
  const uint32_t *ports = c->slots[task].ports;
  uint32_t index = c->tasks[task].index;
  uint32_t http = first_port(role, "http", ports);
  pai__buf list, all;

  add(env, "PAI_CURRENT_TASK_ROLE_NAME=%s", role->name);
  add(env, "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX=%u", index);
  add(env, "PAI_TASK_INDEX=%u", index);
  add(env, "PAI_CURRENT_CONTAINER_IP=%s", c->nodes[task]->ip);
  add(env, "PAI_CONTAINER_HOST_IP=%s", c->nodes[task]->ip);
  add(env, "PAI_CURRENT_CONTAINER_PORT=%u", http);
  add(env, "PAI_CONTAINER_HOST_PORT=%u", http);
  add(env, "PAI_CONTAINER_SSH_PORT=%u", first_port(role, "ssh", ports));
  pai__buf_init(&list, env->alloc);
  pai__buf_init(&all, env->alloc);
  for (size_t l = 0; l < role->nports; l++) {
    ports_of_label(&list, role, l, ports);
    pai__buf_printf(&all, "%s:%s;", role->ports[l].label,
                    pai__buf_text(&list));
    add(env, "PAI_CONTAINER_HOST_%s_PORT_LIST=%s", role->ports[l].label,
        pai__buf_text(&list));
    if (!pai__buf_ok(&list))
      env->failed = true;
    pai__buf_clear(&list);
  }
  add_list(env, "PAI_CONTAINER_HOST_PORT_LIST", &all);
  pai__buf_dispose(&list);
  pai__buf_dispose(&all);
}

/* A task sees the GPUs it was given and no others. */
static void add_gpus(env_list *env, uint64_t gpus)
{
  pai__buf list;

  pai__buf_init(&list, env->alloc);
  for (unsigned i = 0; i < PAI__MAX_GPUS; i++)
    if ((gpus >> i & 1) != 0)
      pai__buf_printf(&list, "%s%u", list.len == 0 ? "" : ",", i);
  add(env, "NVIDIA_VISIBLE_DEVICES=%s",
      list.len == 0 ? "none" : pai__buf_text(&list));
  add_list(env, "CUDA_VISIBLE_DEVICES", &list);
  pai__buf_dispose(&list);
}

static void add_peers(env_list *env, const pai__plan_context *c)
{
  pai__buf instances;
  char old[256];

  pai__buf_init(&instances, env->alloc);
  for (size_t t = 0; t < c->spec->ntasks; t++) {
    const char *name = c->spec->roles[c->tasks[t].role].name;
    add_peer(env, c, t, name);
    old_spelling(old, sizeof(old), name);
    if (strcmp(old, name) != 0)
      add_peer(env, c, t, old);
    pai__buf_printf(&instances, "%s%s:%u", t == 0 ? "" : ",", name,
                    c->tasks[t].index);
  }
  for (uint32_t r = 0; r < c->spec->nroles; r++) {
    const char *name = c->spec->roles[r].name;
    add_host_list(env, c, r, name);
    old_spelling(old, sizeof(old), name);
    if (strcmp(old, name) != 0)
      add_host_list(env, c, r, old);
  }
  add_list(env, "PAI_TASK_ROLE_INSTANCES", &instances);
  pai__buf_dispose(&instances);
}

static const char *const *make_env(pai__arena *arena,
                                   const pai__plan_context *c, uint32_t task)
{
  env_list env = { .alloc = arena->alloc, .arena = arena };
  const char **vars;

  add_job(&env, c);
  for (size_t r = 0; r < c->spec->nroles; r++)
    add_role(&env, &c->spec->roles[r]);
  add_peers(&env, c);
  add_self(&env, c, task);
  add_gpus(&env, c->slots[task].gpus);
  vars =
    env.failed ? NULL : pai__arena_zalloc(arena, env.len + 1, sizeof(*vars));
  if (vars != NULL)
    memcpy(vars, env.vars, env.len * sizeof(*vars));
  pai__free(env.alloc, env.vars, env.cap * sizeof(*env.vars));
  return vars;
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
                   const pai__plan_context *c, uint32_t task)
{
  const pai__role *role = &c->spec->roles[c->tasks[task].role];
  uint32_t index = c->tasks[task].index;

  *out = (pai__plan){
    .dir =
      format(arena, "%s/%u/%s-%u", c->job_dir, c->attempt, role->name, index),
    /* One shell for all commands; the first that fails ends the task. */
    .script = format(arena, "set -o errexit -o nounset -o pipefail\n%s\n",
                     role->script),
    .env = make_env(arena, c, task),
  };
  return out->dir != NULL && out->script != NULL && out->env != NULL
           ? PAI_OK
           : PAI_ENOMEM;
}
