/* check_v1.c - what the tables of job config v1 cannot say (job-spec 2.1) */
#include "spec/check.h"

static void check_minimum(pai__findings *f, pai__node role, const char *field,
                          int64_t missing, int64_t tasks)
{
  pai__node n = pai__tree_get(f->tree, role, field);
  int64_t value = missing;

  if (n != PAI__NO_NODE && !pai__whole(f->tree, n, true, &value))
    value = 0; /* null */
  if (value <= tasks)
    return;
  pai__find(f, PAI_SEVERITY_WARNING, "out-of-reach",
            n != PAI__NO_NODE ? n : role,
            "%s is %lld, and the role has %lld tasks", field, (long long)value,
            (long long)tasks);
  pai__find_help(f, "give at most taskNumber");
}

static void check_v1_role(pai__findings *f, pai__node role)
{
  const pai__tree *t = f->tree;
  pai__node n = pai__tree_get(t, role, "taskNumber"), shm;
  int64_t tasks = 1, memory = 100, wanted;

  if (n != PAI__NO_NODE)
    (void)pai__whole(t, n, true, &tasks);
  check_minimum(f, role, "minFailedTaskCount", 1, tasks);
  check_minimum(f, role, "minSucceededTaskCount", 0, tasks);
  n = pai__tree_get(t, role, "memoryMB");
  if (n != PAI__NO_NODE)
    (void)pai__whole(t, n, true, &memory);
  shm = pai__tree_get(t, role, "shmMB");
  if (shm == PAI__NO_NODE || !pai__whole(t, shm, true, &wanted) ||
      wanted <= memory)
    return;
  pai__find(f, PAI_SEVERITY_ERROR, "too-large", shm,
            "shmMB is %lld, and memoryMB is %lld", (long long)wanted,
            (long long)memory);
  pai__find_help(f, "shared memory is part of the memory: ask for less");
}

void pai__check_v1(pai__findings *f)
{
  static const char *const flags[] = { "paiAzRDMA", "isDebug" };
  const pai__tree *t = f->tree;
  pai__node roles = pai__tree_get(t, 0, "taskRoles"), n;
  pai__node envs = pai__tree_get(t, 0, "jobEnvs");
  pai__tree_walk walk;

  if (roles != PAI__NO_NODE && pai__tree_type(t, roles) == PAI__SEQUENCE) {
    walk = pai__tree_iter(t, roles);
    while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
      if (pai__tree_type(t, n) == PAI__MAPPING)
        check_v1_role(f, n);
  }
  for (size_t i = 0; envs != PAI__NO_NODE && i < PAI__LEN(flags); i++) {
    n = pai__tree_get(t, envs, flags[i]);
    if (n == PAI__NO_NODE ||
        (pai__tree_type(t, n) == PAI__BOOL && pai__tree_bool(t, n)))
      continue;
    pai__find(f, PAI_SEVERITY_ERROR, "not-allowed", n, "%s can only be true",
              flags[i]);
    pai__find_help(f, "write true, or leave it out");
  }
}
