/* inside.h - internal to src/client: the client object, operations, requests
 * and helpers */
#ifndef PAI_SRC_CLIENT_INSIDE_H
#define PAI_SRC_CLIENT_INSIDE_H

#include "base/buf.h"
#include "base/os/fork.h"
#include "base/prng.h"
#include "base/text/encode.h"
#include "http/http.h"
#include "json/json.h"
#include "loop/op.h"

#include <openpai/client.h>

/* The common part of all operations of a client. */
typedef struct pai__client_op pai__client_op;
struct pai__client_op {
  pai_op head;
  pai_client *client;
  pai__client_op *before, *after; /* the client's list */
  /* Calls the last callback of an operation that is `ending`, and frees it. */
  void (*end)(pai__client_op *op);
  /* Called when the login that the operation waits for has ended. */
  void (*resume)(pai__client_op *op, int status, const pai_error *err);
  uint64_t login; /* number of that login; 0: it waits for none */
};

/* The kind of server. */
enum pai__server { PAI__UNKNOWN, PAI__OURS, PAI__ORIGINAL };

struct pai_client {
  pai_alloc alloc;
  unsigned forks; /* see base/os/fork.h */
  pai_loop *loop;
  char *socket; /* path of a UNIX socket; NULL: `origin` is used */
  char *origin; /* "https://host:port" */
  char *base;   /* origin and the path before /api */
  pai__http *http;
  pai__loop_step *step; /* operations end in this step */
  bool ends;            /* an operation is to end */
  pai__client_op *first, *last;
  bool closing;
  void (*closed)(void *user_data);
  void *closed_data;
  /* options */
  pai_time idle_time, total_time, first_wait, most_wait; /* 0: none */
  pai_time connect_time, stream_time;
  uint32_t most_tries;
  uint64_t most_answer;
  pai__prng random;
  void *user_data;
  void (*on_retry)(void *user_data, const pai_client_retry *retry);
  enum pai__server server;
  /* credentials (login.c) */
  char *user, *password; /* to log in with */
  char *token;
  char *authorization;  /* of the Authorization header */
  char *token_user;     /* the user that the token names */
  pai_time token_until; /* when it expires, by pai__loop_time(); 0: not
                           known */
  uint64_t token_number;
  struct pai__client_ask *login; /* the running login, or NULL */
  uint64_t logins;
};

/* op.c */
/* The beginning of each public function that starts an operation: clears its
 * results and checks what all need.  `name` is the function's. */
int pai__op_check(pai_op **op, const pai_client *client, pai_client_cb cb,
                  const char *name, pai_error **err);
void pai__op_begin(pai__client_op *op, pai_client *client);
void pai__op_end_soon(pai__client_op *op); /* calls ->end() in the next step */
void pai__op_gone(pai__client_op *op);     /* its last callback is next */
/* Call it after that callback. */
void pai__client_rest(pai_client *client);

/* --- one request, with its retries (ask.c) ------------------------------- */

typedef struct pai__client_ask pai__client_ask;

typedef struct pai__call {
  const char *method;
  const char *path; /* or a URL of another server, which gets no credentials */
  const char *type;
  const char *accept;
  const char *range;      /* or NULL */
  const char *last_event; /* or NULL */
  /* NULL, or set to the X-Log-Offset of a 200 or 206 answer before the body
   * and the callback; -1: not given. */
  int64_t *log_offset;
  const void *body;
  size_t body_len;
  pai_time idle_time, total_time; /* 0: none */
  uint32_t most_tries;
  bool stream; /* may last for ever */
  bool again;  /* may be sent twice, whatever its method */
  bool nobody; /* send no credentials */
  bool secret; /* wipe the body afterwards */
  /* NULL: keep the body.  Called for good answers only. */
  int (*on_body)(void *user_data, int http_status, const char *bytes,
                 size_t len);
  /* NULL is allowed. */
  void (*on_sent)(void *user_data, uint64_t sent, uint64_t total);
} pai__call;

/* Returns a call with the client's options filled in. */
pai__call pai__call_of(const pai_client *client, const char *method,
                       const char *path);
int pai__ask_new(pai__client_ask **out, pai_client *client,
                 const pai__call *call, pai_client_cb cb, void *user_data,
                 pai_error **err);
pai_op *pai__ask_op(pai__client_ask *ask);

/* --- a sequence of requests (sequence.c) --------------------------------- */

typedef struct pai__client_sequence pai__client_sequence;
typedef void (*pai__client_sequence_cb)(pai__client_sequence *c, int status,
                                        const pai_client_answer *a);

struct pai__client_sequence {
  pai__client_op op;
  pai_client_cb cb;
  void *user_data;
  pai_op *child;
  pai__client_sequence_cb next; /* takes the child's answer */
  pai__timer *timer;
  void (*step)(pai__client_sequence *c); /* called when the timer expires */
  void (*dispose)(pai__client_sequence *c);
  size_t size;
  int stopped; /* negative result of a caller's callback, or 0 */
  bool canceled;
  bool late;     /* the timer expired while it was paused */
  pai_time anew; /* time limit that starts again after a pause */
};

/* Creates a sequence of `size` bytes, zeroed after its head. */
int pai__client_sequence_new(pai__client_sequence **out, pai_client *client,
                             size_t size,
                             void (*dispose)(pai__client_sequence *c),
                             pai_client_cb cb, void *user_data,
                             pai_error **err);
int pai__client_sequence_ask(pai__client_sequence *c, const pai__call *call,
                             pai__client_sequence_cb next, pai_error **err);
/* The same for a path that is written in a buffer, which is disposed of. */
int pai__client_sequence_at(pai__client_sequence *c, pai__call call,
                            pai__buf *path, pai__client_sequence_cb next,
                            pai_error **err);
/* Ends a step that has started an operation of the client in c->child, with
 * pai__client_sequence_answer() and `c`. */
int pai__client_sequence_child(pai__client_sequence *c, int rc,
                               pai__client_sequence_cb next);
void pai__client_sequence_answer(void *user_data, int status,
                                 const pai_client_answer *a);
/* Asks for the kind of server; `next` calls pai__client_note_info(). */
int pai__client_sequence_info(pai__client_sequence *c,
                              pai__client_sequence_cb next, pai_error **err);
/* The end of each public function that starts a sequence: drops one that could
 * not start, or sets *op. */
int pai__client_sequence_started(pai__client_sequence *c, int rc, pai_op **op);
/* Asks for a job's details. */
int pai__client_sequence_job(pai__client_sequence *c, const char *job,
                             pai__client_sequence_cb next, pai_error **err);
/* Ends a sequence whose step failed, with `err`, which is freed. */
void pai__client_sequence_check(pai__client_sequence *c, int rc,
                                pai_error *err);
/* Allocates what the next request needs, so that it cannot run out of
 * memory. */
int pai__client_sequence_ready(pai__client_sequence *c, pai_error **err);
void pai__client_sequence_wait(pai__client_sequence *c, pai_time delay,
                               void (*step)(pai__client_sequence *c));
/* Waits for a pause that grows each time, up to the client's longest.  Set
 * *pause to 0 to start with a short one again. */
void pai__client_sequence_pause(pai__client_sequence *c, pai_time *pause,
                                void (*step)(pai__client_sequence *c));
/* Returns whether its callback asked to stop; then the sequence has ended. */
bool pai__client_sequence_stopped(pai__client_sequence *c);
void pai__client_sequence_end(pai__client_sequence *c, int status,
                              const pai_client_answer *a);
void pai__client_sequence_fail(pai__client_sequence *c, int status,
                               const pai_error *err);

/* --- parts of answers (answer.c) ----------------------------------------- */

/* Turns an answer that is not 2xx into an error and returns its code.  The
 * answer's code is a text of the tree. */
int pai__answer_refuse(pai_error **err, const pai__tree *tree,
                       pai_client_answer *a);
pai__tree *pai__answer_tree(const pai_alloc *alloc, const char *body,
                            size_t len);
/* As pai__answer_tree(), but a body that is not JSON gives *out NULL.  Fails
 * for lack of memory only. */
int pai__answer_read(pai__tree **out, const pai_alloc *alloc, const char *body,
                     size_t len);
pai_client_answer pai__answer_none(void);
bool pai__answer_is_good(int http_status);

/* --- credentials (login.c) ----------------------------------------------- */

/* Returns whether requests can be sent now.  If not, it starts a login and
 * calls op->resume() when that has ended.  Negative: the login could not
 * start. */
int pai__client_admit(pai_client *client, pai__client_op *op, pai_error **err);
/* The server refused the token of this number.  Returns false if the client
 * cannot get a new one. */
bool pai__client_renew(pai_client *client, uint64_t number);
int pai__client_set_token(pai_client *client, const char *token, size_t len);
int pai__client_set_user(pai_client *client, const char *user,
                         const char *password);
void pai__client_forget(pai_client *client);

/* info.c: stores the kind of server.  PAI_ENOMEM: it stays unknown. */
int pai__client_note_info(pai_client *client, const pai_client_answer *a);

/* --- pure functions ------------------------------------------------------ */

/* retry.c: returns whether a failed request may be retried.  `retriable` is
 * the error's flag, `sent` whether the request reached the server. */
bool pai__retry_may(const char *method, bool again, int http_status,
                    bool retriable, bool sent);
/* Returns the time to wait before the retry. */
pai_time pai__retry_wait(pai__prng *random, uint32_t tries, pai_time first,
                         pai_time most, pai_time asked_for);

/* url.c: splits a URL.  *origin is scheme and host, *base the whole without a
 * slash at the end.  Both are new texts. */
int pai__url_read(char **origin, char **base, const pai_alloc *alloc,
                  const char *url, pai_error **err);
/* Appends "?name=value", or "&name=value" after another parameter; NULL:
 * nothing. */
void pai__url_query(pai__buf *b, const char *name, const char *value);
/* PAI_EINVAL: not a valid job name. */
int pai__client_check_job(const char *job, pai_error **err);
/* Writes the path of a job and `rest`.  PAI_EINVAL: not a valid job name. */
int pai__job_path(pai__buf *b, const char *job, const char *rest,
                  pai_error **err);

/* token.c: the claims of a token; 0 and NULL: not given. */
typedef struct pai__client_token {
  int64_t issued, expires; /* seconds since the epoch */
  char *user;              /* a new text */
} pai__client_token;
int pai__token_read(pai__client_token *out, const pai_alloc *alloc,
                    const char *token);

/* job_file_equal.c: returns whether two files describe the same job, ignoring
 * secrets. */
bool pai__job_file_equal(const pai_alloc *alloc, const char *a, size_t a_len,
                         const char *b, size_t b_len);

#endif
