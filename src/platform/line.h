/* line.h - internal to the room: who stands before a job that waits */
#ifndef PAI_SRC_PLATFORM_LINE_H
#define PAI_SRC_PLATFORM_LINE_H

#include "platform/platform.h"

/* Where a job stands among those of its virtual cluster that wait for room. */
typedef struct pai__in_line {
  const char *vc;
  const char *order; /* "arrival", "priority"; NULL: the policy has no line */
  uint32_t place;    /* the first is 1; 0: there is no line */
  uint32_t waiting;  /* jobs, this one included */
} pai__in_line;

/* False: it does not wait for room, or is not to begin yet. */
bool pai__platform_line(pai__in_line *out, const pai__pjob *j);

#endif
