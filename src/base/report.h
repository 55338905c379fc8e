/* report.h - making a pai_report */
#ifndef PAI_SRC_BASE_REPORT_H
#define PAI_SRC_BASE_REPORT_H

#include "base/findings.h"

struct pai_report {
  pai_alloc alloc;
  pai__arena arena; /* all that follows */
  const pai_diagnostic *list;
  size_t count, errors;
  int version;
};

/* PAI_OK or PAI_ENOMEM, all of them. */
int pai__report_new(pai_report **out, const pai_alloc *alloc);
/* What was found; its strings must live in the report's arena. */
int pai__report_take(pai_report *r, pai__findings *f);
/* A text that is no document at all. */
int pai__report_fail(pai_report *r, const char *code, const pai_error *err);
/* Then: shows the line where it was lost. */
int pai__report_show(pai_report *r, const char *text, size_t len);
/* One error of a report that has some, as that of a call. */
int pai__report_raise(const pai_report *r, pai_error **err);

#endif
