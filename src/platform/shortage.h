/* shortage.h - internal to the room: starts that wait because this machine
 * lacks something */
#ifndef PAI_SRC_PLATFORM_SHORTAGE_H
#define PAI_SRC_PLATFORM_SHORTAGE_H

#include "platform/platform.h"

/* Tells whether a back end's failure is a shortage of this machine, which never
 * ends a job.  Always false without a database: no job was accepted for good,
 * and its owner, in this process, gets the failure. */
bool pai__shortage_is(const pai_platform *p, int rc, const pai_error *err);
/* A task of the job could not be started or found: it is tried again after a
 * delay.  `text`: what is lacking, as the system says it. */
void pai__shortage_begin(pai__pjob *j, uint32_t task, const char *text);
/* Tells whether starts of this job wait for their delay to be over. */
bool pai__shortage_delays(const pai__pjob *j);
/* A task of the job was started; its supervisor may still find a shortage. */
void pai__shortage_started(pai__pjob *j);
/* No start of the job waits for a shortage to end any more. */
void pai__shortage_end(pai__pjob *j);
/* Returns what starts of the job wait for, or NULL. */
const char *pai__shortage_text(const pai__pjob *j);

/* Writes how many jobs wait, and for what; nothing if none waits. */
void pai__shortage_tell(const pai_platform *p, pai__buf *out);

int pai__shortage_open(pai_platform *p, pai_error **err);
void pai__shortage_close(pai_platform *p);

#endif
