/**
 * @file openpai/files.h
 * Files of a job: those in the folder in which its commands begin.
 *
 * A job that was submitted with code has a folder of its own: its copy of the
 * code, and what its tasks wrote there.  The commands of any other job begin in
 * a folder that was there before; the functions here read and write in that
 * one too, unless the options say `own`.
 *
 * Paths are relative to that folder: "out/model.pt".  A symbolic link is
 * followed as long as it stays inside the folder.  On a platform of all users
 * files are used with the rights of the job's user.
 *
 * All functions need a durable platform (else PAI_ENOTSUP) and take a job that
 * runs or is over.
 *
 * Threads: LOOP.
 */
#ifndef OPENPAI_FILES_H
#define OPENPAI_FILES_H

#include <openpai/records.h>

PAI_BEGIN_DECLS

/** What to list.  Texts are copied. */
typedef struct pai_files_options {
  size_t struct_size;
  const char *path;  /**< of a folder or a file; NULL: the job's folder */
  const char *after; /**< list what comes after this path, the `next` of the
                          page before; NULL: from the first entry on */
  uint32_t limit;    /**< entries of a page; 0: 1,000; at most 10,000 */
  int recursive;     /**< 1: list folders with all that is in them */
  int total;         /**< 1: no entries; count the files, and their bytes */
  int own;           /**< 1: a job without a folder of its own has no files:
                          PAI_ENOTFOUND */
} pai_files_options;

#define PAI_FILES_OPTIONS_INIT                  \
  {                                             \
    sizeof(pai_files_options), 0, 0, 0, 0, 0, 0 \
  }

/** Receives the answer once, from the loop: JSON, or why there is none. */
typedef void (*pai_files_cb)(void *user_data, int status, const char *json,
                             size_t len, const pai_error *err);

/**
 * Lists files of a job, sorted by path: {"folder", "own", "entries", "next",
 * "files", "bytes"}.  `folder` is the absolute path of the job's folder, `own`
 * whether it is the job's own.  An entry is {"path", "type", "size",
 * "modified", "executable", "target"}: the type is "file", "folder", "link" or
 * "other"; `modified` counts milliseconds since 1970; `target` is where a link
 * leads, else null.  `next` is the path to go on after, or null at the end.
 * `files` and `bytes` are null without `total`.
 *
 * @return PAI_OK: it will call back, with PAI_OK; PAI_ENOTFOUND: no such path;
 *         PAI_EPERM: the job's user may not read it; PAI_EINVAL: the path
 *         leads out of the folder; PAI_EIO; PAI_ENOMEM.  Otherwise
 *         PAI_ENOTFOUND: no such job, or it has no folder; PAI_EBUSY: the
 *         platform is closing; PAI_EINVAL; PAI_ENOTSUP; PAI_ENOMEM
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
 * @return PAI_OK; PAI_ENOTFOUND: no such job or file; PAI_EINVAL: it is no
 *         regular file, or leads out of the folder; PAI_EPERM; PAI_EIO;
 *         PAI_ENOTSUP; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_platform_open_file(int *fd,
                                                 pai_platform *platform,
                                                 pai_job_id job,
                                                 const char *path, int own,
                                                 pai_error **err);

typedef struct pai_file_writer pai_file_writer; /**< pai_file_writer_close() */

/** What to write.  Texts are copied. */
typedef struct pai_file_write_options {
  size_t struct_size;
  const char *path;   /**< of the file; folders that are missing are made.
                           One that ends with "/" is a folder, which is made
                           unless it is there; its size is 0 */
  const char *upload; /**< a name for this upload, by which it goes on later:
                           1 to 64 letters, digits, "-" and "_".  NULL: what is
                           not whole when the writer is closed is deleted */
  uint64_t offset;    /**< of the first byte to come, at most what has arrived
                           of the upload before; what lies behind it is
                           replaced.  UINT64_MAX: go on where it ended */
  uint64_t size;      /**< of the whole file */
  int executable;     /**< 1: the file may be executed */
  int own;            /**< as in pai_files_options */
} pai_file_write_options;

#define PAI_FILE_WRITE_OPTIONS_INIT                  \
  {                                                  \
    sizeof(pai_file_write_options), 0, 0, 0, 0, 0, 0 \
  }

/**
 * Begins to write a file of a job, or goes on.  Until it is whole it lies
 * beside its place under another name; then it takes the place of a file that
 * was there.
 *
 * @param[out] out  the writer, owned by the caller; NULL on failure
 * @return PAI_OK; PAI_ENOTFOUND: no such job, or it has no folder; PAI_EINVAL:
 *         the path leads out of the folder or is a folder, or less than the
 *         offset has arrived; PAI_EPERM; PAI_EIO; PAI_ENOTSUP; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_file_writer_open(
  pai_file_writer **out, pai_platform *platform, pai_job_id job,
  const pai_file_write_options *opts, pai_error **err);

/** How many bytes of the file have arrived, those of earlier writers
 *  included.  @since 0.1 */
PAI_API uint64_t pai_file_writer_received(const pai_file_writer *writer);

/** Adds bytes.  @return PAI_OK; PAI_ELIMIT: more than the file's size;
 *  PAI_EPERM; PAI_EIO  @since 0.1 */
PAI_API PAI_NODISCARD int pai_file_writer_add(pai_file_writer *writer,
                                              const char *bytes, size_t len,
                                              pai_error **err);

/** If all bytes have arrived, puts the file in its place.
 *  @return 1: it is there; 0: more is to come; PAI_EPERM; PAI_EIO
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_file_writer_end(pai_file_writer *writer,
                                              pai_error **err);

/** Frees it.  NULL is allowed.  @since 0.1 */
PAI_API void pai_file_writer_close(pai_file_writer *writer);

/** How to forget a job. */
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
 * As pai_platform_forget(), and writes {"kept"}: the absolute path of the
 * folder that was kept, or null.
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
