/*
 * env_shared.c - environment variables that all tasks of an attempt share
 *
 * There are some for every task, so there are many, and they are made once.
 * Names and values are OpenPAI's own (job-spec 3.1 to 3.3).  The old runtime
 * spelt role names in lower case without punctuation: both spellings are set,
 * unless another role has that name.
 */
#include "job/plan/env.h"
#include "job/plan/names.h"
#include "job/plan/own_env.h"
#include "job/plan/plan.h"
#include "job/plan/plugin.h"

#include <stdlib.h>

/* --- spellings ----------------------------------------------------------- */

typedef struct spelling {
  const char *name;
  size_t role;
  bool is_old;
} spelling;

/* Of equal spellings one is set: a role's own name, else the old spelling of
 * the first role in the file. */
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

/* Makes the old spelling in the arena; NULL when out of memory. */
static char *make_old(pai__arena *arena, const char *name)
{
  char *old = NULL;
  pai__buf b;

  pai__buf_init(&b, arena->alloc);
  pai__name_role(&b, name);
  if (pai__buf_ok(&b))
    old = pai__arena_strndup(arena, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
  return old;
}

/* Makes the old spelling of each role's name.  An entry is NULL where none is
 * set: it equals the name, is empty, or means another role.  Returns NULL when
 * out of memory. */
static const char **old_spellings(pai__arena *arena, const pai_spec *spec)
{
  size_t n = 2 * spec->nroles;
  spelling *all = pai__arena_zalloc(arena, n, sizeof(*all));
  const char **given = pai__arena_zalloc(arena, spec->nroles, sizeof(*given));

  if (all == NULL || given == NULL)
    return NULL;
  for (size_t r = 0; r < spec->nroles; r++) {
    const char *name = spec->roles[r].name;
    char *old = make_old(arena, name);

    if (old == NULL)
      return NULL;
    all[2 * r] = (spelling){ name, r, false };
    all[2 * r + 1] = (spelling){ old, r, true };
  }
  qsort(all, n, sizeof(*all), compare); /* there may be thousands of roles */
  for (size_t i = 0; i < n; i++)
    if (all[i].is_old && *all[i].name != '\0' &&
        (i == 0 || strcmp(all[i].name, all[i - 1].name) != 0))
      given[all[i].role] = all[i].name;
  return given;
}

/* --- tasks --------------------------------------------------------------- */

/* Task numbers, sorted by role. */
typedef struct peers {
  uint32_t *tasks;
  uint32_t count;
  uint32_t *first; /* for each role, and one after the last */
} peers;

/* Rescaling may leave the tasks in any order. */
static int find_peers(peers *out, pai__arena *arena,
                      const pai__plan_context *c)
{
  uint32_t n = pai__plan_ntasks(c);
  size_t nroles = c->spec->nroles;

  out->tasks = pai__arena_zalloc(arena, n > 0 ? n : 1, sizeof(*out->tasks));
  out->first = pai__arena_zalloc(arena, nroles + 2, sizeof(*out->first));
  if (out->tasks == NULL || out->first == NULL)
    return PAI_ENOMEM;
  for (uint32_t t = 0; t < n; t++)
    if (pai__plan_has(c, t))
      out->first[c->tasks[t].role + 2]++;
  for (size_t r = 1; r <= nroles; r++)
    out->first[r + 1] += out->first[r];
  for (uint32_t t = 0; t < n; t++)
    if (pai__plan_has(c, t))
      out->tasks[out->first[c->tasks[t].role + 1]++] = t;
  out->count = out->first[nroles];
  return PAI_OK;
}

/* --- variables ----------------------------------------------------------- */

static void add_job(pai__env *env, const pai__plan_context *c)
{
  pai__env_add(env, "PAI_JOB_NAME=%s~%s", c->user, pai__plan_name(c));
  pai__env_add(env, "PAI_FRAMEWORK_NAME=%s~%s", c->user, pai__plan_name(c));
  pai__env_add(env, "PAI_USER_NAME=%s", c->user);
  pai__env_add(env, "PAI_USERNAME=%s", c->user);
  pai__env_add(env, "PAI_VIRTUAL_CLUSTER=%s",
               c->vc != NULL ? c->vc : "default");
}

/* Adds what the job file says of the job and its roles. */
static void add_known(pai__env *env, const pai__plan_context *c,
                      uint32_t tasks)
{
  for (const pai__platform_variable *v = pai__platform_variables;
       v->name != NULL; v++) {
    pai__variable_of of = { .spec = c->spec, .tasks = tasks };

    if (v->put == NULL || v->task)
      continue;
    if (!pai__variable_has(v, PAI__VARIABLE_ROLE)) {
      pai__env_known(env, v, &of);
      continue;
    }
    for (size_t r = 0; r < c->spec->nroles; r++) {
      of.role = &c->spec->roles[r];
      of.role_tasks = pai__plan_role_tasks(c, r);
      pai__env_known(env, v, &of);
    }
  }
}

/* Adds the address of a task, under one spelling of its role. */
static void add_peer(pai__env *env, const pai__plan_context *c, size_t task,
                     const char *name)
{
  const pai__role *role = &c->spec->roles[c->tasks[task].role];
  const uint32_t *ports = c->places[task].ports;
  uint32_t index = c->tasks[task].index;

  pai__env_add(env, "PAI_HOST_IP_%s_%u=%s", name, index, c->places[task].ip);
  for (size_t l = 0; ports != NULL && l < role->nports; l++) {
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

static uint32_t http_port(const pai__plan_context *c, uint32_t task)
{
  const pai__role *role = &c->spec->roles[c->tasks[task].role];
  const uint32_t *ports = c->places[task].ports;

  return ports != NULL ? pai__env_first_port(role, "http", ports) : 0;
}

/* Adds all tasks of a role, under one spelling. */
static void add_peers(pai__env *env, const pai__plan_context *c,
                      const peers *all, size_t role, const char *name)
{
  uint32_t first = all->first[role], end = all->first[role + 1];

  for (uint32_t i = first; i < end; i++)
    add_peer(env, c, all->tasks[i], name);
  pai__buf_printf(&env->line, "PAI_TASK_ROLE_%s_HOST_LIST=", name);
  for (uint32_t i = first; i < end; i++)
    pai__buf_printf(&env->line, "%s%s:%u", i == first ? "" : ",",
                    c->places[all->tasks[i]].ip, http_port(c, all->tasks[i]));
  pai__env_push(env);
}

static void add_instances(pai__env *env, const pai__plan_context *c,
                          const peers *all)
{
  pai__buf_str(&env->line, "PAI_TASK_ROLE_INSTANCES=");
  for (uint32_t i = 0; i < all->count; i++) {
    const pai__task *t = &c->tasks[all->tasks[i]];

    pai__buf_printf(&env->line, "%s%s:%u", i == 0 ? "" : ",",
                    c->spec->roles[t->role].name, t->index);
  }
  pai__env_push(env);
}

/* Appends FrameworkController's name of the job's objects. */
static void put_framework(pai__buf *out, const pai__plan_context *c)
{
  pai__buf job;

  pai__buf_init(&job, out->alloc);
  pai__buf_printf(&job, "%s~%s", c->user, pai__plan_name(c));
  if (pai__buf_ok(&job))
    pai__name_encode(out, pai__buf_text(&job));
  else
    out->failed = true;
  pai__buf_dispose(&job);
}

/* Adds FrameworkController's variables of the job and its attempt (job-spec
 * 5.8). */
static void add_framework(pai__env *env, const pai__plan_context *c)
{
  const pai_alloc *alloc = env->arena->alloc;
  pai__uid_of framework = { .job = c->uid, .kind = PAI__UID_FRAMEWORK };
  pai__uid_of attempt = { .job = c->uid,
                          .kind = PAI__UID_ATTEMPT,
                          .attempt = c->attempt };
  char uid[PAI__UID];

  pai__buf_str(&env->line, "FC_FRAMEWORK_NAME=");
  put_framework(&env->line, c);
  pai__env_push(env);
  pai__buf_str(&env->line, "FC_CONFIGMAP_NAME=");
  put_framework(&env->line, c);
  pai__buf_str(&env->line, "-attempt");
  pai__env_push(env);
  pai__env_add(env, "FC_FRAMEWORK_UID=%s", pai__uid(uid, alloc, &framework));
  env->failed |= *uid == '\0';
  pai__env_add(env, "FC_FRAMEWORK_ATTEMPT_ID=%u", c->attempt);
  pai__env_add(env, "FC_CONFIGMAP_UID=%s", pai__uid(uid, alloc, &attempt));
  env->failed |= *uid == '\0';
  pai__env_add(env, "FC_FRAMEWORK_ATTEMPT_INSTANCE_UID=%u_%s", c->attempt,
               uid);
}

/* Adds the old launcher's variables (job-spec 3.4). */
static void add_v1(pai__env *env, const pai__plan_context *c)
{
  pai__env_add(env, "APP_ID=%s", c->uid);
  pai__env_add(env, "FRAMEWORK_NAME=%s~%s", c->user, pai__plan_name(c));
  pai__env_add(env, "HADOOP_USER_NAME=%s", c->user);
  /* If the job file names folders, its script sets these. */
  pai__env_add(env, "PAI_DATA_DIR=");
  pai__env_add(env, "PAI_CODE_DIR=");
  pai__env_add(env, "PAI_OUTPUT_DIR=%s/output", c->job_dir);
}

/* Makes what a role's tasks share, except variables. */
static int share_roles(pai__plan_shared *out, pai__arena *arena,
                       const pai__plan_context *c)
{
  const pai_launch_mount *mounts;
  const char *const *folders;
  pai__plan_role *roles =
    pai__arena_zalloc(arena, c->spec->nroles, sizeof(*roles));
  size_t nmounts;
  int rc;

  if (roles == NULL || pai__storages_mount(&mounts, &nmounts, arena, c) < 0 ||
      pai__storages_folders(&folders, arena, c->spec) < 0)
    return PAI_ENOMEM;
  for (uint32_t r = 0; r < c->spec->nroles; r++) {
    roles[r].image = pai__plugin_image(c->spec, r);
    roles[r].mounts = mounts;
    roles[r].nmounts = nmounts;
    roles[r].folders = folders;
    rc = pai__plugin_scripts(&roles[r], arena, c, r);
    if (rc < 0)
      return rc;
  }
  out->roles = roles;
  return PAI_OK;
}

static int share_vars(pai__plan_shared *out, pai__arena *arena,
                      const pai__plan_context *c)
{
  const char **old = old_spellings(arena, c->spec);
  peers all;
  pai__env env;

  if (old == NULL || find_peers(&all, arena, c) < 0)
    return PAI_ENOMEM;
  pai__env_init(&env, arena);
  add_framework(&env, c);
  if (c->spec->was_v1)
    add_v1(&env, c);
  add_job(&env, c);
  add_known(&env, c, all.count);
  for (size_t r = 0; r < c->spec->nroles; r++) {
    add_peers(&env, c, &all, r, c->spec->roles[r].name);
    if (old[r] != NULL)
      add_peers(&env, c, &all, r, old[r]);
  }
  add_instances(&env, c, &all);
  out->count = env.len;
  out->vars = pai__env_finish(&env, NULL, 0);
  return out->vars != NULL ? PAI_OK : PAI_ENOMEM;
}

int pai__plan_share(pai__plan_shared *out, pai__arena *arena,
                    const pai__plan_context *context)
{
  pai__plan_context c = *context;
  int rc;

  *out = (pai__plan_shared){ 0 };
  c.uid = pai__plan_uid(arena, context);
  if (c.uid == NULL)
    return PAI_ENOMEM;
  rc = share_vars(out, arena, &c);
  if (rc == PAI_OK)
    rc = pai__plan_own_env(out, arena, c.spec);
  return rc == PAI_OK ? share_roles(out, arena, &c) : rc;
}
