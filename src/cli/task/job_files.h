/* job_files.h - files of a job: place names, lists, sizes and copies */
#ifndef PAI_SRC_CLI_JOB_FILES_H
#define PAI_SRC_CLI_JOB_FILES_H

#include "remote.h"

/* A parsed word: "JOB:PATH", or a path of this machine. */
typedef struct cli_place {
  char *job;        /* for free(); NULL: a path of this machine */
  const char *path; /* points into the word; "" is the job's folder */
} cli_place;

/* Parses a word as scp does: a colon before the first slash makes it a job's.
 * Returns false after printing an error: no memory, or no valid job name. */
bool cli_place_read(cli_place *out, const char *word);
void cli_place_free(cli_place *place);

/* A file in a list; borrowed during the callback. */
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
  bool one; /* only the first entry is needed */
  /* Returns false to stop. */
  bool (*on_entry)(void *user_data, const cli_entry *entry);
  void *user_data;
  bool stopped; /* on_entry returned false */
} cli_listing;

/* Lists page by page.  Returns false if that failed, with the answer in *a for
 * cli_answer_tell().  The caller frees *a in either case. */
bool cli_list_files(cli_remote *r, cli_listing *l, cli_answer *a);

/* The same for one page only. */
bool cli_ask_files(cli_remote *r, const cli_listing *l, cli_answer *a);

typedef struct cli_total {
  char folder[4096]; /* "": not known */
  bool own;
  int64_t files, bytes;
} cli_total;

/* Returns how many files and bytes a job's folder has.  False: it has no
 * files, or that is not known. */
bool cli_total_files(cli_remote *r, const char *job, cli_total *out);

/* --- copying (posix_copies.c) --- */

/* What has been copied, for the progress line. */
typedef struct cli_copied {
  long files;
  int64_t bytes;
  int64_t began; /* ms since the epoch */
  bool failed;   /* something was not copied */
} cli_copied;

/* Copies a file or folder of a job to a path of this machine, or "-" for
 * standard output.  `into`: the path is a folder, in which the copy keeps its
 * name.  Returns false after printing an error. */
bool cli_download(cli_remote *r, const cli_place *from, const char *to,
                  bool into, cli_copied *c);
/* Copies a file or folder of this machine into a job's folder. */
bool cli_upload(cli_remote *r, const char *from, const cli_place *to,
                bool into, cli_copied *c);
/* Returns whether a path of this machine is a folder. */
bool cli_is_folder(const char *path);

/* Draws the progress line while `done` of `total` bytes of a file are
 * copied. */
void cli_copy_progress(const cli_copied *c, const char *path, uint64_t done,
                       uint64_t total);
/* Returns the part of a path after its last slash. */
const char *cli_last_part(const char *path);

#endif
