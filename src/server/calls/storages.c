/*
 * storages.c - /storages: storages that jobs may use
 *
 * Users see the storages granted to their groups.  Administrators create
 * storages here, for which OpenPAI has no API but tools of the cluster.
 */
#include "server/server.h"

/* A caller known by peer credentials only has no groups and sees all
 * storages. */
static const char *whose(const pai__request *r)
{
  return r->caller.self ? NULL : r->caller.name;
}

static void write_storages(pai__request *r, pai_storage_query *q)
{
  q->user = whose(r);
  pai__answer_written(r, pai_accounts_write_storages(r->server->accounts, q,
                                                     pai__answer_write,
                                                     &r->answer, &r->err));
}

void pai__do_storages_list(pai__request *r)
{
  const char *usual = pai__request_query(r, "default");
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;

  q.usual = usual != NULL && strcmp(usual, "true") == 0;
  write_storages(r, &q);
}

void pai__do_storages_show(pai__request *r)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;

  q.form = PAI_STORAGE_DETAIL;
  q.name = r->params[0];
  write_storages(r, &q);
}

/* The path names one, or ?names= several. */
static void write_form(pai__request *r, int form)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;

  q.form = form;
  q.name = r->params[0];
  if (q.name == NULL)
    q.names = pai__request_query(r, "names");
  write_storages(r, &q);
}

void pai__do_storages_configs(pai__request *r)
{
  write_form(r, PAI_STORAGE_CONFIG);
}

void pai__do_storages_servers(pai__request *r)
{
  write_form(r, PAI_STORAGE_SERVER);
}

/* The path gives the name. */
void pai__do_storages_put(pai__request *r)
{
  pai__tree_walk walk = pai__tree_iter(r->form, 0);
  pai__json_writer w;
  pai__buf json;
  pai__node k;
  int rc;

  pai__buf_init(&json, &r->server->alloc);
  pai__json_writer_init(&w, &json, false);
  pai__json_begin_object(&w);
  pai__json_put_text(&w, "name", r->params[0]);
  while ((k = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(r->form, k, NULL);

    pai__body_copy(&w, r, 0, name, name);
  }
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  if (rc == PAI_OK)
    rc = pai_accounts_put_storage(r->server->accounts, pai__buf_text(&json),
                                  json.len, &r->err);
  pai__buf_dispose(&json);
  pai__answer_changed(r, rc, "Storage is put successfully.");
}

void pai__do_storages_remove(pai__request *r)
{
  pai__answer_changed(
    r, pai_accounts_remove_storage(r->server->accounts, r->params[0], &r->err),
    "Storage is removed successfully.");
}
