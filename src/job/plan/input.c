/* input.c - launch flags for a job's standard input (extras.openpai.stdin and
 * .tty) */
#include "job/plan/plan.h"

uint32_t pai__input_flags(const pai_spec *spec)
{
  bool tty = pai__spec_own_flag(spec->tree, "tty"),
       input = pai__spec_own_flag(spec->tree, "stdin");

  return (tty || input ? PAI_LAUNCH_INPUT : 0) | (tty ? PAI_LAUNCH_TTY : 0);
}
