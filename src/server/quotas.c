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

/* --- code that was uploaded --------------------------------------------------------- */

struct pai__kept_code {
  struct pai__kept_code *next;
  char *user, *dir;
  uint64_t bytes;
};

static void drop(pai_server *s, struct pai__kept_code **at)
{
  struct pai__kept_code *one = *at;

  *at = one->next;
  pai__strfree(&s->alloc, one->user);
  pai__strfree(&s->alloc, one->dir);
  pai__free(&s->alloc, one, sizeof(*one));
}

void pai__quota_forget_code(pai_server *s)
{
  while (s->codes != NULL)
    drop(s, &s->codes);
}

uint64_t pai__quota_code(const pai__request *r)
{
  int64_t most = quota_of(r, PAI_QUOTA_UPLOADS);
  pai_server *s = r->server;
  uint64_t used = 0;

  if (most < 0)
    return PAI__MOST_CODE;
  for (struct pai__kept_code **at = &s->codes; *at != NULL;)
    if (!pai__upload_is_there((*at)->dir)) {
      drop(s, at);
    } else {
      used += strcmp((*at)->user, r->caller.name) == 0 ? (*at)->bytes : 0;
      at = &(*at)->next;
    }
  used = used < (uint64_t)most ? (uint64_t)most - used : 0;
  return used < PAI__MOST_CODE ? used : PAI__MOST_CODE;
}

void pai__quota_keep_code(const pai__request *r, const char *dir,
                          uint64_t bytes)
{
  pai_server *s = r->server;
  struct pai__kept_code *one = pai__zalloc(&s->alloc, sizeof(*one));

  if (one == NULL)
    return;
  *one = (struct pai__kept_code){ .next = s->codes, .bytes = bytes };
  s->codes = one;
  one->user = pai__strdup(&s->alloc, r->caller.name);
  one->dir = pai__strdup(&s->alloc, dir);
  if (one->user == NULL || one->dir == NULL)
    drop(s, &s->codes);
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
    pai__answer_forbidden(r, "This is for one's own account alone.");
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
    .summary = "Limits of users who have none of their own" },
  { .method = "PUT",
    .path = "/api/v2/quota",
    .handle = do_set,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = limits,
    .status = 201,
    .summary = "Set limits of users who have none of their own" },
  { .method = "GET",
    .path = "/api/v2/users/:username/quota",
    .handle = do_show,
    .right = PAI__OF_USERS,
    .result = &quota,
    .summary = "Limits of a user: -1 is no limit",
    .errors = "404 NoUserError" },
  { .method = "PUT",
    .path = "/api/v2/users/:username/quota",
    .handle = do_set,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = limits,
    .status = 201,
    .summary = "Set limits of a user: -1 is no limit, -2 the one of all",
    .errors = "404 NoUserError" },
};

const pai__routes pai__quota_routes = { routes, PAI__LEN(routes) };
