/*
 * lint.c - finds legal mistakes in a job file: the traps of job-spec 7
 *
 * The file may break its tables: values of a wrong type are skipped.
 * lint_names.c checks the names in templates.
 */
#include "spec/lint/lint.h"

#include "base/text/milli.h"
#include "base/text/utf8.h"
#include "spec/check.h"
#include "spec/fix/fix.h"
#include "spec/spec.h"

/* --- task roles --------------------------------------------------------- */

/* Makes the name that OpenPAI's runtime uses for a role: lower-case letters
 * and digits. */
static size_t lost_name(const char *s, size_t len, char out[64])
{
  size_t n = 0;

  for (size_t i = 0; i < len && n < 63; i++) {
    char c = s[i];
    if (c >= 'A' && c <= 'Z')
      c = (char)(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      out[n++] = c;
  }
  out[n] = '\0';
  return n;
}

static void lint_name(pai__findings *f, pai__node key, pai__map *seen)
{
  size_t len, n;
  const char *s = pai__tree_str(f->tree, key, &len), *other;
  char lost[64], one[PAI__EXCERPT], two[PAI__EXCERPT];

  if (pai__key_shown(f, key, &n) != s)
    return; /* the name must not be shown */
  n = lost_name(s, len, lost);
  other = pai__map_get(seen, lost, n);
  if (other != NULL) {
    pai__find(f, PAI_SEVERITY_WARNING, "role-collision", key,
              "OpenPAI's runtime mistakes task role '%s' for '%s'",
              pai__excerpt(one, s, len),
              pai__excerpt(two, other, strlen(other)));
    pai__find_help(f, "use names that differ in letters or digits");
  } else if (n > 0 && pai__map_set(seen, lost, n, (void *)(uintptr_t)s) < 0) {
    f->failed = true;
  }
  if ((n == len && len <= 63 && memcmp(s, lost, n) == 0) ||
      !pai__form_fits(PAI__FORM_IDENT, s, len)) /* reported already */
    return;
  pai__find(f, PAI_SEVERITY_WARNING, "role-name", key,
            "OpenPAI's runtime cannot start a task role '%s'",
            pai__excerpt(one, s, len));
  if (n == 0)
    return;
  pai__find_help(f, "rename it to '%s'", lost);
  pai__mend_key(f, key, lost);
}

static void never(pai__findings *f, pai__node n)
{
  pai__find_help(f, "use -1 for never");
  pai__fix_plain(f, false, n, "-1");
}

static void lint_minimum(pai__findings *f, pai__node completion,
                         const char *field, int64_t instances)
{
  pai__node n = pai__tree_get(f->tree, completion, field);
  int64_t value;

  if (n == PAI__NO_NODE || !pai__whole(f->tree, n, false, &value))
    return;
  if (value > instances) {
    pai__find(f, PAI_SEVERITY_WARNING, "out-of-reach", n,
              "%s is %lld, but the role has %lld instances", field,
              (long long)value, (long long)instances);
    never(f, n);
  } else if (value < -1) {
    pai__find(f, PAI_SEVERITY_WARNING, "out-of-range", n,
              "%s is %lld: no task can start", field, (long long)value);
    never(f, n);
  }
}

/* `needed`: 0 is wrong too. */
static void lint_size(pai__findings *f, pai__node sizes, const char *field,
                      bool needed)
{
  pai__node n = pai__tree_get(f->tree, sizes, field);
  char text[PAI__VALUE_TEXT];
  bool is_cpu = strcmp(field, "cpu") == 0;
  int64_t value;
  double big;

  if (n == PAI__NO_NODE)
    return;
  if (!pai__whole(f->tree, n, false, &value)) {
    if (pai__tree_type(f->tree, n) != PAI__FLOAT)
      return;
    big = pai__tree_float(f->tree, n);
    if (!(big < (is_cpu ? 0 : -9e15) ||
          big > (is_cpu ? PAI__MOST_CPUS + 1.0 : 9e15)))
      return; /* not a whole number */
    value = big < 0 ? INT64_MIN : INT64_MAX;
  }
  if (value < 0) {
    pai__find(f, PAI_SEVERITY_WARNING, "negative", n,
              "%s is %s: no task can start", field,
              pai__value_text(text, f, n));
  } else if (value > (is_cpu ? PAI__MOST_CPUS : UINT32_MAX)) {
    pai__find(f, PAI_SEVERITY_WARNING, "out-of-range", n,
              "%s is %s, more than any node has", field,
              pai__value_text(text, f, n));
  } else if (needed && value == 0) {
    pai__find(f, PAI_SEVERITY_WARNING, "zero", n, "%s is 0: no task can run",
              field);
    pai__find_help(f, is_cpu ? "use more than 0, such as 0.5 or 1"
                             : "use 1 or more");
    pai__fix_plain(f, false, n, "1");
  }
}

/* Returns whether a count seems to be the number of a port. */
static bool is_a_port(const char *label, int64_t count)
{
  return count >= 1024 || (count == 22 && strcmp(label, "ssh") == 0) ||
         ((count == 80 || count == 443) && strncmp(label, "http", 4) == 0);
}

static void lint_ports(pai__findings *f, pai__node ports)
{
  pai__tree_walk walk;
  pai__node key;

  if (pai__tree_type(f->tree, ports) != PAI__MAPPING) {
    pai__find(f, PAI_SEVERITY_WARNING, "no-effect", ports,
              "ports is not a mapping and has no effect");
    pai__find_help(f, "write LABEL: COUNT");
    return;
  }
  walk = pai__tree_iter(f->tree, ports);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node n = pai__tree_value(f->tree, key);
    char piece[PAI__EXCERPT];
    const char *label;
    int64_t value;
    size_t len;

    if (!pai__whole(f->tree, n, false, &value))
      continue;
    label = pai__tree_str(f->tree, key, &len);
    if (!is_a_port(label, value) && value >= 1)
      continue;
    label = pai__key_shown(f, key, &len);
    pai__find(f, PAI_SEVERITY_WARNING, "port-count", n,
              value >= 1 ? "port %s has count %lld"
                         : "port %s has count %lld: no task can start",
              pai__excerpt(piece, label, len), (long long)value);
    pai__find_help(
      f, value >= 1
           ? "write the number of ports, not the port number: usually 1"
           : "write the number of ports, not the port number: 1 or more");
    pai__fix_plain(f, false, n, "1");
  }
}

static void lint_role(pai__findings *f, pai__node role, bool gang)
{
  static const char *const sizes[] = { "cpu", "memoryMB", "gpu" };
  const pai__tree *t = f->tree;
  pai__node n = pai__tree_get(t, role, "instances");
  int64_t instances = 1, retries = 0;

  if (n != PAI__NO_NODE)
    (void)pai__whole(t, n, false, &instances);
  n = pai__tree_get(t, role, "completion");
  if (n != PAI__NO_NODE) {
    lint_minimum(f, n, "minFailedInstances", instances);
    lint_minimum(f, n, "minSucceededInstances", instances);
  }
  n = pai__tree_get(t, role, "taskRetryCount");
  if (gang && n != PAI__NO_NODE && pai__whole(t, n, false, &retries) &&
      retries != 0) {
    pai__find(f, PAI_SEVERITY_WARNING, "no-effect", n,
              "taskRetryCount has an effect only without gang allocation");
    pai__find_help(f, "set extras.gangAllocation to false, or use "
                      "jobRetryCount");
  }
  role = pai__tree_get(t, role, "resourcePerInstance");
  if (role == PAI__NO_NODE)
    return;
  for (size_t i = 0; i < PAI__LEN(sizes); i++)
    lint_size(f, role, sizes[i], i < 2); /* 0 GPUs are no mistake */
  n = pai__tree_get(t, role, "ports");
  if (n != PAI__NO_NODE)
    lint_ports(f, n);
}

/* --- prerequisites, deployments, extras --------------------------------- */

static void lint_auth(pai__findings *f, pai__node auth)
{
  static const char *const fields[] = { "username", "password" };

  if (pai__tree_get(f->tree, auth, "registryuri") == PAI__NO_NODE) {
    pai__find(f, PAI_SEVERITY_WARNING, "auth-registry", auth,
              "registryuri is missing, so the account is used at Docker Hub");
    pai__find_help(f, "set registryuri to the registry of the account");
  }
  for (size_t i = 0; i < PAI__LEN(fields); i++)
    if (pai__tree_get(f->tree, auth, fields[i]) == PAI__NO_NODE)
      pai__find(f, PAI_SEVERITY_WARNING, "auth-incomplete", auth,
                "the account has no %s", fields[i]);
}

static void lint_prerequisites(pai__findings *f, const pai__index *index)
{
  static const char *const types[] = { "dockerimage", "script", "output",
                                       "data" };
  const pai__tree *t = f->tree;
  pai__node list = pai__tree_get(t, 0, "prerequisites"), item;
  pai__tree_walk walk;

  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    return;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node auth = pai__tree_get(t, item, "auth");
    pai__node name = pai__tree_get(t, item, "name");
    size_t len;
    const char *s = pai__text_at(t, name, &len);
    char value[PAI__VALUE_TEXT];

    if (pai__tree_is(t, auth, PAI__MAPPING))
      lint_auth(f, auth);
    for (size_t i = 0; s != NULL && i < PAI__LEN(types); i++) {
      pai__node other = pai__index_find(index, types[i], s, len);
      if (other == PAI__NO_NODE || other >= item)
        continue;
      if (strcmp(pai__tree_look_text(t, item, "type", ""), types[i]) == 0)
        break; /* a duplicate, reported already */
      pai__find(
        f, PAI_SEVERITY_WARNING, "shared-name", name,
        "a %s has the name %s, too: OpenPAI's image checker fails on this",
        types[i], pai__value_text(value, f, name));
      pai__find_help(f, "use a different name for each prerequisite");
      break;
    }
  }
}

static void lint_deployment(pai__findings *f, const pai__index *index,
                            pai__node roles)
{
  const pai__tree *t = f->tree;
  pai__tree_walk walk;
  pai__node key;

  if (!pai__tree_is(t, index->deployment, PAI__MAPPING))
    return;
  walk = pai__tree_iter(t, index->deployment);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *s = pai__tree_str(t, key, &len);
    char piece[PAI__EXCERPT];

    if (pai__tree_find(t, roles, s, len) != PAI__NO_NODE)
      continue;
    s = pai__key_shown(f, key, &len);
    pai__find(f, PAI_SEVERITY_WARNING, "no-effect", key,
              "there is no task role '%s', so these commands never run",
              pai__excerpt(piece, s, len));
  }
}

static bool uses_ssh(const pai__tree *t, pai__node extras)
{
  pai__node list = pai__tree_get(t, extras, "com.microsoft.pai.runtimeplugin");
  pai__tree_walk walk;
  pai__node item;

  if (!pai__tree_is(t, list, PAI__SEQUENCE))
    return false;
  walk = pai__tree_iter(t, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *s = pai__text_at(t, pai__tree_get(t, item, "plugin"), &len);
    if (s != NULL && strcmp(s, "ssh") == 0)
      return true;
  }
  return false;
}

/* Returns whether gang allocation is on. */
static bool lint_extras(pai__findings *f)
{
  const pai__tree *t = f->tree;
  pai__node extras = pai__tree_get(t, 0, "extras"),
            n = pai__tree_get(t, extras, "gangAllocation");
  bool gang = pai__spec_gang(t);

  if (gang && n != PAI__NO_NODE && pai__tree_type(t, n) != PAI__BOOL) {
    pai__find(f, PAI_SEVERITY_WARNING, "no-effect", n,
              "gangAllocation is neither true nor false and counts as true");
  } else if (!gang && uses_ssh(t, extras)) {
    pai__find(f, PAI_SEVERITY_WARNING, "ssh-without-gang", n,
              "without gang allocation the ssh plugin is off");
    pai__find_help(f, "remove one of the two");
  }
  return gang;
}

void pai__lint(pai__findings *f, const pai__index *index)
{
  const pai__tree *t = f->tree;
  pai__node roles = pai__tree_get(t, 0, "taskRoles"), key;
  bool gang = lint_extras(f);
  pai__tree_walk walk;
  pai__map seen;

  pai__map_init(&seen, f->arena->alloc);
  if (pai__tree_is(t, roles, PAI__MAPPING)) {
    walk = pai__tree_iter(t, roles);
    while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
      lint_name(f, key, &seen);
      lint_role(f, pai__tree_value(t, key), gang);
    }
    lint_deployment(f, index, roles);
  }
  pai__map_dispose(&seen);
  lint_prerequisites(f, index);
  pai__lint_fields(f);
  pai__lint_names(f, index);
}
