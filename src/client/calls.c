/* calls.c - calls that ask for one thing */
#include "client/inside.h"

#include "json/writer.h"

#include <stdio.h>

/* What all of them begin with. */
#define BEGIN(op, client, cb, err)                             \
  do {                                                         \
    if ((op) != NULL)                                          \
      *(op) = NULL;                                            \
    if ((err) != NULL)                                         \
      *(err) = NULL;                                           \
    PAI__CHECK_ARG_ERR((client) != NULL && (cb) != NULL, err); \
  } while (0)

int pai__job_path(pai__buf *b, const char *job, const char *rest,
                  pai_error **err)
{
  const char *tilde = job != NULL ? strchr(job, '~') : NULL;

  if (job == NULL || job[0] == '\0' || strchr(job, '/') != NULL ||
      tilde == job || (tilde != NULL && tilde[1] == '\0'))
    return pai__fail(err, PAI_EINVAL, "a job is named as user~name, not '%s'",
                     job != NULL ? job : "");
  pai__buf_str(b, "/api/v2/jobs/");
  pai__url_add(b, job);
  pai__buf_str(b, rest);
  return PAI_OK;
}

/* --- the server ------------------------------------------------------------------- */

int pai__client_note_info(pai_client *client, const pai_client_answer *a)
{
  pai__tree *tree;
  const char *server;

  if (pai__answer_read(&tree, &client->alloc, a->body, a->body_len) < 0)
    return PAI_ENOMEM;
  server = pai__client_text(tree, 0, "server");

  client->server =
    strcmp(server, "libopenpai") == 0 ? PAI__OURS : PAI__ORIGINAL;
  pai__tree_free(tree);
  return PAI_OK;
}

static void on_info(pai__course *c, int status, const pai_client_answer *a)
{
  if (status == PAI_OK) /* else, whoever must know asks again */
    (void)pai__client_note_info(c->op.client, a);
  pai__course_end(c, status, a);
}

int pai_client_info(pai_op **op, pai_client *client, pai_client_cb cb,
                    void *user_data, pai_error **err)
{
  pai__call call;
  pai__course *c;
  int rc;

  BEGIN(op, client, cb, err);
  rc = pai__course_new(&c, client, sizeof(*c), NULL, cb, user_data, err);
  if (rc < 0)
    return rc;
  call = pai__call_of(client, "GET", "/api/v2/info");
  call.nobody = true;
  rc = pai__course_ask(c, &call, on_info, err);
  if (rc < 0)
    pai__course_drop(c);
  else if (op != NULL)
    *op = &c->op;
  return rc;
}

/* --- jobs ---------------------------------------------------------------------------- */

static void on_total(pai__course *c, int status, const pai_client_answer *a)
{
  pai_client_answer out = *a;
  pai__tree *tree = NULL;

  if (status == PAI_OK) {
    tree = pai__answer_tree(&c->op.client->alloc, a->body, a->body_len);
    if (tree != NULL && pai__tree_type(tree, 0) == PAI__MAPPING)
      out.total = pai__answer_number(tree, 0, "totalCount");
    pai__tree_free(tree);
  }
  pai__course_end(c, status, &out);
}

static void add_number(pai__buf *b, const char *name, uint64_t value)
{
  char text[24];

  (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
  pai__url_query(b, name, value > 0 ? text : NULL);
}

static void add_query(pai__buf *b, const pai_job_query *q)
{
  pai__url_query(b, "username", q->users);
  pai__url_query(b, "vc", q->virtual_clusters);
  pai__url_query(b, "state", q->states);
  pai__url_query(b, "jobPriority", q->priorities);
  pai__url_query(b, "tagsContain", q->tags);
  pai__url_query(b, "tagsNotContain", q->not_tags);
  pai__url_query(b, "keyword", q->keyword);
  pai__url_query(b, "order", q->order);
  add_number(b, "offset", q->offset);
  add_number(b, "limit", q->limit);
  pai__url_query(b, "withTotalCount", q->with_total != 0 ? "true" : NULL);
}

int pai_client_jobs(pai_op **op, pai_client *client,
                    const pai_job_query *query, pai_client_cb cb,
                    void *user_data, pai_error **err)
{
  pai_job_query q;
  pai__call call;
  pai__course *c;
  pai__buf path;
  int rc;

  BEGIN(op, client, cb, err);
  rc = PAI__COPY_IN(&q, query, pai_job_query, with_total);
  if (rc < 0)
    return pai__fail_struct(err, rc, query, "pai_job_query");
  pai__buf_init(&path, &client->alloc);
  pai__buf_str(&path, "/api/v2/jobs");
  add_query(&path, &q);
  if (q.with_total == 0)
    return pai__ask_simply(op, client, "GET", &path, NULL, cb, user_data, err);
  rc = pai__course_new(&c, client, sizeof(*c), NULL, cb, user_data, err);
  if (rc == PAI_OK) {
    call = pai__call_of(client, "GET", pai__buf_text(&path));
    rc = pai__buf_ok(&path) ? pai__course_ask(c, &call, on_total, err)
                            : pai__oom(err);
    if (rc < 0)
      pai__course_drop(c);
    else if (op != NULL)
      *op = &c->op;
  }
  pai__buf_dispose(&path);
  return rc;
}

static int ask_job(pai_op **op, pai_client *client, const char *method,
                   const char *job, const char *rest, const char *body,
                   pai_client_cb cb, void *user_data, pai_error **err)
{
  pai__buf path;
  int rc;

  pai__buf_init(&path, &client->alloc);
  rc = pai__job_path(&path, job, rest, err);
  if (rc < 0)
    return rc;
  return pai__ask_simply(op, client, method, &path, body, cb, user_data, err);
}

int pai_client_config(pai_op **op, pai_client *client, const char *job,
                      pai_client_cb cb, void *user_data, pai_error **err)
{
  BEGIN(op, client, cb, err);
  return ask_job(op, client, "GET", job, "/config", NULL, cb, user_data, err);
}

int pai_client_stop(pai_op **op, pai_client *client, const char *job,
                    pai_client_cb cb, void *user_data, pai_error **err)
{
  BEGIN(op, client, cb, err);
  return ask_job(op, client, "PUT", job, "/executionType",
                 "{\"value\":\"STOP\"}", cb, user_data, err);
}

int pai_client_tag(pai_op **op, pai_client *client, const char *job,
                   const char *tag, int on, pai_client_cb cb, void *user_data,
                   pai_error **err)
{
  pai__json_writer w;
  pai__buf body;
  int rc;

  BEGIN(op, client, cb, err);
  PAI__CHECK_ARG_ERR(tag != NULL, err);
  pai__buf_init(&body, &client->alloc);
  pai__json_writer_init(&w, &body, false);
  pai__json_begin_object(&w);
  pai__json_key(&w, "value", 5);
  pai__json_text(&w, tag, strlen(tag));
  pai__json_end_object(&w);
  rc = pai__json_finish(&w) < 0
         ? pai__oom(err)
         : ask_job(op, client, on != 0 ? "PUT" : "DELETE", job, "/tag",
                   pai__buf_text(&body), cb, user_data, err);
  pai__buf_dispose(&body);
  return rc;
}

int pai_client_users(pai_op **op, pai_client *client, pai_client_cb cb,
                     void *user_data, pai_error **err)
{
  pai__buf path;

  BEGIN(op, client, cb, err);
  pai__buf_init(&path, &client->alloc);
  pai__buf_str(&path, "/api/v2/users");
  return pai__ask_simply(op, client, "GET", &path, NULL, cb, user_data, err);
}
