/*
 * oidc_account.c - the account of who has logged in at the provider
 *
 * It is called as the part of the address before the last '@', as with
 * OpenPAI.  Two people may have such an address: the account keeps who it was
 * made for, and lets in nobody else.
 */
#include "server/oidc.h"

#include <gnutls/crypto.h>
#include <string.h>

enum { HASH = 64 }; /* bytes of a password's hash that no password has */

static const char admins[] = "admingroup";

static void put_text(pai__json_writer *w, const char *key, const char *value)
{
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, value, strlen(value));
}

/* --- what is known of the user ---------------------------------------------------- */

/* The user as JSON, seen by him; NULL: that failed. */
static pai__tree *read_user(pai__visit *v)
{
  pai_server *s = v->o->server;
  const char *name = pai__buf_text(&v->user);
  const pai__json_options o = { .alloc = &s->alloc };
  pai__tree *t = NULL;
  pai_error *err = NULL;
  pai__buf json;

  pai__buf_init(&json, &s->alloc);
  if (pai_accounts_write_user(s->accounts, name, name, pai__answer_write,
                              &json, &err) < 0 ||
      pai__json_parse(&t, pai__buf_text(&json), json.len, &o, &err) < 0)
    t = NULL;
  pai_error_free(err);
  pai__buf_dispose(&json);
  return t;
}

/* Is it theirs?  Who has an account from before is known by its address. */
static bool is_theirs(const pai__visit *v, const pai__tree *user,
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

/* --- their groups -------------------------------------------------------------------- */

/* Adds the groups of the platform whose external name the claim has, but not
 * administrators' where the rules give that: how many, or PAI_ENOMEM and the
 * like. */
static int put_groups(pai__visit *v, pai__json_writer *w)
{
  pai_server *s = v->o->server;
  const pai__json_options o = { .alloc = &s->alloc };
  pai__tree *t = NULL;
  pai__buf json;
  int rc, found = 0;

  pai__buf_init(&json, &s->alloc);
  rc = pai_accounts_write_groups(s->accounts, pai__answer_write, &json, NULL);
  if (rc == PAI_OK)
    rc = pai__json_parse(&t, pai__buf_text(&json), json.len, &o, NULL);
  pai__buf_dispose(&json);
  if (rc < 0 || t == NULL)
    return rc;
  for (pai__tree_walk walk = pai__tree_iter(t, 0);;) {
    pai__node n = pai__tree_next(&walk);
    const char *outside, *name;
    if (n == PAI__NO_NODE)
      break;
    outside = pai__claim_text(t, n, "externalName");
    name = pai__claim_text(t, n, "groupname");
    if (outside == NULL || name == NULL || outside[0] == '\0' ||
        (v->admin && strcmp(name, admins) == 0) ||
        !pai__claims_have(v->claims, v->o->said.groups_claim, outside))
      continue;
    pai__json_text(w, name, strlen(name));
    found++;
  }
  pai__tree_free(t);
  return found;
}

/* --- the answer ------------------------------------------------------------------------ */

/* Whom the rules say to be administrators is in their group from now on. */
static void make_admin(pai__visit *v)
{
  pai_server *s = v->o->server;
  const char *name = pai__buf_text(&v->user);
  pai_error *err = NULL;

  if (!v->admin)
    return;
  if (pai_accounts_is_admin(s->accounts, name) == 0 &&
      pai_accounts_set_member(s->accounts, name, admins, 1, &err) < 0)
    pai__log_line(&s->log, PAI_LOG_WARNING,
                  "%s should be an administrator, and is not: %s", name,
                  pai_error_message(err));
  else if (!v->was_admin)
    pai__log_line(&s->log, PAI_LOG_INFO, "%s is an administrator", name);
  pai_error_free(err);
}

static void on_user(void *user_data, int status, const char *json, size_t len,
                    const pai_error *failure)
{
  pai__visit *v = user_data;

  (void)json;
  (void)len;
  if (status < 0) {
    pai__visit_fail(v, 500, "UnknownError",
                    "The account of %s could not be created: %s",
                    pai__buf_text(&v->user), pai_error_message(failure));
    return;
  }
  make_admin(v);
  if (v->challenge != NULL)
    pai__visit_ask(v);
  else
    pai__visit_hand_over(v);
}

/* --- the account ---------------------------------------------------------------------- */

/* A hash that is that of no password anybody knows. */
static bool put_hash(pai__json_writer *w)
{
  static const char hex[] = "0123456789abcdef";
  unsigned char bytes[HASH];
  char text[2 * HASH + 1];

  if (gnutls_rnd(GNUTLS_RND_KEY, bytes, sizeof(bytes)) < 0)
    return false;
  for (size_t i = 0; i < HASH; i++) {
    text[2 * i] = hex[bytes[i] >> 4];
    text[2 * i + 1] = hex[bytes[i] & 15];
  }
  text[2 * HASH] = '\0';
  put_text(w, "passwordHash", text);
  return true;
}

/* PAI_OK; PAI_EPERM: the provider names none of our groups. */
static int write_account(pai__visit *v, pai__buf *json, const char *mail,
                         bool is_new)
{
  pai__json_writer w;
  int rc = 1;

  pai__json_writer_init(&w, json, false);
  pai__json_begin_object(&w);
  put_text(&w, "username", pai__buf_text(&v->user));
  if (mail != NULL)
    put_text(&w, "email", mail);
  if (v->o->said.groups_claim != NULL || is_new) {
    pai__json_key(&w, "grouplist", 9);
    pai__json_begin_array(&w);
    if (v->o->said.groups_claim != NULL)
      rc = put_groups(v, &w);
    else
      pai__json_text(&w, "default", 7);
    if (v->admin) /* at once: who is one already is so all the time */
      pai__json_text(&w, admins, strlen(admins));
    pai__json_end_array(&w);
  }
  pai__json_key(&w, "extension", 9);
  pai__json_begin_object(&w);
  pai__json_key(&w, "oidc", 4);
  pai__json_begin_object(&w);
  put_text(&w, "iss", v->o->said.issuer);
  put_text(&w, "sub", pai__claim_text(v->claims, 0, "sub"));
  pai__json_end_object(&w);
  pai__json_end_object(&w);
  if (is_new && !put_hash(&w))
    rc = PAI_EIO;
  pai__json_end_object(&w);
  if (pai__json_finish(&w) < 0)
    rc = PAI_ENOMEM;
  if (rc == 0 && v->admin)
    rc = 1; /* administrators' is enough */
  return rc > 0 ? PAI_OK : rc == 0 ? PAI_EPERM : rc;
}

static void put_account(pai__visit *v, const char *mail, bool is_new)
{
  pai_error *err = NULL;
  pai__buf json;
  int rc;

  pai__buf_init(&json, &v->o->server->alloc);
  rc = write_account(v, &json, mail, is_new);
  if (rc == PAI_EPERM) {
    pai__visit_fail(v, 403, "ForbiddenUserError",
                    "%s is in no group that may use this platform.",
                    pai__buf_text(&v->user));
  } else {
    if (rc == PAI_OK)
      rc = pai_accounts_put_user(
        v->o->server->accounts, pai__buf_text(&json), json.len,
        PAI_PUT_PROVIDED | (is_new ? PAI_PUT_CREATE : 0), on_user, v, &err);
    if (rc < 0)
      pai__visit_fail(v, 500, "UnknownError",
                      "The account of %s could not be created: %s",
                      pai__buf_text(&v->user),
                      err != NULL ? pai_error_message(err) : "no memory");
  }
  pai_error_free(err);
  pai__buf_dispose(&json);
}

/* Whom the lists name. */
static bool is_listed(const pai__visit *v)
{
  const pai__oidc_settings *s = &v->o->said;
  const char *claim = s->groups_claim != NULL ? s->groups_claim : "groups";

  return v->admin || (s->domains != NULL && strcmp(s->domains, "*") == 0) ||
         pai__claims_have_domain(v->claims, s->domains) ||
         pai__claims_have_any(v->claims, claim, s->groups);
}

/* Without lists who has an account keeps it, and nobody new gets one; but where
 * groups come from the provider, those of this platform are a list, too. */
static bool may_enter(const pai__visit *v, bool is_new)
{
  const pai__oidc_settings *s = &v->o->said;
  bool has_lists = s->domains != NULL || s->groups != NULL;

  return is_listed(v) || (!has_lists && (!is_new || s->groups_claim != NULL));
}

void pai__visit_enter(pai__visit *v)
{
  pai_server *s = v->o->server;
  const char *mail = NULL;
  pai__tree *user;
  bool theirs, is_new;

  if (!pai__claims_name(&v->user, &mail, v->claims)) {
    pai__visit_fail(v, 403, "ForbiddenUserError",
                    "The login provider sent no valid user name.");
    return;
  }
  v->admin = pai__claims_fit_any(v->claims, v->o->said.admins);
  v->was_admin =
    pai_accounts_is_admin(s->accounts, pai__buf_text(&v->user)) > 0;
  is_new = !pai_accounts_has_user(s->accounts, pai__buf_text(&v->user));
  if (!may_enter(v, is_new)) {
    pai__log_line(&s->log, PAI_LOG_WARNING,
                  "%s logged in at the provider, but is on no list of allowed "
                  "users: see the settings domains and groups",
                  pai__buf_text(&v->user));
    pai__visit_fail(v, 403, "ForbiddenUserError",
                    "%s may not use this platform: its administrator decides "
                    "which users of the provider may.",
                    pai__buf_text(&v->user));
    return;
  }
  if (is_new) {
    put_account(v, mail, true);
    return;
  }
  user = read_user(v);
  theirs = user != NULL && is_theirs(v, user, mail);
  pai__tree_free(user);
  if (theirs)
    put_account(v, mail, false);
  else
    pai__visit_fail(v, 403, "ForbiddenUserError",
                    "The account %s already belongs to another user.",
                    pai__buf_text(&v->user));
}
