/*
 * copies.c - copies files and folders from and to a job's folder
 *
 * base/os/posix_copy.h has the local side.  Here pages of the list are asked
 * for, and files are fetched and sent one after the other.
 */
#include "client/inside.h"

#include "base/os/posix_copy.h"

#include <openpai/client_files.h>

typedef struct copying {
  pai__client_sequence sequence;
  char *job;
  char *after;          /* of the next page, or NULL */
  bool retries;         /* the list is of a file that has changed */
  const char *path;     /* of that file */
  pai__copy_down *down; /* or NULL */
  pai__copy_up *up;     /* or NULL */
} copying;

static void download_next(copying *w);
static void on_fetched(pai__client_sequence *c, int status,
                       const pai_client_answer *a);

/* --- its life ------------------------------------------------------------ */

static void dispose(pai__client_sequence *c)
{
  const pai_alloc *alloc = &c->op.client->alloc;
  copying *w = (copying *)c;

  pai__copy_down_free(w->down);
  pai__copy_up_free(w->up);
  pai__strfree(alloc, w->job);
  pai__strfree(alloc, w->after);
}

/* Ends it with what was copied; `a`: the answer that failed, or NULL.  Frees
 * `err`. */
static void end(copying *w, int rc, const pai_client_answer *a, pai_error *err)
{
  pai_client_answer answer = a != NULL ? *a : pai__answer_none();
  pai__client_sequence *c = &w->sequence;
  pai__buf json;

  pai__buf_init(&json, &c->op.client->alloc);
  pai__copy_write(w->down != NULL ? pai__copy_down_state(w->down)
                                  : pai__copy_up_state(w->up),
                  &json);
  if (rc == PAI_OK && !pai__buf_ok(&json))
    rc = pai__oom(&err);
  if (rc < 0 && c->op.client->closing)
    rc = PAI_ECANCELED;
  answer.body = pai__buf_text(&json);
  answer.body_len = json.len;
  if (err != NULL)
    answer.err = err;
  if (rc < 0 && answer.err == NULL)
    pai__client_sequence_fail(c, rc, NULL);
  else
    pai__client_sequence_end(c, rc, &answer);
  pai__buf_dispose(&json);
  pai_error_free(err);
}

static int new_copy(copying **out, pai_client *client, const char *job,
                    pai_client_cb cb, void *user_data, pai_error **err)
{
  pai__client_sequence *c;
  int rc = pai__client_check_job(job, err);

  if (rc == PAI_OK)
    rc = pai__client_sequence_new(&c, client, sizeof(copying), dispose, cb,
                                  user_data, err);
  if (rc < 0)
    return rc;
  *out = (copying *)c;
  (*out)->job = pai__strdup(&client->alloc, job);
  if ((*out)->job != NULL)
    return PAI_OK;
  return pai__client_sequence_started(c, pai__oom(err), NULL);
}

static pai__copy copy_of(const copying *w)
{
  return (pai__copy){ .alloc = &w->sequence.op.client->alloc,
                      .job = w->job,
                      .user_data = w->sequence.user_data };
}

/* --- downloads: the list ------------------------------------------------- */

static pai__below_entry read_entry(const pai__tree *t, pai__node n)
{
  static const char *const types[] = { [PAI__BELOW_FILE] = "file",
                                       [PAI__BELOW_FOLDER] = "folder",
                                       [PAI__BELOW_LINK] = "link" };
  const char *type = pai__tree_look_text(t, n, "type", NULL);
  pai__below_entry e = { .path = pai__tree_look_text(t, n, "path", NULL),
                         .target = pai__tree_look_text(t, n, "target", NULL),
                         .type = PAI__BELOW_OTHER,
                         .size = (uint64_t)pai__tree_look_int(t, n, "size"),
                         .modified = pai__tree_look_int(t, n, "modified"),
                         .executable = pai__tree_is_true(
                           t, pai__tree_look(t, n, "executable")) };

  for (int i = 0; i < (int)PAI__LEN(types); i++)
    if (type != NULL && strcmp(type, types[i]) == 0)
      e.type = i;
  return e;
}

static int on_entry(copying *w, const pai__tree *t, pai__node n,
                    pai_error **err)
{
  const char *escaped = pai__tree_look_text(t, n, "escaped", NULL);
  pai__below_entry e = read_entry(t, n);
  int rc = PAI_OK;
  pai__buf path;

  pai__buf_init(&path, &w->sequence.op.client->alloc);
  if (escaped != NULL) { /* the path is not UTF-8 */
    pai__put_unescaped(&path, escaped);
    e.path = pai__buf_text(&path);
  }
  if (!pai__buf_ok(&path))
    rc = pai__oom(err);
  else if (w->retries)
    pai__copy_down_again(w->down, &e);
  else if (e.path != NULL)
    rc = pai__copy_down_entry(w->down, &e, err);
  pai__buf_dispose(&path);
  return rc;
}

static void on_page(pai__client_sequence *c, int status,
                    const pai_client_answer *a)
{
  const pai_alloc *alloc = &c->op.client->alloc;
  copying *w = (copying *)c;
  pai_error *err = NULL;
  pai__tree_walk walk;
  pai__node list;
  const char *next;
  pai__tree *t;
  int rc = status;

  if (status < 0 && w->retries) {
    on_fetched(c, status, a);
    return;
  }
  t = status < 0 ? NULL : pai__answer_tree(alloc, a->body, a->body_len);
  if (t == NULL) {
    if (status == PAI_OK)
      rc = pai__fail(&err, PAI_EIO, "the server's list of files is not JSON");
    end(w, rc, a, err);
    return;
  }
  list = pai__tree_look(t, 0, "entries");
  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    list = PAI__NO_NODE;
  walk = pai__tree_iter(t, list);
  for (pai__node n;
       rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE;)
    rc = on_entry(w, t, n, &err);
  next = pai__tree_look_text(t, 0, "next", NULL);
  if (rc == PAI_OK && !w->retries && next != NULL && w->after != NULL &&
      strcmp(next, w->after) == 0)
    rc = pai__fail(&err, PAI_EIO, "the server's list of files has no end");
  if (!w->retries) {
    pai__strfree(alloc, w->after);
    w->after = next != NULL ? pai__strdup(alloc, next) : NULL;
    if (rc == PAI_OK && next != NULL && w->after == NULL)
      rc = pai__oom(&err);
  }
  w->retries = false;
  pai__tree_free(t);
  if (rc < 0)
    end(w, rc, NULL, err);
  else
    download_next(w);
}

static int ask_page(copying *w, pai_error **err)
{
  pai__client_sequence *c = &w->sequence;
  const char *path = w->retries ? w->path : pai__copy_down_path(w->down);
  pai__buf url;

  pai__buf_init(&url, &c->op.client->alloc);
  (void)pai__job_path(&url, w->job, "/files", NULL);
  pai__url_query(&url, "path", path[0] != '\0' ? path : NULL);
  pai__url_query(&url, "after", w->retries ? NULL : w->after);
  pai__url_query(&url, "recursive", w->retries ? NULL : "true");
  pai__url_query(&url, "limit", w->retries ? "1" : NULL);
  return pai__client_sequence_at(c, pai__call_of(c->op.client, "GET", NULL),
                                 &url, on_page, err);
}

/* --- downloads: the files ------------------------------------------------ */

static int on_data(void *user_data, const char *bytes, size_t len)
{
  return pai__copy_down_add(((copying *)user_data)->down, bytes, len);
}

static void on_fetched(pai__client_sequence *c, int status,
                       const pai_client_answer *a)
{
  copying *w = (copying *)c;
  pai_error *err = NULL;
  int rc = pai__copy_down_end(w->down, status, a->err, &err);

  w->retries = rc == PAI_EEXISTS && err == NULL;
  if (rc < 0 && !w->retries)
    end(w, rc, a, err);
  else
    download_next(w);
}

static int fetch(copying *w, const pai__below_entry *file, uint64_t offset,
                 pai_error **err)
{
  pai_client_get_file_options o = PAI_CLIENT_GET_FILE_OPTIONS_INIT;
  pai__client_sequence *c = &w->sequence;
  int rc;

  o.job = w->job;
  o.path = w->path = file->path;
  o.offset = offset;
  o.modified = file->modified;
  o.on_data = on_data;
  rc = pai_client_get_file(&c->child, c->op.client, &o,
                           pai__client_sequence_answer, c, err);
  return pai__client_sequence_child(c, rc, on_fetched);
}

static void download_next(copying *w)
{
  const pai__below_entry *file;
  pai_error *err = NULL;
  uint64_t offset;
  int rc;

  rc = w->retries ? 0 : pai__copy_down_begin(w->down, &file, &offset, &err);
  if (rc == 1)
    rc = fetch(w, file, offset, &err);
  else if (rc == 0 && (w->retries || w->after != NULL))
    rc = ask_page(w, &err);
  else if (rc == 0) {
    rc = pai__copy_down_finish(w->down, &err);
    end(w, rc, NULL, err);
    return;
  }
  if (rc < 0)
    end(w, rc, NULL, err);
}

int pai_client_download(pai_op **op, pai_client *client, const char *job,
                        const pai_download_options *opts, pai_client_cb cb,
                        void *user_data, pai_error **err)
{
  pai_download_options o;
  pai__copy copy;
  copying *w;
  int rc = pai__op_check(op, client, cb, __func__, err);

  if (rc == PAI_OK)
    rc = pai__copy_down_options(&o, opts, err);
  if (rc == PAI_OK)
    rc = new_copy(&w, client, job, cb, user_data, err);
  if (rc < 0)
    return rc;
  copy = copy_of(w);
  rc = pai__copy_down_new(&w->down, &copy, &o, err);
  if (rc == PAI_OK)
    rc = ask_page(w, err);
  return pai__client_sequence_started(&w->sequence, rc, op);
}

/* --- uploads ------------------------------------------------------------- */

static void upload_next(pai__client_sequence *c);

static ptrdiff_t read_at(void *user_data, uint64_t offset, char *buffer,
                         size_t size)
{
  return pai__copy_up_read(((copying *)user_data)->up, offset, buffer, size);
}

static void on_progress(void *user_data, uint64_t sent, uint64_t total)
{
  pai__copy_up_progress(((copying *)user_data)->up, sent, total);
}

static void on_sent(pai__client_sequence *c, int status,
                    const pai_client_answer *a)
{
  copying *w = (copying *)c;
  pai_error *err = NULL;
  int rc = pai__copy_up_end(w->up, status, a->err, &err);

  if (rc < 0)
    end(w, rc, a, err);
  else
    upload_next(c);
}

static int send_next(copying *w, const pai__copy_up_file *file,
                     pai_error **err)
{
  pai_client_put_file_options o = PAI_CLIENT_PUT_FILE_OPTIONS_INIT;
  pai__client_sequence *c = &w->sequence;
  int rc;

  o.job = w->job;
  o.path = file->path;
  o.upload = file->name;
  o.size = file->size;
  o.executable = file->executable;
  o.read = read_at;
  o.on_progress = on_progress;
  rc = pai_client_put_file(&c->child, c->op.client, &o,
                           pai__client_sequence_answer, c, err);
  return pai__client_sequence_child(c, rc, on_sent);
}

static void upload_next(pai__client_sequence *c)
{
  copying *w = (copying *)c;
  pai__copy_up_file file;
  pai_error *err = NULL;
  int rc = pai__copy_up_begin(w->up, &file, &err);

  if (rc == 1)
    rc = send_next(w, &file, &err);
  else if (rc == 0) {
    end(w, PAI_OK, NULL, NULL);
    return;
  }
  if (rc < 0)
    end(w, rc, NULL, err);
}

int pai_client_upload(pai_op **op, pai_client *client, const char *job,
                      const pai_upload_options *opts, pai_client_cb cb,
                      void *user_data, pai_error **err)
{
  pai_upload_options o;
  pai__copy copy;
  copying *w;
  int rc = pai__op_check(op, client, cb, __func__, err);

  if (rc == PAI_OK)
    rc = pai__copy_up_options(&o, opts, err);
  if (rc == PAI_OK)
    rc = new_copy(&w, client, job, cb, user_data, err);
  if (rc < 0)
    return rc;
  copy = copy_of(w);
  rc = pai__copy_up_new(&w->up, &copy, &o, err);
  if (rc == PAI_OK)
    rc = pai__client_sequence_ready(&w->sequence, err);
  if (rc == PAI_OK) /* it may have nothing to ask the server for */
    pai__client_sequence_wait(&w->sequence, 0, upload_next);
  return pai__client_sequence_started(&w->sequence, rc, op);
}
