/* report.c - reports: made, looked at, and given to who writes them */
#include "sim/report.h"

int pai__sim_report_make(pai_sim_report **out, const pai_alloc *alloc)
{
  pai_sim_report *r = pai__zalloc(alloc, sizeof(*r));

  *out = r;
  if (r == NULL)
    return PAI_ENOMEM;
  r->alloc = *alloc;
  pai__arena_init(&r->arena, &r->alloc);
  r->view.struct_size = sizeof(r->view);
  r->view.policy = r->options = r->cluster = r->trace = "";
  return PAI_OK;
}

void pai_sim_report_free(pai_sim_report *report)
{
  pai_alloc alloc;

  if (report == NULL)
    return;
  alloc = report->alloc;
  pai__arena_dispose(&report->arena);
  pai__free(&alloc, report, sizeof(*report));
}

int pai_sim_look(const pai_sim_report *report, pai_sim_view *view)
{
  PAI__CHECK_ARG(report != NULL && view != NULL);
  return PAI__FILL_VIEW(view, report->view, pai_sim_view, lost);
}

int pai_sim_write(const pai_sim_report *const *reports, size_t n, int format,
                  pai_write_cb write, void *user_data, pai_error **err)
{
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(reports != NULL && n != 0 && write != NULL, err);
  for (size_t i = 0; i < n; i++)
    PAI__CHECK_ARG_ERR(reports[i] != NULL, err);
  switch (format) {
  case PAI_FORMAT_JSON:
    return pai__report_json(reports, n, write, user_data, err);
  case PAI_FORMAT_TEXT:
    return pai__report_text(reports, n, write, user_data, err);
  case PAI_FORMAT_CSV:
    return pai__report_csv(reports, n, write, user_data, err);
  case PAI_FORMAT_HTML:
    return pai__report_html(reports, n, write, user_data, err);
  default:
    return pai__fail(err, PAI_EINVAL,
                     "a report is written as JSON, text, CSV or HTML, and not "
                     "in form %d",
                     format);
  }
}
