/*
 * client.c - a job on a server: submits it, shows what its first task prints,
 * and waits for its end
 *
 * Usage: client URL|SOCKET JOB.yaml.  With OPENPAI_USER and OPENPAI_PASSWORD it
 * logs in.
 */
#include <openpai/openpai.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct app {
  pai_client *client;
  pai_spec *spec;
  char job[512]; /* "user~name" */
  int failed;
} app;

static void leave(app *a, const char *why)
{
  if (why != NULL) {
    fprintf(stderr, "%s\n", why);
    a->failed = 1;
  }
  pai_client_close(a->client, NULL,
                   NULL); /* then the loop has no more to do */
}

/* One line for each task of the answer. */
static void print_tasks(const pai_client_answer *answer)
{
  pai_job_record job = { .struct_size = sizeof(job) };
  pai_task_record task = { .struct_size = sizeof(task) };
  pai_json *json;

  if (pai_json_read(&json, answer->body, answer->body_len, NULL, NULL) < 0)
    return;
  (void)pai_json_job(&job, json, 0);
  for (size_t i = 0; i < pai_json_count(json, job.roles); i++) {
    const char *role = pai_json_key(json, job.roles, i);
    size_t tasks = pai_json_tasks(json, pai_json_item(json, job.roles, i));

    for (size_t k = 0; k < pai_json_count(json, tasks); k++)
      if (pai_json_task(&task, json, pai_json_item(json, tasks, k)) == PAI_OK)
        printf("  %s/%zu %s on %s\n", role, k, pai_state_name(task.state),
               task.node != NULL ? task.node : "no node");
  }
  pai_json_free(json);
}

static void on_end(void *user_data, int status,
                   const pai_client_answer *answer)
{
  app *a = user_data;

  if (status < 0) {
    leave(a, pai_error_message(answer->err));
    return;
  }
  printf("%s %s, exit code %d\n", a->job, answer->state, answer->exit_code);
  print_tasks(answer);
  a->failed = strcmp(answer->state, "SUCCEEDED") != 0;
  leave(a, NULL);
}

static int on_data(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  fwrite(bytes, 1, len, stdout);
  return 0; /* a negative number would end it */
}

static void on_log_end(void *user_data, int status,
                       const pai_client_answer *answer)
{
  app *a = user_data;

  if (status < 0)
    fprintf(stderr, "no log: %s\n", pai_error_message(answer->err));
  if (status == PAI_ECANCELED)
    return;
  if (pai_client_wait(NULL, a->client, a->job, on_end, a, NULL) < 0)
    leave(a, "out of memory");
}

static void on_submitted(void *user_data, int status,
                         const pai_client_answer *answer)
{
  pai_client_log_options log = PAI_CLIENT_LOG_OPTIONS_INIT;
  app *a = user_data;

  if (status < 0) {
    leave(a, pai_error_message(answer->err));
    return;
  }
  printf("%s is submitted\n", a->job);
  log.job = a->job;
  log.role = pai_spec_role_name(a->spec, 0);
  log.follow = 1;
  log.on_data = on_data;
  if (pai_client_logs(NULL, a->client, &log, on_log_end, a, NULL) < 0)
    leave(a, "out of memory");
}

static void on_retry(void *user_data, const pai_client_retry *retry)
{
  (void)user_data;
  fprintf(stderr, "%s: again in %.1f s\n", pai_error_message(retry->err),
          (double)retry->wait / 1e6);
}

static int begin(app *a, pai_loop *loop, const char *server, pai_error **err)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  pai_client_job_file job = PAI_CLIENT_JOB_FILE_INIT;
  int rc;

  if (server[0] == '/')
    options.socket = server;
  else
    options.url = server;
  options.user = getenv("OPENPAI_USER");
  options.password = getenv("OPENPAI_PASSWORD");
  options.on_retry = on_retry;
  rc = pai_client_new(&a->client, loop, &options, err);
  if (rc < 0)
    return rc;
  snprintf(a->job, sizeof(a->job), "%s%s%s",
           options.user != NULL ? options.user : "",
           options.user != NULL ? "~" : "", pai_spec_name(a->spec));
  job.spec = a->spec;
  return pai_client_submit(NULL, a->client, &job, on_submitted, a, err);
}

int main(int argc, char **argv)
{
  app a = { 0 };
  pai_loop *loop = NULL;
  pai_error *err = NULL;
  int rc;

  if (argc != 3) {
    fprintf(stderr, "usage: client URL|SOCKET JOB.yaml\n");
    return 2;
  }
  rc = pai_spec_load(&a.spec, argv[2], NULL, &err);
  if (rc == PAI_OK)
    rc = pai_loop_new(&loop, NULL, &err);
  if (rc == PAI_OK)
    rc = begin(&a, loop, argv[1], &err);
  if (rc < 0) {
    leave(&a, pai_error_message(err));
    pai_error_free(err);
  }
  if (loop != NULL)
    (void)!pai_loop_run(loop);
  pai_loop_free(loop);
  pai_spec_unref(a.spec);
  return a.failed;
}
