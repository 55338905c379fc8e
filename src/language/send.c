/* send.c - messages to the client */
#include "json/node.h"
#include "language/language.h"

int pai__language_send(pai_language *l, pai__json_writer *w, pai_error **err)
{
  int rc = pai__json_finish(w);

  if (rc < 0)
    return rc == PAI_ENOMEM
             ? pai__oom(err)
             : pai__fail(err, PAI_EINTERNAL, "a message was written wrongly");
  rc = l->o.send(l->o.user_data, w->out->data, w->out->len);
  return rc < 0 ? pai__fail(err, rc, "the message could not be sent") : PAI_OK;
}

void pai__language_begin(pai_language *l, pai__json_writer *w,
                         const char *method)
{
  pai__buf_clear(&l->out);
  pai__json_writer_init(w, &l->out, false);
  pai__json_write(w, "{jsonrpc:s,method:s,params:", "2.0", method);
}

int pai__language_end(pai_language *l, pai__json_writer *w, pai_error **err)
{
  pai__json_end_object(w);
  return pai__language_send(l, w, err);
}

int pai__language_request_refresh(pai_language *l, const char *method,
                                  pai_error **err)
{
  pai__json_writer w;

  pai__buf_clear(&l->out);
  pai__json_writer_init(&w, &l->out, false);
  pai__json_write(&w, "{jsonrpc:s,id:i,method:s}", "2.0", (int)(++l->numbers),
                  method);
  return pai__language_send(l, &w, err);
}

int pai__language_send_error(pai_language *l, const char *id, int code,
                             const char *message, const char *data,
                             pai_error **err)
{
  pai__json_writer w;

  pai__buf_clear(&l->out);
  pai__json_writer_init(&w, &l->out, false);
  pai__json_write(&w, "{jsonrpc:s,id:", "2.0");
  pai__json_written(&w, id, strlen(id));
  pai__json_write(&w, "error:{code:i,message:s", code, message);
  if (data != NULL) {
    pai__json_member(&w, "data");
    pai__json_ready(&w, data, strlen(data));
  }
  pai__json_write(&w, "}}");
  return pai__language_send(l, &w, err);
}

int pai__language_send_refusal(pai_language *l, const pai__language_request *r,
                               int code, const char *message, pai_error **err)
{
  pai__json_writer w;
  pai__buf id;
  int rc;

  pai__buf_init(&id, &l->alloc);
  pai__json_writer_init(&w, &id, false);
  pai__json_node(&w, r->tree, r->id);
  rc = pai__json_finish(&w) < 0
         ? pai__oom(err)
         : pai__language_send_error(l, id.data, code, message, NULL, err);
  pai__buf_dispose(&id);
  return rc;
}

int pai__language_log(pai_language *l, const char *method, const char *message,
                      pai_error **err)
{
  enum { WARNING = 2 };
  pai__json_writer w;
  pai__buf text;
  int rc;

  pai__buf_init(&text, &l->alloc);
  pai__buf_printf(&text, "%s: %s", method, message);
  pai__language_begin(l, &w, "window/logMessage");
  pai__json_write(&w, "{type:i,message:s}", WARNING, pai__buf_text(&text));
  rc = pai__buf_ok(&text) ? pai__language_end(l, &w, err) : pai__oom(err);
  pai__buf_dispose(&text);
  return rc;
}
