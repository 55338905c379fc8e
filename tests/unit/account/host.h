/*
 * host.h - accounts without a loop: what is to be done beside it is done when
 * the test says so, and the clock is the test's
 */
#ifndef PAI_TESTS_ACCOUNT_HOST_H
#define PAI_TESTS_ACCOUNT_HOST_H

#include "store/folder.h"

#include "account/inside.h"

enum { HOST_BESIDES = 16 };

typedef struct host_beside {
  pai__beside_cb run, done;
  void *user_data;
  bool used, started;
} host_beside;

typedef struct host {
  pai_alloc alloc;
  pai__store *store;
  pai__batch *batch;
  pai_accounts *a;
  pai_time now;
  host_beside besides[HOST_BESIDES];
  const char *vcs[8]; /* NULL ends them */
  size_t most;        /* hashes that went on at a time */
  bool soon, secret;
  uint64_t last_job;
  int orphaned;
  bool full; /* nothing that is waited for becomes durable */
  char log[1024];
  /* What was told last. */
  int calls, status;
  char text[1 << 17];
  size_t len;
  char api[64], message[512];
  int http;
  int64_t wait; /* until it makes sense again */
} host;

/* The accounts of the test that runs, which are opened before it. */
extern host h;
int host_set_up(void **state);
int host_tear_down(void **state);

/* In the test's folder, with hashes that are quick.  `host_try` may fail. */
void host_open(void);
int host_try(const pai_alloc *alloc, pai_error **err);
void host_commit(void);
void host_close(void);
void host_reopen(void); /* commits before */
void host_drop(void);   /* accounts as they are in the database */
/* Does what waits, and calls back. */
void host_run(void);

/* Calls that end at once, or later: they answer the code, and what was told is
 * in the host. */
int put_user(unsigned flags, const char *json);
int put_group(unsigned flags, const char *json);
int log_in(const char *user, const char *password);
void set_up(void); /* with admin, whose password is "admin-password" */
void add_user(const char *name); /* with "NAME-password" */
void set_up_with_ada(void);      /* both */
/* A token of a new one, of an application or a browser. */
void new_token(char out[PAI__TOKEN_TEXT], const char *user, int application);
int why(const char *token); /* PAI_TOKEN_* */

/* What is written, in h.text. */
const char *show_user(const char *user, const char *viewer);
const char *show_group(const char *group);
const char *show_storages(int form, const char *user, const char *name);
int host_write(void *user_data, const char *bytes, size_t len);
void host_begin(void); /* nothing was written */
/* Takes an error apart, and frees it. */
int host_take(int rc, pai_error **err);
/* Its code, its API's code and status. */
void expect(int rc, int code, const char *api, int http);
void host_on_told(void *user_data, int status, const char *json, size_t len,
                  const pai_error *err);

#endif
