/* inside.h - internal to the room: a client, as its files share it */
#ifndef PAI_SRC_CLIENT_INSIDE_H
#define PAI_SRC_CLIENT_INSIDE_H

#include "base/buf.h"
#include "base/fork.h"
#include "base/prng.h"
#include "http/http.h"
#include "json/json.h"

#include <openpai/client.h>

/* What every operation has, whatever else it is. */
struct pai_op {
  pai_client *client;
  pai_op *before, *after; /* of the client's */
  /* Begins to end it, with PAI_ECANCELED. */
  void (*cancel)(pai_op *op);
  /* Hands nothing on, or goes on with that. */
  void (*hold)(pai_op *op, bool hold);
  /* Of one that is `ending`: its last words; then it is gone. */
  void (*end)(pai_op *op);
  /* The login that it waits for has come to this. */
  void (*resume)(pai_op *op, int status, const pai_error *err);
  bool ending;
  bool held;      /* its caller has paused it */
  uint64_t login; /* the number of that login; 0: it waits for none */
};

/* What the server is. */
enum pai__server { PAI__UNKNOWN, PAI__OURS, PAI__ORIGINAL };

struct pai_client {
  pai_alloc alloc;
  unsigned forks; /* see base/fork.h */
  pai_loop *loop;
  char *socket; /* or NULL, and then: */
  char *origin; /* "https://host:port" */
  char *base;   /* and the path before /api */
  pai__http *http;
  pai__turn *turn; /* operations end there */
  bool ends;       /* one is to */
  pai_op *first, *last;
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
  /* who asks (login.c) */
  char *user, *password; /* to log in with */
  char *token;
  char *authorization;  /* the header's value */
  char *token_user;     /* who it says one is */
  pai_time token_until; /* of pai__loop_time(); 0: not known */
  uint64_t token_number;
  struct pai__ask *login; /* under way */
  uint64_t logins;
};

/* op.c */
void pai__op_begin(pai_op *op, pai_client *client);
void pai__op_end_soon(pai_op *op); /* ->end() comes in the next turn */
void pai__op_gone(pai_op *op);     /* its last callback is next */
/* After that callback. */
void pai__client_rest(pai_client *client);

/* --- one request, with its tries (ask.c) ---------------------------------------- */

typedef struct pai__ask pai__ask;

typedef struct pai__call {
  const char *method;
  const char *path; /* or a whole URL: of another place, which is not told who
                       asks */
  const char *type;
  const char *accept;
  const char *range;      /* or NULL */
  const char *last_event; /* or NULL */
  const void *body;
  size_t body_len;
  pai_time idle_time, total_time; /* 0: none */
  uint32_t most_tries;
  bool stream; /* it may go on for ever */
  bool again;  /* it may be sent twice, whatever its method */
  bool nobody; /* who asks is not told */
  bool secret; /* its body is wiped */
  /* NULL: the body is kept.  Of a good answer. */
  int (*on_body)(void *user_data, int http_status, const char *bytes,
                 size_t len);
  /* NULL is allowed. */
  void (*on_sent)(void *user_data, uint64_t sent, uint64_t total);
} pai__call;

/* A call with what the client's options say. */
pai__call pai__call_of(const pai_client *client, const char *method,
                       const char *path);
int pai__ask_new(pai__ask **out, pai_client *client, const pai__call *call,
                 pai_client_cb cb, void *user_data, pai_error **err);
pai_op *pai__ask_op(pai__ask *ask);
/* What a public call begins with, which asks for one thing: path is taken,
 * and not ok is PAI_ENOMEM. */
int pai__ask_simply(pai_op **op, pai_client *client, const char *method,
                    pai__buf *path, const char *body, pai_client_cb cb,
                    void *user_data, pai_error **err);

/* --- several, one after the other (course.c) -------------------------------------- */

typedef struct pai__course pai__course;
typedef void (*pai__course_cb)(pai__course *c, int status,
                               const pai_client_answer *a);

struct pai__course {
  pai_op op;
  pai_client_cb cb;
  void *user_data;
  pai_op *child;
  pai__course_cb next; /* takes the child's answer */
  pai__timer *timer;
  void (*step)(pai__course *c); /* when the time has come */
  void (*dispose)(pai__course *c);
  size_t size;
  int stopped; /* what a callback of the caller's answered, if negative */
  bool canceled;
  bool late;     /* the time has come while it was paused */
  pai_time anew; /* what it waits for has so much time after a pause, too */
};

/* As large as `size`, zeroed behind its head. */
int pai__course_new(pai__course **out, pai_client *client, size_t size,
                    void (*dispose)(pai__course *c), pai_client_cb cb,
                    void *user_data, pai_error **err);
/* Of one that was not begun: without a word. */
void pai__course_drop(pai__course *c);
int pai__course_ask(pai__course *c, const pai__call *call, pai__course_cb next,
                    pai_error **err);
/* The same where there is no caller to tell: then a failure ends it. */
void pai__course_go(pai__course *c, const pai__call *call,
                    pai__course_cb next);
/* After this the next one needs no memory. */
int pai__course_ready(pai__course *c, pai_error **err);
void pai__course_wait(pai__course *c, pai_time delay,
                      void (*step)(pai__course *c));
void pai__course_end(pai__course *c, int status, const pai_client_answer *a);
void pai__course_fail(pai__course *c, int status, const pai_error *err);

/* --- parts of answers (answer.c) ---------------------------------------------------- */

/* What an answer that is none of 2xx says of why, as an error; its code.  That
 * of the answer is a text of the tree. */
int pai__answer_refuse(pai_error **err, const pai__tree *tree,
                       pai_client_answer *a);
pai__tree *pai__answer_tree(const pai_alloc *alloc, const char *body,
                            size_t len);
/* The same, where what is no JSON is none; but not for want of memory. */
int pai__answer_read(pai__tree **out, const pai_alloc *alloc, const char *body,
                     size_t len);
/* A member that is a text, or ""; a whole number, or 0. */
const char *pai__client_text(const pai__tree *tree, pai__node n,
                             const char *key);
int64_t pai__answer_number(const pai__tree *tree, pai__node n,
                           const char *key);
pai_client_answer pai__answer_none(void);
bool pai__answer_is_good(int http_status);

/* --- who asks (login.c) ------------------------------------------------------------- */

/* Whether it can be asked now.  If not, the operation is told when the login
 * that this begins is over; negative: it did not begin. */
int pai__client_admit(pai_client *client, pai_op *op, pai_error **err);
/* The token of this number was not taken.  False: there is no way to a new
 * one. */
bool pai__client_renew(pai_client *client, uint64_t number);
int pai__client_set_token(pai_client *client, const char *token, size_t len);
int pai__client_set_user(pai_client *client, const char *user,
                         const char *password);
void pai__client_forget(pai_client *client);

/* calls.c: notes what the server is.  PAI_ENOMEM: that is not known. */
int pai__client_note_info(pai_client *client, const pai_client_answer *a);
/* The path of a job, its beginning, or PAI_EINVAL: it cannot be a name. */
int pai__job_path(pai__buf *b, const char *job, const char *rest,
                  pai_error **err);

/* --- pure ---------------------------------------------------------------------------- */

/* retry.c: whether what failed so may be asked again.  `retriable` is what the
 * error says, `sent` whether it reached the server. */
bool pai__retry_may(const char *method, bool again, int http_status,
                    bool retriable, bool sent);
/* How long to wait then. */
pai_time pai__retry_wait(pai__prng *random, uint32_t tries, pai_time first,
                         pai_time most, pai_time asked_for);

/* url.c: takes a URL apart: *origin as far as its path, *base without a slash
 * at the end.  New texts. */
int pai__url_read(char **origin, char **base, const pai_alloc *alloc,
                  const char *url, pai_error **err);
/* A text as one part of a path or query. */
void pai__url_add(pai__buf *b, const char *text);
/* "?name=value", or with & where there is one already; NULL: nothing. */
void pai__url_query(pai__buf *b, const char *name, const char *value);

/* token.c: what a token says of itself; 0 and NULL: nothing. */
typedef struct pai__token {
  int64_t issued, expires; /* seconds since the epoch */
  char *user;              /* a new text */
} pai__token;
int pai__token_read(pai__token *out, const pai_alloc *alloc,
                    const char *token);

/* alike.c: whether two files say the same job, but for their secrets. */
bool pai__alike(const pai_alloc *alloc, const char *a, size_t a_len,
                const char *b, size_t b_len);

#endif
