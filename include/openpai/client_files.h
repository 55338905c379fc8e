/**
 * @file openpai/client_files.h
 * Files of a job of a server: list, fetch, send and copy them.
 *
 * Threads: LOOP.
 */
#ifndef OPENPAI_CLIENT_FILES_H
#define OPENPAI_CLIENT_FILES_H

#include <openpai/client.h>
#include <openpai/files.h>

PAI_BEGIN_DECLS

/** Lists files of a job, as pai_platform_list_files(); `own` has no effect.
 *  `folder` is null for clients on other machines.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_client_files(pai_op **op, pai_client *client,
                                           const char *job,
                                           const pai_files_options *opts,
                                           pai_client_cb cb, void *user_data,
                                           pai_error **err);

/** Which file to fetch.  Texts are copied. */
typedef struct pai_client_get_file_options {
  size_t struct_size;
  const char *job;
  const char *path; /**< as pai_client_files() lists it */
  uint64_t offset;  /**< of the first byte to fetch */
  int64_t modified; /**< expected time of modification, as listed, if offset is
                         not 0: PAI_EEXISTS if the file was changed since.  0:
                         any */
  /** Receives the bytes, each once and in order.  A negative return value ends
   *  the operation with that status. */
  pai_write_cb on_data;
} pai_client_get_file_options;

#define PAI_CLIENT_GET_FILE_OPTIONS_INIT               \
  {                                                    \
    sizeof(pai_client_get_file_options), 0, 0, 0, 0, 0 \
  }

/**
 * Fetches a file of a job; after a broken connection it continues with the
 * next byte.  PAI_EEXISTS: the file was changed meanwhile.
 * @param user_data  passed to @p cb and on_data
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_get_file(
  pai_op **op, pai_client *client, const pai_client_get_file_options *opts,
  pai_client_cb cb, void *user_data, pai_error **err);

/** Which file to send.  Texts are copied. */
typedef struct pai_client_put_file_options {
  size_t struct_size;
  const char *job;
  const char *path;    /**< destination, relative to the job's folder; a path
                            that ends with "/" creates a folder, and size must
                            be 0 */
  const char *upload;  /**< name of the upload, as in pai_file_write_options,
                            with which another operation can continue it; NULL:
                            none */
  uint64_t size;       /**< of the file */
  pai_read_at_cb read; /**< reads the file; called from the loop */
  int executable;
  /** Reports how much of the file has arrived.  NULL is allowed. */
  void (*on_progress)(void *user_data, uint64_t sent, uint64_t total);
} pai_client_put_file_options;

#define PAI_CLIENT_PUT_FILE_OPTIONS_INIT                     \
  {                                                          \
    sizeof(pai_client_put_file_options), 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Sends a file into a job's folder, in pieces of some MiB.  After a broken
 * connection a piece is sent again; an upload with a name continues after the
 * bytes that have arrived.  The answer is {"path", "received", "size",
 * "complete"}.
 * @param user_data  passed to @p cb, read and on_progress
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_put_file(
  pai_op **op, pai_client *client, const pai_client_put_file_options *opts,
  pai_client_cb cb, void *user_data, pai_error **err);

/**
 * Copies a file or a folder of a job to this machine, as
 * pai_platform_download(); the answer's body is that of it, also after a
 * failure.  What has arrived of a large file is kept when the download ends
 * early: the same download continues it, unless the job's file has changed.
 * PAI_EBUSY: another process is downloading the same file.
 * @param user_data  passed to @p cb and the options' callbacks, which are
 *                   called from the loop
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_download(pai_op **op, pai_client *client,
                                              const char *job,
                                              const pai_download_options *opts,
                                              pai_client_cb cb,
                                              void *user_data,
                                              pai_error **err);

/**
 * Copies a file or a folder of this machine to a job's folder, as
 * pai_platform_upload(); the answer's body is that of it, also after a
 * failure.  The same upload continues a large file after the bytes that have
 * arrived, unless the local file has changed.
 * @param user_data  as in pai_client_download()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_client_upload(pai_op **op, pai_client *client,
                                            const char *job,
                                            const pai_upload_options *opts,
                                            pai_client_cb cb, void *user_data,
                                            pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_CLIENT_FILES_H */
