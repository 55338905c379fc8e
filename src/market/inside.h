/* inside.h - types and functions shared by the files of src/market */
#ifndef PAI_SRC_MARKET_INSIDE_H
#define PAI_SRC_MARKET_INSIDE_H

#include "account/parts.h"
#include "api/write.h"
#include "base/os/fork.h"
#include "market/market.h"

/* Items of the examples that come with a cluster: for administrators only. */
#define PAI__OFFICIAL "official example"

enum {
  PAI__MOST_ITEMS = 5000,
  PAI__MOST_USER_ITEMS = 100,
  PAI__MOST_USER_BYTES = 2 << 20, /* texts of a user's items */
  PAI__MOST_MARKET_BYTES = 64 << 20,
  PAI__MOST_LABELS = 1000,
  PAI__MOST_NAMES = 16, /* tags, categories or groups of an item */
  PAI__LONGEST_NAME = 64
};

enum pai__market_item_text {
  PAI__ITEM_NAME,
  PAI__ITEM_TYPE,
  PAI__ITEM_SOURCE,
  PAI__ITEM_DATA_TYPE, /* may be NULL, as the next one */
  PAI__ITEM_DATA_URL,
  PAI__ITEM_SUMMARY,
  PAI__ITEM_DESCRIPTION,
  PAI__ITEM_PROTOCOL,
  PAI__ITEM_TEXTS
};

enum pai__market_item_list {
  PAI__ITEM_GROUPS,
  PAI__ITEM_CATEGORIES,
  PAI__ITEM_TAGS,
  PAI__ITEM_LISTS
};

/* Changes more often than the rest of an item. */
typedef struct pai__market_item_count {
  uint64_t uses;
  pai__strings stars; /* users */
} pai__market_item_count;

/* An item.  An update makes a complete successor. */
typedef struct pai__market_item {
  char *uid;
  char *author;
  /* When the author's account was created.  A later user of that name is
   * somebody else.  0: the author had no account. */
  pai_time author_since;
  char *text[PAI__ITEM_TEXTS];
  pai__strings list[PAI__ITEM_LISTS];
  bool is_public, is_private, use_blob;
  pai_time created, updated;
  pai__market_item_count count;
} pai__market_item;

typedef struct pai__market_label {
  char *uid;
  uint32_t kind; /* PAI_MARKET_TAG or PAI_MARKET_CATEGORY */
  char *name;
  char *color, *description, *extras; /* or NULL */
} pai__market_label;

struct pai_market {
  pai_alloc alloc;
  pai__accounts_host host;
  const pai_accounts *accounts;
  pai__account_table items, labels; /* by uid */
  size_t bytes;                     /* texts of all items */
  unsigned forks;                   /* see base/os/fork.h */
};

/* --- items (item.c) ------------------------------------------------------ */

pai__market_item *pai__market_item_find(const pai_market *m, const char *uid);
void pai__market_item_free(const pai_market *m,
                           pai__market_item *item); /* NULL allowed */
/* Returns a copy, without its counts; NULL if out of memory. */
pai__market_item *pai__market_item_copy(const pai_market *m,
                                        const pai__market_item *item);
size_t pai__market_item_bytes(const pai__market_item *item);
/* Adds an item that was read from the store. */
int pai__market_item_add(pai_market *m, const pai__market_item_row *row);
int pai__market_item_add_count(pai_market *m,
                               const pai__market_count_row *row);
/* Puts the item in the place of the one with its id, or adds it; takes
 * ownership.  Nothing is changed if that fails. */
int pai__market_item_put(pai_market *m, pai__market_item *item,
                         pai_error **err);
int pai__market_item_drop(pai_market *m, pai__market_item *item,
                          pai_error **err);
/* Replaces the counts of an item; takes ownership of the stars. */
int pai__market_item_recount(pai_market *m, pai__market_item *item,
                             pai__market_item_count count, pai_error **err);

/* --- rights (rights.c) --------------------------------------------------- */

/* Copies the viewer in, and checks the marketplace. */
int pai__viewer_in(pai_market_viewer *out, const pai_market *m,
                   const pai_market_viewer *viewer, pai_error **err);
bool pai__market_item_may_see(const pai_market *m, const pai_market_viewer *v,
                              const pai__market_item *item);
bool pai__market_item_may_change(const pai_market *m,
                                 const pai_market_viewer *v,
                                 const pai__market_item *item);
/* Finds an item that the viewer may see. */
int pai__market_item_visible(pai__market_item **out, const pai_market *m,
                             const pai_market_viewer *v, const char *uid,
                             pai_error **err);
/* Finds an item that the viewer may change. */
int pai__market_item_changeable(pai__market_item **out, const pai_market *m,
                                const pai_market_viewer *v, const char *uid,
                                pai_error **err);
int pai__forbidden(pai_error **err, const char *fmt, ...) PAI__PRINTF(2, 3);
int pai__too_much(pai_error **err, const char *fmt, ...) PAI__PRINTF(2, 3);
/* Checks a label for a change of an item by the viewer. */
int pai__check_category(const pai_market_viewer *v, const char *name,
                        pai_error **err);

/* --- job files (protocol.c) ---------------------------------------------- */

/* Checks that a text is a valid job file without values of secrets. */
int pai__check_protocol(const pai_market *m, const char *text,
                        pai_error **err);

/* --- labels (label.c) ---------------------------------------------------- */

void pai__market_label_free(const pai_market *m, pai__market_label *label);
int pai__market_label_add(pai_market *m, const pai__market_label_row *row);

/* Writes a new random UUID (market.c). */
void pai__market_new_id(char out[PAI_MARKET_ID]);
/* The batch for changes, and tells the host of them (market.c). */
pai__batch *pai__market_batch(const pai_market *m);
void pai__market_changed(pai_market *m);

#endif
