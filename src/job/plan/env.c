/* env.c - a growing list of "NAME=value" */
#include "job/plan/env.h"

void pai__env_init(pai__env *env, pai__arena *arena)
{
  *env = (pai__env){ .arena = arena };
  pai__buf_init(&env->line, arena->alloc);
}

const char *const *pai__env_finish(pai__env *env, const char *const *first,
                                   size_t nfirst)
{
  const char **vars = NULL;

  if (!env->failed)
    vars = pai__arena_zalloc(env->arena, nfirst + env->len + 1, sizeof(*vars));
  if (vars != NULL) {
    for (size_t i = 0; i < nfirst; i++)
      vars[i] = first[i];
    for (size_t i = 0; i < env->len; i++)
      vars[nfirst + i] = env->vars[i];
  }
  pai__free(env->arena->alloc, env->vars, env->cap * sizeof(*env->vars));
  pai__buf_dispose(&env->line);
  return vars;
}

void pai__env_push(pai__env *env)
{
  const pai_alloc *alloc = env->arena->alloc;
  const pai__buf *line = &env->line;
  char *copy = NULL;

  if (pai__buf_ok(line) &&
      PAI__VEC_ROOM(alloc, env->vars, env->len, env->cap) == PAI_OK)
    copy = pai__arena_strndup(env->arena, pai__buf_text(line), line->len);
  if (copy != NULL)
    env->vars[env->len++] = copy;
  else
    env->failed = true;
  pai__buf_clear(&env->line);
}

void pai__env_add(pai__env *env, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  pai__buf_vprintf(&env->line, fmt, ap);
  va_end(ap);
  pai__env_push(env);
}

void pai__env_known(pai__env *env, const pai__platform_variable *v,
                    const pai__variable_of *of)
{
  const char *role = of->role != NULL ? of->role->name : "";

  pai__variable_put_name(&env->line, v, role, strlen(role), 0, NULL, 0);
  pai__buf_char(&env->line, '=');
  v->put(&env->line, of);
  pai__env_push(env);
}

void pai__env_ports(pai__env *env, const uint32_t *ports, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    pai__buf_printf(&env->line, "%s%u", i == 0 ? "" : ",", ports[i]);
}

uint32_t pai__env_first_port(const pai__role *role, const char *label,
                             const uint32_t *ports)
{
  for (size_t l = 0; l < role->nports; l++) {
    if (strcmp(role->ports[l].label, label) == 0)
      return role->ports[l].count > 0 ? ports[0] : 0;
    ports += role->ports[l].count;
  }
  return 0;
}
