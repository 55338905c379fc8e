/*
 * rules.h - internal to the room: tables of the fields and values of job files
 *
 * The checker, the writer of JSON Schema and the lists of field names use
 * them.  template/refs.c checks references, which no table can express.
 */
#ifndef PAI_SRC_SPEC_RULES_H
#define PAI_SRC_SPEC_RULES_H

#include "base/base.h"

#include <openpai/report.h>

/* Types of a value. */
enum {
  PAI__T_NULL = PAI_VALUE_NULL,
  PAI__T_BOOL = PAI_VALUE_BOOL,
  PAI__T_INT = PAI_VALUE_WHOLE, /* also 2.0 and 1e3 */
  PAI__T_NUMBER = PAI_VALUE_NUMBER,
  PAI__T_STRING = PAI_VALUE_TEXT,
  PAI__T_LIST = PAI_VALUE_LIST,
  PAI__T_MAPPING = PAI_VALUE_MAPPING,
  PAI__T_ANY = 127
};

/* Form of a text or key. */
enum pai__spec_form {
  PAI__FORM_ANY,
  PAI__FORM_JOB,      /* ^[a-zA-Z0-9_-]+$ */
  PAI__FORM_IDENT,    /* ^[a-zA-Z_][a-zA-Z0-9_]*$ */
  PAI__FORM_SKU,      /* ^[A-Za-z0-9._~]+$; also names of v1 */
  PAI__FORM_V1_JOB,   /* ^[A-Za-z0-9._-]+$ */
  PAI__FORM_HAS_WORD, /* has a letter, a digit or _ */
  PAI__FORM_TIME,     /* 90s, 30m, 2h, 1d, 1h30m */
  PAI__FORM_AFTER,    /* [USER~]JOB, JOB:ok, JOB:failed, JOB:ended */
  PAI__FORM_TMP       /* a path below /tmp */
};

typedef struct pai__spec_rule pai__spec_rule;

/* Marks a field that must not be absent. */
extern const char pai__needed[];
#define PAI__NEEDED pai__needed

/* One key of a mapping. */
typedef struct pai__spec_field {
  const char *name; /* NULL ends a list */
  const pai__spec_rule *rule;
  const char *absent; /* PAI__NEEDED; the value that absence means; or NULL */
  const char *says;   /* a one-line description */
} pai__spec_field;

/* One shape of a mapping, selected by its field `type`. */
typedef struct pai__spec_shape {
  const char *type; /* NULL ends a list */
  const pai__spec_rule *rule;
} pai__spec_shape;

struct pai__spec_rule {
  const char *what; /* what messages call it: "the name of a job" */
  unsigned types;   /* set of PAI__T_* */
  bool coerced;     /* v1: also a text that JavaScript takes for a number */
  bool not_empty;   /* a text must not be empty */
  bool open;        /* a mapping may have other keys */
  bool never;       /* the field must be absent */
  enum pai__spec_form form; /* form of a text */
  enum pai__spec_form keys; /* form of the keys whose values `values` checks */
  const char *const *words; /* the only allowed texts; also of whole numbers */
  uint32_t longest;         /* most characters of a text; 0: any number */
  uint32_t least;           /* least items or entries */
  bool fine;                /* a number has at most three decimals */
  bool has_min;             /* a number has the minimum `min` */
  int64_t min;
  const pai__spec_field *fields; /* fields of a mapping */
  const pai__spec_rule *values;  /* rule of all items, or of entries that are
                                    not in `fields` */
  const pai__spec_shape *shapes; /* instead of fields */
};

extern const pai__spec_rule pai__rules_v1, pai__rules_v2, pai__rules_hived,
  pai__rules_openpai;

/* Return whether a text has a form, and the form in words. */
bool pai__form_fits(enum pai__spec_form form, const char *s, size_t len);
const char *pai__form_says(enum pai__spec_form form);
const char *pai__form_pattern(
  enum pai__spec_form form); /* a regular expression */

#endif
