/*
 * upload.c - a file goes into a job's folder, a piece at a time
 *
 * Each piece says where in the file it belongs, so that it may be sent twice.
 * An upload that may have begun before asks first what has arrived.
 */
#include "client/inside.h"

#include <stdio.h>

enum { PIECE = 8 << 20 };

typedef struct sending {
  pai__course course;
  char *job, *path, *upload;
  uint64_t size;
  uint64_t received; /* by the server */
  pai_read_at_cb read;
  bool executable;
  void (*on_progress)(void *user_data, uint64_t sent, uint64_t total);
  char *piece;
  size_t piece_size;
} sending;

static int send_piece(sending *s, pai_error **err);

/* --- answers --------------------------------------------------------------------- */

static void go_on(sending *s)
{
  pai_error *err = NULL;
  int rc = send_piece(s, &err);

  if (rc < 0)
    pai__course_fail(&s->course, rc, err);
  pai_error_free(err);
}

static void on_piece(pai__course *c, int status, const pai_client_answer *a)
{
  sending *s = (sending *)c;
  uint64_t before = s->received;
  bool complete;
  pai__tree *tree;
  pai__node n;

  if (status < 0) {
    pai__course_end(c, status, a);
    return;
  }
  tree = pai__answer_tree(&c->op.client->alloc, a->body, a->body_len);
  n = tree != NULL ? pai__tree_get(tree, 0, "complete") : PAI__NO_NODE;
  complete = n != PAI__NO_NODE && pai__tree_bool(tree, n);
  if (tree != NULL)
    s->received = (uint64_t)pai__answer_number(tree, 0, "received");
  pai__tree_free(tree);
  if (s->on_progress != NULL)
    s->on_progress(c->user_data, s->received, s->size);
  if (complete) {
    pai__course_end(c, PAI_OK, a);
  } else if (s->piece != NULL && s->received <= before) {
    pai_error *err = NULL;
    int rc = pai__fail(&err, PAI_EIO, "the server has nothing of %s", s->path);
    pai__course_fail(c, rc, err);
    pai_error_free(err);
  } else {
    go_on(s);
  }
}

static void on_sent(void *user_data, uint64_t sent, uint64_t total)
{
  sending *s = user_data;

  (void)total;
  if (s->on_progress != NULL)
    s->on_progress(s->course.user_data, s->received + sent, s->size);
}

/* --- pieces ------------------------------------------------------------------------ */

static int put(sending *s, const char *bytes, size_t len, bool has_offset,
               pai_error **err)
{
  pai_client *client = s->course.op.client;
  char text[24];
  pai__call call;
  pai__buf path;
  int rc;

  pai__buf_init(&path, &client->alloc);
  (void)pai__job_path(&path, s->job, "/file", NULL);
  pai__url_query(&path, "path", s->path);
  (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)s->size);
  pai__url_query(&path, "size", text);
  pai__url_query(&path, "upload", s->upload);
  pai__url_query(&path, "executable", s->executable ? "true" : NULL);
  (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)s->received);
  pai__url_query(&path, "offset", has_offset ? text : NULL);
  call = pai__call_of(client, "PUT", pai__buf_text(&path));
  call.type = "application/octet-stream";
  call.body = bytes;
  call.body_len = len;
  call.total_time = 0;
  call.on_sent = on_sent;
  rc = pai__buf_ok(&path) ? pai__course_ask(&s->course, &call, on_piece, err)
                          : pai__oom(err);
  pai__buf_dispose(&path);
  return rc;
}

static int read_piece(sending *s, size_t want, pai_error **err)
{
  size_t have = 0;

  while (have < want) {
    ptrdiff_t n = s->read(s->course.user_data, s->received + have,
                          s->piece + have, want - have);
    if (n <= 0 || (size_t)n > want - have)
      return pai__fail(err, n < 0 ? (int)n : PAI_EIO,
                       "cannot read the file that goes to %s", s->path);
    have += (size_t)n;
  }
  return PAI_OK;
}

static int send_piece(sending *s, pai_error **err)
{
  uint64_t left = s->size > s->received ? s->size - s->received : 0;
  size_t want = left < PIECE ? (size_t)left : PIECE;
  int rc;

  if (s->piece == NULL) {
    s->piece_size = want > 0 ? want : 1;
    s->piece = pai__zalloc(&s->course.op.client->alloc, s->piece_size);
    if (s->piece == NULL)
      return pai__oom(err);
  }
  if (want > s->piece_size)
    want = s->piece_size;
  rc = read_piece(s, want, err);
  return rc < 0 ? rc : put(s, s->piece, want, true, err);
}

/* --- its life ----------------------------------------------------------------------- */

static void dispose(pai__course *c)
{
  sending *s = (sending *)c;
  const pai_alloc *alloc = &c->op.client->alloc;

  pai__strfree(alloc, s->job);
  pai__strfree(alloc, s->path);
  pai__strfree(alloc, s->upload);
  pai__free(alloc, s->piece, s->piece_size);
}

static int begin(sending *s, const pai_client_put_file_options *o,
                 pai_error **err)
{
  pai_client *client = s->course.op.client;
  char name[32];

  (void)snprintf(name, sizeof(name), "once-%016llx",
                 (unsigned long long)pai__prng_next(&client->random));
  s->job = pai__strdup(&client->alloc, o->job);
  s->path = pai__strdup(&client->alloc, o->path);
  s->upload =
    pai__strdup(&client->alloc, o->upload != NULL ? o->upload : name);
  s->size = o->size;
  s->read = o->read;
  s->executable = o->executable != 0;
  s->on_progress = o->on_progress;
  if (s->job == NULL || s->path == NULL || s->upload == NULL)
    return pai__oom(err);
  return o->upload != NULL ? put(s, NULL, 0, false, err) : send_piece(s, err);
}

int pai_client_put_file(pai_op **op, pai_client *client,
                        const pai_client_put_file_options *opts,
                        pai_client_cb cb, void *user_data, pai_error **err)
{
  pai_client_put_file_options o;
  pai__course *c;
  pai__buf path;
  int rc;

  if (op != NULL)
    *op = NULL;
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(client != NULL && cb != NULL && opts != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_client_put_file_options, on_progress);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_client_put_file_options");
  PAI__CHECK_ARG_ERR(o.path != NULL && o.read != NULL, err);
  pai__buf_init(&path, &client->alloc);
  rc = pai__job_path(&path, o.job, "", err); /* is it a name? */
  pai__buf_dispose(&path);
  if (rc == PAI_OK)
    rc = pai__course_new(&c, client, sizeof(sending), dispose, cb, user_data,
                         err);
  if (rc < 0)
    return rc;
  rc = begin((sending *)c, &o, err);
  if (rc < 0)
    pai__course_drop(c);
  else if (op != NULL)
    *op = &c->op;
  return rc;
}
