/*
 * submit.c - submits a job exactly once
 *
 * The job's name makes that possible: if an answer was lost and the job is
 * sent again, the server refuses it because the name exists.  Then the
 * existing job is compared with this one.
 */
#include "client/inside.h"

#include <openpai/draft.h>
#include <openpai/spec.h>

enum { LEAST_TRIES = 2 }; /* an answer may be lost on a socket, too */

typedef struct submission {
  pai__client_sequence sequence;
  pai__buf text; /* the job file */
  char *name;    /* NULL: the file is invalid, and the server will say so */
  char *code;    /* a tar archive */
  size_t code_len;
  void (*on_progress)(void *user_data, uint64_t sent, uint64_t total);
  pai__buf path;     /* of the request */
  pai__buf conflict; /* the answer that the name exists */
} submission;

static void dispose(pai__client_sequence *c)
{
  submission *s = (submission *)c;
  const pai_alloc *alloc = &c->op.client->alloc;

  pai__buf_wipe(&s->text); /* it may contain secrets */
  pai__strfree(alloc, s->name);
  pai__free(alloc, s->code, s->code_len);
  pai__buf_dispose(&s->path);
  pai__buf_dispose(&s->conflict);
}

/* --- comparing with an existing job -------------------------------------- */

static void refuse(submission *s)
{
  pai__client_sequence *c = &s->sequence;
  pai_client_answer a = pai__answer_none();
  pai__tree *tree = pai__answer_tree(
    &c->op.client->alloc, pai__buf_text(&s->conflict), s->conflict.len);
  pai_error *err = NULL;
  int rc;

  a.http_status = 409;
  a.body = pai__buf_text(&s->conflict);
  a.body_len = s->conflict.len;
  rc = pai__answer_refuse(&err, tree, &a);
  a.err = err;
  pai__client_sequence_end(c, rc, &a);
  pai_error_free(err);
  pai__tree_free(tree);
}

static int to_buf(void *user_data, const char *bytes, size_t len)
{
  pai__buf *b = user_data;

  pai__buf_add(b, bytes, len);
  return pai__buf_ok(b) ? 0 : PAI_ENOMEM;
}

static int write_spec(pai__buf *out, const pai_spec *spec, pai_error **err)
{
  pai_spec_write_options o = PAI_SPEC_WRITE_OPTIONS_INIT;

  o.format = PAI_FORMAT_YAML;
  o.secrets = 1;
  return pai_spec_write(spec, &o, to_buf, out, err);
}

/* A job config v1 is returned as a job of the job protocol. */
static bool is_ours(const submission *s, const pai_client_answer *a)
{
  const pai_alloc *alloc = &s->sequence.op.client->alloc;
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_spec *spec = NULL;
  pai__buf text;
  bool ours = pai__job_file_equal(alloc, a->body, a->body_len,
                                  pai__buf_text(&s->text), s->text.len);

  if (ours)
    return true;
  o.alloc = alloc;
  pai__buf_init(&text, alloc);
  ours = pai_spec_parse(&spec, pai__buf_text(&s->text), s->text.len, &o,
                        NULL) == PAI_OK &&
         write_spec(&text, spec, NULL) == PAI_OK &&
         pai__job_file_equal(alloc, a->body, a->body_len, pai__buf_text(&text),
                             text.len);
  pai_spec_unref(spec);
  pai__buf_wipe(&text); /* it may contain secrets */
  return ours;
}

static void on_config(pai__client_sequence *c, int status,
                      const pai_client_answer *a)
{
  submission *s = (submission *)c;
  pai_client_answer out = *a;

  if (status == PAI_ENOMEM || status == PAI_EIO || status == PAI_EBUSY) {
    pai__client_sequence_end(c, status, a); /* not known */
    return;
  }
  if (status < 0 || !is_ours(s, a)) {
    refuse(s);
    return;
  }
  out.http_status = 409;
  out.body = pai__buf_text(&s->conflict);
  out.body_len = s->conflict.len;
  pai__client_sequence_end(c, PAI_OK, &out);
}

/* Writes the path of the user's job of this name. */
static void put_path(const submission *s, pai__buf *path, const char *rest)
{
  const char *user = pai_client_user(s->sequence.op.client);

  pai__buf_init(path, &s->sequence.op.client->alloc);
  pai__buf_str(path, "/api/v2/jobs/");
  if (user != NULL) {
    pai__put_escaped(path, user, "");
    pai__buf_char(path, '~');
  }
  pai__put_escaped(path, s->name, "");
  pai__buf_str(path, rest);
}

static void look_at_it(submission *s)
{
  pai__client_sequence *c = &s->sequence;
  pai__call call = pai__call_of(c->op.client, "GET", NULL);
  pai_error *err = NULL;
  pai__buf path;
  int rc;

  put_path(s, &path, "/config");
  path.failed |= !pai__buf_ok(&s->conflict);
  call.accept = "text/yaml, application/json";
  rc = pai__client_sequence_at(c, call, &path, on_config, &err);
  pai__client_sequence_check(c, rc, err);
}

/* --- sending ------------------------------------------------------------- */

static void on_submitted(pai__client_sequence *c, int status,
                         const pai_client_answer *a)
{
  submission *s = (submission *)c;

  if (status != PAI_EEXISTS || a->tries < 2 || s->name == NULL) {
    pai__client_sequence_end(c, status, a);
    return;
  }
  pai__buf_add(&s->conflict, a->body, a->body_len);
  look_at_it(s);
}

static int send_file(submission *s, pai_error **err)
{
  pai_client *client = s->sequence.op.client;
  pai__call call = pai__call_of(client, "POST", pai__buf_text(&s->path));

  if (!pai__buf_ok(&s->path))
    return pai__oom(err);
  call.type = "text/yaml";
  call.body = pai__buf_text(&s->text);
  call.body_len = s->text.len;
  call.again = s->name != NULL;
  if (call.again && call.most_tries < LEAST_TRIES)
    call.most_tries = LEAST_TRIES;
  call.secret = true;
  return pai__client_sequence_ask(&s->sequence, &call, on_submitted, err);
}

static void on_code(pai__client_sequence *c, int status,
                    const pai_client_answer *a)
{
  submission *s = (submission *)c;
  pai__tree *tree;
  pai_error *err = NULL;
  const char *dir;
  int rc;

  if (status < 0) {
    pai__client_sequence_end(c, status, a);
    return;
  }
  tree = pai__answer_tree(&c->op.client->alloc, a->body, a->body_len);
  dir = pai__tree_look_text(tree, 0, "codeDir", "");
  pai__url_query(&s->path, "codeDir", dir);
  rc = dir[0] != '\0'
         ? send_file(s, &err)
         : pai__fail(&err, PAI_ENOTSUP, "the server does not accept code");
  pai__tree_free(tree);
  pai__client_sequence_check(c, rc, err);
}

static void on_sent(void *user_data, uint64_t sent, uint64_t total)
{
  submission *s = user_data;

  s->on_progress(s->sequence.user_data, sent, total);
}

static int send_code(submission *s, pai_error **err)
{
  pai__call call = pai__call_of(s->sequence.op.client, "PUT", NULL);
  pai__buf path;

  put_path(s, &path, "/code");
  call.type = "application/x-tar";
  call.on_sent = s->on_progress != NULL ? on_sent : NULL;
  call.body = s->code;
  call.body_len = s->code_len;
  return pai__client_sequence_at(&s->sequence, call, &path, on_code, err);
}

/* --- the job file -------------------------------------------------------- */

static int take_text(submission *s, const pai_client_job_file *job,
                     pai_error **err)
{
  if (job->text != NULL) {
    pai__buf_add(&s->text, job->text,
                 job->len > 0 ? job->len : strlen(job->text));
    return pai__buf_ok(&s->text) ? PAI_OK : pai__oom(err);
  }
  return write_spec(&s->text, job->spec, err);
}

/* Changes the name in the file: v1.8's server has no other way. */
static int rename_text(submission *s, const char *name, pai_error **err)
{
  const pai_alloc *alloc = &s->sequence.op.client->alloc;
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_draft *draft = NULL;
  const char *text;
  size_t len;
  int rc;

  o.alloc = alloc;
  rc = pai_draft_new(&draft, pai__buf_text(&s->text), s->text.len, &o, err);
  if (rc == PAI_OK)
    rc = pai_draft_set_text(draft, "/name", name, strlen(name), err);
  if (rc == PAI_OK) {
    text = pai_draft_text(draft, &len);
    pai__buf_cut(&s->text, 0);
    pai__buf_add(&s->text, text, len);
    rc = pai__buf_ok(&s->text) ? PAI_OK : pai__oom(err);
  }
  pai_draft_free(draft);
  return rc;
}

/* Reads the name.  The server reports errors of the file. */
static int read_name(submission *s, const char *given, pai_error **err)
{
  const pai_alloc *alloc = &s->sequence.op.client->alloc;
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_spec *spec = NULL;
  int rc;

  o.alloc = alloc;
  rc = pai_spec_parse(&spec, pai__buf_text(&s->text), s->text.len, &o, NULL);
  if (rc == PAI_OK)
    s->name = pai__strdup(alloc, given != NULL ? given : pai_spec_name(spec));
  pai_spec_unref(spec);
  return rc == PAI_ENOMEM || (rc == PAI_OK && s->name == NULL) ? pai__oom(err)
                                                               : PAI_OK;
}

static int take_code(submission *s, const pai_client_job_file *job,
                     pai_error **err)
{
  const pai_alloc *alloc = &s->sequence.op.client->alloc;

  if (job->code == NULL || job->code_len == 0)
    return PAI_OK;
  if (s->name == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "the job file cannot be read, so the code is not sent");
  s->code = pai__realloc(alloc, NULL, 0, job->code_len, 1);
  if (s->code == NULL)
    return pai__oom(err);
  s->code_len = job->code_len;
  s->on_progress = job->on_progress;
  memcpy(s->code, job->code, job->code_len);
  return PAI_OK;
}

static int begin(submission *s, const pai_client_job_file *job,
                 pai_error **err)
{
  const pai_alloc *alloc = &s->sequence.op.client->alloc;
  int rc;

  pai__buf_init(&s->text, alloc);
  pai__buf_init(&s->path, alloc);
  pai__buf_init(&s->conflict, alloc);
  pai__buf_str(&s->path, "/api/v2/jobs");
  if (job->query != NULL && job->query[0] != '\0')
    pai__buf_printf(&s->path, "?%s", job->query);
  if (job->name_in_query)
    pai__url_query(&s->path, "name", job->name);
  rc = take_text(s, job, err);
  if (rc == PAI_OK && job->name != NULL && !job->name_in_query)
    rc = rename_text(s, job->name, err);
  if (rc == PAI_OK)
    rc = read_name(s, job->name_in_query ? job->name : NULL, err);
  if (rc == PAI_OK)
    rc = take_code(s, job, err);
  if (rc < 0)
    return rc;
  return s->code != NULL ? send_code(s, err) : send_file(s, err);
}

int pai_client_submit(pai_op **op, pai_client *client,
                      const pai_client_job_file *job, pai_client_cb cb,
                      void *user_data, pai_error **err)
{
  pai_client_job_file j;
  pai__client_sequence *c;
  int rc;

  rc = pai__op_check(op, client, cb, __func__, err);
  if (rc < 0)
    return rc;
  rc = PAI__COPY_IN(&j, job, pai_client_job_file, on_progress);
  if (rc < 0)
    return pai__fail_struct(err, rc, job, "pai_client_job_file");
  if ((j.text == NULL) == (j.spec == NULL))
    return pai__fail(err, PAI_EINVAL,
                     "pai_client_job_file: set a text or a spec");
  rc = pai__client_sequence_new(&c, client, sizeof(submission), dispose, cb,
                                user_data, err);
  if (rc < 0)
    return rc;
  rc = begin((submission *)c, &j, err);
  return pai__client_sequence_started(c, rc, op);
}
