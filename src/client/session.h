/* session.h - internal to src/client: client end of a session in a task */
#ifndef PAI_SRC_CLIENT_SESSION_H
#define PAI_SRC_CLIENT_SESSION_H

#include "client/inside.h"

struct pai_session {
  pai__client_op op; /* of its client while it connects to a URL */
  pai_alloc alloc;
  unsigned forks; /* see base/os/fork.h */
  pai_loop *loop;
  pai_session_options o; /* texts not included */
  char *path;            /* of the request */
  uint64_t token;        /* number of the token that the request used */
  pai__http_upgrade *upgrade;
  pai__poll *poll;
  pai__loop_step *step; /* callbacks come from this step or from the poll */
  pai__http_stream *stream; /* NULL: not connected yet */
  pai__buf out, in;
  size_t sent;
  bool listed;  /* in the client's list of operations */
  bool renewed; /* it was retried with a new token */
  bool far;     /* the server is on another machine */
  bool secure;  /* over TLS */
  bool more;    /* data may be buffered although the descriptor is not
                   readable */
  bool failed;  /* the stream failed */
  bool paused;  /* nothing is read or delivered */
  bool in_callback, closed;
};

/* --- session.c --- */

/* Creates a session without a stream. */
int pai__session_make(pai_session **out, pai_loop *loop,
                      const pai_alloc *alloc, const pai_session_options *opts,
                      pai_error **err);
/* Starts a session on a stream.  The session owns the stream, even if this
 * fails. */
int pai__session_connect(pai_session *s, pai__http_stream *stream,
                         pai_error **err);
/* Reports that the session could not connect, and frees it. */
void pai__session_fail(pai_session *s, int rc, const pai_error *err);
/* The same, from the server's refusal. */
void pai__session_refuse(pai_session *s, int http_status, const char *body,
                         size_t len);
void pai__session_free(pai_session *s);

#endif
