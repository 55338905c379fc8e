/*
 * rows.h - what the store keeps, one struct for each kind of row
 *
 * Texts are UTF-8; NULL is "none", and so is a time of 0, or a pai__maybe
 * that is not there: a struct of zeros says nothing.  Rows that are put are
 * copied; rows that are read live as long as the callback they are handed to.
 */
#ifndef PAI_SRC_STORE_ROWS_H
#define PAI_SRC_STORE_ROWS_H

#include "base/base.h"

typedef struct pai__maybe {
  bool there;
  int64_t value;
} pai__maybe;

/* An attempt of a job.  The latest one is part of its job's row; rows of
 * their own are those before it. */
typedef struct pai__attempt_row {
  uint32_t number;   /* from 0: how many retries came before */
  const char *uid;   /* appId */
  const char *state; /* FrameworkController's: "AttemptRunning" */
  pai_time created, launched, completed;
  pai__maybe exit_code;
  pai__maybe user_code;     /* that the command itself exited with */
  const char *why;          /* it did not run, in words */
  const char *failure;      /* what is known of it, as JSON */
  const char *diagnostics;  /* as the controller would write them */
  const char *messages;     /* appExitMessages, as JSON */
  const char *trigger;      /* what decided it, in words, */
  const char *trigger_role; /* and which task */
  pai__maybe trigger_index;
} pai__attempt_row;

typedef struct pai__job_row {
  uint64_t id; /* the caller's, from 1, growing, never used again */
  const char *user, *name; /* unique together; these, and when it was */
  pai_time submitted;      /* submitted, never change */
  const char *vc;
  const char *priority;  /* class; NULL: the default */
  const char *state;     /* the platform's: "WAITING", ... */
  const char *sub_state; /* FrameworkController's */
  const char *execution; /* "START" or "STOP" */
  pai_time created, launched, completed;
  pai__maybe exit_code;
  uint32_t user_retries, platform_retries;
  pai__maybe retry_delay;      /* seconds */
  uint32_t gpus, tasks, roles; /* totals */
  bool output_lost; /* of a start of one of its tasks, in any attempt */
  /* Read by pai__store_job() and pai__store_live() only, not by lists: */
  pai__attempt_row now;
  pai__bytes fold; /* what room job saved */
  /* The masked text of the spec.  Put: NULL leaves the one that is there.
   * Read by pai__store_config() only. */
  const char *config;
  bool live; /* not over: it is to be carried on after a restart */
  /* Read by lists only: another one when anything of it, tags included, is
   * another.  0: nobody knows. */
  uint64_t version;
} pai__job_row;

/* One start of a task.  The latest one is part of its task's row; rows of
 * their own are those before it. */
typedef struct pai__start_row {
  uint32_t number;   /* from 0 */
  const char *uid;   /* podUid */
  const char *state; /* FrameworkController's */
  const char *node, *ip;
  const char *ports; /* as JSON: {"http":"15000,15001"} */
  const char *gpus;  /* as the platform writes them */
  const char *dir;   /* its folder */
  pai_time created, launched, completed;
  pai__maybe exit_code;
  pai__maybe user_code; /* that the command itself exited with */
  bool output_lost;     /* some of its output is in no log */
  const char *runtime;  /* in what it runs, if that is to be said */
  const char *why;      /* it did not run, in words */
  const char *failure;  /* what is known of it, as JSON */
  const char *diagnostics;
  const char *messages; /* as JSON */
} pai__start_row;

typedef struct pai__task_row {
  uint64_t job;
  uint32_t attempt; /* of the job */
  const char *role;
  uint32_t index;
  const char *state, *sub_state; /* the platform's, FrameworkController's */
  uint32_t retries, counted;     /* all, and those against the limit */
  pai_time created, launched, completed;
  pai__maybe exit_code;
  pai__start_row now;
  pai__bytes fold;
} pai__task_row;

typedef struct pai__event_row {
  uint64_t job;
  const char *uid; /* read only: 32 hex digits, of all but the times */
  const char *task_uid, *role;
  pai__maybe index;
  const char *type; /* "Normal" or "Warning" */
  const char *reason, *message;
  const char *component, *host;
  pai_time first, last; /* put: first may be 0, it is `last` then */
  uint32_t count;       /* put: 0 is 1 */
} pai__event_row;

/* --- accounts: what is there, whole, and not by jobs ------------------------- */

/* `secret` is plain here and sealed in the database.  `lost`, read only: it
 * does not open with this root's key, and is empty; `closed` has it as it is,
 * and a row that is put with it keeps it so. */
typedef struct pai__account_row {
  const char *name;
  const char *password; /* its hash */
  const char *email;
  const char *groups; /* as JSON: a list of names */
  pai_time created;
  const char *quota; /* as JSON: the user's own limits; NULL: none */
  pai__bytes secret; /* the extension, as JSON */
  pai__bytes closed;
  bool lost;
} pai__account_row;

typedef struct pai__group_row {
  const char *name;
  const char *description, *external_name;
  const char *extension; /* as JSON */
} pai__group_row;

typedef struct pai__token_row {
  const char *uid; /* 32 hex digits; nothing of the token itself */
  const char *user;
  bool application;
  pai_time issued, expires; /* 0: never */
  const char *name;         /* or NULL */
  uint32_t scopes;          /* bits; 0: all, as before there were any */
  pai_time used;            /* last; 0: never */
} pai__token_row;

/* A user who was removed: jobs of that name up to this one are the heir's. */
typedef struct pai__gone_row {
  const char *name;
  uint64_t job;
  pai_time time;
  const char *heir; /* NULL: nobody's */
} pai__gone_row;

typedef struct pai__storage_row {
  const char *name, *type;
  bool shared, readonly;
  const char *options;     /* for mounting, as JSON: a list; NULL: none */
  const char *secret_name; /* as OpenPAI calls it, or NULL */
  const char *mounted_at;  /* the folder where this machine has it, or NULL */
  pai__bytes secret;       /* its data, as JSON */
  pai__bytes closed;
  bool lost;
} pai__storage_row;

typedef struct pai__audit_row {
  uint64_t id; /* read only: growing from 1 */
  pai_time time;
  const char *user, *peer; /* or NULL */
  const char *what;
  uint32_t status;
} pai__audit_row;

#endif
