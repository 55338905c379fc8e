/* item.c - items: their life, and how they are stored */
#include "market/inside.h"

/* --- life ---------------------------------------------------------------- */

pai__market_item *pai__market_item_find(const pai_market *m, const char *uid)
{
  return pai__table_find(&m->items, uid);
}

void pai__market_item_free(const pai_market *m, pai__market_item *item)
{
  if (item == NULL)
    return;
  pai__strfree(&m->alloc, item->uid);
  pai__strfree(&m->alloc, item->author);
  for (size_t i = 0; i < PAI__ITEM_TEXTS; i++)
    pai__strfree(&m->alloc, item->text[i]);
  for (size_t i = 0; i < PAI__ITEM_LISTS; i++)
    pai__strings_free(&m->alloc, &item->list[i]);
  pai__strings_free(&m->alloc, &item->count.stars);
  pai__free(&m->alloc, item, sizeof(*item));
}

pai__market_item *pai__market_item_copy(const pai_market *m,
                                        const pai__market_item *item)
{
  pai__market_item *copy = pai__zalloc(&m->alloc, sizeof(*copy));
  int rc = PAI_OK;

  if (copy == NULL)
    return NULL;
  copy->author_since = item->author_since;
  copy->is_public = item->is_public;
  copy->is_private = item->is_private;
  copy->use_blob = item->use_blob;
  copy->created = item->created;
  copy->updated = item->updated;
  if (pai__set_text(&m->alloc, &copy->uid, item->uid) < 0 ||
      pai__set_text(&m->alloc, &copy->author, item->author) < 0)
    rc = PAI_ENOMEM;
  for (size_t i = 0; i < PAI__ITEM_TEXTS && rc == PAI_OK; i++)
    rc = pai__set_text(&m->alloc, &copy->text[i], item->text[i]);
  for (size_t i = 0; i < PAI__ITEM_LISTS && rc == PAI_OK; i++)
    rc = pai__strings_copy(&m->alloc, &copy->list[i], &item->list[i]);
  if (rc == PAI_OK)
    return copy;
  pai__market_item_free(m, copy);
  return NULL;
}

size_t pai__market_item_bytes(const pai__market_item *item)
{
  size_t bytes = 0;

  for (size_t i = 0; i < PAI__ITEM_TEXTS; i++)
    bytes += item->text[i] != NULL ? strlen(item->text[i]) : 0;
  for (size_t i = 0; i < PAI__ITEM_LISTS; i++)
    for (size_t j = 0; j < item->list[i].n; j++)
      bytes += strlen(item->list[i].at[j]);
  return bytes;
}

/* --- reading ------------------------------------------------------------- */

static int read_names(const pai_market *m, pai__strings *out, const char *json)
{
  pai__json_options o = { .alloc = &m->alloc };
  pai__tree *t;
  int rc = pai__json_parse(&t, json, strlen(json), &o, NULL);

  if (rc < 0)
    return rc;
  rc = pai__tree_type(t, 0) == PAI__SEQUENCE
         ? pai__input_names(&m->alloc, t, 0, out)
         : PAI_EINVAL;
  pai__tree_free(t);
  return rc;
}

static int read_row(const pai_market *m, pai__market_item *item,
                    const pai__market_item_row *row)
{
  const char *texts[PAI__ITEM_TEXTS] = {
    [PAI__ITEM_NAME] = row->name,
    [PAI__ITEM_TYPE] = row->type,
    [PAI__ITEM_SOURCE] = row->source,
    [PAI__ITEM_DATA_TYPE] = row->data_type,
    [PAI__ITEM_DATA_URL] = row->data_url,
    [PAI__ITEM_SUMMARY] = row->summary,
    [PAI__ITEM_DESCRIPTION] = row->description,
    [PAI__ITEM_PROTOCOL] = row->protocol
  };
  const char *lists[PAI__ITEM_LISTS] = { [PAI__ITEM_GROUPS] = row->groups,
                                         [PAI__ITEM_CATEGORIES] =
                                           row->categories,
                                         [PAI__ITEM_TAGS] = row->tags };
  int rc = pai__set_text(&m->alloc, &item->uid, row->uid);

  item->author_since = row->author_since;
  item->is_public = row->public;
  item->is_private = row->private;
  item->use_blob = row->use_blob;
  item->created = row->created;
  item->updated = row->updated;
  if (rc == PAI_OK)
    rc = pai__set_text(&m->alloc, &item->author, row->author);
  for (size_t i = 0; i < PAI__ITEM_TEXTS && rc == PAI_OK; i++)
    rc = pai__set_text(&m->alloc, &item->text[i], texts[i]);
  for (size_t i = 0; i < PAI__ITEM_LISTS && rc == PAI_OK; i++)
    rc = read_names(m, &item->list[i], lists[i]);
  return rc;
}

int pai__market_item_add(pai_market *m, const pai__market_item_row *row)
{
  pai__market_item *item = pai__zalloc(&m->alloc, sizeof(*item));
  int rc = item != NULL ? read_row(m, item, row) : PAI_ENOMEM;

  if (rc == PAI_OK)
    rc = pai__table_room(&m->alloc, &m->items, 1);
  if (rc < 0) {
    pai__market_item_free(m, item);
    return rc;
  }
  m->bytes += pai__market_item_bytes(item);
  pai__table_add(&m->items, item);
  return PAI_OK;
}

int pai__market_item_add_count(pai_market *m, const pai__market_count_row *row)
{
  pai__market_item *item = pai__market_item_find(m, row->uid);

  if (item == NULL)
    return PAI_OK;
  item->count.uses = row->uses;
  return read_names(m, &item->count.stars, row->stars);
}

/* --- changes ------------------------------------------------------------- */

static int put_row(const pai_market *m, const pai__market_item *item)
{
  pai__market_item_row row = { .uid = item->uid,
                               .author = item->author,
                               .author_since = item->author_since,
                               .public = item->is_public,
                               .private = item->is_private,
                               .use_blob = item->use_blob,
                               .created = item->created,
                               .updated = item->updated };
  char *lists[PAI__ITEM_LISTS] = { NULL };
  bool good = true;
  int rc = PAI_ENOMEM;

  for (size_t i = 0; i < PAI__ITEM_LISTS; i++) {
    lists[i] = pai__strings_json(&m->alloc, &item->list[i]);
    good &= lists[i] != NULL;
  }
  row.name = item->text[PAI__ITEM_NAME];
  row.type = item->text[PAI__ITEM_TYPE];
  row.source = item->text[PAI__ITEM_SOURCE];
  row.data_type = item->text[PAI__ITEM_DATA_TYPE];
  row.data_url = item->text[PAI__ITEM_DATA_URL];
  row.summary = item->text[PAI__ITEM_SUMMARY];
  row.description = item->text[PAI__ITEM_DESCRIPTION];
  row.protocol = item->text[PAI__ITEM_PROTOCOL];
  row.groups = lists[PAI__ITEM_GROUPS];
  row.categories = lists[PAI__ITEM_CATEGORIES];
  row.tags = lists[PAI__ITEM_TAGS];
  if (good)
    rc = pai__batch_put_market_item(pai__market_batch(m), &row);
  for (size_t i = 0; i < PAI__ITEM_LISTS; i++)
    pai__strfree(&m->alloc, lists[i]);
  return rc;
}

int pai__market_item_put(pai_market *m, pai__market_item *item,
                         pai_error **err)
{
  pai__market_item **place =
    (pai__market_item **)pai__table_place(&m->items, item->uid);

  if (pai__table_room(&m->alloc, &m->items, 1) < 0 || put_row(m, item) < 0) {
    pai__market_item_free(m, item);
    return pai__oom(err);
  }
  m->bytes += pai__market_item_bytes(item);
  if (place == NULL) {
    pai__table_add(&m->items, item);
  } else {
    place = (pai__market_item **)pai__table_place(&m->items, item->uid);
    m->bytes -= pai__market_item_bytes(*place);
    item->count = (*place)->count;
    (*place)->count = (pai__market_item_count){ 0 };
    pai__market_item_free(m, *place);
    *place = item;
  }
  pai__market_changed(m);
  return PAI_OK;
}

int pai__market_item_drop(pai_market *m, pai__market_item *item,
                          pai_error **err)
{
  pai__batch *batch = pai__market_batch(m);
  pai__batch_mark mark = pai__batch_here(batch);

  if (pai__batch_drop(batch, PAI__MARKET_COUNT, item->uid) < 0 ||
      pai__batch_drop(batch, PAI__MARKET_ITEM, item->uid) < 0) {
    pai__batch_back(batch, mark);
    return pai__oom(err);
  }
  m->bytes -= pai__market_item_bytes(item);
  pai__table_drop(&m->items, item->uid);
  pai__market_item_free(m, item);
  pai__market_changed(m);
  return PAI_OK;
}

int pai__market_item_recount(pai_market *m, pai__market_item *item,
                             pai__market_item_count count, pai_error **err)
{
  char *stars = pai__strings_json(&m->alloc, &count.stars);
  pai__market_count_row row = { item->uid, count.uses, stars };
  int rc = PAI_ENOMEM;

  if (stars != NULL)
    rc = pai__batch_put_market_count(pai__market_batch(m), &row);
  pai__strfree(&m->alloc, stars);
  if (rc < 0) {
    pai__strings_free(&m->alloc, &count.stars);
    return pai__oom(err);
  }
  pai__strings_free(&m->alloc, &item->count.stars);
  item->count = count;
  pai__market_changed(m);
  return PAI_OK;
}
