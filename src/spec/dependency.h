/* dependency.h - internal: parses a job that another job waits for */
#ifndef PAI_SRC_SPEC_DEPENDENCY_H
#define PAI_SRC_SPEC_DEPENDENCY_H

#include "base/base.h"

enum pai__dependency_kind {
  PAI__WHEN_OK = 1,    /* the job succeeded */
  PAI__WHEN_ENDED = 2, /* the job ended */
  PAI__WHEN_FAILED = 3 /* the job ended and did not succeed */
};

enum { PAI__MOST_AFTER = 64 };

typedef struct pai__dependency {
  const char *name; /* "NAME" or "USER~NAME", of `len` bytes */
  size_t len;
  enum pai__dependency_kind when;
} pai__dependency;

/* Parses "NAME", "NAME:ok", "NAME:failed" or "NAME:ended" (extras.c).
 * `out->name` points into the text. */
bool pai__dependency_read(pai__dependency *out, const char *text, size_t len);

/* Returns whether a text is a time limit, of one second to ten years. */
bool pai__time_limit_fits(const char *text, size_t len);

#endif
