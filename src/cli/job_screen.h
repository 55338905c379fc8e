/* job_screen.h - `top`: the jobs of a platform on the terminal, with keys: choose
 * one, scroll, filter, stop */
#ifndef PAI_SRC_CLI_JOB_SCREEN_H
#define PAI_SRC_CLI_JOB_SCREEN_H

#include "json.h"
#include "remote.h"

typedef struct cli_job_screen {
  cli_remote *r;
  bool all;  /* finished jobs, too */
  bool live; /* with keys, and a line that tells them */
  cli_json status;
  cli_json jobs; /* [jobs that run, other jobs], as the list route has both */
  size_t *items; /* of these, in the order of the screen: */
  size_t count;
  size_t total;         /* jobs that there are, also those not asked for */
  size_t first, chosen; /* rows: at the top of the screen, highlighted */
  char name[600];       /* USER~NAME of the chosen one, which may move */
  char filter[64];      /* text in the name or user of jobs */
  bool filters;         /* it is being typed */
  bool asks;            /* whether the chosen job is to be stopped */
  char note[1100];      /* instead of the keys, until one is pressed */
} cli_job_screen;

/* Asks the platform.  False, and told: it does not answer. */
bool cli_job_screen_ask(cli_job_screen *s);
/* Lines: the platform, and as many jobs as `rows` has room for. */
void cli_job_screen_print(cli_job_screen *s, FILE *to, unsigned rows);

typedef enum cli_job_screen_wish {
  CLI_SCREEN_DRAW, /* nothing else than to be drawn */
  CLI_SCREEN_ASK,  /* the platform has to be asked anew */
  CLI_SCREEN_OPEN, /* the tasks of the chosen job, `name` */
  CLI_SCREEN_QUIT
} cli_job_screen_wish;

/* Does what a key is for (screen.h). */
cli_job_screen_wish cli_job_screen_key(cli_job_screen *s, int key,
                                       unsigned rows);
void cli_job_screen_free(cli_job_screen *s);

#endif
