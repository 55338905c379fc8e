/* language.c - a language server that keeps what it sends until it is asked
 * for: so no exception of JavaScript goes through C */
#include "exports.h"

#include <openpai/language.h>

struct Language {
  pai_language *server;
  job_text sent; /* messages, each with a newline */
};

static int keep(void *user_data, const char *json, size_t len)
{
  Language *self = user_data;
  size_t before = self->sent.len;
  int rc = facade_collect(&self->sent, json, len);

  if (rc == PAI_OK)
    rc = facade_collect(&self->sent, "\n", 1);
  if (rc < 0)
    self->sent.len = before;
  return rc;
}

Language *language_make(const char *docs, bool hived, failure *f)
{
  pai_language_options options = PAI_LANGUAGE_OPTIONS_INIT;
  Language *self = calloc(1, sizeof(*self));

  if (self == NULL) {
    f->code = PAI_ENOMEM;
    return NULL;
  }
  options.user_data = self;
  options.send = keep;
  options.docs = docs;
  options.hived = hived;
  f->code = pai_language_new(&self->server, &options, &f->err);
  if (f->code == PAI_OK)
    return self;
  language_free(self);
  return NULL;
}

void language_free(Language *self)
{
  pai_language_free(self->server);
  free(self->sent.bytes);
  free(self);
}

void language_receive(Language *self, const char *text, size_t len, failure *f)
{
  f->code = pai_language_receive(self->server, text, len, &f->err);
}

bool language_work(Language *self, failure *f)
{
  int rc = pai_language_work(self->server, &f->err);

  f->code = rc < 0 ? rc : PAI_OK;
  return rc > 0;
}

job_text language_sent(Language *self)
{
  job_text sent = self->sent;

  self->sent = (job_text){ NULL, 0 };
  return sent;
}

int language_ended(const Language *self)
{
  int code;

  return pai_language_ended(self->server, &code) ? code : -1;
}
