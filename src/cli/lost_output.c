/* lost_output.c - output of a job that is in no log, as its events tell */
#include "cells.h"
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

void cli_print_lost_output(FILE *out, const char *before,
                           const cli_answer *events)
{
  cli_json j;
  size_t list;

  if (events->status != PAI_OK || events->body == NULL ||
      !cli_json_read(&j, events->body, events->len))
    return;
  list = cli_json_get(&j, 0, "data");
  for (size_t i = list != 0 ? cli_json_first(&j, list) : 0; i != 0;
       i = cli_json_next(&j, list, i)) {
    if (strcmp(cli_json_text(&j, i, "reason"), "OutputLost") != 0)
      continue;
    (void)fprintf(out, "%s", before);
    cli_print(out, cli_json_text(&j, i, "taskroleName"));
    (void)fprintf(
      out, "/%lld: ", (long long)cli_json_number(&j, i, "taskIndex", 0));
    cli_print(out, cli_json_text(&j, i, "message"));
    (void)fputc('\n', out);
  }
  cli_json_free(&j);
}

void cli_warn_of_lost_output(cli_remote *r, const char *name)
{
  char *path;
  cli_answer events;

  if (cli_remote_is_original(r))
    return; /* it has no such event */
  path = cli_job_path(name, "/events?type=Warning");
  cli_remote_ask(r, &events, "GET", path, NULL, NULL, 0);
  cli_print_lost_output(stderr, "warning: ", &events);
  cli_answer_free(&events);
  free(path);
}
