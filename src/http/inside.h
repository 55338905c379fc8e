/* inside.h - internal to src/http: the state of pai__http and of a request */
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
  bool (*may_connect)(void *user_data, const void *address);
  void *guard;
  bool plain_mail;
  CURLM *multi;
  pai__timer *timer;
  pai__loop_step *step; /* `multi` is only changed in this step or in a poll's
                           callback */
  bool due;             /* curl's timer has expired */
  pai_time suspected;   /* when a connection was found silent; 0: never */
  bool broken;   /* a descriptor could not be polled, so all running requests
                    must fail */
  bool canceled; /* a request is to be canceled */
  bool released; /* a paused request is to be resumed */
  bool closing;
  bool blocked;     /* signals are blocked, while curl may create a thread */
  sigset_t before;  /* signal mask before that */
  size_t streams;   /* requests with `stream` */
  size_t under_way; /* requests without `stream` */
  pai__http_request *first, *last;
  pai__http_request *fresh; /* first request not yet given to curl; all after
                               it are not either */
  pai__http_request *spare; /* finished requests, whose curl handles are
                               reused */
  size_t nspare;
  void (*closed)(void *user_data);
  void *closed_data;
};

struct pai__http_request {
  pai__http *http;
  pai__http_request *before, *after; /* in the list; `after` also links the
                                        spare ones */
  CURL *easy;
  struct curl_slist *headers;
  char *headers_text;         /* the texts that `headers` was made of */
  struct curl_slist *mail_to; /* of a mail */
  size_t mail_sent;           /* bytes of its body */
  bool own_method; /* a method was set that curl would not choose itself */
  pai__http_want want;
  pai_time asked; /* start time, if the request has a time limit */
  char why[CURL_ERROR_SIZE];
  int stopped_by;   /* negative result of on_body, or 0 */
  pai_error *error; /* error of connecting */
  int fresh;        /* descriptor opened for this request, or -1 */
  int folder;       /* folder that the socket's address needs, or -1 */
  CURLcode result;
  int sent;           /* how often it was sent */
  curl_off_t told;    /* bytes sent, as last reported to on_sent */
  bool head;          /* the answer's head is complete */
  int64_t log_offset; /* X-Log-Offset, or -1 */
  bool added, done, canceled;
  bool held;   /* the caller paused it */
  bool paused; /* curl was told to pause it, when data came */
};

/* request.c: sets the remaining time, before curl gets the request. */
bool pai__http_request_limit(pai__http_request *r);
/* Sets up a request; pai__http_request_end() keeps a finished one for
 * reuse. */
int pai__http_request_new(pai__http_request **out, pai__http *http,
                          const pai__http_want *want);
void pai__http_request_end(pai__http_request *r);
void pai__http_request_free(pai__http_request *r); /* frees it, without
                                                      reuse */

/* http.c: restores the signals blocked while curl may create a thread.  Call
 * it before any callback of the host. */
void pai__http_unblock(pai__http *http);

/* mail.c: set up a request that is a mail; return whether a server's URL is
 * one for mail. */
bool pai__http_set_mail(pai__http_request *r);
bool pai__http_is_mail(const char *url);

/* headers.c: sets the request's headers.  False: out of memory. */
bool pai__http_set_headers(pai__http_request *r);

/* classify.c: returns the status of a finished request.  The error, if any, is
 * in r->error. */
int pai__http_classify(pai__http_request *r);

#endif
