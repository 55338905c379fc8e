/* sched_file.h - internal to the room: the scheduler's log as files of the
 * root, for replay */
#ifndef PAI_SRC_PLATFORM_SCHED_FILE_H
#define PAI_SRC_PLATFORM_SCHED_FILE_H

#include "platform/platform.h"

/* Opens the file of a durable platform, whose first lines will be a snapshot.
 * A failure to write is only logged: the database has what must not be lost. */
void pai__sched_file_open(pai_platform *p);
void pai__sched_file_close(pai_platform *p);

/* Adds lines of the log, in their order. */
void pai__sched_file_add(pai_platform *p, const char *lines, size_t len);
/* Adds a snapshot of the scheduler.  A large file ends before it. */
void pai__sched_file_snapshot(pai_platform *p, const char *line, size_t len);

#endif
