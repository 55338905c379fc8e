/* line_event.h - internal: what a line of a log tells, in short */
#ifndef PAI_SRC_SIM_LINE_EVENT_H
#define PAI_SRC_SIM_LINE_EVENT_H

#include "sim/lines.h"

#include "sched/event_form.h"

typedef struct pai__line_event {
  int kind; /* PAI_SCHED_*, PAI__LINE_DECIDE, or 0: a snapshot */
  pai_time time;
  uint64_t id; /* 0: of no request */
  uint32_t instance;
  int64_t code; /* of what finished */
} pai__line_event;

/* PAI_OK; PAI_EINVAL: it is none of a log; PAI_ENOMEM. */
int pai__line_event_read(pai__line_event *out, const pai__line_text *line,
                         const pai_alloc *alloc, pai_error **err);

#endif
