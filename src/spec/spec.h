/* spec.h - internal: the fields of a job spec, for rooms that act on them */
#ifndef PAI_SRC_SPEC_SPEC_H
#define PAI_SRC_SPEC_SPEC_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/secrets.h"
#include "spec/dependency.h"

#include <openpai/spec.h>

#include <stdatomic.h>

enum {
  PAI__SPEC_MAX_BYTES = 4 << 20, /* unless told otherwise */
  PAI__MAX_ROLE_NAME = 200 /* characters; names of folders end at 255 bytes */
};

/* A label of a role and how many ports each task of it gets. */
typedef struct pai__port {
  const char *label;
  uint32_t count;
} pai__port;

typedef struct pai__missing {
  const char *pointer; /* of its place */
  bool masked;         /* "******" stands there */
} pai__missing;

/* What a job sets for its commands: extras.openpai.environment. */
typedef struct pai__variable {
  const char *name;
  const char *value; /* of a secret, too: for the launch plan alone */
  bool outside;      /* not in a container, where things lie elsewhere */
} pai__variable;

typedef struct pai__role {
  const char *name;
  const char *script;    /* the commands, filled in but for secrets; those
                            that are a secret themselves, masked */
  const char *command;   /* what runs: those filled in, too */
  uint32_t instances;    /* >= 1 */
  int32_t min_failed;    /* completion policy; -1: never */
  int32_t min_succeeded; /* likewise */
  uint32_t cpus;
  uint32_t memory_mb;
  uint32_t gpus;
  uint32_t shm_mb;  /* 0: not given */
  pai__port *ports; /* as in the file, then ssh and http */
  size_t nports;
  pai__node node; /* in the tree */
} pai__role;

struct pai_spec {
  pai_alloc alloc;
  atomic_uint refs;
  pai__tree *tree;      /* protocol v2, valid */
  pai__secrets secrets; /* of it */
  pai__arena arena;     /* everything below */
  bool was_v1;          /* it was a job config v1, and was converted */
  bool usual; /* whoever reads its text without options gets it again */
  const char *name;
  uint32_t retry_count;
  pai__role *roles;
  size_t nroles;
  size_t ntasks;
  pai__variable *variables;
  size_t nvariables;
  pai_time time_limit; /* of an attempt; 0: none */
  pai__dependency *after;
  size_t nafter;
  const char **notes;
  size_t nnotes;
  const char **unresolved; /* names in templates that nothing stands for */
  size_t nunresolved;
  pai__missing *missing; /* secrets that it needs and lacks */
  size_t nmissing;
  const char *obstacle; /* why it is valid and yet cannot be run, or NULL */
};

/* extras.c: extras.openpai.NAME of a valid job; PAI__NO_NODE: absent or null.  The tree may be
 * NULL. */
pai__node pai__spec_own(const pai__tree *t, const char *name);
/* Whether it is true. */
bool pai__spec_own_flag(const pai__tree *t, const char *name);

/* mask.c: adds its text with "******" in the place of each secret, whose names
 * stay, and all else as it was written.  False: nothing is added, for then it could not be read
 * (an alias leads into a secret); or no memory, as `out` says. */
bool pai__spec_masked_text(pai__buf *out, const pai_spec *spec);

#endif
