/* facade_calls.c - what a client can be asked for, by the names of scripts */
#include "client_shared.h"

#include <stdlib.h>
#include <string.h>

/* A larger file that is uploaded may be continued. */
enum { MOST_AT_ONCE = 1 << 20 };

/* What any of them may be told; each refuses what is not there itself. */
typedef struct wish {
  pai_job_query query;
  const char *method, *path, *type, *accept;
  const char *job, *role, *name, *tag, *user, *password;
  const char *after, *to, *local;
  uint32_t index, most_tries, limit;
  uint64_t offset, size;
  pai_time idle_time, total_time, modified;
  int follow, stream, recursive, executable;
} wish;

static const option wishes[] = {
  OPTION(wish, method, OPTION_TEXT),     OPTION(wish, path, OPTION_TEXT),
  OPTION(wish, type, OPTION_TEXT),       OPTION(wish, accept, OPTION_TEXT),
  OPTION(wish, job, OPTION_TEXT),        OPTION(wish, role, OPTION_TEXT),
  OPTION(wish, name, OPTION_TEXT),       OPTION(wish, tag, OPTION_TEXT),
  OPTION(wish, user, OPTION_TEXT),       OPTION(wish, password, OPTION_TEXT),
  OPTION(wish, index, OPTION_U32),       OPTION(wish, most_tries, OPTION_U32),
  OPTION(wish, offset, OPTION_U64),      OPTION(wish, idle_time, OPTION_TIME),
  OPTION(wish, total_time, OPTION_TIME), OPTION(wish, follow, OPTION_INT),
  OPTION(wish, stream, OPTION_INT),      OPTION(wish, after, OPTION_TEXT),
  OPTION(wish, to, OPTION_TEXT),         OPTION(wish, local, OPTION_TEXT),
  OPTION(wish, limit, OPTION_U32),       OPTION(wish, size, OPTION_U64),
  OPTION(wish, modified, OPTION_TIME),   OPTION(wish, recursive, OPTION_INT),
  OPTION(wish, executable, OPTION_INT),
};

static const option queries[] = {
  OPTION(pai_job_query, users, OPTION_TEXT),
  OPTION(pai_job_query, virtual_clusters, OPTION_TEXT),
  OPTION(pai_job_query, states, OPTION_TEXT),
  OPTION(pai_job_query, priorities, OPTION_TEXT),
  OPTION(pai_job_query, tags, OPTION_TEXT),
  OPTION(pai_job_query, not_tags, OPTION_TEXT),
  OPTION(pai_job_query, keyword, OPTION_TEXT),
  OPTION(pai_job_query, order, OPTION_TEXT),
  OPTION(pai_job_query, offset, OPTION_U64),
  OPTION(pai_job_query, limit, OPTION_U64),
  OPTION(pai_job_query, with_total, OPTION_INT),
};

/* --- what comes before the end ------------------------------------------------ */

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

/* --- asking --------------------------------------------------------------------- */

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

static int jobs(Call *call, pai_client *c, const wish *w, const call_bodies *b,
                pai_error **err)
{
  (void)b;
  return pai_client_jobs(&call->op, c, &w->query, call_over, call, err);
}

static int tag(Call *call, pai_client *c, const wish *w, const call_bodies *b,
               pai_error **err)
{
  (void)b;
  return pai_client_tag(&call->op, c, w->job, w->tag, 1, call_over, call, err);
}

static int untag(Call *call, pai_client *c, const wish *w,
                 const call_bodies *b, pai_error **err)
{
  (void)b;
  return pai_client_tag(&call->op, c, w->job, w->tag, 0, call_over, call, err);
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

static int get_file(Call *call, pai_client *c, const wish *w,
                    const call_bodies *b, pai_error **err)
{
  pai_client_get_file_options o = PAI_CLIENT_GET_FILE_OPTIONS_INIT;

  (void)b;
  o.job = w->job;
  o.path = w->path;
  o.offset = local_received(call->local);
  o.modified = w->modified;
  o.on_data = call_write;
  return pai_client_get_file(&call->op, c, &o, call_over, call, err);
}

/* A small file is sent at once, and need not be continued later. */
static int put_file(Call *call, pai_client *c, const wish *w,
                    const call_bodies *b, pai_error **err)
{
  pai_client_put_file_options o = PAI_CLIENT_PUT_FILE_OPTIONS_INIT;
  char name[UPLOAD_NAME];

  (void)b;
  o.job = w->job;
  o.path = w->path;
  o.size = w->size;
  o.executable = w->executable;
  o.read = call_read;
  if (w->size > MOST_AT_ONCE) {
    local_upload_name(name, call->upload, w->job, w->path);
    o.upload = name;
  }
  return pai_client_put_file(&call->op, c, &o, call_over, call, err);
}

static const struct {
  const char *name;
  asks begin;
} kinds[] = {
  { "ask", ask },           { "login", login },       { "submit", submit },
  { "jobs", jobs },         { "tag", tag },           { "untag", untag },
  { "watch", watch },       { "logs", logs },         { "files", files },
  { "get_file", get_file }, { "put_file", put_file },
};

/* Those that are told nothing, or a job. */
static const struct {
  const char *name;
  int (*begin)(pai_op **op, pai_client *client, pai_client_cb cb,
               void *user_data, pai_error **err);
} plain[] = {
  { "info", pai_client_info },
  { "logout", pai_client_logout },
  { "users", pai_client_users },
};

static const struct {
  const char *name;
  int (*begin)(pai_op **op, pai_client *client, const char *job,
               pai_client_cb cb, void *user_data, pai_error **err);
} of_job[] = {
  { "job", pai_client_job },
  { "config", pai_client_config },
  { "stop", pai_client_stop },
  { "wait", pai_client_wait },
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static int begin(Call *call, const char *kind, const wish *w,
                 const call_bodies *b, failure *f)
{
  pai_client *c = call->client->client;

  for (size_t i = 0; i < COUNT(kinds); i++)
    if (strcmp(kinds[i].name, kind) == 0)
      return kinds[i].begin(call, c, w, b, &f->err);
  for (size_t i = 0; i < COUNT(plain); i++)
    if (strcmp(plain[i].name, kind) == 0)
      return plain[i].begin(&call->op, c, call_over, call, &f->err);
  for (size_t i = 0; i < COUNT(of_job); i++)
    if (strcmp(of_job[i].name, kind) == 0)
      return of_job[i].begin(&call->op, c, w->job, call_over, call, &f->err);
  facade_fail(f, PAI_EINVAL, "a client is not asked for that");
  return PAI_EINVAL;
}

/* The file of this machine that the call is about. */
static bool open_local(Call *call, const char *kind, wish *w, failure *f)
{
  bool gets = strcmp(kind, "get_file") == 0;
  bool puts = strcmp(kind, "put_file") == 0;
  file_version v = { w->job, w->path, w->size, w->modified, w->executable };

  if (!gets && !puts)
    return true;
  if (w->job == NULL || w->path == NULL || (gets ? w->to : w->local) == NULL) {
    facade_fail(f, PAI_EINVAL, "a file has a job, a path and a local path");
    return false;
  }
  if (gets)
    call->local = local_open(w->to, &v, f);
  else
    call->upload =
      local_open_read(w->local, w->path, &w->size, &w->executable, f);
  return f->code >= 0;
}

int call_begin(Call *call, const char *kind, const words *fields,
               const call_bodies *bodies, failure *f)
{
  wish w = { .query = PAI_JOB_QUERY_INIT };
  bool good = strcmp(kind, "jobs") == 0
                ? options_read(&w.query, queries, COUNT(queries), fields, f)
                : options_read(&w, wishes, COUNT(wishes), fields, f) &&
                    open_local(call, kind, &w, f);

  return good ? begin(call, kind, &w, bodies, f) : f->code;
}
