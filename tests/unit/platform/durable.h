/*
 * durable.h - durable platforms in tests: each has a loop of its own, which
 * runs until what is waited for has come
 */
#ifndef PAI_TESTS_PLATFORM_DURABLE_H
#define PAI_TESTS_PLATFORM_DURABLE_H

#include "story.h"

typedef struct durable {
  pai_loop *loop;
  pai_platform *platform;
  char root[300]; /* its folder */
  char log[1 << 15];
  char text[1 << 16]; /* what was written last */
  size_t len;
  char code[4096];  /* of the last error */
  int last_retries; /* times that a task's second and last one was told */
  int cpus;         /* of each task that is submitted, */
  const char *part; /* or so many of them, as "0.5"; NULL */
  int synced;       /* status of the last sync; 1: it has not called */
  bool closed;
} durable;

extern const char *durable_policy; /* NULL: as usual */

/* A platform in a folder of the test's; "" for one of its own, made anew. */
void durable_open(durable *d, const char *root);
/* In a new one of its own. */
void durable_begin(durable *d);
/* A test of such a platform, `d`. */
#define DURABLE(test) TEST_IN(test, durable, d, durable_begin, durable_close)
int durable_try(durable *d, const char *root, pai_error **err);
void durable_close(durable *d);
void durable_leave(durable *d);
/* Leaves it, and begins again in its folder. */
void durable_again(durable *d);

/* Submits a job `name` whose one task runs `command`; more fields of the job,
 * and of its role, may be given. */
pai_job_id durable_submit(durable *d, const char *name, const char *fields,
                          const char *role, const char *command);
pai_job_id durable_submit_text(durable *d, const char *text);
/* The same, and waits until it is durable. */
pai_job_id durable_accept(durable *d, const char *name, const char *command);
int durable_sync(durable *d);
/* Runs the loop until the job is in this state, or a final one. */
int durable_wait(durable *d, pai_job_id job, int state);
/* The job gets into this state, and is in it. */
#define durable_reaches(d, job, state) \
  assert_int_equal(durable_wait(d, job, state), state)
#define durable_is(d, job, state) \
  assert_int_equal(pai_platform_job_state(NULL, (d)->platform, job), state)
/* Until a file is there, or has so many bytes. */
void durable_wait_file(durable *d, const char *path, size_t bytes);
/* One round of the loop, or 10 ms. */
void durable_turn(durable *d);

/* The machine's name, as a node of the cluster. */
const char *durable_node(durable *d);

/* What these answer, as text. */
const char *durable_show(durable *d, pai_job_id job, int attempt);
const char *durable_why(durable *d, pai_job_id job);
const char *durable_list(durable *d, const pai_job_query *query);
const char *durable_events(durable *d, pai_job_id job);
/* All of a log; the reader waits for the task's end if it is followed. */
const char *durable_log(durable *d, pai_job_id job,
                        const pai_log_options *opts);
/* How many requests the platform's scheduler has, also of one without a
 * database. */
int durable_requests(pai_platform *p);
/* Is this in what was written last? */
bool durable_has(const durable *d, const char *part);
int durable_write(void *user_data, const char *bytes, size_t len);

#endif
