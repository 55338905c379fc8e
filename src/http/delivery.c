/* delivery.c - sends one message: a POST to a URL, or a mail */
#include "http/delivery.h"

#include <stdio.h>
#include <string.h>

#define SECOND ((pai_time)1000000)
enum { CONNECT = 10, TOTAL = 30, MOST_TO = 64 };

struct pai__delivery {
  pai_alloc alloc;
  pai__http *http;
  pai__http_want want;
  pai__http_mail mail;
  pai__delivery_want said;
  const char *to[MOST_TO + 1];
  char place[80]; /* the URL without its path, which may be secret */
  char *texts;    /* all copied texts, each with its NUL */
  size_t texts_len;
  bool canceled;
};

static void on_closed(void *user_data)
{
  pai__delivery *d = user_data;
  pai_alloc alloc = d->alloc;

  if (d->texts != NULL)
    memset(d->texts, 0, d->texts_len); /* may have a password */
  pai__free(&alloc, d->texts, d->texts_len);
  pai__free(&alloc, d, sizeof(*d));
}

static void on_closed_begun(void *user_data)
{
  pai__delivery *d = user_data;
  void (*closed)(void *) = d->said.on_closed;
  void *closed_data = d->said.user_data;

  on_closed(d);
  closed(closed_data);
}

static int on_body(void *user_data, int status, const char *bytes, size_t len)
{
  (void)user_data; /* nobody reads an answer's body */
  (void)status;
  (void)bytes;
  (void)len;
  return PAI_OK;
}

static void on_done(void *user_data, int status,
                    const struct pai__http_answer *answer,
                    const pai_error *err)
{
  pai__delivery *d = user_data;

  if (!d->canceled)
    d->said.on_done(d->said.user_data, status,
                    d->said.mail == NULL ? answer->status : 0, err);
  d->canceled = true;
  pai__http_close(d->http, on_closed_begun, d);
}

static bool may_connect(void *user_data, const void *address)
{
  const pai__delivery *d = user_data;

  return d->said.may_connect(d->said.user_data, address);
}

/* --- copies -------------------------------------------------------------- */

/* Copies a text to *at, or only adds up its size if there is no memory yet. */
static void put(const char **text, char **at, size_t *size)
{
  size_t len;

  if (*text == NULL)
    return;
  len = strlen(*text) + 1;
  *size += len;
  if (*at == NULL)
    return;
  memcpy(*at, *text, len);
  *text = *at;
  *at += len;
}

static size_t put_all(pai__delivery *d, char *at)
{
  size_t size = 0;

  put(&d->said.url, &at, &size);
  put(&d->said.type, &at, &size);
  put(&d->said.authorization, &at, &size);
  put(&d->said.ca_file, &at, &size);
  put(&d->mail.from, &at, &size);
  put(&d->mail.user, &at, &size);
  put(&d->mail.password, &at, &size);
  for (size_t i = 0; i < MOST_TO; i++)
    put(&d->to[i], &at, &size);
  if (at != NULL && d->said.body_len > 0) {
    memcpy(at, d->said.body, d->said.body_len);
    d->said.body = at;
  }
  return size + d->said.body_len + 1;
}

static int copy(pai__delivery *d, const pai__delivery_want *want)
{
  const char *host = strstr(want->url, "://");
  size_t len = host != NULL ? (size_t)(host + 3 - want->url) : 0;

  len += strcspn(want->url + len, "/?#");
  (void)snprintf(d->place, sizeof(d->place), "%.*s", (int)len, want->url);
  d->said = *want;
  if (want->mail != NULL) {
    d->mail = *want->mail;
    for (size_t i = 0; i < MOST_TO && want->mail->to[i] != NULL; i++)
      d->to[i] = want->mail->to[i];
  }
  d->texts_len = put_all(d, NULL);
  d->texts = pai__zalloc(&d->alloc, d->texts_len);
  if (d->texts == NULL)
    return PAI_ENOMEM;
  (void)put_all(d, d->texts);
  d->mail.to = d->to;
  d->want = (pai__http_want){ .method = "POST",
                              .url = d->said.url,
                              .type = d->said.type,
                              .accept = "*/*",
                              .authorization = d->said.authorization,
                              .mail = want->mail != NULL ? &d->mail : NULL,
                              .body = d->said.body,
                              .body_len = d->said.body_len,
                              .total_time = TOTAL * SECOND,
                              .on_body = on_body,
                              .on_done = on_done,
                              .user_data = d };
  return PAI_OK;
}

/* --- begin and end ------------------------------------------------------- */

static bool is_clean(const char *text)
{
  for (; *text != '\0'; text++)
    if ((unsigned char)*text <= ' ' || *text == 127)
      return false;
  return true;
}

int pai__delivery_begin(pai__delivery **out, const pai_alloc *alloc,
                        pai_loop *loop, const pai__delivery_want *want,
                        pai_error **err)
{
  pai__http_options options = { .proxy = "",
                                .ca_file = want->ca_file,
                                .connect_time = CONNECT * SECOND,
                                .may_connect = may_connect,
                                .plain_mail = want->plain_mail };
  pai__delivery *d;
  int rc;

  *out = NULL;
  if (!is_clean(want->url))
    return pai__fail(err, PAI_EINVAL, "a URL has a space");
  d = pai__zalloc(alloc, sizeof(*d));
  if (d == NULL)
    return pai__oom(err);
  d->alloc = *alloc;
  options.guard = d;
  rc = copy(d, want) < 0 ? pai__oom(err) : PAI_OK;
  options.place = d->place;
  if (rc == PAI_OK)
    rc = pai__http_new(&d->http, alloc, loop, &options, err);
  if (rc == PAI_OK)
    rc = pai__http_ask(NULL, d->http, &d->want, err);
  if (rc == PAI_OK)
    *out = d;
  else if (d->http != NULL)
    pai__http_close(d->http, on_closed, d);
  else
    on_closed(d);
  return rc;
}

void pai__delivery_cancel(pai__delivery *d)
{
  d->canceled = true;
  pai__http_close(d->http, on_closed_begun, d);
}
