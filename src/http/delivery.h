/*
 * delivery.h - sends one message: a POST to a URL, or a mail
 *
 * A proxy of the environment is not used and redirects are not followed, so
 * that only addresses that the caller allows are connected to.
 */
#ifndef PAI_SRC_HTTP_DELIVERY_H
#define PAI_SRC_HTTP_DELIVERY_H

#include "http/http.h"

typedef struct pai__delivery pai__delivery;

typedef struct pai__delivery_want {
  const char *url;           /* http, https, smtp or smtps */
  const char *type;          /* content type of a POST */
  const char *authorization; /* or NULL */
  const char *ca_file;       /* NULL: the system's authorities */
  const char *body;
  size_t body_len;
  const pai__http_mail *mail; /* NULL: a POST */
  bool plain_mail;            /* without TLS if the server has none */
  bool (*may_connect)(void *user_data, const void *address);
  /* Called once, unless it is canceled before.  http_status: of a POST, else
   * 0. */
  void (*on_done)(void *user_data, int status, int http_status,
                  const pai_error *err);
  /* Called last, also if it was canceled. */
  void (*on_closed)(void *user_data);
  void *user_data; /* of all three */
} pai__delivery_want;

/* Begins; all of `want` is copied but the functions.  PAI_EINVAL: a control
 * character in the URL; PAI_ENOMEM. */
PAI__SHARED int pai__delivery_begin(pai__delivery **out,
                                    const pai_alloc *alloc, pai_loop *loop,
                                    const pai__delivery_want *want,
                                    pai_error **err);
/* Cancels it: only on_closed is called.  Allowed until on_done is called. */
PAI__SHARED void pai__delivery_cancel(pai__delivery *d);

#endif
