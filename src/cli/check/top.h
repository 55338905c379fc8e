/* top.h - `cluster top`: one sample as a screen, as lines or as JSON */
#ifndef PAI_SRC_CLI_TOP_H
#define PAI_SRC_CLI_TOP_H

#include "cli.h"

enum { TOP_GROUPS = 20 }; /* most process groups shown */

typedef struct top {
  pai_sampler *sampler;
  const pai_gpus *gpus;
  const pai_sample *sample;
  pai_sample_machine machine;
  pai_sample_group groups[TOP_GROUPS]; /* busiest first */
  size_t group_count;
  char host[65];
  bool screen;            /* a redrawn screen, not lines */
  unsigned width, height; /* of the screen; without a screen only the width */
} top;

/* Redraws the screen, or prints lines, on stdout (top_text.c). */
void top_print(top *t);
/* Prints one line with a JSON object; `time` is in microseconds since 1970
 * (top_json.c). */
void top_print_json(const top *t, pai_time time);

#endif
