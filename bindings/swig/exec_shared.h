/* exec_shared.h - commands in tasks that run, for the facade's own files */
#ifndef OPENPAI_BINDINGS_EXEC_SHARED_H
#define OPENPAI_BINDINGS_EXEC_SHARED_H

#include "client_shared.h"
#include "facade_platform.h"

/* What it said, in its order. */
typedef struct piece {
  struct piece *next;
  int stream;
  job_text text;
} piece;

/* Changed by who has the client or the platform, but for what is atomic. */
struct Exec {
  Client *client;     /* whose loop it is on, and which it holds; or */
  Platform *platform; /* which the script holds until it is over */
  Exec **list, *next; /* of that one's, until it is over */
  pai_session *session;
  job_text input;          /* for when it has begun */
  bool ended;              /* there will be no more of that */
  piece *said, *newest;    /* not taken yet */
  size_t held;             /* bytes of that */
  atomic_int stream;       /* of its first; 0: nothing was said */
  atomic_bool live, begun; /* else all is said when it is over */
  atomic_bool full;        /* it waits to be taken */
  bool broken;             /* there was no memory for something */
  atomic_bool over; /* set last: what follows does not change any more */
  int status, how, code, signal, http_status;
  char *text, *api_code, *help;
  bool retriable;
  int no_answer; /* PAI_NO_ANSWER_*, or 0 */
};

/* Keeps what it said; if that is much and it is live, it waits.  `user_data` is
 * the Exec. */
void exec_output(void *user_data, int stream, const char *bytes, size_t len);
/* Some of that. */
log_bytes exec_pop(Exec *e);

#endif /* OPENPAI_BINDINGS_EXEC_SHARED_H */
