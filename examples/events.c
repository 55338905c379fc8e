/*
 * events.c - jobs inside a program that has a poll() loop of its own
 *
 * Usage: events JOB.yaml...  Submits all jobs, prints what happens to them,
 * and stops them when standard input says "stop".
 */
#include <openpai/openpai.h>

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct app {
  pai_platform *platform;
  pai_job_id jobs[16];
  int njobs, running, failed;
} app;

static int on_event(void *user_data, const pai_event *event)
{
  int state = pai_event_state(event);
  app *a = user_data;
  size_t len;
  const char *text = pai_event_text(event, &len);

  if (pai_event_type(event) == PAI_EVENT_OUTPUT) {
    fwrite(text, 1, len, stdout);
  } else if (pai_event_type(event) == PAI_EVENT_JOB) {
    printf("job %llu %s %s\n", (unsigned long long)pai_event_job(event),
           pai_state_name(state), text);
    if (state < PAI_STATE_SUCCEEDED)
      return 0;
    a->failed += state != PAI_STATE_SUCCEEDED;
    if (--a->running == 0) /* the loop ends when this is done */
      pai_platform_close(a->platform, NULL, NULL);
  }
  return 0;
}

static int submit(app *a, const char *path, pai_error **err)
{
  pai_spec *job;
  int rc = pai_spec_load(&job, path, NULL, err);

  if (rc == PAI_OK)
    rc = pai_platform_submit(&a->jobs[a->njobs], a->platform, job, err);
  if (rc == PAI_OK) {
    a->njobs++;
    a->running++;
  }
  pai_spec_unref(job); /* the platform keeps a reference of its own */
  return rc;
}

/* False: there is no more to read. */
static bool read_command(const app *a)
{
  char line[100];
  ssize_t n = read(STDIN_FILENO, line, sizeof(line));

  if (n >= 4 && memcmp(line, "stop", 4) == 0)
    for (int i = 0; i < a->njobs; i++)
      pai_platform_stop(a->platform, a->jobs[i]); /* or it is over */
  return n > 0;
}

/* The program's own loop, which the library takes part in. */
static void run(const app *a, pai_loop *loop)
{
  struct pollfd fds[2] = { { pai_loop_fd(loop), POLLIN, 0 },
                           { STDIN_FILENO, POLLIN, 0 } };

  while (pai_loop_dispatch(loop) > 0) {
    if (poll(fds, 2, pai_loop_timeout_ms(loop)) > 0 && fds[1].revents != 0 &&
        !read_command(a))
      fds[1].fd = -1; /* poll() passes over it */
  }
}

int main(int argc, char **argv)
{
  pai_platform_options options = PAI_PLATFORM_OPTIONS_INIT;
  app a = { 0 };
  pai_loop *loop = NULL;
  pai_error *err = NULL;
  int rc;

  options.on_event = on_event;
  options.user_data = &a;
  rc = pai_loop_new(&loop, NULL, &err);
  if (rc == PAI_OK)
    rc = pai_platform_new(&a.platform, loop, &options, &err);
  for (int i = 1; rc == PAI_OK && i < argc && i <= 16; i++)
    rc = submit(&a, argv[i], &err);
  if (rc < 0)
    fprintf(stderr, "%s\n", pai_error_message(err));
  if (rc < 0 || a.njobs == 0)
    pai_platform_close(a.platform, NULL, NULL);
  if (loop != NULL)
    run(&a, loop);
  pai_loop_free(loop);
  pai_error_free(err);
  return rc < 0 || a.failed > 0;
}
