/*
 * http.h - requests on the loop: libcurl's multi interface on libuv
 *
 * Nothing calls back from inside a call of this header.  All that changes what
 * curl works on is done in a turn of the loop: it may be asked for in any
 * callback, also in one that curl makes.
 */
#ifndef PAI_SRC_HTTP_HTTP_H
#define PAI_SRC_HTTP_HTTP_H

#include "loop/loop.h"

/* Connections to one server, and what is asked over them. */
typedef struct pai__http pai__http;
struct pai__http_answer;
typedef struct pai__http_request pai__http_request;

typedef struct pai__http_options {
  const char *socket;  /* path of the UNIX socket where it listens, or NULL */
  const char *place;   /* the server, as errors name it */
  const char *proxy;   /* NULL: what the environment says; "": none */
  const char *ca_file; /* NULL: the system's authorities */
  const char *cert_file; /* of this client, with key_file; NULL: none */
  const char *key_file;
  /* The same as texts in PEM, in the place of the files. */
  const char *ca, *cert, *key;
  pai_time connect_time; /* after so long without a connection it fails */
} pai__http_options;

/* What to ask.  All of it is borrowed until on_done; texts are without control
 * characters. */
typedef struct pai__http_want {
  const char *method;
  const char *url;  /* whole, with its query */
  const char *type; /* of the body */
  const char *accept;
  const char *authorization; /* NULL: none.  Another server, to which this one
                                leads, is not told */
  const char *range;         /* "bytes=N-", or NULL */
  const char *last_event; /* of a stream: the last id that it told, or NULL */
  const void *body;       /* NULL: none */
  size_t body_len;
  pai_time total_time; /* after so long it fails; 0: no limit */
  pai_time idle_time;  /* the same, of which nothing came; whole seconds */
  bool once;           /* it never reaches the server twice */
  bool stream;         /* it may go on for ever: it has a connection of its own
                          beside those that others wait for */
  /* Receives the answer's body as it comes; a negative answer ends it. */
  int (*on_body)(void *user_data, int http_status, const char *bytes,
                 size_t len);
  /* NULL, or told how much of the body has left, once in a while. */
  void (*on_sent)(void *user_data, uint64_t sent);
  /* NULL, or nothing is asked but to connect, to the URL's host: then this is
   * called, and the connection is there until the request is cancelled or
   * dropped.  In a callback of curl's. */
  void (*on_connected)(void *user_data, pai__http_request *request);
  /* Called once, last: PAI_OK, whatever the answer's status is; or why there
   * is no whole answer.  The request is gone. */
  void (*on_done)(void *user_data, int status,
                  const struct pai__http_answer *answer, const pai_error *err);
  void *user_data;
} pai__http_want;

/* What is known of an answer beside its body; borrowed during on_done. */
typedef struct pai__http_answer {
  int status;           /* 0: none came */
  const char *type;     /* of the body, or "" */
  const char *location; /* where it leads to, or "" */
  pai_time retry_after; /* 0: it was not said */
  bool sent;            /* the request may have reached the server */
} pai__http_answer;

int pai__http_new(pai__http **out, const pai_alloc *alloc, pai_loop *loop,
                  const pai__http_options *options, pai_error **err);
/* Its requests are done with PAI_ECANCELED, then `closed` is called. */
void pai__http_close(pai__http *http, void (*closed)(void *user_data),
                     void *user_data);
/* The same at once, and no request is told.  Not in a callback of curl's. */
void pai__http_drop(pai__http *http);
/* A new one with the options of another. */
int pai__http_alike(pai__http **out, const pai__http *http, pai_error **err);
int pai__http_ask(pai__http_request **out, pai__http *http,
                  const pai__http_want *want, pai_error **err);
void pai__http_cancel(pai__http_request *request);
/* The connections that are there may lead nowhere, though nobody has hung up:
 * what is asked from now on gets others.  So it is after a request that took
 * too long, too. */
void pai__http_suspect(pai__http *http);
/* From now on nothing of its answer's body is handed on, until it is told
 * otherwise: what comes waits in the connection, and so whoever sends it.
 * idle_time stands still meanwhile, total_time does not. */
void pai__http_hold(pai__http_request *request, bool hold);

/* --- connections that become something else -------------------------------- */

/* What the head of an answer says. */
typedef struct pai__http_head {
  int status;
  int64_t length; /* of the body; -1: until the connection ends */
  bool upgraded;  /* to `protocol` */
} pai__http_head;

/* head.c: how many bytes the head has; 0: it is not whole yet; -1: it is none.
 * Pure. */
long pai__http_read_head(pai__http_head *out, const char *bytes, size_t len,
                         const char *protocol);

/* A connection that speaks no HTTP any more (stream.c). */
typedef struct pai__http_stream pai__http_stream;

/* Of a socket, which is its own from now on, also if this fails.  PAI_ENOMEM. */
int pai__http_stream_new(pai__http_stream **out, const pai_alloc *alloc,
                         int fd);
/* Of a request that has connected and is all that its pai__http does, which
 * is the stream's then.  PAI_ENOMEM; PAI_EIO: the connection is gone. */
int pai__http_stream_of(pai__http_stream **out, pai__http_request *request);
/* Hangs up; not in a callback of curl's.  NULL is allowed. */
void pai__http_stream_close(pai__http_stream *stream);
int pai__http_stream_fd(const pai__http_stream *stream); /* to wait for */
/* Whether there may be something to receive although the descriptor is not
 * readable: until nothing comes. */
bool pai__http_stream_holds(const pai__http_stream *stream);
/* Sends what it can; how much, or -1: it is gone.  After 0 the next call begins
 * with the same bytes. */
long pai__http_stream_send(pai__http_stream *stream, const char *bytes,
                           size_t len);
/* Bytes from it; 0: none now; -1: it is over; -2: it broke. */
long pai__http_stream_receive(pai__http_stream *stream, char *bytes,
                              size_t size);

typedef struct pai__http_upgrade pai__http_upgrade;

typedef struct pai__http_upgrade_want {
  const char *socket;    /* path of the UNIX socket where the server listens,
                             or NULL, and then: */
  const char *url;       /* of the server, */
  const pai__http *like; /* as which one connects: its proxy, whom it trusts */
  const char *host;      /* as the request names it */
  const char *path;      /* to be asked for; without control characters */
  const char *protocol;  /* to become; outlives this */
  const char *authorization; /* or NULL */
  pai_time time; /* after so long without an answer it fails; 0: no limit */
  /* Called once, last.  PAI_OK: the connection, which is now the callee's, and
   * bytes that were read already; or NULL and another answer, with its body in
   * `bytes`; or why there is none. */
  void (*on_done)(void *user_data, int status, int http_status,
                  pai__http_stream *stream, const char *bytes, size_t len,
                  const pai_error *err);
  void *user_data;
} pai__http_upgrade_want;

/* upgrade.c: but for `protocol` all is copied */
int pai__http_upgrade_new(pai__http_upgrade **out, const pai_alloc *alloc,
                          pai_loop *loop, const pai__http_upgrade_want *want,
                          pai_error **err);
/* Ends it early, without a word.  NULL is allowed. */
void pai__http_upgrade_close(pai__http_upgrade *upgrade);

/* posix_keepalive.c: TCP looks whether the other end is there: what is silent,
 * or takes nothing, for half a minute is given up. */
void pai__http_watch_socket(int fd);

/* posix_stream.c: the same of a socket, which does not block. */
long pai__http_send(int fd, const char *bytes, size_t len);
long pai__http_receive(int fd, char *bytes, size_t size);
void pai__http_end(int fd); /* closes it; -1 is allowed */
/* Connects to the UNIX socket at `path`: as pai__http_open_unix(). */
int pai__http_connect_unix(int *fd, const char *path, pai_error **err);

/* --- sockets --------------------------------------------------------------- */

/* posix_socket.c: a socket that is to be connected to the one at `path`, and
 * its address.  *folder, if not -1, goes with pai__socket_end() when it is
 * connected.  That socket must be this user's.  PAI_ENOTFOUND; PAI_EPERM;
 * PAI_EIO. */
int pai__http_open_unix(int *fd, void *address, unsigned *len, int *folder,
                        const char *path, pai_error **err);
/* Whether who listens at the other end is this user: PAI_OK or PAI_EPERM. */
int pai__http_check_unix(int fd, const char *path, pai_error **err);
/* Why it could not be connected, by errno. */
int pai__http_fail_unix(int error, const char *path, pai_error **err);

#endif
