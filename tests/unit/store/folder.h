/* folder.h - a folder for each test of the store, and rows to put there */
#ifndef PAI_TESTS_STORE_FOLDER_H
#define PAI_TESTS_STORE_FOLDER_H

#include "cases.h"

#include "store/store.h"

/* Made by folder_set_up(), removed with all that is in it by the other. */
extern char folder[64];
int folder_set_up(void **state);
int folder_tear_down(void **state);

/* folder/NAME, in one of a few buffers. */
const char *in_folder(const char *name);
/* How often the bytes are in the files of the folder, all together. */
size_t bytes_in_folder(const void *bytes, size_t len);

/* Runs texts on folder/FILE behind the store's back. */
void run_sql(const char *file, const char *sql);

/* Opens it, with libc's memory. */
pai__store *open_folder(void);
/* A test of one, `store`. */
#define STORE_TEST(test)                    \
  static void test##_in(pai__store *store); \
  TEST(test)                                \
  {                                         \
    pai__store *store = open_folder();      \
                                            \
    test##_in(store);                       \
    pai__store_close(store);                \
  }                                         \
  static void test##_in(pai__store *store)
/* Commits, and frees the batch; all must be well. */
void commit_all(pai__store *store, pai__batch *batch);
pai__batch *new_batch(pai__store *store);

/* A job with something in each field, which differs from id to id; its texts
 * are static. */
pai__job_row job_of(uint64_t id);
void put_jobs(pai__store *store, uint64_t from, uint64_t to);
/* The same by a process that does not come to closing. */
void leave_open(uint64_t from, uint64_t to);

/* Of what a query found: ids, or texts, with a space behind each. */
typedef struct found {
  char text[8192];
  size_t n;
} found;
int find_job(void *user_data, const pai__job_row *row);
int find_text(void *user_data, const char *text);

/* Callbacks of queries, which write what they are told behind the text. */
int find_task(void *user_data, const pai__task_row *row);
int find_start(void *user_data, const pai__start_row *row);
int find_attempt(void *user_data, const pai__attempt_row *row);
int find_event(void *user_data, const pai__event_row *row);
/* It cannot be opened. */
void expect_no_store(int code, const char *part, bool check);
/* A task of job 1 that runs, in its attempt 1. */
pai__task_row task_of(const char *role, uint32_t index, uint32_t start);

/* One of each kind of what accounts have: user ada, group team, a token of
 * ada's, storage data, and a note. */
void put_accounts(pai__store *store);
/* What there is of them, in lines of text. */
void find_accounts(pai__store *store, found *text);

#endif
