/*
 * rules.h - internal to the room: tables of the fields and values of job files
 *
 * The checker, the writer of JSON Schema and the lists of field names use
 * them.  template/refs.c checks references, which no table can express.
 */
#ifndef PAI_SRC_SPEC_RULES_H
#define PAI_SRC_SPEC_RULES_H

#include "base/tree.h"

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

/* What a text or a key names.  Names before PAI__NAMES_VC are declared in the
 * file, all others by the cluster. */
enum pai__spec_names {
  PAI__NAMES_NOTHING,
  PAI__NAMES_ROLE,
  PAI__NAMES_PREREQUISITE,
  PAI__NAMES_DEPLOYMENT,
  PAI__NAMES_PARAMETER,
  PAI__NAMES_SECRET,
  PAI__NAMES_PORT, /* a label of the role around it */
  /* of cluster files */
  PAI__NAMES_CELL_TYPE,
  PAI__NAMES_CELL_PATH, /* types of cells with points between them; or one that
                           is derived from a SKU: dgx-numa */
  PAI__NAMES_NODE,
  PAI__NAMES_PIN,
  /* of the cluster */
  PAI__NAMES_VC,
  PAI__NAMES_SKU,
  PAI__NAMES_STORAGE,
  PAI__NAMES_IMAGE /* as docker pull takes it */
};

/* Templates that a text may have. */
enum pai__spec_templates {
  PAI__TEMPLATES_NONE,
  PAI__TEMPLATES_COMMAND, /* all, and environment variables */
  PAI__TEMPLATES_ACCOUNT, /* $secrets */
  PAI__TEMPLATES_PLUGIN   /* all */
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
  const char *says; /* a one-line description */
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

  /* For editors; the checker does not use it. */
  const pai__spec_rule *known; /* of a value that is not checked: what
                                  programs read in it */
  const char *shape_key;       /* field that selects a shape; NULL: type */
  enum pai__spec_names names, key_names; /* what the text names, or the keys */
  const char
    *name_type;  /* with PAI__NAMES_PREREQUISITE: its type; NULL: any */
  bool declares; /* the text, or the keys, declare what they name */
  enum pai__spec_templates templates;
  const char *example; /* a usual value */
  bool unused;         /* nothing reads it */
  bool usual;          /* a new mapping should have it, needed or not */
};

extern const pai__spec_rule pai__rules_v1, pai__rules_v2, pai__rules_hived,
  pai__rules_openpai, pai__rules_extras, pai__rules_plugin;

/* rules.c: the rule and the field of a place. */
typedef struct pai__spec_ruled {
  const pai__spec_rule *rule;   /* NULL: nothing is known of the place */
  const pai__spec_field *field; /* NULL: an item, an entry, or the root */
} pai__spec_ruled;

/* Returns the name of the field that selects the shape. */
const char *pai__spec_rule_selects(const pai__spec_rule *rule);
/* Returns the rule of what is in a mapping or list: that of its shape, or what
 * is known of it.  `n` is its node, or PAI__NO_NODE.  NULL: it has no known
 * shape. */
const pai__spec_rule *pai__spec_rule_inside(const pai__spec_rule *rule,
                                            const pai__tree *t, pai__node n);
/* Returns the rule of an entry or item of a mapping or list. */
pai__spec_ruled pai__spec_rule_below(const pai__spec_rule *rule,
                                     const pai__tree *t, pai__node n,
                                     const char *key, size_t len);
/* Returns the rule of a place that a JSON pointer names, which need not exist
 * in the tree.  `up` levels of its end are left out. */
pai__spec_ruled pai__spec_rule_at(const pai__spec_rule *root,
                                  const pai__tree *t, const char *pointer,
                                  unsigned up);
/* Returns the field with a name, or NULL. */
const pai__spec_field *pai__spec_rule_field(const pai__spec_rule *rule,
                                            const char *name, size_t len);

/* Return whether a text has a form, and the form in words. */
bool pai__form_fits(enum pai__spec_form form, const char *s, size_t len);
const char *pai__form_says(enum pai__spec_form form);
const char *pai__form_pattern(
  enum pai__spec_form form); /* a regular expression */

#endif
