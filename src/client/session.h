/* session.h - internal to the room: this end of a stream that leads into a
 * task */
#ifndef PAI_SRC_CLIENT_SESSION_H
#define PAI_SRC_CLIENT_SESSION_H

#include "client/inside.h"

struct pai_session {
  pai_op
    op; /* of its client, until its stream is there, where that has a URL */
  pai_alloc alloc;
  unsigned forks; /* see base/fork.h */
  pai_loop *loop;
  pai_session_options o; /* without its texts */
  char *path;            /* to be asked for */
  uint64_t token;        /* the number of the one that it went with */
  pai__http_upgrade *upgrade;
  pai__poll *poll;
  pai__turn *turn; /* callbacks come from there or from the descriptor */
  pai__http_stream *stream; /* NULL: it is not there yet */
  pai__buf out, in;
  size_t sent;
  bool listed;  /* its client knows it */
  bool renewed; /* it has had its second chance with another token */
  bool far;     /* the stream leads to another machine, */
  bool secure;  /* with TLS */
  bool more;    /* may have come, which the descriptor does not say */
  bool failed;  /* the stream broke */
  bool paused;  /* nothing is read, nor told of what was */
  bool in_callback, closed;
};

/* --- session.c --- */

/* Without a stream yet. */
int pai__session_make(pai_session **out, pai_loop *loop,
                      const pai_alloc *alloc, const pai_session_options *opts,
                      pai_error **err);
/* The stream is its own from now on, also if this fails. */
int pai__session_connect(pai_session *s, pai__http_stream *stream,
                         pai_error **err);
/* Its last word: there is none; then it is gone. */
void pai__session_fail(pai_session *s, int rc, const pai_error *err);
/* The same: the server refuses. */
void pai__session_refuse(pai_session *s, int http_status, const char *body,
                         size_t len);
void pai__session_free(pai_session *s);

#endif
