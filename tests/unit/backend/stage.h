/*
 * stage.h - the back end `local` in tests: a loop, a folder of the test's own,
 * and what was told of each task
 */
#ifndef PAI_TESTS_BACKEND_STAGE_H
#define PAI_TESTS_BACKEND_STAGE_H

#include "cases.h"
#include "files.h"

#include "backend/backend.h"
#include "base/buf.h"

#include <openpai/openpai.h>

enum { STAGE_TASKS = 1100 };

/* What was told of a task. */
typedef struct stage_task {
  pai__buf out[2];
  int ended;        /* how often */
  pai_task_end end; /* of which the texts are these: */
  char log[256], runtime[512], text[512];
} stage_task;

typedef struct stage {
  pai_loop *loop;
  void *backend;
  pai_backend_host host; /* to be changed before stage_open() */
  test_tally tally;
  char root[64];
  stage_task *tasks; /* STAGE_TASKS, by their numbers */
  int ended, closed;
  char said[1024]; /* lines of the log */
  /* Called with each piece of output, if it is set. */
  void (*on_output)(struct stage *s, uint64_t task);
  void (*on_ended)(struct stage *s, uint64_t task);
} stage;

/* A group's teardown: ends and removes what a test that failed has left. */
int stage_clean(void **state);

/* A folder and a loop; then the back end on them. */
void stage_init(stage *s);
void stage_open(stage *s);
void stage_begin(stage *s); /* both */
/* Closes and removes everything, and sees that nothing is left: memory,
 * descriptors, processes that have the folder's name in their environment. */
void stage_close(stage *s);
/* A test on one, `s`. */
#define STAGE_TEST(test) TEST_IN(test, stage, s, stage_begin, stage_close)
/* The same on a stage that was only initialised, and goes on. */
void stage_leave(stage *s, int how);

/* A plan with a script, in folder ROOT/NUMBER; fields may be set after. */
pai_launch_plan stage_plan(stage *s, uint64_t task, const char *script);
void stage_start(stage *s, uint64_t task, const pai_launch_plan *plan);
void stage_follow(stage *s, uint64_t task, int from);
/* Runs the loop until so many have ended in all. */
void stage_wait(stage *s, int ended);
/* Until a task has said this on its standard output. */
void stage_wait_for(stage *s, uint64_t task, const char *text);
const char *stage_out(stage *s, uint64_t task); /* its standard output */

/* Starts, follows and waits for one task: plain, of runtime `process`. */
stage_task *stage_run(stage *s, uint64_t task, const char *script);

/* ROOT/NUMBER/NAME as a text; of the status, ROOT/own/NUMBER/status. */
const char *stage_file(stage *s, uint64_t task, const char *name);
/* The number after a word in a task's file `status`. */
long stage_status(stage *s, uint64_t task, const char *word, int which);
bool stage_lives(long pid);
size_t stage_fds(void);
void stage_pause(long us); /* where there is nothing to wait for */

#endif
