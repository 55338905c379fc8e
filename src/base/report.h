/* report.h - builds a pai_report */
#ifndef PAI_SRC_BASE_REPORT_H
#define PAI_SRC_BASE_REPORT_H

#include "base/findings.h"

struct pai_report {
  pai_alloc alloc;
  pai__arena arena; /* holds all that follows */
  const pai_diagnostic *list;
  size_t count, errors;
  int version;
};

/* All of these return PAI_OK or PAI_ENOMEM. */
int pai__report_new(pai_report **out, const pai_alloc *alloc);
/* Takes the findings; their strings must live in the report's arena. */
int pai__report_take(pai_report *r, pai__findings *f);
/* Reports a text that does not parse. */
int pai__report_fail(pai_report *r, const char *code, const pai_error *err);
/* After that: adds the line of the error. */
int pai__report_show(pai_report *r, const char *text, size_t len);
/* Raises one error of a report that has some, as the error of a call. */
int pai__report_raise(const pai_report *r, pai_error **err);

#endif
