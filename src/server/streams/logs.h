/* logs.h - internal to the room: a log as events (log_events.c) */
#ifndef PAI_SRC_SERVER_STREAMS_LOGS_H
#define PAI_SRC_SERVER_STREAMS_LOGS_H

#include "server/server.h"

typedef struct pai__log_events {
  pai__request *request;
  uint64_t offset; /* after the last bytes sent */
  char rest[4];    /* of a character that is not complete yet */
  size_t nrest;
} pai__log_events;

/* Return whether the client wants events, and whether it resumes, and from
 * which offset. */
bool pai__log_events_wanted(const pai__request *r);
bool pai__log_events_resume(const pai__request *r, int64_t *offset);

void pai__log_events_add(pai__log_events *e, uint64_t offset,
                         const char *bytes, size_t len);
void pai__log_events_end(pai__log_events *e, int status);

/* --- log_stamps.c: a log with the time before each line ------------------ */

typedef struct pai__log_stamps {
  bool inside; /* inside a line */
  bool back;   /* the last byte was a carriage return */
} pai__log_stamps;

/* Adds bytes that were written at `time`; 0: unknown. */
void pai__log_stamps_add(pai__log_stamps *s, pai__request *r, pai_time time,
                         const char *bytes, size_t len);

#endif
