/*
 * users.c - /users: users and their rights
 *
 * The body is converted to an object for room account, which checks it.  Only
 * the caller's right to send it is checked here.
 */
#include "server/server.h"

#define OWN_ONLY "You may do this only with your own account."

/* --- reading ------------------------------------------------------------- */

/* Returns whose private keys and tokens the answer may have: the caller's, but
 * not for a token that can only read. */
static const char *viewer(const pai__request *r)
{
  return (r->caller.scopes & PAI_SCOPE_SUBMIT) != 0 ? r->caller.name : NULL;
}

void pai__do_users_list(pai__request *r)
{
  pai__answer_written(r, pai_accounts_write_users(r->server->accounts,
                                                  viewer(r), pai__answer_write,
                                                  &r->answer, &r->err));
}

void pai__do_users_show(pai__request *r)
{
  pai__answer_written(
    r, pai_accounts_write_user(r->server->accounts, r->params[0], viewer(r),
                               pai__answer_write, &r->answer, &r->err));
}

/* --- objects for room account -------------------------------------------- */

static void begin_user(pai__json_writer *w, pai__buf *json, pai__request *r,
                       const char *name)
{
  pai__buf_init(json, &r->server->alloc);
  pai__json_writer_init(w, json, false);
  pai__json_begin_object(w);
  pai__json_put_known(w, "username", name);
}

static void put_user(pai__request *r, pai__json_writer *w, pai__buf *json,
                     unsigned flags, const char *said)
{
  struct pai__waiting *waiting;
  int rc;

  pai__json_end_object(w);
  r->said = said;
  if (pai__json_finish(w) < 0) {
    pai__answer_failure(r, PAI_ENOMEM);
  } else if ((waiting = pai__answer_later(r)) != NULL) {
    pai__ask_accounts(r);
    rc = pai_accounts_put_user(r->server->accounts, pai__buf_text(json),
                               json->len, flags, pai__answer_account, waiting,
                               &r->err);
    if (rc < 0) {
      (void)pai__answer_now(waiting);
      pai__answer_failure(r, rc);
    }
  }
  pai__buf_dispose(json);
}

/* --- users --------------------------------------------------------------- */

void pai__do_users_create(pai__request *r)
{
  static const char *const names[] = { "username", "password",
                                       "email",    "virtualCluster",
                                       "admin",    "extension" };
  pai__json_writer w;
  pai__buf json;

  begin_user(&w, &json, r, NULL);
  for (size_t i = 0; i < PAI__LEN(names); i++)
    pai__body_copy(&w, r, 0, names[i], names[i]);
  put_user(r, &w, &json, PAI_PUT_CREATE, "User is created successfully");
}

void pai__do_users_update(pai__request *r)
{
  static const char *const names[] = { "username",       "email",
                                       "virtualCluster", "admin",
                                       "password",       "extension" };
  pai__node data = pai__tree_get(r->form, 0, "data");
  pai__json_writer w;
  pai__buf json;

  begin_user(&w, &json, r, NULL);
  for (size_t i = 0; i < PAI__LEN(names); i++)
    pai__body_copy(&w, r, data, names[i], names[i]);
  put_user(r, &w, &json, 0, "Update user data successfully.");
}

/* Begins an update of the caller's own account; on failure answers and returns
 * false. */
static bool begin_self(pai__json_writer *w, pai__buf *json, pai__request *r,
                       pai__node *data)
{
  const char *name;

  *data = pai__tree_get(r->form, 0, "data");
  name = pai__tree_look_text(r->form, *data, "username", "");
  if (strcmp(name, r->caller.name) != 0) {
    pai__answer_forbidden(r, OWN_ONLY);
    return false;
  }
  begin_user(w, json, r, name);
  return true;
}

void pai__do_users_update_self(pai__request *r)
{
  pai__node data;
  pai__json_writer w;
  pai__buf json;

  if (!begin_self(&w, &json, r, &data))
    return;
  pai__body_copy(&w, r, data, "email", "email");
  pai__body_copy(&w, r, data, "newPassword", "password");
  pai__body_copy(&w, r, data, "oldPassword", "oldPassword");
  pai__body_copy(&w, r, data, "extension", "extension");
  put_user(r, &w, &json, 0, "Update user data successfully.");
}

void pai__do_users_remove(pai__request *r)
{
  const char *heir = pai__request_query(r, "heir");
  pai_accounts *accounts = r->server->accounts;
  int rc =
    heir != NULL
      ? pai_accounts_hand_over_user(accounts, r->params[0], heir, &r->err)
      : pai_accounts_remove_user(accounts, r->params[0], &r->err);

  if (rc == PAI_OK) /* ends the signed URLs of the user */
    pai__signed_open(r->server);
  pai__answer_changed(r, rc, "user is removed successfully");
}

/* With a login provider, everything but the extension comes from the provider.
 * Both PUT routes change the caller's own account, as OpenPAI's do. */
void pai__do_users_update_extension(pai__request *r)
{
  pai__node data;
  pai__json_writer w;
  pai__buf json;

  if (!begin_self(&w, &json, r, &data))
    return;
  pai__body_copy(&w, r, data, "extension", "extension");
  put_user(r, &w, &json, 0, "Update user data successfully.");
}

/* --- single members of a user -------------------------------------------- */

static void put_member(pai__request *r, const char *member, unsigned flags,
                       const char *said)
{
  pai__json_writer w;
  pai__buf json;

  begin_user(&w, &json, r, r->params[0]);
  pai__body_copy(&w, r, 0, member, member);
  put_user(r, &w, &json, flags, said);
}

/* Checks that the caller is an administrator or the user. */
static bool want_self(pai__request *r)
{
  bool may = r->caller.admin || strcmp(r->caller.name, r->params[0]) == 0;

  if (!may)
    pai__answer_forbidden(r, OWN_ONLY);
  return may;
}

void pai__do_users_set_extension(pai__request *r)
{
  if (want_self(r))
    put_member(r, "extension", 0, "Update user extension data successfully.");
}

void pai__do_users_set_groups(pai__request *r)
{
  put_member(r, "grouplist", 0, "Update user grouplist data successfully.");
}

void pai__do_users_set_vcs(pai__request *r)
{
  put_member(r, "virtualCluster", PAI_PUT_NO_ADMIN,
             "Update user virtualCluster data successfully.");
}

void pai__do_users_set_email(pai__request *r)
{
  if (want_self(r))
    put_member(r, "email", 0, "Update user email data successfully.");
}

void pai__do_users_set_admin(pai__request *r)
{
  put_member(r, "admin", 0, "Update user admin permission successfully.");
}

/* A caller who is not an administrator must give the old password. */
void pai__do_users_set_password(pai__request *r)
{
  pai__json_writer w;
  pai__buf json;

  begin_user(&w, &json, r, r->params[0]);
  pai__body_copy(&w, r, 0, "newPassword", "password");
  if (!r->caller.admin)
    pai__body_copy(&w, r, 0, "oldPassword", "oldPassword");
  put_user(r, &w, &json, 0, "update user password successfully.");
}

static void set_member(pai__request *r, bool in, const char *said)
{
  pai__answer_changed(
    r,
    pai_accounts_set_member(r->server->accounts, r->params[0],
                            pai__body_text(r, "groupname"), in, &r->err),
    said);
}

void pai__do_users_join(pai__request *r)
{
  set_member(r, true, "User is added into group successfully.");
}

void pai__do_users_leave(pai__request *r)
{
  set_member(r, false, "User is removed from group successfully.");
}
