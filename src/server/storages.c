/*
 * storages.c - /storages: what jobs may read and write beside their code
 *
 * Everybody sees what their groups have been granted; an administrator makes
 * them (that is not in OpenPAI's API, where the cluster's own tools do it).
 */
#include "server/server.h"

/* Who is known by the kernel's word alone has no groups: it sees all. */
static const char *whose(const pai__request *r)
{
  return r->caller.self ? NULL : r->caller.name;
}

static void write_storages(pai__request *r, pai_storage_query *q)
{
  pai_error *err = NULL;
  int rc;

  q->user = whose(r);
  rc = pai_accounts_write_storages(r->server->accounts, q, pai__answer_write,
                                   &r->answer, &err);
  pai__answer_written(r, rc, err);
}

static void do_list_storages(pai__request *r)
{
  const char *usual = pai__request_query(r, "default");
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;

  q.usual = usual != NULL && strcmp(usual, "true") == 0;
  write_storages(r, &q);
}

static void do_show_storage(pai__request *r)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;

  q.form = PAI_STORAGE_DETAIL;
  q.name = r->params[0];
  write_storages(r, &q);
}

static void do_storage_config(pai__request *r)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;

  q.form = PAI_STORAGE_CONFIG;
  q.name = r->params[0];
  if (q.name == NULL)
    q.names = pai__request_query(r, "names");
  write_storages(r, &q);
}

static void do_storage_server(pai__request *r)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;

  q.form = PAI_STORAGE_SERVER;
  q.name = r->params[0];
  if (q.name == NULL)
    q.names = pai__request_query(r, "names");
  write_storages(r, &q);
}

/* The name is the path's. */
static void do_put_storage(pai__request *r)
{
  pai__tree_walk walk = pai__tree_iter(r->form, 0);
  pai__json_writer w;
  pai_error *err = NULL;
  pai__buf json;
  pai__node k;
  int rc;

  pai__buf_init(&json, &r->server->alloc);
  pai__json_writer_init(&w, &json, false);
  pai__json_begin_object(&w);
  pai__json_key(&w, "name", 4);
  pai__json_text(&w, r->params[0], strlen(r->params[0]));
  while ((k = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const pai__tree_node *n = &r->form->nodes[pai__tree_value(r->form, k)];
    size_t len;
    const char *name = pai__tree_str(r->form, k, &len);

    pai__json_key(&w, name, len);
    pai__json_ready(&w, r->form->text + n->start, n->end - n->start);
  }
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  if (rc == PAI_OK)
    rc = pai_accounts_put_storage(r->server->accounts, pai__buf_text(&json),
                                  json.len, &err);
  pai__buf_dispose(&json);
  r->said = "Storage is put successfully.";
  pai__answer_changed(r, rc, err);
}

static void do_remove_storage(pai__request *r)
{
  pai_error *err = NULL;
  int rc =
    pai_accounts_remove_storage(r->server->accounts, r->params[0], &err);

  r->said = "Storage is removed successfully.";
  pai__answer_changed(r, rc, err);
}

/* --- bodies --- */

static const pai__field storage_fields[] = {
  { .name = "type", .kind = PAI__IS_TEXT, .flags = PAI__NEEDED },
  { .name = "data", .kind = PAI__IS_OBJECT },
  { .name = "share", .kind = PAI__IS_FLAG },
  { .name = "readOnly", .kind = PAI__IS_FLAG },
  { .name = "mountOptions", .kind = PAI__IS_TEXTS },
  { .name = "secretName", .kind = PAI__IS_TEXT },
  { .name = "mountedAt", .kind = PAI__IS_TEXT },
  { 0 }
};

/* --- answers --- */

static const pai__field item_fields[] = { PAI__HAS(TEXT, "name"),
                                          PAI__HAS(FLAG, "share"),
                                          PAI__HAS(TEXT, "volumeName"),
                                          PAI__HAS(FLAG, "default"),
                                          { 0 } };

static const pai__shape item_shape = { "StorageItem", item_fields };

static const pai__field storages_fields[] = {
  PAI__HAS_OF(LIST, "storages", &item_shape), { 0 }
};

static const pai__shape storages_shape = { "Storages", storages_fields };

static const pai__result storages = { .kind = PAI__IS_OBJECT,
                                      .shape = &storages_shape };

static const pai__field detail_fields[] = { PAI__HAS(TEXT, "name"),
                                            PAI__HAS(FLAG, "share"),
                                            PAI__HAS(TEXT, "volumeName"),
                                            PAI__HAS(TEXT, "type"),
                                            PAI__MAY_HAVE(FLAG, "local"),
                                            PAI__HAS(OBJECT, "data"),
                                            PAI__HAS(FLAG, "readOnly"),
                                            PAI__MAY_HAVE(TEXTS,
                                                          "mountOptions"),
                                            PAI__MAY_HAVE(TEXT, "secretName"),
                                            { 0 } };

static const pai__shape detail_shape = { "Storage", detail_fields };

static const pai__result detail = { .kind = PAI__IS_OBJECT,
                                    .shape = &detail_shape };

static const pai__field mount_fields[] = { PAI__HAS(TEXT, "mountPoint"),
                                           PAI__HAS(TEXT, "path"),
                                           PAI__HAS(TEXT, "server"),
                                           PAI__HAS(TEXT, "permission"),
                                           { 0 } };

static const pai__shape mount_shape = { "StorageMount", mount_fields };

static const pai__field config_fields[] = { PAI__HAS(TEXT, "name"),
                                            PAI__HAS(FLAG, "default"),
                                            PAI__HAS(TEXTS, "servers"),
                                            PAI__HAS_OF(LIST, "mountInfos",
                                                        &mount_shape),
                                            { 0 } };

static const pai__shape config_shape = { "StorageConfig", config_fields };

static const pai__result config = { .kind = PAI__IS_OBJECT,
                                    .shape = &config_shape };

static const pai__result configs = { .kind = PAI__IS_LIST,
                                     .shape = &config_shape };

static const pai__field server_fields[] = { PAI__HAS(TEXT, "spn"),
                                            PAI__HAS(TEXT, "type"),
                                            PAI__HAS(OBJECT, "data"),
                                            PAI__HAS(OBJECT, "extension"),
                                            { 0 } };

static const pai__shape server_shape = { "StorageServer", server_fields };

static const pai__result server = { .kind = PAI__IS_OBJECT,
                                    .shape = &server_shape };

static const pai__result servers = { .kind = PAI__IS_LIST,
                                     .shape = &server_shape };

/* --- queries --- */

static const pai__field usual_queries[] = { { .name = "default",
                                              .kind = PAI__IS_FLAG,
                                              .missing = "false",
                                              .what =
                                                "the default ones alone" },
                                            { 0 } };

static const pai__field name_queries[] = {
  PAI__TAKES(TEXTS, "names", "of these names alone"), { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/storages",
    .handle = do_list_storages,
    .right = PAI__OF_USERS,
    .result = &storages,
    .queries = usual_queries,
    .summary = "List the storages that the caller may use" },
  { .method = "GET",
    .path = "/api/v2/storages/:name",
    .handle = do_show_storage,
    .right = PAI__OF_USERS,
    .result = &detail,
    .summary = "Get a storage, with its credentials",
    .errors = "403 ForbiddenUserError, 404 NoStorageError" },
  { .method = "PUT",
    .path = "/api/v2/storages/:name",
    .handle = do_put_storage,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = storage_fields,
    .status = 201,
    .summary = "Create or replace a storage" },
  { .method = "DELETE",
    .path = "/api/v2/storages/:name",
    .handle = do_remove_storage,
    .right = PAI__OF_ADMIN_PERSONS,
    .summary = "Remove a storage, but not its files",
    .errors = "404 NoStorageError" },
  { .method = "GET",
    .path = "/api/v2/storage/config",
    .handle = do_storage_config,
    .right = PAI__OF_USERS,
    .result = &configs,
    .queries = name_queries,
    .summary = "List storages, in the form for older clients" },
  { .method = "GET",
    .path = "/api/v2/storage/config/:name",
    .handle = do_storage_config,
    .right = PAI__OF_USERS,
    .result = &config,
    .summary = "Get a storage, in the form for older clients",
    .errors = "500 UnknownError" },
  { .method = "GET",
    .path = "/api/v2/storage/server",
    .handle = do_storage_server,
    .right = PAI__OF_USERS,
    .result = &servers,
    .queries = name_queries,
    .summary = "List addresses of storages, in the form for older clients" },
  { .method = "GET",
    .path = "/api/v2/storage/server/:name",
    .handle = do_storage_server,
    .right = PAI__OF_USERS,
    .result = &server,
    .summary = "Get the address of a storage, in the form for older clients",
    .errors = "500 UnknownError" },
};

const pai__routes pai__storages_routes = { routes, PAI__LEN(routes) };
