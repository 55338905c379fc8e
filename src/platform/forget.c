/* forget.c - jobs that are over: found in the database, and forgotten */
#include "platform/record.h"

#include "base/posix_fs.h"
#include "job/end.h"

/* What is asked of the row of a job. */
typedef struct past {
  const pai_platform *p;
  bool live; /* it has not ended */
  int state;
  int code; /* as it was told */
  char *dir, *code_dir;
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
  out->code = pai__end_told_code((int)row->exit_code.value,
                                 (int)row->now.user_code.value);
  out->dir = pai__platform_path(out->p, "jobs", row->user, row->name);
  out->code_dir = pai__platform_path(out->p, "code", row->user, row->name);
  return out->dir != NULL && out->code_dir != NULL ? PAI_OK : PAI_ENOMEM;
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

/* The row goes with the next commit, the folders at once: whoever asks to
 * forget a job does not want its logs back. */
int pai__forget_job(pai_platform *p, pai_job_id id)
{
  past found;
  int rc = look(&found, p, id);

  /* One that lives and that nobody has taken up cannot be read any more. */
  if (rc == PAI_OK && found.live && pai__platform_find_job(p, id) != NULL)
    rc = PAI_EBUSY;
  if (rc == PAI_OK && found.live)
    pai__log_line(&p->log, PAI_LOG_WARNING,
                  "a job that could not be taken up is forgotten: what may "
                  "still run of it is left alone, and its files are in %s",
                  found.dir);
  if (rc == PAI_OK && pai__map_set(&p->dropped, &id, sizeof(id), p) < 0)
    rc = PAI_ENOMEM;
  if (rc == PAI_OK) {
    rc = pai__batch_drop_job(p->batch, id);
    if (rc < 0)
      (void)pai__map_remove(&p->dropped, &id, sizeof(id));
  }
  if (rc == PAI_OK) {
    if (!found.live) {
      pai__platform_remove_tree(found.dir);
      pai__platform_remove_tree(found.code_dir);
    }
    p->untidy = true;
    pai__platform_hurry(p);
  }
  dispose(&found);
  return rc;
}
