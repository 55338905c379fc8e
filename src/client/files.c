/*
 * files.c - files of a job: a list of them, and the bytes of one
 *
 * A download counts what has come, and after a cut asks for the bytes behind
 * that with a range.  The server compares the time of change, so that no two
 * versions of a file are mixed.
 */
#include "client/inside.h"

#include <stdio.h>

enum { TRIES = 6 }; /* that bring nothing, one after the other */

/* --- the list ---------------------------------------------------------------------- */

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
  pai__buf path;
  int rc;

  if (op != NULL)
    *op = NULL;
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(client != NULL && cb != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_files_options, own);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_files_options");
  pai__buf_init(&path, &client->alloc);
  rc = pai__job_path(&path, job, "/files", err);
  if (rc < 0)
    return rc;
  add_options(&path, &o);
  return pai__ask_simply(op, client, "GET", &path, NULL, cb, user_data, err);
}

/* --- a file ------------------------------------------------------------------------- */

typedef struct download {
  pai__course course;
  char *job, *path;
  uint64_t offset;  /* of the next byte */
  uint64_t skip;    /* bytes of this answer that have come before */
  int64_t modified; /* in ms since 1970 */
  bool begun;       /* bytes of this answer have come */
  pai_write_cb on_data;
  uint32_t failed; /* tries since the last byte came */
  pai_time pause;
} download;

static void ask_bytes(pai__course *c);

static int on_bytes(void *user_data, int http_status, const char *bytes,
                    size_t len)
{
  download *d = user_data;
  size_t known;

  if (!d->begun && http_status == 206)
    d->skip = 0; /* it begins where it was asked to */
  d->begun = true;
  known = d->skip < len ? (size_t)d->skip : len;
  d->skip -= known;
  if (known == len)
    return 0;
  d->failed = 0;
  d->pause = 0;
  d->offset += len - known;
  d->course.stopped =
    d->on_data(d->course.user_data, bytes + known, len - known);
  return d->course.stopped;
}

static void ask_later(download *d)
{
  pai_client *client = d->course.op.client;

  d->failed++;
  d->pause = d->pause > 0 ? d->pause * 2 : client->first_wait;
  if (d->pause > client->most_wait)
    d->pause = client->most_wait;
  pai__course_wait(&d->course, d->pause, ask_bytes);
}

static void on_file(pai__course *c, int status, const pai_client_answer *a)
{
  download *d = (download *)c;

  if (c->stopped < 0)
    pai__course_fail(c, c->stopped, NULL);
  else if (a->http_status == 416) /* there is nothing behind what has come */
    pai__course_end(c, PAI_OK, a);
  else if ((status == PAI_EIO || status == PAI_EBUSY) && d->offset > 0 &&
           d->failed < TRIES)
    ask_later(d);
  else
    pai__course_end(c, status, a);
}

static int start_bytes(download *d, pai_error **err)
{
  pai_client *client = d->course.op.client;
  char range[40];
  pai__call call;
  pai__buf path;
  int rc;

  pai__buf_init(&path, &client->alloc);
  (void)pai__job_path(&path, d->job, "/file", NULL);
  pai__url_query(&path, "path", d->path);
  if (d->offset > 0)
    add_number(&path, "modified", (uint64_t)d->modified);
  call = pai__call_of(client, "GET", pai__buf_text(&path));
  call.accept = "application/octet-stream, */*";
  call.on_body = on_bytes;
  call.total_time = 0;
  d->begun = false;
  d->skip = d->offset;
  if (d->offset > 0) {
    (void)snprintf(range, sizeof(range), "bytes=%llu-",
                   (unsigned long long)d->offset);
    call.range = range;
  }
  rc = pai__buf_ok(&path) ? pai__course_ask(&d->course, &call, on_file, err)
                          : pai__oom(err);
  pai__buf_dispose(&path);
  return rc;
}

static void ask_bytes(pai__course *c)
{
  pai_error *err = NULL;
  int rc = start_bytes((download *)c, &err);

  if (rc < 0)
    pai__course_fail(c, rc, err);
  pai_error_free(err);
}

/* The list has one entry: the file. */
static void on_entry(pai__course *c, int status, const pai_client_answer *a)
{
  download *d = (download *)c;
  pai__tree *tree;
  pai__node list;

  if (status < 0) {
    pai__course_end(c, status, a);
    return;
  }
  tree = pai__answer_tree(&c->op.client->alloc, a->body, a->body_len);
  list = tree != NULL ? pai__tree_get(tree, 0, "entries") : PAI__NO_NODE;
  if (list != PAI__NO_NODE && pai__tree_type(tree, list) == PAI__SEQUENCE) {
    pai__tree_walk walk = pai__tree_iter(tree, list);
    pai__node n = pai__tree_next(&walk);
    if (n != PAI__NO_NODE)
      d->modified = pai__answer_number(tree, n, "modified");
  }
  pai__tree_free(tree);
  ask_bytes(c);
}

static int ask_entry(download *d, pai_error **err)
{
  pai_client *client = d->course.op.client;
  pai__call call;
  pai__buf path;
  int rc;

  pai__buf_init(&path, &client->alloc);
  (void)pai__job_path(&path, d->job, "/files", NULL);
  pai__url_query(&path, "path", d->path);
  pai__url_query(&path, "limit", "1");
  call = pai__call_of(client, "GET", pai__buf_text(&path));
  rc = pai__buf_ok(&path) ? pai__course_ask(&d->course, &call, on_entry, err)
                          : pai__oom(err);
  pai__buf_dispose(&path);
  return rc;
}

static void dispose(pai__course *c)
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
  pai__course *c;
  pai__buf path;
  download *d;
  int rc;

  if (op != NULL)
    *op = NULL;
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(client != NULL && cb != NULL && opts != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_client_get_file_options, on_data);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_client_get_file_options");
  PAI__CHECK_ARG_ERR(o.path != NULL && o.on_data != NULL && o.modified >= 0,
                     err);
  pai__buf_init(&path, &client->alloc);
  rc = pai__job_path(&path, o.job, "", err); /* is it a name? */
  pai__buf_dispose(&path);
  if (rc == PAI_OK)
    rc = pai__course_new(&c, client, sizeof(*d), dispose, cb, user_data, err);
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
  else if ((rc = pai__course_ready(c, err)) == PAI_OK)
    rc = d->modified != 0 ? start_bytes(d, err) : ask_entry(d, err);
  if (rc < 0)
    pai__course_drop(c);
  else if (op != NULL)
    *op = &c->op;
  return rc;
}
