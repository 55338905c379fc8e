/*
 * env_shared.c - the variables that all tasks of an attempt see alike
 *
 * Of every task there are some, so there are many; they are made once.  Names
 * and values are OpenPAI's own (job-spec 3.1 to 3.3).  Where the old runtime
 * spelt a role's name in lower case without its punctuation, both spellings
 * are given, unless that is what another role is called.
 */
#include "job/env.h"
#include "job/plan.h"

#include <stdlib.h>

/* --- spellings ----------------------------------------------------------- */

typedef struct spelling {
  const char *name;
  size_t role;
  bool is_old;
} spelling;

/* Of equal ones the first is given: a role's own name, else the old one of
 * the role that comes first in the file. */
static int compare(const void *a, const void *b)
{
  const spelling *x = a, *y = b;
  int order = strcmp(x->name, y->name);

  if (order == 0)
    order = x->is_old - y->is_old;
  if (order == 0)
    order = (x->role > y->role) - (x->role < y->role);
  return order;
}

/* The old runtime's spelling: lower case, letters and digits only. */
static void make_old(char *name)
{
  char *end = name;

  for (; *name != '\0'; name++) {
    char c = *name;
    if (c >= 'A' && c <= 'Z')
      c = (char)(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      *end++ = c;
  }
  *end = '\0';
}

/* The old spelling of each role's name, or NULL where none is given: it is the
 * name itself, it is empty, or another role would be mistaken for this one.
 * NULL when memory is short. */
static const char **old_spellings(pai__arena *arena, const pai_spec *spec)
{
  size_t n = 2 * spec->nroles;
  spelling *all = pai__arena_zalloc(arena, n, sizeof(*all));
  const char **given = pai__arena_zalloc(arena, spec->nroles, sizeof(*given));

  if (all == NULL || given == NULL)
    return NULL;
  for (size_t r = 0; r < spec->nroles; r++) {
    const char *name = spec->roles[r].name;
    char *old = pai__arena_strndup(arena, name, strlen(name));

    if (old == NULL)
      return NULL;
    make_old(old);
    all[2 * r] = (spelling){ name, r, false };
    all[2 * r + 1] = (spelling){ old, r, true };
  }
  qsort(all, n, sizeof(*all), compare); /* of thousands of roles, too */
  for (size_t i = 0; i < n; i++)
    if (all[i].is_old && *all[i].name != '\0' &&
        (i == 0 || strcmp(all[i].name, all[i - 1].name) != 0))
      given[all[i].role] = all[i].name;
  return given;
}

/* --- variables ----------------------------------------------------------- */

static void add_job(pai__env *env, const pai__plan_context *c)
{
  static const char *const lists[] = { "PAI_TASK_ROLE_LIST",
                                       "PAI_JOB_TASK_ROLE_LIST" };
  const pai_spec *spec = c->spec;

  pai__env_add(env, "PAI_JOB_NAME=%s~%s", c->user, spec->name);
  pai__env_add(env, "PAI_FRAMEWORK_NAME=%s~%s", c->user, spec->name);
  pai__env_add(env, "PAI_USER_NAME=%s", c->user);
  pai__env_add(env, "PAI_USERNAME=%s", c->user);
  pai__env_add(env, "PAI_DEFAULT_FS_URI=");
  pai__env_add(env, "PAI_VIRTUAL_CLUSTER=default");
  pai__env_add(env, "PAI_TASK_ROLE_COUNT=%zu", spec->nroles);
  pai__env_add(env, "PAI_TASK_ROLES_NUM=%zu", spec->nroles);
  pai__env_add(env, "PAI_JOB_TASK_ROLE_COUNT=%zu", spec->nroles);
  pai__env_add(env, "PAI_TASKS_NUM=%zu", spec->ntasks);
  pai__env_add(env, "PAI_JOB_TASK_COUNT=%zu", spec->ntasks);
  for (size_t i = 0; i < PAI__LEN(lists); i++) {
    pai__buf_printf(&env->line, "%s=", lists[i]);
    for (size_t r = 0; r < spec->nroles; r++)
      pai__buf_printf(&env->line, "%s%s", r == 0 ? "" : ",",
                      spec->roles[r].name);
    pai__env_push(env);
  }
}

static void add_role(pai__env *env, const pai__role *role)
{
  const char *name = role->name;

  pai__env_add(env, "PAI_TASK_ROLE_TASK_COUNT_%s=%u", name, role->instances);
  pai__env_add(env, "PAI_RESOURCE_%s=%u,%u,%u,%u", name, role->gpus,
               role->cpus, role->memory_mb, role->shm_mb);
  pai__env_add(env, "PAI_MIN_FAILED_TASK_COUNT_%s=%d", name, role->min_failed);
  pai__env_add(env, "PAI_MIN_SUCCEEDED_TASK_COUNT_%s=%d", name,
               role->min_succeeded);
}

/* Where one task is found, under one spelling of its role. */
static void add_peer(pai__env *env, const pai__plan_context *c, size_t task,
                     const char *name)
{
  const pai__role *role = &c->spec->roles[c->tasks[task].role];
  const uint32_t *ports = c->places[task].ports;
  uint32_t index = c->tasks[task].index;

  pai__env_add(env, "PAI_HOST_IP_%s_%u=%s", name, index, c->places[task].ip);
  for (size_t l = 0; l < role->nports; l++) {
    const pai__port *port = &role->ports[l];

    pai__buf_printf(&env->line, "PAI_PORT_LIST_%s_%u_%s=", name, index,
                    port->label);
    pai__env_ports(env, ports, port->count);
    pai__env_push(env);
    pai__buf_printf(&env->line, "PAI_%s_%u_%s_PORT=", name, index,
                    port->label);
    pai__env_ports(env, ports, port->count);
    pai__env_push(env);
    ports += port->count;
  }
}

/* All tasks of a role, from task `first` on, under one spelling of it. */
static void add_peers(pai__env *env, const pai__plan_context *c,
                      const pai__role *role, size_t first, const char *name)
{
  for (size_t t = first; t < first + role->instances; t++)
    add_peer(env, c, t, name);
  pai__buf_printf(&env->line, "PAI_TASK_ROLE_%s_HOST_LIST=", name);
  for (size_t t = first; t < first + role->instances; t++)
    pai__buf_printf(&env->line, "%s%s:%u", t == first ? "" : ",",
                    c->places[t].ip,
                    pai__env_first_port(role, "http", c->places[t].ports));
  pai__env_push(env);
}

static void add_instances(pai__env *env, const pai__plan_context *c)
{
  pai__buf_str(&env->line, "PAI_TASK_ROLE_INSTANCES=");
  for (size_t t = 0; t < c->spec->ntasks; t++)
    pai__buf_printf(&env->line, "%s%s:%u", t == 0 ? "" : ",",
                    c->spec->roles[c->tasks[t].role].name, c->tasks[t].index);
  pai__env_push(env);
}

int pai__plan_share(pai__plan_shared *out, pai__arena *arena,
                    const pai__plan_context *c)
{
  const char **old = old_spellings(arena, c->spec);
  size_t first = 0;
  pai__env env;

  *out = (pai__plan_shared){ 0 };
  if (old == NULL)
    return PAI_ENOMEM;
  pai__env_init(&env, arena);
  add_job(&env, c);
  for (size_t r = 0; r < c->spec->nroles; r++) {
    const pai__role *role = &c->spec->roles[r];

    add_role(&env, role);
    add_peers(&env, c, role, first, role->name);
    if (old[r] != NULL)
      add_peers(&env, c, role, first, old[r]);
    first += role->instances;
  }
  add_instances(&env, c);
  out->count = env.len;
  out->vars = pai__env_finish(&env, NULL, 0);
  return out->vars != NULL ? PAI_OK : PAI_ENOMEM;
}
