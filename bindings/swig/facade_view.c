/* facade_view.c - what a job says, for the languages to take apart */
#include "shared.h"

static void put_ports(json *j, const Job *job, size_t role)
{
  pai_port_view port = { .struct_size = sizeof(port) };
  size_t i = 0;

  json_begin(j, "ports", '{');
  for (; pai_spec_view_port(job, role, i, &port) == PAI_OK; i++)
    json_number(j, port.label, port.count);
  json_end(j, '}');
}

static void put_role(json *j, const Job *job, size_t i, const pai_role_view *r)
{
  const char *name;

  json_begin(j, NULL, '{');
  json_text(j, "name", r->name);
  json_number(j, "instances", r->instances);
  json_number(j, "cpus", r->cpus);
  json_number(j, "memory_mb", r->memory_mb);
  json_number(j, "gpus", r->gpus);
  json_text(j, "script", r->script);
  json_number(j, "min_failed", r->min_failed);
  json_number(j, "min_succeeded", r->min_succeeded);
  json_number(j, "task_retry_count", r->task_retry_count);
  json_number(j, "shm_mb", r->shm_mb);
  json_bool(j, "infiniband", r->infiniband);
  json_text(j, "image", r->image);
  json_text(j, "data", r->data);
  json_text(j, "output", r->output);
  json_text(j, "script_name", r->script_name);
  put_ports(j, job, i);
  json_begin(j, "prerequisites", '[');
  for (size_t k = 0; (name = pai_spec_role_prerequisite(job, i, k)); k++)
    json_text(j, NULL, name);
  json_end(j, ']');
  json_end(j, '}');
}

listing facade_roles(const Job *job, failure *f)
{
  pai_role_view role = { .struct_size = sizeof(role) };
  size_t i = 0;
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  for (; pai_spec_view_role(job, i, &role) == PAI_OK; i++)
    put_role(&j, job, i, &role);
  json_end(&j, ']');
  return json_finish(&j, f);
}

static void put_prerequisite(json *j, const Job *job, size_t i,
                             const pai_prerequisite_view *p)
{
  const char *uri;

  json_begin(j, NULL, '{');
  json_text(j, "type", p->type);
  json_text(j, "name", p->name);
  json_text(j, "plugin", p->plugin);
  json_bool(j, "has_auth", p->has_auth);
  json_begin(j, "uris", '[');
  for (size_t k = 0; (uri = pai_spec_prerequisite_uri(job, i, k)); k++)
    json_text(j, NULL, uri);
  json_end(j, ']');
  json_end(j, '}');
}

listing facade_prerequisites(const Job *job, failure *f)
{
  pai_prerequisite_view p = { .struct_size = sizeof(p) };
  size_t i = 0;
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  for (; pai_spec_view_prerequisite(job, i, &p) == PAI_OK; i++)
    put_prerequisite(&j, job, i, &p);
  json_end(&j, ']');
  return json_finish(&j, f);
}

pai_job_view facade_job_view(const Job *job)
{
  pai_job_view view = { .struct_size = sizeof(view) };

  (void)pai_spec_view_job(job, &view);
  return view;
}
