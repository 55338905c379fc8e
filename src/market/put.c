/* put.c - creating and changing items */
#include "market/inside.h"

/* --- what a request says ------------------------------------------------- */

typedef struct item_put {
  pai__tree *tree;
  const char *author;
  const char *text[PAI__ITEM_TEXTS];
  pai__node list[PAI__ITEM_LISTS];
  bool is_public, is_private, use_blob;
} item_put;

#define TEXT(name, which)                                  \
  {                                                        \
    name, PAI__INPUT_TEXT, offsetof(item_put, text[which]) \
  }
#define LIST(name, which)                                  \
  {                                                        \
    name, PAI__INPUT_LIST, offsetof(item_put, list[which]) \
  }

static const pai__input_field fields[] = {
  { "author", PAI__INPUT_TEXT, offsetof(item_put, author) },
  TEXT("name", PAI__ITEM_NAME),
  TEXT("type", PAI__ITEM_TYPE),
  TEXT("source", PAI__ITEM_SOURCE),
  TEXT("dataType", PAI__ITEM_DATA_TYPE),
  TEXT("dataUrl", PAI__ITEM_DATA_URL),
  TEXT("summary", PAI__ITEM_SUMMARY),
  TEXT("description", PAI__ITEM_DESCRIPTION),
  TEXT("protocol", PAI__ITEM_PROTOCOL),
  LIST("groupList", PAI__ITEM_GROUPS),
  LIST("categories", PAI__ITEM_CATEGORIES),
  LIST("tags", PAI__ITEM_TAGS),
  { "isPublic", PAI__INPUT_BOOL, offsetof(item_put, is_public) },
  { "isPrivate", PAI__INPUT_BOOL, offsetof(item_put, is_private) },
  { "useBlob", PAI__INPUT_BOOL, offsetof(item_put, use_blob) },
  { NULL, PAI__INPUT_TEXT, 0 }
};

/* Limits of texts; those of one line have no control characters. */
static const struct {
  const char *name;
  size_t most;
  bool one_line;
} texts[PAI__ITEM_TEXTS] = {
  [PAI__ITEM_NAME] = { "name", 128, true },
  [PAI__ITEM_TYPE] = { "type", 16, true },
  [PAI__ITEM_SOURCE] = { "source", 16, true },
  [PAI__ITEM_DATA_TYPE] = { "dataType", 64, true },
  [PAI__ITEM_DATA_URL] = { "dataUrl", 2048, true },
  [PAI__ITEM_SUMMARY] = { "summary", 512, true },
  [PAI__ITEM_DESCRIPTION] = { "description", 64 << 10, false },
  [PAI__ITEM_PROTOCOL] = { "protocol", 128 << 10, false }
};

static const char *const lists[PAI__ITEM_LISTS] = {
  [PAI__ITEM_GROUPS] = "groupList",
  [PAI__ITEM_CATEGORIES] = "categories",
  [PAI__ITEM_TAGS] = "tags"
};

/* --- checks -------------------------------------------------------------- */

static bool has_control(const char *text)
{
  for (; *text != '\0'; text++)
    if ((unsigned char)*text < ' ' || *text == 127)
      return true;
  return false;
}

static bool is_one_of(const char *text, const char *const *words)
{
  for (; *words != NULL; words++)
    if (strcmp(*words, text) == 0)
      return true;
  return false;
}

static int check_texts(const item_put *put, pai_error **err)
{
  static const char *const types[] = { "template", "data", "old", NULL };
  static const char *const sources[] = { "marketplace", "pai", NULL };
  const char *type = put->text[PAI__ITEM_TYPE];
  const char *source = put->text[PAI__ITEM_SOURCE];
  const char *name = put->text[PAI__ITEM_NAME];

  for (size_t i = 0; i < PAI__ITEM_TEXTS; i++) {
    if (put->text[i] == NULL)
      continue;
    if (strlen(put->text[i]) > texts[i].most)
      return pai__invalid(err, "\"%s\" is longer than %zu bytes",
                          texts[i].name, texts[i].most);
    if (texts[i].one_line && has_control(put->text[i]))
      return pai__invalid(err, "\"%s\" must be one line of text",
                          texts[i].name);
  }
  if (name != NULL && name[0] == '\0')
    return pai__invalid(err, "\"name\" is not allowed to be empty");
  if (type != NULL && !is_one_of(type, types))
    return pai__invalid(err, "\"type\" must be template, data or old");
  if (source != NULL && !is_one_of(source, sources))
    return pai__invalid(err, "\"source\" must be marketplace or pai");
  return PAI_OK;
}

static int check_names(const pai__strings *names, const char *what,
                       pai_error **err)
{
  if (names->n > PAI__MOST_NAMES)
    return pai__invalid(err, "\"%s\" has %zu names, more than %d", what,
                        names->n, PAI__MOST_NAMES);
  for (size_t i = 0; i < names->n; i++) {
    size_t len = strlen(names->at[i]);

    if (len == 0 || len > PAI__LONGEST_NAME || has_control(names->at[i]) ||
        strchr(names->at[i], ',') != NULL)
      return pai__invalid(err,
                          "\"%s\": a name has 1 to %d bytes, on one line and "
                          "without commas: \"%.64s\"",
                          what, PAI__LONGEST_NAME, names->at[i]);
  }
  return PAI_OK;
}

/* Users share with their own groups. */
static int check_groups(const pai_market *m, const pai_market_viewer *v,
                        const pai__market_item *item,
                        const pai__market_item *old, pai_error **err)
{
  const pai__strings *groups = &item->list[PAI__ITEM_GROUPS];

  if (!item->is_public && !item->is_private && groups->n == 0)
    return pai__invalid(err, "\"groupList\" is empty: an item that is neither "
                             "public nor private needs groups");
  for (size_t i = 0; i < groups->n; i++) {
    const char *name = groups->at[i];

    if (old != NULL && pai__strings_has(&old->list[PAI__ITEM_GROUPS], name))
      continue;
    if (!pai__accounts_has_group(m->accounts, name))
      return pai__no_group(err, 404, name);
    if (v->admin == 0 && !pai__accounts_is_member(m->accounts, v->user, name))
      return pai__forbidden(err, "User %.64s is not a member of group %.64s.",
                            v->user, name);
  }
  return PAI_OK;
}

/* An official example is made so, and stays so, by administrators. */
static int check_categories(const pai_market_viewer *v,
                            const pai__market_item *item, pai_error **err)
{
  const pai__strings *names = &item->list[PAI__ITEM_CATEGORIES];
  int rc = PAI_OK;

  for (size_t i = 0; i < names->n && rc == PAI_OK; i++)
    rc = pai__check_category(v, names->at[i], err);
  return rc;
}

/* Checks the limits of the author and of the marketplace. */
static int check_room(const pai_market *m, const pai__market_item *item,
                      const pai__market_item *old, pai_error **err)
{
  size_t bytes = pai__market_item_bytes(item), own = bytes, count = 1;

  for (size_t i = 0; i < m->items.n; i++) {
    const pai__market_item *other = m->items.at[i];

    if (other != old && strcmp(other->author, item->author) == 0) {
      count++;
      own += pai__market_item_bytes(other);
    }
  }
  if (old == NULL && count > PAI__MOST_USER_ITEMS)
    return pai__too_much(err,
                         "User %.64s has %d items in the marketplace, the "
                         "most of a user: remove some.",
                         item->author, PAI__MOST_USER_ITEMS);
  if (own > PAI__MOST_USER_BYTES)
    return pai__too_much(err,
                         "The items of user %.64s would have %zu bytes, more "
                         "than %d: remove or shorten some.",
                         item->author, own, PAI__MOST_USER_BYTES);
  if ((old == NULL && m->items.n >= PAI__MOST_ITEMS) ||
      m->bytes + bytes > PAI__MOST_MARKET_BYTES)
    return pai__too_much(err, "The marketplace is full: ask an administrator "
                              "to remove items.");
  return PAI_OK;
}

/* --- making -------------------------------------------------------------- */

/* Private wins, so that a contradiction shows an item to nobody else. */
static void share(pai__market_item *item, const item_put *put,
                  bool says_public, bool says_private)
{
  bool has_groups = put->list[PAI__ITEM_GROUPS] != PAI__NO_NODE &&
                    item->list[PAI__ITEM_GROUPS].n > 0;

  if (says_private)
    item->is_private = put->is_private;
  if (says_public)
    item->is_public = put->is_public;
  if (says_private && put->is_private)
    item->is_public = false;
  else if (says_public && put->is_public)
    item->is_private = false;
  else if (has_groups && !says_public && !says_private)
    item->is_public = item->is_private = false;
}

static int take_lists(const pai_market *m, pai__market_item *item,
                      const item_put *put, pai_error **err)
{
  int rc = PAI_OK;

  for (size_t i = 0; i < PAI__ITEM_LISTS && rc == PAI_OK; i++) {
    if (put->list[i] == PAI__NO_NODE)
      continue;
    pai__strings_free(&m->alloc, &item->list[i]);
    if (pai__input_names(&m->alloc, put->tree, put->list[i], &item->list[i]) <
        0)
      return pai__oom(err);
    rc = check_names(&item->list[i], lists[i], err);
  }
  return rc;
}

static int take(const pai_market *m, pai__market_item *item,
                const item_put *put, pai_error **err)
{
  bool says_public = pai__tree_get(put->tree, 0, "isPublic") != PAI__NO_NODE;
  bool says_private = pai__tree_get(put->tree, 0, "isPrivate") != PAI__NO_NODE;
  int rc = PAI_OK;

  for (size_t i = 0; i < PAI__ITEM_TEXTS && rc == PAI_OK; i++)
    if (put->text[i] != NULL)
      rc = pai__set_text(&m->alloc, &item->text[i], put->text[i]);
  if (rc < 0)
    return pai__oom(err);
  rc = take_lists(m, item, put, err);
  if (rc != PAI_OK)
    return rc;
  if (pai__tree_get(put->tree, 0, "useBlob") != PAI__NO_NODE)
    item->use_blob = put->use_blob;
  share(item, put, says_public, says_private);
  if (item->is_public || item->is_private)
    pai__strings_free(&m->alloc, &item->list[PAI__ITEM_GROUPS]);
  return PAI_OK;
}

static int new_item(pai__market_item **out, const pai_market *m,
                    const pai_market_viewer *v, const item_put *put,
                    pai_error **err)
{
  static const pai__market_item usual = {
    .text = { [PAI__ITEM_TYPE] = "template",
              [PAI__ITEM_SOURCE] = "marketplace",
              [PAI__ITEM_SUMMARY] = "",
              [PAI__ITEM_DESCRIPTION] = "" },
    .is_public = true
  };
  char uid[PAI_MARKET_ID];
  pai__market_item from = usual;

  if (put->text[PAI__ITEM_NAME] == NULL ||
      put->text[PAI__ITEM_PROTOCOL] == NULL)
    return pai__invalid(err, "\"%s\" is required",
                        put->text[PAI__ITEM_NAME] == NULL ? "name"
                                                          : "protocol");
  if (put->author != NULL && strcmp(put->author, v->user) != 0)
    return pai__forbidden(
      err, "You are not allowed to create item with author %.64s",
      put->author);
  pai__market_new_id(uid);
  from.uid = uid;
  from.author = (char *)(uintptr_t)v->user;
  from.author_since = pai__accounts_since(m->accounts, v->user);
  from.created = m->host.now(m->host.ctx);
  *out = pai__market_item_copy(m, &from);
  return *out != NULL ? PAI_OK : pai__oom(err);
}

/* Makes the successor of `old`, or a new item. */
static int make(pai__market_item **out, const pai_market *m,
                const pai_market_viewer *v, const pai__market_item *old,
                const item_put *put, pai_error **err)
{
  int rc = check_texts(put, err);

  *out = NULL;
  if (rc == PAI_OK && old == NULL)
    rc = new_item(out, m, v, put, err);
  else if (rc == PAI_OK && (*out = pai__market_item_copy(m, old)) == NULL)
    rc = pai__oom(err);
  if (*out == NULL)
    return rc;
  if (rc == PAI_OK)
    rc = take(m, *out, put, err);
  if (rc == PAI_OK && put->list[PAI__ITEM_CATEGORIES] != PAI__NO_NODE)
    rc = check_categories(v, *out, err);
  if (rc == PAI_OK)
    rc = check_groups(m, v, *out, old, err);
  if (rc == PAI_OK && put->text[PAI__ITEM_PROTOCOL] != NULL)
    rc = pai__check_protocol(m, put->text[PAI__ITEM_PROTOCOL], err);
  if (rc == PAI_OK)
    rc = check_room(m, *out, old, err);
  if (rc == PAI_OK) {
    (*out)->updated = old != NULL ? m->host.now(m->host.ctx) : (*out)->created;
    return PAI_OK;
  }
  pai__market_item_free(m, *out);
  *out = NULL;
  return rc;
}

int pai_market_put_item(char out[PAI_MARKET_ID], pai_market *m,
                        const pai_market_viewer *viewer, const char *id,
                        const char *json, size_t len, pai_error **err)
{
  item_put put = { .list = { PAI__NO_NODE, PAI__NO_NODE, PAI__NO_NODE } };
  pai__market_item *old = NULL, *item = NULL;
  pai_market_viewer v;
  int rc;

  PAI__CHECK_ARG_ERR(out != NULL && json != NULL, err);
  out[0] = '\0';
  rc = pai__viewer_in(&v, m, viewer, err);
  if (rc == PAI_OK && id != NULL)
    rc = pai__market_item_changeable(&old, m, &v, id, err);
  if (rc == PAI_OK)
    rc = pai__input_parse(&put.tree, &m->alloc, json, len, fields, &put, err);
  if (rc == PAI_OK)
    rc = make(&item, m, &v, old, &put, err);
  pai__tree_free(put.tree);
  if (rc != PAI_OK || item == NULL)
    return rc;
  memcpy(out, item->uid, PAI_MARKET_ID);
  return pai__market_item_put(m, item, err);
}

int pai_market_remove_item(pai_market *m, const pai_market_viewer *viewer,
                           const char *id, pai_error **err)
{
  pai_market_viewer v;
  pai__market_item *item = NULL;
  int rc;

  PAI__CHECK_ARG_ERR(id != NULL, err);
  rc = pai__viewer_in(&v, m, viewer, err);
  if (rc == PAI_OK)
    rc = pai__market_item_changeable(&item, m, &v, id, err);
  return rc == PAI_OK ? pai__market_item_drop(m, item, err) : rc;
}
