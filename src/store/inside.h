/* inside.h - internal to src/store: the store object, its statements and
 * batches */
#ifndef PAI_SRC_STORE_INSIDE_H
#define PAI_SRC_STORE_INSIDE_H

#include "base/map.h"
#include "store/fields.h"
#include "store/store.h"

/* Prepared statements, each for one connection.  Their texts are in sql.c. */
enum pai__sql {
  PAI__SQL_BEGIN, /* from here on: on the writer */
  PAI__SQL_COMMIT,
  PAI__SQL_PUT_JOB,
  PAI__SQL_SET_JOB,
  PAI__SQL_SET_JOB_STATE,
  PAI__SQL_SET_JOB_TOTALS,
  PAI__SQL_PUT_DETAIL,
  PAI__SQL_PUT_CONFIG,
  PAI__SQL_PUT_ATTEMPT,
  PAI__SQL_PUT_TASK,
  PAI__SQL_PUT_START,
  PAI__SQL_PUT_EVENT,
  PAI__SQL_TRIM_STARTS,
  PAI__SQL_TRIM_ATTEMPTS,
  PAI__SQL_TRIM_TASKS,
  PAI__SQL_TRIM_ALL_STARTS,
  PAI__SQL_TRIM_EVENTS,
  PAI__SQL_PUT_TAG,
  PAI__SQL_DROP_TAG,
  PAI__SQL_PUT_SECRET,
  PAI__SQL_DROP_SECRETS,
  PAI__SQL_DROP_JOB,
  PAI__SQL_PUT_LOG,
  PAI__SQL_DROP_LOG,
  PAI__SQL_PUT_SNAPSHOT,
  PAI__SQL_PUT_META,
  PAI__SQL_DROP_META,
  PAI__SQL_OWN_LAST_ID,
  PAI__SQL_PUT_ACCOUNT,
  PAI__SQL_PUT_GROUP,
  PAI__SQL_PUT_TOKEN,
  PAI__SQL_PUT_REMOVED_USER,
  PAI__SQL_PUT_STORAGE,
  PAI__SQL_PUT_NOTE,
  PAI__SQL_PUT_MARKET_ITEM,
  PAI__SQL_PUT_MARKET_COUNT,
  PAI__SQL_PUT_MARKET_LABEL,
  PAI__SQL_DROP_ACCOUNT,
  PAI__SQL_DROP_GROUP,
  PAI__SQL_DROP_TOKEN,
  PAI__SQL_DROP_STORAGE,
  PAI__SQL_DROP_MARKET_ITEM,
  PAI__SQL_DROP_MARKET_COUNT,
  PAI__SQL_DROP_MARKET_LABEL,
  PAI__SQL_TRIM_NOTES,
  PAI__SQL_HOLD, /* from here on: on the reader */
  PAI__SQL_LET_GO,
  PAI__SQL_JOB,
  PAI__SQL_JOB_NAMED,
  PAI__SQL_LIVE,
  PAI__SQL_CONFIG,
  PAI__SQL_ATTEMPTS,
  PAI__SQL_TASKS,
  PAI__SQL_ROLE_TASKS,
  PAI__SQL_STARTS,
  PAI__SQL_EVENTS,
  PAI__SQL_TYPE_EVENTS,
  PAI__SQL_TAGS,
  PAI__SQL_META,
  PAI__SQL_SNAPSHOT,
  PAI__SQL_LOG,
  PAI__SQL_SECRET,
  PAI__SQL_ALL_JOBS,
  PAI__SQL_GATHER,
  PAI__SQL_GATHER_TAGS,
  PAI__SQL_NAMES,
  PAI__SQL_ENDED,
  PAI__SQL_COUNT_ENDED,
  PAI__SQL_PAGES,
  PAI__SQL_ACCOUNTS,
  PAI__SQL_GROUPS,
  PAI__SQL_TOKENS,
  PAI__SQL_REMOVED_USERS,
  PAI__SQL_STORAGES,
  PAI__SQL_MARKET_ITEMS,
  PAI__SQL_MARKET_COUNTS,
  PAI__SQL_MARKET_LABELS,
  PAI__SQL_NOTES,
  PAI__SQL_USER_NOTES,
  PAI__SQL_COUNT
};

/* A cached statement of a list.  Its text depends on the query's filters. */
typedef struct pai__list_sql {
  char *text;
  sqlite3_stmt *stmt;
  uint64_t used; /* number of the list that used it last */
} pai__list_sql;

enum { PAI__LIST_SQLS = 24 };

typedef struct pai__job_index pai__job_index; /* job_index.h */

/* used.c: the names of present and former jobs, as hashes. */
typedef struct pai__used {
  uint32_t *at; /* 0: empty slot */
  size_t n, cap;
  uint64_t read_to; /* ids up to this one are in the table */
  uint64_t newest;  /* ids from this one on were added as they were put */
  bool whole;       /* the ids between the two are in the table as well */
  bool lost;        /* out of memory: the table stays empty from then on */
  unsigned char key[16];
} pai__used;

struct pai__store {
  pai_alloc alloc;
  char *folder, *path;
  int busy_ms;
  size_t cache_bytes;
  sqlite3 *writer;                   /* used by the committing thread */
  uint64_t last_id;                  /* of the writer */
  uint64_t nevents;                  /* of the writer: events put so far */
  uint64_t nnotes;                   /* of the writer: notes put so far */
  bool erased;                       /* of the writer: secrets were dropped */
  sqlite3 *reader;                   /* used by the owner's thread */
  sqlite3_stmt *sql[PAI__SQL_COUNT]; /* each used by its connection's thread */
  pai__list_sql lists[PAI__LIST_SQLS];
  uint64_t nlists;
  pai__job_index *index; /* NULL: lists come from the database */
  uint64_t versions;     /* versions given out by earlier indexes */
  unsigned char *key;    /* in libsodium's guarded memory, or NULL */
  pai__used used;
};

void pai__used_open(pai__used *u); /* `u` is zeroed memory */
void pai__used_dispose(pai__used *u, const pai_alloc *alloc);

/* --- SQLite's errors and statements (sql.c) ------------------------------ */

/* Turns a result code of SQLite into an error: "cannot WHAT PATH: why". */
int pai__sql_fail(pai_error **err, sqlite3 *db, int rc, const char *what,
                  const char *path);
/* Returns the statement, reset and with no values bound; NULL sets *rc. */
sqlite3_stmt *pai__sql_get(pai__store *store, enum pai__sql which, int *rc,
                           pai_error **err);
/* Runs a statement that returns no rows, and resets it.  Returns SQLite's
 * result code. */
int pai__sql_run(sqlite3_stmt *stmt);
/* Runs statements without parameters.  Returns SQLite's result code. */
int pai__sql_exec(sqlite3 *db, const char *text);
/* Reads the first number of the first row of a query; PAI_OK or an error. */
int pai__sql_number(int64_t *out, sqlite3 *db, const char *text,
                    const char *path, pai_error **err);

/* A running query on the reader.  pai__answer_begin() clears *err;
 * pai__answer_next() returns false at the end.
 * pai__answer_end() returns the callback's code or SQLite's error. */
typedef struct pai__answer {
  pai__store *store;
  sqlite3_stmt *stmt; /* NULL: the query could not begin */
  int rc;             /* SQLite's result code */
  int code;           /* result of the callback; negative ends the query */
  int column;         /* the first one behind the row that was read last */
} pai__answer;

void pai__answer_begin(pai__answer *rows, pai__store *store,
                       enum pai__sql which, pai_error **err);
bool pai__answer_next(pai__answer *rows);
/* The same, and reads the row; other columns follow at rows->column. */
bool pai__answer_row(pai__answer *rows, const pai__column *columns, void *row,
                     size_t size);
int pai__answer_end(pai__answer *rows, pai_error **err);

/* --- the database (schema.c, open.c) ------------------------------------- */

typedef struct pai__migration {
  int version;              /* version after this step */
  const char *const *texts; /* statements, ended by NULL */
} pai__migration;

/* The meta row with the largest job id ever used. */
#define PAI__LAST_ID "last id"

enum { PAI__STORE_APPLICATION = 0x4f504149 }; /* "OPAI" */
int pai__schema_version(void);                /* newest known version */
/* Brings a database from its version to the newest, each step in a
 * transaction.  `steps` ends with a version of 0; NULL: the store's own
 * steps. */
int pai__schema_migrate(sqlite3 *db, const pai__migration *steps,
                        const char *path, pai_error **err);
/* Checks that the database is OpenPAI's and not of a newer version. */
int pai__schema_check(sqlite3 *db, const char *path, pai_error **err);

/* Opens a connection and applies the store's settings. */
int pai__store_connect(sqlite3 **out, const char *path, int flags,
                       const pai__store *store, pai_error **err);

/* Opens a database of the newest version for queries only, also while a
 * platform has it open.  PAI_ENOTFOUND, without an error: there is none, or it
 * is of an older version. */
int pai__store_look(pai__store **out, const pai_alloc *alloc,
                    const char *folder, pai_error **err);

/* --- files (posix_files.c) ----------------------------------------------- */

/* Creates the file for this user only, or tightens its permissions. */
int pai__store_own_file(const char *path, pai_error **err);
bool pai__store_is_there(const char *path);
/* Returns whether a rebuilt file exists and the database was not written
 * since. */
bool pai__store_is_newest(const char *rebuilt, const char *path);
/* The database could not be locked: replaces *err by an error with the cause.
 * Returns PAI_EIO. */
int pai__store_explain_lock(const char *database, pai_error **err);
/* Returns a file's size in bytes, or 0 if there is no such file. */
uint64_t pai__store_file_size(const char *path);
/* Reads the key.  `make`: creates a missing key file with the contents of
 * `key`. */
int pai__store_read_key(unsigned char *key, size_t len, const char *path,
                        bool make, pai_error **err);
/* Renames a file, once it is complete, to its final name. */
int pai__store_rename(const char *from, const char *to, pai_error **err);
/* Puts a rebuilt database in the place of the damaged one.  The damaged one is
 * renamed to *aside. */
int pai__store_swap(char **aside, const char *path, const char *rebuilt,
                    const pai_alloc *alloc, pai_error **err);
/* Copies a database and replaces the first page of the copy by `image`, the
 * first page of another one. */
int pai__store_graft(const char *path, const char *copy,
                     const unsigned char *image, size_t size, pai_error **err);
/* Removes a database and SQLite's files beside it. */
void pai__store_remove(const char *path);

/* --- secrets (key.c, secret.c) ------------------------------------------- */

enum {
  PAI__KEY = 32,
  PAI__SEAL_EXTRA = 24 + 16 /* nonce and tag */
};

/* Loads the key.  `make`: creates a missing one, unless the database has
 * sealed values that a new key would not open: PAI_EIO. */
int pai__store_need_key(pai__store *store, bool make, pai_error **err);
/* Encrypts `data`.  Writes len + PAI__SEAL_EXTRA bytes. */
int pai__seal(const pai__store *store, uint64_t job, const char *name,
              const void *data, size_t len, unsigned char *out);
/* Decrypts the output of pai__seal() into len - PAI__SEAL_EXTRA bytes.
 * PAI_OK, PAI_ENOMEM, or PAI_EINVAL: wrong key or changed data. */
int pai__unseal(const pai__store *store, uint64_t job, const char *name,
                pai__bytes sealed, unsigned char *out);
/* Computes 16 bytes that identify an event, apart from its times and count. */
void pai__event_uid(unsigned char uid[16], const pai__event_row *row);

/* --- batches (batch.c) --------------------------------------------------- */

enum pai__change_kind {
  PAI__PUT_JOB,
  PAI__PUT_ATTEMPT,
  PAI__PUT_TASK,
  PAI__PUT_START,
  PAI__PUT_EVENT,
  PAI__PUT_TAG,
  PAI__DROP_TAG,
  PAI__DROP_JOB,
  PAI__PUT_META,
  PAI__PUT_LOG,
  PAI__PUT_SNAPSHOT,
  PAI__PUT_SECRET,
  PAI__DROP_SECRETS,
  PAI__PUT_RECORD, /* `row`, by `fields` and `sql` */
  PAI__PUT_NOTE,
  PAI__DROP_RECORD /* `name`, by `sql` */
};

typedef struct pai__store_change {
  struct pai__store_change *next;
  enum pai__change_kind kind;
  uint64_t job;
  uint32_t attempt, index;        /* index: of a start's task */
  const char *name, *key, *value; /* by kind: role; tag; key and value; ... */
  pai__bytes bytes;
  unsigned char uid[16]; /* of an event */
  void *row;
  enum pai__sql sql;
  const pai__column *fields;
  bool erases; /* the change drops a secret */
} pai__store_change;

struct pai__batch {
  pai__store *store;
  pai__arena arena;
  pai__map jobs; /* jobs put in this batch, by id: their changes */
  pai__store_change *first, **end;
};

/* pai__batch_make() returns a change that is not in the list yet,
 * pai__batch_add() appends it, pai__batch_add_row() with a copy of a row; NULL
 * as change: out of memory. */
pai__store_change *pai__batch_make(pai__batch *batch,
                                   enum pai__change_kind kind, uint64_t job);
int pai__batch_add(pai__batch *batch, pai__store_change *change);
int pai__batch_add_row(pai__batch *batch, pai__store_change *change,
                       const void *row, size_t size,
                       const pai__column *fields);

#endif
