/*
 * store.h - internal: the persistent state of a root, in one SQLite database
 *
 * Changes are collected in a batch, and a commit makes all of them durable or
 * none.  Queries pass each row to a callback; the row is valid until the
 * callback returns.  A negative result of the callback ends the query, which
 * returns it.
 *
 * Threads: pai__store_commit(), _tidy() and _backup() may run on another
 * thread, one of commit and tidy at a time.  Everything else, batches
 * included, is for the owner's thread.  A query sees what was committed before
 * it began.
 */
#ifndef PAI_SRC_STORE_STORE_H
#define PAI_SRC_STORE_STORE_H

#include "base/buf.h"
#include "api/rows.h"

typedef struct pai__store pai__store;
typedef struct pai__batch pai__batch;

#define PAI__STORE_FILE "openpai.db"
#define PAI__STORE_KEY "key"

typedef struct pai__store_options {
  int busy_ms;        /* longest wait for a lock; 0: 5000; below 0: no wait */
  size_t cache_bytes; /* of each of the two connections; 0: 1 MiB */
  bool check;         /* check every page, also after a clean close */
} pai__store_options;

/*
 * Opens folder/openpai.db.  A missing database is created, an older one is
 * brought up to date. opts may be NULL.
 *
 * PAI_EIO: disk error; or a damaged database: no file is changed, and the
 * error's help says how to repair it; or the file system refuses locks; or
 * another process holds a lock, which is retriable.  PAI_ENOTSUP: a newer
 * version wrote it.  PAI_EINVAL: another program's database.  PAI_EPERM: it
 * belongs to another user.
 */
int pai__store_open(pai__store **out, const pai_alloc *alloc,
                    const char *folder, const pai__store_options *opts,
                    pai_error **err);
/* NULL is allowed.  Free all batches first. */
void pai__store_close(pai__store *store);

/* --- changes ------------------------------------------------------------- */

/* Creates an empty batch.  Each of the calls below appends a change with
 * copies of its arguments.  PAI_ENOMEM, and PAI_ELIMIT for a value of more
 * than 256 MiB, leave the batch as it was. */
int pai__batch_new(pai__batch **out, pai__store *store, pai_error **err);
void pai__batch_free(pai__batch *batch);
void pai__batch_clear(pai__batch *batch);
bool pai__batch_is_empty(const pai__batch *batch);

/* Adds or changes a job.  Columns that never change are not written again. */
int pai__batch_put_job(pai__batch *batch, const pai__job_row *row);
/* Adds an attempt or a start that is over and was followed by another one.  Of
 * each job and task the latest PAI__STORE_TRIES are kept. */
enum { PAI__STORE_TRIES = 1000 };
int pai__batch_put_attempt(pai__batch *batch, uint64_t job,
                           const pai__attempt_row *row);
int pai__batch_put_task(pai__batch *batch, const pai__task_row *row);
int pai__batch_put_task_attempt(pai__batch *batch, const pai__task_row *task,
                                const pai__start_row *row);
/* Adds an event.  An event that differs from an earlier one in its times only
 * increases that one's count.  The oldest events of a job are dropped when it
 * has somewhat more than PAI__STORE_EVENTS. */
enum { PAI__STORE_EVENTS = 10000 };
int pai__batch_put_event(pai__batch *batch, const pai__event_row *row);
int pai__batch_put_tag(pai__batch *batch, uint64_t job, const char *tag);
int pai__batch_drop_tag(pai__batch *batch, uint64_t job, const char *tag);
/* Drops a job and all rows that belong to it.  Its id is not used again. */
int pai__batch_drop_job(pai__batch *batch, uint64_t job);
int pai__batch_put_meta(pai__batch *batch, const char *key,
                        const char *value); /* NULL: delete */
/* Adds a piece of the scheduler's log, or a snapshot, which replaces the
 * earlier snapshot and all earlier pieces. */
int pai__batch_put_log(pai__batch *batch, const void *data, size_t len);
int pai__batch_put_snapshot(pai__batch *batch, const void *data, size_t len);
/* Adds a secret.  It is encrypted at once: the batch has no plain copy.  The
 * first secret of a root creates the key.  PAI_EPERM: other users may read the
 * key. */
int pai__batch_put_secret(pai__batch *batch, uint64_t job, const char *name,
                          const void *data, size_t len, pai_error **err);
int pai__batch_drop_secrets(pai__batch *batch, uint64_t job);

/* --- changes of accounts (account.c) ------------------------------------- */

/* A position in a batch.  pai__batch_back() removes the changes after it, to
 * undo an incomplete group of changes. */
typedef struct pai__batch_mark {
  void *end;
} pai__batch_mark;
pai__batch_mark pai__batch_here(const pai__batch *batch);
void pai__batch_back(pai__batch *batch, pai__batch_mark mark);

/* Add or replace.  Secrets of accounts and storages are encrypted at once, as
 * those of jobs. */
int pai__batch_put_account(pai__batch *batch, const pai__account_row *row,
                           pai_error **err);
int pai__batch_put_group(pai__batch *batch, const pai__group_row *row);
int pai__batch_put_token(pai__batch *batch, const pai__token_row *row);
int pai__batch_put_removed_user(pai__batch *batch,
                                const pai__removed_user_row *row);
int pai__batch_put_storage(pai__batch *batch, const pai__storage_row *row,
                           pai_error **err);
/* The oldest notes are dropped when there are somewhat more than
 * PAI__STORE_NOTES. */
enum { PAI__STORE_NOTES = 100000 };
int pai__batch_put_note(pai__batch *batch, const pai__audit_row *row);
int pai__batch_put_market_item(pai__batch *batch,
                               const pai__market_item_row *row);
int pai__batch_put_market_count(pai__batch *batch,
                                const pai__market_count_row *row);
int pai__batch_put_market_label(pai__batch *batch,
                                const pai__market_label_row *row);
/* Drops a record by name; a token and what the marketplace has by uid.  A missing record is no error. */
enum pai__record {
  PAI__ACCOUNT,
  PAI__GROUP,
  PAI__TOKEN,
  PAI__STORAGE,
  PAI__MARKET_ITEM,
  PAI__MARKET_COUNT,
  PAI__MARKET_LABEL,
  PAI__RECORDS
};
int pai__batch_drop(pai__batch *batch, enum pai__record kind,
                    const char *name);

/*
 * Makes all changes in their order.  They are durable when it returns PAI_OK;
 * otherwise none is made, and the batch may be committed again.  The batch
 * itself is not changed.
 *
 * PAI_EEXISTS: an id or a job name of the user is taken; PAI_ENOTFOUND: a
 * change of a job that does not exist; PAI_EIO, PAI_EBUSY: see whether the
 * error is retriable.
 */
int pai__store_commit(pai__store *store, const pai__batch *batch,
                      pai_error **err);

/* Applies a finished commit to the job index, on the owner's thread.  Call it
 * for each commit, in their order. */
void pai__store_committed(pai__store *store, const pai__batch *batch);

/* Reserves disk space for later changes.  Call it on the committing thread.
 * Returns false if the disk is full: only the space left is available. */
bool pai__store_reserve(pai__store *store);

/* Overwrites the remains of dropped secrets in the log and gives disk space
 * back.  Call it now and then, when idle.  PAI_EBUSY while a query runs or a
 * hold lasts; the next call does it. */
int pai__store_tidy(pai__store *store, pai_error **err);

/* --- queries ------------------------------------------------------------- */

typedef int (*pai__job_cb)(void *user_data, const pai__job_row *row);
typedef int (*pai__attempt_cb)(void *user_data, const pai__attempt_row *row);
typedef int (*pai__task_cb)(void *user_data, const pai__task_row *row);
typedef int (*pai__start_cb)(void *user_data, const pai__start_row *row);
typedef int (*pai__event_cb)(void *user_data, const pai__event_row *row);
typedef int (*pai__text_cb)(void *user_data, const char *text);
typedef int (*pai__piece_cb)(void *user_data, const void *data, size_t len);

/* All queries until pai__store_let_go() see the same state.  Meanwhile no disk
 * space is given back. */
int pai__store_hold(pai__store *store, pai_error **err);
void pai__store_let_go(pai__store *store);

/* Passes the job to the callback.  PAI_ENOTFOUND. */
int pai__store_job(pai__store *store, uint64_t id, pai__job_cb cb,
                   void *user_data, pai_error **err);
int pai__store_job_named(pai__store *store, const char *user, const char *name,
                         pai__job_cb cb, void *user_data, pai_error **err);
/* Returns true only if no job has this name, had it since the store was
 * opened, or gets it by a batch, and pai__store_use_name() did not mark it.
 * False is not definite.  The first calls read the database piece by piece,
 * until all names are known. */
bool pai__store_is_new_name(pai__store *store, const char *user,
                            const char *name);
/* Marks a name as used by something else than a job. */
void pai__store_use_name(pai__store *store, const char *user,
                         const char *name);
/* Jobs that are not over, by id. */
int pai__store_live(pai__store *store, pai__job_cb cb, void *user_data,
                    pai_error **err);
/* PAI_ENOTFOUND if the job has none. */
int pai__store_config(pai__store *store, uint64_t job, pai__text_cb cb,
                      void *user_data, pai_error **err);
/* Attempts before the latest one, newest first. */
int pai__store_attempts(pai__store *store, uint64_t job, pai__attempt_cb cb,
                        void *user_data, pai_error **err);
/* Tasks of an attempt, by role and index.  role: NULL for all. */
int pai__store_tasks(pai__store *store, uint64_t job, uint32_t attempt,
                     const char *role, pai__task_cb cb, void *user_data,
                     pai_error **err);
/* Starts of a task before the latest one, newest first. */
int pai__store_task_attempts(pai__store *store, const pai__task_row *task,
                             pai__start_cb cb, void *user_data,
                             pai_error **err);
/* Events of a job, latest first.  type: NULL for all. */
int pai__store_events(pai__store *store, uint64_t job, const char *type,
                      pai__event_cb cb, void *user_data, pai_error **err);
int pai__store_tags(pai__store *store, uint64_t job, pai__text_cb cb,
                    void *user_data, pai_error **err);
/* *out is NULL if there is no such row; free it with pai__strfree(). */
int pai__store_meta(pai__store *store, char **out, const char *key,
                    pai_error **err);
/* The largest id ever used. */
int pai__store_last_id(pai__store *store, uint64_t *out, pai_error **err);
/* The snapshot, if there is one, and the pieces of the log after it. */
int pai__store_snapshot(pai__store *store, pai__piece_cb cb, void *user_data,
                        pai_error **err);
int pai__store_log(pai__store *store, pai__piece_cb cb, void *user_data,
                   pai_error **err);
/* Passes the decrypted bytes to the callback.  They are wiped after it. */
int pai__store_secret(pai__store *store, uint64_t job, const char *name,
                      pai__piece_cb cb, void *user_data, pai_error **err);

/* --- accounts (account.c): all there are, by name ------------------------ */

typedef int (*pai__account_cb)(void *user_data, const pai__account_row *row);
typedef int (*pai__group_cb)(void *user_data, const pai__group_row *row);
typedef int (*pai__token_cb)(void *user_data, const pai__token_row *row);
typedef int (*pai__removed_user_cb)(void *user_data,
                                    const pai__removed_user_row *row);
typedef int (*pai__storage_cb)(void *user_data, const pai__storage_row *row);
typedef int (*pai__audit_cb)(void *user_data, const pai__audit_row *row);

int pai__store_accounts(pai__store *store, pai__account_cb cb, void *user_data,
                        pai_error **err);
int pai__store_groups(pai__store *store, pai__group_cb cb, void *user_data,
                      pai_error **err);
/* Oldest first. */
int pai__store_tokens(pai__store *store, pai__token_cb cb, void *user_data,
                      pai_error **err);
int pai__store_removed_users(pai__store *store, pai__removed_user_cb cb,
                             void *user_data, pai_error **err);
int pai__store_storages(pai__store *store, pai__storage_cb cb, void *user_data,
                        pai_error **err);

typedef int (*pai__market_item_cb)(void *user_data,
                                   const pai__market_item_row *row);
typedef int (*pai__market_count_cb)(void *user_data,
                                    const pai__market_count_row *row);
typedef int (*pai__market_label_cb)(void *user_data,
                                    const pai__market_label_row *row);
int pai__store_market_items(pai__store *store, pai__market_item_cb cb,
                            void *user_data, pai_error **err);
int pai__store_market_counts(pai__store *store, pai__market_count_cb cb,
                             void *user_data, pai_error **err);
int pai__store_market_labels(pai__store *store, pai__market_label_cb cb,
                             void *user_data, pai_error **err);

typedef struct pai__audit_query {
  const char *user;      /* NULL: all */
  pai_time since, until; /* 0: no limit */
  uint64_t before;       /* an id; 0: no limit */
  uint64_t limit;
} pai__audit_query;
/* Latest first. */
int pai__store_notes(pai__store *store, const pai__audit_query *query,
                     pai__audit_cb cb, void *user_data, pai_error **err);

/* Derives bytes from the root's key and a label.  They are in no file.
 * `make`: a missing key is created.  PAI_EIO: the key is lost. */
enum { PAI__DERIVED = 32 };
int pai__store_derive(pai__store *store, unsigned char out[PAI__DERIVED],
                      const char *label, bool make, pai_error **err);
/* Checks that a folder's key exists and opens all sealed values of its
 * database: PAI_OK, or PAI_EIO with a help.  Changes nothing. */
int pai__store_check_key(const pai_alloc *alloc, const char *folder,
                         pai_error **err);

/* --- lists --------------------------------------------------------------- */

typedef struct pai__store_names {
  const char *const *at;
  size_t n;
} pai__store_names;

enum pai__order {
  PAI__BY_SUBMITTED = 0, /* in every order: latest first among equals */
  PAI__BY_NAME,
  PAI__BY_USER,
  PAI__BY_VC,
  PAI__BY_RETRIES,
  PAI__BY_TASKS,
  PAI__BY_GPUS,
  PAI__BY_STATE,
  PAI__BY_COMPLETED, /* unfinished jobs: last if ascending */
  PAI__BY_PRIORITY   /* jobs without one: last if ascending */
};

/* GET /jobs (rest-api 2.7).  Empty fields do not filter. */
typedef struct pai__job_query {
  pai__store_names users, vcs, states; /* job has one of these */
  pai__store_names priorities;         /* "default": also jobs without a
                                          priority */
  pai__store_names tags, no_tags;      /* any of `tags`, none of `no_tags` */
  const char *keyword; /* substring of user, name or vc; % stands for any text,
                          _ for any character */
  enum pai__order order;
  bool ascending;
  uint64_t offset, limit;
  /* Start after this job, in the order of submission only.  Such a page costs
   * the same at any distance from the first. 0: from the beginning. */
  pai_time after_submitted;
  uint64_t after_id;
} pai__job_query;

/* Reads some jobs into memory, for quicker lists by submission. 1: there are
 * more, call it again.  If it fails, lists still come from the database. */
int pai__store_gather(pai__store *store, pai_error **err);

/* Returns whether this query is answered from memory. */
bool pai__store_has_list(const pai__store *store, const pai__job_query *query);
/* total, if not NULL, is set to the number of jobs without offset, limit and
 * after.  PAI_ELIMIT: more than 1000 names. */
int pai__store_list(pai__store *store, const pai__job_query *query,
                    pai__job_cb cb, void *user_data, uint64_t *total,
                    pai_error **err);

/* --- maintenance --------------------------------------------------------- */

/* Copies the database in steps while others write.  `progress`, which may be
 * NULL, gets how much of the total is left.  `path` must not exist.  The key
 * is not copied. */
typedef int (*pai__progress_cb)(void *user_data, uint64_t left,
                                uint64_t total);
int pai__store_backup(pai__store *store, const char *path,
                      pai__progress_cb progress, void *user_data,
                      pai_error **err);

/* Writes jobs with ids above `after`, by id, at most `limit` (0: all), with
 * the rows that belong to them, as one line of JSON each; no secrets, no
 * folds. */
int pai__store_export(pai__store *store, uint64_t after, uint64_t limit,
                      pai_write_cb write, void *user_data, pai_error **err);

typedef struct pai__keep {
  pai_time since;     /* jobs that ended before this are dropped; 0: none */
  uint64_t max_jobs;  /* number of ended jobs; 0: any */
  uint64_t max_bytes; /* size of the database; 0: any */
} pai__keep;

/* Lists the jobs to drop, those that ended first first.  It drops nothing.
 * Sizes are estimated, so call it again after dropping. */
int pai__store_expired(pai__store *store, const pai__keep *keep,
                       pai__job_cb cb, void *user_data, pai_error **err);
/* Returns the database's size without free pages. */
int pai__store_bytes(pai__store *store, uint64_t *out, pai_error **err);

typedef struct pai__repaired {
  uint64_t jobs, rows; /* restored; rows are of all kinds */
  uint64_t refused;    /* rows that were invalid */
  bool holes;          /* some pages were unreadable: data is missing */
  bool scheduler;      /* the scheduler's snapshot and log are complete */
  char *aside;         /* path of the damaged file; free it with
                          pai__strfree() */
} pai__repaired;

/* Builds a new database from the readable part of the old one, which is kept
 * beside it.  No process may have it open.  After an interruption the next
 * repair continues it.  PAI_EIO: nothing was readable, nothing has changed. */
int pai__store_repair(pai__repaired *out, const pai_alloc *alloc,
                      const char *folder, pai_error **err);

#endif
