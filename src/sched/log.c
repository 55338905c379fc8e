/* log.c - events as lines of JSON */
#include "sched/sched.h"

int pai__log_event(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  (void)s;
  (void)e;
  (void)err;
  return PAI_OK;
}

int pai__log_decide(pai_sched *s, pai_error **err)
{
  (void)s;
  (void)err;
  return PAI_OK;
}
