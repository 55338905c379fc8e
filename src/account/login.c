/* login.c - login with a password, which gives a token */
#include "account/inside.h"

/* Answer size, reserved before the change is made. */
enum { ANSWER = PAI__TOKEN_TEXT + 256 };

/* --- login --------------------------------------------------------------- */

static int wrong(pai_error **err)
{
  (void)pai__fail(err, PAI_EPERM, "Password is incorrect.");
  return pai__as(err, PAI_EPERM, 400, "IncorrectPasswordError");
}

int pai__renew_password(pai__account_update *e, const pai__op *op,
                        const pai__account *account, pai_error **err)
{
  pai__account_user *user = pai__user_copy(e->a, account->user);

  if (user == NULL)
    return pai__oom(err);
  if (pai__set_text(&e->a->alloc, &user->password, op->hash) < 0) {
    pai__user_free(e->a, user);
    return pai__oom(err);
  }
  return pai__account_update_user(e, user, err);
}

static int write_login(const pai_accounts *a, const pai__token *token,
                       bool pat, pai__buf *answer, pai_error **err)
{
  char text[PAI__TOKEN_TEXT];
  const pai__login_row row = { .user = token->owner->name,
                               .token = text,
                               .admin =
                                 pai__user_is_admin(a, token->owner->user),
                               .pat = { pat, 1 } };
  pai__json_writer w;

  pai__jwt_write(a, token, text);
  pai__json_writer_init(&w, answer, false);
  (void)pai__api_object(&w, &pai__api_Login, &row, NULL, NULL);
  sodium_memzero(text, sizeof(text));
  return pai__json_finish(&w) < 0 ? pai__oom(err) : PAI_OK;
}

/* Counts also for users that do not exist, so that clients cannot find out
 * which ones do. */
static int count_wrong(pai__op *op, int rc, pai_error **err)
{
  pai__error_wait(err, pai__guard_wrong(op->a, op->user, op->requester.who));
  return rc;
}

/* The user may have changed while the hash was made. */
static int finish_login(pai__op *op, pai__buf *answer, pai_error **err)
{
  pai_accounts *a = op->a;
  pai__account *account = pai__find_account(a, op->user);
  pai__token *token = NULL;
  pai__account_update e;
  bool pat;
  int rc = PAI_OK;

  if (account == NULL)
    return count_wrong(op, pai__no_user(err, 400, op->user), err);
  if (!op->right || op->stored == NULL ||
      strcmp(op->stored, account->user->password) != 0)
    return count_wrong(op, wrong(err), err);
  pai__guard_right(a, op->user, op->requester.who);
  if (!pai__buf_reserve(answer, ANSWER) ||
      pai__extension_has(&a->alloc, account->user->extension, "githubPAT",
                         &pat) < 0)
    return pai__oom(err);
  pai__account_update_begin(&e, a);
  e.rehashed = true;
  if (op->old) /* replaces OpenPAI's hash by argon2id */
    rc = pai__renew_password(&e, op, account, err);
  if (rc == PAI_OK)
    rc = pai__token_new(&token, &e, account, NULL, err);
  rc = pai__account_update_end(&e, rc, err);
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

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(user != NULL && password != NULL && cb != NULL, err);
  if (strlen(password) > PAI__MOST_PASSWORD) {
    pai__forget_requester(a);
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
