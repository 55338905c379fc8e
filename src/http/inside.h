/* inside.h - internal to the room: what its files share of a request */
#ifndef PAI_SRC_HTTP_INSIDE_H
#define PAI_SRC_HTTP_INSIDE_H

#include "http/http.h"
#include "loop/posix_signals.h"

#include <curl/curl.h>

struct pai__http {
  pai_alloc alloc;
  pai_loop *loop;
  char *socket, *place, *proxy, *ca_file, *cert_file, *key_file;
  char *ca, *cert, *key;
  pai_time connect_time;
  CURLM *multi;
  pai__timer *timer;
  pai__turn *turn; /* all that is done to `multi` begins there or in a watch */
  bool due;        /* curl's time has come */
  pai_time suspected; /* when a connection was found silent; 0: none was */
  bool broken;   /* a descriptor is not waited for, and so what is under way
                      would wait for ever */
  bool canceled; /* a request is to be ended */
  bool released; /* one is to go on that was held */
  bool closing;
  bool blocked;     /* signals, as long as curl may make a thread */
  sigset_t before;  /* then, those that were before */
  size_t streams;   /* that have connections beside the others' */
  size_t under_way; /* of the others */
  pai__http_request *first, *last;
  pai__http_request *fresh; /* the first that curl does not have yet; so are
                               all behind it */
  pai__http_request *spare; /* that are done: curl's part is used again */
  size_t nspare;
  void (*closed)(void *user_data);
  void *closed_data;
};

struct pai__http_request {
  pai__http *http;
  pai__http_request *before, *after; /* or, of a spare one, the next */
  CURL *easy;
  struct curl_slist *headers;
  char *headers_text; /* what `headers` were made of */
  bool own_method;    /* curl was told another one than it would take */
  pai__http_want want;
  pai_time asked; /* when, if it has no time without end */
  char why[CURL_ERROR_SIZE];
  int stopped_by;   /* what on_body answered, if that was negative */
  pai_error *error; /* of the connection */
  int fresh;        /* its descriptor, or -1: it was not made for this */
  int folder;       /* that its address needs, or -1 */
  CURLcode result;
  int sent;        /* how often it went out */
  curl_off_t told; /* bytes of its body that on_sent knows of */
  bool head;       /* the answer's came whole */
  bool added, done, canceled;
  bool held;   /* its body is not to be handed on */
  bool paused; /* so curl was told, when some of it came */
};

/* request.c: what is left of its time, before curl gets it. */
bool pai__http_request_limit(pai__http_request *r);
/* One that is set up, and one that is done; the latter is kept for
 * the next. */
int pai__http_request_new(pai__http_request **out, pai__http *http,
                          const pai__http_want *want);
void pai__http_request_end(pai__http_request *r);
void pai__http_request_free(pai__http_request *r); /* for good */

/* http.c: signals that are blocked while curl may make a thread come again; to be
 * called before anything of the host's. */
void pai__http_unblock(pai__http *http);

/* headers.c: those of what it wants.  False: no memory. */
bool pai__http_set_headers(pai__http_request *r);

/* judge.c: what it came to.  The error, if there is one, is in r->error. */
int pai__http_judge(pai__http_request *r);

#endif
