/* exit_code.h - chooses the exit code to show to people */
#ifndef PAI_SRC_BASE_EXIT_CODE_H
#define PAI_SRC_BASE_EXIT_CODE_H

enum {
  PAI__CODE_UNRECOGNIZED = 255
}; /* the command failed for an unknown reason */

/* Returns the command's own exit code, if known (not 0), where the completion
 * code only says that the command failed. */
static inline int pai__result_code(int code, int user_code)
{
  return code == PAI__CODE_UNRECOGNIZED && user_code > 0 &&
             user_code < PAI__CODE_UNRECOGNIZED
           ? user_code
           : code;
}

#endif
