/* batch.c - a batch: a growing list of changes with copies of their
 * arguments */
#include "store/inside.h"

int pai__batch_new(pai__batch **out, pai__store *store, pai_error **err)
{
  pai__batch *batch;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(store != NULL, err);
  batch = pai__zalloc(&store->alloc, sizeof(*batch));
  if (batch == NULL)
    return pai__oom(err);
  batch->store = store;
  pai__arena_init(&batch->arena, &store->alloc);
  pai__map_init(&batch->jobs, &store->alloc);
  batch->end = &batch->first;
  *out = batch;
  return PAI_OK;
}

void pai__batch_free(pai__batch *batch)
{
  if (batch == NULL)
    return;
  pai__arena_dispose(&batch->arena);
  pai__map_dispose(&batch->jobs);
  pai__free(&batch->store->alloc, batch, sizeof(*batch));
}

void pai__batch_clear(pai__batch *batch)
{
  pai__arena_clear(&batch->arena);
  pai__map_dispose(&batch->jobs);
  batch->first = NULL;
  batch->end = &batch->first;
}

bool pai__batch_is_empty(const pai__batch *batch)
{
  return batch->first == NULL;
}

/* --- copies -------------------------------------------------------------- */

/* A failure before the change is appended leaves the list unchanged. */
pai__store_change *pai__batch_make(pai__batch *batch,
                                   enum pai__change_kind kind, uint64_t job)
{
  pai__store_change *change =
    pai__arena_zalloc(&batch->arena, 1, sizeof(*change));

  if (change != NULL) {
    change->kind = kind;
    change->job = job;
  }
  return change;
}

int pai__batch_add(pai__batch *batch, pai__store_change *change)
{
  *batch->end = change;
  batch->end = &change->next;
  return PAI_OK;
}

static void *copy_row(pai__batch *batch, const void *row, size_t size,
                      const pai__column *fields, int *rc)
{
  void *copy = pai__arena_zalloc(&batch->arena, 1, size);

  *rc = PAI_ENOMEM;
  if (copy == NULL)
    return NULL;
  memcpy(copy, row, size);
  *rc = pai__fields_own(fields, copy, &batch->arena);
  return *rc == PAI_OK ? copy : NULL;
}

int pai__batch_add_row(pai__batch *batch, pai__store_change *change,
                       const void *row, size_t size, const pai__column *fields)
{
  int rc;

  if (change == NULL)
    return PAI_ENOMEM;
  change->row = copy_row(batch, row, size, fields, &rc);
  return change->row != NULL ? pai__batch_add(batch, change) : rc;
}

static int copy_text(pai__batch *batch, const char **out, const char *text)
{
  size_t len = text != NULL ? strlen(text) : 0;

  *out = NULL;
  if (len > PAI__COLUMN_BYTES_MAX)
    return PAI_ELIMIT;
  if (text != NULL)
    *out = pai__arena_strndup(&batch->arena, text, len);
  return *out != NULL || text == NULL ? PAI_OK : PAI_ENOMEM;
}

static bool is_id(uint64_t id)
{
  return id > 0 && id <= INT64_MAX;
}

/* --- changes ------------------------------------------------------------- */

/* Copies both lists of fields. */
static pai__job_row *copy_job(pai__batch *batch, const pai__job_row *row,
                              int *rc)
{
  pai__job_row *copy =
    copy_row(batch, row, sizeof(*row), pai__job_columns, rc);

  if (copy == NULL)
    return NULL;
  *rc = pai__fields_own(pai__job_detail_columns, copy, &batch->arena);
  if (*rc == PAI_OK)
    *rc = copy_text(batch, &copy->config, row->config);
  return *rc == PAI_OK ? copy : NULL;
}

/* Takes from the earlier row what never changes, and what was not set
 * again. */
static void follow_job(pai__job_row *row, const pai__job_row *before)
{
  row->user = before->user;
  row->name = before->name;
  row->submitted = before->submitted;
  if (row->config == NULL)
    row->config = before->config;
}

/* A job that is put twice in a batch is written once, with the last values but
 * at the first position, because later changes refer to it. */
int pai__batch_put_job(pai__batch *batch, const pai__job_row *row)
{
  pai__store_change *change;
  pai__job_row *copy;
  int rc;

  PAI__CHECK_ARG(is_id(row->id) && row->user != NULL && row->name != NULL);
  copy = copy_job(batch, row, &rc);
  if (copy == NULL)
    return rc;
  change = pai__map_get(&batch->jobs, &row->id, sizeof(row->id));
  if (change != NULL) {
    follow_job(copy, change->row);
    change->row = copy;
    return PAI_OK;
  }
  change = pai__batch_make(batch, PAI__PUT_JOB, row->id);
  if (change == NULL ||
      pai__map_set(&batch->jobs, &row->id, sizeof(row->id), change) < 0)
    return PAI_ENOMEM;
  change->row = copy;
  if (row->id >= batch->store->used.newest) { /* else the job is in the
                                                 database already */
    batch->store->used.newest = row->id;
    pai__store_use_name(batch->store, row->user, row->name);
  }
  return pai__batch_add(batch, change);
}

int pai__batch_put_attempt(pai__batch *batch, uint64_t job,
                           const pai__attempt_row *row)
{
  return pai__batch_add_row(batch,
                            pai__batch_make(batch, PAI__PUT_ATTEMPT, job), row,
                            sizeof(*row), pai__attempt_columns);
}

int pai__batch_put_task(pai__batch *batch, const pai__task_row *row)
{
  return pai__batch_add_row(batch,
                            pai__batch_make(batch, PAI__PUT_TASK, row->job),
                            row, sizeof(*row), pai__task_columns);
}

int pai__batch_put_task_attempt(pai__batch *batch, const pai__task_row *task,
                                const pai__start_row *row)
{
  pai__store_change *change =
    pai__batch_make(batch, PAI__PUT_START, task->job);
  int rc;

  if (change == NULL)
    return PAI_ENOMEM;
  rc = copy_text(batch, &change->name, task->role != NULL ? task->role : "");
  if (rc < 0)
    return rc;
  change->attempt = task->attempt;
  change->index = task->index;
  return pai__batch_add_row(batch, change, row, sizeof(*row),
                            pai__start_columns);
}

int pai__batch_put_event(pai__batch *batch, const pai__event_row *row)
{
  pai__event_row event = *row;
  pai__store_change *change;

  PAI__CHECK_ARG(row->last != 0);
  change = pai__batch_make(batch, PAI__PUT_EVENT, row->job);
  if (change == NULL)
    return PAI_ENOMEM;
  if (event.first == 0)
    event.first = event.last;
  if (event.count == 0)
    event.count = 1;
  pai__event_uid(change->uid, &event);
  return pai__batch_add_row(batch, change, &event, sizeof(event),
                            pai__event_columns);
}

static int add_texts(pai__batch *batch, enum pai__change_kind kind,
                     uint64_t job, const char *name, const char *key,
                     const char *value)
{
  pai__store_change *change = pai__batch_make(batch, kind, job);
  int rc;

  if (change == NULL)
    return PAI_ENOMEM;
  if ((rc = copy_text(batch, &change->name, name)) < 0 ||
      (rc = copy_text(batch, &change->key, key)) < 0 ||
      (rc = copy_text(batch, &change->value, value)) < 0)
    return rc;
  return pai__batch_add(batch, change);
}

int pai__batch_put_tag(pai__batch *batch, uint64_t job, const char *tag)
{
  return add_texts(batch, PAI__PUT_TAG, job, tag, NULL, NULL);
}

int pai__batch_drop_tag(pai__batch *batch, uint64_t job, const char *tag)
{
  return add_texts(batch, PAI__DROP_TAG, job, tag, NULL, NULL);
}

int pai__batch_drop_job(pai__batch *batch, uint64_t job)
{
  int rc = add_texts(batch, PAI__DROP_JOB, job, NULL, NULL, NULL);

  if (rc == PAI_OK) /* later changes must not merge with earlier ones */
    (void)pai__map_remove(&batch->jobs, &job, sizeof(job));
  return rc;
}

int pai__batch_put_meta(pai__batch *batch, const char *key, const char *value)
{
  PAI__CHECK_ARG(strcmp(key, PAI__LAST_ID) != 0); /* written by the commit
                                                     only */
  return add_texts(batch, PAI__PUT_META, 0, NULL, key, value);
}

int pai__batch_drop_secrets(pai__batch *batch, uint64_t job)
{
  return add_texts(batch, PAI__DROP_SECRETS, job, NULL, NULL, NULL);
}

static int add_bytes(pai__batch *batch, enum pai__change_kind kind,
                     const void *data, size_t len)
{
  pai__store_change *change;

  if (len > PAI__COLUMN_BYTES_MAX)
    return PAI_ELIMIT;
  change = pai__batch_make(batch, kind, 0);
  if (change == NULL)
    return PAI_ENOMEM;
  change->bytes.data = pai__arena_strndup(&batch->arena, data, len);
  change->bytes.len = len;
  return change->bytes.data != NULL ? pai__batch_add(batch, change)
                                    : PAI_ENOMEM;
}

int pai__batch_put_log(pai__batch *batch, const void *data, size_t len)
{
  return add_bytes(batch, PAI__PUT_LOG, data, len);
}

int pai__batch_put_snapshot(pai__batch *batch, const void *data, size_t len)
{
  return add_bytes(batch, PAI__PUT_SNAPSHOT, data, len);
}

int pai__batch_put_secret(pai__batch *batch, uint64_t job, const char *name,
                          const void *data, size_t len, pai_error **err)
{
  unsigned char *sealed;
  pai__store_change *change;
  int rc;

  PAI__CHECK_ARG_ERR(name != NULL, err);
  if (len > PAI__COLUMN_BYTES_MAX)
    return pai__fail(err, PAI_ELIMIT, "secret \"%s\" is too long", name);
  if ((rc = pai__store_need_key(batch->store, true, err)) < 0)
    return rc;
  change = pai__batch_make(batch, PAI__PUT_SECRET, job);
  sealed = pai__arena_zalloc(&batch->arena, len + PAI__SEAL_EXTRA, 1);
  if (change == NULL || sealed == NULL ||
      copy_text(batch, &change->name, name) < 0 ||
      pai__seal(batch->store, job, name, data, len, sealed) < 0)
    return pai__oom(err);
  change->bytes = (pai__bytes){ sealed, len + PAI__SEAL_EXTRA };
  return pai__batch_add(batch, change);
}
