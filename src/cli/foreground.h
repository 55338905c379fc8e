/* foreground.h - a job that this terminal waits for */
#ifndef PAI_SRC_CLI_FOREGROUND_H
#define PAI_SRC_CLI_FOREGROUND_H

#include "follow.h"
#include "jobs.h"
#include "live.h"
#include "output.h"
#include "standing.h"

/* Its spec, and how it is shown, are given. */
typedef struct cli_foreground {
  cli_remote remote;
  pai_spec *spec;
  char *name; /* that the job was given */
  cli_output out;
  cli_follower follower;
  cli_standing at; /* of the job, while it waits */
  cli_live live;   /* and its tasks, on a terminal that can show them */
  cli_stream stream;
  char (*told)[2]; /* of the job, then of its tasks: what was told last */
  bool json;
  bool quiet;       /* no progress on stderr */
  bool interactive; /* its task is attached to: nothing else is printed */
  bool running;     /* a task does; */
  bool begun;       /* and it was attached to */
  bool waits;       /* the job: how it stands is shown */
  bool open;        /* the line of its last event is not whole yet */
  bool over;
  char state[16]; /* the final one */
  char why[512];  /* and what ended it */
  int64_t started, ended;
  int requests;   /* to stop that were passed on */
  int stopped_by; /* the last signal that asked for it, or 0 */
} cli_foreground;

/* A job that is checked: submits and follows it.  Returns the exit code. */
int cli_run_job(cli_foreground *r, cli_submission *s);

#endif
