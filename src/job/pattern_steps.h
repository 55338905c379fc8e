/* pattern_steps.h - internal to patterns: what their steps are */
#ifndef PAI_SRC_JOB_PATTERN_STEPS_H
#define PAI_SRC_JOB_PATTERN_STEPS_H

#include "job/pattern.h"

enum {
  PAI__STEP_BYTE,  /* takes this byte */
  PAI__STEP_ANY,   /* any character of the line */
  PAI__STEP_SET,   /* a byte of a set */
  PAI__STEP_MARK,  /* takes nothing: a group begins or ends here */
  PAI__STEP_START, /* takes nothing, at the start */
  PAI__STEP_END,   /* or at the end */
  PAI__STEP_GO,    /* on at `to` */
  PAI__STEP_SPLIT, /* on at the next, or else at `to` */
  PAI__STEP_AGAIN, /* on at `to`, or else at the next */
  PAI__STEP_DONE
};

static inline uint8_t pai__pattern_fold(const pai__pattern *p, char c)
{
  return (uint8_t)(p->folds && c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

#endif
