/* values.c - places of protocol v2 and their defaults, and values as JSON */
#include "spec/values.h"

#include "spec/scan/index.h"
#include "spec/template/template.h"

/* --- sites -------------------------------------------------------------- */

#define DOCKER_HUB "https://index.docker.io/v1/"

/* "*" is every key or item.  Keys that are not listed lead to PAI__SITE_ANY
 * and have no default. */
static const struct {
  enum pai__spec_site in;
  const char *key;
  pai__site_field field;
} fields[] = {
  { PAI__SITE_ROOT, "protocolVersion", { .site = PAI__SITE_PROTOCOL } },
  { PAI__SITE_ROOT, "jobRetryCount", { .absence = PAI__ABSENT_NUMBER } },
  { PAI__SITE_ROOT, "parameters", { .absence = PAI__ABSENT_EMPTY } },
  { PAI__SITE_ROOT,
    "secrets",
    { .site = PAI__SITE_SECRETS, .absence = PAI__ABSENT_EMPTY } },
  { PAI__SITE_ROOT, "prerequisites", { .site = PAI__SITE_PREREQUISITES } },
  { PAI__SITE_ROOT, "taskRoles", { .site = PAI__SITE_ROLES } },
  { PAI__SITE_ROOT, "deployments", { .site = PAI__SITE_DEPLOYMENTS } },
  { PAI__SITE_ROOT,
    "defaults",
    { .site = PAI__SITE_DEFAULTS, .absence = PAI__ABSENT_EMPTY } },
  { PAI__SITE_ROOT,
    "extras",
    { .site = PAI__SITE_EXTRAS, .absence = PAI__ABSENT_EMPTY } },

  { PAI__SITE_PREREQUISITES, "*", { .site = PAI__SITE_PREREQUISITE } },
  { PAI__SITE_PREREQUISITE,
    "protocolVersion",
    { .site = PAI__SITE_PROTOCOL } },
  { PAI__SITE_PREREQUISITE, "auth", { .site = PAI__SITE_AUTH } },
  { PAI__SITE_AUTH, "username", { .absence = PAI__ABSENT_TEXT, .text = "" } },
  { PAI__SITE_AUTH, "password", { .absence = PAI__ABSENT_TEXT, .text = "" } },
  { PAI__SITE_AUTH,
    "registryuri",
    { .absence = PAI__ABSENT_TEXT, .text = DOCKER_HUB } },

  { PAI__SITE_ROLES, "*", { .site = PAI__SITE_ROLE } },
  { PAI__SITE_ROLE, "protocolVersion", { .site = PAI__SITE_PROTOCOL } },
  { PAI__SITE_ROLE,
    "instances",
    { .absence = PAI__ABSENT_NUMBER, .number = 1 } },
  { PAI__SITE_ROLE, "taskRetryCount", { .absence = PAI__ABSENT_NUMBER } },
  { PAI__SITE_ROLE,
    "completion",
    { .site = PAI__SITE_COMPLETION, .absence = PAI__ABSENT_EMPTY } },
  { PAI__SITE_ROLE, "prerequisites", { .absence = PAI__ABSENT_EMPTY } },
  { PAI__SITE_ROLE,
    "extraContainerOptions",
    { .site = PAI__SITE_CONTAINER, .absence = PAI__ABSENT_EMPTY } },
  { PAI__SITE_ROLE, "resourcePerInstance", { .site = PAI__SITE_RESOURCE } },
  { PAI__SITE_ROLE, "commands", { .site = PAI__SITE_LINES } },
  { PAI__SITE_COMPLETION,
    "minFailedInstances",
    { .absence = PAI__ABSENT_NUMBER,
      .number = 1,
      .null = true,
      .zero = true } },
  { PAI__SITE_COMPLETION,
    "minSucceededInstances",
    { .absence = PAI__ABSENT_INSTANCES, .null = true, .zero = true } },
  { PAI__SITE_CONTAINER,
    "shmMB",
    { .absence = PAI__ABSENT_NUMBER, .number = 512, .zero = true } },
  { PAI__SITE_CONTAINER, "infiniband", { .absence = PAI__ABSENT_FALSE } },
  { PAI__SITE_RESOURCE,
    "ports",
    { .site = PAI__SITE_PORTS, .absence = PAI__ABSENT_EMPTY } },
  { PAI__SITE_PORTS, "ssh", { .absence = PAI__ABSENT_NUMBER, .number = 1 } },
  { PAI__SITE_PORTS, "http", { .absence = PAI__ABSENT_NUMBER, .number = 1 } },

  { PAI__SITE_DEPLOYMENTS, "*", { .site = PAI__SITE_DEPLOYMENT } },
  { PAI__SITE_DEPLOYMENT, "protocolVersion", { .site = PAI__SITE_PROTOCOL } },
  { PAI__SITE_DEPLOYMENT, "taskRoles", { .site = PAI__SITE_HOOK_ROLES } },
  { PAI__SITE_HOOK_ROLES,
    "*",
    { .site = PAI__SITE_HOOKS, .absence = PAI__ABSENT_EMPTY } },
  { PAI__SITE_HOOKS, "preCommands", { .site = PAI__SITE_LINES } },
  { PAI__SITE_HOOKS, "postCommands", { .site = PAI__SITE_LINES } },

  { PAI__SITE_DEFAULTS,
    "virtualCluster",
    { .absence = PAI__ABSENT_TEXT, .text = "default", .null = true } },
  { PAI__SITE_EXTRAS, "gangAllocation", { .absence = PAI__ABSENT_TRUE } },
};

pai__site_field pai__site_below(enum pai__spec_site site, const char *key)
{
  for (size_t i = 0; site != PAI__SITE_ANY && i < PAI__LEN(fields); i++)
    if (fields[i].in == site &&
        (*fields[i].key == '*' ||
         (key != NULL && strcmp(fields[i].key, key) == 0)))
      return fields[i].field;
  return (pai__site_field){ .site = PAI__SITE_ANY };
}

/* --- absence ------------------------------------------------------------ */

bool pai__js_true(const pai__tree *t, pai__node n)
{
  size_t len;

  if (n == PAI__NO_NODE)
    return false;
  switch (pai__tree_type(t, n)) {
  case PAI__NULL: return false;
  case PAI__BOOL: return pai__tree_bool(t, n);
  case PAI__INT:
  case PAI__FLOAT:
    return pai__tree_float(t, n) < 0 || pai__tree_float(t, n) > 0;
  case PAI__STRING: (void)pai__tree_str(t, n, &len); return len > 0;
  default: return true;
  }
}

bool pai__site_is_on(const pai__site_field *field, const pai__tree *t,
                     pai__node n)
{
  if (field->absence == PAI__ABSENT_TRUE)
    return !pai__tree_is(t, n, PAI__BOOL) || pai__tree_bool(t, n);
  return pai__js_true(t, n);
}

pai__node pai__site_counted(const pai__site_field *field, const pai__tree *t,
                            pai__node n)
{
  int64_t value;

  if (n != PAI__NO_NODE &&
      ((field->null && pai__tree_type(t, n) == PAI__NULL) ||
       (field->zero && pai__tree_whole(t, n, &value) && value == 0)))
    return PAI__NO_NODE;
  return n;
}

bool pai__site_is_default(const pai__site_field *field, const pai__tree *t,
                          pai__node n, uint32_t instances)
{
  int64_t value;
  const char *s;
  size_t len;

  switch (field->absence) {
  case PAI__ABSENT_NUMBER:
    return pai__tree_whole(t, n, &value) && value == field->number;
  case PAI__ABSENT_INSTANCES:
    return pai__tree_whole(t, n, &value) && value == instances;
  case PAI__ABSENT_TEXT:
    s = pai__text_at(t, n, &len);
    return s != NULL && len == strlen(field->text) &&
           memcmp(s, field->text, len) == 0;
  case PAI__ABSENT_EMPTY:
    return pai__tree_type(t, n) >= PAI__SEQUENCE && pai__tree_count(t, n) == 0;
  default: return false;
  }
}
