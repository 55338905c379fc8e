/* which_task.c - finding the task that a word means or the user chooses */
#include "cells.h"
#include "jobs.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 50 };

bool cli_task_word(const char *word)
{
  const char *slash = word != NULL ? strchr(word, '/') : NULL;

  if (word == NULL || (word[0] != '\0' && word[0] != '/' &&
                       (slash == NULL ||
                        (slash[1] != '\0' && strlen(slash) < 10 &&
                         slash[1 + strspn(slash + 1, "0123456789")] == '\0'))))
    return true;
  return cli_wrong("a task is ROLE/INDEX, not", word);
}

void cli_task_free(cli_task *t)
{
  free(t->job);
  free(t->role);
  *t = (cli_task){ .job = NULL, .role = NULL };
}

static void keep(char *to, size_t size, const char *text)
{
  (void)snprintf(to, size, "%s", text);
}

/* A task in the JSON of its job. */
typedef struct place {
  const char *role;
  size_t task;
} place;

static bool take_task(cli_task *out, const pai_json *j, place at)
{
  out->role = at.role != NULL ? strdup(at.role) : NULL;
  out->index = (uint32_t)cli_json_number(j, at.task, "taskIndex", 0);
  keep(out->state, sizeof(out->state), cli_json_text(j, at.task, "taskState"));
  keep(out->ip, sizeof(out->ip), cli_json_text(j, at.task, "containerIp"));
  keep(out->ssh_port, sizeof(out->ssh_port),
       cli_json_text(j, at.task, "containerPorts/ssh"));
  out->exit_code = cli_result_task_code(j, at.task);
  if (out->role == NULL)
    cli_fail("out of memory");
  return out->role != NULL;
}

/* Tasks of a job: all, those that the word means, and of these the running
 * ones. */
typedef struct tasks {
  size_t count, meant, running;
  place one;               /* the first that the word means */
  place shown[MOST_SHOWN]; /* the first running ones */
} tasks;

static bool is_role(const char *role, const char *word, size_t len)
{
  if (strlen(role) == len && strncmp(role, word, len) == 0)
    return true;
  for (; len > 0; word++, len--) {
    char c = *word >= 'A' && *word <= 'Z' ? (char)(*word + 32) : *word;

    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      if (*role != c)
        return false;
      role++;
    }
  }
  return *role == '\0';
}

bool cli_task_is_meant(const char *word, const char *role, int64_t index)
{
  size_t len = word != NULL ? strcspn(word, "/") : 0;

  return word == NULL ||
         (is_role(role, word, len) &&
          (word[len] == '\0' || strtoll(word + len + 1, NULL, 10) == index));
}

static bool is_meant(const pai_json *j, place at, const char *word)
{
  return cli_task_is_meant(word, at.role,
                           cli_json_number(j, at.task, "taskIndex", -1));
}

static void add(tasks *t, const pai_json *j, place at, const char *word)
{
  t->count++;
  if (!is_meant(j, at, word))
    return;
  if (t->meant++ == 0)
    t->one = at;
  if (strcmp(cli_json_text(j, at.task, "taskState"), "RUNNING") != 0)
    return;
  if (t->running < MOST_SHOWN)
    t->shown[t->running] = at;
  t->running++;
}

static void look(tasks *t, const pai_json *j, const char *word)
{
  *t = (tasks){ 0 };
  for (cli_each_task e = cli_tasks_of(j); cli_next_task(&e);)
    add(t, j, (place){ e.role.key, e.task.at }, word);
}

static void print_name(const pai_json *j, place at)
{
  cli_print(stderr, at.role);
  (void)fprintf(stderr, "/%lld",
                (long long)cli_json_number(j, at.task, "taskIndex", 0));
}

/* Prints the possible answers: running tasks, or all if none runs. */
static void print_choices(const pai_json *j, const tasks *t)
{
  size_t left = MOST_SHOWN;

  for (cli_each_task e = cli_tasks_of(j); left > 0 && cli_next_task(&e);) {
    const char *state = cli_json_text(j, e.task.at, "taskState");

    if (t->running > 0 && strcmp(state, "RUNNING") != 0)
      continue;
    (void)fputs("    --task ", stderr);
    print_name(j, (place){ e.role.key, e.task.at });
    (void)fputs("  ", stderr);
    cli_print(stderr, state);
    (void)fputc('\n', stderr);
    left--;
  }
}

/* Reads a typed line; "": none.  Reads no byte beyond it: the rest is for the
 * task. */
static void read_answer(char *text, size_t size)
{
  size_t len = 0;
  char c;

  while (len + 1 < size && cli_terminal_read(&c, 1) == 1 && c != '\n')
    text[len++] = c;
  text[len] = '\0';
}

/* Asks the user for a task.  Returns false, after printing an error, if the
 * answer is not one of them. */
static bool ask(place *out, const pai_json *j, const tasks *t, const char *job)
{
  char answer[300] = "";
  long long number;

  (void)fprintf(stderr, "job %s has several running tasks:\n", job);
  for (size_t i = 0; i < t->running; i++) {
    (void)fprintf(stderr, "  %2zu  ", i + 1);
    print_name(j, t->shown[i]);
    (void)fputc('\n', stderr);
  }
  (void)fprintf(stderr, "which task (1-%zu)? ", t->running);
  (void)fflush(stderr);
  read_answer(answer, sizeof(answer));
  number = answer[0] != '\0' && answer[strspn(answer, "0123456789")] == '\0'
             ? strtoll(answer, NULL, 10)
             : 0;
  if (number > 0 && (size_t)number <= t->running) {
    *out = t->shown[number - 1];
    return true;
  }
  for (size_t i = 0; i < t->running && strchr(answer, '/') != NULL; i++)
    if (is_meant(j, t->shown[i], answer)) {
      *out = t->shown[i];
      return true;
    }
  cli_fail("that is none of the tasks");
  cli_help(stderr, "type its number, or choose it by --task ROLE/INDEX");
  return false;
}

static bool choose(cli_task *out, const pai_json *j, const char *word)
{
  place at;
  tasks t;

  out->attempt = cli_json_number(j, 0, "jobStatus/attemptId", 0);
  look(&t, j, word);
  if (t.meant == 1)
    return take_task(out, j, t.one);
  if (t.running == 1)
    return take_task(out, j, t.shown[0]);
  if (t.running > 1 && t.running <= MOST_SHOWN && cli_terminal_is_input() &&
      cli_is_terminal(stderr))
    return ask(&at, j, &t, out->job) && take_task(out, j, at);
  if (t.count == 0)
    cli_fail("job %s has no tasks", out->job);
  else if (t.meant == 0)
    cli_fail("job %s has no task %s", out->job, word);
  else if (t.running == 0)
    cli_fail("no task of job %s is running", out->job);
  else
    cli_fail("job %s has several running tasks: choose one", out->job);
  print_choices(j, &t);
  return false;
}

bool cli_task_find(cli_task *out, cli_remote *r, const char *job,
                   const char *word)
{
  pai_json *j;
  bool found;

  *out = (cli_task){ .job = cli_whole_name(job) };
  found = out->job != NULL && cli_job_read(r, &j, job);
  if (found) {
    found = choose(out, j, word);
    pai_json_free(j);
  }
  if (!found)
    cli_task_free(out);
  return found;
}

bool cli_task_open(cli_task *out, cli_remote *r, const char *job,
                   const char *word, bool running)
{
  if (!cli_job_name(job) || !cli_task_word(word) || !cli_remote_open(r, false))
    return false;
  if (!cli_task_find(out, r, job, word)) {
    cli_remote_close(r);
    return false;
  }
  if (!running || strcmp(out->state, "RUNNING") == 0)
    return true;
  cli_fail("task %s/%u of %s is not running: it is %s", out->role, out->index,
           out->job, out->state);
  cli_help(stderr, strcmp(out->state, "WAITING") == 0
                     ? "'openpai why JOB' explains why it waits"
                     : "'openpai retry JOB' runs the job again");
  cli_task_close(out, r);
  return false;
}

void cli_task_close(cli_task *t, cli_remote *r)
{
  cli_task_free(t);
  cli_remote_close(r);
}
