/* input.c - whether a job's tasks keep their standard input open */
#include "job/plan.h"

uint32_t pai__input_flags(const pai_spec *spec)
{
  bool tty = pai__spec_own_flag(spec->tree, "tty"),
       input = pai__spec_own_flag(spec->tree, "stdin");

  return (tty || input ? PAI_LAUNCH_INPUT : 0) | (tty ? PAI_LAUNCH_TTY : 0);
}
