/* login.c - who knows a password gets a token; and the first user of all */
#include "account/inside.h"

/* Room for what is told, taken before it is done. */
enum { ANSWER = PAI__TOKEN_TEXT + 256 };

/* --- login ------------------------------------------------------------------------- */

static int wrong(pai_error **err)
{
  (void)pai__fail(err, PAI_EPERM, "Password is incorrect.");
  return pai__as(err, PAI_EPERM, 400, "IncorrectPasswordError");
}

/* A hash of OpenPAI's own becomes one of ours. */
static int renew(pai__amend *e, const pai__op *op, const pai__account *account,
                 pai_error **err)
{
  pai__user *user = pai__user_copy(e->a, account->user);

  if (user == NULL)
    return pai__oom(err);
  if (pai__set_text(&e->a->alloc, &user->password, op->hash) < 0) {
    pai__user_free(e->a, user);
    return pai__oom(err);
  }
  return pai__amend_user(e, user, err);
}

static int write_login(const pai_accounts *a, const pai__token *token,
                       bool pat, pai__buf *answer, pai_error **err)
{
  char text[PAI__TOKEN_TEXT];
  pai__json_writer w;

  pai__jwt_write(a, token, text);
  pai__json_writer_init(&w, answer, false);
  pai__json_begin_object(&w);
  pai__wire_text(&w, "user", token->owner->name);
  pai__wire_text(&w, "token", text);
  pai__wire_bool(&w, "admin", pai__user_is_admin(a, token->owner->user));
  if (pat)
    pai__wire_bool(&w, "hasGitHubPAT", true);
  pai__json_end_object(&w);
  sodium_memzero(text, sizeof(text));
  return pai__json_finish(&w) < 0 ? pai__oom(err) : PAI_OK;
}

/* The user may have become another one meanwhile. */
static int finish_login(pai__op *op, pai__buf *answer, pai_error **err)
{
  pai_accounts *a = op->a;
  pai__account *account = pai__find_account(a, op->user);
  pai__token *token = NULL;
  pai__amend e;
  bool pat;
  int rc = PAI_OK;

  if (account == NULL)
    return pai__no_user(err, 400, op->user);
  if (!op->right || op->stored == NULL ||
      strcmp(op->stored, account->user->password) != 0)
    return wrong(err);
  if (!pai__buf_reserve(answer, ANSWER) ||
      pai__extension_has(&a->alloc, account->user->extension, "githubPAT",
                         &pat) < 0)
    return pai__oom(err);
  pai__amend_begin(&e, a);
  if (op->old)
    rc = renew(&e, op, account, err);
  if (rc == PAI_OK)
    rc = pai__token_new(&token, &e, account, false, err);
  rc = pai__amend_end(&e, rc);
  return rc == PAI_OK && token != NULL
           ? write_login(a, token, pat, answer, err)
           : rc;
}

int pai_accounts_login(pai_accounts *a, const char *user, const char *password,
                       pai_account_cb cb, void *user_data, pai_error **err)
{
  const pai__account *account;
  pai__op *op;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(a != NULL && user != NULL && password != NULL, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  if (strlen(password) > PAI__MOST_PASSWORD) {
    pai__forget_asker(a);
    return wrong(err);
  }
  account = pai__find_account(a, user);
  rc = pai__op_new(&op, a, cb, user_data, err);
  if (rc < 0)
    return rc;
  op->finish = finish_login;
  rc = pai__op_text(op, &op->user, user, err);
  if (rc == PAI_OK)
    rc = pai__op_text(op, &op->given, password, err);
  if (rc == PAI_OK && account != NULL)
    rc = pai__op_text(op, &op->stored, account->user->password, err);
  if (rc == PAI_OK)
    rc = pai__op_start(op, err);
  if (rc < 0)
    pai__op_free(op);
  return rc;
}

/* --- the beginning -------------------------------------------------------------------- */

typedef struct beginning {
  pai__amend e;
  pai__strings vcs;
  pai_error **err;
} beginning;

static int add_vc(void *user_data, const char *name)
{
  beginning *b = user_data;

  return pai__strings_add(&b->e.a->alloc, &b->vcs, name) < 0 ? pai__oom(b->err)
                                                             : PAI_OK;
}

static int add_group(beginning *b, const char *name, bool admin,
                     const pai__strings *vcs)
{
  pai__team *group;
  int rc;

  if (pai__find_group(b->e.a, name) != NULL)
    return PAI_OK;
  rc = pai__team_of_vcs(&group, b->e.a, name, admin, vcs, b->err);
  return rc == PAI_OK ? pai__amend_group(&b->e, group, b->err) : rc;
}

/* Of one virtual cluster, which may have a name that no group can have. */
static int add_vcs_group(beginning *b, const char *vc)
{
  pai__strings one = { 0 };
  int rc;

  if (!pai__is_group_name(vc))
    return PAI_OK;
  rc = pai__strings_add(&b->e.a->alloc, &one, vc) < 0
         ? pai__oom(b->err)
         : add_group(b, vc, false, &one);
  pai__strings_free(&b->e.a->alloc, &one);
  return rc;
}

static int add_groups(pai_accounts *a, pai_error **err)
{
  beginning b = { .err = err };
  bool has_default;
  int rc;

  pai__amend_begin(&b.e, a);
  rc = a->host.vcs(a->host.ctx, add_vc, &b);
  has_default = pai__strings_has(&b.vcs, PAI__DEFAULT_GROUP);
  if (rc == PAI_OK)
    rc = add_group(&b, PAI__ADMIN_GROUP, true, &b.vcs);
  if (rc == PAI_OK && !has_default)
    rc = add_vcs_group(&b, PAI__DEFAULT_GROUP);
  for (size_t i = 0; i < b.vcs.n && rc == PAI_OK; i++)
    rc = add_vcs_group(&b, b.vcs.at[i]);
  pai__strings_free(&a->alloc, &b.vcs);
  return pai__amend_end(&b.e, rc);
}

/* The password, 20 letters and digits that look like no others. */
static int draw_password(pai__op *op, pai_error **err)
{
  static const char letters[] =
    "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
  char text[21];
  int rc;

  for (size_t i = 0; i < sizeof(text) - 1; i++)
    text[i] = letters[randombytes_uniform(sizeof(letters) - 1)];
  text[sizeof(text) - 1] = '\0';
  op->tell_fresh = true;
  rc = pai__op_text(op, &op->fresh, text, err);
  sodium_memzero(text, sizeof(text));
  return rc;
}

static int finish_setup(pai__op *op, pai__buf *answer, pai_error **err)
{
  pai__json_writer w;
  int rc;

  if (!pai__buf_reserve(answer, ANSWER))
    return pai__oom(err);
  rc = pai__user_put_do(op->a, &op->put, op->hash, err);
  if (rc < 0)
    return rc;
  pai__json_writer_init(&w, answer, false);
  pai__json_begin_object(&w);
  pai__wire_text(&w, "username", op->put.name);
  if (op->tell_fresh)
    pai__wire_text(&w, "password", op->fresh);
  pai__json_end_object(&w);
  return pai__json_finish(&w) < 0 ? pai__oom(err) : PAI_OK;
}

static int add_first(pai__op *op, const char *user, const char *password,
                     pai_error **err)
{
  int rc = pai__op_text(op, &op->user, user, err);

  op->put = (pai__user_put){ .name = op->user,
                             .vcs = PAI__NO_NODE,
                             .groups = PAI__NO_NODE,
                             .extension = PAI__NO_NODE,
                             .admin = true,
                             .has_admin = true,
                             .flags = PAI_PUT_CREATE };
  op->finish = finish_setup;
  if (rc == PAI_OK)
    rc = password == NULL ? draw_password(op, err)
                          : pai__op_text(op, &op->fresh, password, err);
  return rc == PAI_OK ? pai__op_start(op, err) : rc;
}

static int begin_setup(pai__op *op, const char *user, const char *password,
                       pai_error **err)
{
  int rc;

  pai__buf_str(&op->answer, "{}");
  if (!pai__buf_ok(&op->answer))
    return pai__oom(err);
  rc = add_groups(op->a, err);
  if (rc < 0)
    return rc;
  if (op->a->accounts.n == 0 && user[0] != '\0') {
    pai__buf_clear(&op->answer);
    return add_first(op, user, password, err);
  }
  pai__op_ready(op);
  return PAI_OK;
}

int pai_accounts_setup(pai_accounts *a, const char *user, const char *password,
                       pai_account_cb cb, void *user_data, pai_error **err)
{
  pai__op *op;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(a != NULL && cb != NULL, err);
  if (user == NULL)
    user = "admin";
  if (user[0] != '\0' && !pai__is_user_name(user))
    return pai__invalid(err, "no user can be called \"%.64s\"", user);
  if (password != NULL && (strlen(password) < PAI__LEAST_PASSWORD ||
                           strlen(password) > PAI__MOST_PASSWORD))
    return pai__invalid(err, "the password must have %d to %d characters",
                        PAI__LEAST_PASSWORD, PAI__MOST_PASSWORD);
  rc = pai__op_new(&op, a, cb, user_data, err);
  if (rc < 0)
    return rc;
  rc = begin_setup(op, user, password, err);
  if (rc < 0)
    pai__op_free(op);
  return rc;
}
