/* roles.c - task roles of both versions, and what they request */
#include "language/facts/parts.h"
#include "spec/check.h"

/* Names of the fields, by version: v2, v1. */
static const char *const instances[] = { "instances", "taskNumber" };
static const char *const cpus[] = { "cpu", "cpuNumber" };
static const char *const gpus[] = { "gpu", "gpuNumber" };

static uint64_t amount(const pai__facts *f, pai__node in, const char *field,
                       uint64_t missing)
{
  pai__node n = pai__tree_look(f->tree, in, field);
  int64_t value;

  if (n == PAI__NO_NODE || !pai__whole(f->tree, n, f->version == 1, &value))
    return missing;
  return value < 0 ? 0 : value > INT32_MAX ? INT32_MAX : (uint64_t)value;
}

/* CPUs may have a fraction. */
static uint64_t milli_cpus(const pai__facts *f, pai__node in,
                           const char *field, uint64_t missing)
{
  pai__node n = pai__tree_look(f->tree, in, field);

  if (pai__tree_is(f->tree, n, PAI__FLOAT) &&
      pai__tree_float(f->tree, n) > 0 &&
      pai__tree_float(f->tree, n) < INT32_MAX)
    return (uint64_t)(pai__tree_float(f->tree, n) * 1000 + 0.5);
  return 1000 * amount(f, in, field, missing);
}

static void read_sizes(const pai__facts *f, pai__facts_role *role)
{
  int old = f->version == 1;
  pai__node in = role->node;

  role->tasks = amount(f, role->node, instances[old], 1);
  if (!old)
    in = pai__tree_get(f->tree, role->node, "resourcePerInstance");
  role->gpus = amount(f, in, gpus[old], 0);
  role->memory_mb = amount(f, in, "memoryMB", old ? 100 : 0);
  role->cpu_millis = milli_cpus(f, in, cpus[old], old ? 1 : 0);
}

static pai__facts_role read_role(const pai__facts *f, pai__node n)
{
  pai__facts_role role = { .key = PAI__NO_NODE, .node = n, .name = "" };
  pai__node name = n;

  if (f->version == 1) {
    name = pai__tree_look(f->tree, n, "name");
  } else {
    role.key = n;
    role.node = pai__tree_value(f->tree, n);
  }
  if (pai__tree_is(f->tree, name, PAI__STRING)) {
    role.name = pai__tree_str(f->tree, name, &role.len);
    role.at =
      (pai__span){ f->tree->nodes[name].start, f->tree->nodes[name].end };
  }
  read_sizes(f, &role);
  return role;
}

int pai__facts_read_roles(pai__facts *f)
{
  pai__tree_walk walk;
  pai__node n = pai__tree_get(f->tree, 0, "taskRoles");

  if (!pai__tree_is(f->tree, n,
                    f->version == 1 ? PAI__SEQUENCE : PAI__MAPPING))
    return PAI_OK;
  walk = pai__tree_iter(f->tree, n);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (PAI__VEC_ROOM(f->alloc, f->roles, f->nroles, f->role_cap) < 0)
      return PAI_ENOMEM;
    f->roles[f->nroles++] = read_role(f, n);
  }
  return PAI_OK;
}

/* Roles are in the order of the text, and so of their nodes, unless there are
 * merge keys. */
const pai__facts_role *pai__facts_role_by_node(const pai__facts *f,
                                               pai__node node)
{
  size_t low = 0, high = f->nroles;

  while (low < high) {
    size_t mid = (low + high) / 2;

    if (f->roles[mid].node < node)
      low = mid + 1;
    else
      high = mid;
  }
  return low < f->nroles && f->roles[low].node == node ? &f->roles[low] : NULL;
}

/* Returns the token after the last "taskRoles" of a pointer. */
static const char *role_token(const char *pointer, size_t *len)
{
  static const char before[] = "/taskRoles/";
  const char *found = NULL;

  for (const char *s = pointer; (s = strstr(s, before)) != NULL; s++)
    found = s + sizeof(before) - 1;
  *len = found != NULL ? strcspn(found, "/") : 0;
  return found;
}

const pai__facts_role *pai__facts_role_of(const pai__facts *f,
                                          const char *pointer)
{
  size_t len, index = 0;
  const char *token = role_token(pointer, &len);

  if (token == NULL)
    return NULL;
  if (f->version == 1) {
    for (size_t i = 0; i < len && index < f->nroles; i++)
      index = index * 10 + (size_t)(token[i] - '0');
    return index < f->nroles ? &f->roles[index] : NULL;
  }
  for (size_t i = 0; i < f->nroles; i++)
    if (f->roles[i].len == len && memcmp(f->roles[i].name, token, len) == 0)
      return &f->roles[i];
  return NULL;
}

int pai__facts_labels(const pai__facts *f, const pai__facts_role *role,
                      pai__facts_label_cb cb, void *user_data)
{
  static const char *const always[] = { "ssh", "http" };
  bool seen[] = { false, false };
  bool old = f->version == 1;
  pai__node list = pai__tree_look(
    f->tree,
    old ? role->node
        : pai__tree_get(f->tree, role->node, "resourcePerInstance"),
    old ? "portList" : "ports");
  pai__tree_walk walk = { NULL, NULL, 0, 0, false };
  pai__node n;
  int rc = PAI_OK;

  if (pai__tree_is(f->tree, list, old ? PAI__SEQUENCE : PAI__MAPPING))
    walk = pai__tree_iter(f->tree, list);
  while (rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *s;

    if (old)
      n = pai__tree_look(f->tree, n, "label");
    if (!pai__tree_is(f->tree, n, PAI__STRING))
      continue;
    s = pai__tree_str(f->tree, n, &len);
    for (size_t i = 0; i < PAI__LEN(always); i++)
      seen[i] |= strcmp(s, always[i]) == 0;
    rc = cb(user_data, s, len);
  }
  for (size_t i = 0; rc == PAI_OK && i < PAI__LEN(always); i++)
    if (!seen[i])
      rc = cb(user_data, always[i], strlen(always[i]));
  return rc;
}

void pai__facts_put_sizes(pai__buf *out, uint64_t n_gpus, uint64_t cpu_millis,
                          uint64_t memory_mb)
{
  unsigned long long whole = cpu_millis / 1000;
  unsigned long long rest = cpu_millis % 1000;

  if (n_gpus > 0)
    pai__buf_printf(out, "%llu GPU%s, ", (unsigned long long)n_gpus,
                    n_gpus == 1 ? "" : "s");
  pai__buf_printf(out, "%llu", whole);
  if (rest > 0) {
    char digits[8] = { '.', (char)('0' + rest / 100),
                       (char)('0' + rest / 10 % 10), (char)('0' + rest % 10),
                       '\0' };

    for (size_t n = 3; digits[n] == '0'; n--)
      digits[n] = '\0';
    pai__buf_str(out, digits);
  }
  pai__buf_printf(out, " CPU%s, ", cpu_millis == 1000 ? "" : "s");
  if (memory_mb % 1024 == 0)
    pai__buf_printf(out, "%llu GiB", (unsigned long long)memory_mb / 1024);
  else
    pai__buf_printf(out, "%llu MiB", (unsigned long long)memory_mb);
}
