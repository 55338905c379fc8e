/*
 * values.h - internal to the room: values of a job file as JSON, and where in
 * protocol v2 they stand
 */
#ifndef PAI_SRC_SPEC_VALUES_H
#define PAI_SRC_SPEC_VALUES_H

#include "base/tree.h"
#include "json/writer.h"
#include "spec/secrets.h"

/* What is told apart by who walks a whole tree. */
enum pai__site {
  PAI__SITE_ANY, /* and all below it */
  PAI__SITE_ROOT,
  PAI__SITE_SECRETS, /* one whole */
  PAI__SITE_AUTH,
  PAI__SITE_PREREQUISITES,
  PAI__SITE_PREREQUISITE,
  PAI__SITE_ROLES,
  PAI__SITE_ROLE,
  PAI__SITE_COMPLETION,
  PAI__SITE_RESOURCE,
  PAI__SITE_PORTS,
  PAI__SITE_CONTAINER,
  PAI__SITE_LINES, /* commands */
  PAI__SITE_DEPLOYMENTS,
  PAI__SITE_DEPLOYMENT,
  PAI__SITE_HOOK_ROLES,
  PAI__SITE_HOOKS,
  PAI__SITE_DEFAULTS,
  PAI__SITE_EXTRAS,
  PAI__SITE_PROTOCOL, /* says nothing: 2 or "2" */
};

/* What a value means that is not there. */
enum pai__absence {
  PAI__ABSENT_NOTHING, /* something else than any value */
  PAI__ABSENT_NUMBER,
  PAI__ABSENT_TEXT,
  PAI__ABSENT_FALSE,     /* as all that JavaScript takes for false */
  PAI__ABSENT_TRUE,      /* as all but `false` itself */
  PAI__ABSENT_EMPTY,     /* a list or mapping without entries */
  PAI__ABSENT_INSTANCES, /* so many as the role has */
};

typedef struct pai__site_field {
  enum pai__site site;
  enum pai__absence absence;
  bool null;        /* null is as good as nothing */
  bool zero;        /* and so is 0 */
  int64_t number;   /* of PAI__ABSENT_NUMBER */
  const char *text; /* of PAI__ABSENT_TEXT */
} pai__site_field;

/* The entry `key` of a mapping, or an item of a list, for which key is NULL. */
pai__site_field pai__site_below(enum pai__site site, const char *key);

/* The value if it counts, else PAI__NO_NODE: see `null` and `zero`. */
pai__node pai__site_counted(const pai__site_field *field, const pai__tree *t,
                            pai__node n);
/* What PAI__ABSENT_TRUE or PAI__ABSENT_FALSE is set to; n may be
 * PAI__NO_NODE. */
bool pai__site_is_on(const pai__site_field *field, const pai__tree *t,
                     pai__node n);
/* Is a value what its absence would mean, in a role of so many instances? */
bool pai__site_is_default(const pai__site_field *field, const pai__tree *t,
                          pai__node n, uint32_t instances);

/* Writes a value; of what nobody may see only PAI__MASK.  What JSON lacks is
 * written as in the file, in quotes. */
void pai__value_write(pai__json_writer *w, const pai__secrets *secrets,
                      pai__node n);

#endif
