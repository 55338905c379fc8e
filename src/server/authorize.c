/*
 * authorize.c - authentication and authorization of requests
 *
 * A token says which user sends a request.  Without a token, at the UNIX
 * socket, the kernel says so; on a platform of one user it is that user, who
 * may do everything.  A route says which right it needs; here it is checked
 * whether the user has it.
 */
#include "server/http/request.h"

#define GUEST "Guest is not allowed to do this operation."
#define INVALID "Your token is invalid."
#define PROGRAM "Applications are not allowed to do this operation."
#define NO_ADMIN "Non-admin is not allow to do this operation."

/* Smaller uids are system users.  Not persons either: uids that systemd
 * assigns to services, and "nobody". */
enum { LEAST_PERSON = 1000, LEAST_SERVICE = 61184, MOST_SERVICE = 65535 };

/* --- authentication ------------------------------------------------------ */

static bool refuse_unknown(pai__request *r, const char *why)
{
  pai__answer_error(r, 401, "UnauthorizedUserError", "%s", why);
  return false;
}

static bool ask_kernel(pai__request *r)
{
  pai_server *s = r->server;
  int rc = PAI_OK;

  if (s->system) {
    rc = pai__request_find_user(r);
  } else {
    r->caller.name = pai__strdup(&s->alloc, s->self != NULL ? s->self : "");
    r->caller.self = true;
  }
  if (rc == PAI_OK && r->caller.name == NULL)
    rc = PAI_ENOMEM;
  r->caller.owns = true;
  r->caller.scopes = PAI_SCOPE_ALL;
  r->caller.admin =
    r->caller.self || (rc == PAI_OK && s->accounts != NULL &&
                       pai_accounts_is_admin(s->accounts, r->caller.name));
  if (rc == PAI_ENOMEM)
    pai__answer_failure(r, rc);
  else if (rc == PAI_EIO)
    pai__answer_error(r, 500, "UnknownError",
                      "Cannot read this machine's list of users.");
  else if (rc < 0)
    pai__answer_error(r, 403, "ForbiddenUserError",
                      "Cannot determine the user of this connection.");
  return rc == PAI_OK;
}

static bool is_number(const char *name)
{
  return name[strspn(name, "0123456789")] == '\0';
}

/* Returns whether the user is "nobody" or a dynamic service user, whose uid is
 * shared or reused. */
static bool is_nobody(const pai__user *who)
{
  return (who->uid >= LEAST_SERVICE && who->uid <= MOST_SERVICE) ||
         strcmp(who->name, "nobody") == 0;
}

/* Returns whether the user is a person: not a system or service user, and not
 * just a number without a name. */
static bool is_person(const pai__user *who)
{
  return who->uid >= LEAST_PERSON && !is_nobody(who) && !is_number(who->name);
}

/* With a token, the caller acts as the machine's user of that name, if there
 * is one.  Only the kernel can say that a caller is root, a service or a bare
 * number: a token of such a name owns nothing. */
static int find_machine_user(pai__request *r)
{
  const pai_alloc *alloc = &r->server->alloc;
  int rc;

  r->who = pai__zalloc(alloc, sizeof(*r->who));
  if (r->who == NULL)
    return pai__oom(&r->err);
  rc = pai__user_by_name(r->who, r->caller.name, &r->err);
  r->caller.owns =
    rc == PAI_OK ? is_person(r->who) : !is_number(r->caller.name);
  if (rc == PAI_OK)
    return PAI_OK;
  pai__free(alloc, r->who, sizeof(*r->who));
  r->who = NULL;
  return rc;
}

static bool read_token(pai__request *r, const char *header)
{
  pai_identity id = PAI_IDENTITY_INIT;
  int rc = PAI_OK;

  if (r->server->accounts == NULL ||
      pai_accounts_authorize(&id, r->server->accounts, header) < 0)
    return refuse_unknown(r, INVALID);
  r->caller.name = pai__strdup(&r->server->alloc, id.user);
  r->caller.token = r->caller.owns = true;
  r->caller.scopes = id.scopes;
  r->caller.admin = id.admin != 0 && (id.scopes & PAI_SCOPE_ADMIN) != 0;
  r->caller.application = id.application != 0;
  r->caller.issued = id.issued;
  r->caller.expires = id.expires;
  if (r->caller.name == NULL)
    rc = pai__oom(&r->err);
  else if (r->server->system)
    rc = find_machine_user(r);
  if (rc == PAI_ENOMEM || rc == PAI_EIO) {
    pai__answer_failure(r, rc);
    return false;
  }
  pai_error_free(r->err); /* users unknown to this machine may read */
  r->err = NULL;
  return true;
}

/* A browser sends its cookie also to a signed URL, which holds without it. */
static bool identify(pai__request *r)
{
  const char *header = pai__conn_field(r->conn, "Authorization");
  pai__buf session;

  if (header != NULL)
    return read_token(r, header);
  if (r->route->is_signed && pai__request_query(r, "token") != NULL)
    return pai__signed_holds(r) || refuse_unknown(r, INVALID);
  pai__buf_init(&session, &r->server->alloc);
  r->caller.session = pai__session_header(&session, r);
  if (r->caller.session)
    (void)read_token(r, pai__buf_text(&session));
  else if (r->server->tokens || r->remote)
    (void)refuse_unknown(r, GUEST);
  else
    (void)ask_kernel(r);
  pai__buf_wipe(&session);
  return !r->ready;
}

static bool refuse_to_act(pai__request *r, const char *name, bool is_there)
{
  if (is_there)
    pai__answer_error(r, 403, "ForbiddenUserError",
                      "User %s of this machine is a system user: tokens of "
                      "system users are refused.",
                      name);
  else
    pai__answer_error(r, 403, "ForbiddenUserError",
                      "This machine has no user %s to run this as. Ask the "
                      "administrator to create the user.",
                      name);
  return false;
}

/* Commands and files use the machine's user of the caller's name. */
static bool may_act(pai__request *r)
{
  return !r->server->system ||
         (r->who != NULL && r->caller.owns && !is_nobody(r->who)) ||
         refuse_to_act(r, r->caller.name, r->who != NULL);
}

/* --- ownership of jobs --------------------------------------------------- */

/* Completes "name" to "user~name" of the caller. */
static bool complete_name(pai__request *r)
{
  pai__buf b;

  if (strchr(r->params[0], '~') != NULL ||
      (r->caller.self && !r->server->system)) /* the platform does that */
    return true;
  pai__buf_init(&b, &r->server->alloc);
  pai__buf_printf(&b, "%s~%s", r->caller.name, r->params[0]);
  pai__strfree(&r->server->alloc, r->job_name);
  r->job_name = pai__buf_take(&b);
  r->params[0] = r->job_name;
  if (r->job_name == NULL)
    pai__answer_failure(r, PAI_ENOMEM);
  return r->job_name != NULL;
}

/* Finds the owner of a job.  If a user of that name was removed, it depends on
 * the job's id.  This does not concern callers known by peer credentials. */
static const char *find_owner(const pai__request *r, const char *user,
                              const char *name)
{
  const pai_accounts *accounts = r->server->accounts;
  const char *owner = pai_accounts_owner(accounts, user, 0);
  pai_job_id job = 0;

  if (!r->caller.token || (owner != NULL && strcmp(owner, user) == 0))
    return user;
  if (pai_platform_find(&job, r->server->platform, name, NULL) < 0)
    return user; /* a missing job is reported later */
  return pai_accounts_owner(accounts, user, job);
}

static bool is_owner(const pai__request *r, const char *name)
{
  char user[PAI__USER_NAME];
  size_t len = strcspn(name, "~");
  const char *owner;

  if (!r->caller.owns || name[len] != '~' || len >= sizeof(user))
    return false;
  memcpy(user, name, len);
  user[len] = '\0';
  owner = find_owner(r, user, name);
  return owner != NULL && strcmp(owner, r->caller.name) == 0;
}

bool pai__request_is_own(const pai__request *r, const char *name)
{
  return r->caller.admin || is_owner(r, name);
}

/* On a platform of one user all known users see everything, as with
 * OpenPAI. */
bool pai__request_may_see(const pai__request *r, const char *name)
{
  return !r->server->system || pai__request_is_own(r, name);
}

bool pai__request_may_read(pai__request *r)
{
  if (!complete_name(r))
    return false;
  if (r->caller.granted || pai__request_may_see(r, r->params[0]))
    return true;
  pai__answer_error(
    r, 403, "ForbiddenUserError",
    "Job %s belongs to another user: %s may only see it in lists.",
    r->params[0], r->caller.name);
  return false;
}

bool pai__request_may_job(pai__request *r)
{
  if (!pai__request_may_read(r))
    return false;
  if (pai__request_is_own(r, r->params[0]))
    return true;
  pai__answer_error(r, 403, "ForbiddenUserError",
                    "Job %s belongs to another user: %s may only read it.",
                    r->params[0], r->caller.name);
  return false;
}

/* Secrets of a job are for its owner, not for administrators. */
static bool may_alone(pai__request *r)
{
  if (!pai__request_may_read(r))
    return false;
  if (is_owner(r, r->params[0]) || strchr(r->params[0], '~') == NULL)
    return true;
  pai__answer_error(
    r, 403, "ForbiddenUserError",
    "Job %s belongs to another user: only the owner may do this, not %s.",
    r->params[0], r->caller.name);
  return false;
}

/* With a token, nobody, not even an administrator, can start commands as a
 * system user. */
bool pai__request_may_enter(pai__request *r)
{
  const char *name = r->params[0];
  char owner[PAI__USER_NAME] = "";
  size_t len = strcspn(name, "~");
  pai__user user;
  int rc;

  if (!r->server->system || !r->caller.token ||
      (r->who != NULL && is_owner(r, name)))
    return true;
  if (len < sizeof(owner))
    memcpy(owner, name, len);
  rc = pai__user_by_name(&user, owner, &r->err);
  if (rc == PAI_EIO) {
    pai__answer_failure(r, rc);
    return false;
  }
  pai_error_free(r->err);
  r->err = NULL;
  return (rc == PAI_OK && is_person(&user)) ||
         refuse_to_act(r, owner, rc == PAI_OK);
}

/* For calls to the platform, where NULL is the user of this process. */
const char *pai__request_user(const pai__request *r)
{
  return r->caller.self ? NULL : r->caller.name;
}

/* --- authorization ------------------------------------------------------- */

void pai__answer_forbidden(pai__request *r, const char *why)
{
  pai__answer_error(r, 403, "ForbiddenUserError", "%s", why);
}

static bool refuse_scope(pai__request *r, const char *scope)
{
  pai__answer_error(r, 403, "ForbiddenUserError",
                    "This token lacks the scope \"%s\".", scope);
  return false;
}

static bool want_admin(pai__request *r)
{
  if (r->caller.admin)
    return true;
  if ((r->caller.scopes & PAI_SCOPE_ADMIN) == 0)
    return refuse_scope(r, "admin");
  (void)pai__fail(&r->err, PAI_EPERM, "%s", NO_ADMIN);
  pai__error_help(&r->err,
                  "only an administrator of this platform may do this, not %s",
                  r->caller.name);
  pai__answer_failure(r, PAI_EPERM);
  return false;
}

/* Checks the token's scopes. */
static bool has_scope(pai__request *r)
{
  const pai__api_route *route = r->route;
  bool reads = route->method != NULL && strcmp(route->method, "GET") == 0 &&
               !route->submits;

  if ((r->caller.scopes & (reads ? PAI_SCOPE_READ : PAI_SCOPE_SUBMIT)) != 0 ||
      route->right == PAI__OF_ADMIN || route->right == PAI__OF_ALERT_SENDERS)
    return true;
  return refuse_scope(r, reads ? "read" : "submit");
}

static bool is_for_persons(enum pai__api_right right)
{
  return right == PAI__OF_PERSONS || right == PAI__OF_ADMIN_PERSONS;
}

/* Like OpenPAI, the body is checked before the caller's right.  But if jobs
 * are private to their owners, the right is checked first, so that errors
 * reveal nothing. */
static bool is_told_by_head(const pai__request *r)
{
  enum pai__api_right right = r->route->right;

  return r->route->body == NULL || right == PAI__OF_ADMIN ||
         (r->server->system &&
          (right == PAI__OF_OWNER || right == PAI__OF_OWNER_ALONE ||
           right == PAI__OF_READERS));
}

/* A token for alerts gives no other right of an administrator. */
static bool may_send_alerts(pai__request *r)
{
  return ((r->caller.scopes & PAI_SCOPE_ALERTS) != 0 &&
          pai_accounts_is_admin(r->server->accounts, r->caller.name)) ||
         want_admin(r);
}

static bool may(pai__request *r)
{
  switch (r->route->right) {
  case PAI__OF_READERS: return pai__request_may_read(r);
  case PAI__OF_OWNER: return pai__request_may_job(r);
  case PAI__OF_OWNER_ALONE: return may_alone(r);
  case PAI__OF_ALL:
  case PAI__OF_USERS:
  case PAI__OF_PERSONS: return true;
  case PAI__OF_ALERT_SENDERS: return may_send_alerts(r);
  default: /* routes without a named right are for administrators */
    return want_admin(r);
  }
}

bool pai__request_may(pai__request *r)
{
  const pai__api_route *route = r->route;

  if (route->right == PAI__OF_ALL)
    return true;
  if (!identify(r))
    return false;
  if (is_for_persons(route->right) && r->caller.application) {
    pai__answer_forbidden(r, PROGRAM);
    return false;
  }
  if (!has_scope(r))
    return false;
  return (!route->acts || may_act(r)) && (!is_told_by_head(r) || may(r));
}

bool pai__request_may_do(pai__request *r)
{
  return is_told_by_head(r) || may(r);
}
