/*
 * posix_ssh.c - addresses and keys for ssh into a job's tasks
 *
 * The plugin ssh (job/plan/plugin_ssh.c) leaves files in the folder of the
 * attempt: the key that all tasks share, and the host key of each task's sshd.
 * The folder belongs to the job's user, who may have changed it: it is read
 * with that user's rights, and no link in it is followed.
 */
#define _GNU_SOURCE /* O_PATH */
#include "platform/records/records.h"

#include "base/os/posix_fs.h"
#include "base/os/posix_user.h"
#include "spec/spec.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_KEY = 16 << 10 }; /* bytes; an RSA key of 16384 bits has 12,700 */

/* State of reading a job's files. */
typedef struct reader {
  const pai__pjob *j;
  pai__user *who; /* user for access; NULL: this process' */
  char *user;     /* login name */
  pai__buf path, text;
} reader;

static int reader_begin(reader *r, const pai__pjob *j, pai_error **err)
{
  const pai_alloc *alloc = &j->platform->alloc;
  int rc;

  *r = (reader){ .j = j };
  pai__buf_init(&r->path, alloc);
  pai__buf_init(&r->text, alloc);
  rc = pai__system_find(&r->who, j->platform, j->user, err);
  if (rc < 0)
    return rc;
  if (r->who == NULL)
    return pai__platform_user_name(&r->user, alloc, err);
  r->user = pai__strdup(alloc, r->who->name);
  return r->user != NULL ? PAI_OK : pai__oom(err);
}

static void reader_end(reader *r)
{
  const pai_alloc *alloc = &r->j->platform->alloc;

  pai__free(alloc, r->who, sizeof(*r->who));
  pai__strfree(alloc, r->user);
  pai__buf_dispose(&r->path);
  pai__buf_wipe(&r->text);
}

/* Opens a path in the job's folder; changes `path`.  No part of it may be a
 * link, which might lead to files of another job or of the platform. */
static int open_as(const pai__user *who, const char *base, char *path)
{
  int fd;

  if (!pai__as_user(who))
    return -1;
  fd = open(base, O_PATH | O_CLOEXEC | O_DIRECTORY); /* may be unreadable */
  fd = pai__fs_open_plain(fd, path);
  pai__as_self(who);
  return fd;
}

/* Reads a small file into r->text.  PAI_OK; PAI_ENOTFOUND: there is none, or it
 * is no key; PAI_ENOMEM. */
static int read_path(reader *r)
{
  ssize_t n = -1;
  struct stat st;
  int fd;

  pai__buf_cut(&r->text, 0);
  if (!pai__buf_ok(&r->path) || !pai__buf_reserve(&r->text, MOST_KEY + 1))
    return PAI_ENOMEM;
  fd = open_as(r->who, r->j->dir, r->path.data);
  if (fd < 0)
    return PAI_ENOTFOUND;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
    n = read(fd, r->text.data, MOST_KEY + 1);
  (void)close(fd);
  if (n <= 0 || n > MOST_KEY || memchr(r->text.data, '\0', (size_t)n) != NULL)
    return PAI_ENOTFOUND;
  r->text.len = (size_t)n;
  r->text.data[n] = '\0';
  return PAI_OK;
}

/* Reads a task's own file, in its folder's ssh/. */
static int read_of_task(reader *r, uint32_t task, const char *name)
{
  const char *dir = r->j->tasks[task].dir;

  if (dir == NULL)
    return PAI_ENOTFOUND;
  pai__buf_cut(&r->path, 0);
  pai__buf_printf(&r->path, "%s/ssh/%s", dir, name);
  return read_path(r);
}

/* Reads a file that all tasks of the task's attempt share. */
static int read_shared(reader *r, uint32_t task, const char *name)
{
  const char *dir = r->j->tasks[task].dir;

  if (dir == NULL)
    return PAI_ENOTFOUND;
  pai__buf_cut(&r->path, 0);
  pai__buf_printf(&r->path, "%.*s/ssh/%s", (int)strcspn(dir, "/"), dir, name);
  return read_path(r);
}

/* Keeps the first line: nothing else may get into a known_hosts file. */
static void cut_line(pai__buf *text)
{
  size_t n = 0;

  while (n < text->len && text->data[n] >= ' ' && text->data[n] <= '~')
    n++;
  pai__buf_cut(text, n);
}

/* --- tasks ---------------------------------------------------------------- */

static bool runs(const pai__pjob *j, uint32_t task)
{
  int state = pai__job_tasks(&j->job)[task].state;

  return state == PAI__TASK_RUNNING || state == PAI__TASK_ENDING;
}

static uint32_t port_of(const pai__pjob *j, uint32_t task)
{
  const pai__role *role = &j->spec->roles[pai__job_tasks(&j->job)[task].role];
  const uint32_t *ports = j->places[task].ports;

  for (size_t l = 0; ports != NULL && l < role->nports; l++) {
    if (strcmp(role->ports[l].label, "ssh") == 0)
      return role->ports[l].count > 0 ? ports[0] : 0;
    ports += role->ports[l].count;
  }
  return 0;
}

static int find_job(const pai__pjob **out, const pai_platform *p,
                    pai_job_id job, pai_error **err)
{
  *out = pai__platform_find_job(p, job);
  if (*out != NULL && (*out)->job.state != PAI__JOB_DONE)
    return PAI_OK;
  return pai__fail(err, PAI_ENOTFOUND, "the job is over");
}

static int no_sshd(const pai__pjob *j, pai_error **err)
{
  (void)pai__fail(err, PAI_ENOTFOUND, "no task of %s has a sshd", j->name);
  pai__error_help(err, "the runtime plugin ssh starts one in each task that "
                       "runs");
  return PAI_ENOTFOUND;
}

/* --- replies -------------------------------------------------------------- */

static void write_task(pai__reply *a, const reader *r, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(&r->j->job)[task];
  char port[16];

  (void)snprintf(port, sizeof(port), "%u", port_of(r->j, task));
  pai__json_begin_object(&a->w);
  pai__json_member(&a->w, "taskRole");
  (void)pai__reply_role(a, r->j->spec->roles[t->role].name);
  pai__json_put_int(&a->w, "taskIndex", t->index);
  pai__json_put_text(&a->w, "sshUser", r->user);
  pai__json_put_text(&a->w, "sshIp",
                     pai__shown_ip(a->p, r->j->places[task].ip));
  pai__json_put_text(&a->w, "sshPort", port);
  pai__json_put_text(&a->w, "hostKey", r->text.data);
  pai__json_end_object(&a->w);
}

/* Writes the tasks with a sshd: *n is their number, *some one of them. */
static int write_tasks(pai__reply *a, reader *r, uint32_t *n, uint32_t *some)
{
  int rc = PAI_OK;

  *n = 0;
  for (uint32_t t = 0; rc != PAI_ENOMEM && t < r->j->job.ntasks; t++) {
    if (!runs(r->j, t))
      continue;
    rc = read_of_task(r, t, "host_key.pub");
    if (rc < 0)
      continue;
    cut_line(&r->text);
    write_task(a, r, t);
    *some = t;
    ++*n;
  }
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

static int write_how(pai__reply *a, reader *r)
{
  uint32_t n, some = 0;
  int rc;

  pai__json_begin_object(&a->w);
  pai__json_put_array(&a->w, "containers");
  rc = write_tasks(a, r, &n, &some);
  pai__json_end_array(&a->w);
  if (rc < 0)
    return pai__oom(a->err);
  if (n == 0)
    return no_sshd(r->j, a->err);
  rc = read_shared(r, some, "key.pub");
  if (rc == PAI_ENOMEM)
    return pai__oom(a->err);
  if (rc == PAI_OK)
    cut_line(&r->text);
  pai__json_put_text(&a->w, "publicKey", rc == PAI_OK ? r->text.data : NULL);
  pai__json_end_object(&a->w);
  return PAI_OK;
}

static int no_key(const pai__pjob *j, pai_error **err)
{
  (void)pai__fail(err, PAI_ENOTFOUND, "job %s has no key of its own", j->name);
  pai__error_help(err, "the runtime plugin ssh makes one for jobssh, while "
                       "tasks run; else its user's own key opens");
  return PAI_ENOTFOUND;
}

static int write_key(pai__reply *a, reader *r)
{
  int rc = PAI_ENOTFOUND;

  for (uint32_t t = 0; rc == PAI_ENOTFOUND && t < r->j->job.ntasks; t++)
    if (runs(r->j, t))
      rc = read_shared(r, t, "key");
  if (rc < 0)
    return rc == PAI_ENOMEM ? pai__oom(a->err) : no_key(r->j, a->err);
  pai__json_begin_object(&a->w);
  pai__json_put_text(&a->w, "privateKey", r->text.data);
  pai__json_end_object(&a->w);
  return PAI_OK;
}

static int answer(pai_platform *p, pai_job_id job, pai_write_cb write,
                  void *user_data, pai_error **err,
                  int (*what)(pai__reply *a, reader *r))
{
  const pai__pjob *j;
  pai__reply a;
  reader r;
  int rc = pai__reply_open(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  rc = find_job(&j, p, job, err);
  if (rc == PAI_OK) {
    rc = reader_begin(&r, j, err);
    if (rc == PAI_OK)
      rc = what(&a, &r);
    reader_end(&r);
  }
  return pai__reply_end(&a, rc);
}

int pai_platform_ssh(pai_platform *p, pai_job_id job, pai_write_cb write,
                     void *user_data, pai_error **err)
{
  return answer(p, job, write, user_data, err, write_how);
}

int pai_platform_ssh_key(pai_platform *p, pai_job_id job, pai_write_cb write,
                         void *user_data, pai_error **err)
{
  return answer(p, job, write, user_data, err, write_key);
}
