/* label.c - tags and categories that administrators have described */
#include "market/inside.h"

enum { LONGEST_COLOR = 32, LONGEST_TEXT = 4096 };

/* --- life ---------------------------------------------------------------- */

void pai__market_label_free(const pai_market *m, pai__market_label *label)
{
  if (label == NULL)
    return;
  pai__strfree(&m->alloc, label->uid);
  pai__strfree(&m->alloc, label->name);
  pai__strfree(&m->alloc, label->color);
  pai__strfree(&m->alloc, label->description);
  pai__strfree(&m->alloc, label->extras);
  pai__free(&m->alloc, label, sizeof(*label));
}

static pai__market_label *make(const pai_market *m,
                               const pai__market_label_row *row)
{
  pai__market_label *label = pai__zalloc(&m->alloc, sizeof(*label));

  if (label == NULL)
    return NULL;
  label->kind = row->kind;
  if (pai__set_text(&m->alloc, &label->uid, row->uid) == PAI_OK &&
      pai__set_text(&m->alloc, &label->name, row->name) == PAI_OK &&
      pai__set_text(&m->alloc, &label->color, row->color) == PAI_OK &&
      pai__set_text(&m->alloc, &label->description, row->description) ==
        PAI_OK &&
      pai__set_text(&m->alloc, &label->extras, row->extras) == PAI_OK)
    return label;
  pai__market_label_free(m, label);
  return NULL;
}

int pai__market_label_add(pai_market *m, const pai__market_label_row *row)
{
  pai__market_label *label = make(m, row);

  if (label == NULL || pai__table_room(&m->alloc, &m->labels, 1) < 0) {
    pai__market_label_free(m, label);
    return PAI_ENOMEM;
  }
  pai__table_add(&m->labels, label);
  return PAI_OK;
}

static pai__market_label_row row_of(const pai__market_label *label)
{
  return (pai__market_label_row){ label->uid,         label->kind,
                                  label->name,        label->color,
                                  label->description, label->extras };
}

/* --- finding ------------------------------------------------------------- */

static const char *kind_name(uint32_t kind)
{
  return kind == PAI_MARKET_TAG ? "Tag" : "Category";
}

static int check_kind(int kind, pai_error **err)
{
  return kind == PAI_MARKET_TAG || kind == PAI_MARKET_CATEGORY
           ? PAI_OK
           : pai__fail(err, PAI_EINVAL, "no kind of labels: %d", kind);
}

static int find(pai__market_label **out, const pai_market *m, int kind,
                const char *id, pai_error **err)
{
  *out = pai__table_find(&m->labels, id);
  if (*out != NULL && (*out)->kind == (uint32_t)kind)
    return PAI_OK;
  (void)pai__fail(err, PAI_ENOTFOUND, "%s %.64s is not found.",
                  kind_name((uint32_t)kind), id);
  return pai__as(err, PAI_ENOTFOUND, 404, "NoLabelError");
}

static int need_admin(const pai_market_viewer *v, pai_error **err)
{
  return v->admin != 0 ? PAI_OK
                       : pai__forbidden(err, "Only administrators may change "
                                             "tags and categories.");
}

/* --- changes ------------------------------------------------------------- */

typedef struct label_put {
  pai__tree *tree;
  const char *name, *color, *description, *extras;
} label_put;

static int check_put(const pai_market *m, int kind, const label_put *put,
                     const pai__market_label *old, pai_error **err)
{
  size_t len = put->name != NULL ? strlen(put->name) : 0;

  if (old != NULL && put->name != NULL && strcmp(put->name, old->name) != 0)
    return pai__invalid(err, "\"name\" cannot change: items have it; create "
                             "another one");
  if (old == NULL && (len == 0 || len > PAI__LONGEST_NAME ||
                      strpbrk(put->name, ",\r\n\t") != NULL))
    return pai__invalid(err,
                        "\"name\" must have 1 to %d bytes, on one line and "
                        "without commas",
                        PAI__LONGEST_NAME);
  if ((put->color != NULL && strlen(put->color) > LONGEST_COLOR) ||
      (put->description != NULL && strlen(put->description) > LONGEST_TEXT) ||
      (put->extras != NULL && strlen(put->extras) > LONGEST_TEXT))
    return pai__invalid(err,
                        "\"color\" has at most %d bytes, \"description\" and "
                        "\"extras\" %d",
                        LONGEST_COLOR, LONGEST_TEXT);
  for (size_t i = 0; old == NULL && i < m->labels.n; i++) {
    const pai__market_label *label = m->labels.at[i];

    if (label->kind == (uint32_t)kind && strcmp(label->name, put->name) == 0) {
      (void)pai__fail(err, PAI_EEXISTS, "%s %.64s exists already.",
                      kind_name((uint32_t)kind), put->name);
      return pai__as(err, PAI_EEXISTS, 409, "ConflictLabelError");
    }
  }
  if (old == NULL && m->labels.n >= PAI__MOST_LABELS)
    return pai__too_much(err, "There are %d tags and categories already.",
                         PAI__MOST_LABELS);
  return PAI_OK;
}

/* Replaces `old`, or adds a label. */
static int put_label(char out[PAI_MARKET_ID], pai_market *m, int kind,
                     const label_put *put, pai__market_label *old,
                     pai_error **err)
{
  pai__market_label_row row = { 0 };
  pai__market_label *label = NULL;

  if (old != NULL)
    row = row_of(old);
  else
    pai__market_new_id(out);
  if (old != NULL)
    memcpy(out, old->uid, PAI_MARKET_ID);
  row.uid = out;
  row.kind = (uint32_t)kind;
  row.name = old != NULL ? old->name : put->name;
  row.color = put->color != NULL ? put->color : row.color;
  row.description =
    put->description != NULL ? put->description : row.description;
  row.extras = put->extras != NULL ? put->extras : row.extras;
  label = make(m, &row);
  if (label == NULL || pai__table_room(&m->alloc, &m->labels, 1) < 0 ||
      pai__batch_put_market_label(pai__market_batch(m), &row) < 0) {
    pai__market_label_free(m, label);
    return pai__oom(err);
  }
  if (old != NULL) {
    *pai__table_place(&m->labels, out) = label;
    pai__market_label_free(m, old);
  } else {
    pai__table_add(&m->labels, label);
  }
  pai__market_changed(m);
  return PAI_OK;
}

int pai_market_put_label(char out[PAI_MARKET_ID], pai_market *m,
                         const pai_market_viewer *viewer, int kind,
                         const char *id, const char *json, size_t len,
                         pai_error **err)
{
  static const pai__input_field fields[] = {
    { "name", PAI__INPUT_TEXT, offsetof(label_put, name) },
    { "color", PAI__INPUT_TEXT, offsetof(label_put, color) },
    { "description", PAI__INPUT_TEXT, offsetof(label_put, description) },
    { "extras", PAI__INPUT_TEXT, offsetof(label_put, extras) },
    { NULL, PAI__INPUT_TEXT, 0 }
  };
  label_put put = { 0 };
  pai__market_label *old = NULL;
  pai_market_viewer v;
  int rc;

  PAI__CHECK_ARG_ERR(out != NULL && json != NULL, err);
  out[0] = '\0';
  rc = pai__viewer_in(&v, m, viewer, err);
  if (rc == PAI_OK)
    rc = check_kind(kind, err);
  if (rc == PAI_OK)
    rc = need_admin(&v, err);
  if (rc == PAI_OK && id != NULL)
    rc = find(&old, m, kind, id, err);
  if (rc == PAI_OK)
    rc = pai__input_parse(&put.tree, &m->alloc, json, len, fields, &put, err);
  if (rc == PAI_OK)
    rc = check_put(m, kind, &put, old, err);
  if (rc == PAI_OK)
    rc = put_label(out, m, kind, &put, old, err);
  pai__tree_free(put.tree);
  return rc;
}

int pai_market_remove_label(pai_market *m, const pai_market_viewer *viewer,
                            int kind, const char *id, pai_error **err)
{
  pai_market_viewer v;
  pai__market_label *label = NULL;
  int rc;

  PAI__CHECK_ARG_ERR(id != NULL, err);
  rc = pai__viewer_in(&v, m, viewer, err);
  if (rc == PAI_OK)
    rc = check_kind(kind, err);
  if (rc == PAI_OK)
    rc = need_admin(&v, err);
  if (rc == PAI_OK)
    rc = find(&label, m, kind, id, err);
  if (rc != PAI_OK)
    return rc;
  if (pai__batch_drop(pai__market_batch(m), PAI__MARKET_LABEL, label->uid) < 0)
    return pai__oom(err);
  pai__table_drop(&m->labels, label->uid);
  pai__market_label_free(m, label);
  pai__market_changed(m);
  return PAI_OK;
}

/* --- labels of items ----------------------------------------------------- */

static enum pai__market_item_list list_of(int kind)
{
  return kind == PAI_MARKET_TAG ? PAI__ITEM_TAGS : PAI__ITEM_CATEGORIES;
}

/* Makes a successor of the item with or without the label. */
static int change_item(pai_market *m, const pai__market_item *item,
                       const pai__market_label *label, bool on,
                       pai_error **err)
{
  enum pai__market_item_list which = list_of((int)label->kind);
  pai__market_item *copy = pai__market_item_copy(m, item);
  pai__strings *names;

  if (copy == NULL)
    return pai__oom(err);
  names = &copy->list[which];
  copy->updated = m->host.now(m->host.ctx);
  if (!on) {
    pai__strings_drop(&m->alloc, names, label->name);
  } else if (names->n >= PAI__MOST_NAMES) {
    pai__market_item_free(m, copy);
    return pai__too_much(err, "The item has %d names already.",
                         PAI__MOST_NAMES);
  } else if (pai__strings_push(&m->alloc, names, label->name) < 0) {
    pai__market_item_free(m, copy);
    return pai__oom(err);
  }
  return pai__market_item_put(m, copy, err);
}

int pai_market_set_label(pai_market *m, const pai_market_viewer *viewer,
                         const char *item_id, int kind, const char *id, int on,
                         pai_error **err)
{
  pai_market_viewer v;
  pai__market_label *label = NULL;
  pai__market_item *item = NULL;
  int rc;

  PAI__CHECK_ARG_ERR(item_id != NULL && id != NULL, err);
  rc = pai__viewer_in(&v, m, viewer, err);
  if (rc == PAI_OK)
    rc = check_kind(kind, err);
  if (rc == PAI_OK)
    rc = pai__market_item_changeable(&item, m, &v, item_id, err);
  if (rc == PAI_OK)
    rc = find(&label, m, kind, id, err);
  if (rc == PAI_OK && kind == PAI_MARKET_CATEGORY)
    rc = pai__check_category(&v, label->name, err);
  if (rc != PAI_OK)
    return rc;
  if (pai__strings_has(&item->list[list_of(kind)], label->name) == (on != 0))
    return PAI_OK;
  return change_item(m, item, label, on != 0, err);
}

/* --- output -------------------------------------------------------------- */

static void write_one(pai__json_writer *w, const pai__market_label *label)
{
  pai__market_label_row row = row_of(label);

  (void)pai__api_object(w,
                        label->kind == PAI_MARKET_TAG
                          ? &pai__api_MarketplaceTag
                          : &pai__api_MarketplaceCategory,
                        &row, NULL, NULL);
}

static void write_list(pai__json_writer *w, const pai_market *m, int kind,
                       const pai__market_item *item)
{
  pai__json_begin_array(w);
  for (size_t i = 0; i < m->labels.n; i++) {
    const pai__market_label *label = m->labels.at[i];

    if (label->kind == (uint32_t)kind &&
        (item == NULL ||
         pai__strings_has(&item->list[list_of(kind)], label->name)))
      write_one(w, label);
  }
  pai__json_end_array(w);
}

int pai_market_write_labels(pai_market *m, const pai_market_viewer *viewer,
                            int kind, const char *id, const char *item_id,
                            pai_write_cb write, void *user_data,
                            pai_error **err)
{
  pai__market_label *label = NULL;
  pai__market_item *item = NULL;
  pai_market_viewer v;
  pai__wire o;
  int rc;

  PAI__CHECK_ARG_ERR(write != NULL, err);
  rc = pai__viewer_in(&v, m, viewer, err);
  if (rc == PAI_OK)
    rc = check_kind(kind, err);
  if (rc == PAI_OK && item_id != NULL)
    rc = pai__market_item_visible(&item, m, &v, item_id, err);
  if (rc == PAI_OK && id != NULL)
    rc = find(&label, m, kind, id, err);
  if (rc != PAI_OK)
    return rc;
  pai__wire_begin(&o, &m->alloc, write, user_data);
  if (label != NULL)
    write_one(&o.w, label);
  else
    write_list(&o.w, m, kind, item);
  return pai__wire_end(&o, PAI_OK, err);
}
