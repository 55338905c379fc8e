/*
 * posix_copy.h - the local side of copies from and to a job's folder
 *
 * Who has the job's files drives it: a client, or a platform in another
 * thread.  A download takes the entries of a list, and asks for the bytes of
 * one file after the other; an upload names the files to be sent.
 */
#ifndef PAI_SRC_BASE_OS_POSIX_COPY_H
#define PAI_SRC_BASE_OS_POSIX_COPY_H

#include "base/buf.h"
#include "base/os/posix_below.h"

#include <openpai/files.h>

/* What both have: how a copy is made, and what became of it. */
typedef struct pai__copy {
  const pai_alloc *alloc;
  const char *job; /* borrowed; NULL: nothing is continued later */
  pai_copy_progress_cb on_progress;
  pai_copy_skip_cb on_skip;
  void *user_data;
  uint64_t files, bytes, skipped;
  bool into;
  bool stopped; /* by on_skip */
} pai__copy;

/* Skips a file for the failure `rc`; PAI_OK: it is not to be copied.  `why` is
 * *err or borrowed.  Returns PAI_OK: go on, and frees *err; or the failure that
 * ends the copy. */
int pai__copy_skip(pai__copy *c, const char *path, int rc,
                   const pai_error *why, pai_error **err);
/* Writes the answer of pai_platform_download(). */
void pai__copy_write(const pai__copy *c, pai__buf *json);

/* --- downloads (posix_copy_down.c) ------------------------------------------ */

typedef struct pai__copy_down pai__copy_down;

/* Checks and copies a caller's options. */
int pai__copy_down_options(pai_download_options *out,
                           const pai_download_options *opts, pai_error **err);
int pai__copy_down_new(pai__copy_down **out, const pai__copy *how,
                       const pai_download_options *o, pai_error **err);
void pai__copy_down_free(pai__copy_down *d); /* NULL is allowed */
/* The path to be listed, recursively; "": the job's folder. */
const char *pai__copy_down_path(const pai__copy_down *d);
/* Takes an entry of the list; writes nothing yet.  PAI_EIO: it is not in the
 * folder. */
int pai__copy_down_entry(pai__copy_down *d, const pai__below_entry *e,
                         pai_error **err);
/* Makes what needs no bytes, up to the next file.  1: *file is to be fetched
 * from *offset on; 0: all entries are done. */
int pai__copy_down_begin(pai__copy_down *d, const pai__below_entry **file,
                         uint64_t *offset, pai_error **err);
/* Adds bytes.  A failure is kept for pai__copy_down_end(). */
int pai__copy_down_add(pai__copy_down *d, const char *bytes, size_t len);
/* Ends the file, whose fetching ended with `status` and `why`.  PAI_OK: go on;
 * PAI_EEXISTS without an error: it has changed: list it again for
 * pai__copy_down_again().  Other failures end the download; without an error it
 * is `why`. */
int pai__copy_down_end(pai__copy_down *d, int status, const pai_error *why,
                       pai_error **err);
void pai__copy_down_again(pai__copy_down *d, const pai__below_entry *e);
/* Makes the links, after the last entry. */
int pai__copy_down_finish(pai__copy_down *d, pai_error **err);
const pai__copy *pai__copy_down_state(const pai__copy_down *d);

/* --- uploads (posix_copy_up.c) ----------------------------------------------- */

typedef struct pai__copy_up pai__copy_up;

typedef struct pai__copy_up_file {
  const char
    *path; /* in the job's folder; it ends with "/": an empty folder */
  const char *name; /* of the upload; NULL: it is not continued later */
  uint64_t size;
  bool executable;
} pai__copy_up_file;

int pai__copy_up_options(pai_upload_options *out,
                         const pai_upload_options *opts, pai_error **err);
int pai__copy_up_new(pai__copy_up **out, const pai__copy *how,
                     const pai_upload_options *o, pai_error **err);
void pai__copy_up_free(pai__copy_up *u); /* NULL is allowed */
/* Opens the next file.  1: *file is to be sent; 0: there is none. */
int pai__copy_up_begin(pai__copy_up *u, pai__copy_up_file *file,
                       pai_error **err);
/* As a pai_read_at_cb. */
ptrdiff_t pai__copy_up_read(pai__copy_up *u, uint64_t offset, char *buffer,
                            size_t size);
void pai__copy_up_progress(pai__copy_up *u, uint64_t sent, uint64_t total);
/* Ends the file, as pai__copy_down_end(). */
int pai__copy_up_end(pai__copy_up *u, int status, const pai_error *why,
                     pai_error **err);
const pai__copy *pai__copy_up_state(const pai__copy_up *u);

#endif
