/* live.h - what changes, below what tasks print: the tasks of a job that one
 * waits for, and lines that tasks are redrawing */
#ifndef PAI_SRC_CLI_LIVE_H
#define PAI_SRC_CLI_LIVE_H

#include "standing.h"

typedef struct cli_live {
  bool open;
  cli_standing *at; /* whose tasks are shown; NULL: nobody's */
  /* Prints lines above them, of which there are so many; NULL: nothing.  How
   * many it has printed. */
  unsigned (*paint)(void *data, FILE *to, unsigned width, unsigned rows);
  void *data;
  FILE *held; /* what is printed, until it is shown above */
  char *text;
  size_t len;
  bool fresh;           /* there is something that was not drawn */
  int64_t began, drawn; /* ms */
  int64_t pause;        /* until the next picture */
  int every_ms;         /* until the next turn */
} cli_live;

/* False: the terminal is not one for that.  `at` may be NULL. */
bool cli_live_open(cli_live *l, pai_loop *loop, cli_standing *at);
/* Draws it, if there is something new or a second has passed, and no more often
 * than the eye can follow; `asks`: also for what is new.  To be called again
 * within every_ms. */
void cli_live_turn(cli_live *l, bool asks);
/* Where to print, of stdout: what scrolls above it, in whole lines.  Good until
 * the next call. */
FILE *cli_live_output(cli_live *l);
/* Shows all that was printed, and nothing below it until the next turn: before
 * something is said in another way. */
void cli_live_clear(cli_live *l);
void cli_live_close(cli_live *l);

#endif
