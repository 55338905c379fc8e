/* facade_spec.c - job files: reading, checking, writing, drafts */
#include "shared.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4 << 20 }; /* bytes that the library takes */

static int discard(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return PAI_OK;
}

/* --- reading and checking ----------------------------------------------- */

Job *facade_parse(const char *text, size_t len, failure *f)
{
  pai_report *report;
  pai_spec *spec;

  f->code = pai_spec_check(&report, &spec, text, len, NULL, &f->err);
  if (f->code == PAI_OK && spec == NULL) {
    f->code = pai_spec_parse(&spec, text, len, NULL, &f->err);
    f->report = report;
  } else {
    pai_report_free(report);
  }
  return spec;
}

Job *facade_load(const char *path, failure *f)
{
  job_text t = facade_read_file(path, MOST, f);
  Job *job = t.bytes != NULL ? facade_parse(t.bytes, t.len, f) : NULL;

  free(t.bytes);
  facade_forget_file(f);
  return job;
}

pai_report *facade_check(const char *text, size_t len, int version, bool hived,
                         failure *f)
{
  pai_spec_options options = PAI_SPEC_OPTIONS_INIT;
  pai_report *report;

  if (version < 0 || version > 2) {
    f->code = PAI_EINVAL;
    f->text = "there are versions 1 and 2";
    return NULL;
  }
  options.version = version;
  options.hived = hived;
  f->code = pai_spec_check(&report, NULL, text, len, &options, &f->err);
  return report;
}

pai_report *facade_check_file(const char *path, int version, bool hived,
                              failure *f)
{
  job_text t = facade_read_file(path, MOST, f);
  pai_report *report = NULL;

  if (t.bytes != NULL)
    report = facade_check(t.bytes, t.len, version, hived, f);
  free(t.bytes);
  facade_forget_file(f);
  return report;
}

/* --- writing ------------------------------------------------------------ */

job_text facade_write(const Job *job, int format, int version, bool secrets,
                      failure *f)
{
  pai_spec_write_options options = PAI_SPEC_WRITE_OPTIONS_INIT;
  job_text t = { NULL, 0 };

  options.format = format;
  options.version = version;
  options.secrets = secrets;
  f->code = pai_spec_write(job, &options, facade_collect, &t, &f->err);
  return facade_finished(t, f);
}

job_text facade_explain(const Job *job, int format, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_spec_explain(job, format, facade_collect, &t, &f->err);
  return facade_finished(t, f);
}

job_text facade_job_get(const Job *job, const char *place, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_spec_get(job, place, facade_collect, &t, &f->err);
  return facade_finished(t, f);
}

const char *facade_missing_secret(const pai_spec *spec, size_t i)
{
  return pai_spec_missing_secret(spec, i, NULL);
}

job_text facade_docker_config(const Job *job, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_spec_docker_config(job, facade_collect, &t, &f->err);
  return facade_finished(t, f);
}

pai_report *facade_v1_report(const Job *job, failure *f)
{
  pai_spec_write_options options = PAI_SPEC_WRITE_OPTIONS_INIT;
  pai_report *report = NULL;

  options.version = 1;
  options.report = &report;
  f->code = pai_spec_write(job, &options, discard, NULL, &f->err);
  return report;
}

job_text facade_schema(int version, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_spec_schema(version, facade_collect, &t, &f->err);
  return facade_finished(t, f);
}

/* --- comparing ---------------------------------------------------------- */

static int collect_change(void *user_data, const pai_spec_change *c)
{
  const char *const parts[] = { facade_change_name(c->kind), c->pointer,
                                c->old_value, c->new_value };

  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
    const char *part = parts[i] != NULL ? parts[i] : "";
    int rc = facade_collect(user_data, part, strlen(part) + 1);
    if (rc < 0)
      return rc;
  }
  return PAI_OK;
}

job_text facade_diff(const Job *a, const Job *b, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_spec_diff(a, b, collect_change, &t, &f->err);
  return facade_finished(t, f);
}

/* --- drafts ------------------------------------------------------------- */

void facade_set(Draft *draft, const char *place, draft_value value, failure *f)
{
  if (value.is_text)
    f->code = pai_draft_set_text(draft, place, value.text, value.len, &f->err);
  else
    f->code = pai_draft_set(draft, place, value.text, &f->err);
}

job_text facade_get(const Draft *draft, const char *place, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_draft_get(draft, place, facade_collect, &t, &f->err);
  return facade_finished(t, f);
}

Job *facade_draft_job(const Draft *draft, failure *f)
{
  size_t len;
  const char *text = pai_draft_text(draft, &len);

  return facade_parse(text, len, f);
}

pai_report *facade_draft_check(const Draft *draft, int version, bool hived,
                               failure *f)
{
  size_t len;
  const char *text = pai_draft_text(draft, &len);

  return facade_check(text, len, version, hived, f);
}
