/* client_shared.h - a client and its calls, for the facade's own files */
#ifndef OPENPAI_BINDINGS_CLIENT_SHARED_H
#define OPENPAI_BINDINGS_CLIENT_SHARED_H

#include "local_file.h"
#include "options.h"
#include "shared.h"

#include <pthread.h>
#include <stdatomic.h>

/* Scripts may forget a call, or a client, in any thread: so what follows is
 * changed by who has the lock, but for what is atomic. */
struct Client {
  pai_loop *loop;
  pai_client *client; /* NULL: closed */
  atomic_bool is_shut;
  atomic_bool runs; /* who has the lock may have it for long */
  Exec *execs;      /* that are not over */
  pthread_mutex_t owner;
  atomic_size_t users; /* the script's object, calls, commands */
};

struct Call {
  Client *client;
  pai_op *op;         /* NULL: it is over */
  bool dropped;       /* the script has forgotten it; freed when it is over */
  bool broken;        /* there was no memory for what came */
  bool paused;        /* so much waits to be taken */
  LocalFile *local;   /* that is downloaded */
  int upload;         /* what is uploaded, or -1 */
  job_text taken;     /* what came and was not taken yet */
  atomic_size_t held; /* bytes of that */
  atomic_bool over;   /* set last: what follows does not change any more */
  int status;         /* how it ended: */
  int http_status, exit_code;
  uint32_t tries;
  int64_t total;
  job_text body;
  char *type, *code, *state, *message, *help;
  bool retriable;
  int no_answer; /* PAI_NO_ANSWER_*, or 0 */
};

/* Waits for whoever has it: never long, for scripts do not run meanwhile. */
void client_take(Client *c);
/* The same for what scripts ask of it.  False: a failure. */
bool client_enter(Client *c, failure *f);
void client_give(Client *c);
/* One of its users is so no more. */
void client_leave(Client *c);

/* Keeps what came before the end; if that is much, nothing more comes before it
 * is taken.  A pai_write_cb. */
int call_add(void *user_data, const char *bytes, size_t len);
/* Writes what came into the file that is downloaded.  A pai_write_cb. */
int call_write(void *user_data, const char *bytes, size_t len);
/* Reads what is uploaded.  A pai_read_at_cb. */
ptrdiff_t call_read(void *user_data, uint64_t offset, char *buffer,
                    size_t size);
/* The file that was downloaded is whole, or it is not. */
void call_end_download(Call *call);
void call_close_files(Call *call);
/* Keeps what was answered, which is borrowed.  A pai_client_cb. */
void call_over(void *user_data, int status, const pai_client_answer *answer);

/* Asks (facade_calls.c); PAI_OK: call_over() will be called. */
typedef struct call_bodies {
  const char *text, *code;
  size_t len, code_len;
} call_bodies;
int call_begin(Call *call, const char *kind, const words *fields,
               const call_bodies *bodies, failure *f);

#endif /* OPENPAI_BINDINGS_CLIENT_SHARED_H */
