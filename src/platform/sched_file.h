/* sched_file.h - internal to the room: the scheduler's log as files of the root,
 * for who looks back */
#ifndef PAI_SRC_PLATFORM_SCHED_FILE_H
#define PAI_SRC_PLATFORM_SCHED_FILE_H

#include "platform/platform.h"

/* Of a durable platform, whose first lines will be a snapshot.  What cannot be written is told in its log, and is
 * nobody's failure: the database has what must not be lost. */
void pai__sched_file_open(pai_platform *p);
void pai__sched_file_close(pai_platform *p);

/* Lines that were taken, in their order. */
void pai__sched_file_add(pai_platform *p, const char *lines, size_t len);
/* Behind them: all of the scheduler.  A file that is large ends before it. */
void pai__sched_file_snapshot(pai_platform *p, const char *line, size_t len);

#endif
