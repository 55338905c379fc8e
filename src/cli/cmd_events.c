/* cmd_events.c - what happened to a job, and what happens */
#include "cells.h"
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

/* --- what happens: server-sent events --------------------------------------------- */

typedef struct live {
  char *kept; /* a line that is not whole yet */
  size_t len, cap;
  bool json;
  const char *job; /* the one that they are about, or NULL: each says it */
} live;

static void print_event(const live *l, const char *text)
{
  cli_json j;

  if (l->json && l->job != NULL && text[0] == '{') {
    (void)printf("{\"name\":");
    cli_json_string(stdout, l->job, strlen(l->job));
    (void)printf(",%s\n", text + 1);
    return;
  }
  if (l->json) {
    (void)printf("%s\n", text);
    return;
  }
  if (!cli_json_read(&j, text, strlen(text)))
    return;
  cli_print(stdout, l->job != NULL ? l->job : cli_json_text(&j, 0, "name"));
  if (cli_json_text(&j, 0, "role")[0] != '\0') {
    (void)printf(" ");
    cli_print(stdout, cli_json_text(&j, 0, "role"));
    (void)printf("[%lld]", (long long)cli_json_number(&j, 0, "index", 0));
  }
  (void)printf(" %s", cli_json_text(&j, 0, "state"));
  if (cli_json_number(&j, 0, "code", 0) != 0)
    (void)printf(" with code %lld",
                 (long long)cli_json_number(&j, 0, "code", 0));
  if (cli_json_text(&j, 0, "text")[0] != '\0') {
    (void)printf(": ");
    cli_print(stdout, cli_json_text(&j, 0, "text"));
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

/* Of one job, first how things stand, and no longer than it is there. */
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

/* --- what happened ------------------------------------------------------------------ */

static void print_list(const cli_json *j)
{
  size_t list = cli_json_get(j, 0, "data");

  for (size_t i = list != 0 ? cli_json_first(j, list) : 0; i != 0;
       i = cli_json_next(j, list, i)) {
    const char *type = cli_json_text(j, i, "type");
    bool warning = strcmp(type, "Warning") == 0;
    (void)printf("%.19sZ  %s%-7s%s  %-12s  ",
                 cli_json_text(j, i, "lastTimestamp"),
                 warning ? cli_style(stdout, "\033[33m") : "", type,
                 warning ? cli_style(stdout, "\033[0m") : "",
                 cli_json_text(j, i, "reason"));
    if (cli_json_text(j, i, "taskroleName")[0] != '\0')
      (void)printf("%s/%lld: ", cli_json_text(j, i, "taskroleName"),
                   (long long)cli_json_number(j, i, "taskIndex", 0));
    cli_print(stdout, cli_json_text(j, i, "message"));
    (void)printf("\n");
  }
}

static int list(cli_remote *r, const char *job, bool json)
{
  char *path = cli_job_path(job, "/events");
  cli_answer a;
  cli_json j;
  int code = CLI_NO;

  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (json) {
    (void)printf("%s\n", a.body);
    code = CLI_OK;
  } else if (cli_json_read(&j, a.body, a.len)) {
    print_list(&j);
    cli_json_free(&j);
    code = CLI_OK;
  }
  cli_answer_free(&a);
  free(path);
  return code;
}

static int run(int argc, char **argv)
{
  bool json = false, follow = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "follow", 'f', &follow, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_events, options, 3, argc, argv), code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0 ||
      ((words > 0 || !follow) && !cli_want_jobs(&cli_events, words, argv, 1)))
    return CLI_USAGE;
  if (cli_remote_open(&r, true)) {
    code = follow ? watch(&r, words > 0 ? argv[0] : NULL, json)
                  : list(&r, argv[0], json);
    cli_remote_close(&r);
  }
  return code;
}

const cli_verb cli_events = {
  .name = "events",
  .brief = "List events of a job, or follow new events",
  .usage = "[-f] [--json] [--root DIR] [JOB]",
  .help =
    "List events, the newest first.  With -f, print the state of the job and\n"
    "its tasks, then a line for each change until the job is over; without\n"
    "JOB, follow all jobs until the platform ends.\n"
    "\n"
    "  -f, --follow     print new events as they come\n"
    "  --json           print the object of GET\n"
    "                   /api/v2/jobs/USER~NAME/events; with -f, print a line\n"
    "                   of JSON for each event\n" JOBS_ROOT_HELP "\n"
    "Exit status: 0 success, 1 no such job, 2 usage error\n",
  .run = run,
};
