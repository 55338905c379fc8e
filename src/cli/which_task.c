/* which_task.c - the task of a job that a word means, or that the user chooses */
#include "cells.h"
#include "jobs.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 50 };

bool cli_task_word(const cli_verb *verb, const char *word)
{
  const char *slash = word != NULL ? strchr(word, '/') : NULL;

  if (word == NULL || (word[0] != '\0' && word[0] != '/' &&
                       (slash == NULL ||
                        (slash[1] != '\0' && strlen(slash) < 10 &&
                         slash[1 + strspn(slash + 1, "0123456789")] == '\0'))))
    return true;
  cli_misused(verb, "a task is ROLE/INDEX, not", word);
  return false;
}

void cli_task_free(cli_task *t)
{
  free(t->job);
  free(t->role);
  *t = (cli_task){ 0 };
}

static void keep(char *to, size_t size, const char *text)
{
  (void)snprintf(to, size, "%s", text);
}

/* A task in the JSON of its job. */
typedef struct place {
  size_t role, task;
} place;

static bool take_task(cli_task *out, const cli_json *j, place at)
{
  size_t ports = cli_json_get(j, at.task, "containerPorts");

  out->role = strdup(j->values[at.role].key);
  out->index = (uint32_t)cli_json_number(j, at.task, "taskIndex", 0);
  keep(out->state, sizeof(out->state), cli_json_text(j, at.task, "taskState"));
  keep(out->ip, sizeof(out->ip), cli_json_text(j, at.task, "containerIp"));
  out->ssh_port[0] = '\0';
  if (ports != 0)
    keep(out->ssh_port, sizeof(out->ssh_port), cli_json_text(j, ports, "ssh"));
  out->exit_code = cli_told_task_code(j, at.task);
  if (out->role == NULL)
    cli_fail("out of memory");
  return out->role != NULL;
}

/* Tasks of a job: all, those that a word means, and of these those that run. */
typedef struct tasks {
  size_t count, meant, running;
  place one;               /* the first that was meant */
  place shown[MOST_SHOWN]; /* the first that run */
} tasks;

static bool is_meant(const cli_json *j, place at, const char *word)
{
  size_t len = word != NULL ? strcspn(word, "/") : 0;
  const char *key = j->values[at.role].key;

  return word == NULL ||
         (strlen(key) == len && strncmp(key, word, len) == 0 &&
          (word[len] == '\0' || cli_json_number(j, at.task, "taskIndex", -1) ==
                                  strtoll(word + len + 1, NULL, 10)));
}

static void add(tasks *t, const cli_json *j, place at, const char *word)
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

static void look(tasks *t, const cli_json *j, const char *word)
{
  size_t roles = cli_json_get(j, 0, "taskRoles");

  *t = (tasks){ 0 };
  for (size_t r = roles != 0 ? cli_json_first(j, roles) : 0; r != 0;
       r = cli_json_next(j, roles, r)) {
    size_t list = cli_json_get(j, r, "taskStatuses");

    for (size_t i = list != 0 ? cli_json_first(j, list) : 0; i != 0;
         i = cli_json_next(j, list, i))
      add(t, j, (place){ r, i }, word);
  }
}

static void print_name(const cli_json *j, place at)
{
  cli_print(stderr, j->values[at.role].key);
  (void)fprintf(stderr, "/%lld",
                (long long)cli_json_number(j, at.task, "taskIndex", 0));
}

/* What may be typed: those that run; if none does, all. */
static void print_choices(const cli_json *j, const tasks *t)
{
  size_t roles = cli_json_get(j, 0, "taskRoles"), left = MOST_SHOWN;

  for (size_t r = roles != 0 ? cli_json_first(j, roles) : 0; r != 0;
       r = cli_json_next(j, roles, r)) {
    size_t list = cli_json_get(j, r, "taskStatuses");

    for (size_t i = list != 0 ? cli_json_first(j, list) : 0;
         i != 0 && left > 0; i = cli_json_next(j, list, i)) {
      const char *state = cli_json_text(j, i, "taskState");

      if (t->running > 0 && strcmp(state, "RUNNING") != 0)
        continue;
      (void)fputs("    --task ", stderr);
      print_name(j, (place){ r, i });
      (void)fputs("  ", stderr);
      cli_print(stderr, state);
      (void)fputc('\n', stderr);
      left--;
    }
  }
}

/* A line that was typed; "": none.  Not a byte more is read: what follows is for
 * the task. */
static void read_answer(char *text, size_t size)
{
  size_t len = 0;
  char c;

  while (len + 1 < size && cli_terminal_read(&c, 1) == 1 && c != '\n')
    text[len++] = c;
  text[len] = '\0';
}

/* Asks which one.  False, and told: the answer is none of them. */
static bool ask(place *out, const cli_json *j, const tasks *t, const char *job)
{
  char answer[300];
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

static bool choose(cli_task *out, const cli_json *j, const char *word)
{
  size_t status = cli_json_get(j, 0, "jobStatus");
  place at;
  tasks t;

  if (status != 0)
    out->attempt = cli_json_number(j, status, "attemptId", 0);
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
  char *path = cli_job_path(job, "");
  cli_json j;
  bool found;

  *out = (cli_task){ .job = cli_whole_name(job) };
  if (path == NULL || out->job == NULL) {
    cli_fail("out of memory");
    free(path);
    cli_task_free(out);
    return false;
  }
  found = cli_remote_get(r, &j, path);
  free(path);
  if (found) {
    found = choose(out, &j, word);
    cli_json_free(&j);
  }
  if (!found)
    cli_task_free(out);
  return found;
}
