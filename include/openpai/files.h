/**
 * @file openpai/files.h
 * Files of a job: list, read and write the working folder of its commands.
 *
 * A job that was submitted with code has its own folder with a copy of the
 * code and the files that its tasks wrote.  Other jobs work in an existing
 * folder; the functions here use that folder, too, unless the option `own` is
 * set.
 *
 * Paths are relative to that folder: "out/model.pt".  A symbolic link is
 * followed as long as it stays inside the folder.  On a platform for all
 * users, files are accessed with the rights of the job's user.
 *
 * All functions require a durable platform (else PAI_ENOTSUP).  The job may be
 * running or over.
 *
 * Threads: LOOP.
 */
#ifndef OPENPAI_FILES_H
#define OPENPAI_FILES_H

#include <openpai/records.h>

PAI_BEGIN_DECLS

/** Options of a list.  Texts are copied. */
typedef struct pai_files_options {
  size_t struct_size;
  const char *path;  /**< folder or file; NULL: the job's folder */
  const char *after; /**< list entries after this path, the `next` of the
                          previous page; NULL: from the first entry */
  uint32_t limit;    /**< entries of a page; 0: 1,000; at most 10,000 */
  int recursive;     /**< 1: list folders recursively */
  int total;         /**< 1: count files and their bytes instead of listing
                          entries */
  int own;           /**< 1: a job without its own folder has no files:
                          PAI_ENOTFOUND */
} pai_files_options;

#define PAI_FILES_OPTIONS_INIT                  \
  {                                             \
    sizeof(pai_files_options), 0, 0, 0, 0, 0, 0 \
  }

/** Receives the result once, from the loop: JSON, or an error. */
typedef void (*pai_files_cb)(void *user_data, int status, const char *json,
                             size_t len, const pai_error *err);

/**
 * Lists files of a job, sorted by path: {"folder", "own", "entries", "next",
 * "files", "bytes"}.  `folder` is the absolute path of the job's folder, `own`
 * is true if the job has its own folder.  An entry is {"path", "type", "size",
 * "modified", "executable", "target"}: the type is "file", "folder", "link" or
 * "other"; `modified` counts milliseconds since 1970; `target` is the target
 * of a link, else null.  `next` is the value of `after` for the next page, or
 * null at the end.  `files` and `bytes` are null without `total`.
 *
 * @return PAI_OK: @p cb will be called, with PAI_OK; PAI_ENOTFOUND: no such
 *         path; PAI_EPERM: the job's user may not read it; PAI_EINVAL: the
 *         path leads out of the folder; PAI_EIO; PAI_ENOMEM.  If @p cb will
 *         not be called: PAI_ENOTFOUND: no such job, or it has no folder;
 *         PAI_EBUSY: the platform is closing; PAI_EINVAL; PAI_ENOTSUP;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_list_files(
  pai_platform *platform, pai_job_id job, const pai_files_options *opts,
  pai_files_cb cb, void *user_data, pai_error **err);

/**
 * Opens a file of a job for reading.
 *
 * @param[out] fd  a descriptor of a regular file, owned by the caller; -1 on
 *                 failure
 * @param own      as in pai_files_options
 * @return PAI_OK; PAI_ENOTFOUND: no such job or file; PAI_EINVAL: not a
 *         regular file, or outside the folder; PAI_EPERM; PAI_EIO;
 *         PAI_ENOTSUP; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_open_file(int *fd,
                                                 pai_platform *platform,
                                                 pai_job_id job,
                                                 const char *path, int own,
                                                 pai_error **err);

typedef struct pai_file_writer pai_file_writer; /**< pai_file_writer_close() */

/** Options of pai_file_writer_open(): the file to write.  Texts are copied. */
typedef struct pai_file_write_options {
  size_t struct_size;
  const char *path;   /**< path of the file; missing folders are created.  A
                           path that ends with "/" creates a folder, if there
                           is none; size must be 0 */
  const char *upload; /**< name of the upload, with which it can be continued
                           later: 1 to 64 letters, digits, "-" and "_".  NULL:
                           an incomplete file is deleted when the writer is
                           closed */
  uint64_t offset;    /**< position of the first byte to be added, at most the
                           number of bytes that have arrived; later bytes are
                           replaced.  UINT64_MAX: continue after the last
                           byte */
  uint64_t size;      /**< size of the whole file */
  int executable;     /**< 1: the file may be executed */
  int own;            /**< as in pai_files_options */
} pai_file_write_options;

#define PAI_FILE_WRITE_OPTIONS_INIT                  \
  {                                                  \
    sizeof(pai_file_write_options), 0, 0, 0, 0, 0, 0 \
  }

/**
 * Begins or continues an upload of a file.  Until it is complete, the file is
 * next to its destination under another name; then it replaces an existing
 * file.
 *
 * @param[out] out  the writer, owned by the caller; NULL on failure
 * @return PAI_OK; PAI_ENOTFOUND: no such job, or it has no folder; PAI_EINVAL:
 *         the path leads out of the folder or is a folder, or fewer bytes than
 *         the offset have arrived; PAI_EPERM; PAI_EIO; PAI_ENOTSUP; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_file_writer_open(
  pai_file_writer **out, pai_platform *platform, pai_job_id job,
  const pai_file_write_options *opts, pai_error **err);

/** Number of bytes of the file that have arrived, including those of earlier
 *  writers.  @since 0.1 */
PAI_API uint64_t pai_file_writer_received(const pai_file_writer *writer);

/** Adds bytes.  @return PAI_OK; PAI_ELIMIT: more than the file's size;
 *  PAI_EPERM; PAI_EIO  @since 0.1 */
PAI_API PAI_NODISCARD int pai_file_writer_add(pai_file_writer *writer,
                                              const char *bytes, size_t len,
                                              pai_error **err);

/** Moves the file to its destination if all bytes have arrived.
 *  @return 1: complete; 0: bytes are missing; PAI_EPERM; PAI_EIO
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_file_writer_end(pai_file_writer *writer,
                                              pai_error **err);

/** Frees a writer.  NULL is allowed.  @since 0.1 */
PAI_API void pai_file_writer_close(pai_file_writer *writer);

/* --- copies ---------------------------------------------------------------- */

/** Reports how much of a file has been copied. */
typedef void (*pai_copy_progress_cb)(void *user_data, const char *path,
                                     uint64_t done, uint64_t total);

/** Reports a file that is not copied.
 *  @param why  what failed; NULL: a downloaded link leads out of the folder, or
 *              an uploaded file is neither a regular file nor a folder
 *  @return 0: go on with the next file; negative: the copy ends with it */
typedef int (*pai_copy_skip_cb)(void *user_data, const char *path,
                                const pai_error *why);

/** What to copy from a job's folder to this machine.  Texts are copied. */
typedef struct pai_download_options {
  size_t struct_size;
  const char *path; /**< file or folder of the job; NULL: the job's folder */
  const char *to;   /**< local path of the file, or of a folder for the
                         content of the job's folder.  A file keeps its name if
                         this is a folder or ends with "/".  Missing folders are
                         created */
  /** Of clients; NULL is allowed, else PAI_ENOTSUP for platforms. */
  pai_copy_progress_cb on_progress;
  pai_copy_skip_cb on_skip; /**< the same.  NULL: the first failure ends the
                                 copy */
} pai_download_options;

#define PAI_DOWNLOAD_OPTIONS_INIT            \
  {                                          \
    sizeof(pai_download_options), 0, 0, 0, 0 \
  }

/** What to copy from this machine to a job's folder.  Texts are copied. */
typedef struct pai_upload_options {
  size_t struct_size;
  const char *from; /**< local file or folder.  In a folder, links to files are
                         followed and other links are skipped */
  const char *path; /**< path of the file in the job's folder, or of a folder
                         for the content of the local folder.  A file keeps its
                         name if this ends with "/" or is NULL */
  pai_copy_progress_cb on_progress; /**< as in pai_download_options */
  pai_copy_skip_cb on_skip;
} pai_upload_options;

#define PAI_UPLOAD_OPTIONS_INIT            \
  {                                        \
    sizeof(pai_upload_options), 0, 0, 0, 0 \
  }

/**
 * Copies a file or a folder of a job to this machine.  A file that was copied
 * before and has not changed, by its size and time of modification, is not
 * copied again.  Each file is written next to its destination and then
 * replaces an existing file.  Nothing is written outside the folder: links are
 * created last, and only those that stay in it.
 *
 * The answer is {"files", "bytes", "skipped", "into"}: the number of files, of
 * bytes that were copied, and of files that were not; `into` tells that the
 * file kept its name in the folder `to`.
 *
 * @param[out] op  NULL, or receives the operation, for pai_op_cancel(): files
 *                 that were copied before remain, no part of a file does
 * @return PAI_OK: @p cb will be called, from the loop, with PAI_OK, or with an
 *         error for which pai_error_file() may name the local file: as
 *         pai_platform_list_files() and pai_platform_open_file(); PAI_EEXISTS:
 *         a file keeps changing; PAI_ECANCELED; PAI_EBUSY: the platform is closing.  If @p cb
 *         will not be called: PAI_ENOTFOUND: no such job, or it has no folder;
 *         PAI_EBUSY; PAI_EINVAL; PAI_ENOTSUP; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_download(
  pai_op **op, pai_platform *platform, pai_job_id job,
  const pai_download_options *opts, pai_files_cb cb, void *user_data,
  pai_error **err);

/** Copies a file or a folder of this machine to a job's folder.  The answer,
 *  and what it returns, are those of pai_platform_download().  @since 0.1 */
PAI_API PAI_NODISCARD int pai_platform_upload(pai_op **op,
                                              pai_platform *platform,
                                              pai_job_id job,
                                              const pai_upload_options *opts,
                                              pai_files_cb cb, void *user_data,
                                              pai_error **err);

/* --- forgetting a job ------------------------------------------------------ */

/** Options of pai_platform_forget_as(). */
typedef struct pai_forget_options {
  size_t struct_size;
  int keep_files; /**< 1: the job's own folder is moved to `kept` in the
                       platform's root instead of being deleted */
} pai_forget_options;

#define PAI_FORGET_OPTIONS_INIT   \
  {                               \
    sizeof(pai_forget_options), 0 \
  }

/**
 * Removes a job as pai_platform_forget(), and writes {"kept"}: the absolute
 * path of the folder that was kept, or null.
 * @param opts  NULL: as pai_platform_forget()
 * @return as pai_platform_forget(); PAI_EIO: the folder cannot be moved, and
 *         nothing has changed
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_forget_as(
  pai_platform *platform, pai_job_id job, const pai_forget_options *opts,
  pai_write_cb write, void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_FILES_H */
