/*
 * parse.c - a job file of protocol v2 into a pai_spec (job-spec 1.2 to 1.7)
 *
 * What this version cannot do and what would change the commands that run is
 * refused; what it only does not act on is noted.
 */
#include "spec/reader.h"

#include "base/buf.h"
#include "json/json.h"
#include "yaml/yaml.h"

/* Instances and the name are OpenPAI's limits.  Those of a whole job bound its
 * memory; how much of it can be started is for the platform to say. */
enum {
  MAX_INSTANCES = 10000,
  MAX_TASKS = 100000,
  MAX_PORTS = 1000000, /* of a whole job */
  MAX_NAME = 255
};

static bool is_alpha(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* ^[a-zA-Z_][a-zA-Z0-9_]*$ */
static bool is_identifier(const char *s)
{
  if (!is_alpha(*s))
    return false;
  while (is_alpha(*s) || is_digit(*s))
    s++;
  return *s == '\0';
}

/* ^[a-zA-Z0-9_-]+$ */
static bool is_job_name(const char *s)
{
  size_t len = strlen(s);

  if (len == 0 || len > MAX_NAME)
    return false;
  while (is_alpha(*s) || is_digit(*s) || *s == '-')
    s++;
  return *s == '\0';
}

static void read_ports(reader *r, pai__node n, pai__role *role)
{
  static const char *const always[] = { "ssh", "http" };
  uint32_t given = n == PAI__NO_NODE ? 0 : pai__tree_count(r->tree, n);
  pai__tree_walk walk;
  pai__node key;

  role->ports = pai__read_alloc(r, given + 2, sizeof(*role->ports));
  if (role->ports == NULL)
    return;
  if (n != PAI__NO_NODE) {
    walk = pai__tree_iter(r->tree, n);
    while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
      pai__port *port = &role->ports[role->nports++];
      port->label = pai__read_string(r, key, "the label of a port");
      if (r->rc == PAI_OK && !is_identifier(port->label))
        pai__read_fail(r, PAI_EINVAL, key, "'%s' cannot label a port",
                       port->label);
      port->count = (uint32_t)pai__read_int(
        r, pai__tree_value(r->tree, key), "a port's count", 1, UINT16_MAX, 1);
    }
  }
  for (size_t i = 0; i < PAI__LEN(always) && r->rc == PAI_OK; i++) {
    size_t p = 0;
    while (p < role->nports && strcmp(role->ports[p].label, always[i]) != 0)
      p++;
    if (p == role->nports)
      role->ports[role->nports++] = (pai__port){ always[i], 1 };
  }
}

static void read_resources(reader *r, pai__node n, pai__role *role)
{
  static const char *const known[] = { "cpu", "memoryMB", "gpu", "ports",
                                       NULL };
  pai__node ports;

  if (!pai__read_mapping(r, n, "resourcePerInstance", known))
    return;
  role->cpus = (uint32_t)pai__read_int(r, pai__read_field(r, n, "cpu", true),
                                       "cpu", 0, 1000000, 0);
  role->memory_mb = (uint32_t)pai__read_int(
    r, pai__read_field(r, n, "memoryMB", true), "memoryMB", 0, INT32_MAX, 0);
  role->gpus = (uint32_t)pai__read_int(r, pai__read_field(r, n, "gpu", true),
                                       "gpu", 0, 1000000, 0);
  ports = pai__read_field(r, n, "ports", false);
  if (ports != PAI__NO_NODE && !pai__read_mapping(r, ports, "ports", NULL))
    return;
  if (ports != PAI__NO_NODE && pai__tree_count(r->tree, ports) == 0)
    pai__read_fail(r, PAI_EINVAL, ports, "ports is empty");
  read_ports(r, ports, role);
}

/* Absent, null and 0 mean the default; -1 means never. */
static int32_t read_minimum(reader *r, pai__node completion, const char *name,
                            int32_t missing)
{
  pai__node n = PAI__NO_NODE;
  int64_t value = 0;

  if (completion != PAI__NO_NODE)
    n = pai__read_field(r, completion, name, false);
  if (n != PAI__NO_NODE && pai__tree_type(r->tree, n) != PAI__NULL)
    value = pai__read_int(r, n, name, -1, INT32_MAX, 0);
  return value == 0 ? missing : (int32_t)value;
}

static void read_completion(reader *r, pai__node n, pai__role *role)
{
  static const char *const known[] = { "minFailedInstances",
                                       "minSucceededInstances", NULL };

  if (n != PAI__NO_NODE && !pai__read_mapping(r, n, "completion", known))
    return;
  role->min_failed = read_minimum(r, n, "minFailedInstances", 1);
  role->min_succeeded =
    read_minimum(r, n, "minSucceededInstances", (int32_t)role->instances);
}

/* Adds one command without the white space around it. */
static void add_command(reader *r, pai__node n, pai__buf *script)
{
  const char *text = pai__read_string(r, n, "a command");
  size_t len = strlen(text);

  if (strstr(text, "<%") != NULL) {
    pai__read_fail(r, PAI_ENOTSUP, n,
                   "this version does not fill in templates: <%% … %%>");
    pai__read_help(r, "write the value itself");
  }
  while (len > 0 && strchr(" \t\n\r\v\f", text[len - 1]) != NULL)
    len--;
  while (len > 0 && strchr(" \t\n\r\v\f", *text) != NULL)
    text++, len--;
  pai__buf_add(script, text, len);
  pai__buf_char(script, '\n');
}

static void read_commands(reader *r, pai__node n, pai__role *role)
{
  pai__tree_walk walk;
  pai__node item;
  pai__buf script;

  if (r->rc < 0)
    return;
  if (pai__tree_type(r->tree, n) != PAI__SEQUENCE ||
      pai__tree_count(r->tree, n) == 0) {
    pai__read_fail(r, PAI_EINVAL, n,
                   "commands must be a list of at least one command");
    return;
  }
  pai__buf_init(&script, &r->spec->alloc);
  walk = pai__tree_iter(r->tree, n);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    add_command(r, item, &script);
  if (r->rc == PAI_OK) {
    role->script =
      pai__buf_ok(&script)
        ? pai__arena_strndup(&r->spec->arena, pai__buf_text(&script),
                             script.len - 1)
        : NULL;
    if (role->script == NULL)
      r->rc = pai__oom(r->err);
  }
  pai__buf_dispose(&script);
}

static void read_role(reader *r, pai__node key, pai__role *role)
{
  static const char *const known[] = { "protocolVersion",
                                       "instances",
                                       "completion",
                                       "taskRetryCount",
                                       "prerequisites",
                                       "dockerImage",
                                       "data",
                                       "output",
                                       "script",
                                       "extraContainerOptions",
                                       "resourcePerInstance",
                                       "commands",
                                       NULL };
  pai__node n = pai__tree_value(r->tree, key), options;

  role->name = pai__read_string(r, key, "the name of a task role");
  if (r->rc == PAI_OK && !is_identifier(role->name)) {
    pai__read_fail(r, PAI_EINVAL, key, "'%s' cannot name a task role",
                   role->name);
    pai__read_help(r, "use letters, digits and _, and no digit first");
  } else if (strlen(role->name) > PAI__MAX_ROLE_NAME) {
    pai__read_fail(r, PAI_ELIMIT, key,
                   "the name of a task role is longer than %d characters",
                   PAI__MAX_ROLE_NAME);
    pai__read_help(r, "shorten it: its tasks' folders are named after it");
  }
  if (!pai__read_mapping(r, n, "a task role", known))
    return;
  role->instances =
    (uint32_t)pai__read_int(r, pai__read_field(r, n, "instances", false),
                            "instances", 1, MAX_INSTANCES, 1);
  read_completion(r, pai__read_field(r, n, "completion", false), role);
  (void)pai__read_string(r, pai__read_field(r, n, "dockerImage", true),
                         "dockerImage");
  read_resources(r, pai__read_field(r, n, "resourcePerInstance", true), role);
  options = pai__read_field(r, n, "extraContainerOptions", false);
  if (options != PAI__NO_NODE &&
      pai__read_mapping(r, options, "extraContainerOptions", NULL))
    role->shm_mb =
      (uint32_t)pai__read_int(r, pai__read_field(r, options, "shmMB", false),
                              "shmMB", 0, INT32_MAX, 0);
  read_commands(r, pai__read_field(r, n, "commands", true), role);
}

static void read_roles(reader *r, pai__node n)
{
  pai_spec *spec = r->spec;
  uint64_t ports = 0;
  pai__tree_walk walk;
  pai__node key;

  if (!pai__read_mapping(r, n, "taskRoles", NULL))
    return;
  if (pai__tree_count(r->tree, n) == 0)
    pai__read_fail(r, PAI_EINVAL, n, "taskRoles is empty");
  spec->roles =
    pai__read_alloc(r, pai__tree_count(r->tree, n), sizeof(*spec->roles));
  walk = pai__tree_iter(r->tree, n);
  while (r->rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__role *role = &spec->roles[spec->nroles++];

    read_role(r, key, role);
    spec->ntasks += role->instances;
    for (size_t i = 0; i < role->nports; i++)
      ports += (uint64_t)role->instances * role->ports[i].count;
    if (spec->ntasks > MAX_TASKS)
      pai__read_fail(r, PAI_ELIMIT, key, "the job has more than %d tasks",
                     MAX_TASKS);
    if (ports > MAX_PORTS)
      pai__read_fail(r, PAI_ELIMIT, key, "the job has more than %d ports",
                     MAX_PORTS);
  }
}

static void read_version(reader *r, pai__node n)
{
  int64_t number;

  if (n == PAI__NO_NODE)
    return;
  if (pai__tree_type(r->tree, n) == PAI__STRING
        ? strcmp(pai__tree_str(r->tree, n, NULL), "2") == 0
        : pai__tree_whole(r->tree, n, &number) && number == 2)
    return;
  pai__read_fail(r, PAI_EINVAL, n, "protocolVersion must be 2");
}

/* Deployments would add commands: refuse what selects one. */
static void read_defaults(reader *r, pai__node n)
{
  pai__node deployment;

  if (n == PAI__NO_NODE || !pai__read_mapping(r, n, "defaults", NULL))
    return;
  deployment = pai__read_field(r, n, "deployment", false);
  if (deployment != PAI__NO_NODE) {
    pai__read_fail(r, PAI_ENOTSUP, deployment,
                   "this version does not apply deployments");
    pai__read_help(r, "put the deployment's commands into the task roles");
  }
}

static void read_job(reader *r, pai__node root)
{
  static const char *const known[] = {
    "protocolVersion", "name",        "type",
    "version",         "contributor", "description",
    "prerequisites",   "parameters",  "secrets",
    "jobRetryCount",   "taskRoles",   "deployments",
    "defaults",        "extras",      NULL
  };
  pai_spec *spec = r->spec;
  pai__node name, type, extras;

  if (!pai__read_mapping(r, root, "a job file", known))
    return;
  read_version(r, pai__read_field(r, root, "protocolVersion", true));
  name = pai__read_field(r, root, "name", true);
  spec->name = pai__read_string(r, name, "name");
  if (r->rc == PAI_OK && !is_job_name(spec->name)) {
    pai__read_fail(r, PAI_EINVAL, name, "'%s' cannot name a job", spec->name);
    pai__read_help(r, "use 1 to %d letters, digits, _ and -", MAX_NAME);
  }
  type = pai__read_field(r, root, "type", true);
  if (strcmp(pai__read_string(r, type, "type"), "job") != 0)
    pai__read_fail(r, PAI_EINVAL, type, "type must be job");
  spec->retry_count = (uint32_t)pai__read_int(
    r, pai__read_field(r, root, "jobRetryCount", false), "jobRetryCount", 0,
    INT32_MAX, 0);
  read_defaults(r, pai__read_field(r, root, "defaults", false));
  read_roles(r, pai__read_field(r, root, "taskRoles", true));
  extras = pai__read_field(r, root, "extras", false);
  if (extras != PAI__NO_NODE)
    (void)pai__read_mapping(r, extras, "extras", NULL);
  pai__read_notes(r, root);
}

/* A text that begins like JSON and is JSON is read as that: YAML is nearly a
 * superset of it, but libyaml refuses escaped surrogate pairs. */
static int parse_text(pai__tree **tree, const char *text, size_t len,
                      const pai_alloc *alloc, size_t max_bytes,
                      pai_error **err)
{
  pai__json_options json = { .alloc = alloc, .max_bytes = max_bytes };
  pai__yaml_options yaml = { .mode = PAI__YAML_JS,
                             .alloc = alloc,
                             .max_bytes = max_bytes };

  if (len > 0 && text[0] == '{' &&
      pai__json_parse(tree, text, len, &json, NULL) == PAI_OK)
    return PAI_OK;
  return pai__yaml_parse(tree, text, len, &yaml, err);
}

int pai_spec_parse(pai_spec **out, const char *text, size_t len,
                   const pai_spec_options *opts, pai_error **err)
{
  pai_error *local = NULL; /* additions need it when err is NULL */
  reader r = { .err = &local };
  pai_spec_options o;
  pai__tree *tree;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG(text != NULL);
  rc = PAI__COPY_IN(&o, opts, pai_spec_options, max_bytes);
  if (rc < 0)
    return pai__fail(err, rc, "pai_spec_options: bad or newer struct_size");
  o.alloc = pai__alloc_or_libc(o.alloc);
  if (o.max_bytes == 0)
    o.max_bytes = PAI__SPEC_MAX_BYTES;
  rc = parse_text(&tree, text, len, o.alloc, o.max_bytes, err);
  if (rc < 0)
    return rc;
  r.tree = tree;
  r.spec = pai__zalloc(o.alloc, sizeof(*r.spec));
  if (r.spec != NULL) {
    r.spec->alloc = *o.alloc;
    atomic_init(&r.spec->refs, 1);
    pai__arena_init(&r.spec->arena, &r.spec->alloc);
    read_job(&r, 0);
  } else {
    r.rc = pai__oom(&local);
  }
  pai__tree_free(tree);
  if (r.rc < 0) {
    pai_spec_unref(r.spec);
    if (err != NULL)
      *err = local;
    else
      pai_error_free(local);
    return r.rc;
  }
  *out = r.spec;
  return PAI_OK;
}
