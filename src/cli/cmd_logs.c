/* cmd_logs.c - what a task of a job has printed, and prints */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

typedef struct logs_options {
  const char *job, *task, *log, *attempt, *retry, *tail;
  bool follow;
} logs_options;

/* The job's first role, for free(); NULL, and told. */
static char *first_role(cli_remote *r, const char *job)
{
  char *path = cli_job_path(job, ""), *role = NULL;
  cli_json j;
  size_t roles, first;

  if (!cli_remote_get(r, &j, path)) {
    free(path);
    return NULL;
  }
  roles = cli_json_get(&j, 0, "taskRoles");
  first = roles != 0 ? cli_json_first(&j, roles) : 0;
  if (first != 0)
    role = strdup(j.values[first].key);
  else
    cli_fail("job %s has no tasks", job);
  cli_json_free(&j);
  free(path);
  return role;
}

/* "worker/3", or "worker" for its first task; NULL: the job's first. */
static char *make_path(cli_remote *r, const logs_options *o)
{
  const char *slash = o->task != NULL ? strchr(o->task, '/') : NULL,
             *index = slash != NULL ? slash + 1 : "0";
  char *role = o->task == NULL ? first_role(r, o->job)
                               : strndup(o->task, strcspn(o->task, "/")),
       *part = role != NULL ? cli_escape(role) : NULL, *path = NULL;
  char rest[1024];

  if (part != NULL && strlen(part) < 512 && strlen(index) < 32) {
    (void)snprintf(
      rest, sizeof(rest),
      "/attempts/%s/taskRoles/%s/taskIndex/%s/attempts/%s"
      "/logs/%s?%s%s%s",
      o->attempt != NULL ? o->attempt : "latest", part, index,
      o->retry != NULL ? o->retry : "latest", o->log != NULL ? o->log : "all",
      o->follow ? "follow=true&" : "", o->tail != NULL ? "offset=-" : "",
      o->tail != NULL ? o->tail : "");
    path = cli_job_path(o->job, rest);
  }
  free(part);
  free(role);
  return path;
}

static int on_bytes(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)fwrite(bytes, 1, len, stdout);
  return cli_written() ? PAI_OK : PAI_EUSER;
}

/* Of a job that is there, what of it there is. */
static void tell_tasks(cli_remote *r, const char *job)
{
  char *path = cli_job_path(job, "");
  const char *comma = "";
  cli_answer a;
  cli_json j;

  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  if (a.status == PAI_OK && cli_json_read(&j, a.body, a.len)) {
    size_t roles = cli_json_get(&j, 0, "taskRoles");
    (void)fprintf(stderr, "  help: its tasks are ");
    for (size_t i = roles != 0 ? cli_json_first(&j, roles) : 0; i != 0;
         i = cli_json_next(&j, roles, i)) {
      size_t list = cli_json_get(&j, i, "taskStatuses"), last = 0;
      for (size_t t = list != 0 ? cli_json_first(&j, list) : 0; t != 0;
           t = cli_json_next(&j, list, t))
        last = t;
      (void)fprintf(stderr, "%s%s/0", comma, j.values[i].key);
      if (last != 0 && cli_json_number(&j, last, "taskIndex", 0) > 0)
        (void)fprintf(stderr, " to %lld",
                      (long long)cli_json_number(&j, last, "taskIndex", 0));
      comma = ", ";
    }
    (void)fprintf(stderr, "; its latest attempt is %lld\n",
                  (long long)cli_json_number(
                    &j, cli_json_get(&j, 0, "jobStatus"), "attemptId", 0));
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  free(path);
}

/* The original's logs are files that grow: it has them of the latest start. */
static int print_original(cli_remote *r, const logs_options *o)
{
  const char *slash = o->task != NULL ? strchr(o->task, '/') : NULL;
  char *role = o->task == NULL ? first_role(r, o->job)
                               : strndup(o->task, strcspn(o->task, "/"));
  cli_log log = { .job = o->job,
                  .role = role,
                  .name = o->log,
                  .index =
                    slash != NULL ? (uint32_t)strtoul(slash + 1, NULL, 10) : 0,
                  .follow = o->follow,
                  .on_bytes = on_bytes };
  cli_answer a;
  int code = CLI_NO;

  if (role == NULL)
    return CLI_NO;
  cli_remote_log(r, &a, &log);
  if (a.status == PAI_OK)
    code = CLI_OK;
  else
    cli_answer_tell(&a);
  cli_answer_free(&a);
  free(role);
  return code;
}

static int print_log(cli_remote *r, const logs_options *o)
{
  const cli_stream stream = { .on_bytes = on_bytes };
  char *path = make_path(r, o);
  cli_answer a;
  int code = CLI_NO;

  if (path == NULL)
    return CLI_NO;
  cli_remote_stream(r, &a, path, &stream);
  if (a.status == PAI_OK)
    code = CLI_OK;
  else
    cli_answer_tell(&a);
  if (a.status == PAI_EIO && o->follow)
    cli_help(stderr, "a job goes on without its platform: openpai up starts "
                     "that again");
  if (a.status == PAI_ENOTFOUND && a.http != 0)
    tell_tasks(r, o->job);
  cli_answer_free(&a);
  free(path);
  return code;
}

static bool is_number(const char *text)
{
  return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static bool check(const logs_options *o)
{
  static const char *const logs[] = { "stdout", "stderr", "all", "runtime" };
  const char *slash = o->task != NULL ? strchr(o->task, '/') : NULL;
  bool known = o->log == NULL;

  for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]) && !known; i++)
    known = strcmp(o->log, logs[i]) == 0;
  if (!known)
    cli_misused(&cli_logs, "there is no such log", o->log);
  else if (o->tail != NULL && !is_number(o->tail))
    cli_misused(&cli_logs, "this is no number of bytes", o->tail);
  else if (o->attempt != NULL && !is_number(o->attempt))
    cli_misused(&cli_logs, "this is no number of an attempt", o->attempt);
  else if (o->retry != NULL && !is_number(o->retry))
    cli_misused(&cli_logs, "this is no number of a retry", o->retry);
  else if (slash != NULL && !is_number(slash + 1))
    cli_misused(&cli_logs, "a task is ROLE/INDEX, not", o->task);
  else
    return true;
  return false;
}

static int run(int argc, char **argv)
{
  logs_options o = { 0 };
  const cli_option options[] = {
    { "follow", 'f', &o.follow, NULL }, { "task", 0, NULL, &o.task },
    { "log", 0, NULL, &o.log },         { "attempt", 0, NULL, &o.attempt },
    { "tail", 0, NULL, &o.tail },       { "root", 0, NULL, &cli_root },
    { "retry", 0, NULL, &o.retry },
  };
  int words = cli_options(&cli_logs, options, 7, argc, argv), code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || !cli_want_jobs(&cli_logs, words, argv, 1) || !check(&o))
    return CLI_USAGE;
  o.job = argv[0];
  if (cli_remote_open(&r, true)) {
    bool usual = o.attempt == NULL && o.retry == NULL && o.tail == NULL;
    code = usual && cli_remote_is_original(&r) ? print_original(&r, &o)
                                               : print_log(&r, &o);
    cli_remote_close(&r);
  }
  return code;
}

const cli_verb cli_logs = {
  .name = "logs",
  .brief = "Print what a task of a job has printed",
  .usage = "[-f] [--task ROLE/INDEX] [--log NAME] [--tail BYTES]\n"
           "             [--attempt N] [--retry N] [--root DIR] JOB",
  .help =
    "The bytes are those that the task has written, with nothing added.\n\n"
    "  -f, --follow     go on until the task ends; one that has not started\n"
    "                   is waited for\n"
    "  --task ROLE/INDEX\n"
    "                   of this task; without it, of the job's first\n"
    "  --log NAME       stdout, stderr, all (both, without it), or runtime:\n"
    "                   what openpai did to run it\n"
    "  --tail BYTES     only the last bytes of what there is\n"
    "  --attempt N      of this attempt of the job, from 0; without it the\n"
    "                   latest\n"
    "  --retry N        of this start of the task in that attempt, from 0;\n"
    "                   without it the latest\n" JOBS_ROOT_HELP
    "\nExit status: 0 success, 1 no such job, task or log, 2 usage error\n",
  .run = run,
};
