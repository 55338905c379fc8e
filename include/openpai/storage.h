/**
 * @file openpai/storage.h
 * Storages of a durable platform: folders and file systems that jobs may ask
 * for by name.  <openpai/account.h> includes this header.
 *
 * Threads: LOOP, as <openpai/account.h>.
 */
#ifndef OPENPAI_STORAGE_H
#define OPENPAI_STORAGE_H

#include <openpai/account.h>

PAI_BEGIN_DECLS

/** Output forms of pai_accounts_write_storages(). */
enum {
  PAI_STORAGE_SUMMARY = 0, /**< GET /storages: {"storages": [...]} of "name",
                                "share", "volumeName", "default" */
  PAI_STORAGE_DETAIL,      /**< GET /storages/NAME: requires `name` */
  PAI_STORAGE_CONFIG,      /**< GET /storage/config: a list, or one storage */
  PAI_STORAGE_SERVER       /**< GET /storage/server: a list, or one storage */
};

/** Filter of storages; members that are 0 do not restrict. */
typedef struct pai_storage_query {
  size_t struct_size;
  int form;          /**< PAI_STORAGE_* */
  const char *user;  /**< only storages granted to this user; NULL: all */
  const char *name;  /**< write this storage alone, not as a list; required for
                          PAI_STORAGE_DETAIL */
  const char *names; /**< names to list, separated by commas; NULL: all */
  int usual; /**< 1: list only storages that are the first storage of a group
                  of the user */
} pai_storage_query;

#define PAI_STORAGE_QUERY_INIT               \
  {                                          \
    sizeof(pai_storage_query), 0, 0, 0, 0, 0 \
  }

/**
 * Writes storages.
 * @return PAI_OK; PAI_ENOTFOUND: NoStorageError (UnknownError of status 500
 *         for the last two forms); PAI_EPERM: not granted, ForbiddenUserError;
 *         PAI_EINVAL; PAI_ENOMEM; the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_write_storages(
  pai_accounts *accounts, const pai_storage_query *query, pai_write_cb write,
  void *user_data, pai_error **err);

/**
 * Creates or replaces a storage.
 * @param json  {"name"!, "type"!, "data", "share", "readOnly", "mountOptions",
 *              "secretName", "mountedAt"}.  Type is "local" (data: {"path"}),
 *              "nfs", "azureFile", "azureBlob", "samba", "dshuttle" or "other".
 *              `mountedAt` is the folder where this machine has mounted it, so
 *              that jobs on this machine can use it
 * @return PAI_OK; PAI_EINVAL: InvalidParametersError; PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_put_storage(pai_accounts *accounts,
                                                   const char *json,
                                                   size_t len,
                                                   pai_error **err);

/** @return PAI_OK; PAI_ENOTFOUND: NoStorageError; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_remove_storage(pai_accounts *accounts,
                                                      const char *name,
                                                      pai_error **err);

/** Returns 1 if a group of the user has the storage.  @since 0.1 */
PAI_API int pai_accounts_may_use_storage(const pai_accounts *accounts,
                                         const char *user, const char *name);

PAI_END_DECLS

#endif /* OPENPAI_STORAGE_H */
