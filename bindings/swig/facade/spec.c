/* spec.c - job files: reading, checking, writing, drafts */
#include "shared.h"

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

pai_report *facade_findings(const char *text, size_t len, int version,
                            bool hived, failure *f)
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

listing facade_check(const char *text, size_t len, int version, bool hived,
                     failure *f)
{
  return facade_reported(facade_findings(text, len, version, hived, f), f);
}

/* --- writing ------------------------------------------------------------ */

job_text facade_write(const Job *job, int format, bool secrets, failure *f)
{
  pai_spec_write_options options = PAI_SPEC_WRITE_OPTIONS_INIT;
  job_text t = { NULL, 0 };

  options.format = format;
  options.secrets = secrets;
  f->code = pai_spec_write(job, &options, facade_collect, &t, &f->err);
  return facade_finished(t, f);
}

const char *facade_missing_secret(const pai_spec *spec, size_t i)
{
  return pai_spec_missing_secret(spec, i, NULL);
}

/* --- drafts ------------------------------------------------------------- */

void facade_draft_set(Draft *draft, const char *place, draft_value value,
                      failure *f)
{
  if (value.is_text)
    f->code = pai_draft_set_text(draft, place, value.text, value.len, &f->err);
  else
    f->code = pai_draft_set(draft, place, value.text, &f->err);
}

Job *facade_draft_job(const Draft *draft, failure *f)
{
  size_t len;
  const char *text = pai_draft_text(draft, &len);

  return facade_parse(text, len, f);
}

listing facade_draft_check(const Draft *draft, int version, bool hived,
                           failure *f)
{
  size_t len;
  const char *text = pai_draft_text(draft, &len);

  return facade_check(text, len, version, hived, f);
}
