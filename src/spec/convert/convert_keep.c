/* convert_keep.c - keeps the v1 fields that v2 lacks, in extras.openpai.v1 */
#include "spec/convert/convert_parts.h"

#include "base/text/utf8.h"
#include "spec/format/write.h"

static bool is_text(const pai__conv *c, pai__node n, const char *s)
{
  return pai__conv_same(pai__conv_text(c, n), (pai__conv_str){ s, strlen(s) });
}

static void put_value(pai__conv *c, pai__node n)
{
  pai__write_yaml_value(&c->w, c->tree, n);
}

void pai__conv_put_entry(pai__conv *c, pai__node key)
{
  pai__conv_str name = pai__conv_text(c, key);

  pai__yaml_key(&c->w, name.s, name.len);
  put_value(c, pai__tree_value(c->tree, key));
}

/* Writes all entries of a mapping but `but`, which may be NULL. */
static void put_entries(pai__conv *c, pai__node mapping, const char *but)
{
  pai__tree_walk w = pai__tree_iter(c->tree, mapping);
  pai__node key;

  while ((key = pai__tree_next(&w)) != PAI__NO_NODE)
    if (but == NULL || !is_text(c, key, but))
      pai__conv_put_entry(c, key);
}

/* --- places ------------------------------------------------------------- */

static void open_extras(pai__conv *c)
{
  if (c->in_extras)
    return;
  pai__conv_key(c, "extras");
  pai__yaml_begin_mapping(&c->w);
  put_entries(c, c->extras, "openpai");
  c->in_extras = true;
}

/* Returns the job's own extras.openpai if `v1` can be added to it, or
 * PAI__NO_NODE. */
static pai__node mixed(const pai__conv *c)
{
  pai__node own = pai__tree_get(c->tree, c->extras, "openpai");

  return pai__tree_is(c->tree, own, PAI__MAPPING) &&
             pai__tree_size(c->tree, own) != 0 &&
             pai__tree_get(c->tree, own, "v1") == PAI__NO_NODE
           ? own
           : PAI__NO_NODE;
}

/* Writes the key of a kept field, and opens the mappings around it. */
static void keep(pai__conv *c, const char *field)
{
  if (!c->in_kept) {
    open_extras(c);
    pai__conv_key(c, "openpai");
    pai__yaml_begin_mapping(&c->w);
    put_entries(c, mixed(c), NULL);
    pai__conv_key(c, "v1");
    pai__yaml_begin_mapping(&c->w);
    c->in_kept = true;
  }
  pai__conv_key(c, field);
}

static void keep_text(pai__conv *c, const char *field, pai__conv_str value)
{
  keep(c, field);
  pai__yaml_text(&c->w, value.s, value.len);
}

static void keep_in_role(pai__conv *c, size_t role, const char *field)
{
  if (!c->in_roles) {
    keep(c, "taskRoles");
    pai__yaml_begin_mapping(&c->w);
    c->in_roles = true;
  }
  if (!c->in_role) {
    pai__yaml_key(&c->w, c->names[role].s, c->names[role].len);
    pai__yaml_begin_mapping(&c->w);
    c->in_role = true;
  }
  pai__conv_key(c, field);
}

/* --- the job ------------------------------------------------------------ */

static void warn_of_name(pai__conv *c, pai__node at, const char *code,
                         const char *what, pai__conv_str name,
                         pai__conv_str now)
{
  char from[PAI__EXCERPT], to[PAI__EXCERPT];

  if (at == PAI__NO_NODE)
    at = 0; /* the file is not valid */
  pai__find(c->found, PAI_SEVERITY_WARNING, code, at,
            "v2 does not allow the name '%s' here; %s is renamed to '%s'",
            pai__excerpt(from, name.s, name.len), what,
            pai__excerpt(to, now.s, now.len));
}

static void keep_job_name(pai__conv *c)
{
  pai__node n = pai__tree_get(c->tree, 0, "jobName");
  pai__conv_str name = pai__conv_text(c, n), now = pai__conv_job_name(c, name);

  if (c->rc < 0 || pai__conv_same(name, now))
    return;
  warn_of_name(c, n, "job-name", "the job", name, now);
  keep_text(c, "jobName", name);
}

/* Keeps text fields that are not empty, with a warning. */
static void keep_strings(pai__conv *c)
{
  static const struct {
    const char *field, *code, *message, *help;
  } fields[] = {
    { "authFile", "auth-file",
      "v2 does not read credentials of the registry from a file",
      "add 'auth' to the image in prerequisites, with the password in "
      "secrets" },
    { "gpuType", "gpu-type", "v2 has no GPU type for a whole job",
      "with hived, set extras.hivedScheduler.taskRoles.ROLE.skuType" },
  };
  pai__node n = pai__tree_get(c->tree, 0, "virtualCluster");

  for (size_t i = 0; i < PAI__LEN(fields); i++) {
    pai__node at = pai__tree_get(c->tree, 0, fields[i].field);
    pai__conv_str value = pai__conv_text(c, at);

    if (value.len == 0)
      continue;
    pai__find(c->found, PAI_SEVERITY_WARNING, fields[i].code, at,
              "%s; it is kept", fields[i].message);
    pai__find_help(c->found, "%s", fields[i].help);
    keep_text(c, fields[i].field, value);
  }
  if (n != PAI__NO_NODE && pai__conv_text(c, n).len == 0)
    keep_text(c, "virtualCluster", (pai__conv_str){ "", 0 });
}

static void keep_numbers(pai__conv *c)
{
  pai__node kill = pai__tree_get(c->tree, 0, "killAllOnCompletedTaskNumber");
  pai__node n = pai__tree_get(c->tree, 0, "retryCount");
  int64_t retries = pai__conv_int(c, n, 0);

  if (kill != PAI__NO_NODE) {
    keep(c, "killAllOnCompletedTaskNumber");
    pai__yaml_int(&c->w, pai__conv_int(c, kill, 0));
  }
  if (retries >= 0)
    return;
  pai__find(c->found, PAI_SEVERITY_WARNING, "retry-count", n,
            "v2 has no retryCount %lld, %s; it becomes %lld retries",
            (long long)retries,
            retries == -2 ? "which also retries after success"
                          : "which retries forever",
            (long long)pai__conv_retries(retries));
  keep(c, "retryCount");
  pai__yaml_int(&c->w, retries);
}

static void warn_of_variable(pai__conv *c, pai__node key, bool exports)
{
  static const char *const acted_on[] = { "paiAzRDMA", "isDebug" };
  pai__node value = pai__tree_value(c->tree, key);
  pai__conv_str name = pai__conv_text(c, key);
  char part[PAI__EXCERPT];

  if (!exports)
    pai__find(
      c->found, PAI_SEVERITY_WARNING, "env-name", value,
      "a shell cannot set the variable '%s'; it is kept without effect",
      pai__excerpt(part, name.s, name.len));
  for (size_t i = 0; i < PAI__LEN(acted_on); i++)
    if (is_text(c, key, acted_on[i]) && pai__tree_is_true(c->tree, value))
      pai__find(c->found, PAI_SEVERITY_WARNING, "env-acted-on", value,
                "OpenPAI handled %s itself; in v2 it is a plain variable",
                acted_on[i]);
}

/* Keeps variables that the deployment does not export.  An empty jobEnvs is
 * kept too. */
static void keep_variables(pai__conv *c)
{
  pai__tree_walk w = pai__tree_iter(c->tree, c->envs);
  size_t exported = 0, others = 0;
  pai__node key;

  while ((key = pai__tree_next(&w)) != PAI__NO_NODE) {
    bool exports = pai__conv_exports(c, key);

    warn_of_variable(c, key, exports);
    *(exports ? &exported : &others) += 1;
  }
  if (c->envs == PAI__NO_NODE || (exported != 0 && others == 0))
    return;
  keep(c, "jobEnvs");
  pai__yaml_begin_mapping(&c->w);
  w = pai__tree_iter(c->tree, c->envs);
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE)
    if (!pai__conv_exports(c, key))
      pai__conv_put_entry(c, key);
  pai__yaml_end_mapping(&c->w);
}

/* --- task roles --------------------------------------------------------- */

static void warn_of_ports(pai__conv *c, pai__node list,
                          const pai__conv_port_list *ports)
{
  pai__tree_walk w = pai__tree_iter(c->tree, list);

  for (size_t i = 0; i < ports->n; i++) {
    pai__node port = pai__tree_next(&w);
    pai__node label = pai__tree_get(c->tree, port, "label");
    pai__node begin = pai__tree_get(c->tree, port, "beginAt");
    pai__conv_str name = pai__conv_text(c, label);

    if (ports->counts[i] < 1)
      pai__find(c->found, PAI_SEVERITY_WARNING, "port-count", port,
                "v2 does not allow a label with %lld ports; it is kept",
                (long long)ports->counts[i]);
    else if (!pai__conv_same(name, ports->labels[i]))
      warn_of_name(c, label, "port-label", "the label", name,
                   ports->labels[i]);
    if (pai__conv_int(c, begin, 0) != 0)
      pai__find(
        c->found, PAI_SEVERITY_WARNING, "port-begin", begin,
        "v2 chooses port numbers itself; beginAt is kept without effect");
  }
}

static void keep_ports(pai__conv *c, size_t role, pai__node list)
{
  pai__conv_port_list ports = pai__conv_ports(c, list);
  pai__tree_walk w = pai__tree_iter(c->tree, list);
  pai__node port;

  if (ports.all_said)
    return;
  warn_of_ports(c, list, &ports);
  keep_in_role(c, role, "portList");
  pai__yaml_begin_sequence(&c->w);
  while ((port = pai__tree_next(&w)) != PAI__NO_NODE) {
    pai__conv_str label =
      pai__conv_text(c, pai__tree_get(c->tree, port, "label"));
    pai__node begin = pai__tree_get(c->tree, port, "beginAt");
    pai__node number = pai__tree_get(c->tree, port, "portNumber");

    pai__yaml_begin_mapping(&c->w);
    pai__conv_key(c, "label");
    pai__yaml_text(&c->w, label.s, label.len);
    pai__conv_put_int(c, "beginAt", pai__conv_int(c, begin, 0));
    pai__conv_put_int(c, "portNumber", pai__conv_int(c, number, 1));
    pai__yaml_end_mapping(&c->w);
  }
  pai__yaml_end_sequence(&c->w);
}

/* Keeps a minimum that exceeds the number of tasks.  v1's schema accepted it,
 * but not its server. */
static void keep_minimum(pai__conv *c, size_t i, pai__node role,
                         const char *field, int64_t missing, int64_t tasks)
{
  pai__node n = pai__tree_get(c->tree, role, field);
  int64_t value = n != PAI__NO_NODE ? pai__conv_int(c, n, -1) : missing;

  if (value <= tasks || value < 1)
    return;
  keep_in_role(c, i, field);
  pai__yaml_int(&c->w, value);
}

static void keep_role(pai__conv *c, size_t i, pai__node role)
{
  pai__node at = pai__tree_get(c->tree, role, "name");
  pai__node tasks = pai__tree_get(c->tree, role, "taskNumber");
  pai__node shm = pai__tree_get(c->tree, role, "shmMB");
  int64_t ntasks = pai__conv_int(c, tasks, 1);
  pai__conv_str name = pai__conv_text(c, at);

  if (!pai__conv_same(name, c->names[i])) {
    warn_of_name(c, at, "role-name", "the task role", name, c->names[i]);
    keep_in_role(c, i, "name");
    pai__yaml_text(&c->w, name.s, name.len);
  }
  if (ntasks < 1) {
    pai__find(c->found, PAI_SEVERITY_WARNING, "no-tasks", tasks,
              "v2 does not allow a task role without tasks; it gets one task");
    keep_in_role(c, i, "taskNumber");
    pai__yaml_int(&c->w, ntasks);
  }
  keep_minimum(c, i, role, "minFailedTaskCount", 1, ntasks);
  keep_minimum(c, i, role, "minSucceededTaskCount", -1, ntasks);
  if (pai__conv_int(c, shm, 64) == 0) {
    keep_in_role(c, i, "shmMB");
    pai__yaml_int(&c->w, 0);
  }
  keep_ports(c, i, pai__tree_get(c->tree, role, "portList"));
  if (c->in_role)
    pai__yaml_end_mapping(&c->w);
  c->in_role = false;
}

static void keep_roles(pai__conv *c)
{
  pai__tree_walk w = pai__tree_iter(c->tree, c->roles);

  for (size_t i = 0; i < c->nroles && c->rc == PAI_OK; i++)
    keep_role(c, i, pai__tree_next(&w));
  if (c->in_roles)
    pai__yaml_end_mapping(&c->w);
}

/* --- extras ------------------------------------------------------------- */

static void warn_of_extras(pai__conv *c)
{
  static const char *const acted_on[] = { "gangAllocation", "hivedScheduler",
                                          "storages",
                                          "com.microsoft.pai.runtimeplugin",
                                          "jobStatusChangeNotification" };

  for (size_t i = 0; i < PAI__LEN(acted_on); i++) {
    pai__node n = pai__tree_get(c->tree, c->extras, acted_on[i]);

    if (n != PAI__NO_NODE)
      pai__find(c->found, PAI_SEVERITY_WARNING, "extras", n,
                "v1 ignored %s in extras, v2 uses it", acted_on[i]);
  }
}

void pai__conv_keep(pai__conv *c)
{
  pai__node own = pai__tree_get(c->tree, c->extras, "openpai");

  warn_of_extras(c);
  if (c->extras != PAI__NO_NODE)
    open_extras(c);
  keep_job_name(c);
  keep_strings(c);
  keep_numbers(c);
  keep_variables(c);
  keep_roles(c);
  if (own != PAI__NO_NODE && mixed(c) == PAI__NO_NODE) {
    keep(c, "extras");
    pai__yaml_begin_mapping(&c->w);
    pai__conv_key(c, "openpai");
    put_value(c, own);
    pai__yaml_end_mapping(&c->w);
  } else if (own != PAI__NO_NODE && !c->in_kept) {
    pai__conv_key(c, "openpai");
    put_value(c, own);
  } else if (c->extras != PAI__NO_NODE && c->in_kept &&
             pai__tree_size(c->tree, c->extras) == 0) {
    keep(c, "extras"); /* extras was there, but empty */
    pai__yaml_begin_mapping(&c->w);
    pai__yaml_end_mapping(&c->w);
  }
  if (c->in_kept) {
    pai__yaml_end_mapping(&c->w); /* v1 */
    pai__yaml_end_mapping(&c->w); /* openpai */
  }
  if (c->in_extras)
    pai__yaml_end_mapping(&c->w);
}
