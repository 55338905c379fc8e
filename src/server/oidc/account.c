/*
 * account.c - accounts of users who log in at the provider
 *
 * An account has the name before the last '@' of the mail address, as with
 * OpenPAI.  Two people may have such an address, so the account stores whom it
 * was made for, and admits nobody else.
 */
#include "server/oidc/provider.h"

#include "base/text/encode.h"

#include <gnutls/crypto.h>
#include <string.h>

enum { HASH = 64 }; /* size of a hash that no password has */

static const char admins[] = "admingroup";

/* --- the user's current state -------------------------------------------- */

/* Returns the user as JSON, as the user sees it; NULL on failure. */
pai__tree *pai__oidc_user(pai_server *s, const char *name)
{
  pai__buf json;

  pai__buf_init(&json, &s->alloc);
  (void)!pai_accounts_write_user(s->accounts, name, name, pai__answer_write,
                                 &json, NULL);
  return pai__written_tree(&json);
}

/* Returns whether the account belongs to the person.  An account made before
 * is matched by its mail address. */
static bool is_theirs(const pai__pending_login *v, const pai__tree *user,
                      const char *mail)
{
  pai__node extension = pai__tree_get(user, 0, "extension");
  pai__node oidc = pai__tree_get(user, extension, "oidc");
  const char *had = pai__claim_text(user, 0, "email"), *iss, *sub;

  if (oidc == PAI__NO_NODE)
    return had != NULL && had[0] != '\0' && mail != NULL &&
           strcmp(had, mail) == 0;
  iss = pai__claim_text(user, oidc, "iss");
  sub = pai__claim_text(user, oidc, "sub");
  return iss != NULL && sub != NULL && strcmp(iss, v->o->said.issuer) == 0 &&
         strcmp(sub, pai__claim_text(v->claims, 0, "sub")) == 0;
}

/* --- groups -------------------------------------------------------------- */

/* Adds the platform's groups whose external name is in the claim, except the
 * administrators' group if rules decide about it.  Returns their number, or a
 * negative code. */
static int put_groups(pai__pending_login *v, pai__json_writer *w)
{
  pai_server *s = v->o->server;
  pai__tree_walk walk;
  pai__tree *t;
  pai__node n;
  pai__buf json;
  int rc, found = 0;

  pai__buf_init(&json, &s->alloc);
  rc = pai_accounts_write_groups(s->accounts, pai__answer_write, &json, NULL);
  t = pai__written_tree(&json);
  if (rc < 0 || t == NULL)
    return rc < 0 ? rc : PAI_ENOMEM;
  walk = pai__tree_iter(t, 0);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *outside = pai__tree_look_text(t, n, "externalName", "");
    const char *name = pai__tree_look_text(t, n, "groupname", NULL);

    if (outside[0] == '\0' || name == NULL ||
        (v->admin && strcmp(name, admins) == 0) ||
        !pai__claims_have(v->claims, v->o->said.groups_claim, outside))
      continue;
    pai__json_string(w, name);
    found++;
  }
  pai__tree_free(t);
  return found;
}

/* --- answer -------------------------------------------------------------- */

/* Adds a user whom the rules make an administrator to the administrators'
 * group. */
static void make_admin(pai__pending_login *v)
{
  pai_server *s = v->o->server;
  const char *name = pai__buf_text(&v->user);
  pai_error *err = NULL;

  if (!v->admin)
    return;
  if (pai_accounts_is_admin(s->accounts, name) == 0 &&
      pai_accounts_set_member(s->accounts, name, admins, 1, &err) < 0)
    pai__log_line(&s->log, PAI_LOG_WARNING,
                  "cannot make %s an administrator: %s", name,
                  pai_error_message(err));
  else if (!v->was_admin)
    pai__log_line(&s->log, PAI_LOG_INFO, "%s is an administrator", name);
  pai_error_free(err);
}

static void on_user(void *user_data, int status, const char *json, size_t len,
                    const pai_error *failure)
{
  pai__pending_login *v = user_data;

  (void)json;
  (void)len;
  if (status < 0) {
    pai__pending_login_fail(
      v, 500, "UnknownError", "The account of %s could not be created: %s",
      pai__buf_text(&v->user), pai_error_message(failure));
    return;
  }
  make_admin(v);
  if (v->challenge != NULL && pai__page_is_portal(v->page))
    pai__pending_login_open_portal(v);
  else if (v->challenge != NULL)
    pai__pending_login_ask(v);
  else
    pai__pending_login_hand_over(v);
}

/* --- account ------------------------------------------------------------- */

/* Writes a hash that no known password has. */
static bool put_hash(pai__json_writer *w)
{
  unsigned char bytes[HASH];
  char text[2 * HASH + 1];

  if (gnutls_rnd(GNUTLS_RND_KEY, bytes, sizeof(bytes)) < 0)
    return false;
  pai__put_hex(text, bytes, HASH);
  pai__json_put_text(w, "passwordHash", text);
  return true;
}

/* Returns PAI_OK; PAI_EPERM if the provider names none of our groups. */
static int write_account(pai__pending_login *v, pai__buf *json,
                         const char *mail, bool is_new)
{
  pai__json_writer w;
  int rc = 1;

  pai__json_writer_init(&w, json, false);
  pai__json_begin_object(&w);
  pai__json_put_text(&w, "username", pai__buf_text(&v->user));
  pai__json_put_known(&w, "email", mail);
  if (v->o->said.groups_claim != NULL || is_new) {
    pai__json_put_array(&w, "grouplist");
    if (v->o->said.groups_claim != NULL)
      rc = put_groups(v, &w);
    else
      pai__json_text(&w, "default", 7);
    /* in the same update, so that an administrator is one all the time */
    if (v->admin)
      pai__json_string(&w, admins);
    pai__json_end_array(&w);
  }
  pai__json_write(&w, "extension:{oidc:{iss:s,sub:s}}", v->o->said.issuer,
                  pai__claim_text(v->claims, 0, "sub"));
  if (is_new && !put_hash(&w))
    rc = PAI_EIO;
  pai__json_end_object(&w);
  if (pai__json_finish(&w) < 0)
    rc = PAI_ENOMEM;
  if (rc == 0 && v->admin)
    rc = 1; /* the administrators' group is enough */
  return rc > 0 ? PAI_OK : rc == 0 ? PAI_EPERM : rc;
}

static void put_account(pai__pending_login *v, const char *mail, bool is_new)
{
  pai_error *err = NULL;
  pai__buf json;
  int rc;

  pai__buf_init(&json, &v->o->server->alloc);
  rc = write_account(v, &json, mail, is_new);
  if (rc == PAI_EPERM) {
    pai__pending_login_fail(v, 403, "ForbiddenUserError",
                            "%s is not in a group that may use this platform.",
                            pai__buf_text(&v->user));
  } else {
    if (rc == PAI_OK)
      rc = pai_accounts_put_user(
        v->o->server->accounts, pai__buf_text(&json), json.len,
        PAI_PUT_PROVIDED | (is_new ? PAI_PUT_CREATE : 0), on_user, v, &err);
    if (rc < 0)
      pai__pending_login_fail(
        v, 500, "UnknownError", "The account of %s could not be created: %s",
        pai__buf_text(&v->user),
        err != NULL ? pai_error_message(err) : "no memory");
  }
  pai_error_free(err);
  pai__buf_dispose(&json);
}

/* Returns whether the settings' lists allow the user. */
static bool is_listed(const pai__pending_login *v)
{
  const pai__oidc_settings *s = &v->o->said;
  const char *claim = s->groups_claim != NULL ? s->groups_claim : "groups";

  return v->admin || (s->domains != NULL && strcmp(s->domains, "*") == 0) ||
         pai__claims_have_domain(v->claims, s->domains) ||
         pai__claims_have_any(v->claims, claim, s->groups);
}

/* Without lists, users with an account may enter, and new users may not.  But
 * if groups come from the provider, the platform's groups serve as a list. */
static bool may_enter(const pai__pending_login *v, bool is_new)
{
  const pai__oidc_settings *s = &v->o->said;
  bool has_lists = s->domains != NULL || s->groups != NULL;

  return is_listed(v) || (!has_lists && (!is_new || s->groups_claim != NULL));
}

void pai__pending_login_enter(pai__pending_login *v)
{
  pai_server *s = v->o->server;
  const char *mail = NULL;
  pai__tree *user;
  bool theirs, is_new;

  if (!pai__claims_name(&v->user, &mail, v->claims)) {
    pai__pending_login_fail(v, 403, "ForbiddenUserError",
                            "The login provider sent no valid user name.");
    return;
  }
  v->admin = pai__claims_fit_any(v->claims, v->o->said.admins);
  v->was_admin =
    pai_accounts_is_admin(s->accounts, pai__buf_text(&v->user)) > 0;
  is_new = !pai_accounts_has_user(s->accounts, pai__buf_text(&v->user));
  if (!may_enter(v, is_new)) {
    pai__log_line(&s->log, PAI_LOG_WARNING,
                  "%s logged in at the provider, but is not allowed by the "
                  "settings domains and groups",
                  pai__buf_text(&v->user));
    pai__pending_login_fail(
      v, 403, "ForbiddenUserError",
      "%s may not use this platform: ask its administrator for access.",
      pai__buf_text(&v->user));
    return;
  }
  if (is_new) {
    put_account(v, mail, true);
    return;
  }
  user = pai__oidc_user(s, pai__buf_text(&v->user));
  theirs = user != NULL && is_theirs(v, user, mail);
  pai__tree_free(user);
  if (theirs)
    put_account(v, mail, false);
  else
    pai__pending_login_fail(v, 403, "ForbiddenUserError",
                            "The account %s already belongs to another user.",
                            pai__buf_text(&v->user));
}
