/* show.c - items as JSON, for a viewer */
#include "market/inside.h"

#include "base/date.h"

#include <stdio.h>
#include <stdlib.h>

/* --- filters ------------------------------------------------------------- */

static char lower(char c)
{
  return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* Returns whether a text has a part, in any case of ASCII letters. */
static bool has_part(const char *text, const char *part)
{
  for (; text != NULL && *text != '\0'; text++) {
    size_t i = 0;

    while (part[i] != '\0' && lower(text[i]) == lower(part[i]))
      i++;
    if (part[i] == '\0')
      return true;
  }
  return part[0] == '\0';
}

/* Returns whether a list has all names of another, separated by commas. */
static bool has_all(const pai__strings *names, const char *wanted)
{
  for (size_t len; *wanted != '\0'; wanted += len + (wanted[len] == ',')) {
    bool found = false;

    len = strcspn(wanted, ",");
    for (size_t i = 0; i < names->n && !found; i++)
      found =
        strlen(names->at[i]) == len && memcmp(names->at[i], wanted, len) == 0;
    if (len > 0 && !found)
      return false;
  }
  return true;
}

static bool is_word(const char *wanted, const char *text)
{
  return wanted == NULL || strcmp(wanted, text) == 0;
}

static bool is_wanted(const pai__market_item *item, const pai_market_query *q)
{
  const char *type =
    q->type != NULL && strcmp(q->type, "all") == 0 ? NULL : q->type;

  return is_word(q->name, item->text[PAI__ITEM_NAME]) &&
         is_word(q->author, item->author) &&
         is_word(type, item->text[PAI__ITEM_TYPE]) &&
         is_word(q->source, item->text[PAI__ITEM_SOURCE]) &&
         (q->tags == NULL || has_all(&item->list[PAI__ITEM_TAGS], q->tags)) &&
         (q->categories == NULL ||
          has_all(&item->list[PAI__ITEM_CATEGORIES], q->categories)) &&
         (q->keyword == NULL ||
          has_part(item->text[PAI__ITEM_NAME], q->keyword) ||
          has_part(item->author, q->keyword) ||
          has_part(item->text[PAI__ITEM_SUMMARY], q->keyword));
}

/* --- one item ------------------------------------------------------------ */

/* "2026-01-02T03:04:05.678Z", as JavaScript writes times. */
static const char *iso(char out[PAI__TIME_TEXT], pai_time time)
{
  char end[16];

  (void)snprintf(end, sizeof(end), ".%03dZ", (int)(time / 1000 % 1000));
  return pai__time_text(out, time / 1000000, end);
}

static int write_one(pai__json_writer *w, const pai_market *m,
                     const pai_market_viewer *v, const pai__market_item *item,
                     bool brief)
{
  char created[PAI__TIME_TEXT], updated[PAI__TIME_TEXT];
  pai__shown_item_row row = { .uid = item->uid,
                              .author = item->author,
                              .public = item->is_public,
                              .private = item->is_private,
                              .use_blob = item->use_blob,
                              .uses = item->count.uses,
                              .stars = item->count.stars.n,
                              .status = "approved",
                              .created = iso(created, item->created),
                              .updated = iso(updated, item->updated) };
  char *lists[PAI__ITEM_LISTS] = { NULL };
  bool good = true;

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
  row.description = brief ? NULL : item->text[PAI__ITEM_DESCRIPTION];
  row.protocol = brief ? NULL : item->text[PAI__ITEM_PROTOCOL];
  row.groups = lists[PAI__ITEM_GROUPS];
  row.categories = lists[PAI__ITEM_CATEGORIES];
  row.tags = lists[PAI__ITEM_TAGS];
  row.starred = pai__strings_has(&item->count.stars, v->user);
  row.editable = pai__market_item_may_change(m, v, item);
  if (good)
    (void)pai__api_object(w, &pai__api_MarketplaceItem, &row, NULL, NULL);
  for (size_t i = 0; i < PAI__ITEM_LISTS; i++)
    pai__strfree(&m->alloc, lists[i]);
  return good ? PAI_OK : PAI_ENOMEM;
}

/* --- lists --------------------------------------------------------------- */

static int newest_first(const void *a, const void *b)
{
  const pai__market_item *x = *(const pai__market_item *const *)a;
  const pai__market_item *y = *(const pai__market_item *const *)b;

  if (x->created != y->created)
    return x->created < y->created ? 1 : -1;
  return strcmp(x->uid, y->uid);
}

static int write_list(pai__json_writer *w, const pai_market *m,
                      const pai_market_viewer *v, const pai_market_query *q)
{
  const pai__market_item **found;
  size_t n = 0, size = m->items.n;
  int rc = PAI_OK;

  found = pai__realloc(&m->alloc, NULL, 0, size + 1, sizeof(*found));
  if (found == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < size; i++)
    if (is_wanted(m->items.at[i], q) &&
        pai__market_item_may_see(m, v, m->items.at[i]))
      found[n++] = m->items.at[i];
  qsort((void *)found, n, sizeof(*found), newest_first);
  pai__json_begin_array(w);
  for (size_t i = 0; i < n && rc == PAI_OK; i++)
    rc = write_one(w, m, v, found[i], q->brief != 0);
  pai__json_end_array(w);
  pai__free(&m->alloc, (void *)found, (size + 1) * sizeof(*found));
  return rc;
}

int pai_market_write_items(pai_market *m, const pai_market_viewer *viewer,
                           const pai_market_query *query, pai_write_cb write,
                           void *user_data, pai_error **err)
{
  pai__market_item *item = NULL;
  pai_market_viewer v;
  pai_market_query q;
  pai__wire o;
  int rc;

  PAI__CHECK_ARG_ERR(write != NULL, err);
  rc = pai__viewer_in(&v, m, viewer, err);
  if (rc != PAI_OK)
    return rc;
  rc = PAI__COPY_IN(&q, query, pai_market_query, brief);
  if (rc < 0)
    return pai__fail_struct(err, rc, query, "pai_market_query");
  if (q.id != NULL &&
      (rc = pai__market_item_visible(&item, m, &v, q.id, err)) < 0)
    return rc;
  pai__wire_begin(&o, &m->alloc, write, user_data);
  rc = item != NULL ? write_one(&o.w, m, &v, item, q.brief != 0)
                    : write_list(&o.w, m, &v, &q);
  return pai__wire_end(&o, rc, err);
}
