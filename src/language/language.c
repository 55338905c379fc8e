/* language.c - the public functions of a language server */
#include "language/language.h"

enum { MOST_OPEN = 100000 };

static int copy_options(pai_language *l, const pai_language_options *o,
                        pai_error **err)
{
  l->o = *o;
  l->o.alloc = NULL; /* it is in l->alloc */
  l->o.docs = NULL;
  l->hived = o->hived != 0;
  if (l->o.max_open == 0)
    l->o.max_open = MOST_OPEN;
  if (o->docs == NULL)
    return PAI_OK;
  l->docs_url = pai__strdup(&l->alloc, o->docs);
  return l->docs_url != NULL ? PAI_OK : pai__oom(err);
}

int pai_language_new(pai_language **out, const pai_language_options *opts,
                     pai_error **err)
{
  pai_language_options o = { 0 };
  pai_language *l;
  int rc;

  PAI__CLEAR_OUT(out, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_language_options, max_open);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_language_options");
  if (o.send == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "pai_language_options.send must be a function");
  l = pai__zalloc(pai__alloc_or_libc(o.alloc), sizeof(*l));
  if (l == NULL)
    return pai__oom(err);
  l->alloc = *pai__alloc_or_libc(o.alloc);
  l->unit = PAI__UNIT_UTF16;
  pai__docs_init(&l->docs, &l->alloc);
  pai__buf_init(&l->out, &l->alloc);
  pai__buf_init(&l->reply, &l->alloc);
  pai__arena_init(&l->names.arena, &l->alloc);
  rc = copy_options(l, &o, err);
  if (rc < 0) {
    pai_language_free(l);
    return rc;
  }
  *out = l;
  return PAI_OK;
}

void pai_language_free(pai_language *l)
{
  pai_alloc alloc;

  if (l == NULL)
    return;
  alloc = l->alloc;
  pai__language_drop_requests(l);
  pai__arena_dispose(&l->names.arena);
  pai_report_free(l->checked.report);
  pai__docs_dispose(&l->docs);
  pai__buf_dispose(&l->out);
  pai__buf_dispose(&l->reply);
  pai__strfree(&alloc, l->docs_url);
  pai__free(&alloc, l, sizeof(*l));
}

int pai_language_receive(pai_language *l, const char *message, size_t len,
                         pai_error **err)
{
  PAI__CHECK_ARG_ERR(l != NULL, err);
  PAI__CHECK_ARG_ERR(message != NULL, err);
  return l->state == PAI__LANGUAGE_ENDED
           ? PAI_OK
           : pai__language_take(l, message, len, err);
}

int pai_language_work(pai_language *l, pai_error **err)
{
  pai__language_doc *doc;
  int rc;

  PAI__CHECK_ARG_ERR(l != NULL, err);
  if (l->state == PAI__LANGUAGE_ENDED)
    return 0;
  rc = pai__language_step(l, err);
  if (rc != 0)
    return rc;
  doc = pai__docs_take_dirty(&l->docs);
  if (doc == NULL || l->state != PAI__LANGUAGE_RUNNING)
    return 0;
  rc = l->client.pulls ? PAI_OK : pai__language_publish(l, doc, err);
  return rc < 0 ? rc : 1;
}

int pai_language_ended(const pai_language *l, int *code)
{
  bool ended = l != NULL && l->state == PAI__LANGUAGE_ENDED;

  if (code != NULL)
    *code = ended ? l->exit_code : 0;
  return ended;
}

int64_t pai_language_client_pid(const pai_language *l)
{
  return l != NULL ? l->client.pid : 0;
}

int pai_language_answer(pai_language *l, uint64_t question, const char *json,
                        size_t len, pai_error **err)
{
  PAI__CHECK_ARG_ERR(l != NULL, err);
  return pai__language_answered(l, question, json, len, err);
}

int pai_language_forget(pai_language *l, pai_error **err)
{
  PAI__CHECK_ARG_ERR(l != NULL, err);
  return pai__language_forgotten(l, err);
}

int pai_language_notify(pai_language *l, const char *method,
                        const char *params, size_t len, pai_error **err)
{
  pai__json_writer w;

  PAI__CHECK_ARG_ERR(l != NULL, err);
  PAI__CHECK_ARG_ERR(method != NULL, err);
  PAI__CHECK_ARG_ERR(params != NULL, err);
  pai__language_begin(l, &w, method);
  pai__json_ready(&w, params, len);
  return pai__language_end(l, &w, err);
}
