/*
 * enter_env.c - environment of a command that enters a task; pure
 *
 * It has the task's variables, with those that its script sets.  A container's
 * engine runs outside and must not be affected by them: it passes them on as
 * one text, which a shell inside evaluates.
 */
#include "backend/local/enter_env.h"

#include "base/text/shell_word.h"

static bool is_set(const char *const *list, const char *var)
{
  size_t len = strcspn(var, "=");

  for (; list != NULL && *list != NULL; list++)
    if (strncmp(*list, var, len) == 0 && (*list)[len] == '=')
      return true;
  return false;
}

static void add_all(pai__backend_words *out, const char *const *list)
{
  for (; list != NULL && *list != NULL; list++)
    pai__words_add(out, *list);
}

static void add_as_text(pai__backend_words *out, const char *const *list)
{
  pai__buf text;

  pai__buf_init(&text, out->arena.alloc);
  for (; *list != NULL; list++) {
    size_t len = strcspn(*list, "=");

    pai__buf_printf(&text, "export %.*s=", (int)len, *list);
    pai__put_word(&text, *list + len + 1);
    pai__buf_char(&text, '\n');
  }
  pai__words_printf(out, PAI__ENTER_VARIABLE "=%s", pai__buf_text(&text));
  out->failed |= !pai__buf_ok(&text);
  pai__buf_dispose(&text);
}

bool pai__enter_has_env(const pai_launch_plan *plan)
{
  return plan->own_env != NULL && plan->own_env[0] != NULL;
}

void pai__enter_env(pai__backend_words *out, const char *const *env,
                    const pai_launch_plan *plan, bool container)
{
  for (; *env != NULL; env++)
    if (container ||
        (!is_set(plan->own_env, *env) && !is_set(plan->own_env_outside, *env)))
      pai__words_add(out, *env);
  if (!container) {
    add_all(out, plan->own_env);
    add_all(out, plan->own_env_outside);
  } else if (pai__enter_has_env(plan)) {
    add_as_text(out, plan->own_env);
  }
}
