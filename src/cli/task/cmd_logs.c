/* cmd_logs.c - `logs`: print or follow the output of tasks */
#include "cells.h"
#include "job_names.h"
#include "jobs.h"
#include "lines.h"
#include "live.h"
#include "remote.h"
#include "session.h"
#include "quantity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of `logs`, checked; NULL: not given. */
typedef struct log_options {
  const cli_logs_args *a;
  int64_t since_ms; /* 0: everything; below 0: relative to now */
} log_options;

typedef struct cli_log_task {
  char *job, *role; /* for free() */
  uint32_t index;
  int64_t attempt, retry; /* of the latest start of the task */
  char *label;            /* label of each line, or NULL */
} cli_log_task;

typedef struct cli_log_tasks {
  cli_log_task *list;
  size_t count, cap;
  int width; /* of the longest label */
} cli_log_tasks;

static void cli_log_tasks_free(cli_log_tasks *tasks)
{
  for (size_t i = 0; i < tasks->count; i++) {
    free(tasks->list[i].job);
    free(tasks->list[i].role);
    free(tasks->list[i].label);
  }
  free(tasks->list);
  *tasks = (cli_log_tasks){ 0 };
}

static bool out_of_memory(void)
{
  cli_fail("out of memory");
  return false;
}

static bool add(cli_log_tasks *tasks, const char *job, const char *role,
                const cli_log_task *numbers)
{
  cli_log_task *t;

  if (tasks->count == tasks->cap) {
    size_t cap = tasks->cap * 2 + 8;
    cli_log_task *grown = realloc(tasks->list, cap * sizeof(*grown));
    if (grown == NULL)
      return out_of_memory();
    tasks->list = grown;
    tasks->cap = cap;
  }
  t = &tasks->list[tasks->count++];
  *t = *numbers;
  t->job = strdup(job);
  t->role = strdup(role);
  return (t->job != NULL && t->role != NULL) || out_of_memory();
}

static bool add_tasks(cli_log_tasks *tasks, const pai_json *j, const char *job,
                      const char *word)
{
  int64_t attempt = cli_json_number(j, 0, "jobStatus/attemptId", 0);

  for (cli_each_task t = cli_tasks_of(j); cli_next_task(&t);) {
    int64_t index = cli_json_number(j, t.task.at, "taskIndex", 0);
    cli_log_task numbers = { .index = (uint32_t)index,
                             .attempt = attempt,
                             .retry =
                               cli_json_number(j, t.task.at, "attemptId", 0) };

    if (cli_task_is_meant(word, t.role.key, index) &&
        !add(tasks, job, t.role.key, &numbers))
      return false;
  }
  return true;
}

static void tell_tasks(const pai_json *j)
{
  const char *comma = "";

  (void)fprintf(stderr, "  help: its tasks are ");
  for (cli_each i = cli_each_of(j, cli_json_get(j, 0, "taskRoles"));
       cli_next(&i);) {
    size_t list = cli_json_get(j, i.at, "taskStatuses"),
           last = pai_json_item(j, list, pai_json_count(j, list) - 1);

    (void)fputs(comma, stderr);
    cli_print(stderr, i.key);
    (void)fputs("/0", stderr);
    if (cli_json_number(j, last, "taskIndex", 0) > 0)
      (void)fprintf(stderr, " to %lld",
                    (long long)cli_json_number(j, last, "taskIndex", 0));
    comma = ", ";
  }
  (void)fprintf(stderr, "; its latest attempt is %lld\n",
                (long long)cli_json_number(j, 0, "jobStatus/attemptId", 0));
}

/* Prints which tasks and attempts a job has. */
static void cli_log_tasks_tell(cli_remote *r, const char *job)
{
  pai_json *j;

  if (cli_call_quietly(r, &j, "jobs.show", cli_job_arguments(job, "")))
    tell_tasks(j);
  pai_json_free(j);
}

/* Adds the selected tasks of a job.  Returns false, after printing an error,
 * if there are none. */
static bool cli_log_tasks_add(cli_log_tasks *tasks, cli_remote *r,
                              const char *job, const log_options *o)
{
  size_t before = tasks->count;
  pai_json *j;
  bool good;

  if (!cli_job_read(r, &j, job))
    return false;
  good = add_tasks(tasks, j, job, o->a->task);
  if (good && tasks->count == before) {
    if (o->a->task == NULL) {
      cli_fail("job %s has no tasks", job);
    } else {
      cli_fail("job %s has no task %s", job, o->a->task);
      tell_tasks(j);
    }
    good = false;
  }
  cli_json_free(&j);
  return good;
}

/* Labels the tasks, if there are several; with `jobs` also with their job. */
static bool cli_log_tasks_label(cli_log_tasks *tasks, bool jobs)
{
  for (size_t i = 0; i < tasks->count && tasks->count > 1; i++) {
    cli_log_task *t = &tasks->list[i];
    int width = snprintf(NULL, 0, "%s%s%s[%u]", jobs ? t->job : "",
                         jobs ? "/" : "", t->role, t->index);

    t->label = malloc((size_t)width + 1);
    if (t->label == NULL)
      return out_of_memory();
    (void)snprintf(t->label, (size_t)width + 1, "%s%s%s[%u]",
                   jobs ? t->job : "", jobs ? "/" : "", t->role, t->index);
    tasks->width = width > tasks->width ? width : tasks->width;
  }
  return true;
}

enum { QUIET_MS = 60 * 1000, PATIENCE_MS = 5000 };

typedef struct printing {
  cli_remote *remote;
  const log_options *o;
  struct source *sources;
  size_t count, running;
  size_t waiting; /* tasks for which the server had no free stream */
  size_t room;    /* streams that have ended since */
  int64_t tried;  /* when a waiting task was last tried */
  int width;
  bool lines;  /* print whole lines, not bytes */
  bool unread; /* stdout has no reader any more */
  cli_live live;
} printing;

/* The log of a task that is being printed. */
typedef struct source {
  printing *p;
  const cli_log_task *task;
  size_t number;
  cli_line line;
  bool cut;   /* the last byte printed was not a newline */
  bool came;  /* some bytes came; a new request would repeat them */
  bool waits; /* for a stream of another task to end */
  pai_op *op; /* NULL: not begun, or over */
  cli_answer answer;
} source;

/* --- output -------------------------------------------------------------- */

static cli_label label_of(const source *s, FILE *to)
{
  return (cli_label){ .name = s->p->o->a->no_prefix ? NULL : s->task->label,
                      .width = s->p->width,
                      .number = s->number,
                      .to = to };
}

static unsigned paint(void *data, FILE *to, unsigned width, unsigned rows)
{
  const printing *p = data;
  unsigned printed = 0;

  for (size_t i = 0; i < p->count && printed < rows; i++) {
    cli_label label = label_of(&p->sources[i], to);

    printed += cli_line_paint(to, &p->sources[i].line, &label, width);
  }
  return printed;
}

/* The block opens, and output is buffered, only when a task redraws a line. */
static void show_redrawn(printing *p, const source *s)
{
  if (!s->line.redrawn || p->live.open || !p->o->a->follow)
    return;
  if (cli_live_open(&p->live, p->remote->loop, NULL)) {
    p->live.paint = paint;
    p->live.data = p;
  }
}

static int on_bytes(void *user_data, const char *bytes, size_t len)
{
  source *s = user_data;
  printing *p = s->p;
  cli_label label;

  s->came = true;
  if (p->lines) {
    label = label_of(s, cli_live_output(&p->live));
    cli_line_add(&s->line, &label, bytes, len);
    show_redrawn(p, s);
  } else {
    (void)fwrite(bytes, 1, len, stdout);
    s->cut = bytes[len - 1] != '\n';
  }
  p->unread = !p->live.open && !cli_written();
  return p->unread ? PAI_EUSER : PAI_OK;
}

static void keep(char *to, size_t size, const char *text)
{
  (void)snprintf(to, size, "%s", text != NULL ? text : "");
}

/* A server at a URL limits the streams of a user: the task is followed when
 * the stream of another one has ended. */
static bool must_wait(source *s, const pai_client_answer *a)
{
  printing *p = s->p;

  if (a->http_status != 429 || !p->o->a->follow || p->count == 1 || s->came)
    return false;
  if (p->tried == 0)
    (void)fprintf(stderr, "note: this server allows you no more streams: "
                          "further tasks are followed as others end "
                          "(--task ROLE/INDEX follows one task)\n");
  s->waits = true;
  p->waiting++;
  p->tried = cli_now();
  return true;
}

static void on_end(void *user_data, int status, const pai_client_answer *a)
{
  source *s = user_data;
  cli_label label = label_of(s, cli_live_output(&s->p->live));

  s->op = NULL;
  s->p->running--;
  if (must_wait(s, a))
    return;
  s->p->room++;
  if (s->p->lines)
    cli_line_end(&s->line, &label);
  else if (s->cut && s->p->count > 1)
    (void)fputc('\n', stdout);
  s->answer.status = status;
  s->answer.http = a->http_status;
  keep(s->answer.code, sizeof(s->answer.code), a->code);
  keep(s->answer.message, sizeof(s->answer.message),
       pai_error_message(a->err));
  keep(s->answer.help, sizeof(s->answer.help), pai_error_help(a->err));
}

/* --- requests ------------------------------------------------------------ */

/* Sets the start to read.  With --attempt alone the start is left out, because
 * the task's latest start in that attempt is not known here. */
static void name_start(pai_client_log_options *o, const source *s,
                       char numbers[2][24])
{
  const log_options *given = s->p->o;

  (void)snprintf(numbers[0], 24, "%" PRId64, s->task->attempt);
  (void)snprintf(numbers[1], 24, "%" PRId64, s->task->retry);
  o->attempt = given->a->attempt != NULL ? given->a->attempt : numbers[0];
  o->retry = given->a->retry != NULL     ? given->a->retry
             : given->a->attempt == NULL ? numbers[1]
                                         : NULL;
}

static int ask(source *s, pai_error **err)
{
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;
  const log_options *given = s->p->o;
  char *job = cli_whole_name(s->task->job), numbers[2][24];
  int rc = PAI_ENOMEM;

  o.job = job;
  o.role = s->task->role;
  o.index = s->task->index;
  o.name = given->a->log;
  o.follow = given->a->follow;
  o.timestamps = given->a->timestamps;
  o.tail = given->a->tail != NULL ? strtoll(given->a->tail, NULL, 10) : 0;
  if (given->a->tail != NULL && o.tail == 0)
    o.tail = -1;
  o.since = given->since_ms * 1000;
  o.on_data = on_bytes;
  name_start(&o, s, numbers);
  if (job != NULL)
    rc = pai_client_logs(&s->op, s->p->remote->client, &o, on_end, s, err);
  free(job);
  return rc;
}

static void start(source *s)
{
  pai_error *err = NULL;
  int rc;

  s->waits = false;
  rc = ask(s, &err);
  if (rc == PAI_OK) {
    s->p->running++;
    return;
  }
  s->answer.status = rc;
  keep(s->answer.message, sizeof(s->answer.message),
       err != NULL ? pai_error_message(err) : "out of memory");
  pai_error_free(err);
}

static void cancel_all(printing *p)
{
  for (size_t i = 0; i < p->count; i++) {
    pai_op *op = p->sources[i].op;

    p->sources[i].op = NULL;
    if (op != NULL)
      pai_op_cancel(op);
  }
}

/* Starts waiting tasks: one for each stream that has ended, and one from time
 * to time, because other programs of the user have streams too. */
static void start_waiting(printing *p)
{
  for (size_t i = 0; i < p->count && p->waiting > 0; i++) {
    if (p->room == 0 && cli_now() - p->tried < PATIENCE_MS)
      return;
    if (!p->sources[i].waits)
      continue;
    p->waiting--;
    p->room -= p->room > 0;
    p->tried = cli_now();
    start(&p->sources[i]);
  }
}

static void wait_for_all(printing *p)
{
  while (p->running > 0 || (p->waiting > 0 && !p->unread)) {
    if (p->unread)
      cancel_all(p);
    else
      start_waiting(p);
    cli_live_step(&p->live, false);
    cli_loop_step(p->remote->loop, p->live.open     ? p->live.every_ms
                                   : p->waiting > 0 ? PATIENCE_MS
                                                    : QUIET_MS);
  }
}

/* --- end of the logs ----------------------------------------------------- */

/* A task that has not begun is not an error if there are several tasks. */
static bool has_none(const source *s)
{
  return s->answer.status == PAI_ENOTFOUND && s->p->count > 1 &&
         strcmp(s->answer.code, "NoTaskLogError") == 0;
}

/* The platform has ended; a verb of this user would start it again. */
static bool has_ended(const source *s)
{
  return s->p->o->a->follow && s->p->remote->context.url == NULL &&
         s->answer.http == 0 &&
         (s->answer.status == PAI_EIO || s->answer.status == PAI_ENOTFOUND);
}

static void tell(source *s)
{
  cli_answer *a = &s->answer;

  if (has_none(s)) {
    (void)fputs("note: ", stderr);
    cli_print(stderr, s->task->label);
    (void)fputs(" has no such log\n", stderr);
    return;
  }
  if (has_ended(s))
    keep(a->help, sizeof(a->help),
         "the job continues without its platform: restart it with openpai up");
  cli_answer_tell(a);
  if (a->status == PAI_EBUSY && s->p->count > 1)
    cli_help(stderr, "--task ROLE/INDEX follows one task");
  if (a->status == PAI_ENOTFOUND && a->http != 0)
    cli_log_tasks_tell(s->p->remote, s->task->job);
}

/* Prints each error once.  Returns the exit code. */
static int finish(printing *p)
{
  const char *told = "";
  size_t none = 0;
  int code = p->unread ? CLI_NO : CLI_OK;

  for (size_t i = 0; i < p->count && !p->unread; i++) {
    source *s = &p->sources[i];

    none += s->answer.status == PAI_ENOTFOUND;
    if (s->answer.status == PAI_OK)
      continue;
    if (!has_none(s))
      code = CLI_NO;
    if (has_none(s) || strcmp(told, s->answer.message) != 0)
      tell(s);
    told = s->answer.message;
  }
  return none == p->count ? CLI_NO : code;
}

static int print_all(printing *p)
{
  for (size_t i = 0; i < p->count; i++) {
    start(&p->sources[i]);
    if (!p->o->a->follow)
      wait_for_all(p);
    if (p->unread)
      break;
  }
  wait_for_all(p);
  cli_live_close(&p->live);
  return finish(p);
}

/* Prints the logs one after the other, or with `follow` as output comes.
 * Returns the exit code. */
static int cli_logs_print(cli_remote *r, const cli_log_tasks *tasks,
                          const log_options *o)
{
  printing p = { .remote = r,
                 .o = o,
                 .count = tasks->count,
                 .width = tasks->width,
                 .lines =
                   tasks->count > 1 && !(o->a->no_prefix && !o->a->follow) };
  int code;

  p.sources = calloc(p.count + 1, sizeof(*p.sources));
  if (p.sources == NULL) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  for (size_t i = 0; i < p.count; i++)
    p.sources[i] = (source){ .p = &p, .task = &tasks->list[i], .number = i };
  code = print_all(&p);
  for (size_t i = 0; i < p.count; i++)
    cli_line_free(&p.sources[i].line);
  free(p.sources);
  return code;
}

static bool check_since(log_options *o, const char *since)
{
  if (since == NULL || cli_read_since(&o->since_ms, since))
    return true;
  cli_fail("--since: this is no time: %s", since);
  cli_help(stderr, "a time is " CLI_SINCE_FORMS);
  return false;
}

static int print_logs(cli_remote *r, char **words, int count,
                      const log_options *o)
{
  cli_job_names names = { 0 };
  cli_log_tasks tasks = { 0 };
  int code = CLI_OK;

  if (!cli_job_names_add(&names, r, words, count, NULL))
    code = CLI_NO;
  for (size_t i = 0; code == CLI_OK && i < names.count; i++)
    if (!cli_log_tasks_add(&tasks, r, names.list[i], o))
      code = CLI_NO;
  if (code == CLI_OK && !cli_log_tasks_label(&tasks, names.count > 1))
    code = CLI_NO;
  if (code == CLI_OK)
    code = cli_logs_print(r, &tasks, o);
  cli_log_tasks_free(&tasks);
  cli_job_names_free(&names);
  return code;
}

int cli_do_logs(const cli_logs_args *a)
{
  log_options o = { .a = a };
  int code = CLI_NO;
  cli_remote r;

  if (!cli_want_jobs(a->count, a->words))
    return CLI_USAGE;
  if (!cli_task_word(a->task))
    return CLI_USAGE;
  if (!check_since(&o, a->since))
    return CLI_USAGE;
  if (cli_remote_open(&r, true)) {
    code = print_logs(&r, a->words, a->count, &o);
    cli_remote_close(&r);
  }
  return code;
}
