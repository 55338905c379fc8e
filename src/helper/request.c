/* request.c - the request of the scheduler for a job file */
#include "request.h"

#include "remote.h"

#include <openpai/spec.h>

#include <stdlib.h>
#include <string.h>

static pai_want want_of(const pai_spec *spec, size_t role)
{
  pai_want want = { .struct_size = sizeof(want) };
  pai_role_view r = { .struct_size = sizeof(r) };

  (void)pai_spec_view_role(spec, role, &r);
  want.name = r.name;
  want.tasks = r.instances > 0 ? r.instances : 1;
  want.gpus = r.gpus;
  want.cpus = (uint32_t)(r.milli_cpus / 1000);
  want.cpu_millis = (uint32_t)(r.milli_cpus % 1000);
  want.memory = (uint64_t)r.memory_mb << 20;
  return want;
}

int job_request_make(job_request *r, const char *text, pai_error **err)
{
  pai_job_view job = { .struct_size = sizeof(job) };
  int rc;

  *r = (job_request){ .request = { .struct_size = sizeof(r->request) } };
  rc = pai_spec_parse(&r->spec, text, strlen(text), NULL, err);
  if (rc < 0)
    return rc;
  (void)pai_spec_view_job(r->spec, &job);
  r->wants = calloc(job.roles > 0 ? job.roles : 1, sizeof(*r->wants));
  if (r->wants == NULL) {
    job_request_free(r);
    return PAI_ENOMEM;
  }
  for (size_t i = 0; i < job.roles; i++)
    r->wants[i] = want_of(r->spec, i);
  r->request.id = JOB_REQUEST_ID;
  r->request.name = job.name;
  r->request.vc = job.virtual_cluster;
  r->request.user = cli_user();
  r->request.wants = r->wants;
  r->request.nwants = job.roles;
  return PAI_OK;
}

void job_request_free(job_request *r)
{
  free(r->wants);
  pai_spec_unref(r->spec);
  *r = (job_request){ .spec = NULL };
}
