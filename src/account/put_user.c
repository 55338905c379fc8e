/*
 * put_user.c - creating and updating users
 *
 * The new state of a user is built from the current state and the request, and
 * then replaces it.  If a hash is needed, that is done twice: once to refuse
 * invalid requests before hashing, and again with the state as it is when the
 * hash is ready.
 */
#include "account/inside.h"

#include "base/text/mail.h"

/* --- requests ------------------------------------------------------------ */

void pai__user_put_free(pai__user_put *put)
{
  pai__tree_free(put->tree);
  put->tree = NULL;
}

/* An old password must only match: the rules were weaker once. */
static int check_passwords(const pai__user_put *put, const pai_accounts *a,
                           pai_error **err)
{
  int rc = PAI_OK;
  bool same = put->password != NULL && put->old_password != NULL &&
              strcmp(put->password, put->old_password) == 0;

  if (put->password != NULL && !same) /* `same`: not a new password */
    rc = pai__password_check(a, "password", put->name, put->password, err);
  if (rc == PAI_OK && put->old_password != NULL &&
      strlen(put->old_password) > PAI__MOST_PASSWORD)
    rc = pai__invalid(err, "\"oldPassword\" must have at most %d characters",
                      PAI__MOST_PASSWORD);
  return rc;
}

static int check_put(const pai__user_put *put, const pai_accounts *a,
                     pai_error **err)
{
  int rc;

  if (put->name == NULL)
    return pai__invalid(err, "\"username\" is required");
  if (!pai__is_user_name(put->name))
    return pai__invalid(err,
                        "\"username\" must have 1 to 64 letters, digits, _, - "
                        "and ., and not begin with a dot");
  if (put->email != NULL && put->email[0] != '\0' &&
      !pai__is_mail(put->email, strlen(put->email)))
    return pai__invalid(err, "\"email\" must be a valid email");
  if (put->hash != NULL && (put->password != NULL || !pai__is_hash(put->hash)))
    return pai__invalid(err,
                        "\"passwordHash\" must be of argon2id or of OpenPAI, "
                        "and be given instead of a password");
  rc = check_passwords(put, a, err);
  if (rc == PAI_OK && (put->flags & PAI_PUT_CREATE) != 0 &&
      put->password == NULL && put->hash == NULL)
    rc = pai__invalid(err, "\"password\" is required");
  return rc;
}

static int read_put(pai__user_put *put, pai_accounts *a, const char *json,
                    size_t len, unsigned flags, pai_error **err)
{
  static const pai__input_field fields[] = {
    { "username", PAI__INPUT_TEXT, offsetof(pai__user_put, name) },
    { "password", PAI__INPUT_TEXT, offsetof(pai__user_put, password) },
    { "oldPassword", PAI__INPUT_TEXT, offsetof(pai__user_put, old_password) },
    { "passwordHash", PAI__INPUT_TEXT, offsetof(pai__user_put, hash) },
    { "email", PAI__INPUT_TEXT, offsetof(pai__user_put, email) },
    { "virtualCluster", PAI__INPUT_LIST, offsetof(pai__user_put, vcs) },
    { "grouplist", PAI__INPUT_LIST, offsetof(pai__user_put, groups) },
    { "admin", PAI__INPUT_BOOL, offsetof(pai__user_put, admin) },
    { "extension", PAI__INPUT_OBJECT, offsetof(pai__user_put, extension) },
    { NULL, PAI__INPUT_TEXT, 0 }
  };
  int rc;

  *put = (pai__user_put){ .vcs = PAI__NO_NODE,
                          .groups = PAI__NO_NODE,
                          .extension = PAI__NO_NODE,
                          .flags = flags };
  rc = pai__input_parse(&put->tree, &a->alloc, json, len, fields, put, err);
  if (rc < 0)
    return rc;
  put->has_admin = pai__tree_get(put->tree, 0, "admin") != PAI__NO_NODE;
  return check_put(put, a, err);
}

/* --- the new state ------------------------------------------------------- */

/* Users get access to a virtual cluster by its own group. */
static int check_vcs(const pai_accounts *a, const pai__strings *vcs,
                     bool create, pai_error **err)
{
  for (size_t i = 0; i < vcs->n; i++) {
    const pai__account_group *group = pai__find_group(a, vcs->at[i]);

    if (group == NULL && create)
      return pai__no_group(err, 404, vcs->at[i]);
    if (group == NULL || !pai__account_group_is_vcs(group)) {
      (void)pai__fail(err, PAI_EINVAL, "Virtual cluster %.128s is not found.",
                      vcs->at[i]);
      return pai__as(err, PAI_EINVAL, 400, "NoVirtualClusterError");
    }
  }
  return PAI_OK;
}

static int check_groups(const pai_accounts *a, const pai__strings *groups,
                        pai_error **err)
{
  for (size_t i = 0; i < groups->n; i++)
    if (pai__find_group(a, groups->at[i]) == NULL)
      return pai__no_group(err, 404, groups->at[i]);
  return PAI_OK;
}

/* Sets the groups: those of the virtual clusters and the default group.  An
 * administrator stays one unless the request says otherwise. */
static int take_vcs(pai_accounts *a, pai__account_user *user,
                    const pai__strings *vcs)
{
  pai__strings old = user->groups;
  int rc = PAI_OK;

  user->groups = (pai__strings){ 0 };
  for (size_t i = 0; i < vcs->n && rc == PAI_OK; i++)
    rc = pai__strings_add(&a->alloc, &user->groups, vcs->at[i]);
  if (rc == PAI_OK && pai__find_group(a, PAI__DEFAULT_GROUP) != NULL)
    rc = pai__strings_add(&a->alloc, &user->groups, PAI__DEFAULT_GROUP);
  for (size_t i = 0; i < old.n && rc == PAI_OK; i++) {
    const pai__account_group *group = pai__find_group(a, old.at[i]);
    if (group != NULL && group->admin)
      rc = pai__strings_add(&a->alloc, &user->groups, old.at[i]);
  }
  pai__strings_free(&a->alloc, &old);
  return rc;
}

static int set_admin(pai_accounts *a, pai__account_user *user, bool admin,
                     pai_error **err)
{
  if (admin && pai__find_group(a, PAI__ADMIN_GROUP) == NULL)
    return pai__no_group(err, 404, PAI__ADMIN_GROUP);
  if (admin)
    return pai__strings_add(&a->alloc, &user->groups, PAI__ADMIN_GROUP) < 0
             ? pai__oom(err)
             : PAI_OK;
  for (size_t i = a->groups.n; i > 0; i--) {
    const pai__account_group *group = a->groups.at[i - 1];
    if (group->admin)
      pai__strings_drop(&a->alloc, &user->groups, group->name);
  }
  return PAI_OK;
}

static int set_groups(pai_accounts *a, pai__account_user *user,
                      const pai__user_put *put, pai_error **err)
{
  pai__strings names = { 0 };
  bool create = (put->flags & PAI_PUT_CREATE) != 0;
  int rc = PAI_OK;

  if (put->vcs != PAI__NO_NODE &&
      pai__input_names(&a->alloc, put->tree, put->vcs, &names) < 0)
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = check_vcs(a, &names, create, err);
  if (rc == PAI_OK && (create || put->vcs != PAI__NO_NODE) &&
      take_vcs(a, user, &names) < 0)
    rc = pai__oom(err);
  pai__strings_free(&a->alloc, &names);
  if (rc < 0 || put->groups == PAI__NO_NODE)
    return rc;
  if (pai__input_names(&a->alloc, put->tree, put->groups, &names) < 0)
    rc = pai__oom(err);
  else
    rc = check_groups(a, &names, err);
  pai__strings_free(&a->alloc, &user->groups);
  user->groups = names; /* owned by the user, also on failure */
  return rc;
}

static int fill(pai_accounts *a, pai__account_user *user,
                const pai__user_put *put, const char *hash, pai_error **err)
{
  int rc;

  if (put->email != NULL &&
      pai__set_text(&a->alloc, &user->email, put->email) < 0)
    return pai__oom(err);
  rc = set_groups(a, user, put, err);
  if (rc == PAI_OK && put->has_admin)
    rc = set_admin(a, user, put->admin, err);
  if (rc < 0)
    return rc;
  if (put->hash != NULL)
    hash = put->hash;
  if (hash != NULL && pai__set_text(&a->alloc, &user->password, hash) < 0)
    return pai__oom(err);
  return put->extension != PAI__NO_NODE
           ? pai__extension_merge(&a->alloc, &user->extension, put->tree,
                                  put->extension, err)
           : PAI_OK;
}

/* Virtual clusters are checked before the user where OpenPAI does so. */
static int check_user(const pai_accounts *a, const pai__user_put *put,
                      const pai__account *account, pai_error **err)
{
  pai__strings vcs = { 0 };
  int rc = PAI_OK;

  if ((put->flags & PAI_PUT_NO_ADMIN) != 0 && put->vcs != PAI__NO_NODE) {
    rc = pai__input_names(&a->alloc, put->tree, put->vcs, &vcs) < 0
           ? pai__oom(err)
           : check_vcs(a, &vcs, false, err);
    pai__strings_free(&a->alloc, &vcs);
  }
  if (rc < 0)
    return rc;
  if ((put->flags & PAI_PUT_CREATE) != 0) {
    if (account == NULL)
      return PAI_OK;
    (void)pai__fail(err, PAI_EEXISTS, "User name %s already exists.",
                    put->name);
    return pai__as(err, PAI_EEXISTS, 409, "ConflictUserError");
  }
  if (account == NULL)
    return pai__no_user(err, 404, put->name);
  if ((put->flags & PAI_PUT_NO_ADMIN) == 0 ||
      !pai__user_is_admin(a, account->user))
    return PAI_OK;
  (void)pai__fail(err, PAI_EPERM,
                  "%s is an administrator and has all virtual clusters.",
                  put->name);
  return pai__as(err, PAI_EPERM, 403, "ForbiddenUserError");
}

/* Builds the new state of the user; `hash` is for a new password. */
static int build(pai__account_user **out, pai_accounts *a,
                 const pai__user_put *put, const char *hash, pai_error **err)
{
  const pai__account *account = pai__find_account(a, put->name);
  pai__account_user *user;
  int rc;

  *out = NULL;
  rc = check_user(a, put, account, err);
  if (rc < 0)
    return rc;
  user = account == NULL ? pai__user_new(a, put->name)
                         : pai__user_copy(a, account->user);
  if (user == NULL)
    return pai__oom(err);
  rc = fill(a, user, put, hash, err);
  if (rc < 0)
    pai__user_free(a, user);
  else
    *out = user;
  return rc;
}

int pai__user_put_do(pai_accounts *a, const pai__user_put *put,
                     const char *hash, pai_error **err)
{
  pai__account *account;
  pai__account_user *user;
  pai__account_update e;
  int rc = build(&user, a, put, hash, err);

  if (rc < 0)
    return rc;
  account = pai__find_account(a, put->name);
  pai__account_update_begin(&e, a);
  e.provided = (put->flags & PAI_PUT_PROVIDED) != 0;
  rc = pai__account_update_user(&e, user, err);
  if (account != NULL && (hash != NULL || put->hash != NULL))
    for (pai__token *t = account->tokens; t != NULL && rc == PAI_OK;
         t = t->next)
      if (!t->application)
        rc = pai__account_update_drop_token(&e, t, err);
  return pai__account_update_end(&e, rc, err);
}

/* --- the calls ----------------------------------------------------------- */

/* Checks that the old password is still the user's. */
static int check_right(const pai__op *op, pai_error **err)
{
  const pai__account *account = pai__find_account(op->a, op->user);

  if (op->given == NULL)
    return PAI_OK;
  if (op->right && account != NULL && op->stored != NULL &&
      strcmp(account->user->password, op->stored) == 0) {
    pai__guard_right(op->a, op->user, op->requester.who);
    return PAI_OK;
  }
  (void)pai__fail(err, PAI_EPERM, "The old password is incorrect.");
  pai__error_wait(err, pai__guard_wrong(op->a, op->user, op->requester.who));
  return pai__as(err, PAI_EPERM, 403, "ForbiddenUserError");
}

/* Returns whether the password is new.  A client that sends the unchanged old
 * password, which was checked, keeps its tokens. */
static bool is_new(const pai__op *op)
{
  return op->fresh != NULL &&
         (op->given == NULL || strcmp(op->given, op->fresh) != 0);
}

static int finish_put(pai__op *op, pai__buf *answer, pai_error **err)
{
  int rc = check_right(op, err);

  /* before the change, so that it cannot fail after it */
  pai__buf_str(answer, "{}");
  if (rc == PAI_OK && !pai__buf_ok(answer))
    rc = pai__oom(err);
  return rc == PAI_OK ? pai__user_put_do(op->a, &op->put,
                                         is_new(op) ? op->hash : NULL, err)
                      : rc;
}

/* Hashes first; finish_put() makes the change. */
static int hash_first(pai__op *op, pai_error **err)
{
  const pai__account *account = pai__find_account(op->a, op->put.name);
  int rc = pai__op_text(op, &op->user, op->put.name, err);

  op->finish = finish_put;
  if (rc == PAI_OK)
    rc = pai__op_text(op, &op->given, op->put.old_password, err);
  if (rc == PAI_OK)
    rc = pai__op_text(op, &op->fresh, op->put.password, err);
  if (rc == PAI_OK && account != NULL)
    rc = pai__op_text(op, &op->stored, account->user->password, err);
  return rc == PAI_OK ? pai__op_start(op, err) : rc;
}

static int put_user(pai__op *op, const char *json, size_t len, unsigned flags,
                    pai_error **err)
{
  pai_accounts *a = op->a;
  pai__account_user *trial;
  int rc = read_put(&op->put, a, json, len, flags, err);

  if (rc == PAI_OK)
    rc = build(&trial, a, &op->put, NULL, err);
  if (rc < 0)
    return rc;
  pai__user_free(a, trial);
  if (op->put.password != NULL || op->put.old_password != NULL)
    return hash_first(op, err);
  pai__buf_str(&op->answer, "{}");
  if (!pai__buf_ok(&op->answer))
    return pai__oom(err);
  rc = pai__user_put_do(a, &op->put, NULL, err);
  if (rc == PAI_OK)
    pai__op_ready(op);
  return rc;
}

int pai_accounts_put_user(pai_accounts *a, const char *json, size_t len,
                          unsigned flags, pai_account_cb cb, void *user_data,
                          pai_error **err)
{
  const unsigned all =
    PAI_PUT_CREATE | PAI_PUT_PATCH | PAI_PUT_NO_ADMIN | PAI_PUT_PROVIDED;
  pai__op *op;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(json != NULL && cb != NULL && (flags & ~all) == 0, err);
  rc = pai__op_new(&op, a, cb, user_data, err);
  if (rc < 0)
    return rc;
  rc = put_user(op, json, len, flags, err);
  if (rc < 0)
    pai__op_free(op);
  return rc;
}

static int remove_user(pai_accounts *a, const char *user, const char *heir,
                       pai_error **err)
{
  pai__account *account = pai__find_account(a, user);
  pai__account_update e;

  if (account == NULL)
    return pai__no_user(err, 404, user);
  if (pai__user_is_admin(a, account->user)) {
    (void)pai__fail(err, PAI_EPERM, "Admin %s is not allowed to be removed.",
                    user);
    pai__error_help(err, "revoke the administrator right first");
    return pai__as(err, PAI_EPERM, 403, "RemoveAdminError");
  }
  if (heir != NULL && pai__find_account(a, heir) == NULL)
    return pai__no_user(err, 404, heir);
  if (heir != NULL && strcmp(heir, user) == 0)
    return pai__invalid(err, "the jobs of %s are %s's already", user, heir);
  pai__account_update_begin(&e, a);
  return pai__account_update_end(
    &e, pai__account_update_drop_user(&e, account, heir, err), err);
}

int pai_accounts_remove_user(pai_accounts *a, const char *user,
                             pai_error **err)
{
  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(user != NULL, err);
  return remove_user(a, user, NULL, err);
}

int pai_accounts_hand_over_user(pai_accounts *a, const char *user,
                                const char *heir, pai_error **err)
{
  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(user != NULL && heir != NULL, err);
  return remove_user(a, user, heir, err);
}

int pai_accounts_set_member(pai_accounts *a, const char *user,
                            const char *group, int in, pai_error **err)
{
  const pai__account *account;
  pai__account_user *changed;
  pai__account_update e;
  int rc = PAI_OK;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(user != NULL && group != NULL, err);
  account = pai__find_account(a, user);
  if (in != 0 && pai__find_group(a, group) == NULL)
    return pai__no_group(err, 404, group);
  if (account == NULL)
    return pai__no_user(err, 404, user);
  if (pai__strings_has(&account->user->groups, group) == (in != 0))
    return PAI_OK;
  changed = pai__user_copy(a, account->user);
  if (changed == NULL)
    return pai__oom(err);
  if (in == 0)
    pai__strings_drop(&a->alloc, &changed->groups, group);
  else
    rc = pai__strings_add(&a->alloc, &changed->groups, group);
  if (rc < 0) {
    pai__user_free(a, changed);
    return pai__oom(err);
  }
  pai__account_update_begin(&e, a);
  return pai__account_update_end(
    &e, pai__account_update_user(&e, changed, err), err);
}
