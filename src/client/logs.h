/* logs.h - internal to src/client: reading a task's log (logs.c) */
#ifndef PAI_SRC_CLIENT_LOGS_H
#define PAI_SRC_CLIENT_LOGS_H

#include "client/inside.h"

/* --- log_find.c ---------------------------------------------------------- */

/* Returns a task of a job's details, by its role's name in the job file or in
 * the API; PAI__NO_NODE if there is none. */
pai__node pai__log_task(const pai__tree *tree, const char *role,
                        uint32_t index);
/* Returns whether a task or job in that state writes no more output. */
bool pai__log_is_over(const char *state);
/* Returns the location of the log of that name, in a list of a task's logs; ""
 * if there is none. */
const char *pai__log_location(const pai__tree *tree, const char *name);
bool pai__log_is_location(const char *uri);

/* --- log_tail.c ---------------------------------------------------------- */

/* The last lines of a log that is received from its beginning. */
typedef struct pai__client_log_tail {
  pai__buf text;
  size_t kept; /* size of `text` after it was last trimmed */
  uint64_t lines;
} pai__client_log_tail;

void pai__log_tail_init(pai__client_log_tail *t, const pai_alloc *alloc,
                        uint64_t lines);
/* PAI_OK or PAI_ENOMEM. */
int pai__log_tail_add(pai__client_log_tail *t, const char *bytes, size_t len);
/* Returns where the last lines begin in `text`. */
size_t pai__log_tail_begin(const pai__client_log_tail *t);
void pai__log_tail_dispose(pai__client_log_tail *t);

/* --- log_read.c ---------------------------------------------------------- */

typedef struct pai__log_reading {
  pai__client_sequence sequence;
  char *job, *role, *name;
  uint32_t index;
  uint64_t offset; /* of the next byte */
  bool known;      /* `offset` is known: not before an answer to `tail` or
                      `since` */
  uint64_t skip;   /* bytes of this answer that were already received */
  uint64_t came;   /* new bytes of this answer */
  int64_t said;    /* offset of its first byte, by the answer's head; or -1 */
  bool begun;      /* the first bytes have arrived */
  bool served;     /* an answer's head has arrived */
  bool follow, timestamps;
  int64_t tail;
  pai_time since;
  pai__client_log_tail last; /* for servers that only send whole logs */
  pai_write_cb on_data;
  /* The start that is read; -1: the latest, not known yet. */
  int64_t attempt, retry;
  bool over;      /* the task had ended before the log was last read */
  int barren;     /* consecutive answers without new bytes */
  pai_time asked; /* time of the last request */
  pai_time pause;
} pai__log_reading;

static inline bool pai__log_of_ours(const pai__log_reading *r)
{
  return r->sequence.op.client->server == PAI__OURS;
}

/* Requests the log of a known start; pai__log_ask_job() requests the job's
 * details first. */
int pai__log_ask(pai__log_reading *r, pai_error **err);
int pai__log_ask_job(pai__log_reading *r, pai_error **err);

#endif
