/* jobs.c - formatting of job states, texts and durations */
#include "jobs.h"
#include "cells.h"

#include <string.h>
#include <time.h>

const char *cli_state_style(FILE *out, const char *state)
{
  static const char *const colors[][2] = {
    { "RUNNING", "\033[32m" },  { "WAITING", "\033[33m" },
    { "STOPPING", "\033[35m" }, { "FAILED", "\033[31m" },
    { "STOPPED", "\033[35m" },
  };

  for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++)
    if (strcmp(colors[i][0], state) == 0)
      return cli_style(out, colors[i][1]);
  return "";
}

void cli_print_state(FILE *to, FILE *terminal, const char *state)
{
  (void)fputs(cli_state_style(terminal, state), to);
  cli_print(to, state);
  (void)fputs(cli_style(terminal, "\033[0m"), to);
}

void cli_print_padded(FILE *to, const char *text, int width)
{
  int left = width - cli_width(text);

  cli_print(to, text);
  (void)fprintf(to, "%*s", left > 0 ? left : 0, "");
}

bool cli_is_over(const char *state)
{
  return strcmp(state, "SUCCEEDED") == 0 || strcmp(state, "FAILED") == 0 ||
         strcmp(state, "STOPPED") == 0;
}

void cli_duration(char *out, size_t size, int64_t ms)
{
  long long s = ms / 1000;

  if (ms < 0)
    (void)snprintf(out, size, "-");
  else if (s < 60)
    (void)snprintf(out, size, "%llds", s);
  else if (s < 3600)
    (void)snprintf(out, size, "%lldm%02llds", s / 60, s % 60);
  else if (s < 24 * 3600)
    (void)snprintf(out, size, "%lldh%02lldm", s / 3600, s / 60 % 60);
  else
    (void)snprintf(out, size, "%lldd%02lldh", s / 86400, s / 3600 % 24);
}

const char *cli_date(char out[32], int64_t ms)
{
  time_t seconds = (time_t)(ms / 1000);
  struct tm when;

  if (localtime_r(&seconds, &when) == NULL ||
      strftime(out, 32, "%Y-%m-%d %H:%M", &when) == 0)
    (void)snprintf(out, 32, "-");
  return out;
}

int64_t cli_now(void)
{
  struct timespec now;

  (void)clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool cli_want_jobs(int words, char **argv)
{
  if (words == 0) {
    cli_fail("%s: which job?", cli_verb_now->name);
    (void)fprintf(stderr, "  help: openpai %s --help\n", cli_verb_now->name);
    return false;
  }
  for (int i = 0; i < words; i++)
    if (!cli_job_name(argv[i]))
      return false;
  return true;
}
