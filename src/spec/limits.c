/* limits.c - finds what exceeds the limits of the options */
#include "spec/check.h"
#include "spec/read.h"

static uint64_t instances_of(const pai__tree *t, pai__node role,
                             const char *field, bool coerced)
{
  pai__node n = pai__tree_get(t, role, field);
  int64_t value = 1;

  if (n != PAI__NO_NODE && !pai__whole(t, n, coerced, &value))
    return pai__tree_type(t, n) == PAI__FLOAT && pai__tree_float(t, n) > 1e9
             ? UINT32_MAX
             : 1;
  return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint64_t)value;
}

void pai__check_limits(pai__findings *f, int version,
                       const pai_spec_options *o)
{
  const pai__tree *t = f->tree;
  pai__node key = pai__tree_find(t, 0, "taskRoles", strlen("taskRoles"));
  pai__node roles, n;
  pai__tree_walk walk;
  const char *field = version == 1 ? "taskNumber" : "instances";
  pai__node too_many = PAI__NO_NODE; /* where the limit is exceeded */
  uint64_t tasks = 0;

  if (key == PAI__NO_NODE)
    return;
  roles = pai__tree_value(t, key);
  if (pai__tree_type(t, roles) !=
      (version == 1 ? PAI__SEQUENCE : PAI__MAPPING))
    return;
  if (pai__tree_count(t, roles) > o->max_roles) {
    pai__find(f, PAI_SEVERITY_ERROR, "limit", key,
              "the job has %u task roles; the limit is %u",
              pai__tree_count(t, roles), o->max_roles);
    return;
  }
  walk = pai__tree_iter(t, roles);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node role = version == 1 ? n : pai__tree_value(t, n);

    tasks += instances_of(t, role, field, version == 1);
    if (tasks > o->max_tasks && too_many == PAI__NO_NODE) {
      too_many = pai__tree_get(t, role, field);
      too_many = too_many != PAI__NO_NODE ? too_many : n;
    }
  }
  if (too_many != PAI__NO_NODE)
    pai__find(f, PAI_SEVERITY_ERROR, "limit", too_many,
              "the job has %llu tasks; the limit is %u",
              (unsigned long long)tasks, o->max_tasks);
}
