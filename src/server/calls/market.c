/* market.c - the marketplace: items, their stars, tags and categories */
#include "server/server.h"

#define HTML "text/html; charset=utf-8" /* as OpenPAI's marketplace sends */

static pai_market *market_of(const pai__request *r)
{
  return pai_platform_market(r->server->platform);
}

static pai_market_viewer viewer_of(const pai__request *r)
{
  pai_market_viewer v = PAI_MARKET_VIEWER_INIT;

  v.user = r->caller.name;
  v.admin = r->caller.admin;
  return v;
}

/* --- answers of changes -------------------------------------------------- */

/* Answers with a word, as OpenPAI's marketplace does, when it is durable. */
static void answer_word(pai__request *r, int rc, const char *word)
{
  if (rc < 0) {
    pai__answer_failure(r, rc);
    return;
  }
  pai__answer_text(r, 200, HTML, word);
  pai__answer_when_safe(r);
}

static void answer_id(pai__request *r, int rc, const char *id)
{
  if (rc < 0) {
    pai__answer_failure(r, rc);
    return;
  }
  pai__json_writer_init(&r->json, &r->answer, false);
  pai__json_write(&r->json, "{id:s}", id);
  pai__answer_json(r, 201);
  pai__answer_when_safe(r);
}

/* --- items --------------------------------------------------------------- */

static void write_items(pai__request *r, const pai_market_query *q)
{
  pai_market_viewer v = viewer_of(r);

  pai__answer_written(r, pai_market_write_items(market_of(r), &v, q,
                                                pai__answer_write, &r->answer,
                                                &r->err));
}

void pai__do_marketplace_list(pai__request *r)
{
  pai_market_query q = PAI_MARKET_QUERY_INIT;

  q.name = pai__request_query(r, "name");
  q.author = pai__request_query(r, "author");
  q.type = pai__request_query(r, "type");
  q.source = pai__request_query(r, "source");
  q.keyword = pai__request_query(r, "keyword");
  q.tags = pai__request_query(r, "tag");
  q.categories = pai__request_query(r, "category");
  q.brief = pai__request_flag(r, "brief");
  write_items(r, &q);
}

void pai__do_marketplace_show(pai__request *r)
{
  pai_market_query q = PAI_MARKET_QUERY_INIT;

  q.id = r->params[0];
  write_items(r, &q);
}

/* Members that OpenPAI's pages send back with the rest of an item. */
static bool is_ignored(const char *name)
{
  static const char *const names[] = { "id",        "useNumber", "starNumber",
                                       "status",    "createdAt", "updatedAt",
                                       "isStarred", "isEditable" };

  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

/* Writes the members of the body that count; null is no value. */
static bool write_body(pai__buf *json, const pai__request *r)
{
  pai__tree_walk walk = pai__tree_iter(r->form, 0);
  pai__json_writer w;
  pai__node k;

  pai__json_writer_init(&w, json, false);
  pai__json_begin_object(&w);
  while ((k = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(r->form, k, NULL);
    pai__node value = pai__tree_get(r->form, 0, name);

    if (!is_ignored(name) && pai__tree_type(r->form, value) != PAI__NULL)
      pai__body_copy(&w, r, 0, name, name);
  }
  pai__json_end_object(&w);
  return pai__json_finish(&w) == PAI_OK;
}

static int put_item(pai__request *r, const char *id, char out[PAI_MARKET_ID])
{
  pai_market_viewer v = viewer_of(r);
  pai__buf json;
  int rc;

  pai__buf_init(&json, &r->server->alloc);
  rc = write_body(&json, r)
         ? pai_market_put_item(out, market_of(r), &v, id, pai__buf_text(&json),
                               json.len, &r->err)
         : pai__oom(&r->err);
  pai__buf_dispose(&json);
  return rc;
}

void pai__do_marketplace_create(pai__request *r)
{
  char id[PAI_MARKET_ID];
  int rc = put_item(r, NULL, id);

  answer_id(r, rc, id);
}

void pai__do_marketplace_update(pai__request *r)
{
  char id[PAI_MARKET_ID];

  answer_word(r, put_item(r, r->params[0], id), "updated");
}

void pai__do_marketplace_remove(pai__request *r)
{
  pai_market_viewer v = viewer_of(r);

  answer_word(r,
              pai_market_remove_item(market_of(r), &v, r->params[0], &r->err),
              "deleted");
}

static void set_star(pai__request *r, int on, const char *said)
{
  pai_market_viewer v = viewer_of(r);

  pai__answer_changed(
    r, pai_market_star(market_of(r), &v, r->params[0], on, &r->err), said);
}

void pai__do_marketplace_star(pai__request *r)
{
  set_star(r, 1, "The item has your star.");
}

void pai__do_marketplace_unstar(pai__request *r)
{
  set_star(r, 0, "The item does not have your star.");
}

void pai__market_used(pai__request *r, const char *item)
{
  pai_market_viewer v = viewer_of(r);

  if (item != NULL)
    (void)!pai_market_use(market_of(r), &v, item, NULL);
}

/* --- tags and categories ------------------------------------------------- */

static void write_labels(pai__request *r, int kind, const char *id,
                         const char *item)
{
  pai_market_viewer v = viewer_of(r);

  pai__answer_written(r, pai_market_write_labels(market_of(r), &v, kind, id,
                                                 item, pai__answer_write,
                                                 &r->answer, &r->err));
}

static void put_label(pai__request *r, int kind, const char *id)
{
  pai_market_viewer v = viewer_of(r);
  char out[PAI_MARKET_ID];
  int rc = pai_market_put_label(out, market_of(r), &v, kind, id,
                                pai__buf_text(&r->body), r->body.len, &r->err);

  if (id != NULL)
    answer_word(r, rc, "updated");
  else
    answer_id(r, rc, out);
}

static void remove_label(pai__request *r, int kind)
{
  pai_market_viewer v = viewer_of(r);

  answer_word(
    r, pai_market_remove_label(market_of(r), &v, kind, r->params[0], &r->err),
    "deleted");
}

static void set_label(pai__request *r, int kind, int on)
{
  pai_market_viewer v = viewer_of(r);
  int rc = pai_market_set_label(market_of(r), &v, r->params[0], kind,
                                r->params[1], on, &r->err);

  if (on != 0)
    answer_id(r, rc, r->params[1]);
  else
    answer_word(r, rc, "deleted");
}

void pai__do_marketplace_tags(pai__request *r)
{
  write_labels(r, PAI_MARKET_TAG, NULL, NULL);
}

void pai__do_marketplace_show_tag(pai__request *r)
{
  write_labels(r, PAI_MARKET_TAG, r->params[0], NULL);
}

void pai__do_marketplace_item_tags(pai__request *r)
{
  write_labels(r, PAI_MARKET_TAG, NULL, r->params[0]);
}

void pai__do_marketplace_create_tag(pai__request *r)
{
  put_label(r, PAI_MARKET_TAG, NULL);
}

void pai__do_marketplace_update_tag(pai__request *r)
{
  put_label(r, PAI_MARKET_TAG, r->params[0]);
}

void pai__do_marketplace_remove_tag(pai__request *r)
{
  remove_label(r, PAI_MARKET_TAG);
}

void pai__do_marketplace_add_tag(pai__request *r)
{
  set_label(r, PAI_MARKET_TAG, 1);
}

void pai__do_marketplace_drop_tag(pai__request *r)
{
  set_label(r, PAI_MARKET_TAG, 0);
}

void pai__do_marketplace_categories(pai__request *r)
{
  write_labels(r, PAI_MARKET_CATEGORY, NULL, NULL);
}

void pai__do_marketplace_show_category(pai__request *r)
{
  write_labels(r, PAI_MARKET_CATEGORY, r->params[0], NULL);
}

void pai__do_marketplace_item_categories(pai__request *r)
{
  write_labels(r, PAI_MARKET_CATEGORY, NULL, r->params[0]);
}

void pai__do_marketplace_create_category(pai__request *r)
{
  put_label(r, PAI_MARKET_CATEGORY, NULL);
}

void pai__do_marketplace_update_category(pai__request *r)
{
  put_label(r, PAI_MARKET_CATEGORY, r->params[0]);
}

void pai__do_marketplace_remove_category(pai__request *r)
{
  remove_label(r, PAI_MARKET_CATEGORY);
}

void pai__do_marketplace_add_category(pai__request *r)
{
  set_label(r, PAI_MARKET_CATEGORY, 1);
}

void pai__do_marketplace_drop_category(pai__request *r)
{
  set_label(r, PAI_MARKET_CATEGORY, 0);
}
