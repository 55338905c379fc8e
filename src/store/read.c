/* read.c - queries of the store, except lists of jobs */
#include "store/job_index.h"

static void bind_id(pai__answer *rows, uint64_t id)
{
  if (rows->stmt != NULL)
    (void)sqlite3_bind_int64(rows->stmt, 1, (sqlite3_int64)id);
}

static void bind_text(pai__answer *rows, int at, const char *text)
{
  if (rows->stmt != NULL)
    (void)sqlite3_bind_text(rows->stmt, at, text, -1, SQLITE_STATIC);
}

static const char *text_at(const pai__answer *rows, int column)
{
  return (const char *)sqlite3_column_text(rows->stmt, column);
}

/* Passes the text of the first column to the callback.  Stored texts are not
 * NULL. */
static int hand_text(const pai__answer *rows, pai__text_cb cb, void *user_data,
                     pai_error **err)
{
  const char *text = text_at(rows, 0);

  return text != NULL ? cb(user_data, text) : pai__oom(err);
}

int pai__store_hold(pai__store *store, pai_error **err)
{
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_HOLD, err);
  (void)pai__answer_next(&rows);
  return pai__answer_end(&rows, err);
}

void pai__store_let_go(pai__store *store)
{
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_LET_GO, NULL);
  (void)pai__answer_next(&rows);
  (void)pai__answer_end(&rows, NULL);
}

/* --- jobs ---------------------------------------------------------------- */

/* Passes jobs with their details; returns their number, or an error. */
static int hand_jobs(pai__answer *rows, pai__job_cb cb, void *user_data,
                     pai_error **err)
{
  pai__job_row row;
  int n = 0, rc;

  for (; pai__answer_row(rows, pai__job_columns, &row, sizeof(row)); n++) {
    (void)pai__fields_read(pai__job_detail_columns, rows->stmt, rows->column,
                           &row);
    rows->code = cb(user_data, &row);
  }
  rc = pai__answer_end(rows, err);
  return rc < 0 ? rc : n;
}

int pai__store_job(pai__store *store, uint64_t id, pai__job_cb cb,
                   void *user_data, pai_error **err)
{
  pai__answer rows;
  int rc;

  pai__answer_begin(&rows, store, PAI__SQL_JOB, err);
  bind_id(&rows, id);
  rc = hand_jobs(&rows, cb, user_data, err);
  if (rc == 0)
    return pai__fail(err, PAI_ENOTFOUND, "there is no job %llu",
                     (unsigned long long)id);
  return rc < 0 ? rc : PAI_OK;
}

int pai__store_job_named(pai__store *store, const char *user, const char *name,
                         pai__job_cb cb, void *user_data, pai_error **err)
{
  pai__answer rows;
  int rc;

  pai__answer_begin(&rows, store, PAI__SQL_JOB_NAMED, err);
  bind_text(&rows, 1, user);
  bind_text(&rows, 2, name);
  rc = hand_jobs(&rows, cb, user_data, err);
  if (rc == 0)
    return pai__fail(err, PAI_ENOTFOUND, "%s has no job \"%s\"", user, name);
  return rc < 0 ? rc : PAI_OK;
}

int pai__store_live(pai__store *store, pai__job_cb cb, void *user_data,
                    pai_error **err)
{
  pai__answer rows;
  int rc;

  pai__answer_begin(&rows, store, PAI__SQL_LIVE, err);
  rc = hand_jobs(&rows, cb, user_data, err);
  return rc < 0 ? rc : PAI_OK;
}

int pai__store_config(pai__store *store, uint64_t job, pai__text_cb cb,
                      void *user_data, pai_error **err)
{
  pai__answer rows;
  bool found = false;
  int rc;

  pai__answer_begin(&rows, store, PAI__SQL_CONFIG, err);
  bind_id(&rows, job);
  for (; pai__answer_next(&rows); found = true)
    rows.code = hand_text(&rows, cb, user_data, err);
  rc = pai__answer_end(&rows, err);
  if (rc == PAI_OK && !found)
    return pai__fail(err, PAI_ENOTFOUND,
                     "there is no configuration of job %llu",
                     (unsigned long long)job);
  return rc;
}

int pai__store_attempts(pai__store *store, uint64_t job, pai__attempt_cb cb,
                        void *user_data, pai_error **err)
{
  pai__attempt_row row;
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_ATTEMPTS, err);
  bind_id(&rows, job);
  while (pai__answer_row(&rows, pai__attempt_columns, &row, sizeof(row)))
    rows.code = cb(user_data, &row);
  return pai__answer_end(&rows, err);
}

/* --- tasks --------------------------------------------------------------- */

int pai__store_tasks(pai__store *store, uint64_t job, uint32_t attempt,
                     const char *role, pai__task_cb cb, void *user_data,
                     pai_error **err)
{
  pai__task_row row;
  pai__answer rows;

  pai__answer_begin(&rows, store,
                    role != NULL ? PAI__SQL_ROLE_TASKS : PAI__SQL_TASKS, err);
  bind_id(&rows, job);
  if (rows.stmt != NULL)
    (void)sqlite3_bind_int64(rows.stmt, 2, attempt);
  if (role != NULL)
    bind_text(&rows, 3, role);
  while (pai__answer_row(&rows, pai__task_columns, &row, sizeof(row)))
    rows.code = cb(user_data, &row);
  return pai__answer_end(&rows, err);
}

int pai__store_task_attempts(pai__store *store, const pai__task_row *task,
                             pai__start_cb cb, void *user_data,
                             pai_error **err)
{
  pai__start_row row;
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_STARTS, err);
  bind_id(&rows, task->job);
  bind_text(&rows, 3, task->role != NULL ? task->role : "");
  if (rows.stmt != NULL) {
    (void)sqlite3_bind_int64(rows.stmt, 2, task->attempt);
    (void)sqlite3_bind_int64(rows.stmt, 4, task->index);
  }
  while (pai__answer_row(&rows, pai__start_columns, &row, sizeof(row)))
    rows.code = cb(user_data, &row);
  return pai__answer_end(&rows, err);
}

/* --- events and short rows ----------------------------------------------- */

int pai__store_events(pai__store *store, uint64_t job, const char *type,
                      pai__event_cb cb, void *user_data, pai_error **err)
{
  pai__event_row row;
  pai__answer rows;

  pai__answer_begin(
    &rows, store, type != NULL ? PAI__SQL_TYPE_EVENTS : PAI__SQL_EVENTS, err);
  bind_id(&rows, job);
  if (type != NULL)
    bind_text(&rows, 2, type);
  while (pai__answer_row(&rows, pai__event_columns, &row, sizeof(row))) {
    row.uid = text_at(&rows, rows.column);
    rows.code = row.uid != NULL ? cb(user_data, &row) : pai__oom(err);
  }
  return pai__answer_end(&rows, err);
}

static int hand_tags(const pai__job_index_row *row, pai__text_cb cb,
                     void *user_data)
{
  int rc = PAI_OK;

  for (size_t i = 0; i < row->ntags && rc >= 0; i++)
    rc = cb(user_data, row->tags[i]->text);
  return rc < 0 ? rc : PAI_OK;
}

int pai__store_tags(pai__store *store, uint64_t job, pai__text_cb cb,
                    void *user_data, pai_error **err)
{
  const pai__job_index_row *row = pai__job_index_is_whole(store->index)
                                    ? pai__job_index_find(store->index, job)
                                    : NULL;
  pai__answer rows;

  pai__clear_err(err);
  if (row != NULL)
    return hand_tags(row, cb, user_data);
  pai__answer_begin(&rows, store, PAI__SQL_TAGS, err);
  bind_id(&rows, job);
  while (pai__answer_next(&rows))
    rows.code = hand_text(&rows, cb, user_data, err);
  return pai__answer_end(&rows, err);
}

int pai__store_meta(pai__store *store, char **out, const char *key,
                    pai_error **err)
{
  pai__answer rows;

  PAI__CLEAR_OUT(out, err);
  pai__answer_begin(&rows, store, PAI__SQL_META, err);
  bind_text(&rows, 1, key);
  if (pai__answer_next(&rows)) {
    *out = pai__strdup(&store->alloc, text_at(&rows, 0));
    if (*out == NULL)
      rows.code = pai__oom(err);
  }
  return pai__answer_end(&rows, err);
}

int pai__store_last_id(pai__store *store, uint64_t *out, pai_error **err)
{
  pai__answer rows;

  *out = 0;
  pai__answer_begin(&rows, store, PAI__SQL_META, err);
  bind_text(&rows, 1, PAI__LAST_ID);
  if (pai__answer_next(&rows))
    *out = (uint64_t)sqlite3_column_int64(rows.stmt, 0);
  return pai__answer_end(&rows, err);
}

static int hand_pieces(pai__store *store, enum pai__sql which,
                       pai__piece_cb cb, void *user_data, pai_error **err)
{
  pai__answer rows;

  pai__answer_begin(&rows, store, which, err);
  while (pai__answer_next(&rows)) {
    const void *data = sqlite3_column_blob(rows.stmt, 0);
    int len = sqlite3_column_bytes(rows.stmt, 0);
    rows.code = cb(user_data, data != NULL ? data : "", (size_t)len);
  }
  return pai__answer_end(&rows, err);
}

int pai__store_snapshot(pai__store *store, pai__piece_cb cb, void *user_data,
                        pai_error **err)
{
  return hand_pieces(store, PAI__SQL_SNAPSHOT, cb, user_data, err);
}

int pai__store_log(pai__store *store, pai__piece_cb cb, void *user_data,
                   pai_error **err)
{
  return hand_pieces(store, PAI__SQL_LOG, cb, user_data, err);
}

int pai__store_bytes(pai__store *store, uint64_t *out, pai_error **err)
{
  pai__answer rows;

  *out = 0;
  pai__answer_begin(&rows, store, PAI__SQL_PAGES, err);
  if (pai__answer_next(&rows))
    *out = (uint64_t)sqlite3_column_int64(rows.stmt, 0);
  return pai__answer_end(&rows, err);
}

/* --- expired jobs -------------------------------------------------------- */

/* Sets *out to the number of ended jobs to drop for the limits of number or
 * bytes, assuming an average size. */
static int count_surplus(pai__store *store, const pai__keep *keep,
                         uint64_t *out, pai_error **err)
{
  uint64_t jobs = 0, ended = 0, bytes;
  pai__answer rows;
  int rc = pai__store_bytes(store, &bytes, err);

  *out = 0;
  if (rc < 0)
    return rc;
  pai__answer_begin(&rows, store, PAI__SQL_COUNT_ENDED, err);
  if (pai__answer_next(&rows)) {
    jobs = (uint64_t)sqlite3_column_int64(rows.stmt, 0);
    ended = (uint64_t)sqlite3_column_int64(rows.stmt, 1);
  }
  if (keep->max_jobs > 0 && ended > keep->max_jobs)
    *out = ended - keep->max_jobs;
  if (keep->max_bytes > 0 && bytes > keep->max_bytes && jobs > 0) {
    uint64_t most = (bytes - keep->max_bytes) / (bytes / jobs + 1) + 1;
    if (most > *out)
      *out = most;
  }
  return pai__answer_end(&rows, err);
}

int pai__store_expired(pai__store *store, const pai__keep *keep,
                       pai__job_cb cb, void *user_data, pai_error **err)
{
  uint64_t surplus, n = 0;
  pai__job_row row;
  pai__answer rows;
  int rc = count_surplus(store, keep, &surplus, err);

  if (rc < 0)
    return rc;
  pai__answer_begin(&rows, store, PAI__SQL_ENDED, err);
  for (; pai__answer_row(&rows, pai__job_columns, &row, sizeof(row)); n++) {
    if (n >= surplus && row.completed >= keep->since)
      break;
    rows.code = cb(user_data, &row);
  }
  return pai__answer_end(&rows, err);
}
