/* line.h - internal to the room: a waiting job's place in the queue */
#ifndef PAI_SRC_PLATFORM_RECORDS_LINE_H
#define PAI_SRC_PLATFORM_RECORDS_LINE_H

#include "platform/platform.h"

/* False: the job does not wait for resources, or is held. */
bool pai__platform_line(pai__wait_line_row *out, const pai__pjob *j);

#endif
