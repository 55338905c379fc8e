/* gang.c - jobs of several tasks on a machine of two CPUs */
#include "gang.h"

#include "resource/machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void __real_pai__machine_discover(pai__machine *out);
void __wrap_pai__machine_discover(pai__machine *out);

void __wrap_pai__machine_discover(pai__machine *out)
{
  __real_pai__machine_discover(out);
  out->cpus = 2;
  out->memory_mb = 1 << 20;
  out->gpus = 0;
}

pai_job_id gang_submit(durable *d, const char *name, int tasks,
                       const char *fields, const char *extras,
                       const char *command)
{
  char own[2048] = "";
  const char *at = command, *go;
  pai_job_id id;

  while ((go = strstr(at, "GO")) != NULL) {
    size_t used = strlen(own);

    (void)snprintf(own + used, sizeof(own) - used, "%.*s%s/%s-go",
                   (int)(go - at), at, story_root, name);
    at = go + 2;
  }
  strncat(own, at, sizeof(own) - strlen(own) - 1);
  id = durable_submit_text(
    d, test_string("{protocolVersion: 2, name: %s, type: job, " STORY_IMAGE
                   ", %s extras: {%s}, taskRoles: {a: {dockerImage: x, "
                   "instances: %d, taskRetryCount: 2, resourcePerInstance: "
                   "{cpu: 1, memoryMB: 64, gpu: 0, ports: {http: 1}}, "
                   "commands: ['%s']}}}",
                   name, fields, extras, tasks, own));
  if (id == 0)
    fail_msg("%s", d->code);
  assert_ok(durable_sync(d));
  return id;
}

void gang_go(const char *name)
{
  (void)close(creat(test_string("%s/%s-go", story_root, name), 0600));
}

int gang_count(durable *d, pai_job_id job, const char *state)
{
  char what[64];
  const char *at = durable_show(d, job, -1);
  int n = 0;

  (void)snprintf(what, sizeof(what), "\"taskState\":\"%s\"", state);
  for (; (at = strstr(at, what)) != NULL; at++)
    n++;
  return n;
}

void gang_wait(durable *d, pai_job_id job, const char *state, int tasks)
{
  while (gang_count(d, job, state) != tasks)
    durable_turn(d);
}
