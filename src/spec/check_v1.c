/* check_v1.c - checks of job config v1 beyond its tables (job-spec 2.1) */
#include "spec/fix/fix.h"

#include "spec/check.h"

#include "base/text/utf8.h"

#include <stdlib.h>

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
            "%s is %lld, but the role has %lld tasks", field, (long long)value,
            (long long)tasks);
  pai__find_help(f, "use at most taskNumber");
}

/* --- fixed ports -------------------------------------------------------- */

/* The fixed ports [start, end) of a label. */
typedef struct fixed {
  int64_t start, end;
  pai__node label;
} fixed;

static int by_start(const void *a, const void *b)
{
  const fixed *x = a, *y = b;

  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return x->label < y->label ? -1 : 1;
}

/* Reads fixed ports.  Returns false if they are not fixed, or of wrong
 * types. */
static bool read_fixed(const pai__tree *t, pai__node port, fixed *out)
{
  pai__node start = pai__tree_get(t, port, "beginAt");
  pai__node count = pai__tree_get(t, port, "portNumber");
  int64_t n = 1;

  out->label = pai__tree_get(t, port, "label");
  if (out->label == PAI__NO_NODE || start == PAI__NO_NODE ||
      pai__tree_type(t, out->label) != PAI__STRING ||
      !pai__whole(t, start, true, &out->start) ||
      (count != PAI__NO_NODE && !pai__whole(t, count, true, &n)) ||
      out->start < 1 || out->start > UINT16_MAX || n < 1 || n > UINT16_MAX)
    return false;
  out->end = out->start + n;
  return true;
}

static void overlap(pai__findings *f, const fixed *one, const fixed *two)
{
  char a[PAI__EXCERPT], b[PAI__EXCERPT];
  const fixed *later = one->label < two->label ? two : one;
  const fixed *first = later == one ? two : one;
  size_t na, nb;
  const char *sa = pai__tree_str(f->tree, first->label, &na);
  const char *sb = pai__tree_str(f->tree, later->label, &nb);

  pai__find(f, PAI_SEVERITY_WARNING, "port-collision", later->label,
            "ports %s and %s overlap at %lld", pai__excerpt(a, sa, na),
            pai__excerpt(b, sb, nb), (long long)two->start);
  pai__find_help(f, "set beginAt further apart, or to 0 for any ports");
}

/* Finds overlapping fixed ports of one role.  Other roles may be on other
 * nodes. */
static void check_ports(pai__findings *f, pai__node list)
{
  const pai_alloc *alloc = f->arena->alloc;
  pai__tree_walk walk = pai__tree_iter(f->tree, list);
  size_t len = 0, cap = 0, far = 0;
  fixed *all = NULL;
  pai__node port;

  while (!f->failed && (port = pai__tree_next(&walk)) != PAI__NO_NODE) {
    f->failed |= PAI__VEC_ROOM(alloc, all, len, cap) < 0;
    if (!f->failed && read_fixed(f->tree, port, &all[len]))
      len++;
  }
  if (len > 0)
    qsort(all, len, sizeof(*all), by_start);
  for (size_t i = 1; i < len; i++) {
    if (all[i].start < all[far].end)
      overlap(f, &all[far], &all[i]);
    if (all[i].end > all[far].end)
      far = i;
  }
  pai__free(alloc, all, cap * sizeof(*all));
}

/* --- roles -------------------------------------------------------------- */

static void check_v1_role(pai__findings *f, pai__node role)
{
  const pai__tree *t = f->tree;
  pai__node n = pai__tree_get(t, role, "taskNumber"), shm;
  int64_t tasks = 1, memory = 100, wanted;

  if (n != PAI__NO_NODE)
    (void)pai__whole(t, n, true, &tasks);
  check_minimum(f, role, "minFailedTaskCount", 1, tasks);
  check_minimum(f, role, "minSucceededTaskCount", 0, tasks);
  n = pai__tree_get(t, role, "portList");
  if (pai__tree_is(t, n, PAI__SEQUENCE))
    check_ports(f, n);
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
  pai__find_help(f, "shared memory is part of the memory: request less");
}

void pai__check_v1(pai__findings *f)
{
  static const char *const flags[] = { "paiAzRDMA", "isDebug" };
  const pai__tree *t = f->tree;
  pai__node roles = pai__tree_get(t, 0, "taskRoles"), n, key;
  pai__node envs = pai__tree_get(t, 0, "jobEnvs");
  pai__tree_walk walk;

  if (pai__tree_is(t, roles, PAI__SEQUENCE)) {
    walk = pai__tree_iter(t, roles);
    while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
      if (pai__tree_type(t, n) == PAI__MAPPING)
        check_v1_role(f, n);
  }
  for (size_t i = 0; envs != PAI__NO_NODE && i < PAI__LEN(flags); i++) {
    key = pai__tree_find(t, envs, flags[i], strlen(flags[i]));
    n = key != PAI__NO_NODE ? pai__tree_value(t, key) : key;
    if (n == PAI__NO_NODE || (pai__tree_is_true(t, n)))
      continue;
    pai__find(f, PAI_SEVERITY_ERROR, "not-allowed", n, "%s can only be true",
              flags[i]);
    pai__find_help(f, "write true, or remove it");
    pai__mend_remove(f, pai__tree_type(t, n) == PAI__BOOL, envs, key,
                     "remove it");
    pai__fix_plain(f, false, n, "true");
  }
}
