/* client_shared.h - a client and its calls, for the facade's own files */
#ifndef OPENPAI_BINDINGS_CLIENT_SHARED_H
#define OPENPAI_BINDINGS_CLIENT_SHARED_H

#include "options.h"
#include "shared.h"

#include <pthread.h>
#include <stdatomic.h>

/* Scripts may free a call or a client in any thread. So the lock guards all
 * members that are not atomic. */
struct Client {
  pai_loop *loop;
  pai_client *client; /* NULL: closed */
  atomic_bool is_shut;
  atomic_bool runs; /* the thread with the lock runs the loop */
  Exec *execs;      /* commands that are not over */
  pthread_mutex_t owner;
  atomic_size_t users; /* the script's object, calls and commands */
};

struct Call {
  Client *client;
  pai_op *op;         /* NULL: it is over */
  bool dropped;       /* freed by the script; freed here when it is over */
  bool broken;        /* out of memory for what was received */
  bool paused;        /* paused until `taken` is taken */
  job_text taken;     /* received, and not taken yet */
  atomic_size_t held; /* bytes of `taken` */
  atomic_bool over;   /* set last: what follows is constant then */
  failure failed;     /* its code is 0 after success */
  int http_status, exit_code;
  uint32_t tries;
  job_text body;
  char *type, *state;
};

/* Locks the client. Waits at most for one step of the loop, which runs no
 * script code. */
void client_take(Client *c);
/* Locks the client for a call of a script. Returns false after a failure:
 * another thread runs the loop, or the client is closed. */
bool client_enter(Client *c, failure *f);
void client_give(Client *c);
/* Drops a reference; the last one frees the client. */
void client_leave(Client *c);

/* Keeps data received before the end of a call. Pauses the call if much of it
 * is not taken. A pai_write_cb. */
int call_add(void *user_data, const char *bytes, size_t len);
/* Keeps a copy of the answer. A pai_client_cb. */
void call_over(void *user_data, int status, const pai_client_answer *answer);

/* Begins a request (facade/calls.c). If it returns PAI_OK, call_over() will be
 * called. */
typedef struct call_bodies {
  const char *text, *code;
  size_t len, code_len;
} call_bodies;
int call_begin(Call *call, const char *kind, const words *fields,
               const call_bodies *bodies, failure *f);

#endif /* OPENPAI_BINDINGS_CLIENT_SHARED_H */
