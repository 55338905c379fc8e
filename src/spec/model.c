/*
 * model.c - makes a spec of a valid tree
 *
 * Some valid jobs cannot be run: negative sizes, names that are too long.  The
 * spec keeps the reason as its obstacle.
 */
#include "spec/read.h"

#include "base/buf.h"
#include "base/text/milli.h"
#include "spec/check.h"
#include "spec/notes.h"
#include "spec/secrets.h"

enum { MAX_INSTANCES = 10000, MAX_PORTS = 1000000 };

typedef struct model {
  const pai__tree *tree;
  pai_spec *spec;
  bool failed; /* out of memory */
} model;

/* Sets the obstacle, unless there is one already. */
static void obstacle(model *m, const char *fmt, ...) PAI__PRINTF(2, 3);

static void obstacle(model *m, const char *fmt, ...)
{
  pai__buf b;
  va_list ap;

  if (m->spec->obstacle != NULL)
    return;
  pai__buf_init(&b, &m->spec->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&b, fmt, ap);
  va_end(ap);
  m->spec->obstacle =
    pai__buf_ok(&b)
      ? pai__arena_strndup(&m->spec->arena, pai__buf_text(&b), b.len)
      : NULL;
  m->failed |= m->spec->obstacle == NULL;
  pai__buf_dispose(&b);
}

/* Reads a size of a task of `role`, which must not be negative. */
static uint32_t size_of(model *m, const char *role, pai__node n,
                        const char *what)
{
  int64_t value;

  if (n == PAI__NO_NODE)
    return 0;
  if (!pai__whole(m->tree, n, false, &value)) /* too large for 64 bits */
    value = pai__tree_float(m->tree, n) < 0 ? -1 : INT64_MAX;
  if (value < 0)
    obstacle(m, "a task of %s requests %lld of %s", role, (long long)value,
             what);
  else if (value > UINT32_MAX)
    obstacle(m, "a task of %s requests more than %lld of %s", role,
             (long long)UINT32_MAX, what);
  return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* Reads a number of CPUs in thousandths. */
static uint64_t cpus_of(model *m, const char *role, pai__node n)
{
  const uint64_t most = PAI__MOST_MILLI;
  uint64_t millis = 0;
  int rc = n != PAI__NO_NODE ? pai__milli_of(&millis, m->tree, n) : PAI_OK;

  if (rc < 0 && pai__tree_float(m->tree, n) < 0)
    obstacle(m, "a task of %s requests %g CPUs", role,
             pai__tree_float(m->tree, n));
  else if (rc < 0 || millis > most)
    obstacle(m, "a task of %s requests more than %d CPUs", role,
             PAI__MOST_CPUS);
  return millis < most ? millis : most;
}

/* --- roles -------------------------------------------------------------- */

static void read_ports(model *m, pai__node n, pai__role *role)
{
  static const char *const always[] = { "ssh", "http" };
  uint32_t given;
  pai__tree_walk walk;
  pai__node key;

  if (n != PAI__NO_NODE && pai__tree_type(m->tree, n) != PAI__MAPPING)
    n = PAI__NO_NODE; /* other types are valid, but ignored */
  given = n != PAI__NO_NODE ? pai__tree_count(m->tree, n) : 0;
  role->ports =
    pai__arena_zalloc(&m->spec->arena, given + 2, sizeof(*role->ports));
  if (role->ports == NULL) {
    m->failed = true;
    return;
  }
  if (n != PAI__NO_NODE) {
    walk = pai__tree_iter(m->tree, n);
    while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
      pai__port *port = &role->ports[role->nports++];

      port->label = pai__tree_str(m->tree, key, NULL);
      port->count =
        size_of(m, role->name, pai__tree_value(m->tree, key), "its ports");
      if (port->count == 0)
        obstacle(m, "port %s of %s has count 0", port->label, role->name);
    }
  }
  for (size_t i = 0; i < PAI__LEN(always); i++) {
    size_t p = 0;
    while (p < role->nports && strcmp(role->ports[p].label, always[i]) != 0)
      p++;
    if (p == role->nports)
      role->ports[role->nports++] = (pai__port){ always[i], 1 };
  }
}

/* Reads a minimum of a completion policy.  Absent, null and 0 mean the
 * default; -1 means never. */
static int32_t read_minimum(model *m, pai__node completion, const char *name,
                            int32_t missing)
{
  pai__node n = pai__tree_get(m->tree, completion, name);
  int64_t value = 0;

  if (n != PAI__NO_NODE && pai__tree_type(m->tree, n) != PAI__NULL &&
      !pai__whole(m->tree, n, false, &value)) /* too large for 64 bits */
    value = pai__tree_float(m->tree, n) < 0 ? INT32_MIN : INT32_MAX;
  if (value < -1)
    obstacle(m, "%s is %lld", name, (long long)value);
  return value == 0 ? missing : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

static uint32_t read_instances(model *m, const pai__role *role, pai__node n)
{
  int64_t value = 1;

  if (n != PAI__NO_NODE && !pai__whole(m->tree, n, false, &value))
    value = INT64_MAX;
  if (value > MAX_INSTANCES)
    obstacle(m, "%s has more than %d instances", role->name, MAX_INSTANCES);
  return value > MAX_INSTANCES ? MAX_INSTANCES : (uint32_t)value;
}

static void read_role(model *m, pai__node key, pai__role *role)
{
  pai__node n = pai__tree_value(m->tree, key);
  pai__node sizes = pai__tree_get(m->tree, n, "resourcePerInstance");
  pai__node completion = pai__tree_get(m->tree, n, "completion");

  role->node = n;
  role->name = pai__tree_str(m->tree, key, NULL);
  if (strlen(role->name) > PAI__MAX_ROLE_NAME)
    obstacle(m, "the name of a task role has more than %d characters",
             PAI__MAX_ROLE_NAME);
  role->instances =
    read_instances(m, role, pai__tree_get(m->tree, n, "instances"));
  role->min_failed = read_minimum(m, completion, "minFailedInstances", 1);
  role->min_succeeded = read_minimum(m, completion, "minSucceededInstances",
                                     (int32_t)role->instances);
  role->cpu_millis =
    cpus_of(m, role->name, pai__tree_get(m->tree, sizes, "cpu"));
  role->cpus = (uint32_t)pai__milli_up(role->cpu_millis);
  role->memory_mb = size_of(
    m, role->name, pai__tree_get(m->tree, sizes, "memoryMB"), "the memory");
  role->gpus =
    size_of(m, role->name, pai__tree_get(m->tree, sizes, "gpu"), "the GPUs");
  role->shm_mb = size_of(
    m, role->name,
    pai__tree_get(m->tree, pai__tree_get(m->tree, n, "extraContainerOptions"),
                  "shmMB"),
    "the shared memory");
  read_ports(m, pai__tree_get(m->tree, sizes, "ports"), role);
}

static void read_roles(model *m)
{
  pai_spec *spec = m->spec;
  pai__node n = pai__tree_get(m->tree, 0, "taskRoles"), key;
  pai__tree_walk walk;
  uint64_t ports = 0;

  spec->roles = pai__arena_zalloc(&spec->arena, pai__tree_count(m->tree, n),
                                  sizeof(*spec->roles));
  if (spec->roles == NULL) {
    m->failed = true;
    return;
  }
  walk = pai__tree_iter(m->tree, n);
  while (!m->failed && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__role *role = &spec->roles[spec->nroles++];

    read_role(m, key, role);
    spec->ntasks += role->instances;
    for (size_t i = 0; i < role->nports; i++)
      ports += (uint64_t)role->instances * role->ports[i].count;
  }
  if (ports > MAX_PORTS)
    obstacle(m, "the job has more than %d ports", MAX_PORTS);
}

static uint32_t read_retries(model *m)
{
  pai__node n = pai__tree_get(m->tree, 0, "jobRetryCount");
  int64_t value = 0;

  if (n != PAI__NO_NODE && !pai__whole(m->tree, n, false, &value))
    value = INT32_MAX;
  return value > INT32_MAX ? INT32_MAX : (uint32_t)value;
}

int pai__spec_make(pai_spec **out, pai__tree *tree, bool was_v1,
                   const pai_alloc *alloc)
{
  model m = { .tree = tree };
  pai_spec *spec = pai__zalloc(alloc, sizeof(*spec));

  *out = NULL;
  if (spec == NULL) {
    pai__tree_free(tree);
    return PAI_ENOMEM;
  }
  m.spec = spec;
  spec->alloc = *alloc;
  spec->tree = tree;
  spec->was_v1 = was_v1;
  atomic_init(&spec->refs, 1);
  pai__arena_init(&spec->arena, &spec->alloc);
  spec->name = pai__tree_str(tree, pai__tree_get(tree, 0, "name"), NULL);
  spec->retry_count = read_retries(&m);
  read_roles(&m);
  if (m.failed || pai__secrets_find(&spec->secrets, tree) < 0 ||
      pai__spec_scripts(spec) < 0 || pai__spec_environment(spec) < 0 ||
      pai__spec_extras(spec) < 0 || pai__spec_missing(spec) < 0 ||
      pai__spec_notes(spec) < 0) {
    pai_spec_unref(spec);
    return PAI_ENOMEM;
  }
  *out = spec;
  return PAI_OK;
}
