/*
 * conn.h - internal to the room: a connection, which reads requests of HTTP and
 * sends their answers
 */
#ifndef PAI_SRC_SERVER_CONN_H
#define PAI_SRC_SERVER_CONN_H

#include "http1/http1.h"
#include "server/door.h"

enum pai__conn_state {
  PAI__CONN_GREETING = 1, /* TLS begins */
  PAI__CONN_HEAD,
  PAI__CONN_BODY,
  PAI__CONN_ASKED, /* the request is whole; its answer is awaited */
  PAI__CONN_SENDING,
  PAI__CONN_LEAVING, /* all was said; what still comes is thrown away */
  PAI__CONN_CLOSED
};

struct pai__conn {
  pai__door *door;
  pai__conn *before, *after; /* of its door */
  pai__conn *next_due;       /* of those that the door runs next, */
  bool due;                  /* which it is one of */
  pai__line *line;
  int fd;
  gnutls_session_t tls; /* NULL: none */
  enum pai__conn_state state;
  bool readable, writable, hung_up; /* as the kernel told */
  bool begun;                       /* bytes of a request have come */
  bool last;                        /* the connection ends with the answer, */
  bool unread; /* and what the client sent was not all read */
  bool answered;
  pai__request *request; /* NULL: its head is not whole */
  pai__buf in;           /* the head, and what came behind it, */
  size_t used;           /* of which so much was read */
  pai__http1_head head;
  pai__http1_chunks chunks;
  uint64_t left; /* of a body with a length */
  pai__buf out;  /* of which `sent` bytes have left */
  size_t sent;
  int status;
  pai__payload payload;
  uint64_t at;    /* of the payload, which has gone to `out` or has left */
  bool in_chunks; /* the payload leaves in chunks */
};

/* --- conn.c --- */

/* Takes `fd`, which it closes on failure, too.  False: there was no memory. */
bool pai__conn_new(pai__door *door, int fd);
/* Does what it can without waiting; it may be gone then. */
void pai__conn_run(pai__conn *c);
/* The door runs it in its next turn. */
void pai__conn_make_due(pai__conn *c);
void pai__conn_free(pai__conn *c);

/* --- conn_send.c --- */

/* Goes on sending the answer; false: it cannot, for now. */
bool pai__conn_send(pai__conn *c);
/* Sends what is in `out`; false: it is not empty yet. */
bool pai__conn_flush(pai__conn *c);
/* The answer was sent. */
void pai__conn_finish(pai__conn *c);

/* --- posix_transport.c: bytes, over TLS or not --- */

bool pai__transport_begin(pai__conn *c);
/* Goes on with TLS' beginning: 1: it is there; 0: not yet; -1: it failed. */
int pai__transport_greet(pai__conn *c);
/* How many bytes; 0: none now; -1: never again. */
long pai__transport_read(pai__conn *c, char *to, size_t size);
long pai__transport_write(pai__conn *c, const char *bytes, size_t len,
                          bool more);
/* Nothing more is written. */
void pai__transport_bye(pai__conn *c);
void pai__transport_end(pai__conn *c);

/* --- linux_ready.c: which connections have something to do --- */

/* A descriptor that is readable when some have; -1 and errno. */
int pai__ready_new(void);
bool pai__ready_add(int ready, pai__conn *c);
void pai__ready_remove(int ready, const pai__conn *c);
/* Notes what came of all, and makes them due. */
void pai__ready_look(int ready);

#endif
