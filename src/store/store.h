/*
 * store.h - internal: what must survive, in one SQLite database of a root
 *
 * Changes are collected in a batch, and a commit makes all of them durable or
 * none.  Queries hand each row to a callback; what it points to is gone when
 * the callback returns.  A negative answer ends the query, which returns it.
 *
 * Threads: pai__store_commit(), _tidy() and _backup() may run on another
 * thread than all else, one of commit and tidy at a time.  Everything else,
 * batches included, is for the owner's thread.  A query sees what was
 * committed before it began.
 */
#ifndef PAI_SRC_STORE_STORE_H
#define PAI_SRC_STORE_STORE_H

#include "base/buf.h"
#include "store/rows.h"

typedef struct pai__store pai__store;
typedef struct pai__batch pai__batch;

#define PAI__STORE_FILE "openpai.db"
#define PAI__STORE_KEY "key"

typedef struct pai__store_options {
  int busy_ms; /* waits so long for another's lock; 0: 5000; below: not */
  size_t cache_bytes; /* of each of two connections; 0: 1 MiB */
  bool check;         /* look at every page, also after a clean close */
} pai__store_options;

/*
 * Opens folder/openpai.db, which is made if it is not there; older ones are
 * brought up to date.  opts may be NULL.
 *
 * PAI_EIO: the disk, or the database is damaged: then no file is changed, and
 * the error's help says how to repair it; the file system refuses locks, or
 * another process has one, which is retriable.  PAI_ENOTSUP: a newer version
 * wrote it.  PAI_EINVAL: another program's database.  PAI_EPERM: it is somebody
 * else's.
 */
int pai__store_open(pai__store **out, const pai_alloc *alloc,
                    const char *folder, const pai__store_options *opts,
                    pai_error **err);
/* NULL is allowed.  Batches are freed before. */
void pai__store_close(pai__store *store);

/* --- changes ---------------------------------------------------------------- */

/* An empty list of changes.  Each call adds one, with copies of what it is
 * given; PAI_ENOMEM, and PAI_ELIMIT for a value of more than 256 MiB, leave the
 * list as it was. */
int pai__batch_new(pai__batch **out, pai__store *store, pai_error **err);
void pai__batch_free(pai__batch *batch);
void pai__batch_clear(pai__batch *batch);
bool pai__batch_is_empty(const pai__batch *batch);

/* Adds a job or changes one: all of it but what never changes. */
int pai__batch_put_job(pai__batch *batch, const pai__job_row *row);
/* An attempt, a start, that is over and followed by another.  Of a job and of a
 * task that are tried for ever the latest PAI__STORE_TRIES are kept. */
enum { PAI__STORE_TRIES = 1000 };
int pai__batch_put_attempt(pai__batch *batch, uint64_t job,
                           const pai__attempt_row *row);
int pai__batch_put_task(pai__batch *batch, const pai__task_row *row);
int pai__batch_put_task_attempt(pai__batch *batch, const pai__task_row *task,
                                const pai__start_row *row);
/* One that was there before, but for its times, is counted.  Of a job that has
 * more than PAI__STORE_EVENTS, and some, the oldest are dropped. */
enum { PAI__STORE_EVENTS = 10000 };
int pai__batch_put_event(pai__batch *batch, const pai__event_row *row);
int pai__batch_put_tag(pai__batch *batch, uint64_t job, const char *tag);
int pai__batch_drop_tag(pai__batch *batch, uint64_t job, const char *tag);
/* Everything of a job; its id is not used again. */
int pai__batch_drop_job(pai__batch *batch, uint64_t job);
int pai__batch_put_default(pai__batch *batch, const char *user,
                           const char *key,
                           const char *value); /* NULL: none */
int pai__batch_put_meta(pai__batch *batch, const char *key,
                        const char *value); /* NULL: none */
/* A piece of the scheduler's log; a snapshot, which replaces the one before
 * and all pieces before it. */
int pai__batch_put_log(pai__batch *batch, const void *data, size_t len);
int pai__batch_put_snapshot(pai__batch *batch, const void *data, size_t len);
/* Encrypts it at once: there is no plain copy in the batch.  The first one of
 * a root makes its key.  PAI_EPERM: others may read the key. */
int pai__batch_put_secret(pai__batch *batch, uint64_t job, const char *name,
                          const void *data, size_t len, pai_error **err);
int pai__batch_drop_secrets(pai__batch *batch, uint64_t job);

/* --- changes of accounts (account.c) ------------------------------------------ */

/* What was in the batch stays, and what comes after it goes again: so that
 * several changes are made, or none. */
typedef struct pai__batch_mark {
  void *end;
} pai__batch_mark;
pai__batch_mark pai__batch_here(const pai__batch *batch);
void pai__batch_back(pai__batch *batch, pai__batch_mark mark);

/* Adds or replaces; the secrets of the first and the last kind are encrypted at
 * once, as those of jobs. */
int pai__batch_put_account(pai__batch *batch, const pai__account_row *row,
                           pai_error **err);
int pai__batch_put_group(pai__batch *batch, const pai__group_row *row);
int pai__batch_put_token(pai__batch *batch, const pai__token_row *row);
int pai__batch_put_gone(pai__batch *batch, const pai__gone_row *row);
int pai__batch_put_storage(pai__batch *batch, const pai__storage_row *row,
                           pai_error **err);
/* Of notes the latest PAI__STORE_NOTES are kept, and some more. */
enum { PAI__STORE_NOTES = 100000 };
int pai__batch_put_note(pai__batch *batch, const pai__audit_row *row);
/* By name; of tokens by uid.  One that is not there is no failure. */
enum pai__record {
  PAI__ACCOUNT,
  PAI__GROUP,
  PAI__TOKEN,
  PAI__STORAGE,
  PAI__RECORDS
};
int pai__batch_drop(pai__batch *batch, enum pai__record kind,
                    const char *name);

/*
 * All changes in their order, durable when it returns PAI_OK; else none is
 * made, and the batch may be committed again.  It is as it was in any case.
 *
 * PAI_EEXISTS: an id, or a user's name of a job, is taken; PAI_ENOTFOUND: a
 * change of a job that is not there; PAI_EIO, PAI_EBUSY: see whether the error
 * is retriable.
 */
int pai__store_commit(pai__store *store, const pai__batch *batch,
                      pai_error **err);

/* Tells the owner's thread that a commit is done: lists from memory have its
 * changes from now on.  To be called of each commit, in their order. */
void pai__store_committed(pai__store *store, const pai__batch *batch);

/* Keeps disk space for changes to come, beyond what was committed; by whoever
 * commits.  False: the disk is full, and what is left of it is all there is. */
bool pai__store_reserve(pai__store *store);

/* To be called now and then, when nothing else is to be done: overwrites what
 * dropped secrets left in the log, and gives back disk space.  PAI_EBUSY while
 * something is read or held; the next call will do it. */
int pai__store_tidy(pai__store *store, pai_error **err);

/* --- queries ---------------------------------------------------------------- */

typedef int (*pai__job_cb)(void *user_data, const pai__job_row *row);
typedef int (*pai__attempt_cb)(void *user_data, const pai__attempt_row *row);
typedef int (*pai__task_cb)(void *user_data, const pai__task_row *row);
typedef int (*pai__start_cb)(void *user_data, const pai__start_row *row);
typedef int (*pai__event_cb)(void *user_data, const pai__event_row *row);
typedef int (*pai__text_cb)(void *user_data, const char *text);
typedef int (*pai__pair_cb)(void *user_data, const char *key,
                            const char *value);
typedef int (*pai__piece_cb)(void *user_data, const void *data, size_t len);

/* What several queries see from here to there is of one moment.  While it is
 * held, nothing is given back to the disk. */
int pai__store_hold(pai__store *store, pai_error **err);
void pai__store_let_go(pai__store *store);

/* The job, once.  PAI_ENOTFOUND. */
int pai__store_job(pai__store *store, uint64_t id, pai__job_cb cb,
                   void *user_data, pai_error **err);
int pai__store_job_named(pai__store *store, const char *user, const char *name,
                         pai__job_cb cb, void *user_data, pai_error **err);
/* True if no job has this name, nor had since the store was opened, nor will by
 * a batch, and nothing else uses it.  False says nothing.  The first calls read
 * some of the database, until all of it is known. */
bool pai__store_is_new_name(pai__store *store, const char *user,
                            const char *name);
/* Something else uses it. */
void pai__store_use_name(pai__store *store, const char *user,
                         const char *name);
/* Those that are not over, by id. */
int pai__store_live(pai__store *store, pai__job_cb cb, void *user_data,
                    pai_error **err);
/* PAI_ENOTFOUND if there is none. */
int pai__store_config(pai__store *store, uint64_t job, pai__text_cb cb,
                      void *user_data, pai_error **err);
/* Attempts before the latest one, newest first. */
int pai__store_attempts(pai__store *store, uint64_t job, pai__attempt_cb cb,
                        void *user_data, pai_error **err);
/* Tasks of an attempt, by role and index; of one role if it is not NULL. */
int pai__store_tasks(pai__store *store, uint64_t job, uint32_t attempt,
                     const char *role, pai__task_cb cb, void *user_data,
                     pai_error **err);
/* Starts of a task before the latest one, newest first. */
int pai__store_task_attempts(pai__store *store, const pai__task_row *task,
                             pai__start_cb cb, void *user_data,
                             pai_error **err);
/* The latest first; all types if it is NULL. */
int pai__store_events(pai__store *store, uint64_t job, const char *type,
                      pai__event_cb cb, void *user_data, pai_error **err);
int pai__store_tags(pai__store *store, uint64_t job, pai__text_cb cb,
                    void *user_data, pai_error **err);
int pai__store_defaults(pai__store *store, const char *user, pai__pair_cb cb,
                        void *user_data, pai_error **err);
/* *out is NULL where there is none; freed with pai__strfree(). */
int pai__store_meta(pai__store *store, char **out, const char *key,
                    pai_error **err);
/* The largest id that was ever used. */
int pai__store_last_id(pai__store *store, uint64_t *out, pai_error **err);
/* The snapshot, if there is one, and the pieces of the log behind it. */
int pai__store_snapshot(pai__store *store, pai__piece_cb cb, void *user_data,
                        pai_error **err);
int pai__store_log(pai__store *store, pai__piece_cb cb, void *user_data,
                   pai_error **err);
/* Hands out the decrypted bytes, which are wiped behind the callback. */
int pai__store_secret(pai__store *store, uint64_t job, const char *name,
                      pai__piece_cb cb, void *user_data, pai_error **err);

/* --- accounts (account.c): all there are, by name ------------------------------ */

typedef int (*pai__account_cb)(void *user_data, const pai__account_row *row);
typedef int (*pai__group_cb)(void *user_data, const pai__group_row *row);
typedef int (*pai__token_cb)(void *user_data, const pai__token_row *row);
typedef int (*pai__gone_cb)(void *user_data, const pai__gone_row *row);
typedef int (*pai__storage_cb)(void *user_data, const pai__storage_row *row);
typedef int (*pai__audit_cb)(void *user_data, const pai__audit_row *row);

int pai__store_accounts(pai__store *store, pai__account_cb cb, void *user_data,
                        pai_error **err);
int pai__store_groups(pai__store *store, pai__group_cb cb, void *user_data,
                      pai_error **err);
/* Those that came first first. */
int pai__store_tokens(pai__store *store, pai__token_cb cb, void *user_data,
                      pai_error **err);
int pai__store_gone(pai__store *store, pai__gone_cb cb, void *user_data,
                    pai_error **err);
int pai__store_storages(pai__store *store, pai__storage_cb cb, void *user_data,
                        pai_error **err);

typedef struct pai__audit_query {
  const char *user;      /* NULL: all */
  pai_time since, until; /* 0: none */
  uint64_t before;       /* an id; 0: none */
  uint64_t limit;
} pai__audit_query;
/* The latest first. */
int pai__store_notes(pai__store *store, const pai__audit_query *query,
                     pai__audit_cb cb, void *user_data, pai_error **err);

/* Bytes that are made of the root's key and a label, and in no file.  `make`:
 * the first one of a root makes its key.  PAI_EIO: it is gone. */
enum { PAI__DERIVED = 32 };
int pai__store_derive(pai__store *store, unsigned char out[PAI__DERIVED],
                      const char *label, bool make, pai_error **err);
/* Whether a folder's key is there and opens all that is sealed in its database,
 * if anything is: PAI_OK, or PAI_EIO with what to do.  Changes nothing. */
int pai__store_check_key(const pai_alloc *alloc, const char *folder,
                         pai_error **err);

/* --- lists ------------------------------------------------------------------ */

typedef struct pai__names {
  const char *const *at;
  size_t n;
} pai__names;

enum pai__order {
  PAI__BY_SUBMITTED = 0, /* as all others, the latest first among equals */
  PAI__BY_NAME,
  PAI__BY_USER,
  PAI__BY_VC,
  PAI__BY_RETRIES,
  PAI__BY_TASKS,
  PAI__BY_GPUS,
  PAI__BY_STATE,
  PAI__BY_COMPLETED, /* not yet: last if ascending */
  PAI__BY_PRIORITY   /* none: last if ascending */
};

/* GET /jobs (rest-api 2.7).  What is empty does not narrow. */
typedef struct pai__job_query {
  pai__names users, vcs, states; /* one of these */
  pai__names priorities;         /* "default": those of none, too */
  pai__names tags, no_tags;      /* any of these, none of those */
  const char *keyword; /* in user, name or vc; % and _ stand for any text and
                          any character */
  enum pai__order order;
  bool ascending;
  uint64_t offset, limit;
  /* Behind this job, in the order of submission only: a page that costs the
   * same however far it is from the first.  0: from the beginning. */
  pai_time after_submitted;
  uint64_t after_id;
} pai__job_query;

/* Lists by submission are quicker once all jobs are in memory.  This reads some
 * of them; 1: there are more, it is to be called again.  Failures cost no more
 * than that lists come from the database. */
int pai__store_gather(pai__store *store, pai_error **err);

/* Whether this one is answered from memory; else from the database. */
bool pai__store_has_list(const pai__store *store, const pai__job_query *query);
/* total, if not NULL, is how many there are without offset, limit and after.
 * PAI_ELIMIT: more than 1000 names. */
int pai__store_list(pai__store *store, const pai__job_query *query,
                    pai__job_cb cb, void *user_data, uint64_t *total,
                    pai_error **err);

/* --- care ------------------------------------------------------------------- */

/* Copies the database while others write, in steps; `progress`, which may be
 * NULL, is told how much of how much is left.  `path` must not be there; the
 * key is not copied. */
typedef int (*pai__progress_cb)(void *user_data, uint64_t left,
                                uint64_t total);
int pai__store_backup(pai__store *store, const char *path,
                      pai__progress_cb progress, void *user_data,
                      pai_error **err);

/* Jobs with larger ids than `after`, by id, at most `limit` (0: all), with what
 * belongs to them, as JSON, a line each; no secrets, no folds. */
int pai__store_export(pai__store *store, uint64_t after, uint64_t limit,
                      pai_write_cb write, void *user_data, pai_error **err);

typedef struct pai__keep {
  pai_time since;     /* those that ended before this go; 0: none */
  uint64_t max_jobs;  /* of those that are over; 0: any number */
  uint64_t max_bytes; /* of the database; 0: any number */
} pai__keep;

/* Jobs that are to be dropped, those that ended first first: nothing is done
 * to them.  As bytes are estimated, it may be asked again afterwards. */
int pai__store_expired(pai__store *store, const pai__keep *keep,
                       pai__job_cb cb, void *user_data, pai_error **err);
/* What the database takes, without free pages. */
int pai__store_bytes(pai__store *store, uint64_t *out, pai_error **err);

typedef struct pai__repaired {
  uint64_t jobs, rows; /* that are there again; rows are of all kinds */
  uint64_t refused;    /* rows that made no sense */
  bool holes;          /* pages could not be read: something is missing */
  bool scheduler;      /* its snapshot and log are whole */
  char *aside;         /* where the damaged file is; pai__strfree() */
} pai__repaired;

/* Makes a new database of what can be read in the old one, which is kept
 * beside it.  Nobody may have it open.  An interrupted repair is taken up
 * again by the next.  PAI_EIO: nothing could be read, nothing has changed. */
int pai__store_repair(pai__repaired *out, const pai_alloc *alloc,
                      const char *folder, pai_error **err);

#endif
