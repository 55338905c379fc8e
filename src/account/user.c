/* user.c - users: their state, and output of it */
#include "account/inside.h"

/* --- life ---------------------------------------------------------------- */

void pai__user_free(pai_accounts *a, pai__account_user *user)
{
  if (user == NULL)
    return;
  pai__strfree(&a->alloc, user->name);
  pai__forget(&a->alloc, user->password);
  pai__strfree(&a->alloc, user->email);
  pai__forget(&a->alloc, user->extension);
  (void)pai__set_bytes(&a->alloc, &user->closed, (pai__bytes){ NULL, 0 });
  pai__strings_free(&a->alloc, &user->groups);
  pai__free(&a->alloc, user, sizeof(*user));
}

static pai__account_user *make(pai_accounts *a, const pai__account_user *from)
{
  pai__account_user *user = pai__zalloc(&a->alloc, sizeof(*user));

  if (user == NULL)
    return NULL;
  user->created = from->created;
  memcpy(user->quota, from->quota, sizeof(user->quota));
  user->quota_set = from->quota_set;
  if (pai__set_text(&a->alloc, &user->name, from->name) == PAI_OK &&
      pai__set_text(&a->alloc, &user->password, from->password) == PAI_OK &&
      pai__set_text(&a->alloc, &user->email, from->email) == PAI_OK &&
      pai__set_text(&a->alloc, &user->extension, from->extension) == PAI_OK &&
      pai__set_bytes(&a->alloc, &user->closed, from->closed) == PAI_OK &&
      pai__strings_copy(&a->alloc, &user->groups, &from->groups) == PAI_OK)
    return user;
  pai__user_free(a, user);
  return NULL;
}

pai__account_user *pai__user_new(pai_accounts *a, const char *name)
{
  char none[] = "", empty[] = "{}";
  pai__account_user from = { .password = none,
                             .email = none,
                             .extension = empty };

  from.name = (char *)(uintptr_t)name; /* make() copies it */
  from.created = a->host.now(a->host.ctx);
  return make(a, &from);
}

pai__account_user *pai__user_copy(pai_accounts *a,
                                  const pai__account_user *user)
{
  return make(a, user);
}

void pai__account_free(pai_accounts *a, pai__account *account)
{
  while (account->tokens != NULL)
    pai__token_free(a, account->tokens);
  pai__user_free(a, account->user);
  pai__free(&a->alloc, account, sizeof(*account));
}

/* Reads a JSON list of names that was written by this room. */
static int read_groups(pai_accounts *a, pai__strings *to, const char *json,
                       pai_error **err)
{
  pai__json_options o = { .alloc = &a->alloc };
  pai__tree *t;
  int rc = pai__json_parse(&t, json, strlen(json), &o, err);

  if (rc < 0)
    return rc;
  if (pai__input_names(&a->alloc, t, 0, to) < 0)
    rc = pai__oom(err);
  pai__tree_free(t);
  return rc;
}

int pai__user_add(pai_accounts *a, const pai__account_row *row,
                  pai_error **err)
{
  pai__account *account = pai__zalloc(&a->alloc, sizeof(*account));
  char *extension = NULL;
  int rc = PAI_ENOMEM;

  if (account == NULL)
    return pai__oom(err);
  account->user = pai__user_new(a, row->name);
  if (row->secret.len > 0)
    extension = pai__strndup(&a->alloc, row->secret.data, row->secret.len);
  if (account->user != NULL && (extension != NULL || row->secret.len == 0) &&
      pai__set_text(&a->alloc, &account->user->password, row->password) ==
        PAI_OK &&
      pai__set_text(&a->alloc, &account->user->email, row->email) == PAI_OK &&
      pai__set_text(&a->alloc, &account->user->extension,
                    extension != NULL ? extension : "{}") == PAI_OK &&
      pai__set_bytes(&a->alloc, &account->user->closed, row->closed) ==
        PAI_OK &&
      pai__table_room(&a->alloc, &a->accounts, 1) == PAI_OK)
    rc = read_groups(a, &account->user->groups, row->groups, err);
  else
    rc = pai__oom(err);
  pai__forget(&a->alloc, extension);
  if (rc == PAI_OK &&
      pai__quota_read(&a->alloc, account->user->quota,
                      &account->user->quota_set, row->quota) < 0)
    rc = pai__oom(err);
  if (rc < 0) {
    pai__account_free(a, account);
    return rc;
  }
  account->user->created = row->created;
  account->name = account->user->name;
  pai__table_add(&a->accounts, account);
  return PAI_OK;
}

/* --- rights -------------------------------------------------------------- */

pai__account *pai__find_account(const pai_accounts *a, const char *name)
{
  return pai__table_find(&a->accounts, name);
}

bool pai__user_is_admin(const pai_accounts *a, const pai__account_user *user)
{
  for (size_t i = 0; i < user->groups.n; i++) {
    const pai__account_group *group = pai__find_group(a, user->groups.at[i]);
    if (group != NULL && group->admin)
      return true;
  }
  return false;
}

size_t pai__accounts_count(const pai_accounts *a)
{
  return a->accounts.n;
}

int pai_accounts_has_user(const pai_accounts *a, const char *user)
{
  return a != NULL && user != NULL && pai__find_account(a, user) != NULL;
}

int pai_accounts_is_admin(const pai_accounts *a, const char *user)
{
  const pai__account *account =
    a != NULL && user != NULL ? pai__find_account(a, user) : NULL;

  return account != NULL && pai__user_is_admin(a, account->user);
}

bool pai__accounts_is_member(const pai_accounts *a, const char *user,
                             const char *group)
{
  const pai__account *account = pai__find_account(a, user);

  return account != NULL && pai__strings_has(&account->user->groups, group);
}

bool pai__accounts_has_group(const pai_accounts *a, const char *group)
{
  return pai__find_group(a, group) != NULL;
}

pai_time pai__accounts_since(const pai_accounts *a, const char *user)
{
  const pai__account *account = pai__find_account(a, user);

  return account != NULL ? account->user->created : 0;
}

static int is_it(void *user_data, const char *name)
{
  return strcmp(user_data, name) == 0 ? PAI_EEXISTS : PAI_OK;
}

int pai_accounts_may_use_vc(const pai_accounts *a, const char *user,
                            const char *vc)
{
  const pai__account *account =
    a != NULL && user != NULL ? pai__find_account(a, user) : NULL;

  if (account == NULL || vc == NULL)
    return 0;
  if (pai__user_is_admin(a, account->user))
    return a->host.vcs(a->host.ctx, is_it, (void *)(uintptr_t)vc) ==
           PAI_EEXISTS;
  for (size_t i = 0; i < account->user->groups.n; i++) {
    const pai__account_group *group =
      pai__find_group(a, account->user->groups.at[i]);
    if (group != NULL && pai__strings_has(&group->vcs, vc))
      return 1;
  }
  return 0;
}

/* --- output -------------------------------------------------------------- */

static int write_name(void *user_data, const char *name)
{
  pai__json_string(user_data, name);
  return PAI_OK;
}

typedef const pai__strings *(*of_group)(const pai__account_group *group);

static const pai__strings *vcs_of(const pai__account_group *group)
{
  return &group->vcs;
}

static const pai__strings *storages_of(const pai__account_group *group)
{
  return &group->storages;
}

/* Returns whether an earlier group of the user has the name in its list. */
static bool was_before(const pai_accounts *a, const pai__account_user *user,
                       size_t n, of_group list, const char *name)
{
  for (size_t i = 0; i < n; i++) {
    const pai__account_group *group = pai__find_group(a, user->groups.at[i]);
    if (group != NULL && pai__strings_has(list(group), name))
      return true;
  }
  return false;
}

/* Writes the union of the lists of all groups of the user. */
static void write_union(pai__json_writer *w, const pai_accounts *a,
                        const pai__account_user *user, of_group list)
{
  for (size_t i = 0; i < user->groups.n; i++) {
    const pai__account_group *group = pai__find_group(a, user->groups.at[i]);
    for (size_t j = 0; group != NULL && j < list(group)->n; j++)
      if (!was_before(a, user, i, list, list(group)->at[j]))
        (void)write_name(w, list(group)->at[j]);
  }
}

typedef struct user_reply {
  pai__json_writer *w;
  const pai_accounts *a;
  const pai__account_user *user;
  const char *viewer; /* or NULL */
  bool admin;
} user_reply;

static int write_extension(const user_reply *r)
{
  const pai__account_user *user = r->user;

  if (r->viewer == NULL || strcmp(r->viewer, user->name) != 0)
    return pai__extension_write(&r->a->alloc, r->w, user->extension);
  pai__json_ready(r->w, user->extension, strlen(user->extension));
  return PAI_OK;
}

static int user_value(void *user_data, unsigned field, const void *row)
{
  const user_reply *r = user_data;

  (void)row;
  switch (field) {
  case PAI__User_extension: return write_extension(r);
  case PAI__User_grouplist: pai__wire_names(r->w, &r->user->groups); break;
  case PAI__User_admin: pai__json_bool(r->w, r->admin); break;
  default: /* PAI__User_virtualCluster, PAI__User_storageConfig */
    pai__json_begin_array(r->w);
    if (field == PAI__User_storageConfig)
      write_union(r->w, r->a, r->user, storages_of);
    else if (r->admin)
      (void)r->a->host.vcs(r->a->host.ctx, write_name, r->w);
    else
      write_union(r->w, r->a, r->user, vcs_of);
    pai__json_end_array(r->w);
  }
  return PAI_OK;
}

static int write_user(pai__json_writer *w, const pai_accounts *a,
                      const pai__account_user *user, const char *viewer)
{
  const pai__account_row row = { .name = user->name, .email = user->email };
  user_reply r = { w, a, user, viewer, pai__user_is_admin(a, user) };

  return pai__api_object(w, &pai__api_User, &row, user_value, &r);
}

int pai_accounts_write_user(pai_accounts *a, const char *user,
                            const char *viewer, pai_write_cb write,
                            void *user_data, pai_error **err)
{
  const pai__account *account;
  pai__wire o;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(user != NULL && write != NULL, err);
  account = pai__find_account(a, user);
  if (account == NULL)
    return pai__no_user(err, 400, user);
  pai__wire_begin(&o, &a->alloc, write, user_data);
  return pai__wire_end(&o, write_user(&o.w, a, account->user, viewer), err);
}

int pai_accounts_write_users(pai_accounts *a, const char *viewer,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  pai__wire o;
  int rc = PAI_OK;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  pai__wire_begin(&o, &a->alloc, write, user_data);
  pai__json_begin_array(&o.w);
  for (size_t i = 0; i < a->accounts.n && rc == PAI_OK; i++)
    rc =
      write_user(&o.w, a, ((pai__account *)a->accounts.at[i])->user, viewer);
  pai__json_end_array(&o.w);
  return pai__wire_end(&o, rc, err);
}
