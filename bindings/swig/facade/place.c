/* place.c - places in job files, and fixes, for editors */
#include "facade_fields.h"
#include "shared.h"

#include <stdlib.h>

enum { MOST_ROUNDS = 30 }; /* a fix may reveal another mistake */

/* Applies once all fixes that are sure. Returns their number; *t is the new
 * text. */
static int fix_once(job_text *t, const char *text, size_t len, int version,
                    bool hived, failure *f)
{
  pai_report *report = facade_findings(text, len, version, hived, f);
  int count = 0;

  if (report == NULL)
    return 0;
  *t = (job_text){ NULL, 0 };
  count = pai_report_fix(report, text, len, NULL, facade_collect, t, &f->err);
  f->code = count < 0 ? count : PAI_OK;
  pai_report_free(report);
  return count;
}

job_text facade_fix(const char *text, size_t len, int version, bool hived,
                    failure *f)
{
  job_text t = { NULL, 0 };
  int count = fix_once(&t, text, len, version, hived, f);

  for (int i = 1; count > 0 && i < MOST_ROUNDS; i++) {
    job_text next = { NULL, 0 };

    count = fix_once(&next, t.bytes, t.len, version, hived, f);
    free(t.bytes);
    t = next;
  }
  return facade_finished(t, f);
}

/* --- places ------------------------------------------------------------- */

static void put_range(json *j, const char *name, const pai_text_range *r)
{
  if (r->line == 0)
    return;
  json_record(j, name, fields_TextRange, r);
}

/* Describes and frees the place. NULL after a failure. */
static listing show(pai_spec_place *place, failure *f)
{
  static const char *const on[] = { "space", "key", "value" };
  pai_place_view v = { .struct_size = sizeof(v) };
  json j;

  if (place == NULL)
    return (listing){ { NULL, 0 } };
  (void)pai_spec_view_place(place, &v);
  json_start(&j);
  json_begin(&j, NULL, '{');
  json_text(&j, "pointer", v.pointer);
  json_text(&j, "on", on[v.on]);
  json_bool(&j, "may_key", (v.may & PAI_MAY_KEY) != 0);
  json_bool(&j, "may_value", (v.may & PAI_MAY_VALUE) != 0);
  json_bool(&j, "may_item", (v.may & PAI_MAY_ITEM) != 0);
  put_range(&j, "key", &v.key);
  put_range(&j, "value", &v.value);
  json_bool(&j, "valid", v.valid);
  json_end(&j, '}');
  pai_spec_place_free(place);
  return json_finish(&j, f);
}

listing facade_at(const char *text, size_t len, uint32_t line, uint32_t column,
                  failure *f)
{
  pai_spec_place *place;

  f->code = pai_spec_at(&place, text, len, line, column, NULL, &f->err);
  return show(place, f);
}

listing facade_range(const char *text, size_t len, const char *place,
                     failure *f)
{
  pai_spec_place *found;

  f->code = pai_spec_range(&found, text, len, place, NULL, &f->err);
  return show(found, f);
}
