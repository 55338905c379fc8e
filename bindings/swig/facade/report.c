/* report.c - what was found in a file, and what differs in two, as JSON */
#include "facade_fields.h"

static void put_fix(json *j, const pai_fix *fix)
{
  json_begin(j, NULL, '{');
  json_text(j, "title", fix->title);
  json_bool(j, "sure", fix->sure != 0);
  json_begin(j, "edits", '[');
  for (size_t i = 0; i < fix->edit_count; i++)
    json_record(j, NULL, fields_TextEdit, fix->edits[i]);
  json_end(j, ']');
  json_end(j, '}');
}

static void put_diagnostic(json *j, const pai_diagnostic *d)
{
  json_begin(j, NULL, '{');
  json_text(j, "severity", facade_severity_name(d->severity));
  json_fields(j, fields_Diagnostic, d);
  json_begin(j, "fixes", '[');
  for (size_t i = 0; i < d->fix_count; i++)
    put_fix(j, d->fixes[i]);
  json_end(j, ']');
  json_end(j, '}');
}

listing facade_report(const pai_report *report, failure *f)
{
  json j;

  json_start(&j);
  json_begin(&j, NULL, '{');
  json_bool(&j, "valid", pai_report_valid(report) != 0);
  json_amount(&j, "version", (uint64_t)pai_report_version(report));
  json_begin(&j, "diagnostics", '[');
  for (size_t i = 0; i < pai_report_count(report); i++)
    put_diagnostic(&j, pai_report_get(report, i));
  json_end(&j, ']');
  json_end(&j, '}');
  return json_finish(&j, f);
}

listing facade_reported(pai_report *report, failure *f)
{
  listing l = { { NULL, 0 } };

  if (f->code >= 0)
    l = facade_report(report, f);
  pai_report_free(report);
  return l;
}

static int put_change(void *user_data, const pai_spec_change *c)
{
  json *j = user_data;

  json_begin(j, NULL, '{');
  json_text(j, "kind", facade_change_name(c->kind));
  json_text(j, "pointer", c->pointer);
  json_raw(j, "old", c->old_value);
  json_raw(j, "new", c->new_value);
  json_end(j, '}');
  return PAI_OK;
}

listing facade_diff(const Job *a, Job *b, failure *f)
{
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  f->code = pai_spec_diff(a, b, put_change, &j, &f->err);
  json_end(&j, ']');
  return (listing){ facade_finished(json_finish(&j, f).json, f) };
}
