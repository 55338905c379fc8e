/* submit.c - submission of jobs: they are accepted, or refused with a reason */
#include "platform/apart.h"
#include "platform/files/code.h"
#include "platform/files/folders.h"
#include "platform/place/impossible.h"
#include "platform/restore/resubmit.h"
#include "platform/records/record.h"
#include "platform/place/shares.h"
#include "platform/place/skus.h"
#include "platform/files/storages.h"
#include "platform/place/vcs.h"

#include "base/os/posix_fs.h"

enum { LONGEST_USER = 64, LONGEST_NAME = 180 };

typedef struct submission {
  pai_platform *p;
  pai_spec *spec;
  pai_submit_options o;
  const char *name; /* of the job */
  pai_spec *filled; /* spec with another job's secrets, or NULL */
  char *text;       /* file of `filled` */
} submission;

/* --- checks --------------------------------------------------------------- */

static bool is_name_char(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/* Checks the name of a user or job, which is a part of paths and USER~NAME. */
static int check_part(const char *what, const char *text, size_t longest,
                      pai_error **err)
{
  size_t len = 0;

  while (is_name_char(text[len]))
    len++;
  if (text[len] == '\0' && len > 0 && len <= longest && text[0] != '.')
    return PAI_OK;
  (void)pai__fail(err, PAI_EINVAL, "'%.64s' cannot be the name of a %s", text,
                  what);
  pai__error_help(err,
                  "names have 1 to %zu letters, digits, -, _ and ., and do "
                  "not begin with a dot",
                  longest);
  return PAI_EINVAL;
}

static int on_taken(void *user_data, const pai__job_row *row)
{
  *(pai_job_id *)user_data = row->id;
  return PAI_OK;
}

bool pai__is_dropped(const pai_platform *p, pai_job_id id)
{
  return pai__map_get(&p->dropped, &id, sizeof(id)) != NULL;
}

static int check_free(const submission *s, pai_error **err)
{
  const pai_platform *p = s->p;
  const pai__pjob *j = pai__platform_find_named(p, s->o.user, s->name);
  pai_job_id id = j != NULL ? j->id : 0;
  int rc;

  if (id == 0 && pai__store_is_new_name(p->store, s->o.user, s->name))
    return PAI_OK;
  rc = id != 0 ? PAI_OK
               : pai__store_job_named(p->store, s->o.user, s->name, on_taken,
                                      &id, err);
  if (rc == PAI_ENOTFOUND || (rc == PAI_OK && pai__is_dropped(p, id))) {
    if (err != NULL) {
      pai_error_free(*err);
      *err = NULL;
    }
    return PAI_OK;
  }
  if (rc < 0)
    return rc;
  (void)pai__fail(err, PAI_EEXISTS, "%s has a job %s already", s->o.user,
                  s->name);
  pai__error_help(err, "choose another name, or remove that job");
  return PAI_EEXISTS;
}

static int check(submission *s, const pai_submit_options *opts,
                 pai_error **err)
{
  pai_platform *p = s->p;
  int rc = PAI__OPTIONS_IN(&s->o, opts, pai_submit_options, work_dir);

  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_submit_options");
  if (s->o.user == NULL)
    s->o.user = p->user;
  s->name = s->o.name != NULL ? s->o.name : pai_spec_name(s->spec);
  if (p->closing)
    return pai__fail(err, PAI_EBUSY, "the platform is closing");
  if (s->spec->obstacle != NULL)
    return pai__fail(err, PAI_EINVAL, "the job cannot be run: %s",
                     s->spec->obstacle);
  rc = pai__storages_are_there(p, s->spec, s->o.user, err);
  if (rc == PAI_OK)
    rc = pai__skus_check(p, s->spec, err);
  if (rc < 0)
    return rc;
  if (p->store == NULL)
    return s->o.like == 0 ? PAI_OK : pai__no_records(err);
  if (p->failing) {
    (void)pai__fail(err, PAI_EIO,
                    "no job is taken while the database cannot be written: %s",
                    pai_error_message(p->trouble));
    pai__error_retriable(err);
    return PAI_EIO;
  }
  if (pai__commit_disk_is_full(p)) {
    (void)pai__fail(err, PAI_EIO,
                    "no job is taken while the disk of %s is full", p->root);
    pai__error_help(err,
                    "remove files, or jobs that are over: openpai rm JOB");
    pai__error_retriable(err);
    return PAI_EIO;
  }
  rc = check_part("user", s->o.user, LONGEST_USER, err);
  if (rc == PAI_OK)
    rc = check_part("job", s->name, LONGEST_NAME, err);
  return rc == PAI_OK ? check_free(s, err) : rc;
}

/* --- folders -------------------------------------------------------------- */

static int make_new_dir(pai__pjob *j, pai_error **err)
{
  const pai_alloc *alloc = &j->platform->alloc;
  char *path = pai__fs_join(j->platform->jobs_dir, j->name, alloc);
  int rc = path != NULL ? pai__fs_make_new_dir(&j->dir, path, alloc, err)
                        : pai__oom(err);

  pai__strfree(alloc, path);
  return rc;
}

/* Moves away a folder of an unknown job, as after the loss of a database.  The
 * job's folder is made only with that of its first task, which makes
 * submissions faster. */
static int clear_own_dir(pai__pjob *j, pai_error **err)
{
  pai_platform *p = j->platform;
  char *dir = pai__platform_path(p, "jobs", j->user, j->name);
  int rc = PAI_OK;

  if (dir == NULL)
    return pai__oom(err);
  if (pai__code_is_leaving(p, dir)) {
    rc = pai__fail(
      err, PAI_EBUSY,
      "the folder of an earlier job of this name is still being removed: %s",
      dir);
    pai__error_retriable(err);
  } else if (!pai__folders_are_known(p) ||
             !pai__store_is_new_name(p->store, j->user, j->name))
    rc = pai__platform_set_aside(p, dir, strrchr(dir, '/') + 1, err);
  if (rc < 0) {
    pai__strfree(&p->alloc, dir);
    return rc;
  }
  j->dir = dir;
  return PAI_OK;
}

/* Does not check the folder: only the task sees it as its user does. */
static int keep_work_dir(pai__pjob *j, const char *path, pai_error **err)
{
  if (path == NULL)
    return PAI_OK;
  if (path[0] != '/')
    return pai__fail(
      err, PAI_EINVAL,
      "the folder in which commands start is not an absolute path: %s", path);
  j->work_dir = pai__strdup(&j->platform->alloc, path);
  return j->work_dir != NULL ? PAI_OK : pai__oom(err);
}

/* Takes the working folder of the job that this one is to be like. */
static int find_like(pai__pjob *j, const submission *s, pai_error **err)
{
  pai__platform_like like;
  int rc = pai__like_find(&like, j->platform, s->o.like, err);

  if (rc == PAI_OK && like.has_code)
    rc = pai__fail(
      err, PAI_EINVAL,
      "the original job has a copy of its code, which must be copied too");
  if (rc == PAI_OK && like.work_dir != NULL && j->platform->system)
    rc = keep_work_dir(j, like.work_dir, err);
  else if (rc == PAI_OK && like.work_dir != NULL)
    rc =
      pai__fs_absolute(&j->work_dir, like.work_dir, &j->platform->alloc, err);
  pai__like_dispose(&like, j->platform);
  return rc;
}

static int find_work_dir(pai__pjob *j, const submission *s, pai_error **err)
{
  const pai_alloc *alloc = &j->platform->alloc;

  if (s->o.code_dir != NULL)
    return pai__platform_take_code(j, s->o.code_dir, err);
  if (s->o.like != 0 && s->o.work_dir == NULL)
    return find_like(j, s, err);
  if (s->o.work_dir == NULL &&
      (j->platform->store == NULL || pai__apart_is_another(j)))
    return PAI_OK; /* a job of another account begins in its home */
  if (j->platform->system)
    return keep_work_dir(j, s->o.work_dir, err);
  return pai__fs_absolute(
    &j->work_dir, s->o.work_dir != NULL ? s->o.work_dir : ".", alloc, err);
}

/* --- the file ------------------------------------------------------------- */

static int write_spec(pai__buf *out, const pai_spec *spec, int secrets,
                      pai_error **err)
{
  pai_spec_write_options o = PAI_SPEC_WRITE_OPTIONS_INIT;

  o.format = PAI_FORMAT_YAML;
  o.secrets = secrets;
  return pai_spec_write(spec, &o, pai__buf_write, out, err);
}

/* Masks the file as the library writes it, without aliases into secrets. */
static int mask_anew(pai__buf *out, const pai_spec *spec, pai_error **err)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_spec *again = NULL;
  pai__buf text;
  int rc;

  o.alloc = out->alloc;
  pai__buf_init(&text, out->alloc);
  rc = write_spec(&text, spec, 1, err);
  if (rc == PAI_OK && !pai__buf_ok(&text))
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = pai_spec_parse(&again, text.data, text.len, &o, err);
  if (rc == PAI_OK && !pai__spec_masked_text(out, again))
    rc = pai__buf_ok(out) ? write_spec(out, spec, 0, err) : pai__oom(err);
  pai_spec_unref(again);
  pai__buf_dispose(&text);
  return rc;
}

/* Tells whether the text is the file that this spec was read from. */
static bool is_own_file(const submission *s, const char *text, size_t len)
{
  const pai__tree *own = s->spec->tree;

  return text == s->o.text && own->len == len &&
         memcmp(own->text, text, len) == 0;
}

/* Masks secrets.  The file of this spec keeps its lines, and without secrets it
 * is unchanged.  *out is `text`, or in `into`. */
static int mask(const char **out, pai__buf *into, const submission *s,
                const char *text, size_t len, pai_error **err)
{
  int rc = PAI_OK;

  *out = text;
  if (!is_own_file(s, text, len))
    rc = mask_anew(into, s->spec, err);
  else if (s->spec->usual && s->spec->secrets.len == 0)
    return PAI_OK;
  else if (!pai__spec_masked_text(into, s->spec))
    rc = pai__buf_ok(into) ? mask_anew(into, s->spec, err) : pai__oom(err);
  if (rc == PAI_OK && !pai__buf_ok(into))
    rc = pai__oom(err);
  *out = rc == PAI_OK ? pai__buf_text(into) : NULL;
  return rc;
}

static int record_file(pai__pjob *j, const submission *s, pai_error **err)
{
  const char *text = s->o.text, *masked = NULL;
  pai__buf written, into;
  int rc = PAI_OK;

  pai__buf_init(&written, &j->platform->alloc);
  pai__buf_init(&into, &j->platform->alloc);
  if (text == NULL) {
    rc = write_spec(&written, s->spec, 1, err);
    if (rc == PAI_OK && !pai__buf_ok(&written))
      rc = pai__oom(err);
    if (rc == PAI_OK)
      text = pai__buf_text(&written);
  }
  if (rc == PAI_OK)
    rc = mask(&masked, &into, s, text, strlen(text), err);
  if (rc == PAI_OK)
    rc = pai__record_new_job(j, text, strlen(text), masked, err);
  pai__buf_dispose(&written);
  pai__buf_dispose(&into);
  return rc;
}

/* --- submission ----------------------------------------------------------- */

static bool may_wait(const submission *s)
{
  return s->o.impossible == PAI_IMPOSSIBLE_WAITS ||
         (s->o.impossible == PAI_IMPOSSIBLE_AS_PLATFORM &&
          s->p->wait_impossible);
}

static int ask_for_room(pai__pjob *j, const submission *s, pai_error **err)
{
  int rc = pai__platform_ask(j, err);

  return rc == PAI_ENOROOM && may_wait(s) ? pai__impossible_note(j, err) : rc;
}

/* Changes files and the batch last, so that a refused job leaves nothing. */
static int take(pai__pjob *j, const submission *s, pai_error **err)
{
  pai_platform *p = j->platform;
  int rc;

  j->fresh = true;
  j->commit = p->commits + 1;
  j->submitted = j->created = j->latest.created = pai__loop_wall_time();
  if (pai__job_init(&j->job, &p->alloc, &j->form, p->seed + j->id) < 0)
    return pai__oom(err);
  rc = pai__vcs_check(j, err);
  if (rc == PAI_OK)
    rc = pai__apart_check_runtime(j, err);
  if (rc == PAI_OK)
    rc = pai__apart_check_folders(j, err);
  if (rc == PAI_OK)
    rc = pai__share_read(j, err);
  if (rc == PAI_OK)
    rc = pai__platform_make_tasks(j, err);
  if (rc == PAI_OK)
    rc = ask_for_room(j, s, err);
  if (rc == PAI_OK && pai__platform_add(j) < 0)
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = p->store != NULL ? clear_own_dir(j, err) : make_new_dir(j, err);
  if (rc == PAI_OK)
    rc = find_work_dir(j, s, err);
  if (rc == PAI_OK && s->o.code_dir == NULL)
    rc = pai__apart_check_work_dir(j, err);
  if (rc == PAI_OK && p->store != NULL)
    rc = record_file(j, s, err);
  return rc;
}

/* Replaces "******" in the file by the other job's secrets. */
static int fill(submission *s, pai_error **err)
{
  int rc = pai__like_fill(&s->filled, &s->text, s->p, s->o.like, s->spec,
                          s->o.text, err);

  if (rc == PAI_OK && s->filled != NULL) {
    s->spec = s->filled;
    s->o.text = s->text;
  }
  return rc;
}

/* Leaves the code in its place, so that the caller can try again. */
static void undo(pai__pjob *j, const submission *s)
{
  if (s->o.code_dir != NULL)
    pai__platform_give_code_back(j, s->o.code_dir);
  pai__platform_unqueue(j);
  pai__platform_remove(j);
  pai__platform_free_job(j);
}

int pai_platform_submit_as(pai_job_id *job, pai_platform *p, pai_spec *spec,
                           const pai_submit_options *opts, pai_error **err)
{
  submission s = { .p = p, .spec = spec };
  pai__pjob *j = NULL;
  int rc;

  PAI__CHECK_ARG_ERR(job != NULL, err);
  *job = 0;
  PAI__CHECK_ARG_ERR(p != NULL && spec != NULL, err);
  PAI__CHECK_PROCESS(p, err);
  rc = check(&s, opts, err);
  if (rc == PAI_OK)
    rc = fill(&s, err);
  if (rc < 0)
    return rc;
  rc = pai__platform_make_job(&j, p, s.spec, s.o.user, s.name, p->last_id + 1,
                              err);
  if (rc == PAI_OK)
    rc = take(j, &s, err);
  pai_spec_unref(s.filled);
  pai__strfree(&p->alloc, s.text);
  if (rc < 0) {
    if (j != NULL)
      undo(j, &s);
    return rc;
  }
  p->last_id = j->id;
  p->counts.submitted++;
  pai__platform_put(j, PAI__CHANGED);
  *job = j->id;
  return PAI_OK;
}

int pai_platform_submit(pai_job_id *job, pai_platform *p, pai_spec *spec,
                        pai_error **err)
{
  return pai_platform_submit_as(job, p, spec, NULL, err);
}

/* Only the submitter knows this job, and its pai_platform_sync() fails. */
void pai__platform_withdraw(pai__pjob *j)
{
  pai__platform_unqueue(j);
  pai__platform_give_code_back(j, NULL);
  pai__log_line(&j->platform->log, PAI_LOG_WARNING,
                "job %s~%s is not taken after all", j->user, j->name);
  pai__platform_let_go(j);
}
