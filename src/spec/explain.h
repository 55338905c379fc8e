/* explain.h - internal to the room: what a spec will do, for a person */
#ifndef PAI_SRC_SPEC_EXPLAIN_H
#define PAI_SRC_SPEC_EXPLAIN_H

#include "spec/index.h"
#include "spec/secrets.h"
#include "spec/spec.h"

/* What is told and not a field of the spec. */
typedef struct pai__explained {
  const pai_spec *spec;
  pai__index index;
  pai__secrets secrets;
  uint64_t cpus, memory_mb, gpus; /* of all tasks */
  bool gang;                      /* all tasks start together */
  const char *deployment;         /* that is used, or NULL */
  pai__node cluster;              /* virtualCluster, or PAI__NO_NODE */
  pai__buf fails, succeeds;       /* when, in words */
} pai__explained;

/* The job's name. */
const char *pai__explain_name(const pai__explained *e);

/* The uri of a role's image; "" for none. */
const char *pai__explain_image(const pai__explained *e, const pai__role *role,
                               size_t *len);

/* Walks the names that the items of a list in extras have in a field; items
 * without are passed over.  NULL at the end. */
typedef struct pai__named {
  const pai__explained *of;
  pai__tree_walk walk;
  const char *field;
  pai__node item; /* that the name is of */
} pai__named;
pai__named pai__named_iter(const pai__explained *e, const char *list,
                           const char *field);
const char *pai__named_next(pai__named *n, size_t *len);

/* explain_text.c, explain_json.c */
int pai__explain_text(const pai__explained *e, pai_write_cb write,
                      void *user_data);
int pai__explain_json(const pai__explained *e, pai_write_cb write,
                      void *user_data);

#define PAI__PLUGINS "com.microsoft.pai.runtimeplugin"

#endif
