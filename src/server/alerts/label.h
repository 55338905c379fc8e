/*
 * label.h - internal to the room: labels of metrics and alerts, and matchers
 * on them, as in Prometheus
 */
#ifndef PAI_SRC_SERVER_ALERTS_LABEL_H
#define PAI_SRC_SERVER_ALERTS_LABEL_H

#include "base/arena.h"
#include "base/buf.h"

#include <openpai/base.h>

typedef struct pai__alert_label {
  const char *name, *value;
} pai__alert_label;

/* Labels; borrowed.  A missing label has the value "". */
typedef struct pai__alert_labels {
  const pai__alert_label *at;
  size_t n;
} pai__alert_labels;

/* Returns the value of a label; "" if it is missing. */
const char *pai__alert_labels_get(pai__alert_labels labels, const char *name);
/* Copies labels into an arena; false: out of memory. */
bool pai__alert_labels_copy(pai__alert_labels *out, pai__arena *arena,
                            pai__alert_labels labels);
/* Sorts labels by name. */
void pai__alert_labels_sort(pai__alert_label *labels, size_t n);
/* Writes a text that is equal for equal sorted labels.  `only`: labels to
 * write; NULL: all. */
void pai__alert_labels_key(pai__buf *out, pai__alert_labels labels,
                           const pai__alert_labels *only);
/* Returns whether a text is the name of a label. */
bool pai__alert_label_is_name(const char *text, size_t len);

/* --- matchers ------------------------------------------------------------ */

enum { PAI__MATCHERS = 16, PAI__MATCHER_VALUE = 256 };

typedef struct pai__alert_matcher {
  char *name, *value; /* owned */
  bool negative;      /* != and !~ */
  void *regex;        /* compiled; NULL: the value is literal */
} pai__alert_matcher;

/* Labels match if they match each of these. */
typedef struct pai__alert_matchers {
  pai_alloc alloc;
  pai__alert_matcher *at;
  size_t n, cap;
} pai__alert_matchers;

void pai__alert_matchers_init(pai__alert_matchers *m, const pai_alloc *alloc);
void pai__alert_matchers_dispose(pai__alert_matchers *m);
/* Adds a matcher, `value` with an explicit length.  A regular expression is an
 * extended one of POSIX that must match the whole value.  PAI_EINVAL;
 * PAI_ELIMIT; PAI_ENOMEM. */
int pai__alert_matchers_add(pai__alert_matchers *m, const char *name,
                            size_t name_len, const char *value, size_t len,
                            bool negative, bool regex, pai_error **err);
bool pai__alert_matchers_match(const pai__alert_matchers *m,
                               pai__alert_labels labels);

#endif
