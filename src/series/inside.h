/* inside.h - internal to the room: subjects, rows, files */
#ifndef PAI_SRC_SERIES_INSIDE_H
#define PAI_SRC_SERIES_INSIDE_H

#include "base/map.h"
#include "series/series.h"

/* --- posix_series_file.c -------------------------------------------------- */

typedef struct pai__series_file {
  int fd; /* -1: none */
} pai__series_file;

/* Creates a folder for its owner alone.  PAI_OK, or -errno, as all here. */
int pai__series_folder(const char *path);
int pai__series_file_open(pai__series_file *f, const char *folder,
                          const char *name, bool create);
void pai__series_file_close(pai__series_file *f);
/* Reads into a zeroed buffer; bytes beyond the end stay 0. */
int pai__series_file_read(const pai__series_file *f, uint64_t at, void *to,
                          size_t size);
int pai__series_file_write(const pai__series_file *f, uint64_t at,
                           const void *bytes, size_t size);
int pai__series_file_empty(const pai__series_file *f);
/* Writes the message of such an error to `text`, and returns it. */
const char *pai__series_file_why(int error, char *text, size_t size);

/* --- series.c ------------------------------------------------------------- */

/* A row that is not in the file yet. */
typedef struct pai__series_row {
  int64_t at; /* the beginning of its step */
  uint32_t level;
  uint16_t values[PAI__SERIES_METRICS];
} pai__series_row;

typedef struct pai__series_subject {
  char *name;
  uint32_t slot;
  int64_t since;      /* rows before are of an earlier subject */
  int64_t last;       /* its last row of a second */
  bool added, turned; /* its entry is to be written */
  uint16_t values[PAI__SERIES_METRICS]; /* of that row */
  pai__series_row *rows;                /* oldest first */
  size_t n, cap;
} pai__series_subject;

typedef struct pai__series_set {
  const pai__series_form *form;
  pai__series_file file;
  pai__series_subject **list; /* by slot */
  size_t n, cap;
  pai__map names;
  bool headed; /* the file has its head */
} pai__series_set;

struct pai__series_store {
  pai_alloc alloc;
  pai__log log;
  pai__series_set sets[PAI__SERIES_KINDS];
  int trouble;   /* -errno of the last write; 0: it succeeded */
  char why[128]; /* the same as a text */
  bool broken;   /* a file cannot be opened: the trouble stays */
};

/* Notes whether the disk takes what is written, and logs a change. */
void pai__series_note(pai__series_store *s, int rc);

/* --- slots.c: the file of a kind and the places of its subjects ----------- */

/* Opens the file and reads its entries; one of another version, or damaged, is
 * emptied.  PAI_OK, also without a file, or PAI_ENOMEM. */
int pai__series_load(pai__series_store *s, pai__series_set *set,
                     const char *folder);
/* Writes the head of a new file.  PAI_OK, or -errno. */
int pai__series_write_head(pai__series_set *set);
int pai__series_add(pai__series_subject **out, pai__series_store *s,
                    pai__series_set *set, const char *name, int64_t now);
int pai__series_write_entry(const pai__series_set *set,
                            const pai__series_subject *x);
/* Returns where the ring of a level begins in the file. */
uint64_t pai__series_ring_at(const pai__series_set *set,
                             const pai__series_subject *x, uint32_t level);

/* --- rows.c: rows of a subject -------------------------------------------- */

/* Adds a row to those that are to be written. */
int pai__series_push(const pai__series_store *s, pai__series_subject *x,
                     const pai__series_row *row);
/* Ends the minute and the hour of the last row, if `now` is beyond them. */
int pai__series_turn(pai__series_store *s, pai__series_set *set,
                     pai__series_subject *x, int64_t now);
/* Makes the row of a step that is not over yet, of a level from 1 on. */
int pai__series_open_row(pai__series_store *s, const pai__series_set *set,
                         const pai__series_subject *x, uint32_t level,
                         pai__series_row *row);
/* Writes rows until one fails.  PAI_OK, or -errno. */
int pai__series_save(const pai__series_set *set, pai__series_subject *x);
/* Reads the rows of n steps from `at` on.  PAI_OK or PAI_ENOMEM. */
int pai__series_rows(pai__series_store *s, const pai__series_set *set,
                     const pai__series_subject *x, uint32_t level, int64_t at,
                     size_t n, uint16_t (*out)[PAI__SERIES_METRICS]);

#endif
