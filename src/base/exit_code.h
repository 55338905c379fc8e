/* exit_code.h - the exit code that people are told */
#ifndef PAI_SRC_BASE_EXIT_CODE_H
#define PAI_SRC_BASE_EXIT_CODE_H

enum {
  PAI__CODE_UNRECOGNIZED = 255
}; /* the command failed; why is not known */

/* Where the completion code says only that the command failed, the command's
 * own exit code, if that is known (not 0). */
static inline int pai__told_code(int code, int user_code)
{
  return code == PAI__CODE_UNRECOGNIZED && user_code > 0 &&
             user_code < PAI__CODE_UNRECOGNIZED
           ? user_code
           : code;
}

#endif
