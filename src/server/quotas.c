/*
 * quotas.c - limits of users: shown, set, and held to
 *
 * Room account has the numbers, the platform what a user has.
 */
#include "server/quotas.h"

#include "server/upload.h"

/* --- held to ---------------------------------------------------------------------- */

/* How many of that kind the caller may have; PAI_QUOTA_NONE: any number. */
static int64_t quota_of(const pai__request *r, int kind)
{
  return r->caller.self
           ? PAI_QUOTA_NONE
           : pai_accounts_quota(r->server->accounts, r->caller.name, kind);
}

/* With `later` there may be room when other jobs are over. */
static bool refuse(pai__request *r, int kind, int64_t most, bool later)
{
  pai__answer_error(r, later ? 429 : 403, "NoEnoughQuotaError",
                    "%s may have %lld %s at a time%s.", r->caller.name,
                    (long long)most, pai_quota_name(kind),
                    later ? ": wait until some are over"
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

/* --- what was uploaded --------------------------------------------------------- */

/* A folder of code that no job has yet, or what was sent into one of a job. */
struct pai__kept_upload {
  struct pai__kept_upload *next;
  char *user, *dir; /* dir: NULL: the job's */
  pai_job_id job;
  uint64_t bytes;
};

static void drop(pai_server *s, struct pai__kept_upload **at)
{
  struct pai__kept_upload *one = *at;

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

static bool is_there(const pai_server *s, const struct pai__kept_upload *one)
{
  return one->dir != NULL
           ? pai__upload_is_there(one->dir)
           : pai_platform_job_state(NULL, s->platform, one->job) >= 0;
}

/* What a job has taken, or was swept away, and jobs that were removed. */
static void drop_gone(pai_server *s)
{
  for (struct pai__kept_upload **at = &s->uploaded; *at != NULL;)
    if (is_there(s, *at))
      at = &(*at)->next;
    else
      drop(s, at);
}

/* The entry of that folder, or of what the user sent to that job; or NULL: then
 * it is the end of the list. */
static struct pai__kept_upload **find(pai_server *s, const char *user,
                                      const char *dir, pai_job_id job)
{
  struct pai__kept_upload **at = &s->uploaded;

  while (*at != NULL &&
         (dir != NULL ? (*at)->dir == NULL || strcmp((*at)->dir, dir) != 0
                      : (*at)->dir != NULL || (*at)->job != job ||
                          user == NULL || strcmp((*at)->user, user) != 0))
    at = &(*at)->next;
  return at;
}

/* Those that are gone are looked for when the list has grown to twice its
 * length. */
static void keep_short(pai_server *s)
{
  size_t n = 0;

  for (const struct pai__kept_upload *x = s->uploaded; x != NULL; x = x->next)
    n++;
  if (n >= 16 && (n & (n - 1)) == 0)
    drop_gone(s);
}

static struct pai__kept_upload *add(const pai__request *r, const char *dir,
                                    pai_job_id job)
{
  pai_server *s = r->server;
  struct pai__kept_upload *one = pai__zalloc(&s->alloc, sizeof(*one));

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

  for (const struct pai__kept_upload *one = r->server->uploaded; one != NULL;
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
  struct pai__kept_upload *one = *find(r->server, NULL, dir, 0);

  if (one == NULL && (one = add(r, dir, 0)) == NULL)
    return false;
  one->bytes = bytes;
  return pai__quota_may_upload(r, 0);
}

bool pai__quota_has_sent(const pai__request *r, pai_job_id job, int64_t bytes)
{
  struct pai__kept_upload *one = *find(r->server, r->caller.name, NULL, job);

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

/* Without memory for it they count no more. */
void pai__quota_move_sent(pai_server *s, pai_job_id job, const char *dir)
{
  for (struct pai__kept_upload *one = s->uploaded; one != NULL;
       one = one->next)
    if (one->dir == NULL && one->job == job)
      one->dir = pai__strdup(&s->alloc, dir);
}

void pai__quota_drop_code(pai_server *s, const char *dir)
{
  struct pai__kept_upload **at = find(s, NULL, dir, 0);

  if (*at != NULL)
    drop(s, at);
}

void pai__quota_refuse_upload(pai__request *r)
{
  pai__answer_error(r, 403, "NoEnoughQuotaError",
                    "%s has uploaded as much as the quota allows: submit jobs "
                    "with code that no job has yet, remove jobs that files "
                    "were sent to, or wait an hour.",
                    r->caller.name);
}

/* --- shown, set -------------------------------------------------------------------- */

/* The user that the path names; NULL: it names none. */
static const char *user_of(const pai__request *r)
{
  return strstr(r->route->path, "/:username/") != NULL ? r->params[0] : NULL;
}

static void do_show(pai__request *r)
{
  const char *user = user_of(r);
  pai_error *err = NULL;
  int rc;

  if (user != NULL && !r->caller.admin && strcmp(user, r->caller.name) != 0) {
    pai__answer_forbidden(r, "You may do this only with your own account.");
    return;
  }
  rc = pai_accounts_write_quota(r->server->accounts, user, pai__answer_write,
                                &r->answer, &err);
  pai__answer_written(r, rc, err);
}

/* Of which kind the field is; PAI_QUOTAS: of none. */
static int kind_of(const char *name)
{
  int kind = 0;

  while (kind < PAI_QUOTAS && strcmp(pai_quota_name(kind), name) != 0)
    kind++;
  return kind;
}

static void do_set(pai__request *r)
{
  pai__tree_walk walk = pai__tree_iter(r->form, 0);
  const char *user = user_of(r);
  pai_error *err = NULL;
  pai__node key;
  int rc = PAI_OK;

  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = pai_accounts_set_quota(
      r->server->accounts, user, kind_of(pai__tree_str(r->form, key, NULL)),
      pai__tree_int(r->form, pai__tree_value(r->form, key)), &err);
  r->said = "Update quota successfully.";
  pai__answer_changed(r, rc, err);
}

/* --- bodies, answers --- */

#define LIMIT(n)                                                  \
  {                                                               \
    .name = (n), .kind = PAI__IS_WHOLE, .least = PAI_QUOTA_USUAL, \
    .most = PAI__MOST_WHOLE                                       \
  }

static const pai__field limits[] = { LIMIT("jobs"),      LIMIT("tasks"),
                                     LIMIT("streams"),   LIMIT("uploads"),
                                     LIMIT("processes"), { 0 } };

static const pai__field quota_fields[] = {
  PAI__HAS(WHOLE, "jobs"),      PAI__HAS(WHOLE, "tasks"),
  PAI__HAS(WHOLE, "streams"),   PAI__HAS(WHOLE, "uploads"),
  PAI__HAS(WHOLE, "processes"), { 0 }
};

static const pai__shape quota_shape = { "Quota", quota_fields };

static const pai__result quota = { .kind = PAI__IS_OBJECT,
                                   .shape = &quota_shape };

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/quota",
    .handle = do_show,
    .right = PAI__OF_USERS,
    .result = &quota,
    .summary = "Get the default limits of users" },
  { .method = "PUT",
    .path = "/api/v2/quota",
    .handle = do_set,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = limits,
    .status = 201,
    .summary = "Set the default limits of users" },
  { .method = "GET",
    .path = "/api/v2/users/:username/quota",
    .handle = do_show,
    .right = PAI__OF_USERS,
    .result = &quota,
    .summary = "Get the limits of a user; -1 is no limit",
    .errors = "404 NoUserError" },
  { .method = "PUT",
    .path = "/api/v2/users/:username/quota",
    .handle = do_set,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = limits,
    .status = 201,
    .summary = "Set the limits of a user; -1 is no limit, -2 the default",
    .errors = "404 NoUserError" },
};

const pai__routes pai__quota_routes = { routes, PAI__LEN(routes) };
