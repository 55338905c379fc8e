/* log_tasks.c - the tasks of jobs whose logs are printed */
#include "log_tasks.h"

#include <stdlib.h>
#include <string.h>

void cli_log_tasks_free(cli_log_tasks *tasks)
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
                uint32_t index)
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
  *t =
    (cli_log_task){ .job = strdup(job), .role = strdup(role), .index = index };
  return (t->job != NULL && t->role != NULL) || out_of_memory();
}

/* Whether a role is the one that a word begins with: as the API has it, or as
 * the job file, whose letters and digits the API has in lower case. */
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

static bool is_meant(const char *word, const char *role, int64_t index)
{
  size_t len = word != NULL ? strcspn(word, "/") : 0;

  return word == NULL ||
         (is_role(role, word, len) &&
          (word[len] == '\0' || strtoll(word + len + 1, NULL, 10) == index));
}

static bool add_tasks(cli_log_tasks *tasks, const cli_json *j, const char *job,
                      const char *word)
{
  size_t roles = cli_json_get(j, 0, "taskRoles");

  for (size_t i = roles != 0 ? cli_json_first(j, roles) : 0; i != 0;
       i = cli_json_next(j, roles, i)) {
    size_t list = cli_json_get(j, i, "taskStatuses");

    for (size_t t = list != 0 ? cli_json_first(j, list) : 0; t != 0;
         t = cli_json_next(j, list, t)) {
      int64_t index = cli_json_number(j, t, "taskIndex", 0);

      if (is_meant(word, j->values[i].key, index) &&
          !add(tasks, job, j->values[i].key, (uint32_t)index))
        return false;
    }
  }
  return true;
}

static void tell(const cli_json *j)
{
  size_t roles = cli_json_get(j, 0, "taskRoles");
  const char *comma = "";

  (void)fprintf(stderr, "  help: its tasks are ");
  for (size_t i = roles != 0 ? cli_json_first(j, roles) : 0; i != 0;
       i = cli_json_next(j, roles, i)) {
    size_t list = cli_json_get(j, i, "taskStatuses"), last = 0;

    for (size_t t = list != 0 ? cli_json_first(j, list) : 0; t != 0;
         t = cli_json_next(j, list, t))
      last = t;
    (void)fprintf(stderr, "%s%s/0", comma, j->values[i].key);
    if (last != 0 && cli_json_number(j, last, "taskIndex", 0) > 0)
      (void)fprintf(stderr, " to %lld",
                    (long long)cli_json_number(j, last, "taskIndex", 0));
    comma = ", ";
  }
  (void)fprintf(stderr, "; its latest attempt is %lld\n",
                (long long)cli_json_number(j, cli_json_get(j, 0, "jobStatus"),
                                           "attemptId", 0));
}

void cli_log_tasks_tell(cli_remote *r, const char *job)
{
  char *path = cli_job_path(job, "");
  cli_answer a;
  cli_json j;

  if (path == NULL)
    return;
  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  if (a.status == PAI_OK && cli_json_read(&j, a.body, a.len)) {
    tell(&j);
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  free(path);
}

bool cli_log_tasks_add(cli_log_tasks *tasks, cli_remote *r, const char *job,
                       const cli_log_options *o)
{
  size_t before = tasks->count;
  char *path = cli_job_path(job, "");
  cli_json j;
  bool good;

  if (path == NULL)
    return out_of_memory();
  good = cli_remote_get(r, &j, path);
  free(path);
  if (!good)
    return false;
  good = add_tasks(tasks, &j, job, o->task);
  if (good && tasks->count == before) {
    if (o->task == NULL) {
      cli_fail("job %s has no tasks", job);
    } else {
      cli_fail("job %s has no task %s", job, o->task);
      tell(&j);
    }
    good = false;
  }
  cli_json_free(&j);
  return good;
}

bool cli_log_tasks_label(cli_log_tasks *tasks, bool jobs)
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
