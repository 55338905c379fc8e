/* dependency.h - internal: a job that another one waits for, as text */
#ifndef PAI_SRC_SPEC_DEPENDENCY_H
#define PAI_SRC_SPEC_DEPENDENCY_H

#include "base/base.h"

enum pai__dependency_kind {
  PAI__WHEN_OK = 1,    /* it has succeeded */
  PAI__WHEN_ENDED = 2, /* it has ended */
  PAI__WHEN_FAILED = 3 /* it has ended, and not succeeded */
};

enum { PAI__MOST_AFTER = 64 };

typedef struct pai__dependency {
  const char *name; /* "NAME" or "USER~NAME", `len` bytes */
  size_t len;
  enum pai__dependency_kind when;
} pai__dependency;

/* "NAME", "NAME:ok", "NAME:failed" or "NAME:ended" (extras.c).  `out->name` is
 * in the text. */
bool pai__dependency_read(pai__dependency *out, const char *text, size_t len);

/* A time limit: a second to ten years. */
bool pai__time_limit_fits(const char *text, size_t len);

#endif
