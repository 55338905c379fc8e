/*
 * fetch.c - requests to the provider
 *
 * Each request has its own client, as the provider's documents may be on
 * several hosts.  Time and size of an answer are limited.
 */
#include "server/oidc/provider.h"

#include <openpai/client.h>

#include <string.h>

enum { MOST_TIME = 10 * 1000 * 1000, MOST_ANSWER = 1 << 20 };

struct pai__fetch {
  pai__oidc *o;
  pai__fetch *before, *after;
  pai_client *client;
  pai__fetch_cb cb;
  void *user_data;
  bool shut;
};

static void on_closed(void *user_data)
{
  pai__fetch *f = user_data;
  pai_server *server = f->o->server;

  if (f->before != NULL)
    f->before->after = f->after;
  else
    f->o->fetches = f->after;
  if (f->after != NULL)
    f->after->before = f->before;
  pai__free(&server->alloc, f, sizeof(*f));
  if (server->closing > 0)
    pai__server_check_end(server);
}

static void shut(pai__fetch *f)
{
  if (!f->shut) {
    f->shut = true;
    pai_client_close(f->client, on_closed, f);
  }
}

static void on_answer(void *user_data, int status,
                      const pai_client_answer *answer)
{
  pai__fetch *f = user_data;

  f->cb(f->user_data, status, answer->body, answer->body_len, answer->err);
  shut(f);
}

static int ask(pai__fetch *f, const char *path, const pai__buf *form,
               pai_error **err)
{
  pai_client_request request = PAI_CLIENT_REQUEST_INIT;

  request.path = path[0] != '\0' ? path : "/";
  if (form != NULL) {
    request.method = "POST";
    request.type = "application/x-www-form-urlencoded";
    request.body = pai__buf_text(form);
    request.body_len = form->len;
  }
  request.most_tries = 1;
  return pai_client_ask(NULL, f->client, &request, on_answer, f, err);
}

static int new_client(pai__fetch *f, const char *url, size_t host,
                      pai_error **err)
{
  pai_client_options o = PAI_CLIENT_OPTIONS_INIT;
  char *origin = pai__strndup(&f->o->server->alloc, url, host);
  int rc;

  if (origin == NULL)
    return pai__oom(err);
  o.alloc = &f->o->server->alloc;
  o.url = origin;
  o.ca_file = f->o->said.ca_file;
  o.connect_time = MOST_TIME / 2;
  o.idle_time = MOST_TIME / 2;
  o.total_time = MOST_TIME;
  o.most_answer = MOST_ANSWER;
  rc = pai_client_new(&f->client, f->o->server->loop, &o, err);
  pai__strfree(&f->o->server->alloc, origin);
  return rc;
}

int pai__fetch_begin(pai__oidc *o, const char *url, const pai__buf *form,
                     pai__fetch_cb cb, void *user_data, pai_error **err)
{
  const char *host = strstr(url, "://");
  pai__fetch *f;
  size_t len;
  int rc;

  if (host == NULL || !pai__url_is_safe(url))
    return pai__fail(err, PAI_EINVAL,
                     "the provider's URL does not begin with https://");
  len = (size_t)(host - url) + 3;
  len += strcspn(url + len, "/?#");
  f = pai__zalloc(&o->server->alloc, sizeof(*f));
  if (f == NULL)
    return pai__oom(err);
  *f = (pai__fetch){ .o = o, .cb = cb, .user_data = user_data };
  rc = new_client(f, url, len, err);
  if (rc < 0) {
    pai__free(&o->server->alloc, f, sizeof(*f));
    return rc;
  }
  f->after = o->fetches;
  if (f->after != NULL)
    f->after->before = f;
  o->fetches = f;
  rc = ask(f, url + len, form, err);
  if (rc < 0)
    shut(f);
  return rc;
}

void pai__fetch_end_all(pai__oidc *o)
{
  pai__fetch *after;

  for (pai__fetch *f = o->fetches; f != NULL; f = after) {
    after = f->after;
    shut(f);
  }
}
