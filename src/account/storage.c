/* storage.c - storages that groups can grant to users */
#include "account/inside.h"

#include <stdio.h>

/* --- life ---------------------------------------------------------------- */

void pai__account_storage_free(pai_accounts *a, pai__account_storage *storage)
{
  if (storage == NULL)
    return;
  pai__strfree(&a->alloc, storage->name);
  pai__strfree(&a->alloc, storage->type);
  pai__forget(&a->alloc, storage->data);
  (void)pai__set_bytes(&a->alloc, &storage->closed, (pai__bytes){ NULL, 0 });
  pai__strfree(&a->alloc, storage->secret_name);
  pai__strfree(&a->alloc, storage->mounted_at);
  pai__strings_free(&a->alloc, &storage->options);
  pai__free(&a->alloc, storage, sizeof(*storage));
}

static int read_options(pai_accounts *a, pai__account_storage *storage,
                        const char *json)
{
  pai__json_options o = { .alloc = &a->alloc };
  pai__tree *t;
  int rc;

  storage->has_options = json != NULL;
  if (json == NULL)
    return PAI_OK;
  rc = pai__json_parse(&t, json, strlen(json), &o, NULL);
  if (rc < 0)
    return rc;
  rc = pai__input_names(&a->alloc, t, 0, &storage->options);
  pai__tree_free(t);
  return rc;
}

int pai__account_storage_add(pai_accounts *a, const pai__storage_row *row,
                             pai_error **err)
{
  pai__account_storage *storage = pai__zalloc(&a->alloc, sizeof(*storage));
  const pai_alloc *alloc = &a->alloc;

  if (storage == NULL)
    return pai__oom(err);
  storage->shared = row->shared;
  storage->readonly = row->readonly;
  storage->data = row->secret.len > 0
                    ? pai__strndup(alloc, row->secret.data, row->secret.len)
                    : pai__strdup(alloc, "{}");
  if (storage->data != NULL &&
      pai__set_bytes(alloc, &storage->closed, row->closed) == PAI_OK &&
      pai__set_text(alloc, &storage->name, row->name) == PAI_OK &&
      pai__set_text(alloc, &storage->type, row->type) == PAI_OK &&
      pai__set_text(alloc, &storage->secret_name, row->secret_name) ==
        PAI_OK &&
      pai__set_text(alloc, &storage->mounted_at, row->mounted_at) == PAI_OK &&
      read_options(a, storage, row->options) == PAI_OK &&
      pai__table_room(alloc, &a->storages, 1) == PAI_OK) {
    pai__table_add(&a->storages, storage);
    return PAI_OK;
  }
  pai__account_storage_free(a, storage);
  return pai__oom(err);
}

/* --- creating and updating ----------------------------------------------- */

static bool is_type(const char *type)
{
  static const char *const types[] = { "local", "nfs",      "azureFile",
                                       "samba", "dshuttle", "azureBlob",
                                       "other" };

  for (size_t i = 0; i < PAI__LEN(types); i++)
    if (strcmp(types[i], type) == 0)
      return true;
  return false;
}

/* Returns whether a path is absolute and has no "..". */
static bool is_folder(const char *path)
{
  size_t len = strlen(path);

  return path[0] == '/' && len < 4096 && strstr(path, "/../") == NULL &&
         (len < 3 || strcmp(path + len - 3, "/..") != 0);
}

typedef struct storage_put {
  pai__tree *tree;
  const char *name, *type, *secret_name, *mounted_at;
  pai__node data, options;
  bool shared, readonly;
} storage_put;

/* Checks that a local storage has a folder on this machine. */
static int check_local(storage_put *put, pai_error **err)
{
  const pai__tree *t = put->tree;
  pai__node path = put->data != PAI__NO_NODE
                     ? pai__tree_get(t, put->data, "path")
                     : PAI__NO_NODE;

  if (path == PAI__NO_NODE || pai__tree_type(t, path) != PAI__STRING)
    return pai__invalid(err, "a storage of type \"local\" needs data.path");
  if (put->mounted_at == NULL)
    put->mounted_at = pai__tree_str(t, path, NULL);
  return PAI_OK;
}

static int check_put(storage_put *put, pai_error **err)
{
  int rc;

  if (put->name == NULL || put->type == NULL)
    return pai__invalid(err, "\"%s\" is required",
                        put->name == NULL ? "name" : "type");
  if (!pai__is_user_name(put->name))
    return pai__invalid(err, "\"name\" must have 1 to 64 letters, digits, _, "
                             "- and ., and not begin with a dot");
  if (!is_type(put->type))
    return pai__invalid(err,
                        "\"type\" must be local, nfs, azureFile, azureBlob, "
                        "samba, dshuttle or other");
  if (strcmp(put->type, "local") == 0 && (rc = check_local(put, err)) < 0)
    return rc;
  if (put->mounted_at != NULL && !is_folder(put->mounted_at))
    return pai__invalid(err, "\"%.200s\" is no absolute path of a folder",
                        put->mounted_at);
  return PAI_OK;
}

static char *data_text(pai_accounts *a, const storage_put *put)
{
  pai__json_writer w;
  pai__buf b;
  char *text = NULL;

  if (put->data == PAI__NO_NODE)
    return pai__strdup(&a->alloc, "{}");
  pai__buf_init(&b, &a->alloc);
  pai__json_writer_init(&w, &b, false);
  pai__json_node(&w, put->tree, put->data);
  if (pai__json_finish(&w) == PAI_OK)
    text = pai__buf_take(&b);
  pai__buf_dispose(&b);
  return text;
}

/* A request without data keeps data that cannot be decrypted. */
static int keep_closed(pai_accounts *a, pai__account_storage *storage,
                       const storage_put *put)
{
  const pai__account_storage *old = pai__table_find(&a->storages, put->name);

  if (old == NULL || put->data != PAI__NO_NODE)
    return PAI_OK;
  return pai__set_bytes(&a->alloc, &storage->closed, old->closed);
}

static pai__account_storage *make(pai_accounts *a, const storage_put *put)
{
  pai__account_storage *storage = pai__zalloc(&a->alloc, sizeof(*storage));
  const pai_alloc *alloc = &a->alloc;

  if (storage == NULL)
    return NULL;
  storage->shared = put->shared;
  storage->readonly = put->readonly;
  storage->has_options = put->options != PAI__NO_NODE;
  storage->data = data_text(a, put);
  if (storage->data != NULL && keep_closed(a, storage, put) == PAI_OK &&
      pai__set_text(alloc, &storage->name, put->name) == PAI_OK &&
      pai__set_text(alloc, &storage->type, put->type) == PAI_OK &&
      pai__set_text(alloc, &storage->secret_name, put->secret_name) ==
        PAI_OK &&
      pai__set_text(alloc, &storage->mounted_at, put->mounted_at) == PAI_OK &&
      (!storage->has_options ||
       pai__input_names(alloc, put->tree, put->options, &storage->options) ==
         PAI_OK))
    return storage;
  pai__account_storage_free(a, storage);
  return NULL;
}

int pai_accounts_put_storage(pai_accounts *a, const char *json, size_t len,
                             pai_error **err)
{
  static const pai__input_field fields[] = {
    { "name", PAI__INPUT_TEXT, offsetof(storage_put, name) },
    { "type", PAI__INPUT_TEXT, offsetof(storage_put, type) },
    { "secretName", PAI__INPUT_TEXT, offsetof(storage_put, secret_name) },
    { "mountedAt", PAI__INPUT_TEXT, offsetof(storage_put, mounted_at) },
    { "share", PAI__INPUT_BOOL, offsetof(storage_put, shared) },
    { "readOnly", PAI__INPUT_BOOL, offsetof(storage_put, readonly) },
    { "data", PAI__INPUT_OBJECT, offsetof(storage_put, data) },
    { "mountOptions", PAI__INPUT_LIST, offsetof(storage_put, options) },
    { NULL, PAI__INPUT_TEXT, 0 }
  };
  storage_put put = { .data = PAI__NO_NODE,
                      .options = PAI__NO_NODE,
                      .shared = true };
  pai__account_storage *storage = NULL;
  pai__account_update e;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(json != NULL, err);
  rc = pai__input_parse(&put.tree, &a->alloc, json, len, fields, &put, err);
  if (rc == PAI_OK)
    rc = check_put(&put, err);
  if (rc == PAI_OK && (storage = make(a, &put)) == NULL)
    rc = pai__oom(err);
  pai__tree_free(put.tree);
  if (rc < 0)
    return rc;
  pai__account_update_begin(&e, a);
  return pai__account_update_end(
    &e, pai__account_update_storage(&e, storage, err), err);
}

static int no_storage(pai_error **err, const char *name, int status,
                      const char *api)
{
  (void)pai__fail(err, PAI_ENOTFOUND, "Storage %.128s is not found.", name);
  return pai__as(err, PAI_ENOTFOUND, status, api);
}

int pai_accounts_remove_storage(pai_accounts *a, const char *name,
                                pai_error **err)
{
  pai__account_storage *storage;
  pai__account_update e;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(name != NULL, err);
  storage = pai__table_find(&a->storages, name);
  if (storage == NULL)
    return no_storage(err, name, 404, "NoStorageError");
  pai__account_update_begin(&e, a);
  return pai__account_update_end(
    &e, pai__account_update_drop_storage(&e, storage, err), err);
}

/* --- grants -------------------------------------------------------------- */

/* Returns whether a group of the user grants the storage; *usual: as the first
 * of a group. */
static bool is_granted(const pai_accounts *a, const pai__account_user *user,
                       const char *name, bool *usual)
{
  bool granted = false;

  *usual = false;
  for (size_t i = 0; i < user->groups.n; i++) {
    const pai__account_group *group = pai__find_group(a, user->groups.at[i]);
    if (group == NULL || !pai__strings_has(&group->storages, name))
      continue;
    granted = true;
    *usual |= strcmp(group->storages.at[0], name) == 0;
  }
  return granted;
}

int pai_accounts_may_use_storage(const pai_accounts *a, const char *user,
                                 const char *name)
{
  const pai__account *account =
    a != NULL && user != NULL ? pai__find_account(a, user) : NULL;
  bool usual;

  return account != NULL && name != NULL &&
         is_granted(a, account->user, name, &usual);
}

int pai__accounts_mounted(const pai_accounts *a, const char *user,
                          uint64_t job, pai__mounted_cb cb, void *user_data)
{
  const char *owner = pai_accounts_owner(a, user, job);
  const pai__account *account =
    owner != NULL ? pai__find_account(a, owner) : NULL;
  int rc = PAI_OK;

  for (size_t i = 0; i < a->storages.n && rc >= 0; i++) {
    const pai__account_storage *storage = a->storages.at[i];
    pai__mounted m = { .name = storage->name,
                       .path = storage->mounted_at,
                       .shared = storage->shared,
                       .readonly = storage->readonly,
                       .granted = owner != NULL,
                       .before = pai__accounts_before(a, user, job) };
    if (account != NULL)
      m.granted = is_granted(a, account->user, storage->name, &m.usual);
    rc = cb(user_data, &m);
  }
  return rc;
}

/* --- output -------------------------------------------------------------- */

static int storage_value(void *user_data, unsigned field, const void *of)
{
  const pai__shown_storage_row *row = of;
  pai__json_writer *w = user_data;

  switch (field) {
  case PAI__StorageMount_permission: pai__json_text(w, "rw", 2); break;
  case PAI__StorageConfig_servers:
    pai__json_begin_array(w);
    pai__json_string(w, row->name);
    pai__json_end_array(w);
    break;
  default: /* PAI__StorageConfig_mountInfos */
    pai__json_begin_array(w);
    (void)pai__api_object(w, &pai__api_StorageMount, row, storage_value, w);
    pai__json_end_array(w);
  }
  return PAI_OK;
}

/* Writes a storage in a form of PAI_STORAGE_*. */
static int write_one(pai__json_writer *w, const pai_accounts *a,
                     const pai__account_storage *storage, int form, bool usual)
{
  static const pai__api_record *const records[] = {
    [PAI_STORAGE_SUMMARY] = &pai__api_StorageItem,
    [PAI_STORAGE_DETAIL] = &pai__api_Storage,
    [PAI_STORAGE_CONFIG] = &pai__api_StorageConfig,
    [PAI_STORAGE_SERVER] = &pai__api_StorageServer
  };
  bool local = strcmp(storage->type, "local") == 0;
  char path[80], old_type[16] = "";
  char *options = storage->has_options
                    ? pai__strings_json(&a->alloc, &storage->options)
                    : NULL;
  pai__shown_storage_row row = { .name = storage->name,
                                 .type = local ? "unknown" : storage->type,
                                 .old_type = old_type,
                                 .shared = storage->shared,
                                 .local = { local, 1 },
                                 .usual = usual,
                                 .data = storage->data,
                                 .readonly = storage->readonly,
                                 .options = options,
                                 .secret_name = storage->secret_name,
                                 .extension = "{}",
                                 .path = path,
                                 .below =
                                   storage->shared ? "" : "${PAI_USER_NAME}" };

  if (storage->has_options && options == NULL)
    return PAI_ENOMEM;
  (void)snprintf(path, sizeof(path), "/mnt/%s", storage->name);
  for (size_t i = 0; i < sizeof(old_type) - 1 && row.type[i] != '\0'; i++)
    old_type[i] =
      (char)(row.type[i] >= 'A' && row.type[i] <= 'Z' ? row.type[i] + 32
                                                      : row.type[i]);
  (void)pai__api_object(w, records[form], &row, storage_value, w);
  pai__strfree(&a->alloc, options);
  return PAI_OK;
}

/* Returns whether a name is in a list with commas. */
static bool is_named(const char *names, const char *name)
{
  size_t len = strlen(name);

  for (const char *at = names; at != NULL; at = strchr(at, ',')) {
    at += at != names;
    if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
      return true;
  }
  return false;
}

static int write_list(pai__json_writer *w, const pai_accounts *a,
                      const pai_storage_query *q)
{
  const pai__account *account =
    q->user != NULL ? pai__find_account(a, q->user) : NULL;
  int rc = PAI_OK;

  for (size_t i = 0; i < a->storages.n && rc == PAI_OK; i++) {
    const pai__account_storage *storage = a->storages.at[i];
    bool usual = false, granted = q->user == NULL;

    if (account != NULL)
      granted = is_granted(a, account->user, storage->name, &usual);
    if (granted && (q->usual == 0 || usual) &&
        (q->names == NULL || is_named(q->names, storage->name)))
      rc = write_one(w, a, storage, q->form, usual);
  }
  return rc;
}

static int find_one(const pai__account_storage **out, bool *usual,
                    const pai_accounts *a, const pai_storage_query *q,
                    pai_error **err)
{
  const pai__account *account =
    q->user != NULL ? pai__find_account(a, q->user) : NULL;
  bool old = q->form >= PAI_STORAGE_CONFIG;

  *out = pai__table_find(&a->storages, q->name);
  *usual = false;
  if (*out == NULL)
    return no_storage(err, q->name, old ? 500 : 404,
                      old ? "UnknownError" : "NoStorageError");
  if (q->user == NULL ||
      (account != NULL && is_granted(a, account->user, q->name, usual)))
    return PAI_OK;
  (void)pai__fail(err, PAI_EPERM, "User %s is not allowed to access %s.",
                  q->user, q->name);
  return pai__as(err, PAI_EPERM, 403, "ForbiddenUserError");
}

int pai_accounts_write_storages(pai_accounts *a,
                                const pai_storage_query *query,
                                pai_write_cb write, void *user_data,
                                pai_error **err)
{
  const pai__account_storage *one = NULL;
  pai_storage_query q;
  bool usual = false;
  pai__wire o;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  rc = PAI__COPY_IN(&q, query, pai_storage_query, usual);
  if (rc < 0)
    return pai__fail_struct(err, rc, query, "pai_storage_query");
  if (q.form < PAI_STORAGE_SUMMARY || q.form > PAI_STORAGE_SERVER ||
      (q.form == PAI_STORAGE_DETAIL && q.name == NULL))
    return pai__fail(err, PAI_EINVAL,
                     "pai_storage_query: no such form, or no name");
  if (q.name != NULL && (rc = find_one(&one, &usual, a, &q, err)) < 0)
    return rc;
  pai__wire_begin(&o, &a->alloc, write, user_data);
  if (one != NULL)
    return pai__wire_end(&o, write_one(&o.w, a, one, q.form, usual), err);
  if (q.form == PAI_STORAGE_SUMMARY) {
    pai__json_begin_object(&o.w);
    pai__json_member(&o.w, "storages");
  }
  pai__json_begin_array(&o.w);
  rc = write_list(&o.w, a, &q);
  pai__json_end_array(&o.w);
  if (q.form == PAI_STORAGE_SUMMARY)
    pai__json_end_object(&o.w);
  return pai__wire_end(&o, rc, err);
}
