/*
 * http.h - HTTP requests on the loop: libcurl's multi interface on libuv
 *
 * No function of this header runs a callback before it returns.  Everything
 * that changes the multi handle happens in a step of the loop, so these
 * functions may be called in any callback, also in one of curl's.
 */
#ifndef PAI_SRC_HTTP_HTTP_H
#define PAI_SRC_HTTP_HTTP_H

#include "loop/loop.h"

/* Connections to one server, and the requests over them. */
typedef struct pai__http pai__http;
struct pai__http_answer;
typedef struct pai__http_request pai__http_request;

typedef struct pai__http_options {
  const char *socket;    /* path of the server's UNIX socket, or NULL */
  const char *place;     /* the server's name in errors */
  const char *proxy;     /* NULL: from the environment; "": none */
  const char *ca_file;   /* NULL: the system's authorities */
  const char *cert_file; /* this client's certificate, with key_file; or
                            NULL */
  const char *key_file;
  /* The same as PEM texts, instead of files. */
  const char *ca, *cert, *key;
  pai_time connect_time; /* time limit for connecting */
  /* NULL: any address; or returns whether a connection may be made to the
   * address (a struct sockaddr), which a name has led to. */
  bool (*may_connect)(void *user_data, const void *address);
  void *guard;     /* its user_data */
  bool plain_mail; /* mail may be sent without TLS */
} pai__http_options;

/* A mail, instead of an HTTP request: the URL begins with smtp:// or
 * smtps://, and the body is the message with its headers. */
typedef struct pai__http_mail {
  const char *from;
  const char *const *to;       /* ended by NULL */
  const char *user, *password; /* NULL: no login */
} pai__http_mail;

/* A request to make.  All of it is borrowed until on_done.  Texts have no
 * control characters. */
typedef struct pai__http_want {
  const char *method;
  const char *url;  /* complete, with its query */
  const char *type; /* content type of the body */
  const char *accept;
  const char *authorization; /* or NULL.  Not sent to another server after a
                                redirect */
  const char *range;         /* "bytes=N-", or NULL */
  const char *last_event;    /* id of the last event received from a stream, or
                                NULL */
  const pai__http_mail *mail; /* NULL: an HTTP request */
  const void *body;           /* NULL: none */
  size_t body_len;
  pai_time total_time; /* limit of the whole request; 0: none */
  pai_time idle_time;  /* limit of the time without data, in whole seconds; 0:
                          none */
  bool once;           /* never send the request to the server twice */
  bool stream;         /* may last for ever: it gets a connection of its own
                          and does not count among the parallel requests */
  /* Called with pieces of the answer's body.  A negative result ends the
   * request. */
  int (*on_body)(void *user_data, int http_status, const char *bytes,
                 size_t len);
  /* NULL, or called now and then with the number of bytes of the body sent. */
  void (*on_sent)(void *user_data, uint64_t sent);
  /* NULL, or: connect to the URL's host only, send no request, and call this.
   * The connection lasts until the request is canceled or dropped.  Called in
   * a callback of curl's. */
  void (*on_connected)(void *user_data, pai__http_request *request);
  /* Called once, last.  status: PAI_OK for a complete answer of any HTTP
   * status, else an error.  The request is freed. */
  void (*on_done)(void *user_data, int status,
                  const struct pai__http_answer *answer, const pai_error *err);
  void *user_data;
} pai__http_want;

/* An answer without its body; borrowed during on_done. */
typedef struct pai__http_answer {
  int status;           /* 0: no answer came */
  const char *type;     /* of the body, or "" */
  const char *location; /* target of a redirect, or "" */
  pai_time retry_after; /* 0: not given */
  int64_t log_offset;   /* X-Log-Offset, if a complete head came; -1: not
                           given */
  bool sent;            /* the request may have reached the server */
} pai__http_answer;

int pai__http_new(pai__http **out, const pai_alloc *alloc, pai_loop *loop,
                  const pai__http_options *options, pai_error **err);
/* Ends all requests with PAI_ECANCELED, then calls `closed`. */
void pai__http_close(pai__http *http, void (*closed)(void *user_data),
                     void *user_data);
/* Closes at once, without callbacks.  Not allowed in a callback of curl's. */
void pai__http_drop(pai__http *http);
/* Creates one with the options of another. */
int pai__http_alike(pai__http **out, const pai__http *http, pai_error **err);
int pai__http_ask(pai__http_request **out, pai__http *http,
                  const pai__http_want *want, pai_error **err);
void pai__http_cancel(pai__http_request *request);
/* Returns the X-Log-Offset of the answer's head, -1: not given.  For use in
 * on_body. */
int64_t pai__http_log_offset(const pai__http_request *request);
/* Marks the present connections as possibly dead: later requests use new ones.
 * A request that timed out does the same. */
void pai__http_suspect(pai__http *http);
/* Pauses or resumes the delivery of the answer's body.  While paused, data
 * stays in the connection, which slows down the server. idle_time stops
 * meanwhile, total_time does not. */
void pai__http_hold(pai__http_request *request, bool hold);

/* --- upgraded connections ------------------------------------------------ */

/* The head of an answer. */
typedef struct pai__http_head {
  int status;
  int64_t length; /* of the body; -1: until the connection ends */
  bool upgraded;  /* upgraded to `protocol` */
} pai__http_head;

/* head.c: parses a head.  Returns its length in bytes; 0: incomplete; -1:
 * invalid.  Pure. */
long pai__http_read_head(pai__http_head *out, const char *bytes, size_t len,
                         const char *protocol);

/* A connection that was upgraded from HTTP (stream.c). */
typedef struct pai__http_stream pai__http_stream;

/* Makes a stream of a socket and owns the socket, even if this fails.
 * PAI_ENOMEM. */
int pai__http_stream_new(pai__http_stream **out, const pai_alloc *alloc,
                         int fd);
/* Makes a stream of a request that has connected.  It must be the only one of
 * its pai__http, which the stream owns from then on.  PAI_ENOMEM; PAI_EIO: the
 * connection is lost. */
int pai__http_stream_of(pai__http_stream **out, pai__http_request *request);
/* Closes the connection; not allowed in a callback of curl's.  NULL is
 * allowed. */
void pai__http_stream_close(pai__http_stream *stream);
int pai__http_stream_fd(const pai__http_stream *stream); /* for polling */
/* Returns whether data may be buffered although the descriptor is not
 * readable.  Then receive until nothing comes. */
bool pai__http_stream_holds(const pai__http_stream *stream);
/* Sends what it can.  Returns the number of bytes, or -1: the connection is
 * lost.  After 0 the next call must begin with the same bytes. */
long pai__http_stream_send(pai__http_stream *stream, const char *bytes,
                           size_t len);
/* Returns the number of bytes; 0: none now; -1: end of the stream; -2:
 * error. */
long pai__http_stream_receive(pai__http_stream *stream, char *bytes,
                              size_t size);

typedef struct pai__http_upgrade pai__http_upgrade;

typedef struct pai__http_upgrade_want {
  const char *socket;        /* path of the server's UNIX socket; NULL: use
                                `url` */
  const char *url;           /* of the server */
  const pai__http *like;     /* its proxy and trusted certificates are used for
                                `url` */
  const char *host;          /* Host header */
  const char *path;          /* of the request; without control characters */
  const char *protocol;      /* to upgrade to; must outlive the request */
  const char *authorization; /* or NULL */
  pai_time time;             /* time limit for the answer; 0: none */
  /* Called once, last.  PAI_OK and a stream: the connection, which the callee
   * owns, and bytes that were already read.  PAI_OK and NULL: another answer,
   * with its body in `bytes`.  Else an error. */
  void (*on_done)(void *user_data, int status, int http_status,
                  pai__http_stream *stream, const char *bytes, size_t len,
                  const pai_error *err);
  void *user_data;
} pai__http_upgrade_want;

/* upgrade.c: sends an upgrade request.  All but `protocol` is copied. */
int pai__http_upgrade_new(pai__http_upgrade **out, const pai_alloc *alloc,
                          pai_loop *loop, const pai__http_upgrade_want *want,
                          pai_error **err);
/* Cancels it without a callback.  NULL is allowed. */
void pai__http_upgrade_close(pai__http_upgrade *upgrade);

/* posix_keepalive.c: makes TCP close a connection whose peer does not respond
 * for half a minute. */
void pai__http_watch_socket(int fd);

/* posix_stream.c: send and receive for a non-blocking socket, with the results
 * of the stream's. */
long pai__http_send(int fd, const char *bytes, size_t len);
long pai__http_receive(int fd, char *bytes, size_t size);
void pai__http_end(int fd); /* closes it; -1 is allowed */
/* Connects to the UNIX socket at `path`, with the errors of
 * pai__http_open_unix(). */
int pai__http_connect_unix(int *fd, const char *path, pai_error **err);

/* --- sockets ------------------------------------------------------------- */

/* posix_socket.c: creates a socket to be connected to `path`, and its address.
 * *folder, if not -1, must be closed by pai__socket_end() after connecting.
 * The socket at `path` must belong to this user.  PAI_ENOTFOUND; PAI_EPERM;
 * PAI_EIO. */
int pai__http_open_unix(int *fd, void *address, unsigned *len, int *folder,
                        const char *path, pai_error **err);
/* Checks that the process at the other end belongs to this user: PAI_OK or
 * PAI_EPERM. */
int pai__http_check_unix(int fd, const char *path, pai_error **err);
/* Creates a socket of those kinds, as socket(); -1: failed. */
int pai__http_open_socket(int family, int type, int protocol);
/* Sets the error for a failed connect, by errno. */
int pai__http_fail_unix(int error, const char *path, pai_error **err);

#endif
