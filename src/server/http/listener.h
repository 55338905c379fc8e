/*
 * listener.h - internal to the room: listening sockets and their connections
 *
 * A listener is the UNIX socket of the platform or a TCP address, with its
 * connections.  Each connection has a deadline: how long it may stay in its
 * phase.
 */
#ifndef PAI_SRC_SERVER_HTTP_LISTENER_H
#define PAI_SRC_SERVER_HTTP_LISTENER_H

#include "server/server.h"

#include <gnutls/abstract.h>

/* No key exchange that can be decrypted later with the certificate's key
 * (static RSA), and only authenticated ciphers (no CBC). */
#define PAI__TLS_PRIORITIES                                            \
  "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-DHE-RSA:-DHE-DSS:" \
  "-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM"

enum { PAI__PEER = 46 }; /* size of an address as text */

/* Phases of a connection; the time in each is limited. */
enum pai__phase {
  PAI__IDLE, /* waits for a first or next request */
  PAI__HEAD, /* reads the head of a request */
  PAI__BODY,
  PAI__SEND, /* sends an answer */
  PAI__PHASES,
  /* the server handles the request, or streams: no limit */
  PAI__AWAITED = PAI__PHASES
};

struct pai__server_deadline {
  pai__server_listener *listener;
  pai__server_deadline *before, *after; /* list of the phase, oldest first */
  int fd;
  enum pai__phase phase;
  pai_time since;       /* when the phase began */
  uint64_t moved;       /* bytes of a body that were received or sent */
  uint64_t mark;        /* `moved` at the last look */
  unsigned long user;   /* uid of the peer of the UNIX socket */
  char peer[PAI__PEER]; /* address of the TCP peer, or "" */
};

struct pai__server_listener {
  pai_server *server;
  pai__server_listener *next;
  bool remote; /* TCP */
  bool tls;
  char *name; /* the socket's path, or "http://127.0.0.1:9186" */
  int port;
  int fd; /* -1: closed */
  pai__fork_fd fd_fork;
  uint64_t inode; /* of the socket's file */
  pai__poll *listening;
  int ready_fd; /* readable when connections are ready */
  pai__poll *ready;
  pai__conn *conns;                 /* all connections */
  pai__conn *first_due, **last_due; /* connections that run in the next step */
  size_t due;                       /* number of these */
  gnutls_priority_t priorities;     /* for TLS */
  gnutls_certificate_credentials_t papers;
  pai__timer *sweep; /* looks for connections that are out of time */
  bool sweeping;
  bool run_due;
  pai_time now; /* time of the last run */
  size_t most, connections;
  pai__map peers; /* number of connections of each peer, if that is limited */
  struct {
    pai__server_deadline *first, *last;
  } phases[PAI__PHASES];
};

/* --- http/listener.c --- */

/* Adds a listener to the server, which frees it.  Takes ownership of `fd`,
 * also on failure. */
int pai__server_listener_new(pai__server_listener **out, pai_server *server,
                             int fd, bool remote, pai_error **err);
/* Starts serving; with `tls`, uses the server's certificate. */
int pai__server_listener_open(pai__server_listener *d, bool tls,
                              pai_error **err);
/* Runs the connections that are due. */
void pai__server_listener_run(pai__server_listener *d);
/* Returns whether the current step has taken long. */
bool pai__server_listener_is_late(const pai__server_listener *listener);
/* Accepts no more connections. */
void pai__server_listener_shut(pai__server_listener *d);
void pai__server_listener_free(pai__server_listener *d);
/* Add and remove the deadline of a connection; NULL is allowed. */
pai__server_deadline *pai__server_listener_deadline(pai__server_listener *d,
                                                    int fd);
void pai__server_listener_deadline_gone(pai__server_listener *d,
                                        pai__server_deadline *l);
/* Returns how many connections a peer has. */
size_t pai__server_listener_count(const pai__server_listener *listener,
                                  const void *who, size_t len);

/* --- http/timeouts.c --- */

/* Makes a deadline in phase PAI__IDLE.  Returns NULL if out of memory. */
pai__server_deadline *pai__server_deadline_new(pai__server_listener *listener,
                                               int fd);
void pai__server_deadline_free(pai__server_deadline *l);
/* NULL is allowed. */
void pai__server_deadline_enter(pai__server_deadline *l,
                                enum pai__phase phase);
/* Counts bytes received of a body, or sent of an answer. */
void pai__server_deadline_moved(pai__server_deadline *l, size_t bytes);
/* Hangs up on connections that are out of time; returns whether any are left
 * to watch. */
bool pai__server_deadlines_sweep(pai__server_listener *listener, pai_time now);
/* Hangs up on the connection that has been idle longest; returns false if none
 * is idle. */
bool pai__server_deadlines_drop_idle(pai__server_listener *listener);

/* --- posix_listen.c, posix_tcp.c, linux_tcp.c --- */

/* Results of accepting a connection. */
enum { PAI__TAKEN, PAI__NONE_LEFT, PAI__NO_ROOM };

/* Listens at the UNIX socket.  Errors as pai_server_new(). */
int pai__unix_listen(pai_server *server, const char *path, pai_error **err);
void pai__unix_unlisten(pai__server_listener *listener);
void pai__unix_peer(unsigned long *user, int fd);
int pai__unix_accept(pai__server_listener *listener);
/* Listens at "HOST:PORT"; `text` has `len` bytes. */
int pai__tcp_listen(pai_server *server, const char *text, size_t len,
                    pai__server_listener **out, pai_error **err);
int pai__tcp_accept(pai__server_listener *listener);
/* Gets the peer's address as text; "" if unknown. */
void pai__tcp_peer(char peer[PAI__PEER], int fd);
/* Returns whether the peer has closed the connection, or its sending side. */
bool pai__tcp_is_gone(int fd);
/* Returns how many bytes the peer has acknowledged. */
uint64_t pai__tcp_sent(int fd);
/* Shuts the connection down; `drop` discards unsent bytes. */
void pai__tcp_hang_up(int fd, bool drop);
/* Returns how many connections the descriptor limit of this process allows. */
size_t pai__tcp_most(size_t wanted);

/* --- posix_cert.c --- */

/* *out must be freed on failure, too. */
int pai__certs_new(pai__certs **out, pai_server *server, const char *cert,
                   const char *key, pai_error **err);
void pai__certs_free(pai__certs *certs);
/* Reloads files that have changed.  NULL is allowed. */
void pai__certs_look(pai__certs *certs);
/* posix_transport.c: TLS state shared by connections. */
bool pai__transport_prepare(pai__server_listener *listener);
void pai__transport_forget(pai__server_listener *d);
/* Sets the certificates that pai__certs_give() returns on this thread. */
void pai__certs_ask(const pai__certs *certs);
/* A gnutls_certificate_retrieve_function2. */
int pai__certs_give(gnutls_session_t session, const gnutls_datum_t *names,
                    int nnames, const gnutls_pk_algorithm_t *kinds, int nkinds,
                    gnutls_pcert_st **links, unsigned *nlinks,
                    gnutls_privkey_t *key);

/* --- tls.c: reads a file as text, for pai__strfree() --- */

int pai__tls_read(char **out, const pai_alloc *alloc, const char *path,
                  const char *what, pai_error **err);

#endif
