/**
 * @file openpai/market.h
 * The marketplace of a durable platform: job templates that users share, with
 * tags and categories, as OpenPAI's marketplace has them, without HTTP.
 *
 * Items are passed as JSON, with the members of the REST API.  A change takes
 * effect at once.  It is durable when pai_platform_sync() calls back with
 * PAI_OK.  pai_error_api_code() returns the API's code of an error, such as
 * "NoItemError".  Each function checks what its viewer may do.
 *
 * Threads: LOOP, the loop of the platform.
 */
#ifndef OPENPAI_MARKET_H
#define OPENPAI_MARKET_H

#include <openpai/platform.h>

PAI_BEGIN_DECLS

/** The marketplace of a platform; valid as long as the platform. */
typedef struct pai_market pai_market;

/** The marketplace of a durable platform; NULL for other platforms.
 *  @since 0.1 */
PAI_API pai_market *pai_platform_market(pai_platform *platform);

/** The user on whose behalf a call is made; or use PAI_MARKET_VIEWER_INIT. */
typedef struct pai_market_viewer {
  size_t struct_size;
  const char *user; /**< name of the user */
  int admin;        /**< 1: an administrator, who sees and changes all items */
} pai_market_viewer;

#define PAI_MARKET_VIEWER_INIT         \
  {                                    \
    sizeof(pai_market_viewer), NULL, 0 \
  }

/** Bytes of an id, a UUID, with its NUL. */
enum { PAI_MARKET_ID = 37 };

/** Which items to write, see pai_market_write_items(); or use
 *  PAI_MARKET_QUERY_INIT.  NULL is no condition. */
typedef struct pai_market_query {
  size_t struct_size;
  const char *id; /**< write this item alone, as an object */
  const char *name, *author, *type, *source;
  const char *keyword;    /**< part of name, author or summary, in any case */
  const char *tags;       /**< all of these, separated by commas */
  const char *categories; /**< all of these, separated by commas */
  int brief;              /**< 1: without descriptions and job files */
} pai_market_query;

#define PAI_MARKET_QUERY_INIT                                                 \
  {                                                                           \
    sizeof(pai_market_query), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
      0                                                                       \
  }

/** Writes the items that the viewer may see as a JSON list, newest first; or
 *  one item.  @return PAI_OK; PAI_EINVAL; PAI_ENOTFOUND: there is no such
 *  item, or the viewer may not see it; PAI_ENOMEM; or the return value of
 *  @p write  @since 0.1 */
PAI_API PAI_NODISCARD int pai_market_write_items(
  pai_market *market, const pai_market_viewer *viewer,
  const pai_market_query *query, pai_write_cb write, void *user_data,
  pai_error **err);

/**
 * Creates or changes an item.  Its job file is checked, and must not contain
 * the values of secrets.
 *
 * @param[out] out  the item's id
 * @param id    NULL: create an item; else change this one: members that are
 *              missing in @p json keep their values
 * @return PAI_OK; PAI_EINVAL; PAI_EPERM: the viewer may not do that;
 *         PAI_ENOTFOUND: no such item or group; PAI_ELIMIT: the user has too
 *         many items; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_market_put_item(char out[PAI_MARKET_ID],
                                              pai_market *market,
                                              const pai_market_viewer *viewer,
                                              const char *id, const char *json,
                                              size_t len, pai_error **err);

/** Removes an item.  @return PAI_OK; PAI_EINVAL; PAI_EPERM; PAI_ENOTFOUND;
 *  PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_market_remove_item(
  pai_market *market, const pai_market_viewer *viewer, const char *id,
  pai_error **err);

/** Puts the viewer's star on an item, or takes it off if @p on is 0.  A user
 *  has one star for each item.  @return PAI_OK; PAI_EINVAL; PAI_ENOTFOUND;
 *  PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_market_star(pai_market *market,
                                          const pai_market_viewer *viewer,
                                          const char *id, int on,
                                          pai_error **err);

/** Counts a job that the viewer has submitted from an item.  @return PAI_OK;
 *  PAI_EINVAL; PAI_ENOTFOUND; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_market_use(pai_market *market,
                                         const pai_market_viewer *viewer,
                                         const char *id, pai_error **err);

/** Kinds of labels. */
enum { PAI_MARKET_TAG, PAI_MARKET_CATEGORY };

/**
 * Writes labels as a JSON list; or one label as an object.
 *
 * @param kind PAI_MARKET_TAG or PAI_MARKET_CATEGORY
 * @param id   NULL, or write this label alone
 * @param item NULL, or an item: only labels that it has
 * @return as pai_market_write_items()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_market_write_labels(
  pai_market *market, const pai_market_viewer *viewer, int kind,
  const char *id, const char *item, pai_write_cb write, void *user_data,
  pai_error **err);

/** Creates a label, or changes the one of this @p id, whose name stays.  For
 *  administrators.  @return PAI_OK; PAI_EINVAL; PAI_EPERM; PAI_ENOTFOUND;
 *  PAI_EEXISTS; PAI_ELIMIT; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_market_put_label(
  char out[PAI_MARKET_ID], pai_market *market, const pai_market_viewer *viewer,
  int kind, const char *id, const char *json, size_t len, pai_error **err);

/** Removes a label; items keep its name.  For administrators.  @return as
 *  pai_market_remove_item()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_market_remove_label(
  pai_market *market, const pai_market_viewer *viewer, int kind,
  const char *id, pai_error **err);

/** Adds a label to an item, or takes it off if @p on is 0.  @return as
 *  pai_market_put_item()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_market_set_label(pai_market *market,
                                               const pai_market_viewer *viewer,
                                               const char *item, int kind,
                                               const char *id, int on,
                                               pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_MARKET_H */
