/* records.c - job records of a durable platform */
#include "facade_platform.h"
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static listing listed(job_text t, const failure *f)
{
  return (listing){ facade_finished(t, f) };
}

pai_job_id records_find(Platform *p, const char *name, failure *f)
{
  pai_job_id id = 0;

  if (!platform_take(p, f))
    return 0;
  if (!platform_room(p))
    facade_fail(f, PAI_ENOMEM, "out of memory");
  else
    f->code = pai_platform_find(&id, p->platform, name, &f->err);
  if (f->code == PAI_OK)
    platform_expect(p, id);
  platform_give(p);
  return id;
}

listing records_list(Platform *p, words fields, failure *f)
{
  pai_job_query query = PAI_JOB_QUERY_INIT;
  job_text t = { NULL, 0 };

  if (!options_read(&query, options_query, &fields, f) || !platform_take(p, f))
    return listed(t, f);
  f->code =
    pai_platform_list(p->platform, &query, facade_collect, &t, &f->err);
  platform_give(p);
  return listed(t, f);
}

job_text records_config(Platform *p, pai_job_id job, const char *format,
                        failure *f)
{
  job_text t = { NULL, 0 };

  if (strcmp(format, "yaml") != 0 && strcmp(format, "json") != 0) {
    facade_fail(f, PAI_EINVAL, "a format is yaml or json");
    return t;
  }
  if (!platform_take(p, f))
    return t;
  f->code = pai_platform_config(
    p->platform, job, format[0] == 'y' ? PAI_FORMAT_YAML : PAI_FORMAT_JSON,
    facade_collect, &t, &f->err);
  platform_give(p);
  return facade_finished(t, f);
}

/* --- changes ----------------------------------------------------------------- */

void records_tag(Platform *p, pai_job_id job, const char *tag, bool has,
                 failure *f)
{
  if (!platform_enter(p, f))
    return;
  f->code = has ? pai_platform_tag(p->platform, job, tag, &f->err)
                : pai_platform_untag(p->platform, job, tag, &f->err);
  if (f->code == PAI_OK)
    platform_sync(p, f);
  platform_leave(p, f);
}

void records_backup(Platform *p, const char *path, failure *f)
{
  platform_promise promise = { f, false };

  if (!platform_enter(p, f))
    return;
  f->code =
    pai_platform_backup(p->platform, path, platform_synced, &promise, &f->err);
  platform_await(p, &promise);
  platform_leave(p, f);
}

static int put(void *user_data, const char *bytes, size_t len)
{
  return fwrite(bytes, 1, len, user_data) == len ? PAI_OK : PAI_EIO;
}

static void fail_file(failure *f, const char *path)
{
  f->error = errno;
  facade_fail(f, PAI_EIO, "the file cannot be written");
  f->file = strdup(path);
}

void records_export(Platform *p, const char *path, failure *f)
{
  FILE *out;

  if (!platform_take(p, f))
    return;
  out = fopen(path, "we");
  if (out == NULL) {
    fail_file(f, path);
  } else {
    f->code = pai_platform_export(p->platform, 0, 0, put, out, &f->err);
    if (fclose(out) != 0 && f->code == PAI_OK)
      fail_file(f, path);
  }
  platform_give(p);
}
