/*
 * quotas.c - limits of users: enforce, show, set
 *
 * Room account has the limits; the platform knows what a user has.
 */
#include "server/calls/quotas.h"

#include "server/calls/upload.h"

/* --- enforcing ----------------------------------------------------------- */

/* Returns the caller's limit of that kind; PAI_QUOTA_NONE: no limit. */
static int64_t quota_of(const pai__request *r, int kind)
{
  return r->caller.self
           ? PAI_QUOTA_NONE
           : pai_accounts_quota(r->server->accounts, r->caller.name, kind);
}

/* `later`: the call may succeed when other jobs are over. */
static bool refuse(pai__request *r, int kind, int64_t most, bool later)
{
  pai__answer_error(r, later ? 429 : 403, "NoEnoughQuotaError",
                    "%s may have %lld %s at a time%s.", r->caller.name,
                    (long long)most, pai_quota_name(kind),
                    later ? ": wait until some of them have ended"
                          : ", and this job alone has more");
  return false;
}

bool pai__quota_has_job(pai__request *r, uint64_t tasks)
{
  int64_t jobs = quota_of(r, PAI_QUOTA_JOBS);
  int64_t all = quota_of(r, PAI_QUOTA_TASKS);
  pai_usage used = { .struct_size = sizeof(used) };

  if (all >= 0 && tasks > (uint64_t)all)
    return refuse(r, PAI_QUOTA_TASKS, all, false);
  if ((jobs < 0 && all < 0) ||
      pai_platform_usage(r->server->platform, r->caller.name, &used) < 0)
    return true;
  if (jobs >= 0 && used.jobs >= (uint64_t)jobs)
    return refuse(r, PAI_QUOTA_JOBS, jobs, true);
  if (all >= 0 && used.tasks + tasks > (uint64_t)all)
    return refuse(r, PAI_QUOTA_TASKS, all, true);
  return true;
}

size_t pai__quota_streams(const pai__request *r)
{
  int64_t quota = quota_of(r, PAI_QUOTA_STREAMS);
  size_t most = quota >= 0 ? (size_t)quota : SIZE_MAX,
         all = r->server->most_streams_per_user;

  return all > 0 && all < most ? all : most;
}

/* --- uploads ------------------------------------------------------------- */

/* A folder of code that no job has yet, or uploads to the folder of a job. */
struct pai__user_upload {
  struct pai__user_upload *next;
  char *user, *dir; /* dir NULL: in the job's folder */
  pai_job_id job;
  uint64_t bytes;
};

static void drop(pai_server *s, struct pai__user_upload **at)
{
  struct pai__user_upload *one = *at;

  *at = one->next;
  pai__strfree(&s->alloc, one->user);
  pai__strfree(&s->alloc, one->dir);
  pai__free(&s->alloc, one, sizeof(*one));
}

void pai__quota_forget_uploads(pai_server *s)
{
  while (s->uploaded != NULL)
    drop(s, &s->uploaded);
}

static bool is_there(const pai_server *s, const struct pai__user_upload *one)
{
  return one->dir != NULL
           ? pai__upload_is_there(one->dir)
           : pai_platform_job_state(NULL, s->platform, one->job) >= 0;
}

/* Drops folders that a job took or that were swept away, and removed jobs. */
static void drop_gone(pai_server *s)
{
  for (struct pai__user_upload **at = &s->uploaded; *at != NULL;)
    if (is_there(s, *at))
      at = &(*at)->next;
    else
      drop(s, at);
}

/* Returns the link to the entry of that folder, or of the user's uploads to
 * that job.  If there is none, it is the end of the list and holds NULL. */
static struct pai__user_upload **find(pai_server *s, const char *user,
                                      const char *dir, pai_job_id job)
{
  struct pai__user_upload **at = &s->uploaded;

  while (*at != NULL &&
         (dir != NULL ? (*at)->dir == NULL || strcmp((*at)->dir, dir) != 0
                      : (*at)->dir != NULL || (*at)->job != job ||
                          user == NULL || strcmp((*at)->user, user) != 0))
    at = &(*at)->next;
  return at;
}

/* Drops entries that are gone when the list has doubled. */
static void keep_short(pai_server *s)
{
  size_t n = 0;

  for (const struct pai__user_upload *x = s->uploaded; x != NULL; x = x->next)
    n++;
  if (n >= 16 && (n & (n - 1)) == 0)
    drop_gone(s);
}

static struct pai__user_upload *add(const pai__request *r, const char *dir,
                                    pai_job_id job)
{
  pai_server *s = r->server;
  struct pai__user_upload *one = pai__zalloc(&s->alloc, sizeof(*one));

  if (one == NULL)
    return NULL;
  keep_short(s);
  one->next = s->uploaded;
  s->uploaded = one;
  one->job = job;
  one->user = pai__strdup(&s->alloc, r->caller.name);
  one->dir = dir != NULL ? pai__strdup(&s->alloc, dir) : NULL;
  if (one->user != NULL && (dir == NULL || one->dir != NULL))
    return one;
  drop(s, &s->uploaded);
  return NULL;
}

static uint64_t used_by(const pai__request *r)
{
  uint64_t used = 0;

  for (const struct pai__user_upload *one = r->server->uploaded; one != NULL;
       one = one->next)
    used += strcmp(one->user, r->caller.name) == 0 ? one->bytes : 0;
  return used;
}

bool pai__quota_may_upload(const pai__request *r, uint64_t bytes)
{
  int64_t most = quota_of(r, PAI_QUOTA_UPLOADS);
  uint64_t used;

  if (most < 0)
    return true;
  used = used_by(r);
  if (used > (uint64_t)most || bytes > (uint64_t)most - used) {
    drop_gone(r->server);
    used = used_by(r);
  }
  return used <= (uint64_t)most && bytes <= (uint64_t)most - used;
}

bool pai__quota_has_code(const pai__request *r, const char *dir,
                         uint64_t bytes)
{
  struct pai__user_upload *one = *find(r->server, NULL, dir, 0);

  if (one == NULL && (one = add(r, dir, 0)) == NULL)
    return false;
  one->bytes = bytes;
  return pai__quota_may_upload(r, 0);
}

bool pai__quota_has_sent(const pai__request *r, pai_job_id job, int64_t bytes)
{
  struct pai__user_upload *one = *find(r->server, r->caller.name, NULL, job);

  if (one == NULL && bytes <= 0)
    return true;
  if (one == NULL && (one = add(r, NULL, job)) == NULL)
    return false;
  if (bytes < 0 && one->bytes <= (uint64_t)-bytes)
    drop(r->server, find(r->server, r->caller.name, NULL, job));
  else
    one->bytes += (uint64_t)bytes;
  return pai__quota_may_upload(r, 0);
}

/* If out of memory, they no longer count. */
void pai__quota_move_sent(pai_server *s, pai_job_id job, const char *dir)
{
  for (struct pai__user_upload *one = s->uploaded; one != NULL;
       one = one->next)
    if (one->dir == NULL && one->job == job)
      one->dir = pai__strdup(&s->alloc, dir);
}

void pai__quota_drop_code(pai_server *s, const char *dir)
{
  struct pai__user_upload **at = find(s, NULL, dir, 0);

  if (*at != NULL)
    drop(s, at);
}

void pai__quota_refuse_upload(pai__request *r)
{
  pai__answer_error(
    r, 403, "NoEnoughQuotaError",
    "%s has reached the upload quota: submit the jobs for the uploaded code, "
    "remove jobs with uploaded files, or wait an hour.",
    r->caller.name);
}

/* --- show and set -------------------------------------------------------- */

/* Returns the user that the path names; NULL: none. */
static const char *user_of(const pai__request *r)
{
  return strstr(r->route->path, "/:username/") != NULL ? r->params[0] : NULL;
}

void pai__do_quota_show(pai__request *r)
{
  const char *user = user_of(r);

  if (user != NULL && !r->caller.admin && strcmp(user, r->caller.name) != 0) {
    pai__answer_forbidden(r, "You may do this only with your own account.");
    return;
  }
  pai__answer_written(r, pai_accounts_write_quota(r->server->accounts, user,
                                                  pai__answer_write,
                                                  &r->answer, &r->err));
}

/* Returns the kind of the field; PAI_QUOTAS: none. */
static int kind_of(const char *name)
{
  int kind = 0;

  while (kind < PAI_QUOTAS && strcmp(pai_quota_name(kind), name) != 0)
    kind++;
  return kind;
}

void pai__do_quota_set(pai__request *r)
{
  pai__tree_walk walk = pai__tree_iter(r->form, 0);
  const char *user = user_of(r);
  pai__node key;
  int rc = PAI_OK;

  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = pai_accounts_set_quota(
      r->server->accounts, user, kind_of(pai__tree_str(r->form, key, NULL)),
      pai__tree_int(r->form, pai__tree_value(r->form, key)), &r->err);
  pai__answer_changed(r, rc, "Update quota successfully.");
}
