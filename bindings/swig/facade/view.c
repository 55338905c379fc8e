/* view.c - views of a job: task roles and prerequisites as JSON */
#include "facade_fields.h"
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
  json_fields(j, fields_Role, r);
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
  json_fields(j, fields_Prerequisite, p);
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
