/* api_box.c - the platform and the server that are asked */
#include "api.h"

#include <stdio.h>
#include <unistd.h>

api_box api;

static int on_event(void *unused, const pai_event *event)
{
  (void)unused;
  api.ended += pai_event_type(event) == PAI_EVENT_JOB &&
               pai_event_state(event) >= PAI_STATE_SUCCEEDED;
  if (pai_event_type(event) == PAI_EVENT_JOB &&
      pai_event_state(event) == PAI_STATE_RUNNING)
    api.running = (int)pai_event_job(event);
  return 0;
}

int api_submit(const char *name, int cpus, const char *command)
{
  pai_submit_options o = PAI_SUBMIT_OPTIONS_INIT;
  pai_error *err = NULL;
  char text[1024];
  pai_spec *spec;
  pai_job_id id;
  int rc;

  (void)snprintf(text, sizeof(text), API_JOB, name, cpus, command);
  rc = pai_spec_parse(&spec, text, strlen(text), NULL, &err);
  o.text = text;
  if (rc == PAI_OK)
    rc = pai_platform_submit_as(&id, api.platform, spec, &o, &err);
  if (rc < 0)
    (void)fprintf(stderr, "%s\n", pai_error_message(err));
  pai_error_free(err);
  pai_spec_unref(spec);
  return rc < 0 ? rc : (int)id;
}

/* Before the platform has the database. */
static int fill(size_t jobs,
                int (*put_job)(pai__batch *batch, uint64_t id, void *data),
                void *data)
{
  enum { GROUP = 1000 };
  pai__store *store;
  pai__batch *batch;
  uint64_t id = 0;
  int rc = pai__store_open(&store, &pai__libc_alloc, api.root, NULL, NULL);

  if (rc < 0)
    return rc;
  rc = pai__batch_new(&batch, store, NULL);
  while (rc == PAI_OK && id < jobs) {
    pai__batch_clear(batch);
    for (int i = 0; i < GROUP && id < jobs && rc == PAI_OK; i++)
      rc = put_job(batch, ++id, data);
    if (rc == PAI_OK)
      rc = pai__store_commit(store, batch, NULL);
  }
  pai__batch_free(batch);
  pai__store_close(store);
  return rc;
}

int api_open(size_t jobs,
             int (*put_job)(pai__batch *batch, uint64_t id, void *data),
             void *data)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_server_options so = PAI_SERVER_OPTIONS_INIT;

  api.ended = api.running = 0;
  api.cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (bench_make_folder(api.root) < 0 ||
      pai_loop_new(&api.loop, NULL, NULL) < 0 || fill(jobs, put_job, data) < 0)
    return -1;
  (void)snprintf(api.socket, sizeof(api.socket), "%s/socket", api.root);
  o.root = api.root;
  o.durable = 1;
  o.runtime = "process";
  o.user = "bench";
  o.on_event = on_event;
  so.socket = api.socket;
  return pai_platform_new(&api.platform, api.loop, &o, NULL) < 0 ||
             pai_server_new(&api.server, api.loop, api.platform, &so, NULL) < 0
           ? -1
           : 0;
}

/* First those that wait, so that none begins. */
static void stop_jobs(int first)
{
  int last = api_submit("last", api.cpus, "true");
  int left = api.ended + last - first + 1;

  for (int id = last; id >= first; id--)
    (void)!pai_platform_stop(api.platform, (pai_job_id)id);
  while (api.ended < left && pai_loop_run_once(api.loop) > 0)
    ;
}

void api_close(int first)
{
  if (first > 0)
    stop_jobs(first);
  pai_server_close(api.server, NULL, NULL);
  pai_platform_close(api.platform, NULL, NULL);
  (void)!pai_loop_run(api.loop);
  pai_loop_free(api.loop);
  bench_remove(api.root);
}
