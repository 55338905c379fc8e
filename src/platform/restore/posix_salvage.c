/*
 * posix_salvage.c - recovery of jobs that a repaired database lacks, from their
 * folders and the scheduler's log
 *
 * A job with a folder gets a row with the states of its tasks, so that it is
 * listed, its logs can be read and `openpai rm` removes it.  Its file is lost.
 * Whether it was stopped is in the scheduler's log.  Of a job that never
 * started only the name is left, in that log too.
 */
#define _XOPEN_SOURCE 700
#include "platform/restore/salvage.h"

#include "backend/local/posix_files.h"
#include "backend/local/runtime.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/os/posix_fs.h"
#include "job/job.h"
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
  bool was_empty;  /* the database had no job before */
  pai__buf live;   /* requests that are live according to the log */
  pai__map ended;  /* by "user~name": how the request ended last */
  pai__arena ends; /* of `ended` */
  pai_error **err;
} salvage;

/* A request that is live according to the log. */
typedef struct request {
  uint64_t id;
  char name[2 * LONGEST];
} request;

/* How a request ended. */
typedef struct end_of {
  int code;
  bool never; /* it never started */
} end_of;

/* --- a job's folder ------------------------------------------------------- */

/* The latest start of a task. */
typedef struct start {
  char role[LONGEST];
  uint32_t index, number, again;
} start;

/* Reads "ROLE-INDEX" or "ROLE-INDEX.START", with "+N" at the end for the N-th
 * repetition of a start that never happened. */
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

/* Returns the number of the latest attempt; -1: there is none. */
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

/* Lists the tasks of an attempt, each with its latest start. */
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

/* Reads a supervisor's status, which older ones wrote to the task's folder. */
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

static const char *state_of(int code)
{
  return code == 0                   ? "SUCCEEDED"
         : code == PAI__CODE_STOPPED ? "STOPPED"
                                     : "FAILED";
}

/* Puts a task's row; `stopped`: its job was.  *code, *ended and
 * job->output_lost are those of the job, updated with each task. */
static int put_task(salvage *s, pai__job_row *job, const char *dir,
                    const start *t, bool stopped, int *code, pai_time *ended)
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
  if (stopped && own != 0)
    own = PAI__CODE_STOPPED;
  if (*code == 0)
    *code = own;
  if (status.ended > *ended)
    *ended = status.ended;
  row.state = state_of(own);
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
                   const char *dir, long attempt, bool stopped)
{
  struct stat st;
  pai__job_row row = { .id = ++s->last_id,
                       .user = user,
                       .name = name,
                       .vc = "default",
                       .sub_state = "Completed",
                       .execution = stopped ? "STOP" : "START",
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
  /* The job's row comes first, and again when its tasks have shown its end. */
  if (rc == PAI_OK && pai__batch_put_job(s->batch, &row) < 0)
    rc = pai__oom(s->err);
  for (uint32_t i = 0; rc == PAI_OK && i < row.tasks; i++)
    rc = put_task(s, &row, dir, &tasks[i], stopped, &code, &ended);
  if (stopped)
    code = PAI__CODE_STOPPED;
  row.state = state_of(code);
  row.exit_code = row.now.exit_code = (pai__maybe){ true, code };
  row.completed = row.now.completed = ended != 0 ? ended : row.submitted;
  row.created = row.launched = row.submitted;
  if (rc == PAI_OK && pai__batch_put_job(s->batch, &row) < 0)
    rc = pai__oom(s->err);
  pai__buf_dispose(&list);
  return rc;
}

/* --- missing jobs --------------------------------------------------------- */

static int on_job(void *user_data, const pai__job_row *row)
{
  (void)user_data;
  (void)row;
  return PAI_OK;
}

/* Returns 1 if there is no such job, 0 if there is, or a code. */
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
  const end_of *end = pai__map_get(&s->ended, full, strlen(full));
  bool stopped = end != NULL && end->code == PAI__CODE_STOPPED;
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
    rc = put_job(s, full, tilde + 1, dir, attempt, stopped);
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

/* --- the scheduler's log -------------------------------------------------- */

/* Out of memory the end is not known. */
static void note_end(salvage *s, const char *name, end_of how)
{
  end_of *end = pai__map_get(&s->ended, name, strlen(name));

  if (end == NULL) {
    end = pai__arena_zalloc(&s->ends, 1, sizeof(*end));
    if (end == NULL || pai__map_set(&s->ended, name, strlen(name), end) < 0)
      return;
  }
  *end = how;
}

static void end_request(salvage *s, uint64_t id, end_of how)
{
  request *at = (request *)(void *)s->live.data;
  size_t n = s->live.len / sizeof(*at);

  for (size_t i = 0; i < n; i++)
    if (at[i].id == id) {
      note_end(s, at[i].name, how);
      at[i] = at[n - 1];
      s->live.len -= sizeof(*at);
      return;
    }
}

/* Only requests of jobs: those of single tasks have ids with a high bit. */
static void remember(salvage *s, const pai__tree *t, pai__node n)
{
  request r = { .id = (uint64_t)pai__tree_look_int(t, n, "id") };
  const char *user = pai__tree_look_text(t, n, "user", NULL);
  const char *name = pai__tree_look_text(t, n, "name", NULL);

  if (r.id == 0 || r.id >> 62 != 0 || user == NULL || name == NULL)
    return;
  (void)snprintf(r.name, sizeof(r.name), "%s~%s", user, name);
  (void)pai__map_remove(&s->ended, r.name, strlen(r.name));
  pai__buf_add(&s->live, &r, sizeof(r));
}

static void read_line(salvage *s, const pai__tree *t)
{
  const char *event = pai__tree_look_text(t, 0, "event", "");
  pai__node list = pai__tree_look(t, 0, "requests");
  uint64_t id = (uint64_t)pai__tree_look_int(t, 0, "id");

  if (pai__tree_look(t, 0, "snapshot") != PAI__NO_NODE) {
    pai__buf_clear(&s->live);
    if (list != PAI__NO_NODE && pai__tree_type(t, list) == PAI__SEQUENCE) {
      pai__tree_walk walk = pai__tree_iter(t, list);
      pai__node n;

      while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
        remember(s, t, n);
    }
  } else if (strcmp(event, "submit") == 0) {
    remember(s, t, pai__tree_look(t, 0, "request"));
  } else if (strcmp(event, "finished") == 0) {
    end_request(s, id,
                (end_of){ (int)pai__tree_look_int(t, 0, "code"), false });
  } else if (strcmp(event, "cancel") == 0) {
    end_request(s, id, (end_of){ PAI__CODE_STOPPED, true });
  }
}

/* Skips damaged lines. */
static void read_log(salvage *s, const char *name)
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
      read_line(s, t);
    pai__tree_free(t);
    at = next;
  }
  pai__buf_dispose(&text);
}

/* Adds a job to `names`, unless it has a row or will have one. */
static int add_missing(salvage *s, pai__buf *names, const char *name)
{
  char full[2 * LONGEST], *tilde;
  int rc;

  (void)snprintf(full, sizeof(full), "%s", name);
  tilde = strchr(full, '~');
  *tilde = '\0';
  rc = is_missing(s, full, tilde + 1);
  if (rc == 1 && !has(&s->out->again, name) && !has(names, name))
    pai__buf_add(names, name, strlen(name) + 1);
  return rc < 0 ? rc : PAI_OK;
}

static int list_lost(salvage *s)
{
  const request *at = (const request *)(void *)s->live.data;
  const pai__map_entry *e;
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < s->live.len / sizeof(*at); i++)
    rc = add_missing(s, &s->out->lost, at[i].name);
  /* Beside other jobs these were removed. */
  for (size_t i = 0; rc == PAI_OK && s->was_empty &&
                     (e = pai__map_next(&s->ended, &i)) != NULL;)
    if (((const end_of *)e->value)->never)
      rc = add_missing(s, &s->out->stopped, e->key);
  return rc;
}

int pai__salvage(pai__salvaged *out, const char *root, const pai_alloc *alloc,
                 pai_error **err)
{
  salvage s = { .root = root, .alloc = alloc, .out = out, .err = err };
  int rc = pai__store_open(&s.store, alloc, root, NULL, err);

  pai__buf_init(&s.live, alloc);
  pai__map_init(&s.ended, alloc);
  pai__arena_init(&s.ends, alloc);
  read_log(&s, "scheduler.log.1");
  read_log(&s, "scheduler.log");
  if (rc == PAI_OK)
    rc = pai__store_last_id(s.store, &s.last_id, err);
  s.was_empty = s.last_id == 0;
  if (rc == PAI_OK)
    rc = pai__batch_new(&s.batch, s.store, err);
  if (rc == PAI_OK)
    rc = look_at_folders(&s);
  if (rc == PAI_OK)
    rc = list_lost(&s);
  if (rc == PAI_OK && !pai__batch_is_empty(s.batch))
    rc = pai__store_commit(s.store, s.batch, err);
  if (rc == PAI_OK && (!pai__buf_ok(&out->again) || !pai__buf_ok(&out->lost) ||
                       !pai__buf_ok(&out->stopped)))
    rc = pai__oom(err);
  pai__buf_dispose(&s.live);
  pai__map_dispose(&s.ended);
  pai__arena_dispose(&s.ends);
  pai__batch_free(s.batch);
  pai__store_close(s.store);
  return rc;
}
