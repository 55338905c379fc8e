/* facade_view.c - what a job says, as JSON for the languages to take apart */
#include "facade.h"

#include <stdio.h>
#include <stdlib.h>

/* --- writing; only what is there ------------------------------------------ */

static void put_string(FILE *out, const char *s)
{
  (void)fputc('"', out);
  for (; *s != '\0'; s++)
    if (*s == '"' || *s == '\\')
      (void)fprintf(out, "\\%c", *s);
    else if ((unsigned char)*s < 0x20)
      (void)fprintf(out, "\\u%04x", (unsigned)(unsigned char)*s);
    else
      (void)fputc(*s, out);
  (void)fputc('"', out);
}

static void put_text(FILE *out, const char *name, const char *value)
{
  if (value == NULL)
    return;
  (void)fprintf(out, ",\"%s\":", name);
  put_string(out, value);
}

static void put_number(FILE *out, const char *name, long long value)
{
  (void)fprintf(out, ",\"%s\":%lld", name, value);
}

static void put_bool(FILE *out, const char *name, bool value)
{
  (void)fprintf(out, ",\"%s\":%s", name, value ? "true" : "false");
}

/* --- the views ------------------------------------------------------------ */

static void put_ports(FILE *out, const Job *job, size_t role)
{
  pai_port_view port = { .struct_size = sizeof(port) };
  size_t i = 0;

  (void)fputs(",\"ports\":{", out);
  for (; pai_spec_view_port(job, role, i, &port) == PAI_OK; i++) {
    if (i > 0)
      (void)fputc(',', out);
    put_string(out, port.label);
    (void)fprintf(out, ":%lu", (unsigned long)port.count);
  }
  (void)fputc('}', out);
}

static void put_role(FILE *out, const Job *job, size_t i,
                     const pai_role_view *r)
{
  const char *name;

  (void)fputs("{\"name\":", out);
  put_string(out, r->name);
  put_number(out, "instances", r->instances);
  put_number(out, "cpus", r->cpus);
  put_number(out, "memory_mb", r->memory_mb);
  put_number(out, "gpus", r->gpus);
  put_text(out, "script", r->script);
  put_number(out, "min_failed", r->min_failed);
  put_number(out, "min_succeeded", r->min_succeeded);
  put_number(out, "task_retry_count", r->task_retry_count);
  put_number(out, "shm_mb", r->shm_mb);
  put_bool(out, "infiniband", r->infiniband);
  put_text(out, "image", r->image);
  put_text(out, "data", r->data);
  put_text(out, "output", r->output);
  put_text(out, "script_name", r->script_name);
  put_ports(out, job, i);
  (void)fputs(",\"prerequisites\":[", out);
  for (size_t k = 0; (name = pai_spec_role_prerequisite(job, i, k)); k++) {
    if (k > 0)
      (void)fputc(',', out);
    put_string(out, name);
  }
  (void)fputs("]}", out);
}

static void put_roles(FILE *out, const Job *job)
{
  pai_role_view role = { .struct_size = sizeof(role) };
  size_t i = 0;

  for (; pai_spec_view_role(job, i, &role) == PAI_OK; i++) {
    if (i > 0)
      (void)fputc(',', out);
    put_role(out, job, i, &role);
  }
}

static void put_prerequisites(FILE *out, const Job *job)
{
  pai_prerequisite_view p = { .struct_size = sizeof(p) };
  const char *uri;
  size_t i = 0;

  for (; pai_spec_view_prerequisite(job, i, &p) == PAI_OK; i++) {
    if (i > 0)
      (void)fputc(',', out);
    (void)fputs("{\"type\":", out);
    put_string(out, p.type);
    put_text(out, "name", p.name);
    put_text(out, "plugin", p.plugin);
    put_bool(out, "has_auth", p.has_auth);
    (void)fputs(",\"uris\":[", out);
    for (size_t k = 0; (uri = pai_spec_prerequisite_uri(job, i, k)); k++) {
      if (k > 0)
        (void)fputc(',', out);
      put_string(out, uri);
    }
    (void)fputs("]}", out);
  }
}

static job_text listed(void (*put)(FILE *out, const Job *job), const Job *job,
                       failure *f)
{
  job_text t = { NULL, 0 };
  FILE *out = open_memstream(&t.bytes, &t.len);

  if (out != NULL) {
    (void)fputc('[', out);
    put(out, job);
    (void)fputc(']', out);
    if (fclose(out) == 0) /* tells of failed writes, too */
      return t;
    free(t.bytes);
  }
  f->code = PAI_ENOMEM;
  return (job_text){ NULL, 0 };
}

job_text facade_roles(const Job *job, failure *f)
{
  return listed(put_roles, job, f);
}

job_text facade_prerequisites(const Job *job, failure *f)
{
  return listed(put_prerequisites, job, f);
}

pai_job_view facade_job_view(const Job *job)
{
  pai_job_view view = { .struct_size = sizeof(view) };

  (void)pai_spec_view_job(job, &view);
  return view;
}
