/*
 * first.c - setup of a new platform: groups and the first user
 *
 * If the first user's password is generated here, it is shown once, after it
 * is durable, so it is valid after any crash.  Until it was shown, the
 * database keeps its hash as `untold`.  If the process ends before, the next
 * start generates and shows another password, which replaces the old one even
 * if that was shown at the moment of a crash.
 */
#include "account/inside.h"

/* Answer size, reserved before the change is made. */
enum { ANSWER = 512 };

#define UNTOLD "untold"

/* --- groups -------------------------------------------------------------- */

typedef struct beginning {
  pai__account_update e;
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
  pai__account_group *group;
  int rc;

  if (pai__find_group(b->e.a, name) != NULL)
    return PAI_OK;
  rc = pai__account_group_of_vcs(&group, b->e.a, name, admin, vcs, b->err);
  return rc == PAI_OK ? pai__account_update_group(&b->e, group, b->err) : rc;
}

/* Adds the group of a virtual cluster, unless its name cannot be a group's. */
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

  pai__account_update_begin(&b.e, a);
  b.e.quiet = true;
  rc = a->host.vcs(a->host.ctx, add_vc, &b);
  has_default = pai__strings_has(&b.vcs, PAI__DEFAULT_GROUP);
  if (rc == PAI_OK)
    rc = add_group(&b, PAI__ADMIN_GROUP, true, &b.vcs);
  if (rc == PAI_OK && !has_default)
    rc = add_vcs_group(&b, PAI__DEFAULT_GROUP);
  for (size_t i = 0; i < b.vcs.n && rc == PAI_OK; i++)
    rc = add_vcs_group(&b, b.vcs.at[i]);
  pai__strings_free(&a->alloc, &b.vcs);
  return pai__account_update_end(&b.e, rc, err);
}

/* --- the first user ------------------------------------------------------ */

/* Draws a password of 20 letters and digits that cannot be confused. */
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

/* Stores with the next commit that the password of this hash was not shown;
 * NULL: it was shown. */
static int put_untold(pai_accounts *a, const char *hash)
{
  if (pai__batch_put_meta(a->host.batch(a->host.ctx), UNTOLD, hash) < 0)
    return PAI_ENOMEM;
  return pai__set_text(&a->alloc, &a->untold, hash);
}

int pai__first_read(pai_accounts *a, pai_error **err)
{
  return pai__store_meta(a->host.store, &a->untold, UNTOLD, err);
}

/* Finds the user whose password was not shown. */
static const pai__account *find_untold(const pai_accounts *a)
{
  for (size_t i = 0; a->untold != NULL && i < a->accounts.n; i++) {
    const pai__account *account = a->accounts.at[i];

    if (strcmp(account->user->password, a->untold) == 0)
      return account;
  }
  return NULL;
}

static int write_first(const pai__op *op, pai__buf *answer, pai_error **err)
{
  pai__json_writer w;

  pai__json_writer_init(&w, answer, false);
  pai__json_write(&w,
                  op->tell_fresh ? "{username:s,password:s}" : "{username:s}",
                  op->user, op->fresh);
  return pai__json_finish(&w) < 0 ? pai__oom(err) : PAI_OK;
}

/* Stores `untold` first: a hash that no user has does no harm. */
static int finish_setup(pai__op *op, pai__buf *answer, pai_error **err)
{
  int rc;

  if (!pai__buf_reserve(answer, ANSWER) ||
      (op->tell_fresh && put_untold(op->a, op->hash) < 0))
    return pai__oom(err);
  rc = pai__user_put_do(op->a, &op->put, op->hash, err);
  return rc == PAI_OK ? write_first(op, answer, err) : rc;
}

/* Replaces the password that was not shown, unless it was changed
 * meanwhile. */
static int finish_again(pai__op *op, pai__buf *answer, pai_error **err)
{
  pai_accounts *a = op->a;
  const pai__account *account = find_untold(a);
  char *untold = NULL;
  pai__account_update e;
  int rc;

  if (account == NULL || strcmp(account->name, op->user) != 0) {
    op->tell_fresh = false;
    pai__buf_str(answer, "{}");
    return PAI_OK;
  }
  if (!pai__buf_reserve(answer, ANSWER) ||
      (op->tell_fresh && pai__set_text(&a->alloc, &untold, op->hash) < 0))
    return pai__oom(err);
  pai__account_update_begin(&e, a);
  rc = pai__renew_password(&e, op, account, err);
  if (rc == PAI_OK &&
      pai__batch_put_meta(a->host.batch(a->host.ctx), UNTOLD, untold) < 0)
    rc = pai__oom(err);
  rc = pai__account_update_end(&e, rc, err);
  if (rc < 0) {
    pai__strfree(&a->alloc, untold);
    return rc;
  }
  pai__strfree(&a->alloc, a->untold);
  a->untold = untold;
  return write_first(op, answer, err);
}

static int set_password(pai__op *op, const char *password, pai_error **err)
{
  int rc = password == NULL ? draw_password(op, err)
                            : pai__op_text(op, &op->fresh, password, err);

  op->safe = true;
  return rc == PAI_OK ? pai__op_start(op, err) : rc;
}

void pai__first_told(const pai__op *op)
{
  pai_accounts *a = op->a;

  if (op->tell_fresh && put_untold(a, NULL) == PAI_OK)
    a->host.changed(a->host.ctx, false, false);
}

int pai__first_lost(const pai_error *why, int rc, pai_error **err)
{
  (void)pai__fail(
    err, rc,
    "the first account cannot be stored, and no password was printed: %s",
    why != NULL        ? pai_error_message(why)
    : rc == PAI_ENOMEM ? "out of memory"
                       : "the platform ends");
  pai__error_help(
    err,
    "correct this and start the platform again, which then prints a password");
  return rc;
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
  return rc == PAI_OK ? set_password(op, password, err) : rc;
}

static int tell_again(pai__op *op, const char *user, const char *password,
                      pai_error **err)
{
  int rc = pai__op_text(op, &op->user, user, err);

  op->finish = finish_again;
  return rc == PAI_OK ? set_password(op, password, err) : rc;
}

static int begin_setup(pai__op *op, const char *user, const char *password,
                       pai_error **err)
{
  const pai__account *untold;
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
  untold = find_untold(op->a);
  if (untold != NULL && op->a->unsafe == 0 && user[0] != '\0') {
    pai__buf_clear(&op->answer);
    return tell_again(op, untold->name, password, err);
  }
  pai__op_ready(op);
  return PAI_OK;
}

int pai_accounts_setup(pai_accounts *a, const char *user, const char *password,
                       pai_account_cb cb, void *user_data, pai_error **err)
{
  pai__op *op;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  if (user == NULL)
    user = "admin";
  if (user[0] != '\0' && !pai__is_user_name(user))
    return pai__invalid(err, "no user can be called \"%.64s\"", user);
  if (password != NULL) {
    rc = pai__password_check(a, "password", user, password, err);
    if (rc < 0)
      return rc;
  }
  rc = pai__op_new(&op, a, cb, user_data, err);
  if (rc < 0)
    return rc;
  rc = begin_setup(op, user, password, err);
  if (rc < 0)
    pai__op_free(op);
  return rc;
}
