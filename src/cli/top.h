/* top.h - `cluster top`: one sample as a screen, as lines, as JSON */
#ifndef PAI_SRC_CLI_TOP_H
#define PAI_SRC_CLI_TOP_H

#include "cli.h"

enum { TOP_GROUPS = 20 }; /* process groups that are told at most */

typedef struct top {
  pai_sampler *sampler;
  const pai_gpus *gpus;
  const pai_sample *sample;
  pai_sample_machine machine;
  pai_sample_group groups[TOP_GROUPS]; /* busiest first */
  size_t group_count;
  char host[65];
  bool screen;            /* not lines one after the other */
  unsigned width, height; /* of the screen; else width only */
} top;

/* Draws a screen anew, or prints lines, on stdout (top_text.c). */
void top_print(const top *t);
/* One line, an object; time is microseconds since 1970 (top_json.c). */
void top_print_json(const top *t, pai_time time);

#endif
