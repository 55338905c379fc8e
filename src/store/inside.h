/* inside.h - what the store's files share */
#ifndef PAI_SRC_STORE_INSIDE_H
#define PAI_SRC_STORE_INSIDE_H

#include "base/map.h"
#include "store/fields.h"
#include "store/store.h"

/* Statements that are prepared once, on the connection they are for; sql.c
 * has their texts. */
enum pai__sql {
  PAI__SQL_BEGIN, /* of the writer */
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
  PAI__SQL_PUT_DEFAULT,
  PAI__SQL_DROP_DEFAULT,
  PAI__SQL_PUT_META,
  PAI__SQL_DROP_META,
  PAI__SQL_OWN_LAST_ID,
  PAI__SQL_PUT_ACCOUNT,
  PAI__SQL_PUT_GROUP,
  PAI__SQL_PUT_TOKEN,
  PAI__SQL_PUT_GONE,
  PAI__SQL_PUT_STORAGE,
  PAI__SQL_PUT_NOTE,
  PAI__SQL_DROP_ACCOUNT,
  PAI__SQL_DROP_GROUP,
  PAI__SQL_DROP_TOKEN,
  PAI__SQL_DROP_STORAGE,
  PAI__SQL_TRIM_NOTES,
  PAI__SQL_HOLD, /* of the reader */
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
  PAI__SQL_DEFAULTS,
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
  PAI__SQL_GONE,
  PAI__SQL_STORAGES,
  PAI__SQL_NOTES,
  PAI__SQL_USER_NOTES,
  PAI__SQL_COUNT
};

/* A list's statement: which texts there are depends on what is asked. */
typedef struct pai__list_sql {
  char *text;
  sqlite3_stmt *stmt;
  uint64_t used; /* when, counted in lists */
} pai__list_sql;

enum { PAI__LIST_SQLS = 24 };

typedef struct pai__roll pai__roll; /* roll.h */

/* used.c: the names that jobs have, or had, as hashes. */
typedef struct pai__used {
  uint32_t *at; /* 0: nothing is there */
  size_t n, cap;
  uint64_t read_to; /* ids up to it are in it, */
  uint64_t newest;  /* and from this one on those that were put */
  bool whole;       /* so are all others */
  bool lost;        /* there was no memory: it is empty from then on */
  unsigned char key[16];
} pai__used;

struct pai__store {
  pai_alloc alloc;
  char *folder, *path;
  int busy_ms;
  size_t cache_bytes;
  sqlite3 *writer;                   /* of whoever commits */
  uint64_t last_id;                  /* the writer's */
  uint64_t nevents;                  /* the writer's: put so far */
  uint64_t nnotes;                   /* likewise */
  bool erased;                       /* the writer's: secrets were dropped */
  sqlite3 *reader;                   /* of the owner */
  sqlite3_stmt *sql[PAI__SQL_COUNT]; /* each of its connection's thread */
  pai__list_sql lists[PAI__LIST_SQLS];
  uint64_t nlists;
  pai__roll *roll;    /* NULL: lists come from the database */
  uint64_t versions;  /* of jobs in the rolls before this one */
  unsigned char *key; /* in libsodium's guarded memory, or NULL */
  pai__used used;
};

void pai__used_open(pai__used *u); /* of memory that is zero */
void pai__used_dispose(pai__used *u, const pai_alloc *alloc);

/* --- SQLite's errors and statements (sql.c) ---------------------------------- */

/* A result code of SQLite as an error: "cannot WHAT PATH: why". */
int pai__sql_fail(pai_error **err, sqlite3 *db, int rc, const char *what,
                  const char *path);
/* The statement, reset and without values; NULL sets *rc. */
sqlite3_stmt *pai__sql_get(pai__store *store, enum pai__sql which, int *rc,
                           pai_error **err);
/* Runs one that gives no rows, and resets it: SQLite's result code. */
int pai__sql_run(sqlite3_stmt *stmt);
/* Runs texts that have no values; SQLite's result code. */
int pai__sql_exec(sqlite3 *db, const char *text);
/* The first number of the first row of a text; PAI_OK or an error. */
int pai__sql_number(int64_t *out, sqlite3 *db, const char *text,
                    const char *path, pai_error **err);

/* A query of rows on the reader: begins it, and ends it with what its callbacks
 * and SQLite said.  pai__answer_next() is false at the end. */
typedef struct pai__answer {
  pai__store *store;
  sqlite3_stmt *stmt; /* NULL: could not begin */
  int rc;             /* SQLite's */
  int code;           /* ours; negative ends it */
} pai__answer;

void pai__answer_begin(pai__answer *rows, pai__store *store,
                       enum pai__sql which, pai_error **err);
bool pai__answer_next(pai__answer *rows);
int pai__answer_end(pai__answer *rows, pai_error **err);

/* --- the database (schema.c, open.c) ------------------------------------------ */

typedef struct pai__migration {
  int version;              /* it leads to */
  const char *const *texts; /* of statements; NULL ends them */
} pai__migration;

/* The meta row that holds the largest id there ever was. */
#define PAI__LAST_ID "last id"

enum { PAI__STORE_APPLICATION = 0x4f504149 }; /* "OPAI" */
int pai__schema_version(void);                /* the newest we know */
/* Brings a database from its version to the newest, each step in a
 * transaction.  `steps` ends with a version of 0; NULL: ours. */
int pai__schema_migrate(sqlite3 *db, const pai__migration *steps,
                        const char *path, pai_error **err);
/* Is it ours, and not newer than we are? */
int pai__schema_check(sqlite3 *db, const char *path, pai_error **err);

/* A connection with its settings. */
int pai__store_connect(sqlite3 **out, const char *path, int flags,
                       const pai__store *store, pai_error **err);

/* Opens the newest version's for queries alone, also while a platform has it.
 * PAI_ENOTFOUND, without an error: there is none, or an older one. */
int pai__store_look(pai__store **out, const pai_alloc *alloc,
                    const char *folder, pai_error **err);

/* --- files (posix_files.c) ------------------------------------------------------ */

/* Makes the file for this user only, or makes it so if it is looser. */
int pai__store_own_file(const char *path, pai_error **err);
bool pai__store_is_there(const char *path);
/* Whether a rebuilt file is there, and nothing was written to the database
 * since. */
bool pai__store_is_newest(const char *rebuilt, const char *path);
/* The database could not be locked: says why in place of *err.  PAI_EIO. */
int pai__store_explain_lock(const char *database, pai_error **err);
/* Bytes of a file, 0 if it is not there. */
uint64_t pai__store_file_size(const char *path);
/* Reads the key.  `make`: one that is missing is made of what `key` holds. */
int pai__store_read_key(unsigned char *key, size_t len, const char *path,
                        bool make, pai_error **err);
/* A file that is whole gets the name that says so. */
int pai__store_rename(const char *from, const char *to, pai_error **err);
/* Puts a rebuilt database in the place of the damaged one, which gets a name of
 * its own beside it: *aside. */
int pai__store_swap(char **aside, const char *path, const char *rebuilt,
                    const pai_alloc *alloc, pai_error **err);
/* A copy of a database, with the first page of another one whose image this
 * is. */
int pai__store_graft(const char *path, const char *copy,
                     const unsigned char *image, size_t size, pai_error **err);
/* Removes a database and what SQLite keeps beside it. */
void pai__store_remove(const char *path);

/* --- secrets (key.c, secret.c) ----------------------------------------------------- */

enum {
  PAI__KEY = 32,
  PAI__SEAL_EXTRA = 24 + 16 /* nonce and tag */
};

/* Loads the key; `make`: also a new one, unless something is sealed that it
 * would not open: PAI_EIO. */
int pai__store_need_key(pai__store *store, bool make, pai_error **err);
/* Writes len + PAI__SEAL_EXTRA bytes. */
int pai__seal(const pai__store *store, uint64_t job, const char *name,
              const void *data, size_t len, unsigned char *out);
/* Hands out what pai__seal() made, len - PAI__SEAL_EXTRA bytes.  PAI_OK,
 * PAI_ENOMEM, or PAI_EINVAL: another key, or somebody changed it. */
int pai__unseal(const pai__store *store, uint64_t job, const char *name,
                pai__bytes sealed, unsigned char *out);
/* 16 bytes that stand for an event, but for its times and count. */
void pai__event_uid(unsigned char uid[16], const pai__event_row *row);

/* --- batches (batch.c) --------------------------------------------------------------- */

enum pai__change_kind {
  PAI__PUT_JOB,
  PAI__PUT_ATTEMPT,
  PAI__PUT_TASK,
  PAI__PUT_START,
  PAI__PUT_EVENT,
  PAI__PUT_TAG,
  PAI__DROP_TAG,
  PAI__DROP_JOB,
  PAI__PUT_DEFAULT,
  PAI__PUT_META,
  PAI__PUT_LOG,
  PAI__PUT_SNAPSHOT,
  PAI__PUT_SECRET,
  PAI__DROP_SECRETS,
  PAI__PUT_RECORD, /* `row`, by `fields` and `sql` */
  PAI__PUT_NOTE,
  PAI__DROP_RECORD /* `name`, by `sql` */
};

typedef struct pai__change {
  struct pai__change *next;
  enum pai__change_kind kind;
  uint64_t job;
  uint32_t attempt, index;        /* of a start's task */
  const char *name, *key, *value; /* role; tag; user, key and value; ... */
  pai__bytes bytes;
  unsigned char uid[16]; /* of an event */
  void *row;
  enum pai__sql sql;
  const pai__field *fields;
  bool erases; /* something that was secret */
} pai__change;

struct pai__batch {
  pai__store *store;
  pai__arena arena;
  pai__map jobs; /* that are put in it, by id: their changes */
  pai__change *first, **end;
};

/* A change that is not in the list yet, and one that is; a copy of a row, or
 * NULL with *rc. */
pai__change *pai__batch_make(pai__batch *batch, enum pai__change_kind kind,
                             uint64_t job);
int pai__batch_add(pai__batch *batch, pai__change *change);
void *pai__batch_copy(pai__batch *batch, const void *row, size_t size,
                      const pai__field *fields, int *rc);

#endif
