/* own_env.c - variables that a job file sets for its commands */
#include "job/plan/own_env.h"

#include "base/text/shell_word.h"
#include "job/plan/env.h"

/* Makes the list of variables set everywhere, or of those not set in a
 * container. */
static const char *const *list(pai__arena *arena, const pai_spec *spec,
                               bool outside)
{
  pai__env env;

  pai__env_init(&env, arena);
  for (size_t i = 0; i < spec->nvariables; i++)
    if (spec->variables[i].outside == outside)
      pai__env_add(&env, "%s=%s", spec->variables[i].name,
                   spec->variables[i].value);
  return pai__env_finish(&env, NULL, 0);
}

static const char *write_exports(pai__arena *arena, const pai_spec *spec)
{
  const char *text = NULL;
  pai__buf b;

  pai__buf_init(&b, arena->alloc);
  for (size_t i = 0; i < spec->nvariables; i++) {
    if (spec->variables[i].outside)
      pai__buf_str(&b, "[ -n \"${OPENPAI_CONTAINER-}\" ] || ");
    pai__buf_printf(&b, "export %s=", spec->variables[i].name);
    pai__put_word(&b, spec->variables[i].value);
    pai__buf_char(&b, '\n');
  }
  if (pai__buf_ok(&b))
    text = pai__arena_strndup(arena, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
  return text;
}

int pai__plan_own_env(pai__plan_shared *out, pai__arena *arena,
                      const pai_spec *spec)
{
  out->own = list(arena, spec, false);
  out->own_outside = list(arena, spec, true);
  out->exports = write_exports(arena, spec);
  return out->own != NULL && out->own_outside != NULL && out->exports != NULL
           ? PAI_OK
           : PAI_ENOMEM;
}
