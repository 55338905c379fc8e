/* calls.c - requests of a client, by kind */
#include "client_shared.h"

#include <stdlib.h>
#include <string.h>

/* Arguments of all kinds. Each kind refuses missing ones itself. */
typedef struct wish {
  const char *method, *path, *type, *accept;
  const char *job, *role, *name, *user, *password;
  const char *after, *to, *from;
  uint32_t index, most_tries, limit;
  uint64_t offset;
  pai_time idle_time, total_time;
  pai_time tail, since, ago; /* tail: -1: not given */
  int follow, stream, recursive;
} wish;

static const option wishes[] = { OPTION(wish, method),
                                 OPTION(wish, path),
                                 OPTION(wish, type),
                                 OPTION(wish, accept),
                                 OPTION(wish, job),
                                 OPTION(wish, role),
                                 OPTION(wish, name),
                                 OPTION(wish, user),
                                 OPTION(wish, password),
                                 OPTION(wish, index),
                                 OPTION(wish, most_tries),
                                 OPTION(wish, offset),
                                 OPTION(wish, idle_time),
                                 OPTION(wish, total_time),
                                 OPTION(wish, follow),
                                 OPTION(wish, stream),
                                 OPTION(wish, after),
                                 OPTION(wish, to),
                                 OPTION(wish, from),
                                 OPTION(wish, limit),
                                 OPTION(wish, recursive),
                                 OPTION(wish, tail),
                                 OPTION(wish, since),
                                 OPTION(wish, ago),
                                 OPTION_END };

/* --- changes of a job's state -------------------------------------------- */

static int on_change(void *user_data, const pai_client_change *change)
{
  failure f = { 0 };
  listing l;
  json j;
  int rc;

  json_start(&j);
  json_begin(&j, NULL, '{');
  json_text(&j, "job", change->job);
  json_text(&j, "state", change->state);
  json_bool(&j, "final", change->final != 0);
  json_number(&j, "code", change->exit_code);
  json_end(&j, '}');
  l = json_finish(&j, &f);
  rc = l.json.bytes != NULL ? call_add(user_data, l.json.bytes, l.json.len)
                            : PAI_ENOMEM;
  free(l.json.bytes);
  return rc == PAI_OK ? call_add(user_data, "\n", 1) : rc;
}

/* --- kinds of requests --------------------------------------------------- */

typedef int (*asks)(Call *call, pai_client *c, const wish *w,
                    const call_bodies *b, pai_error **err);

static int ask(Call *call, pai_client *c, const wish *w, const call_bodies *b,
               pai_error **err)
{
  pai_client_request r = PAI_CLIENT_REQUEST_INIT;

  r.method = w->method;
  r.path = w->path;
  r.type = w->type;
  r.accept = w->accept;
  r.body = b->len > 0 ? b->text : NULL;
  r.body_len = b->len;
  r.on_body = w->stream ? call_add : NULL;
  r.most_tries = w->most_tries;
  r.idle_time = w->idle_time;
  r.total_time = w->total_time;
  return pai_client_ask(&call->op, c, &r, call_over, call, err);
}

static int login(Call *call, pai_client *c, const wish *w,
                 const call_bodies *b, pai_error **err)
{
  (void)b;
  return pai_client_login(&call->op, c, w->user, w->password, call_over, call,
                          err);
}

static int submit(Call *call, pai_client *c, const wish *w,
                  const call_bodies *b, pai_error **err)
{
  pai_client_job_file file = PAI_CLIENT_JOB_FILE_INIT;

  file.text = b->text;
  file.len = b->len;
  file.name = w->name;
  file.code = b->code_len > 0 ? b->code : NULL;
  file.code_len = b->code_len;
  return pai_client_submit(&call->op, c, &file, call_over, call, err);
}

static int by_name(Call *call, pai_client *c, const wish *w,
                   const call_bodies *b, pai_error **err)
{
  return pai_client_call(&call->op, c, w->name, b->len > 0 ? b->text : NULL,
                         call_over, call, err);
}

static int info(Call *call, pai_client *c, const wish *w, const call_bodies *b,
                pai_error **err)
{
  (void)w;
  (void)b;
  return pai_client_info(&call->op, c, call_over, call, err);
}

static int logout(Call *call, pai_client *c, const wish *w,
                  const call_bodies *b, pai_error **err)
{
  (void)w;
  (void)b;
  return pai_client_logout(&call->op, c, call_over, call, err);
}

static int await_end(Call *call, pai_client *c, const wish *w,
                     const call_bodies *b, pai_error **err)
{
  (void)b;
  return pai_client_wait(&call->op, c, w->job, call_over, call, err);
}

static int watch(Call *call, pai_client *c, const wish *w,
                 const call_bodies *b, pai_error **err)
{
  (void)b;
  return pai_client_watch(&call->op, c, w->job, on_change, call_over, call,
                          err);
}

static int logs(Call *call, pai_client *c, const wish *w, const call_bodies *b,
                pai_error **err)
{
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;

  (void)b;
  o.job = w->job;
  o.role = w->role;
  o.index = w->index;
  o.name = w->name;
  o.offset = w->offset;
  o.follow = w->follow;
  o.tail = w->tail == 0 ? -1 : w->tail < 0 ? 0 : w->tail;
  o.since = w->ago > 0 ? -w->ago : w->since;
  o.on_data = call_add;
  return pai_client_logs(&call->op, c, &o, call_over, call, err);
}

static int files(Call *call, pai_client *c, const wish *w,
                 const call_bodies *b, pai_error **err)
{
  pai_files_options o = PAI_FILES_OPTIONS_INIT;

  (void)b;
  o.path = w->path;
  o.after = w->after;
  o.limit = w->limit;
  o.recursive = w->recursive;
  return pai_client_files(&call->op, c, w->job, &o, call_over, call, err);
}

static int download(Call *call, pai_client *c, const wish *w,
                    const call_bodies *b, pai_error **err)
{
  pai_download_options o = PAI_DOWNLOAD_OPTIONS_INIT;

  (void)b;
  o.path = w->path;
  o.to = w->to;
  return pai_client_download(&call->op, c, w->job, &o, call_over, call, err);
}

static int upload(Call *call, pai_client *c, const wish *w,
                  const call_bodies *b, pai_error **err)
{
  pai_upload_options o = PAI_UPLOAD_OPTIONS_INIT;

  (void)b;
  o.from = w->from;
  o.path = w->path;
  return pai_client_upload(&call->op, c, w->job, &o, call_over, call, err);
}

static const struct {
  const char *name;
  asks begin;
} kinds[] = {
  { "ask", ask },       { "call", by_name },      { "login", login },
  { "logout", logout }, { "info", info },         { "submit", submit },
  { "watch", watch },   { "wait", await_end },    { "logs", logs },
  { "files", files },   { "download", download }, { "upload", upload },
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static int begin(Call *call, const char *kind, const wish *w,
                 const call_bodies *b, failure *f)
{
  for (size_t i = 0; i < COUNT(kinds); i++)
    if (strcmp(kinds[i].name, kind) == 0)
      return kinds[i].begin(call, call->client->client, w, b, &f->err);
  facade_fail(f, PAI_EINVAL, "a client is not asked for that");
  return PAI_EINVAL;
}

int call_begin(Call *call, const char *kind, const words *fields,
               const call_bodies *bodies, failure *f)
{
  wish w = { .tail = -1 };

  return options_read(&w, wishes, fields, f) ? begin(call, kind, &w, bodies, f)
                                             : f->code;
}
