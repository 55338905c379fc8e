/* exec_shared.h - commands in tasks that run, for the facade's own files */
#ifndef OPENPAI_BINDINGS_EXEC_SHARED_H
#define OPENPAI_BINDINGS_EXEC_SHARED_H

#include "client_shared.h"
#include "facade_platform.h"

/* Output of one stream, in a list in order of arrival. */
typedef struct piece {
  struct piece *next;
  int stream;
  job_text text;
} piece;

/* The lock of the client or of the platform guards all members that are not
 * atomic. */
struct Exec {
  Client *client;     /* client whose loop runs it, with a reference; or */
  Platform *platform; /* platform, which the script keeps until it is over */
  Exec **list, *next; /* their list, until it is over */
  pai_session *session;
  job_text input;          /* input to send when the command has begun */
  bool ended;              /* the input was closed */
  piece *said, *newest;    /* output that was not taken yet */
  size_t held;             /* bytes of that output */
  atomic_int stream;       /* stream of the first piece; 0: there is none */
  atomic_bool live, begun; /* not live: output is given when it is over */
  atomic_bool full;        /* paused until output is taken */
  bool broken;             /* out of memory for input or output */
  atomic_bool over;        /* set last: what follows is constant then */
  failure failed;          /* its code is 0 after success */
  int how, code, signal;
  char *text; /* how it ended */
};

/* Keeps output of a command, whose Exec is `user_data`. Pauses a live command
 * that has too much. */
void exec_output(void *user_data, int stream, const char *bytes, size_t len);
/* Takes the first piece of output. */
log_bytes exec_pop(Exec *e);

#endif /* OPENPAI_BINDINGS_EXEC_SHARED_H */
