/*
 * server.h - internal to the room: a server, its requests, and its streams
 *
 * Connections read and write HTTP on the platform's loop (conn.c).  A request
 * is handled when its body is there.  Its handler answers at once, or waits (for
 * the platform's database), or begins a stream.
 */
#ifndef PAI_SRC_SERVER_SERVER_H
#define PAI_SRC_SERVER_SERVER_H

#include "base/buf.h"
#include "base/fork.h"
#include "base/map.h"
#include "base/posix_user.h"
#include "json/json.h"
#include "json/writer.h"
#include "loop/loop.h"
#include "server/body.h"
#include "server/limit.h"
#include "server/shapes.h"

#include <openpai/account.h>
#include <openpai/files.h>
#include <openpai/records.h>
#include <openpai/server.h>

typedef struct pai__request pai__request;
typedef struct pai__stream pai__stream;
typedef struct pai__route pai__route;
typedef struct pai__door pai__door; /* door.h */
typedef struct pai__line pai__line;
typedef struct pai__conn pai__conn;   /* conn.h */
typedef struct pai__nets pai__nets;   /* posix_peer.c */
typedef struct pai__certs pai__certs; /* posix_cert.c */
typedef struct pai__relay pai__relay; /* posix_relay.c */

enum {
  PAI__PARAMS = 8,   /* parts of a path that are not fixed */
  PAI__QUERIES = 32, /* names in a query */
  PAI__MOST_JOB = 4 << 20,
  PAI__MOST_JSON = 100 << 10,
  PAI__MOST_CODE = 1 << 30
};

struct pai_server {
  pai_alloc alloc;
  pai_loop *loop;
  pai_platform *platform;
  pai_hived_host *hived;  /* in the place of a platform */
  pai_accounts *accounts; /* the platform's */
  pai__log log;
  void (*on_shutdown)(void *user_data, int kill);
  void *user_data;
  char *uploads; /* folder where code waits for its job */
  char *self;    /* this process' user */
  pai__door *doors;
  pai__certs *certs;              /* of doors with TLS; or NULL */
  char *prefix;                   /* of paths, or NULL */
  char *cors;                     /* "" : no other origin may ask */
  pai__nets *nets;                /* of proxies that are believed */
  pai__limit all, lists, submits; /* who asks how often, over TCP */
  size_t bodies; /* bytes of all requests that are kept until they are whole */
  pai_time idle_timeout, request_timeout;
  size_t most; /* connections of an address; 0: as usual */
  size_t most_streams;
  size_t most_streams_per_user; /* 0: as their quotas say */
  size_t streams;
  pai__map streams_of; /* how many each user has over TCP */
  pai__timer *grace;   /* while it closes */
  pai__turn *turn;
  pai__request *first; /* those that are not over */
  pai_closed_cb closed;
  void *closed_data;
  struct pai__packer *packer;        /* pack.c's, or NULL */
  struct pai__meter *meter;          /* meter.c's, or NULL */
  struct pai__watched *watched;      /* alerts_look.c's, or NULL */
  struct pai__asked *asked;          /* estimate.c's that are being made */
  struct pai__kept_upload *uploaded; /* quotas.c's: what users have uploaded */
  struct pai__reading *to_read;      /* reading.c's: those that wait, */
  struct pai__reading *being_read;   /* and those that are under way */
  struct pai__counts *counts;        /* count.c's, or NULL */
  struct pai__feed *feed; /* feed.c's; NULL: nobody watches, nor has lately */
  struct pai__oidc *oidc; /* where users log in; NULL: with passwords, here */
  unsigned forks;         /* see base/fork.h */
  unsigned most_per_address; /* 0: any number */
  unsigned nreading;
  int shutdown_kill;
  int closing; /* 0; 1: asked to; 2: the grace time is over */
  bool shutdown_due;
  bool system; /* all users of this machine are served */
  bool tokens; /* nobody is known by the kernel's word */
  bool signs;  /* addresses, with this key: */
  unsigned char sign_key[32];
};

/* --- a request (request.c) ---------------------------------------------------- */

/* Who asks (who.c).  A user of OpenPAI, by a token; or a user of this machine,
 * by the kernel's word. */
typedef struct pai__caller {
  char *name; /* NULL: nobody who is known */
  bool self;  /* this process' user, who may do all */
  bool admin;
  bool owns;                /* jobs of that name are his */
  bool token;               /* by one, not by the kernel's word */
  bool application;         /* and it is a program's */
  bool granted;             /* by the token of this one address (signed.c) */
  unsigned scopes;          /* PAI_SCOPE_*: what it is good for */
  pai_time issued, expires; /* of the token; 0: never, or there is none */
} pai__caller;

struct pai__request {
  pai_server *server;
  pai__request *before, *after;
  pai__door *door;
  pai__line *line; /* NULL: there was no memory for it */
  bool remote;     /* it came over TCP */
  char peer[46];   /* the address that asks, behind proxies, too; "": local */
  pai__allowance allowance;
  pai__conn *conn;
  const char *uri; /* as it came; the connection's, as is the method; "" each
                      where the head has a fault */
  char *text;      /* of the path and the query, decoded, */
  size_t text_size;
  const char *method;
  pai_time since;          /* the loop's time when it began */
  const pai__route *route; /* NULL: none */
  const char *params[PAI__PARAMS];
  pai__caller caller;
  /* As whom files are used: a user of this machine, where all may ask; NULL:
   * this process' own. */
  pai__user *who;
  char *job_name; /* the job's own name with its user */
  struct {
    const char *name, *value;
  } query[PAI__QUERIES];
  size_t nquery;
  pai__buf body;   /* of a route with fields: JSON that was checked, */
  pai__tree *form; /* and read; else NULL */
  struct pai__upload *upload; /* code.c's */
  pai_file_writer *writer;    /* files.c's, */
  pai_job_id written;         /* into the folder of this job, */
  uint64_t replaced; /* where a file of so many bytes is in its place now; */
  uint64_t came;     /* so many bytes have come for it */
  size_t kept;       /* of its body, as the server counts it */
  bool begun, handled, suspended;
  bool dropped; /* its connection is closed without an answer */
  /* the answer */
  bool ready; /* to be sent */
  bool later; /* it may be asked again, a little later, or after `wait` */
  bool gone;  /* its relay was: the connection is to be closed */
  const char *said; /* what it says when it is done, if that takes time */
  int status;
  const char *type;
  char *location; /* where it leads to, or NULL */
  char *cookie;   /* that the browser is to keep, or NULL */
  char *stale;    /* one that it is to forget, or NULL */
  int64_t
    wait; /* microseconds after which it may be asked again; 0: unknown */
  char *claimed; /* as whom somebody could not log in, or NULL */
  pai__buf answer;
  pai__json_writer json;        /* to `answer` */
  struct pai__waiting *waiting; /* for the database, or a copy */
  char tag[40];                 /* of the answer, or "" */
  bool packed;                  /* it is gzip */
  int file;                     /* that is the answer's body, or -1, */
  uint64_t file_from;           /* from this byte on, */
  uint64_t file_size;           /* and its length */
  char range[80];               /* what of it that is, or "" */
  bool attached;                /* it is no part of a page */
  struct pai__files *files;     /* posix_sched_log.c's that are, or NULL */
  pai__stream *stream;
  int entered; /* a stream into a task, which the connection becomes; or -1 */
  pai__relay *relay; /* between both, where it is TLS's; */
};

/* The value of a name in the query, or NULL; "" if it has none.  What is not in
 * the table of the route was not said. */
const char *pai__request_query(const pai__request *r, const char *name);
/* Whether that is "true" or "1", or stands there alone. */
bool pai__request_flag(const pai__request *r, const char *name);
/* A whole number of that name, as the table wants it; what it says is missing,
 * or 0. */
int64_t pai__request_number(const pai__request *r, const char *name);
/* The id of the event behind which a stream is to go on, or NULL; where the
 * route has such streams. */
const char *pai__request_last_event(const pai__request *r);
/* Whether the numbers of the query are as the table wants them; if not, that is
 * the answer. */
bool pai__query_check(pai__request *r);
/* Digits, and no more of them than fit. */
int pai__param_number(const char *text, int64_t *out);

/* Answers that are sent at once.  The first one counts. */
void pai__answer_json(pai__request *r, int status); /* what r->json wrote */
void pai__answer_error(pai__request *r, int status, const char *code,
                       const char *fmt, ...) PAI__PRINTF(4, 5);
/* The same of a failed call, which may have an error: that is freed. */
void pai__answer_failure(pai__request *r, int rc, pai_error *err);
/* Likewise, and it is not. */
void pai__answer_why(pai__request *r, int rc, const pai_error *err);
/* What it waited for was given up: the server ends, or who asked has said that
 * he hears nothing more, and hears nothing. */
void pai__answer_cancelled(pai__request *r);
/* The same, as what OpenPAI has for it; the error stays the caller's. */
void pai__answer_coded(pai__request *r, int status, const char *code,
                       const pai_error *err);
/* {"status", "message"} as OpenPAI answers what it did. */
void pai__answer_done(pai__request *r, int status, const char *fmt, ...)
  PAI__PRINTF(3, 4);
/* The answer that is ready is sent when the database has all that was done; if
 * that fails, an error. */
void pai__answer_when_safe(pai__request *r);
/* The answer comes when something is done that ends with pai__answer_now(),
 * once.  NULL: there is no memory, and that is the answer. */
struct pai__waiting *pai__answer_later(pai__request *r);
/* Says of the next call of accounts who it is for: what waits for a password to
 * be hashed, with what pai__answer_later() gave, has its turn by address, and is
 * left out when the request's connection is gone (asker.c). */
void pai__ask_accounts(const pai__request *r);
pai__request *pai__waiting_request(const struct pai__waiting *w);
/* `gone` is called, once or twice, when who waits has hung up, or is not to be
 * answered any more: pai__answer_now() is still to come. */
void pai__waiting_watch(struct pai__waiting *w, void (*gone)(void *user_data),
                        void *user_data);
/* The request that waited; NULL: it is gone. */
pai__request *pai__answer_now(struct pai__waiting *w);
/* A pai_write_cb that writes an answer of `type`, of the pai__buf. */
int pai__answer_write(void *buf, const char *bytes, size_t len);
/* What is in r->answer, of a type that may be NULL. */
void pai__answer_ready(pai__request *r, int status, const char *type);
/* What such calls have written, if rc says so. */
void pai__answer_written(pai__request *r, int rc, pai_error *err);
/* What was done, if rc says so: {"message": r->said}, with the route's status,
 * when the database has it. */
void pai__answer_changed(pai__request *r, int rc, pai_error *err);
/* A pai_account_cb that does so, of what pai__answer_later() gave. */
void pai__answer_account(void *waiting, int status, const char *json,
                         size_t len, const pai_error *err);

/* who.c: as whom the platform is asked; NULL: as its own user. */
const char *pai__request_user(const pai__request *r);
/* Is a job of this name ("user~name") his, or everything? */
bool pai__request_is_own(const pai__request *r, const char *name);
/* May he see all of it? */
bool pai__request_may_see(const pai__request *r, const char *name);
/* The job in params[0]: whether he may do with it what he will, or see it; if
 * not, that is the answer. */
bool pai__request_may_job(pai__request *r);
bool pai__request_may_read(pai__request *r);
/* Who may do with it what he will: whether he may begin commands in it, too. */
bool pai__request_may_enter(pai__request *r);
/* Refuses: he is not who may do that. */
void pai__answer_forbidden(pai__request *r, const char *why);
/* The job that the path names; 0: there is none, and that is the answer. */
pai_job_id pai__request_job(pai__request *r);
/* "/attempts/N": a number, or "latest", which is -1.  False: it is neither, and
 * that is the answer. */
bool pai__request_attempt(pai__request *r, const char *text, int *attempt);

/* A text of that type. */
void pai__answer_text(pai__request *r, int status, const char *type,
                      const char *text);

/* --- a connection (conn.c, conn_send.c) --- */

/* What pai__payload.read() gives where it has no bytes. */
enum { PAI__READ_END = -1, PAI__READ_BROKEN = -2 };

/* The body of an answer. */
typedef struct pai__payload {
  int64_t size;      /* -1: unknown */
  const char *bytes; /* all of it, or NULL: it is read piece by piece; 0: the
                        request sleeps until there is more */
  long (*read)(void *user_data, uint64_t at, char *to, size_t max);
  /* Behind the head the connection is this one's, who may keep a copy of it;
   * NULL: it is not. */
  void (*upgrade)(void *user_data, int fd, const char *early, size_t len);
  void *user_data;
} pai__payload;

/* A field of the request's head, or NULL; the next one at or behind *at. */
const char *pai__conn_field(const pai__conn *c, const char *name);
const char *pai__conn_next_field(const pai__conn *c, const char *name,
                                 size_t *at);
const char *pai__conn_method(const pai__conn *c);
const char *pai__conn_target(const pai__conn *c);
/* The status of what is wrong with the request, and the end of a sentence that
 * says it; 0: nothing. */
int pai__conn_fault(const pai__conn *c, const char **why);
/* Whether it says how long its body is. */
bool pai__conn_length(const pai__conn *c, uint64_t *length);
pai__line *pai__conn_line(const pai__conn *c);
int pai__conn_fd(const pai__conn *c);
void *pai__conn_tls(const pai__conn *c); /* a gnutls_session_t, or NULL */
/* Bytes that came behind its request. */
size_t pai__conn_early(const pai__conn *c, const char **bytes);
void pai__conn_resume(pai__conn *c);
/* An answer: its status first, then its fields, then its body, which lives as
 * long as the request.  False: there is no memory. */
void pai__conn_begin_answer(pai__conn *c, int status);
void pai__conn_add_field(pai__conn *c, const char *name, const char *value);
bool pai__conn_answer(pai__conn *c, pai__payload payload);

/* What a connection calls.  NULL: there is no memory. */
pai__request *pai__request_begin(pai__door *door, pai__conn *conn);
/* Its head is there; then bytes of its body, as often as any come; then it is
 * whole, or was woken.  False: the connection is to be closed. */
bool pai__request_go_on(pai__request *r, const char *bytes, size_t len);
void pai__request_end(pai__request *r);
void pai__request_suspend(pai__request *r);
void pai__request_resume(pai__request *r);
/* It has waited for long enough: it is answered that the platform ends, or not at
 * all if it may have changed something, which no answer could tell. */
void pai__request_give_up(pai__request *r);

/* posix_backup.c: the file as the answer's body. */
pai__payload pai__file_payload(pai__request *r);
void pai__file_close(pai__request *r);
/* files.c: what is told of a file beside. */
void pai__file_headers(const pai__request *r);
/* posix_sched_log.c: likewise of several; NULL is allowed. */
pai__payload pai__files_payload(const pai__request *r);
void pai__files_free(struct pai__files *files);
/* code.c: of an upload that is not whole nothing stays. */
void pai__code_give_up(pai__request *r);
/* A file that is not whole is not written further. */
void pai__files_give_up(pai__request *r);

/* --- streams (stream.c) ----------------------------------------------------------- */

/* What makes a stream's bytes, and wants to know how fast they leave. */
typedef struct pai__source {
  void (*pause)(void *source,
                bool paused);   /* NULL: it adds what is asked for */
  void (*refill)(void *source); /* the queue is empty: it may add more; NULL */
  void (*free)(void *source);   /* last; the stream is gone */
  bool has_end;                 /* which says that all has been told */
} pai__source;

struct pai__stream {
  pai__request *request;
  const pai__source *ops;
  void *source;
  pai__buf queue; /* bytes that wait, after `sent` that have left */
  size_t sent;
  pai__poll *hangup; /* watched from its first sleep on */
  bool paused;       /* the source was told to */
  bool over, broken; /* nothing more comes; it did not end well */
  bool counted;      /* as one of its user's */
  bool watched;      /* whether the reader hangs up, */
  bool hung_up;      /* which it did */
  bool gone;         /* nobody reads any more */
};

/* Answers with a stream.  On failure, which is answered, `source` is freed. */
bool pai__stream_begin(pai__request *r, const char *type,
                       const pai__source *ops, void *source);
void pai__stream_add(pai__stream *s, const char *bytes, size_t len);
/* There is something to be asked for: the connection wakes. */
void pai__stream_wake(pai__stream *s);
/* What has ended well is not broken any more: what waits still leaves. */
void pai__stream_over(pai__stream *s, bool broken);
/* Its part of the answer and of the end. */
pai__payload pai__stream_payload(pai__stream *s);
void pai__stream_free(pai__stream *s);
/* Its connection sleeps: who hangs up is noticed. */
void pai__stream_suspended(pai__stream *s);

/* --- addresses with a right of their own (signed.c) ------------------------------- */

/* Makes the key. */
void pai__signed_open(pai_server *s);
/* Adds a token to a path, with which its caller's right to read holds there for
 * an hour. */
void pai__signed_add(pai__buf *address, const pai__request *r);
/* Whether the request has such a token: then it is its user's. */
bool pai__signed_holds(pai__request *r);

/* --- routes ------------------------------------------------------------------------ */

/* Who may ask (who.c). */
enum pai__right {
  PAI__OF_ALL = 1,     /* whoever is there */
  PAI__OF_USERS,       /* who is known; the handler sees to what is theirs */
  PAI__OF_PERSONS,     /* likewise, and no program */
  PAI__OF_READERS,     /* who may see the job that the path names */
  PAI__OF_OWNER,       /* the owner of the job that the path names */
  PAI__OF_OWNER_ALONE, /* and no administrator in his place */
  PAI__OF_ADMIN,
  PAI__OF_ADMIN_PERSONS, /* and no program */
  PAI__RIGHTS
};

/* How users log in where a route is there. */
enum pai__mode { PAI__WITH_ANY = 0, PAI__WITH_PASSWORDS, PAI__WITH_OIDC };

static inline enum pai__mode pai__server_mode(const pai_server *server)
{
  return server->oidc != NULL ? PAI__WITH_OIDC : PAI__WITH_PASSWORDS;
}

/* What is not said is 0.  The document of the API is written from it. */
struct pai__route {
  const char *method; /* NULL: any; HEAD is answered as GET */
  const char *path;   /* ":name" stands for any one part, "*name" for what is
                         left; paths that lead to the same after a space */
  void (*handle)(pai__request *r);
  enum pai__right right;
  enum pai__mode mode;
  size_t most_body; /* 0: PAI__MOST_JSON */
  /* NULL: pai__request_keep(); else takes the next piece. */
  void (*take)(pai__request *r, const char *bytes, size_t len);
  const pai__field *fields; /* of its body, which is checked before; NULL: the
                               handler sees to it, or there is none */
  /* What it takes in the query; NULL: nothing.  Numbers are checked before. */
  const pai__field *queries;
  bool is_signed; /* a token of its address suffices (signed.c) */
  bool resumes;   /* its stream goes on behind a Last-Event-ID */
  bool packs;     /* what it answers may be compressed: it has no secrets */
  bool noted;     /* in the audit log, though it changes nothing */
  bool acts; /* it is done as a user of this machine, where all are served */
  bool submits; /* a GET that a token needs the scope "submit" for */
  int status;   /* when it is done; 0: 200 */
  const pai__result *result; /* what it answers then; NULL: that it is done */
  const char *summary;
  const char
    *errors; /* "404 NoJobError, 409 ConflictJobError" beside those that
                         its right and its fields have */
};

/* Each file of handlers has a table of its own; route.c knows them all. */
typedef struct pai__routes {
  const pai__route *at;
  size_t n;
} pai__routes;

/* Of numbers that have no other: what a reader in JavaScript can tell apart. */
#define PAI__MOST_WHOLE ((INT64_C(1) << 53) - 1)

/* jobs.c: handlers that older paths lead to, too (v1.c). */
extern const pai__field pai__jobs_queries[], pai__config_queries[];
void pai__jobs_list(pai__request *r);
void pai__jobs_show(pai__request *r);
void pai__jobs_config(pai__request *r);
/* ssh.c: likewise. */
void pai__ssh_show(pai__request *r);

extern const pai__routes pai__attempts_routes, pai__absent_routes,
  pai__pages_routes, pai__v1_routes, pai__alerts_routes, pai__kube_routes,
  pai__metrics_routes;
extern const pai__routes pai__jobs_routes, pai__change_routes,
  pai__code_routes, pai__enter_routes, pai__follow_routes, pai__logs_routes,
  pai__backup_routes, pai__sched_log_routes, pai__submit_routes,
  pai__watch_routes, pai__audit_routes, pai__authn_routes, pai__groups_routes,
  pai__openapi_routes, pai__storages_routes, pai__tokens_routes,
  pai__users_routes, pai__front_routes, pai__vcs_routes, pai__oidc_routes,
  pai__consent_routes, pai__estimate_routes, pai__ssh_routes,
  pai__quota_routes, pai__files_routes;

/* Table `i` of all; NULL: there is none. */
const pai__routes *pai__routes_at(size_t i);
/* route.c: the route, and the parts of the path that are not fixed. */
const pai__route *pai__route_find(const char *method, char *path,
                                  enum pai__mode mode,
                                  const char *params[PAI__PARAMS]);
/* Keeps a piece of the body until that is whole, or refuses it. */
void pai__request_keep(pai__request *r, const char *bytes, size_t len);
/* What the route takes of that name in the query, or NULL. */
const pai__field *pai__query_find(const pai__route *route, const char *name);

/* authn.c: who gets a token has all that a user of OpenPAI has. */
void pai__accounts_complete(pai_server *server, const char *user);
/* groups.c: makes the groups that every platform has. */
int pai__groups_begin(pai_accounts *accounts, pai_error **err);
/* enter.c: its part of the answer and of the end. */
pai__payload pai__enter_payload(pai__request *r);
void pai__enter_forget(pai__request *r);
/* posix_self.c: the name of this process' user, for pai__strfree().  PAI_EIO:
 * the list of users cannot be read. */
int pai__self_name(char **out, const pai_alloc *alloc, pai_error **err);
/* posix_hand.c: gives the socket `fd`, and the bytes that came on it already,
 * to whoever is at the end of `to`. */
bool pai__hand_over(int to, int fd, const char *bytes, size_t len);
void pai__hand_close(int fd); /* -1 is allowed */
/* posix_relay.c: says `head`, and then hands on what is said on the connection,
 * which is TLS's and suspended, to r->entered, and back, until either is
 * over. */
int pai__relay_begin(pai__request *r, const char *head, pai_error **err);
void pai__relay_end(pai__relay *relay);  /* the server ends */
void pai__relay_free(pai__relay *relay); /* NULL is allowed */

/* event_json.c: an event as one line, {"event", "time_us", ...}.  `name` may be
 * NULL, and so may the code that the job's page has, of one that is over. */
void pai__event_json(pai__json_writer *w, const char *name,
                     const pai_event *event, const int64_t *exit_code);

void pai__packer_free(pai_server *server); /* pack.c's */
/* The door's connections go on in the next turn (door.c). */
void pai__door_run_soon(pai__door *door);
/* Where the server's time to end it all has come, it does (server.c). */
void pai__server_check_end(pai_server *server);

#endif
