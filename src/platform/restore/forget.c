/* forget.c - ended jobs: looking them up in the database, and removing them */
#include "platform/files/code.h"
#include "platform/records/record.h"

#include "job/end/end.h"
#include "json/writer.h"

#include <openpai/files.h>

/* Facts from a job's row. */
typedef struct past {
  const pai_platform *p;
  bool live; /* it has not ended */
  int state;
  int code; /* as reported */
  char *dir, *code_dir, *own_dir;
} past;

static int state_of(const char *word)
{
  static const struct {
    const char *word;
    int state;
  } words[] = { { "SUCCEEDED", PAI_STATE_SUCCEEDED },
                { "FAILED", PAI_STATE_FAILED },
                { "STOPPED", PAI_STATE_STOPPED },
                { "RUNNING", PAI_STATE_RUNNING },
                { "STOPPING", PAI_STATE_STOPPING } };

  for (size_t i = 0; i < PAI__LEN(words); i++)
    if (strcmp(word, words[i].word) == 0)
      return words[i].state;
  return PAI_STATE_WAITING;
}

static int on_job(void *user_data, const pai__job_row *row)
{
  past *out = user_data;

  out->live = row->live;
  out->state = state_of(row->state);
  out->code =
    pai__result_code((int)row->exit_code.value, (int)row->now.user_code.value);
  out->dir = pai__platform_path(out->p, "jobs", row->user, row->name);
  out->code_dir = pai__platform_path(out->p, "code", row->user, row->name);
  out->own_dir = pai__platform_path(out->p, "own/jobs", row->user, row->name);
  return out->dir != NULL && out->code_dir != NULL && out->own_dir != NULL
           ? PAI_OK
           : PAI_ENOMEM;
}

static int look(past *out, const pai_platform *p, pai_job_id id)
{
  *out = (past){ .p = p };
  return pai__is_dropped(p, id)
           ? PAI_ENOTFOUND
           : pai__store_job(p->store, id, on_job, out, NULL);
}

static void dispose(past *found)
{
  pai__strfree(&found->p->alloc, found->dir);
  pai__strfree(&found->p->alloc, found->code_dir);
  pai__strfree(&found->p->alloc, found->own_dir);
}

int pai__past_state(int *code, const pai_platform *p, pai_job_id id)
{
  past found;
  int rc = look(&found, p, id);

  if (rc == PAI_OK && code != NULL)
    *code = found.code;
  dispose(&found);
  return rc == PAI_OK ? found.state : rc;
}

const char *pai__past_dir(const pai_platform *p, pai_job_id id)
{
  past found;
  int rc = look(&found, p, id);

  if (rc == PAI_OK) {
    pai__buf_clear(p->path);
    pai__buf_str(p->path, found.dir);
  }
  dispose(&found);
  return rc == PAI_OK && pai__buf_ok(p->path) ? pai__buf_text(p->path) : NULL;
}

/* Removes the job's row with the next commit. */
static int drop(pai_platform *p, pai_job_id id)
{
  int rc =
    pai__map_set(&p->dropped, &id, sizeof(id), p) < 0 ? PAI_ENOMEM : PAI_OK;

  if (rc == PAI_OK) {
    rc = pai__batch_drop_job(p->batch, id);
    if (rc < 0)
      (void)pai__map_remove(&p->dropped, &id, sizeof(id));
  }
  return rc;
}

static int fail(int rc, pai_error **err)
{
  return rc == PAI_ENOTFOUND ? pai__fail(err, rc, "there is no such job")
         : rc == PAI_EBUSY   ? pai__fail(err, rc, "the job is not over")
         : rc == PAI_ENOMEM  ? pai__oom(err)
                             : pai__fail(err, rc, "cannot read the job");
}

/* Removes a job's folders without waiting for the commit: its logs are not
 * wanted any more, even if the commit fails. */
static void remove_folders(pai_platform *p, const past *found)
{
  pai__code_remove(p, found->dir);
  pai__code_remove(p, found->code_dir);
  pai__code_remove(p, found->own_dir);
}

/* With `kept` the job's code folder is kept: *kept is its path, or NULL. */
static int forget_job(pai_platform *p, pai_job_id id, char **kept,
                      pai_error **err)
{
  char *to = NULL;
  past found;
  int rc = look(&found, p, id);

  /* A live job that is not in memory could not be restored. */
  if (rc == PAI_OK && found.live && pai__platform_find_job(p, id) != NULL)
    rc = PAI_EBUSY;
  if (rc == PAI_OK && found.live)
    pai__log_line(&p->log, PAI_LOG_WARNING,
                  "removed a job that could not be restored: its tasks may "
                  "still run, and its files are in %s",
                  found.dir);
  if (rc < 0)
    (void)fail(rc, err);
  if (rc == PAI_OK && kept != NULL && !found.live)
    rc = pai__platform_keep_tree(&to, p, found.code_dir, err);
  if (rc == PAI_OK && (rc = drop(p, id)) < 0) {
    if (to != NULL)
      pai__platform_put_back(p, to, found.code_dir);
    (void)fail(rc, err);
  } else if (rc == PAI_OK) {
    if (!found.live)
      remove_folders(p, &found);
    p->untidy = true;
    pai__platform_hurry(p);
  }
  dispose(&found);
  if (rc == PAI_OK && kept != NULL)
    *kept = to;
  else
    pai__strfree(&p->alloc, to);
  return rc;
}

/* --- public --------------------------------------------------------------- */

static int forget(pai_platform *p, pai_job_id job, char **kept,
                  pai_error **err)
{
  pai__pjob *j = pai__platform_find_job(p, job);

  if (j != NULL && j->told < PAI_STATE_SUCCEEDED)
    return fail(PAI_EBUSY, err);
  if (p->store != NULL)
    return forget_job(p, job, kept, err);
  if (j == NULL)
    return fail(PAI_ENOTFOUND, err);
  pai__platform_let_go(j);
  return PAI_OK;
}

int pai_platform_forget(pai_platform *p, pai_job_id job)
{
  PAI__CHECK_PROCESS(p, NULL);
  return forget(p, job, NULL, NULL);
}

static int write_kept(const pai_platform *p, const char *kept,
                      pai_write_cb write, void *user_data, pai_error **err)
{
  pai__json_writer w;
  pai__buf b;
  int rc;

  pai__buf_init(&b, &p->alloc);
  pai__json_writer_init(&w, &b, false);
  pai__json_begin_object(&w);
  pai__json_put_text(&w, "kept", kept);
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  rc = rc < 0 ? pai__oom(err) : write(user_data, pai__buf_text(&b), b.len);
  pai__buf_dispose(&b);
  return rc;
}

int pai_platform_forget_as(pai_platform *p, pai_job_id job,
                           const pai_forget_options *opts, pai_write_cb write,
                           void *user_data, pai_error **err)
{
  pai_forget_options o = PAI_FORGET_OPTIONS_INIT;
  char *kept = NULL;
  int rc = PAI_OK;

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  if (opts != NULL)
    rc = PAI__OPTIONS_IN(&o, opts, pai_forget_options, keep_files);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_forget_options");
  rc = forget(p, job, o.keep_files != 0 ? &kept : NULL, err);
  if (rc == PAI_OK)
    rc = write_kept(p, kept, write, user_data, err);
  pai__strfree(&p->alloc, kept);
  return rc;
}
