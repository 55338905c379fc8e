/*
 * story.h - a platform in tests: jobs that really run in a folder of the
 * test's own, and the story of all that is told of them
 */
#ifndef PAI_TESTS_PLATFORM_STORY_H
#define PAI_TESTS_PLATFORM_STORY_H

#include "files.h"

#include <openpai/openpai.h>

/* What was told of all jobs of one platform, and what to do meanwhile. */
typedef struct story {
  pai_platform *platform;
  pai_alloc alloc;
  char events[4096];  /* "job running; a[0] running; ..." without output */
  char output[8192];  /* the first bytes of it */
  size_t output_len;  /* all of it */
  char why[512];      /* text of the last job event that had one */
  int finished, want; /* the platform is closed after so many jobs */
  int state, code;    /* of the last job to finish */
  int stop_at;        /* stop the job when a task is in this state, */
  int stops;          /* so many times */
  bool close_then;    /* or close the platform instead */
  int answer;         /* of on_event to output, and to a task that is asked
                         to end */
  bool no_retry;      /* stop a job that waits */
  bool slow;          /* the host is busy once the task has ended */
  bool forget;        /* the job, when it is over */
  char log[2048];     /* all lines */
  int stopped;        /* tasks that ran and were asked to end */
  bool closed;
  const char *runtime; /* NULL: as is usual here, where tasks see no root */
} story;

/* The folder that every platform of this program has as its root. */
extern char story_root[256];

/* The path of a file there. */
const char *story_in(const char *name);

int story_make_root(void **state);
int story_remove_root(void **state);

/* What every job file in flow style begins with: the image that roles name. */
#define STORY_IMAGE "prerequisites: [{name: x, type: dockerimage, uri: x}]"

pai_spec *story_parse(const char *text);
/* A job of one role `a` with one command; more fields may be given. */
pai_spec *story_job(const char *fields, const char *role, const char *command);

/* Options of a platform that tells `s`. */
pai_platform_options story_options(story *s);

/* A platform on this loop; it is closed when all its jobs are over. */
void story_begin(story *s, pai_loop *loop);
pai_job_id story_submit(story *s, pai_spec *spec);

/* The same on a loop of its own; closing runs that to its end first. */
pai_loop *story_open(story *s);
void story_close(pai_loop *loop);

/* Runs one job on a loop of its own; takes the spec. */
void story_run(story *s, pai_spec *spec);

/* How the last job must have ended. */
void story_expect_end(const story *s, int state, int code);

/* How often the log says this. */
int story_logged(const story *s, const char *part);

#endif
