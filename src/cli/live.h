/* live.h - a job that one waits for, live below what its tasks print */
#ifndef PAI_SRC_CLI_LIVE_H
#define PAI_SRC_CLI_LIVE_H

#include "standing.h"

typedef struct cli_live {
  cli_standing *at; /* NULL: nothing is live */
  FILE *held;       /* what is printed, until it is shown above */
  char *text;
  size_t len;
  bool fresh;           /* there is something that was not drawn */
  int64_t began, drawn; /* ms */
  int64_t pause;        /* until the next picture */
  int every_ms;         /* until the next turn */
} cli_live;

/* False: the terminal is not one for that. */
bool cli_live_open(cli_live *l, cli_standing *at);
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
