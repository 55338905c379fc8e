/*
 * server.h - internal to the room: the server, its requests and its streams
 *
 * Connections read and write HTTP on the platform's loop (conn.c).  A request
 * is handled when its body is complete.  Its handler answers at once, waits
 * for the platform's database, or begins a stream.
 */
#ifndef PAI_SRC_SERVER_SERVER_H
#define PAI_SRC_SERVER_SERVER_H

#include "base/buf.h"
#include "base/os/fork.h"
#include "base/map.h"
#include "base/os/posix_user.h"
#include "json/json.h"
#include "json/writer.h"
#include "loop/loop.h"
#include "server/http/body.h"
#include "server/http/limit.h"

#include <openpai/account.h>
#include <openpai/files.h>
#include <openpai/market.h>
#include <openpai/records.h>
#include <openpai/server.h>

#include "portal/portal.h"

typedef struct pai__request pai__request;
typedef struct pai__stream pai__stream;
typedef struct pai__server_listener pai__server_listener; /* http/listener.h */
typedef struct pai__server_deadline pai__server_deadline;
typedef struct pai__conn pai__conn;                 /* conn.h */
typedef struct pai__nets pai__nets;                 /* posix_peer.c */
typedef struct pai__certs pai__certs;               /* posix_cert.c */
typedef struct pai__proxy_stream pai__proxy_stream; /* posix_proxy_stream.c */

enum {
  PAI__PARAMS = 8,      /* variable parts of a path */
  PAI__QUERIES = 32,    /* names in a query */
  PAI__SESSION_KEY = 44 /* the key of a browser's session, with a NUL */
};

struct pai_server {
  pai_alloc alloc;
  pai_loop *loop;
  pai_platform *platform;
  pai_hived_host *hived;  /* instead of a platform */
  pai_accounts *accounts; /* of the platform */
  pai__log log;
  void (*on_shutdown)(void *user_data, int kill);
  void *user_data;
  char *root;    /* of the platform */
  char *uploads; /* folder for uploaded code until its job is submitted */
  char *self;    /* the user of this process */
  pai__server_listener *listeners;
  /* certificates of listeners with TLS, or NULL */
  pai__certs *certs;
  char *prefix;                   /* prefix of all paths, or NULL */
  char *cors;                     /* origins allowed by CORS; "": none */
  pai__nets *nets;                /* networks of trusted proxies */
  pai__limit all, lists, submits; /* rate limits over TCP */
  size_t bodies; /* bytes of all bodies that are not complete yet */
  pai_time idle_timeout, request_timeout;
  size_t most; /* connections of one address; 0: default */
  size_t most_streams;
  size_t most_streams_per_user; /* 0: as their quotas say */
  size_t streams;
  pai__map streams_of; /* number of TCP streams of each user */
  pai__timer *grace;   /* runs while the server closes */
  pai__loop_step *step;
  pai__request *first; /* unfinished requests */
  pai_closed_cb closed;
  void *closed_data;
  struct pai__packer *packer;               /* of pack.c, or NULL */
  struct pai__usage_sampler *usage_sampler; /* of usage_sampler.c, or NULL */
  struct pai__watched *watched;             /* of alerts/, or NULL */
  struct pai__sampling *sampling;           /* of sampling.c, or NULL */
  struct pai__estimate_wait
    *estimate_waits;                 /* of forecast.c: answers in progress */
  struct pai__user_upload *uploaded; /* of quotas.c: uploads of each user */
  struct pai__reading *to_read;      /* of reading.c: waiting job files */
  struct pai__reading *being_read;   /* job files being read */
  struct pai__counts *counts;        /* of count.c, or NULL */
  struct pai__feed *feed; /* of feed.c; NULL: no watcher now or lately */
  /* login provider; NULL: users log in here with passwords */
  struct pai__oidc *oidc;
  unsigned forks;            /* see base/os/fork.h */
  unsigned most_per_address; /* 0: no limit */
  unsigned nreading;
  int shutdown_kill;
  int closing; /* 0: no; 1: asked to close; 2: the grace time is over */
  bool shutdown_due;
  bool system; /* serves all users of this machine */
  /* requires a token: peer credentials of the socket do not count */
  bool tokens;
  bool signs; /* signs URLs with sign_key */
  unsigned char sign_key[32];
};

/* --- a request (request.c) ----------------------------------------------- */

/* The caller of a request (authorize.c): a user of OpenPAI, known by a token,
 * or a user of this machine, known by the socket's peer credentials. */
typedef struct pai__caller {
  char *name; /* NULL: unknown */
  bool self;  /* the user of this process, who may do everything */
  bool admin;
  bool owns;                /* owns the jobs of that user name */
  bool token;               /* known by a token, not by peer credentials */
  bool application;         /* the token is an application token */
  bool session;             /* by a browser's cookie */
  bool granted;             /* by a token for this URL only (signed.c) */
  unsigned scopes;          /* PAI_SCOPE_*: the token's scopes */
  pai_time issued, expires; /* of the token; 0: never, or no token */
} pai__caller;

/* A part of a file, in the body of an answer. */
typedef struct pai__sent_file {
  int fd;              /* -1: none */
  uint64_t from, size; /* first byte, and number of bytes */
} pai__sent_file;

enum { PAI__SENT_FILES = 2 };

struct pai__request {
  pai_server *server;
  pai__request *before, *after;
  pai__server_listener *listener;
  pai__server_deadline *deadline; /* NULL: out of memory */
  bool remote;                    /* came over TCP */
  char peer[46]; /* client address, also behind proxies; "": local */
  pai__allowance allowance;
  pai__conn *conn;
  /* as received; owned by the connection, as is the method; "" if the head is
   * invalid */
  const char *uri;
  char *text; /* decoded path and query */
  size_t text_size;
  const char *method;
  pai_time since;              /* loop time at which the request began */
  const pai__api_route *route; /* NULL: none */
  const char *params[PAI__PARAMS];
  pai__caller caller;
  /* The user of this machine as whom files are used, if all users are served;
   * NULL: the user of this process. */
  pai__user *who;
  char *job_name; /* "user~name" */
  struct {
    const char *name, *value;
  } query[PAI__QUERIES];
  size_t nquery;
  pai__buf body;              /* checked JSON, for a route with fields */
  pai__tree *form;            /* the parsed body, or NULL */
  struct pai__upload *upload; /* of code.c */
  pai_file_writer *writer;    /* of files.c */
  pai_job_id written;         /* job whose folder `writer` writes to */
  uint64_t replaced;          /* size of the file that will be replaced */
  uint64_t came;              /* bytes received for the file */
  size_t kept;                /* bytes of the body counted in server->bodies */
  bool begun, handled, suspended;
  bool dropped; /* the connection closes without an answer */
  /* The answer. */
  bool ready; /* ready to be sent */
  bool later; /* the client may retry, shortly or after `wait` */
  /* the proxied stream has ended: the connection is to be closed */
  bool gone;
  const char *said; /* message of a slow operation once it is done */
  int status;
  const char *type;
  char log_offset[24]; /* offset of the first byte of a log, or "" */
  char *location;      /* Location header, or NULL */
  char *policy;        /* Content-Security-Policy of a page that this portal
                          frames, or NULL */
  char *cookie;        /* cookie to set, or NULL */
  char *stale;         /* cookie to delete, or NULL */
  int64_t wait;   /* microseconds until the client may retry; 0: unknown */
  char *claimed;  /* user name of a failed login, or NULL */
  pai_error *err; /* of the call that answers the request */
  const char *missing; /* code for PAI_ENOTFOUND; NULL: "NoJobError" */
  pai__buf answer;
  pai__json_writer json;        /* writes to `answer` */
  struct pai__waiting *waiting; /* for the database, or a copy */
  char tag[40];                 /* ETag of the answer, or "" */
  bool packed;                  /* the answer is gzip */
  /* Files that form the body, one after the other. */
  pai__sent_file files[PAI__SENT_FILES];
  const pai__portal_file *page; /* the body is this file of the portal */
  char range[80];               /* Content-Range, or "" */
  bool attached;                /* sent as an attachment */
  pai__stream *stream;
  int entered; /* stream into a task that takes over the connection, or -1 */
  /* copies between the connection and `entered`, with TLS */
  pai__proxy_stream *relay;
};

/* Returns the value of a name in the query; "" if it has no value, NULL if it
 * is missing or not in the route's table. */
const char *pai__request_query(const pai__request *r, const char *name);
/* Returns whether the value is "true", "1" or empty. */
bool pai__request_flag(const pai__request *r, const char *name);
/* Returns an integer within the limits of the route's table; if it is missing,
 * the table's default, or 0. */
int64_t pai__request_number(const pai__request *r, const char *name);
/* http/session.c: prefix of the key of a session, as a WebSocket sends it in
 * the list of its protocols. */
#define PAI__SESSION_PROTOCOL "openpai-session-key."
/* Returns the value of a cookie and its length, or NULL. */
const char *pai__request_cookie(const pai__request *r, const char *name,
                                size_t *len);
/* Returns whether no page of another origin can have sent the request. */
bool pai__session_is_here(const pai__request *r);
/* Returns whether a page of another origin has sent the request. */
bool pai__session_is_elsewhere(const pai__request *r);
/* Appends the token of the browser's session as an Authorization header, for
 * pai__buf_wipe(); returns false if there is none, or another origin may have
 * sent the request. */
bool pai__session_header(pai__buf *out, const pai__request *r);
/* Make the browser keep a token, sealed with a new key, or forget it.  False:
 * out of memory or random numbers. */
bool pai__session_begin(pai__request *r, const char *token,
                        char key[PAI__SESSION_KEY]);
bool pai__session_end(pai__request *r);

/* Returns the id of the event after which a stream resumes, or NULL.  Only for
 * routes with such streams. */
const char *pai__request_last_event(const pai__request *r);
/* Checks the numbers of the query against the route's table.  Answers with an
 * error and returns false if one is invalid. */
bool pai__query_check(pai__request *r);
/* Parses decimal digits; fails on overflow. */
int pai__param_number(const char *text, int64_t *out);

/* Answers that are sent at once.  Only the first answer counts. */
/* sends what r->json wrote */
void pai__answer_json(pai__request *r, int status);
void pai__answer_error(pai__request *r, int status, const char *code,
                       const char *fmt, ...) PAI__PRINTF(4, 5);
/* Answers with the error of a failed call: r->err, which may be NULL. */
void pai__answer_failure(pai__request *r, int rc);
/* As pai__answer_failure(), with an error of the caller's. */
void pai__answer_why(pai__request *r, int rc, const pai_error *err);
/* Answers a cancelled operation: with an error if the server is closing, else
 * the connection is dropped, as the client is gone. */
void pai__answer_cancelled(pai__request *r);
/* Answers with an error code of OpenPAI; does not free `err`. */
void pai__answer_coded(pai__request *r, int status, const char *code,
                       const pai_error *err);
/* Answers with {"status", "message"}, as OpenPAI does after a change. */
void pai__answer_done(pai__request *r, int status, const char *fmt, ...)
  PAI__PRINTF(3, 4);
/* Sends the ready answer when all changes are durable; if that fails, an
 * error. */
void pai__answer_when_safe(pai__request *r);
/* Delays the answer until pai__answer_now() is called, once.  Returns NULL if
 * out of memory, which is then the answer. */
struct pai__waiting *pai__answer_later(pai__request *r);
/* Sets the client of the next account call, which must be given the result of
 * pai__answer_later().  Clients wait for password hashes in turn by address; a
 * request whose connection is gone is skipped (hash_requester.c). */
void pai__ask_accounts(const pai__request *r);
pai__request *pai__waiting_request(const struct pai__waiting *w);
/* Calls `gone`, once or twice, when the client has hung up or needs no answer
 * any more.  pai__answer_now() must still be called. */
void pai__waiting_watch(struct pai__waiting *w, void (*gone)(void *user_data),
                        void *user_data);
/* Returns the request that waited; NULL if it is gone. */
pai__request *pai__answer_now(struct pai__waiting *w);
/* A pai_write_cb that appends to the answer, a pai__buf. */
int pai__answer_write(void *buf, const char *bytes, size_t len);
/* Answers with r->answer; `type` may be NULL. */
void pai__answer_ready(pai__request *r, int status, const char *type);
/* Answers with what a pai_write_cb has written if rc is PAI_OK, else with
 * r->err. */
void pai__answer_written(pai__request *r, int rc);
/* Answers with {"message": `said`} and the route's status when the change is
 * durable; with r->err if rc is negative. */
void pai__answer_changed(pai__request *r, int rc, const char *said);
/* Return a text of the checked body, or NULL; copy a member of the object `of`
 * in it under another name. */
const char *pai__body_text(const pai__request *r, const char *name);
void pai__body_copy(pai__json_writer *w, const pai__request *r, pai__node of,
                    const char *from, const char *to);
/* Parses JSON; returns NULL if it is invalid or memory is short. */
pai__tree *pai__server_tree(const pai_server *server, const char *json,
                            size_t len);
/* The same for what a call has written; frees the buffer. */
pai__tree *pai__written_tree(pai__buf *json);
/* A pai_account_cb that does so; `waiting` is of pai__answer_later(). */
void pai__answer_account(void *waiting, int status, const char *json,
                         size_t len, const pai_error *err);

/* forecast.c: answers, from another thread, why the job of the path waits, or
 * else when it may start or end. */
void pai__forecast_ask(pai__request *r, bool why);

/* authorize.c: returns the user that the platform is asked as; NULL: the
 * platform's own user. */
const char *pai__request_user(const pai__request *r);
/* Returns whether the caller is an administrator or owns the job
 * "user~name". */
bool pai__request_is_own(const pai__request *r, const char *name);
/* Returns whether the caller may see all of the job. */
bool pai__request_may_see(const pai__request *r, const char *name);
/* Check whether the caller may change, or see, the job in params[0]; if not,
 * answer with an error and return false. */
bool pai__request_may_job(pai__request *r);
bool pai__request_may_read(pai__request *r);
/* For a caller who may change the job: checks whether they may also start
 * commands in it. */
bool pai__request_may_enter(pai__request *r);
/* Answers that the caller is not allowed to do that. */
void pai__answer_forbidden(pai__request *r, const char *why);
/* Returns the job that the path names; 0: no such job, which is then the
 * answer. */
pai_job_id pai__request_job(pai__request *r);
/* Parses the N of "/attempts/N": a number, or "latest", which is -1.  Returns
 * false if it is neither, which is then the answer. */
bool pai__request_attempt(pai__request *r, const char *text, int *attempt);

/* Answers with a text of that media type. */
void pai__answer_text(pai__request *r, int status, const char *type,
                      const char *text);

/* --- a connection (conn.c, conn_send.c) --- */

/* Results of pai__payload.read() when it has no bytes. */
enum { PAI__READ_END = -1, PAI__READ_BROKEN = -2 };

/* The body of an answer. */
typedef struct pai__payload {
  int64_t size; /* -1: unknown */
  /* the whole body, or NULL: it is read in pieces; a result of 0 suspends the
   * request until there is more */
  const char *bytes;
  long (*read)(void *user_data, uint64_t at, char *to, size_t max);
  /* Takes over the connection after the head, with a copy of `fd` if it needs
   * one; NULL: no upgrade. */
  void (*upgrade)(void *user_data, int fd, const char *early, size_t len);
  void *user_data;
} pai__payload;

/* Return a field of the request's head, or NULL; the second one searches from
 * *at on. */
const char *pai__conn_field(const pai__conn *c, const char *name);
const char *pai__conn_next_field(const pai__conn *c, const char *name,
                                 size_t *at);
const char *pai__conn_method(const pai__conn *c);
const char *pai__conn_target(const pai__conn *c);
/* Returns the status of an invalid request and the end of the error message;
 * 0: it is valid. */
int pai__conn_fault(const pai__conn *c, const char **why);
/* Returns whether the request states the length of its body. */
bool pai__conn_length(const pai__conn *c, uint64_t *length);
pai__server_deadline *pai__conn_deadline(const pai__conn *c);
int pai__conn_fd(const pai__conn *c);
void *pai__conn_tls(const pai__conn *c); /* a gnutls_session_t, or NULL */
/* Bytes received after the request. */
size_t pai__conn_early(const pai__conn *c, const char **bytes);
void pai__conn_resume(pai__conn *c);
/* Build an answer: status first, then fields, then the body, which must live
 * as long as the request.  Return false if out of memory. */
void pai__conn_begin_answer(pai__conn *c, int status);
void pai__conn_add_field(pai__conn *c, const char *name, const char *value);
bool pai__conn_answer(pai__conn *c, pai__payload payload);

/* Called by a connection.  Returns NULL if out of memory. */
pai__request *pai__request_begin(pai__server_listener *d, pai__conn *conn);
/* Called when the head is complete, then for each piece of the body, then when
 * the body is complete or the request was resumed.  Returns false if the
 * connection is to be closed. */
bool pai__request_go_on(pai__request *r, const char *bytes, size_t len);
void pai__request_end(pai__request *r);
void pai__request_suspend(pai__request *r);
void pai__request_resume(pai__request *r);
/* Gives up waiting: answers that the platform ends, or not at all if the
 * request may have changed something. */
void pai__request_give_up(pai__request *r);

/* http/posix_files.c: sends and closes the files of an answer. */
bool pai__files_are_sent(const pai__request *r);
pai__payload pai__files_payload(pai__request *r);
void pai__sent_files_close(pai__request *r);
/* files.c: headers of a file. */
void pai__file_headers(const pai__request *r);
/* code.c: removes an incomplete upload. */
void pai__code_give_up(pai__request *r);
/* files.c: stops writing an incomplete file. */
void pai__files_give_up(pai__request *r);

/* --- streams (stream.c) -------------------------------------------------- */

/* The producer of a stream's bytes; it follows the client's speed. */
typedef struct pai__server_source {
  void (*pause)(void *source,
                bool paused); /* NULL: the source only adds when asked to */
  /* the queue is empty: the source may add more; or NULL */
  void (*refill)(void *source);
  void (*free)(void *source); /* called last, when the stream is gone */
  bool has_end;               /* the stream has an end marker */
} pai__server_source;

struct pai__stream {
  pai__request *request;
  const pai__server_source *ops;
  void *source;
  pai__buf queue; /* queued bytes; the first `sent` have left */
  size_t sent;
  pai__poll *hangup; /* set when the connection first sleeps */
  bool paused;       /* the source was paused */
  bool over, broken; /* nothing more comes; the stream failed */
  bool counted;      /* counted for its user */
  bool watched;      /* hangups are watched for */
  bool hung_up;      /* the reader has hung up */
  bool gone;         /* no reader any more */
};

/* Answers with a stream.  On failure, which is answered, frees `source`. */
bool pai__stream_begin(pai__request *r, const char *type,
                       const pai__server_source *ops, void *source);
void pai__stream_add(pai__stream *s, const char *bytes, size_t len);
/* The source has bytes to be asked for: wakes the connection. */
void pai__stream_wake(pai__stream *s);
/* Ends the stream; queued bytes are still sent.  `broken` counts only in the
 * first call. */
void pai__stream_over(pai__stream *s, bool broken);
/* The stream's part in sending and ending an answer. */
pai__payload pai__stream_payload(pai__stream *s);
void pai__stream_free(pai__stream *s);
/* Called when the connection sleeps, to notice a hangup. */
void pai__stream_suspended(pai__stream *s);

/* --- signed URLs (signed.c) ---------------------------------------------- */

/* Makes the signing key. */
void pai__signed_open(pai_server *s);
/* Appends a token to a URL that gives its bearer the caller's right to read it
 * for an hour. */
void pai__signed_add(pai__buf *address, const pai__request *r);
/* Checks the URL's token; if it is valid, the request acts for the token's
 * user. */
bool pai__signed_holds(pai__request *r);

/* --- routes -------------------------------------------------------------- */

static inline enum pai__api_mode pai__server_mode(const pai_server *server)
{
  return server->oidc != NULL ? PAI__WITH_OIDC : PAI__WITH_PASSWORDS;
}

/* Handlers of requests, and handlers that take pieces of bodies. */
#define HANDLER(name) void pai__do_##name(pai__request *r);
#define TAKER(name) \
  void pai__do_##name(pai__request *r, const char *bytes, size_t len);
#include "api/handlers.inc"
#undef HANDLER
#undef TAKER

/* Returns the next route of the mode, or the first if `route` is NULL; NULL at
 * the end.  PAI__WITH_ANY: routes of every mode. */
const pai__api_route *pai__route_next(const pai__api_route *route,
                                      enum pai__api_mode mode);
/* route.c: finds the route and the variable parts of the path. */
const pai__api_route *pai__route_find(const char *method, char *path,
                                      enum pai__api_mode mode,
                                      const char *params[PAI__PARAMS]);
/* Adds a piece to the kept body, or refuses the body. */
void pai__request_keep(pai__request *r, const char *bytes, size_t len);
/* Returns the query field of that name in the route's table, or NULL. */
const pai__api_field *pai__query_find(const pai__api_route *route,
                                      const char *name);

/* authn.c: checks whether a login may begin a session of the browser, if the
 * body asks for one; if not, answers and returns false. */
bool pai__login_may_keep(pai__request *r);
/* Answers with a login.  If the body asks for a session, it begins, and the
 * answer has its key instead of the token. */
void pai__login_answer(pai__request *r, const char *user, const char *token,
                       bool admin, bool pat);
/* Gives a user who gets a token the SSH keys that jobs may need. */
void pai__accounts_complete(pai_server *server, const char *user);
/* market.c: counts a job that the caller has submitted from an item; NULL: from
 * none. */
void pai__market_used(pai__request *r, const char *item);
/* groups.c: makes the groups that every platform has. */
int pai__groups_begin(pai_accounts *accounts, pai_error **err);
/* http/task_stream.c: the task stream's part in sending and ending an
 * answer. */
pai__payload pai__enter_payload(pai__request *r);
void pai__enter_forget(pai__request *r);
/* posix_self.c: gets the name of the user of this process, for pai__strfree().
 * PAI_EIO: the user database cannot be read. */
int pai__self_name(char **out, const pai_alloc *alloc, pai_error **err);
/* http/posix_pass_fd.c: passes the socket `fd`, and the bytes already read
 * from it, to the process at the other end of `to`. */
bool pai__pass_fd(int to, int fd, const char *bytes, size_t len);
void pai__pass_fd_close(int fd); /* -1 is allowed */
/* http/posix_proxy_stream.c: sends `head`, then copies between the suspended
 * connection, which has TLS or becomes a WebSocket (`web`), and r->entered in
 * both directions, until one of them ends. */
int pai__proxy_stream_begin(pai__request *r, const char *head, bool web,
                            pai_error **err);
/* when the server ends */
void pai__proxy_stream_end(pai__proxy_stream *relay);
void pai__proxy_stream_free(pai__proxy_stream *relay); /* NULL is allowed */

/* event_json.c: writes an event as one line, {"event", "time_us", ...}. `name`
 * may be NULL, as may `exit_code`, the exit code of a job that is over. */
void pai__event_json(pai__json_writer *w, const char *name,
                     const pai_event *event, const int64_t *exit_code);

void pai__packer_free(pai_server *server); /* of pack.c */
/* http/listener.c: continues the listener's connections in the next loop
 * step. */
void pai__server_listener_run_soon(pai__server_listener *d);
/* server.c: ends the server if it is time to. */
void pai__server_check_end(pai_server *server);

#endif
