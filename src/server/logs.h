/* logs.h - internal to the room: a log as events (log_events.c) */
#ifndef PAI_SRC_SERVER_LOGS_H
#define PAI_SRC_SERVER_LOGS_H

#include "server/server.h"

typedef struct pai__log_events {
  pai__request *request;
  uint64_t offset; /* behind what came last */
  char rest[4];    /* of a character whose end is still to come */
  size_t nrest;
} pai__log_events;

/* Does who asks want events?  From where on, if he was here before: false, he
 * was not. */
bool pai__log_events_wanted(const pai__request *r);
bool pai__log_events_resume(const pai__request *r, int64_t *offset);

void pai__log_events_add(pai__log_events *e, uint64_t offset,
                         const char *bytes, size_t len);
void pai__log_events_end(pai__log_events *e, int status);

/* --- log_stamps.c: a log with the time before each line ------------------------- */

typedef struct pai__log_stamps {
  bool inside; /* a line has begun */
  bool back;   /* the last byte was a carriage return */
} pai__log_stamps;

/* Bytes that were written at that time; 0: nobody knows when. */
void pai__log_stamps_add(pai__log_stamps *s, pai__request *r, pai_time time,
                         const char *bytes, size_t len);

#endif
