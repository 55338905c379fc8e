/* values.c - values of a job file as JSON, and where they stand */
#include "spec/values.h"

#include "spec/index.h"
#include "spec/template.h"

#include <math.h>

/* --- sites ----------------------------------------------------------------- */

#define DOCKER_HUB "https://index.docker.io/v1/"

/* "*" is every key, or every item; keys that are not here are of
 * PAI__SITE_ANY, and absent they are nothing. */
static const struct {
  enum pai__site in;
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

pai__site_field pai__site_below(enum pai__site site, const char *key)
{
  for (size_t i = 0; site != PAI__SITE_ANY && i < PAI__LEN(fields); i++)
    if (fields[i].in == site &&
        (*fields[i].key == '*' ||
         (key != NULL && strcmp(fields[i].key, key) == 0)))
      return fields[i].field;
  return (pai__site_field){ .site = PAI__SITE_ANY };
}

/* --- absence --------------------------------------------------------------- */

/* False, 0, "" and null are not true to JavaScript. */
static bool is_true(const pai__tree *t, pai__node n)
{
  size_t len;

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

static bool is_false_itself(const pai__tree *t, pai__node n)
{
  return pai__tree_type(t, n) == PAI__BOOL && !pai__tree_bool(t, n);
}

bool pai__site_is_on(const pai__site_field *field, const pai__tree *t,
                     pai__node n)
{
  if (field->absence == PAI__ABSENT_TRUE)
    return n == PAI__NO_NODE || !is_false_itself(t, n);
  return n != PAI__NO_NODE && is_true(t, n);
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

/* --- JSON ------------------------------------------------------------------ */

static void write_scalar(pai__json_writer *w, const pai__tree *t, pai__node n)
{
  const pai__tree_node *node = pai__tree_at(t, n);
  const char *s;
  size_t len;

  switch (node->type) {
  case PAI__NULL: pai__json_null(w); break;
  case PAI__BOOL: pai__json_bool(w, node->u.b); break;
  case PAI__INT: pai__json_int(w, node->u.i); break;
  case PAI__STRING:
    s = pai__tree_str(t, n, &len);
    pai__json_text(w, s, len);
    break;
  case PAI__FLOAT:
    if (isfinite(node->u.f)) {
      pai__json_double(w, node->u.f);
      break;
    }
    /* fall through */
  default: /* dates and bytes, .nan and .inf: as written */
    pai__json_text(w, t->text + node->start, node->end - node->start);
    break;
  }
}

static void write_collection(pai__json_writer *w, const pai__secrets *secrets,
                             pai__node n)
{
  const pai__tree *t = secrets->tree;
  bool mapping = pai__tree_type(t, n) == PAI__MAPPING;
  pai__tree_walk walk = pai__tree_iter(t, n);
  pai__node child;

  if (mapping)
    pai__json_begin_object(w);
  else
    pai__json_begin_array(w);
  while ((child = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (mapping) {
      size_t len;
      const char *key = pai__tree_str(t, child, &len);
      pai__json_key(w, key, len);
      child = pai__tree_value(t, child);
    }
    pai__value_write(w, secrets, child);
  }
  if (mapping)
    pai__json_end_object(w);
  else
    pai__json_end_array(w);
}

void pai__value_write(pai__json_writer *w, const pai__secrets *secrets,
                      pai__node n)
{
  const pai__tree *t = secrets->tree;

  if (pai__secrets_hide(secrets, n))
    pai__json_text(w, PAI__MASK, strlen(PAI__MASK));
  else if (pai__tree_type(t, n) >= PAI__SEQUENCE)
    write_collection(w, secrets, n);
  else
    write_scalar(w, t, n);
}
