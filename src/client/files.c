/*
 * files.c - lists a job's files and downloads one
 *
 * A download counts the bytes received, and after a cut requests the rest with
 * a range.  The server compares the time of change, so versions of a file are
 * not mixed.
 */
#include "client/inside.h"

#include <openpai/client_files.h>

#include <stdio.h>

enum { TRIES = 6 }; /* consecutive tries without new bytes */

/* --- the list ------------------------------------------------------------ */

static void add_number(pai__buf *b, const char *name, uint64_t value)
{
  char text[24];

  (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
  pai__url_query(b, name, text);
}

static void add_options(pai__buf *b, const pai_files_options *o)
{
  pai__url_query(b, "path", o->path);
  pai__url_query(b, "after", o->after);
  if (o->limit > 0)
    add_number(b, "limit", o->limit);
  pai__url_query(b, "recursive", o->recursive != 0 ? "true" : NULL);
  pai__url_query(b, "total", o->total != 0 ? "true" : NULL);
}

int pai_client_files(pai_op **op, pai_client *client, const char *job,
                     const pai_files_options *opts, pai_client_cb cb,
                     void *user_data, pai_error **err)
{
  pai_files_options o = PAI_FILES_OPTIONS_INIT;
  pai__client_ask *ask = NULL;
  pai__buf path;
  pai__call call;
  int rc = pai__op_check(op, client, cb, __func__, err);

  if (rc < 0)
    return rc;
  rc = PAI__OPTIONS_IN(&o, opts, pai_files_options, own);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_files_options");
  pai__buf_init(&path, &client->alloc);
  rc = pai__job_path(&path, job, "/files", err);
  if (rc < 0)
    return rc;
  add_options(&path, &o);
  call = pai__call_of(client, "GET", pai__buf_text(&path));
  rc = pai__buf_ok(&path)
         ? pai__ask_new(&ask, client, &call, cb, user_data, err)
         : pai__oom(err);
  pai__buf_dispose(&path);
  if (rc == PAI_OK && op != NULL)
    *op = pai__ask_op(ask);
  return rc;
}

/* --- a file -------------------------------------------------------------- */

typedef struct download {
  pai__client_sequence sequence;
  char *job, *path;
  uint64_t offset;  /* of the next byte */
  uint64_t skip;    /* bytes of this answer that were already received */
  int64_t modified; /* in ms since 1970 */
  bool begun;       /* bytes of this answer have arrived */
  pai_write_cb on_data;
  uint32_t failed; /* tries since the last byte arrived */
  pai_time pause;
} download;

static void ask_bytes(pai__client_sequence *c);

static int on_bytes(void *user_data, int http_status, const char *bytes,
                    size_t len)
{
  download *d = user_data;
  size_t known;

  if (!d->begun && http_status == 206)
    d->skip = 0; /* the answer begins at the requested offset */
  d->begun = true;
  known = d->skip < len ? (size_t)d->skip : len;
  d->skip -= known;
  if (known == len)
    return 0;
  d->failed = 0;
  d->pause = 0;
  d->offset += len - known;
  d->sequence.stopped =
    d->on_data(d->sequence.user_data, bytes + known, len - known);
  return d->sequence.stopped;
}

static void ask_later(download *d)
{
  pai_client *client = d->sequence.op.client;

  d->failed++;
  d->pause = d->pause > 0 ? d->pause * 2 : client->first_wait;
  if (d->pause > client->most_wait)
    d->pause = client->most_wait;
  pai__client_sequence_wait(&d->sequence, d->pause, ask_bytes);
}

static void on_file(pai__client_sequence *c, int status,
                    const pai_client_answer *a)
{
  download *d = (download *)c;

  if (c->stopped < 0)
    pai__client_sequence_fail(c, c->stopped, NULL);
  else if (a->http_status == 416) /* there is nothing after the bytes
                                     received */
    pai__client_sequence_end(c, PAI_OK, a);
  else if ((status == PAI_EIO || status == PAI_EBUSY) && d->offset > 0 &&
           d->failed < TRIES)
    ask_later(d);
  else
    pai__client_sequence_end(c, status, a);
}

static int start_bytes(download *d, pai_error **err)
{
  pai__client_sequence *c = &d->sequence;
  pai__call call = pai__call_of(c->op.client, "GET", NULL);
  char range[40], number[24];
  pai__buf path;

  pai__buf_init(&path, &c->op.client->alloc);
  (void)pai__job_path(&path, d->job, "/file", NULL);
  pai__url_query(&path, "path", d->path);
  call.accept = "application/octet-stream, */*";
  call.on_body = on_bytes;
  call.total_time = 0;
  d->begun = false;
  d->skip = d->offset;
  if (d->offset > 0) {
    (void)snprintf(number, sizeof(number), "%lld", (long long)d->modified);
    pai__url_query(&path, "modified", number);
    (void)snprintf(range, sizeof(range), "bytes=%llu-",
                   (unsigned long long)d->offset);
    call.range = range;
  }
  return pai__client_sequence_at(c, call, &path, on_file, err);
}

static void ask_bytes(pai__client_sequence *c)
{
  pai_error *err = NULL;
  int rc = start_bytes((download *)c, &err);

  pai__client_sequence_check(c, rc, err);
}

/* The list has one entry: the file. */
static void on_entry(pai__client_sequence *c, int status,
                     const pai_client_answer *a)
{
  download *d = (download *)c;
  pai__tree *tree;
  pai__tree_walk walk;

  if (status < 0) {
    pai__client_sequence_end(c, status, a);
    return;
  }
  tree = pai__answer_tree(&c->op.client->alloc, a->body, a->body_len);
  walk = pai__tree_iter(tree, pai__tree_get(tree, 0, "entries"));
  d->modified = pai__tree_look_int(tree, pai__tree_next(&walk), "modified");
  pai__tree_free(tree);
  ask_bytes(c);
}

static int ask_entry(download *d, pai_error **err)
{
  pai__client_sequence *c = &d->sequence;
  pai__buf path;

  pai__buf_init(&path, &c->op.client->alloc);
  (void)pai__job_path(&path, d->job, "/files", NULL);
  pai__url_query(&path, "path", d->path);
  pai__url_query(&path, "limit", "1");
  return pai__client_sequence_at(c, pai__call_of(c->op.client, "GET", NULL),
                                 &path, on_entry, err);
}

static void dispose(pai__client_sequence *c)
{
  download *d = (download *)c;

  pai__strfree(&c->op.client->alloc, d->job);
  pai__strfree(&c->op.client->alloc, d->path);
}

int pai_client_get_file(pai_op **op, pai_client *client,
                        const pai_client_get_file_options *opts,
                        pai_client_cb cb, void *user_data, pai_error **err)
{
  pai_client_get_file_options o;
  pai__client_sequence *c;
  download *d;
  int rc = pai__op_check(op, client, cb, __func__, err);

  if (rc < 0)
    return rc;
  PAI__CHECK_ARG_ERR(opts != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_client_get_file_options, on_data);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_client_get_file_options");
  PAI__CHECK_ARG_ERR(o.path != NULL && o.on_data != NULL, err);
  rc = pai__client_check_job(o.job, err);
  if (rc == PAI_OK)
    rc = pai__client_sequence_new(&c, client, sizeof(*d), dispose, cb,
                                  user_data, err);
  if (rc < 0)
    return rc;
  d = (download *)c;
  d->job = pai__strdup(&client->alloc, o.job);
  d->path = pai__strdup(&client->alloc, o.path);
  d->offset = o.offset;
  d->modified = o.modified;
  d->on_data = o.on_data;
  if (d->job == NULL || d->path == NULL)
    rc = pai__oom(err);
  else if ((rc = pai__client_sequence_ready(c, err)) == PAI_OK)
    rc = d->modified != 0 ? start_bytes(d, err) : ask_entry(d, err);
  return pai__client_sequence_started(c, rc, op);
}
