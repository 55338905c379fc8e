/* explain.h - internal to the room: explains what a spec will do */
#ifndef PAI_SRC_SPEC_EXPLAIN_EXPLAIN_H
#define PAI_SRC_SPEC_EXPLAIN_EXPLAIN_H

#include "spec/scan/index.h"
#include "spec/secrets.h"
#include "spec/spec.h"

/* Facts that are computed from the fields of a spec. */
typedef struct pai__spec_explained {
  const pai_spec *spec;
  pai__index index;
  pai__secrets secrets;
  uint64_t cpu_millis, memory_mb, gpus; /* sums over all tasks */
  bool gang;                            /* all tasks start together */
  const char *deployment;               /* name of the deployment in use, or
                                           NULL */
  pai__node cluster;                    /* virtualCluster, or PAI__NO_NODE */
  pai__buf fails, succeeds;             /* conditions, in words */
} pai__spec_explained;

/* Returns the job's name. */
const char *pai__explain_name(const pai__spec_explained *e);

/* Returns the uri of a role's image; "" if there is none. */
const char *pai__explain_image(const pai__spec_explained *e,
                               const pai__role *role, size_t *len);

/* Walks the values of a field in the items of a list in extras.  Items without
 * the field are skipped.  pai__named_next() returns NULL at the end. */
typedef struct pai__spec_named {
  const pai__spec_explained *of;
  pai__tree_walk walk;
  const char *field;
  pai__node item; /* the current item */
} pai__spec_named;
pai__spec_named pai__named_iter(const pai__spec_explained *e, const char *list,
                                const char *field);
const char *pai__named_next(pai__spec_named *n, size_t *len);

/* explain_text.c, explain_json.c */
int pai__explain_text(const pai__spec_explained *e, pai_write_cb write,
                      void *user_data);
int pai__explain_json(const pai__spec_explained *e, pai_write_cb write,
                      void *user_data);

#define PAI__PLUGINS "com.microsoft.pai.runtimeplugin"

#endif
