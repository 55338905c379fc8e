/* tasks_json.c - the tasks of one job for programs: an object on one line */
#include "tasks.h"

#include "jobs.h"

#include <string.h>

/* -1 is null. */
static void member(FILE *to, const char *key, int64_t value)
{
  if (value < 0)
    (void)fprintf(to, ",\"%s\":null", key);
  else
    (void)fprintf(to, ",\"%s\":%lld", key, (long long)value);
}

/* What is known: nothing of GPUs where there ought to be some. */
static void print_gpus_json(FILE *to, const cli_task_row *r)
{
  if (r->use.count == 0 && r->v->usage->gpus != 0) {
    (void)fputs(",\"gpus\":null", to);
    return;
  }
  (void)fputs(",\"gpus\":[", to);
  for (size_t i = 0; i < r->use.count; i++) {
    const cli_gpu_use *g = &r->use.gpus[i];

    (void)fprintf(to, "%s{\"number\":%d", i > 0 ? "," : "", g->number);
    member(to, "busyPercent", g->busy);
    member(to, "memoryUsed", g->memory);
    member(to, "memoryTotal", g->memory_total);
    (void)fputc('}', to);
  }
  (void)fputc(']', to);
}

static void print_task_json(FILE *to, cli_task_row *r)
{
  static const char *const times[][2] = {
    { "createdTime", "currentAttemptCreatedTime" },
    { "launchedTime", "currentAttemptLaunchedTime" },
    { "completedTime", "currentAttemptCompletedTime" },
  };
  const cli_json *j = r->v->job;
  int64_t code = cli_told_task_code(j, r->task);

  cli_task_find_use(r);
  (void)fputs("{\"role\":", to);
  cli_json_string(to, r->role, strlen(r->role));
  (void)fprintf(to, ",\"index\":%u,\"state\":", r->index);
  cli_json_string(to, r->state, strlen(r->state));
  member(to, "retries", cli_json_number(j, r->task, "retries", -1));
  for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
    member(to, times[i][0], cli_json_number(j, r->task, times[i][1], -1));
  if (code == INT64_MIN)
    (void)fputs(",\"code\":null", to);
  else
    (void)fprintf(to, ",\"code\":%lld", (long long)code);
  member(to, "cpuPercent", r->use.cpu);
  member(to, "memory", r->use.memory);
  print_gpus_json(to, r);
  (void)fputc('}', to);
}

void cli_print_tasks_json(FILE *to, const cli_job_view *v)
{
  const char *state =
    cli_json_text(v->job, cli_json_get(v->job, 0, "jobStatus"), "state");
  const char *comma = "";
  cli_task_row r = { .v = v };

  (void)fputs("{\"name\":", to);
  cli_json_string(to, v->name, strlen(v->name));
  (void)fputs(",\"state\":", to);
  cli_json_string(to, state, strlen(state));
  (void)fputs(",\"tasks\":[", to);
  for (; cli_next_task(&r); comma = ",") {
    (void)fputs(comma, to);
    print_task_json(to, &r);
  }
  (void)fputs("]}\n", to);
}
