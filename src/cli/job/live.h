/* live.h - the redrawn block below task output: the task table of a job, and
 * lines that tasks are redrawing */
#ifndef PAI_SRC_CLI_LIVE_H
#define PAI_SRC_CLI_LIVE_H

#include "job_progress.h"

typedef struct cli_live {
  bool open;
  cli_job_progress *at; /* the job whose tasks are shown; NULL: none */
  /* Prints at most `rows` lines above the table and returns how many it
   * printed; NULL: nothing. */
  unsigned (*paint)(void *data, FILE *to, unsigned width, unsigned rows);
  void *data;
  FILE *held; /* buffered output, shown above the block by the next draw */
  char *text;
  size_t len;
  bool fresh;           /* something changed since the last draw */
  int64_t began, drawn; /* ms */
  int64_t pause;        /* ms between two draws */
  int every_ms;         /* ms until the next step */
} cli_live;

/* Returns false if the terminal cannot show a block.  `at` may be NULL. */
bool cli_live_open(cli_live *l, pai_loop *loop, cli_job_progress *at);
/* Draws if something changed or a second has passed, but not faster than the
 * eye can follow.  With `asks` also reads the job's state.  Call it again
 * within every_ms. */
void cli_live_step(cli_live *l, bool asks);
/* Returns the stream to which to print output that belongs to stdout, in whole
 * lines.  Valid until the next call of a function here. */
FILE *cli_live_output(cli_live *l);
/* Shows all buffered output and erases the block until the next step.  Call it
 * before any other output. */
void cli_live_clear(cli_live *l);
void cli_live_close(cli_live *l);

#endif
