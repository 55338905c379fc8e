/* storage.c - storages that users may be granted */
#include "account/inside.h"

#include <stdio.h>

/* --- life -------------------------------------------------------------------------- */

void pai__depot_free(pai_accounts *a, pai__depot *depot)
{
  if (depot == NULL)
    return;
  pai__strfree(&a->alloc, depot->name);
  pai__strfree(&a->alloc, depot->type);
  pai__forget(&a->alloc, depot->data);
  (void)pai__set_bytes(&a->alloc, &depot->closed, (pai__bytes){ NULL, 0 });
  pai__strfree(&a->alloc, depot->secret_name);
  pai__strfree(&a->alloc, depot->mounted_at);
  pai__strings_free(&a->alloc, &depot->options);
  pai__free(&a->alloc, depot, sizeof(*depot));
}

static int read_options(pai_accounts *a, pai__depot *depot, const char *json)
{
  pai__json_options o = { .alloc = &a->alloc };
  pai__tree *t;
  int rc;

  depot->has_options = json != NULL;
  if (json == NULL)
    return PAI_OK;
  rc = pai__json_parse(&t, json, strlen(json), &o, NULL);
  if (rc < 0)
    return rc;
  rc = pai__input_names(&a->alloc, t, 0, &depot->options);
  pai__tree_free(t);
  return rc;
}

int pai__depot_add(pai_accounts *a, const pai__storage_row *row,
                   pai_error **err)
{
  pai__depot *depot = pai__zalloc(&a->alloc, sizeof(*depot));
  const pai_alloc *alloc = &a->alloc;

  if (depot == NULL)
    return pai__oom(err);
  depot->shared = row->shared;
  depot->readonly = row->readonly;
  depot->data = row->secret.len > 0
                  ? pai__strndup(alloc, row->secret.data, row->secret.len)
                  : pai__strdup(alloc, "{}");
  if (depot->data != NULL &&
      pai__set_bytes(alloc, &depot->closed, row->closed) == PAI_OK &&
      pai__set_text(alloc, &depot->name, row->name) == PAI_OK &&
      pai__set_text(alloc, &depot->type, row->type) == PAI_OK &&
      pai__set_text(alloc, &depot->secret_name, row->secret_name) == PAI_OK &&
      pai__set_text(alloc, &depot->mounted_at, row->mounted_at) == PAI_OK &&
      read_options(a, depot, row->options) == PAI_OK &&
      pai__table_room(alloc, &a->depots, 1) == PAI_OK) {
    pai__table_add(&a->depots, depot);
    return PAI_OK;
  }
  pai__depot_free(a, depot);
  return pai__oom(err);
}

/* --- putting ------------------------------------------------------------------------- */

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

/* Absolute, and without a way up. */
static bool is_folder(const char *path)
{
  size_t len = strlen(path);

  return path[0] == '/' && len < 4096 && strstr(path, "/../") == NULL &&
         (len < 3 || strcmp(path + len - 3, "/..") != 0);
}

typedef struct depot_put {
  pai__tree *tree;
  const char *name, *type, *secret_name, *mounted_at;
  pai__node data, options;
  bool shared, readonly;
} depot_put;

static int read_members(depot_put *put, pai_error **err)
{
  const pai__tree *t = put->tree;
  int rc;

  if ((rc = pai__input_text(t, "name", &put->name, err)) < 0 ||
      (rc = pai__input_text(t, "type", &put->type, err)) < 0 ||
      (rc = pai__input_text(t, "secretName", &put->secret_name, err)) < 0 ||
      (rc = pai__input_text(t, "mountedAt", &put->mounted_at, err)) < 0 ||
      (rc = pai__input_bool(t, "share", &put->shared, err)) < 0 ||
      (rc = pai__input_bool(t, "readOnly", &put->readonly, err)) < 0 ||
      (rc = pai__input_object(t, "data", &put->data, err)) < 0)
    return rc;
  return pai__input_list(t, "mountOptions", &put->options, err);
}

/* The folder of a local one is where this machine has it. */
static int check_local(depot_put *put, pai_error **err)
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

static int read_put(depot_put *put, pai_error **err)
{
  int rc = read_members(put, err);

  if (rc < 0)
    return rc;
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

static char *data_text(pai_accounts *a, const depot_put *put)
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

/* Who says nothing of its data does not mean what cannot be read of it. */
static int keep_closed(pai_accounts *a, pai__depot *depot,
                       const depot_put *put)
{
  const pai__depot *old = pai__table_find(&a->depots, put->name);

  if (old == NULL || put->data != PAI__NO_NODE)
    return PAI_OK;
  return pai__set_bytes(&a->alloc, &depot->closed, old->closed);
}

static pai__depot *make(pai_accounts *a, const depot_put *put)
{
  pai__depot *depot = pai__zalloc(&a->alloc, sizeof(*depot));
  const pai_alloc *alloc = &a->alloc;

  if (depot == NULL)
    return NULL;
  depot->shared = put->shared;
  depot->readonly = put->readonly;
  depot->has_options = put->options != PAI__NO_NODE;
  depot->data = data_text(a, put);
  if (depot->data != NULL && keep_closed(a, depot, put) == PAI_OK &&
      pai__set_text(alloc, &depot->name, put->name) == PAI_OK &&
      pai__set_text(alloc, &depot->type, put->type) == PAI_OK &&
      pai__set_text(alloc, &depot->secret_name, put->secret_name) == PAI_OK &&
      pai__set_text(alloc, &depot->mounted_at, put->mounted_at) == PAI_OK &&
      (!depot->has_options || pai__input_names(alloc, put->tree, put->options,
                                               &depot->options) == PAI_OK))
    return depot;
  pai__depot_free(a, depot);
  return NULL;
}

int pai_accounts_put_storage(pai_accounts *a, const char *json, size_t len,
                             pai_error **err)
{
  static const char *const members[] = {
    "name",         "type",       "data",      "share", "readOnly",
    "mountOptions", "secretName", "mountedAt", NULL
  };
  depot_put put = { .data = PAI__NO_NODE,
                    .options = PAI__NO_NODE,
                    .shared = true };
  pai__depot *depot = NULL;
  pai__amend e;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(a != NULL && json != NULL, err);
  PAI__CHECK_PROCESS(a, err);
  rc = pai__input_parse(&put.tree, &a->alloc, json, len, members, err);
  if (rc == PAI_OK)
    rc = read_put(&put, err);
  if (rc == PAI_OK && (depot = make(a, &put)) == NULL)
    rc = pai__oom(err);
  pai__tree_free(put.tree);
  if (rc < 0)
    return rc;
  pai__amend_begin(&e, a);
  return pai__amend_end(&e, pai__amend_depot(&e, depot, err), err);
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
  pai__depot *depot;
  pai__amend e;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(a != NULL && name != NULL, err);
  PAI__CHECK_PROCESS(a, err);
  depot = pai__table_find(&a->depots, name);
  if (depot == NULL)
    return no_storage(err, name, 404, "NoStorageError");
  pai__amend_begin(&e, a);
  return pai__amend_end(&e, pai__amend_drop_depot(&e, depot, err), err);
}

/* --- to whom ------------------------------------------------------------------------------ */

/* Is it in a group's list; and first there? */
static bool is_granted(const pai_accounts *a, const pai__user *user,
                       const char *name, bool *usual)
{
  bool granted = false;

  *usual = false;
  for (size_t i = 0; i < user->groups.n; i++) {
    const pai__team *group = pai__find_group(a, user->groups.at[i]);
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

  for (size_t i = 0; i < a->depots.n && rc >= 0; i++) {
    const pai__depot *depot = a->depots.at[i];
    pai__mounted m = { .name = depot->name,
                       .path = depot->mounted_at,
                       .shared = depot->shared,
                       .readonly = depot->readonly,
                       .granted = owner != NULL,
                       .before = pai__accounts_before(a, user, job) };
    if (account != NULL)
      m.granted = is_granted(a, account->user, depot->name, &m.usual);
    rc = cb(user_data, &m);
  }
  return rc;
}

/* --- writing --------------------------------------------------------------------------------- */

static void write_summary(pai__json_writer *w, const pai__depot *depot)
{
  pai__wire_text(w, "name", depot->name);
  pai__wire_bool(w, "share", depot->shared);
  pai__wire_text(w, "volumeName", depot->name);
}

/* OpenPAI's portal shows nothing of a user where it does not know a type. */
static const char *type_of(const pai__depot *depot)
{
  return strcmp(depot->type, "local") == 0 ? "unknown" : depot->type;
}

static void write_detail(pai__json_writer *w, const pai__depot *depot)
{
  write_summary(w, depot);
  pai__wire_text(w, "type", type_of(depot));
  if (strcmp(depot->type, "local") == 0)
    pai__wire_bool(w, "local", true);
  pai__wire_key(w, "data");
  pai__json_ready(w, depot->data, strlen(depot->data));
  pai__wire_bool(w, "readOnly", depot->readonly);
  if (depot->has_options)
    pai__wire_names(w, "mountOptions", &depot->options);
  if (depot->secret_name != NULL)
    pai__wire_text(w, "secretName", depot->secret_name);
}

static void write_config(pai__json_writer *w, const pai__depot *depot,
                         bool usual)
{
  char path[80];

  (void)snprintf(path, sizeof(path), "/mnt/%s", depot->name);
  pai__wire_text(w, "name", depot->name);
  pai__wire_bool(w, "default", usual);
  pai__wire_key(w, "servers");
  pai__json_begin_array(w);
  pai__json_text(w, depot->name, strlen(depot->name));
  pai__json_end_array(w);
  pai__wire_key(w, "mountInfos");
  pai__json_begin_array(w);
  pai__json_begin_object(w);
  pai__wire_text(w, "mountPoint", path);
  pai__wire_text(w, "path", depot->shared ? "" : "${PAI_USER_NAME}");
  pai__wire_text(w, "server", depot->name);
  pai__wire_text(w, "permission", "rw");
  pai__json_end_object(w);
  pai__json_end_array(w);
}

static void write_server(pai__json_writer *w, const pai__depot *depot)
{
  const char *from = type_of(depot);
  char type[16] = "";

  for (size_t i = 0; i < sizeof(type) - 1 && from[i] != '\0'; i++)
    type[i] =
      (char)(from[i] >= 'A' && from[i] <= 'Z' ? from[i] + 32 : from[i]);
  pai__wire_text(w, "spn", depot->name);
  pai__wire_text(w, "type", type);
  pai__wire_key(w, "data");
  pai__json_ready(w, depot->data, strlen(depot->data));
  pai__wire_key(w, "extension");
  pai__json_begin_object(w);
  pai__json_end_object(w);
}

/* `one`: alone, not in a list. */
static void write_one(pai__json_writer *w, const pai__depot *depot, int form,
                      bool usual, bool one)
{
  pai__json_begin_object(w);
  switch (form) {
  case PAI_STORAGE_SUMMARY:
    write_summary(w, depot);
    if (!one)
      pai__wire_bool(w, "default", usual);
    break;
  case PAI_STORAGE_DETAIL: write_detail(w, depot); break;
  case PAI_STORAGE_CONFIG: write_config(w, depot, usual); break;
  default: write_server(w, depot); break;
  }
  pai__json_end_object(w);
}

/* Is it one of a list with commas? */
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

static void write_list(pai__json_writer *w, const pai_accounts *a,
                       const pai_storage_query *q)
{
  const pai__account *account =
    q->user != NULL ? pai__find_account(a, q->user) : NULL;

  for (size_t i = 0; i < a->depots.n; i++) {
    const pai__depot *depot = a->depots.at[i];
    bool usual = false, granted = q->user == NULL;

    if (account != NULL)
      granted = is_granted(a, account->user, depot->name, &usual);
    if (granted && (q->usual == 0 || usual) &&
        (q->names == NULL || is_named(q->names, depot->name)))
      write_one(w, depot, q->form, usual, false);
  }
}

static int find_one(const pai__depot **out, bool *usual, const pai_accounts *a,
                    const pai_storage_query *q, pai_error **err)
{
  const pai__account *account =
    q->user != NULL ? pai__find_account(a, q->user) : NULL;
  bool old = q->form >= PAI_STORAGE_CONFIG;

  *out = pai__table_find(&a->depots, q->name);
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
  const pai__depot *one = NULL;
  pai_storage_query q;
  bool usual = false;
  pai__wire o;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(a != NULL && write != NULL, err);
  PAI__CHECK_PROCESS(a, err);
  rc = PAI__COPY_IN(&q, query, pai_storage_query, usual);
  if (rc < 0)
    return pai__fail_struct(err, rc, query, "pai_storage_query");
  if (q.form < PAI_STORAGE_SUMMARY || q.form > PAI_STORAGE_SERVER ||
      (q.form == PAI_STORAGE_DETAIL && q.name == NULL))
    return pai__fail(err, PAI_EINVAL,
                     "pai_storage_query: no such form, or no name");
  if (q.name != NULL && (rc = find_one(&one, &usual, a, &q, err)) < 0)
    return rc;
  pai__wire_begin(&o, a, write, user_data);
  if (one != NULL) {
    write_one(&o.w, one, q.form, usual, true);
    return pai__wire_end(&o, PAI_OK, err);
  }
  if (q.form == PAI_STORAGE_SUMMARY) {
    pai__json_begin_object(&o.w);
    pai__wire_key(&o.w, "storages");
  }
  pai__json_begin_array(&o.w);
  write_list(&o.w, a, &q);
  pai__json_end_array(&o.w);
  if (q.form == PAI_STORAGE_SUMMARY)
    pai__json_end_object(&o.w);
  return pai__wire_end(&o, PAI_OK, err);
}
