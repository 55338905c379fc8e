/*
 * conn.h - internal to the room: a connection, which reads HTTP requests and
 * sends their answers
 */
#ifndef PAI_SRC_SERVER_HTTP_CONN_H
#define PAI_SRC_SERVER_HTTP_CONN_H

#include "http1/http1.h"
#include "server/http/listener.h"

enum pai__conn_state {
  PAI__CONN_GREETING = 1, /* TLS handshake */
  PAI__CONN_HEAD,
  PAI__CONN_BODY,
  PAI__CONN_ASKED, /* the request is complete and waits for its answer */
  PAI__CONN_SENDING,
  PAI__CONN_LEAVING, /* all was sent; further input is discarded */
  PAI__CONN_CLOSED
};

struct pai__conn {
  pai__server_listener *listener;
  pai__conn *before, *after; /* list of the listener */
  pai__conn *next_due;       /* list of connections to run next */
  bool due;                  /* in that list */
  pai__server_deadline *deadline;
  int fd;
  gnutls_session_t tls; /* NULL: no TLS */
  enum pai__conn_state state;
  bool readable, writable, hung_up; /* as reported by the kernel */
  bool begun;                       /* bytes of a request have come */
  bool last;                        /* close after the answer */
  bool unread; /* the client's input was not read to its end */
  bool answered;
  pai__request *request; /* NULL: its head is not complete */
  pai__buf in;           /* the head and the bytes after it */
  size_t used;           /* bytes of `in` already consumed */
  pai__http1_head head;
  pai__http1_chunks chunks;
  uint64_t left; /* bytes left of a body with a length */
  pai__buf out;  /* output; the first `sent` bytes have left */
  size_t sent;
  int status;
  pai__payload payload;
  uint64_t at;    /* bytes of the payload taken so far */
  bool in_chunks; /* the payload is sent in chunks */
};

/* --- conn.c --- */

/* Takes ownership of `fd`, also on failure.  Returns false if out of
 * memory. */
bool pai__conn_new(pai__server_listener *listener, int fd);
/* Does all that is possible without waiting; may free the connection. */
void pai__conn_run(pai__conn *c);
/* Makes the listener run the connection in its next step. */
void pai__conn_make_due(pai__conn *c);
void pai__conn_free(pai__conn *c);

/* --- conn_send.c --- */

/* Continues sending the answer; returns false if it must wait. */
bool pai__conn_send(pai__conn *c);
/* Sends what is in `out`; returns false while some of it is left. */
bool pai__conn_flush(pai__conn *c);
/* Called when the answer was sent. */
void pai__conn_finish(pai__conn *c);

/* --- posix_transport.c: bytes, over TLS or not --- */

bool pai__transport_begin(pai__conn *c);
/* Continues the TLS handshake.  Returns 1: done; 0: not yet; -1: failed. */
int pai__transport_greet(pai__conn *c);
/* Return the number of bytes; 0: none now; -1: failed for good. */
long pai__transport_read(pai__conn *c, char *to, size_t size);
long pai__transport_write(pai__conn *c, const char *bytes, size_t len,
                          bool more);
/* Ends writing. */
void pai__transport_bye(pai__conn *c);
void pai__transport_end(pai__conn *c);

/* --- linux_ready.c: which connections are ready -------------- */

/* Returns a descriptor that is readable when connections are ready; -1 and
 * errno on failure. */
int pai__ready_new(void);
bool pai__ready_add(int ready, pai__conn *c);
void pai__ready_remove(int ready, const pai__conn *c);
/* Takes all events and makes their connections due. */
void pai__ready_look(int ready);

#endif
