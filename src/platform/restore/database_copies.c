/* database_copies.c - backup, export and repair of a root's database */
#include "platform/restore/database_copies.h"
#include "platform/records/records.h"
#include "platform/restore/salvage.h"

#include "base/os/posix_fs.h"

/* --- a copy --------------------------------------------------------------- */

typedef struct backup {
  pai_platform *p;
  pai__work *work;
  char *path;
  pai_sync_cb cb;
  void *user_data;
  int rc;
  pai_error *err;
} backup;

static void free_backup(backup *b)
{
  const pai_alloc *alloc = &b->p->alloc;

  pai__work_close(b->work);
  pai__strfree(alloc, b->path);
  pai_error_free(b->err);
  pai__free(alloc, b, sizeof(*b));
}

static void copy(void *user_data)
{
  backup *b = user_data;

  pai__fork_hold();
  b->rc = pai__store_backup(b->p->store, b->path, NULL, NULL, &b->err);
  pai__fork_release();
}

static void on_copied(void *user_data)
{
  backup *b = user_data;

  b->p->backups--;
  pai__loop_step_ask(b->p->kick);
  b->cb(b->user_data, b->rc, b->err);
  free_backup(b);
}

bool pai__care_is_idle(const pai_platform *p)
{
  return p->backups == 0;
}

int pai_platform_backup(pai_platform *p, const char *path, pai_sync_cb cb,
                        void *user_data, pai_error **err)
{
  backup *b;
  int rc;

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(path != NULL && cb != NULL, err);
  rc = pai__check_open(p, err);
  if (rc < 0)
    return rc;
  b = pai__zalloc(&p->alloc, sizeof(*b));
  if (b == NULL)
    return pai__oom(err);
  *b = (backup){ .p = p, .cb = cb, .user_data = user_data };
  b->path = pai__strdup(&p->alloc, path);
  if (b->path == NULL ||
      pai__work_new(&b->work, &p->alloc, p->loop, copy, on_copied, b) < 0) {
    free_backup(b);
    return pai__oom(err);
  }
  p->backups++;
  pai__work_start(b->work);
  return PAI_OK;
}

int pai_platform_export(pai_platform *p, pai_job_id after, uint64_t limit,
                        pai_write_cb write, void *user_data, pai_error **err)
{
  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  if (p->store == NULL)
    return pai__no_records(err);
  return pai__store_export(p->store, after, limit, write, user_data, err);
}

/* --- repairing ------------------------------------------------------------ */

static void write_names(pai__json_writer *w, const char *key,
                        const pai__buf *names)
{
  pai__json_put_array(w, key);
  for (size_t at = 0; at < names->len; at += strlen(names->data + at) + 1)
    pai__json_string(w, names->data + at);
  pai__json_end_array(w);
}

static int write_repaired(const pai__repaired *r, const pai__salvaged *s,
                          pai_write_cb write, void *user_data, pai_error **err)
{
  pai__json_writer w;
  pai__buf b;
  int rc;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__json_writer_init(&w, &b, false);
  pai__json_begin_object(&w);
  pai__json_put_int(&w, "jobs", (int64_t)r->jobs);
  pai__json_put_int(&w, "rows", (int64_t)r->rows);
  pai__json_put_int(&w, "refused", (int64_t)r->refused);
  pai__json_put_bool(&w, "holes", r->holes);
  pai__json_put_bool(&w, "scheduler", r->scheduler);
  write_names(&w, "again", &s->again);
  write_names(&w, "lost", &s->lost);
  write_names(&w, "stopped", &s->stopped);
  pai__json_put_text(&w, "aside", r->aside);
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  if (rc == PAI_OK)
    rc = write(user_data, b.data, b.len);
  else
    rc = pai__oom(err);
  pai__buf_dispose(&b);
  return rc;
}

int pai_platform_repair(const char *root, pai_write_cb write, void *user_data,
                        pai_error **err)
{
  const pai_alloc *alloc = &pai__libc_alloc;
  pai__repaired repaired = { 0 };
  pai__salvaged salvaged;
  char *path = NULL;
  int lock = -1, rc;

  PAI__CHECK_ARG_ERR(write != NULL, err);
  pai__buf_init(&salvaged.again, alloc);
  pai__buf_init(&salvaged.lost, alloc);
  pai__buf_init(&salvaged.stopped, alloc);
  rc = pai__platform_find_root(&path, root, alloc, err);
  if (rc == PAI_OK)
    rc = pai__platform_lock(&lock, path, alloc, err);
  if (rc == PAI_OK)
    pai__platform_replace_database(path, alloc);
  if (rc == PAI_OK)
    rc = pai__store_repair(&repaired, alloc, path, err);
  if (rc == PAI_OK)
    rc = pai__salvage(&salvaged, path, alloc, err);
  if (rc == PAI_OK)
    rc = write_repaired(&repaired, &salvaged, write, user_data, err);
  pai__buf_dispose(&salvaged.again);
  pai__buf_dispose(&salvaged.lost);
  pai__buf_dispose(&salvaged.stopped);
  pai__strfree(alloc, repaired.aside);
  pai__platform_unlock(lock);
  pai__strfree(alloc, path);
  return rc;
}

int pai_platform_check_key(const char *root, pai_error **err)
{
  const pai_alloc *alloc = &pai__libc_alloc;
  char *path = NULL;
  int rc;

  pai__clear_err(err);
  rc = pai__platform_find_root(&path, root, alloc, err);
  if (rc == PAI_OK)
    rc = pai__store_check_key(alloc, path, err);
  pai__strfree(alloc, path);
  return rc;
}
