/*
 * door.h - internal to the room: where a server is come to, and who has come
 *
 * A door is a socket that is listened at, with its connections: the UNIX socket
 * of the platform, or an address of TCP.  A line is how long a connection may be
 * at what.
 */
#ifndef PAI_SRC_SERVER_DOOR_H
#define PAI_SRC_SERVER_DOOR_H

#include "server/server.h"

#include <gnutls/abstract.h>

/* No keys that the certificate's key can read later (static RSA), and only
 * ciphers that authenticate what they encrypt (no CBC). */
#define PAI__TLS_PRIORITIES                                            \
  "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-DHE-RSA:-DHE-DSS:" \
  "-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM"

enum { PAI__PEER = 46 }; /* room for an address as text */

/* What a line is at; in each of these it may be only for so long. */
enum pai__phase {
  PAI__IDLE, /* nothing was asked yet, or again */
  PAI__HEAD, /* the first line of a request is there */
  PAI__BODY,
  PAI__SEND, /* an answer is on its way */
  PAI__PHASES,
  PAI__AWAITED = PAI__PHASES /* we are at it: no limit; nor has a stream one */
};

struct pai__line {
  pai__door *door;
  pai__line *before, *after; /* of its phase, the oldest first */
  int fd;
  enum pai__phase phase;
  pai_time since;       /* when the phase began */
  uint64_t moved;       /* bytes of a body that have come, or have left */
  uint64_t mark;        /* bytes that had been moved when it was looked at */
  unsigned long user;   /* at the other end of the UNIX socket */
  char peer[PAI__PEER]; /* the address at the other end of TCP, or "" */
};

struct pai__door {
  pai_server *server;
  pai__door *next;
  bool remote; /* it is TCP */
  bool tls;
  char *name; /* the socket's path, or "http://127.0.0.1:9186" */
  int port;
  int listener; /* -1: closed */
  pai__fork_fd listener_fork;
  uint64_t inode; /* of the socket's file */
  pai__poll *listening;
  int ready_fd; /* readable when connections have something to do */
  pai__poll *ready;
  pai__conn *conns;                 /* all of them, */
  pai__conn *first_due, **last_due; /* and those that run in the next turn, */
  size_t due;                       /* which are so many */
  gnutls_priority_t priorities;     /* TLS's */
  gnutls_certificate_credentials_t papers;
  pai__timer *sweep; /* looks for lines whose time is over */
  bool sweeping;
  bool run_due;
  pai_time now; /* when it was last run */
  size_t most, lines;
  pai__map peers; /* how many lines each has, where that has a limit */
  struct {
    pai__line *first, *last;
  } phases[PAI__PHASES];
};

/* --- door.c --- */

/* Adds a door to the server, which frees it.  `listener` is its own, and closed
 * on failure. */
int pai__door_new(pai__door **out, pai_server *server, int listener,
                  bool remote, pai_error **err);
/* Makes it serve; with `tls`, the server's certificate. */
int pai__door_open(pai__door *door, bool tls, pai_error **err);
/* The connections that have something to do, do it. */
void pai__door_run(pai__door *door);
/* Whether its turn has been a long one. */
bool pai__door_is_late(const pai__door *door);
/* Nobody else comes in. */
void pai__door_shut(pai__door *door);
void pai__door_free(pai__door *door);
/* The line of a connection that has begun, and its end; NULL is allowed. */
pai__line *pai__door_line(pai__door *door, int fd);
void pai__door_line_gone(pai__door *door, pai__line *line);
/* How many lines somebody has. */
size_t pai__door_count(const pai__door *door, const void *who, size_t len);

/* --- line.c --- */

/* A new one is idle.  NULL: no memory. */
pai__line *pai__line_new(pai__door *door, int fd);
void pai__line_free(pai__line *line);
/* NULL is allowed. */
void pai__line_enter(pai__line *line, enum pai__phase phase);
/* So many bytes of a body have come, or of an answer have left. */
void pai__line_moved(pai__line *line, size_t bytes);
/* Hangs up on those whose time is over; whether any are left to be watched. */
bool pai__lines_sweep(pai__door *door, pai_time now);
/* Hangs up on the idle one that has been so for longest; false: none is. */
bool pai__lines_drop_idle(pai__door *door);

/* --- posix_listen.c, posix_tcp.c, linux_tcp.c --- */

/* What came of taking the next one who came. */
enum { PAI__TAKEN, PAI__NONE_LEFT, PAI__NO_ROOM };

/* The UNIX socket.  As pai_server_new(). */
int pai__unix_listen(pai_server *server, const char *path, pai_error **err);
void pai__unix_unlisten(pai__door *door);
void pai__unix_peer(unsigned long *user, int fd);
int pai__unix_accept(pai__door *door);
/* "HOST:PORT" of `len` bytes. */
int pai__tcp_listen(pai_server *server, const char *text, size_t len,
                    pai__door **out, pai_error **err);
int pai__tcp_accept(pai__door *door);
/* Who is at the other end, as text; "": that cannot be told. */
void pai__tcp_peer(char peer[PAI__PEER], int fd);
/* Whether somebody has hung up there, or closed his side of it. */
bool pai__tcp_is_gone(int fd);
/* Bytes that have arrived there. */
uint64_t pai__tcp_sent(int fd);
/* With `drop` what was not sent yet is forgotten. */
void pai__tcp_hang_up(int fd, bool drop);
/* As many connections as the descriptors of this process allow. */
size_t pai__tcp_most(size_t wanted);

/* --- posix_cert.c --- */

/* *out is to be freed on failure, too. */
int pai__certs_new(pai__certs **out, pai_server *server, const char *cert,
                   const char *key, pai_error **err);
void pai__certs_free(pai__certs *certs);
/* Reads files again that have changed.  NULL is allowed. */
void pai__certs_look(pai__certs *certs);
/* posix_transport.c: what connections of TLS have in common. */
bool pai__transport_prepare(pai__door *door);
void pai__transport_forget(pai__door *door);
/* What pai__certs_give() gives from now on, on this thread. */
void pai__certs_ask(const pai__certs *certs);
/* A gnutls_certificate_retrieve_function2. */
int pai__certs_give(gnutls_session_t session, const gnutls_datum_t *names,
                    int nnames, const gnutls_pk_algorithm_t *kinds, int nkinds,
                    gnutls_pcert_st **links, unsigned *nlinks,
                    gnutls_privkey_t *key);

/* --- tls.c: a file's text, for pai__strfree() --- */

int pai__tls_read(char **out, const pai_alloc *alloc, const char *path,
                  const char *what, pai_error **err);

#endif
