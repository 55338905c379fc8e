/*
 * convert_v1.h - internal: a v1 job on its way to v2
 */
#ifndef PAI_SRC_SPEC_CONVERT_V1_H
#define PAI_SRC_SPEC_CONVERT_V1_H

#include "spec/convert_common.h"
#include "yaml/writer.h"

typedef struct v1_job {
  convert c;
  pai__yaml_writer w;
  pai__node roles, envs, extras;
  size_t nroles;
  text *names; /* of the roles, for v2 */
  text open;   /* the parameter that stands for "<%" */
  bool hides;  /* it is in use */
  /* The mappings below extras that are open: one is written when the first
   * thing goes into it. */
  bool in_extras, in_kept, in_roles, in_role;
} v1_job;

static inline pai__node pai__v1_get(const v1_job *j, const char *field)
{
  return pai__conv_get(&j->c, 0, field);
}

static inline void pai__v1_key(v1_job *j, const char *key)
{
  pai__yaml_key(&j->w, key, strlen(key));
}

static inline void pai__v1_int(v1_job *j, const char *key, int64_t value)
{
  pai__v1_key(j, key);
  pai__yaml_int(&j->w, value);
}

/* What v2 can say of a number of tasks, and of shared memory: 0 was Docker's
 * default to v1, and is another one to v2. */
static inline int64_t pai__v1_instances(int64_t tasks)
{
  return tasks >= 1 ? tasks : 1;
}

static inline int64_t pai__v1_shm(int64_t megabytes)
{
  return megabytes != 0 ? megabytes : 64;
}

/* Whether a shell can export this entry of jobEnvs. */
bool pai__v1_exports(v1_job *j, pai__node key);
/* Writes a key and its value as they are. */
void pai__v1_entry(v1_job *j, pai__node key);
/* Writes extras: the job's own, and what v2 has no place for; notes that. */
void pai__v1_keep(v1_job *j);

#endif
