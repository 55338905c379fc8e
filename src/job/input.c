/* input.c - whether a job's tasks keep their standard input open */
#include "job/plan.h"

/* extras.openpai.NAME: 0 or 1; -1: it is neither true nor false. */
static int wish(const pai_spec *spec, const char *name)
{
  const pai__tree *t = spec->tree;
  pai__node n = PAI__NO_NODE;

  if (t != NULL)
    n = pai__tree_get(t, 0, "extras");
  if (n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__MAPPING)
    n = pai__tree_get(t, n, "openpai");
  else
    n = PAI__NO_NODE;
  if (n != PAI__NO_NODE && pai__tree_type(t, n) == PAI__MAPPING)
    n = pai__tree_get(t, n, name);
  else
    n = PAI__NO_NODE;
  if (n == PAI__NO_NODE || pai__tree_type(t, n) == PAI__NULL)
    return 0;
  return pai__tree_type(t, n) == PAI__BOOL ? pai__tree_bool(t, n) : -1;
}

uint32_t pai__input_flags(const pai_spec *spec)
{
  bool tty = wish(spec, "tty") > 0, input = wish(spec, "stdin") > 0;

  return (tty || input ? PAI_LAUNCH_INPUT : 0) | (tty ? PAI_LAUNCH_TTY : 0);
}

int pai__input_check(const pai_spec *spec, pai_error **err)
{
  static const char *const names[] = { "stdin", "tty" };

  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (wish(spec, names[i]) < 0) {
      (void)pai__fail(err, PAI_EINVAL, "extras.openpai.%s is true or false",
                      names[i]);
      pai__error_help(err, "stdin: true keeps the tasks' standard input open "
                           "for openpai attach; tty: true makes it a "
                           "terminal");
      return PAI_EINVAL;
    }
  return PAI_OK;
}
