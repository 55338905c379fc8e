/* missing.h - internal: names that nothing has, and what may have been meant */
#ifndef PAI_SRC_SCHED_MISSING_H
#define PAI_SRC_SCHED_MISSING_H

#include "sched/core.h"

/* There is none of that name: PAI_ENOTFOUND, with what may have been meant. */
int pai__missing_node(const pai_sched *s, const char *name, pai_error **err);
int pai__missing_vc(const pai_sched *s, const char *name, pai_error **err);
int pai__missing_type(const pai_sched *s, const char *name, pai_error **err);

/* Why nothing can be in one of that name, where nothing is: PAI_ENOROOM. */
int pai__missing_pin(const pai_sched *s, const char *name, pai_error **err);
/* Likewise of what tasks are to be within; PAI_OK: there is such. */
int pai__missing_group(const pai_sched *s, const char *name, pai_error **err);

#endif
