/* cmd_events.c - `events`: past and live events of jobs */
#include "cells.h"
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

/* --- live events --------------------------------------------------------- */

typedef struct live {
  char *kept; /* an incomplete line */
  size_t len, cap;
  bool json;
  const char *job; /* the job of the events, or NULL: each names its own */
} live;

static void print_event(const live *l, const char *text)
{
  pai_json *j;

  if (l->json && l->job != NULL && text[0] == '{') {
    cli_json_print(stdout, "{\"name\":%s,", l->job);
    (void)printf("%s\n", text + 1);
    return;
  }
  if (l->json) {
    (void)printf("%s\n", text);
    return;
  }
  if (!cli_json_read(&j, text, strlen(text)))
    return;
  cli_print(stdout, l->job != NULL ? l->job : cli_json_text(j, 0, "name"));
  if (cli_json_text(j, 0, "role")[0] != '\0') {
    (void)printf(" ");
    cli_print(stdout, cli_json_text(j, 0, "role"));
    (void)printf("[%lld]", (long long)cli_json_number(j, 0, "index", 0));
  }
  (void)printf(" %s", cli_json_text(j, 0, "state"));
  if (cli_json_number(j, 0, "code", 0) != 0)
    (void)printf(" with code %lld",
                 (long long)cli_json_number(j, 0, "code", 0));
  if (cli_json_text(j, 0, "text")[0] != '\0') {
    (void)printf(": ");
    cli_print(stdout, cli_json_text(j, 0, "text"));
  }
  (void)printf("\n");
  cli_json_free(&j);
}

static int on_bytes(void *user_data, const char *bytes, size_t len)
{
  live *l = user_data;

  for (size_t i = 0; i < len; i++) {
    if (l->len + 1 >= l->cap) {
      size_t cap = l->cap == 0 ? 1024 : l->cap * 2;
      char *grown = realloc(l->kept, cap);
      if (grown == NULL)
        return PAI_ENOMEM;
      l->kept = grown;
      l->cap = cap;
    }
    if (bytes[i] != '\n') {
      l->kept[l->len++] = bytes[i];
      continue;
    }
    l->kept[l->len] = '\0';
    if (l->job != NULL)
      print_event(l, l->kept);
    else if (strncmp(l->kept, "data: ", 6) == 0)
      print_event(l, l->kept + 6);
    l->len = 0;
  }
  return cli_written() ? PAI_OK : PAI_EUSER;
}

/* Prints events as they come.  Of one job it prints the current states first
 * and ends with the job. */
static int watch(cli_remote *r, const char *job, bool json)
{
  char *name = job != NULL ? cli_whole_name(job) : NULL;
  live l = { .json = json, .job = name };
  const cli_stream stream = { .on_bytes = on_bytes, .user_data = &l };
  char *path = job != NULL ? cli_job_path(job, "/follow?output=false")
                           : strdup("/api/v2/events");
  cli_answer a;
  int code = CLI_NO;

  cli_remote_stream(r, &a, path, &stream);
  free(path);
  free(name);
  if (a.status == PAI_OK)
    code = CLI_OK;
  else
    cli_answer_tell(&a);
  cli_answer_free(&a);
  free(l.kept);
  return code;
}

/* --- past events --------------------------------------------------------- */

static void print_list(const pai_json *j)
{
  for (cli_each i = cli_each_of(j, cli_json_get(j, 0, "data"));
       cli_next(&i);) {
    const char *type = cli_json_text(j, i.at, "type");
    bool warning = strcmp(type, "Warning") == 0;
    (void)printf("%.19sZ  %s%-7s%s  %-12s  ",
                 cli_json_text(j, i.at, "lastTimestamp"),
                 warning ? cli_style(stdout, "\033[33m") : "", type,
                 warning ? cli_style(stdout, "\033[0m") : "",
                 cli_json_text(j, i.at, "reason"));
    if (cli_json_text(j, i.at, "taskroleName")[0] != '\0')
      (void)printf("%s/%lld: ", cli_json_text(j, i.at, "taskroleName"),
                   (long long)cli_json_number(j, i.at, "taskIndex", 0));
    cli_print(stdout, cli_json_text(j, i.at, "message"));
    (void)printf("\n");
  }
}

static int list(cli_remote *r, const char *job, bool json)
{
  cli_answer a;
  pai_json *j;
  int code = CLI_NO;

  cli_call(r, &a, "jobs.events", cli_job_arguments(job, ""));
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (json) {
    (void)printf("%s\n", a.body);
    code = CLI_OK;
  } else if (cli_json_read(&j, a.body, a.len)) {
    print_list(j);
    cli_json_free(&j);
    code = CLI_OK;
  }
  cli_answer_free(&a);
  return code;
}

int cli_do_events(const cli_events_args *a)
{
  int code = CLI_NO;
  cli_remote r;

  if ((a->count > 0 || !a->follow) && !cli_want_jobs(a->count, a->words))
    return CLI_USAGE;
  if (cli_remote_open(&r, true)) {
    code = a->follow ? watch(&r, a->count > 0 ? a->words[0] : NULL, a->json)
                     : list(&r, a->words[0], a->json);
    cli_remote_close(&r);
  }
  return code;
}
