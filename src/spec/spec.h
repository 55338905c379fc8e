/* spec.h - internal: the fields of a spec, for rooms that run jobs */
#ifndef PAI_SRC_SPEC_SPEC_H
#define PAI_SRC_SPEC_SPEC_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/secrets.h"
#include "spec/dependency.h"

#include <openpai/spec.h>

#include <stdatomic.h>

enum {
  PAI__SPEC_MAX_BYTES = 4 << 20, /* default limit */
  PAI__MAX_ROLE_NAME = 200 /* characters; names of folders end at 255 bytes */
};

/* A port label of a role, and its number of ports in each task. */
typedef struct pai__port {
  const char *label;
  uint32_t count;
} pai__port;

typedef struct pai__missing {
  const char *pointer; /* JSON pointer of its place */
  bool masked;         /* its value is "******" */
} pai__missing;

/* A variable that a job sets for its commands: extras.openpai.environment. */
typedef struct pai__variable {
  const char *name;
  const char *value; /* may be a secret: only for the launch plan */
  bool outside;      /* not set in a container, where paths differ */
} pai__variable;

typedef struct pai__role {
  const char *name;
  const char *script;    /* the commands, filled in but for secrets; commands
                            that are secrets are masked */
  const char *command;   /* the commands that run, with secrets */
  uint32_t instances;    /* >= 1 */
  int32_t min_failed;    /* completion policy; -1: never */
  int32_t min_succeeded; /* as min_failed */
  uint32_t cpus;         /* CPUs, rounded up */
  uint64_t cpu_millis;   /* CPUs in thousandths, exact */
  uint32_t memory_mb;
  uint32_t gpus;
  uint32_t shm_mb;  /* 0: not given */
  pai__port *ports; /* those of the file, then ssh and http */
  size_t nports;
  pai__node node; /* its node in the tree */
} pai__role;

struct pai_spec {
  pai_alloc alloc;
  atomic_uint refs;
  pai__tree *tree;      /* valid, protocol v2 */
  pai__secrets secrets; /* of the tree */
  pai__arena arena;     /* owner of everything below */
  bool was_v1;          /* it was converted from a job config v1 */
  bool usual;           /* its text parses to the same spec without options */
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
  const char **unresolved; /* template names without a value */
  size_t nunresolved;
  pai__missing *missing; /* secrets that it needs and lacks */
  size_t nmissing;
  const char *obstacle; /* why it cannot be run although it is valid, or
                           NULL */
};

/* extras.c: returns extras.openpai.NAME of a valid job, or PAI__NO_NODE if it
 * is absent or null.  The tree may be NULL. */
pai__node pai__spec_own(const pai__tree *t, const char *name);
/* Returns whether the field is true. */
bool pai__spec_own_flag(const pai__tree *t, const char *name);

/* extras.c: returns whether the tasks start together.  Only `false` of
 * extras.gangAllocation turns that off. */
bool pai__spec_gang(const pai__tree *t);

/* mask.c: appends its text with "******" for each secret.  The names of
 * secrets stay, and all else is unchanged.  Returns false without memory, as
 * `out` says, or if the masked text could not be parsed, as with an alias into
 * a secret; nothing is appended then. */
bool pai__spec_masked_text(pai__buf *out, const pai_spec *spec);

#endif
