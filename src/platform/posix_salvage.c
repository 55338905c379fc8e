/*
 * posix_salvage.c - jobs that a repaired database lacks, as their folders and
 * the scheduler's log tell of them
 *
 * A job that has a folder gets a row with the states of its tasks, so that it is
 * listed, its logs can be read and `openpai rm` removes it.  Its file is lost.
 * Of a job that waited there is only the name, in the scheduler's log.
 */
#define _XOPEN_SOURCE 700
#include "platform/salvage.h"

#include "backend/local/posix_files.h"
#include "backend/local/runtime.h"
#include "base/posix_fs.h"
#include "json/json.h"

#include <openpai/backend.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_PATH = 4096, MOST_LOG = 256 << 20, LONGEST = 256 };

typedef struct salvage {
  const char *root;
  const pai_alloc *alloc;
  pai__store *store;
  pai__batch *batch;
  pai__salvaged *out;
  uint64_t last_id;
  pai_error **err;
} salvage;

/* --- a job's folder ------------------------------------------------------------ */

/* The latest start of a task. */
typedef struct start {
  char role[LONGEST];
  uint32_t index, number, again;
} start;

/* "ROLE-INDEX" or "ROLE-INDEX.START", with "+N" behind it for one that took the
 * place of a start that was cut off. */
static bool read_start(start *out, const char *name)
{
  char *dash, *end;

  if (strlen(name) >= sizeof(out->role))
    return false;
  (void)snprintf(out->role, sizeof(out->role), "%s", name);
  dash = strrchr(out->role, '-');
  if (dash == NULL || dash == out->role || dash[1] < '0' || dash[1] > '9')
    return false;
  *dash = '\0';
  out->index = (uint32_t)strtoul(dash + 1, &end, 10);
  out->number = *end == '.' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
  out->again = *end == '+' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
  return *end == '\0';
}

static bool is_later(const start *one, const start *other)
{
  return one->number != other->number ? one->number > other->number
                                      : one->again > other->again;
}

/* The number of the latest attempt; -1: there is none. */
static long last_attempt(const char *dir)
{
  DIR *d = opendir(dir);
  struct dirent *e;
  long last = -1;

  while (d != NULL && (e = readdir(d)) != NULL) {
    char *end;
    long n = strtol(e->d_name, &end, 10);

    if (end != e->d_name && *end == '\0' && n > last && n < UINT32_MAX)
      last = n;
  }
  if (d != NULL)
    (void)closedir(d);
  return last;
}

/* Tasks of an attempt, each with its latest start. */
static bool list_tasks(pai__buf *out, const char *dir)
{
  DIR *d = opendir(dir);
  struct dirent *e;

  while (d != NULL && (e = readdir(d)) != NULL) {
    start one, *at = (start *)(void *)out->data;
    size_t n = out->len / sizeof(one), i = 0;

    if (!read_start(&one, e->d_name))
      continue;
    while (i < n &&
           (at[i].index != one.index || strcmp(at[i].role, one.role) != 0))
      i++;
    if (i == n)
      pai__buf_add(out, &one, sizeof(one));
    else if (is_later(&one, &at[i]))
      at[i] = one;
  }
  if (d != NULL)
    (void)closedir(d);
  return pai__buf_ok(out);
}

/* As its supervisor tells, or an older one did in the task's folder. */
static void read_status(pai__status *out, const salvage *s, const char *dir)
{
  char own[PAI__OWN_PATH];

  if (!pai__own_dir(own, s->root, dir) ||
      pai__files_status(out, own, false, NULL) < 0)
    (void)pai__files_status(out, dir, false, NULL);
}

static int code_of(const pai__status *s)
{
  switch (s->kind) {
  case PAI__STATUS_EXIT:
  case PAI__STATUS_FAILED: return s->number;
  case PAI__STATUS_SIGNAL: return 128 + s->number;
  default: return PAI_CODE_LOST;
  }
}

/* One task's row; *code is the job's until now, as is what its row says of
 * lost output. */
static int put_task(salvage *s, pai__job_row *job, const char *dir,
                    const start *t, int *code, pai_time *ended)
{
  char path[MOST_PATH + LONGEST + 80], below[LONGEST + 64], number[16] = "",
                                                            again[16] = "";
  pai__status status = { .kind = PAI__STATUS_EMPTY };
  pai__task_row row = { .job = job->id,
                        .attempt = job->now.number,
                        .role = t->role,
                        .index = t->index,
                        .sub_state = "Completed" };
  int own;

  if (t->number > 0)
    (void)snprintf(number, sizeof(number), ".%u", t->number);
  if (t->again > 0)
    (void)snprintf(again, sizeof(again), "+%u", t->again);
  (void)snprintf(below, sizeof(below), "%u/%s-%u%s%s", job->now.number,
                 t->role, t->index, number, again);
  if (snprintf(path, sizeof(path), "%s/%s", dir, below) < (int)sizeof(path))
    read_status(&status, s, path);
  own = code_of(&status);
  if (*code == 0)
    *code = own;
  if (status.ended > *ended)
    *ended = status.ended;
  row.state = own == 0 ? "SUCCEEDED" : "FAILED";
  row.exit_code = (pai__maybe){ true, own };
  job->output_lost |= status.cut;
  row.created = row.launched = status.started;
  row.completed = status.ended;
  row.now = (pai__start_row){ .number = t->number,
                              .state = "Completed",
                              .dir = below,
                              .created = status.started,
                              .launched = status.started,
                              .completed = status.ended,
                              .exit_code = row.exit_code,
                              .output_lost = status.cut };
  return pai__batch_put_task(s->batch, &row) < 0 ? pai__oom(s->err) : PAI_OK;
}

static int put_job(salvage *s, const char *user, const char *name,
                   const char *dir, long attempt)
{
  struct stat st;
  pai__job_row row = { .id = ++s->last_id,
                       .user = user,
                       .name = name,
                       .vc = "default",
                       .sub_state = "Completed",
                       .execution = "START",
                       .now = { .number = (uint32_t)attempt,
                                .state = "AttemptCompleted" } };
  char path[MOST_PATH + 32];
  const start *tasks;
  pai_time ended = 0;
  pai__buf list;
  int code = 0, rc = PAI_OK;

  pai__buf_init(&list, s->alloc);
  (void)snprintf(path, sizeof(path), "%s/%ld", dir, attempt);
  if (!list_tasks(&list, path))
    rc = pai__oom(s->err);
  tasks = (const start *)(void *)list.data;
  row.tasks = (uint32_t)(list.len / sizeof(*tasks));
  row.roles = 1;
  if (stat(dir, &st) == 0)
    row.submitted = (pai_time)st.st_mtime * 1000000;
  row.state = "FAILED";
  /* The job's row comes first, and again when its tasks have said how it
   * ended. */
  if (rc == PAI_OK && pai__batch_put_job(s->batch, &row) < 0)
    rc = pai__oom(s->err);
  for (uint32_t i = 0; rc == PAI_OK && i < row.tasks; i++)
    rc = put_task(s, &row, dir, &tasks[i], &code, &ended);
  row.state = code == 0 ? "SUCCEEDED" : "FAILED";
  row.exit_code = row.now.exit_code = (pai__maybe){ true, code };
  row.completed = row.now.completed = ended != 0 ? ended : row.submitted;
  row.created = row.launched = row.submitted;
  if (rc == PAI_OK && pai__batch_put_job(s->batch, &row) < 0)
    rc = pai__oom(s->err);
  pai__buf_dispose(&list);
  return rc;
}

/* --- which are missing ----------------------------------------------------------- */

static int on_job(void *user_data, const pai__job_row *row)
{
  (void)user_data;
  (void)row;
  return PAI_OK;
}

/* 1: there is no such job; 0; a code. */
static int is_missing(salvage *s, const char *user, const char *name)
{
  pai_error *err = NULL;
  int rc = pai__store_job_named(s->store, user, name, on_job, NULL, &err);

  if (rc == PAI_ENOTFOUND) {
    pai_error_free(err);
    return 1;
  }
  if (s->err != NULL)
    *s->err = err;
  else
    pai_error_free(err);
  return rc < 0 ? rc : 0;
}

static bool has(const pai__buf *names, const char *full)
{
  size_t len = strlen(full) + 1;

  for (size_t at = 0; at + len <= names->len;
       at += strlen(names->data + at) + 1)
    if (memcmp(names->data + at, full, len) == 0)
      return true;
  return false;
}

static int look_at_folder(salvage *s, const char *jobs, char *full)
{
  char dir[MOST_PATH], *tilde = strchr(full, '~');
  long attempt;
  int rc;

  if (tilde == NULL ||
      snprintf(dir, sizeof(dir), "%s/%s", jobs, full) >= (int)sizeof(dir) - 32)
    return PAI_OK;
  attempt = last_attempt(dir);
  if (attempt < 0)
    return PAI_OK;
  *tilde = '\0';
  rc = is_missing(s, full, tilde + 1);
  if (rc == 1)
    rc = put_job(s, full, tilde + 1, dir, attempt);
  else
    attempt = -1;
  *tilde = '~';
  if (rc == PAI_OK && attempt >= 0)
    pai__buf_add(&s->out->again, full, strlen(full) + 1);
  return rc;
}

static int look_at_folders(salvage *s)
{
  char jobs[MOST_PATH];
  struct dirent *e;
  int rc = PAI_OK;
  DIR *d;

  (void)snprintf(jobs, sizeof(jobs), "%s/jobs", s->root);
  d = opendir(jobs);
  while (d != NULL && rc == PAI_OK && (e = readdir(d)) != NULL)
    if (strlen(e->d_name) < LONGEST) {
      char full[LONGEST];

      (void)snprintf(full, sizeof(full), "%s", e->d_name);
      rc = look_at_folder(s, jobs, full);
    }
  if (d != NULL)
    (void)closedir(d);
  return rc;
}

/* --- the scheduler's log ----------------------------------------------------------- */

/* A request that is not over, as far as the log tells. */
typedef struct request {
  uint64_t id;
  char name[2 * LONGEST];
} request;

static void forget(pai__buf *live, uint64_t id)
{
  request *at = (request *)(void *)live->data;
  size_t n = live->len / sizeof(*at);

  for (size_t i = 0; i < n; i++)
    if (at[i].id == id) {
      at[i] = at[n - 1];
      live->len -= sizeof(*at);
      return;
    }
}

/* Only whole jobs: tasks that wait alone have numbers of their own. */
static void remember(pai__buf *live, const pai__tree *t, pai__node n)
{
  request r = { .id = (uint64_t)pai__tree_look_int(t, n, "id") };
  const char *user = pai__tree_look_text(t, n, "user", NULL);
  const char *name = pai__tree_look_text(t, n, "name", NULL);

  if (r.id == 0 || r.id >> 62 != 0 || user == NULL || name == NULL)
    return;
  (void)snprintf(r.name, sizeof(r.name), "%s~%s", user, name);
  pai__buf_add(live, &r, sizeof(r));
}

static void read_line(pai__buf *live, const pai__tree *t)
{
  const char *event = pai__tree_look_text(t, 0, "event", "");
  pai__node list = pai__tree_look(t, 0, "requests");
  uint64_t id = (uint64_t)pai__tree_look_int(t, 0, "id");

  if (pai__tree_look(t, 0, "snapshot") != PAI__NO_NODE) {
    pai__buf_clear(live);
    if (list != PAI__NO_NODE && pai__tree_type(t, list) == PAI__SEQUENCE) {
      pai__tree_walk walk = pai__tree_iter(t, list);
      pai__node n;

      while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
        remember(live, t, n);
    }
  } else if (strcmp(event, "submit") == 0) {
    remember(live, t, pai__tree_look(t, 0, "request"));
  } else if (strcmp(event, "finished") == 0 || strcmp(event, "cancel") == 0) {
    forget(live, id);
  }
}

/* A line that is damaged is passed over. */
static void read_log(salvage *s, pai__buf *live, const char *name)
{
  pai__json_options options = { .alloc = s->alloc };
  char path[MOST_PATH];
  const char *at, *end;
  pai__buf text;

  (void)snprintf(path, sizeof(path), "%s/%s", s->root, name);
  pai__buf_init(&text, s->alloc);
  if (pai__fs_read(&text, path, MOST_LOG, NULL) < 0)
    pai__buf_clear(&text);
  at = text.data;
  end = at + text.len;
  while (at != end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *next = newline != NULL ? newline + 1 : end;
    pai__tree *t = NULL;

    if (pai__json_parse(&t, at, (size_t)(next - at), &options, NULL) == PAI_OK)
      read_line(live, t);
    pai__tree_free(t);
    at = next;
  }
  pai__buf_dispose(&text);
}

static int look_at_log(salvage *s)
{
  const request *at;
  pai__buf live;
  int rc = PAI_OK;

  pai__buf_init(&live, s->alloc);
  read_log(s, &live, "scheduler.log.1");
  read_log(s, &live, "scheduler.log");
  at = (const request *)(void *)live.data;
  for (size_t i = 0; rc >= 0 && i < live.len / sizeof(*at); i++) {
    char full[sizeof(at->name)], *tilde;

    (void)snprintf(full, sizeof(full), "%s", at[i].name);
    tilde = strchr(full, '~');
    *tilde = '\0';
    rc = is_missing(s, full, tilde + 1);
    if (rc == 1 && !has(&s->out->again, at[i].name) &&
        !has(&s->out->lost, at[i].name))
      pai__buf_add(&s->out->lost, at[i].name, strlen(at[i].name) + 1);
  }
  pai__buf_dispose(&live);
  return rc < 0 ? rc : PAI_OK;
}

int pai__salvage(pai__salvaged *out, const char *root, const pai_alloc *alloc,
                 pai_error **err)
{
  salvage s = { .root = root, .alloc = alloc, .out = out, .err = err };
  int rc = pai__store_open(&s.store, alloc, root, NULL, err);

  if (rc == PAI_OK)
    rc = pai__store_last_id(s.store, &s.last_id, err);
  if (rc == PAI_OK)
    rc = pai__batch_new(&s.batch, s.store, err);
  if (rc == PAI_OK)
    rc = look_at_folders(&s);
  if (rc == PAI_OK)
    rc = look_at_log(&s);
  if (rc == PAI_OK && !pai__batch_is_empty(s.batch))
    rc = pai__store_commit(s.store, s.batch, err);
  if (rc == PAI_OK && (!pai__buf_ok(&out->again) || !pai__buf_ok(&out->lost)))
    rc = pai__oom(err);
  pai__batch_free(s.batch);
  pai__store_close(s.store);
  return rc;
}
