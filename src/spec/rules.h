/*
 * rules.h - internal to the room: the language of job files, as tables
 *
 * They are read by the checker, by the writer of JSON Schema and by whoever
 * wants the names that exist.  What a table cannot say (references, sums) is
 * in refs.c.
 */
#ifndef PAI_SRC_SPEC_RULES_H
#define PAI_SRC_SPEC_RULES_H

#include "base/base.h"

#include <openpai/report.h>

/* What a value may be. */
enum {
  PAI__T_NULL = PAI_VALUE_NULL,
  PAI__T_BOOL = PAI_VALUE_BOOL,
  PAI__T_INT = PAI_VALUE_WHOLE, /* as 2, 2.0 and 1e3 */
  PAI__T_NUMBER = PAI_VALUE_NUMBER,
  PAI__T_STRING = PAI_VALUE_TEXT,
  PAI__T_LIST = PAI_VALUE_LIST,
  PAI__T_MAPPING = PAI_VALUE_MAPPING,
  PAI__T_ANY = 127
};

/* What a text, or a key, must look like. */
enum pai__form {
  PAI__FORM_ANY,
  PAI__FORM_JOB,      /* ^[a-zA-Z0-9_-]+$ */
  PAI__FORM_IDENT,    /* ^[a-zA-Z_][a-zA-Z0-9_]*$ */
  PAI__FORM_SKU,      /* ^[A-Za-z0-9._~]+$; also names of v1 */
  PAI__FORM_V1_JOB,   /* ^[A-Za-z0-9._-]+$ */
  PAI__FORM_HAS_WORD, /* a letter, a digit or _ somewhere in it */
  PAI__FORM_TIME,     /* 90s, 30m, 2h, 1d, 1h30m */
  PAI__FORM_AFTER,    /* [USER~]JOB, JOB:ok, JOB:failed, JOB:ended */
  PAI__FORM_TMP       /* a path below /tmp */
};

typedef struct pai__rule pai__rule;

/* It must not be absent. */
extern const char pai__needed[];
#define PAI__NEEDED pai__needed

/* One key of a mapping. */
typedef struct pai__field {
  const char *name; /* NULL ends a list */
  const pai__rule *rule;
  const char *absent; /* PAI__NEEDED; the value that this means; or NULL */
  const char *says;   /* one line, for people and editors */
} pai__field;

/* One shape of a mapping that is told by its field `type`. */
typedef struct pai__shape {
  const char *type; /* NULL ends a list */
  const pai__rule *rule;
} pai__shape;

struct pai__rule {
  const char *what; /* "the name of a job" */
  unsigned types;   /* of PAI__T_* */
  bool coerced;     /* v1: a text that JavaScript takes for a number is one */
  bool not_empty;   /* of a text */
  bool open;        /* a mapping may have other keys, too */
  bool never;       /* must not be there, whatever it is */
  enum pai__form form;      /* of a text */
  enum pai__form keys;      /* of the keys that `values` are of */
  const char *const *words; /* the only texts allowed; also whole numbers */
  uint32_t longest;         /* characters of a text; 0: any */
  uint32_t least;           /* items or entries */
  bool has_min;             /* of a number: */
  int64_t min;
  const pai__field *fields; /* of a mapping */
  const pai__rule *values;  /* of every item, or entry that is no field */
  const pai__shape *shapes; /* instead of fields */
};

extern const pai__rule pai__rules_v1, pai__rules_v2, pai__rules_hived,
  pai__rules_openpai;

/* Does a text have a form?  And how to say what that is. */
bool pai__form_fits(enum pai__form form, const char *s, size_t len);
const char *pai__form_says(enum pai__form form);
const char *pai__form_pattern(enum pai__form form); /* a regular expression */

#endif
