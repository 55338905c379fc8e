/*
 * life.c - the life of a job inside a program that starts tasks itself
 *
 * Usage: life FILE.yaml  A host is made up: it gives each job room at once, and
 * the first task that it starts is lost the first time.  A real one starts
 * and stops tasks where this one prints, and knows a clock.
 */
#include <openpai/openpai.h>

#include <stdio.h>

static int send(pai_job *job, int kind, uint32_t task, uint32_t count,
                int code, pai_error **err)
{
  pai_job_event event = { .struct_size = sizeof(event),
                          .kind = kind,
                          .task = task,
                          .count = count,
                          .code = code };

  return pai_job_send(job, &event, err);
}

/* Does what is to be done: here, it ends at once. */
static int act(pai_job *job, const pai_job_action *a, int *lost,
               pai_error **err)
{
  int code = *lost ? 0 : 137; /* killed, which is not the job's fault */
  int rc;

  switch (a->kind) {
  case PAI_JOB_DO_QUEUE:
  case PAI_JOB_DO_RETURN:
    printf("asks for room\n");
    return send(job, PAI_JOB_PLACED, 0, 0, 0, err);
  case PAI_JOB_DO_START:
    printf("starts task %u\n", a->task);
    rc = send(job, PAI_JOB_TASK_STARTED, a->task, 1, 0, err);
    *lost = 1;
    return rc < 0 ? rc : send(job, PAI_JOB_TASK_ENDED, a->task, 1, code, err);
  default: return PAI_OK;
  }
}

static int live(pai_job *job, pai_error **err)
{
  pai_job_action action = { .struct_size = sizeof(action) };
  pai_job_status status = { .struct_size = sizeof(status) };
  pai_exit_view exit = { .struct_size = sizeof(exit) };
  int lost = 0, rc = 1;

  while (rc >= 0 && (rc = pai_job_next(job, 1, &action)) == 1)
    rc = act(job, &action, &lost, err) < 0 ? -1 : 1;
  if (rc < 0)
    return rc;
  (void)pai_job_look(job, &status);
  (void)pai_exit_find(&exit, status.code);
  printf("%s after %u retries: %s\n", pai_state_name(status.state),
         status.retries, exit.reason);
  return PAI_OK;
}

int main(int argc, char **argv)
{
  pai_error *err = NULL;
  pai_job *job = NULL;
  pai_spec *spec;
  int rc;

  if (argc != 2) {
    (void)fprintf(stderr, "Usage: life FILE.yaml\n");
    return 2;
  }
  rc = pai_spec_load(&spec, argv[1], NULL, &err);
  if (rc == PAI_OK)
    rc = pai_job_new(&job, spec, NULL, &err);
  if (rc == PAI_OK)
    rc = live(job, &err);
  if (rc < 0)
    (void)fprintf(stderr, "life: %s\n", pai_error_message(err));
  pai_error_free(err);
  pai_job_free(job);
  pai_spec_unref(spec);
  return rc < 0;
}
