/*
 * values.h - internal to the room: places of protocol v2 and their defaults,
 * and values as JSON
 */
#ifndef PAI_SRC_SPEC_VALUES_H
#define PAI_SRC_SPEC_VALUES_H

#include "base/tree.h"
#include "json/writer.h"
#include "spec/secrets.h"

/* A place of a v2 file, as far as walks over a whole tree tell places
 * apart. */
enum pai__spec_site {
  PAI__SITE_ANY, /* any other place, and all places below it */
  PAI__SITE_ROOT,
  PAI__SITE_SECRETS, /* compared as one value */
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
  PAI__SITE_PROTOCOL, /* 2 or "2", which mean the same */
};

/* What the absence of a field means. */
enum pai__absence {
  PAI__ABSENT_NOTHING, /* not the same as any value */
  PAI__ABSENT_NUMBER,
  PAI__ABSENT_TEXT,
  PAI__ABSENT_FALSE,     /* as all values that JavaScript takes for false */
  PAI__ABSENT_TRUE,      /* as all values but `false` */
  PAI__ABSENT_EMPTY,     /* a list or mapping without entries */
  PAI__ABSENT_INSTANCES, /* the role's number of instances */
};

typedef struct pai__site_field {
  enum pai__spec_site site;
  enum pai__absence absence;
  bool null;        /* null means absence */
  bool zero;        /* 0 means absence */
  int64_t number;   /* default, for PAI__ABSENT_NUMBER */
  const char *text; /* default, for PAI__ABSENT_TEXT */
} pai__site_field;

/* Returns whether JavaScript takes a value for true: all but false, 0, "",
 * null and what is absent. */
bool pai__js_true(const pai__tree *t, pai__node n);

/* Returns the field of a mapping's entry `key`; of a list's item if key is
 * NULL. */
pai__site_field pai__site_below(enum pai__spec_site site, const char *key);

/* Returns the value, or PAI__NO_NODE if it means absence: see `null` and
 * `zero`. */
pai__node pai__site_counted(const pai__site_field *field, const pai__tree *t,
                            pai__node n);
/* Returns whether a PAI__ABSENT_TRUE or PAI__ABSENT_FALSE field is on; n may
 * be PAI__NO_NODE. */
bool pai__site_is_on(const pai__site_field *field, const pai__tree *t,
                     pai__node n);
/* Returns whether a value equals its default, in a role of so many
 * instances. */
bool pai__site_is_default(const pai__site_field *field, const pai__tree *t,
                          pai__node n, uint32_t instances);

#endif
