/*
 * upload.c - uploads a file to a job's folder, in pieces
 *
 * Each piece has its offset, so it may be sent twice.  An upload that may have
 * begun before first asks how much has arrived.
 */
#include "client/inside.h"

#include <openpai/client_files.h>

#include <stdio.h>

enum { PIECE = 8 << 20 };

typedef struct sending {
  pai__client_sequence sequence;
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

/* --- answers ------------------------------------------------------------- */

static void go_on(sending *s)
{
  pai_error *err = NULL;
  int rc = send_piece(s, &err);

  pai__client_sequence_check(&s->sequence, rc, err);
}

static void on_piece(pai__client_sequence *c, int status,
                     const pai_client_answer *a)
{
  sending *s = (sending *)c;
  uint64_t before = s->received;
  bool complete;
  pai__tree *tree;

  if (status < 0) {
    pai__client_sequence_end(c, status, a);
    return;
  }
  tree = pai__answer_tree(&c->op.client->alloc, a->body, a->body_len);
  complete = pai__tree_is_true(tree, pai__tree_get(tree, 0, "complete"));
  if (tree != NULL)
    s->received = (uint64_t)pai__tree_look_int(tree, 0, "received");
  pai__tree_free(tree);
  if (s->on_progress != NULL)
    s->on_progress(c->user_data, s->received, s->size);
  if (complete) {
    pai__client_sequence_end(c, PAI_OK, a);
  } else if (s->piece != NULL && s->received <= before) {
    pai_error *err = NULL;
    int rc = pai__fail(&err, PAI_EIO, "the server has no data of %s", s->path);
    pai__client_sequence_check(c, rc, err);
  } else {
    go_on(s);
  }
}

static void on_sent(void *user_data, uint64_t sent, uint64_t total)
{
  sending *s = user_data;

  (void)total;
  if (s->on_progress != NULL)
    s->on_progress(s->sequence.user_data, s->received + sent, s->size);
}

/* --- pieces -------------------------------------------------------------- */

static int put(sending *s, const char *bytes, size_t len, bool has_offset,
               pai_error **err)
{
  pai__call call = pai__call_of(s->sequence.op.client, "PUT", NULL);
  char text[24];
  pai__buf path;

  pai__buf_init(&path, &s->sequence.op.client->alloc);
  (void)pai__job_path(&path, s->job, "/file", NULL);
  pai__url_query(&path, "path", s->path);
  (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)s->size);
  pai__url_query(&path, "size", text);
  pai__url_query(&path, "upload", s->upload);
  pai__url_query(&path, "executable", s->executable ? "true" : NULL);
  (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)s->received);
  pai__url_query(&path, "offset", has_offset ? text : NULL);
  call.type = "application/octet-stream";
  call.body = bytes;
  call.body_len = len;
  call.total_time = 0;
  call.on_sent = on_sent;
  return pai__client_sequence_at(&s->sequence, call, &path, on_piece, err);
}

static int read_piece(sending *s, size_t want, pai_error **err)
{
  size_t have = 0;

  while (have < want) {
    ptrdiff_t n = s->read(s->sequence.user_data, s->received + have,
                          s->piece + have, want - have);
    if (n <= 0 || (size_t)n > want - have)
      return pai__fail(err, n < 0 ? (int)n : PAI_EIO,
                       "cannot read the file for %s", s->path);
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
    s->piece = pai__zalloc(&s->sequence.op.client->alloc, s->piece_size);
    if (s->piece == NULL)
      return pai__oom(err);
  }
  if (want > s->piece_size)
    want = s->piece_size;
  rc = read_piece(s, want, err);
  return rc < 0 ? rc : put(s, s->piece, want, true, err);
}

/* --- its life ------------------------------------------------------------ */

static void dispose(pai__client_sequence *c)
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
  pai_client *client = s->sequence.op.client;
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
  pai__client_sequence *c;
  int rc;

  rc = pai__op_check(op, client, cb, __func__, err);
  if (rc < 0)
    return rc;
  PAI__CHECK_ARG_ERR(opts != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_client_put_file_options, on_progress);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_client_put_file_options");
  PAI__CHECK_ARG_ERR(o.path != NULL && o.read != NULL, err);
  rc = pai__client_check_job(o.job, err);
  if (rc == PAI_OK)
    rc = pai__client_sequence_new(&c, client, sizeof(sending), dispose, cb,
                                  user_data, err);
  if (rc < 0)
    return rc;
  rc = begin((sending *)c, &o, err);
  return pai__client_sequence_started(c, rc, op);
}
