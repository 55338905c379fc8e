/* job_files.h - files of a job: how they are named, listed and counted */
#ifndef PAI_SRC_CLI_JOB_FILES_H
#define PAI_SRC_CLI_JOB_FILES_H

#include "remote.h"

/* A word as "JOB:PATH", or a path of this machine. */
typedef struct cli_place {
  char *job;        /* for free(); NULL: it is a path of this machine */
  const char *path; /* in the word; "" is the job's folder */
} cli_place;

/* As scp does: a colon before the first slash makes it a job's.  False: no
 * memory, or no job's name, and told. */
bool cli_place_read(cli_place *out, const char *word);
void cli_place_free(cli_place *place);

/* One of them; borrowed during the callback. */
typedef struct cli_entry {
  const char *path;
  const char *type; /* "file", "folder", "link", "other" */
  const char *target;
  int64_t size, modified; /* ms since 1970 */
  bool executable;
} cli_entry;

typedef struct cli_listing {
  const char *job, *path;
  bool recursive;
  bool one; /* the first entry suffices */
  /* False ends it. */
  bool (*on_entry)(void *user_data, const cli_entry *entry);
  void *user_data;
  bool stopped; /* it was ended so */
} cli_listing;

/* Lists page by page.  False: that failed, and is in *a for
 * cli_answer_tell(); it goes with cli_answer_free() in either case. */
bool cli_list_files(cli_remote *r, cli_listing *l, cli_answer *a);

/* Asks for one page alone; likewise. */
bool cli_ask_files(cli_remote *r, const cli_listing *l, cli_answer *a);

typedef struct cli_total {
  char folder[4096]; /* "": nobody says */
  bool own;
  int64_t files, bytes;
} cli_total;

/* How much there is in a job's folder.  False: it has no files, or nobody
 * knows. */
bool cli_total_files(cli_remote *r, const char *job, cli_total *out);

/* --- copying (posix_download.c, posix_upload.c) --- */

enum { CLI_COPY_PATH = 8192 };

/* What has been copied, and how that is shown. */
typedef struct cli_copied {
  long files;
  int64_t bytes;
  int64_t began; /* ms */
} cli_copied;

/* A file or folder of a job to a path here, or "-": to standard output.  `into`:
 * the path is a folder, in which it keeps its name.  False, and told. */
bool cli_download(cli_remote *r, const cli_place *from, const char *to,
                  bool into, cli_copied *c);
/* Parts of it: a file, and a folder with all that is in it. */
bool cli_download_file(cli_remote *r, const char *job, const cli_entry *entry,
                       const char *to, cli_copied *c);
bool cli_download_folder(cli_remote *r, const cli_place *from, const char *to,
                         cli_copied *c);
/* A file or folder of this machine into a job's folder. */
bool cli_upload(cli_remote *r, const char *from, const cli_place *to,
                bool into, cli_copied *c);
/* Whether a path is a folder here. */
bool cli_is_folder(const char *path);

/* The line of progress, while `done` of `total` bytes of a file are there. */
void cli_copy_progress(const cli_copied *c, const char *path, uint64_t done,
                       uint64_t total);
/* Behind the last slash. */
const char *cli_last_part(const char *path);

#endif
