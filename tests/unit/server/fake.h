/*
 * fake.h - a platform that does what a test says
 *
 * It takes the place of room platform when a test of the server is linked, so
 * that a database may be slow or fail, and a log may say what it likes.
 */
#ifndef PAI_TESTS_SERVER_FAKE_H
#define PAI_TESTS_SERVER_FAKE_H

#include "base/buf.h"
#include "loop/loop.h"

#include <openpai/account.h>
#include <openpai/files.h>
#include <openpai/records.h>

/* A log that is read. */
struct pai_log_reader {
  struct pai_log_reader *next;
  pai_log_data_cb cb;
  void *user_data;
  char name[16];
  char role[16];
  uint32_t index;
  int attempt, retry;
  int64_t offset;
  int follow, paused;
};

struct pai_listener {
  struct pai_listener *next;
  pai_job_id job;
  pai_event_cb cb;
  void *user_data;
};

struct pai_event {
  int type, state, code;
  pai_job_id job;
  const char *role, *text;
  uint32_t index, attempt;
};

/*
 * Accounts: there are alice, bob, and admin, who is one.  A token is a user's
 * name; "alice.app" and "admin.app" are those of programs; "revoked", "expired"
 * and any other are nobody's.
 */
struct pai_accounts {
  int fail; /* as of the platform; and what the API calls it: */
  int status;
  const char *code;
  char did[1024];  /* the last change: the function, and what it was given */
  char noted[256]; /* the last note */
  size_t notes;
  char keys[64]; /* whose keys were wanted */
  char asker[48];
  char actor[256];   /* who made the last change; */
  bool owner;        /* the platform's own user makes this one */
  bool gone;         /* alice was removed, when this was the last job; */
  uint64_t gone_job; /* all up to it are */
  const char *heir;  /* this one's, or NULL */
  int64_t quota[PAI_QUOTAS]; /* 0: none */
  int64_t wait;              /* until a call that fails makes sense again */
  int (*is_gone)(void *user_data);
  /* what takes time */
  struct {
    pai_account_cb cb;
    void *user_data;
    char json[256];
  } waiting[64];
  size_t nwaiting;
};

/* There is one job, number 7, of this name. */
#define FAKE_JOB "alice~mnist"

struct pai_platform {
  pai_loop *loop;
  pai_accounts accounts;
  char *kept_text;  /* the host's, or NULL */
  const char *show; /* what is written of the job */
  int shows;        /* how often it was wanted */
  int state;        /* of the job */
  int last_attempt;
  int last_retry;       /* of the tasks: there are no logs of later ones */
  int fail;             /* all calls answer this, if it is negative */
  int entrance;         /* descriptor that the next one who enters gets */
  int stops, forgets;   /* that were asked for */
  char event[256];      /* the last one that was added: reason, message */
  const char *vcs;      /* what is written of virtual clusters, or NULL */
  pai_job_query query;  /* of the last list */
  char query_text[256]; /* its texts */
  char submitted[512];  /* name, work folder, code, like */
  char submitted_by[64];
  char tag[64];
  /* what waits for the database */
  struct {
    pai_sync_cb cb;
    void *user_data;
  } syncs[256];
  size_t nsyncs;
  /* copies that are being made: of the database, or of code; and lists of
   * files */
  struct {
    pai_sync_cb backup;
    pai_copy_cb code;
    pai_files_cb files;
    void *user_data;
    char path[256];
  } copies[8];
  size_t ncopies;
  /* fake_files.c: */
  char listed[256];  /* what list was wanted */
  char writing[256]; /* and what file is written, */
  char written[64];  /* with what */
  uint64_t arrived;  /* bytes of an upload with a name */
  int writers;       /* that are open */
  pai_log_reader *readers;
  pai_listener *listeners;
  size_t opened;
  /* fake_watch.c: what is told of tasks, and what status says */
  const pai_task_view *tasks;
  size_t ntasks;
  const char *list;   /* what is listed; NULL: one job */
  const char *status; /* NULL: that of a machine that does nothing */
  int slow;           /* an estimate is made until it is given up */
  int estimates;      /* that are being made */
  int answers;        /* likewise, to why a job waits */
};

/* The database has it all, or has failed. */
void fake_synced(pai_platform *p, int status);
/* What is being copied is: a database has this text, code is in this folder; or
 * that has failed. */
void fake_copied(pai_platform *p, int status, const char *what);
/* What waits for accounts is done. */
void fake_accounts_done(pai_platform *p);
void fake_event(pai_platform *p, int type, int state, const char *role,
                uint32_t index);
/* Writes a text of this test's, which tells what was asked for: it need not be
 * what a platform answers. */
int fake_write(pai_write_cb write, void *user_data, const char *text);
bool fake_has_written(const char *text);
/* Bytes of a log that is read: the first reader's of that name. */
pai_log_reader *fake_reader(pai_platform *p, const char *name);

#endif
