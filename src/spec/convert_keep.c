/* convert_keep.c - what v2 has no place for, in extras.openpai.v1 */
#include "spec/convert_v1.h"

#include "base/utf8.h"

static void put_node(v1_job *j, pai__node n);

void pai__v1_entry(v1_job *j, pai__node key)
{
  text name = pai__conv_text(&j->c, key);

  pai__yaml_key(&j->w, name.s, name.len);
  put_node(j, pai__tree_value(j->c.tree, key));
}

/* All entries of a mapping but one; `but` may be NULL. */
static void put_entries(v1_job *j, pai__node mapping, const char *but)
{
  pai__tree_walk w = pai__conv_walk(&j->c, mapping);
  pai__node key;

  while ((key = pai__tree_next(&w)) != PAI__NO_NODE)
    if (but == NULL || !pai__conv_equals(pai__conv_text(&j->c, key), but))
      pai__v1_entry(j, key);
}

static void put_node(v1_job *j, pai__node n)
{
  const pai__tree *t = j->c.tree;
  pai__tree_walk w = pai__conv_walk(&j->c, n);
  pai__node item;
  text s;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: pai__yaml_nothing(&j->w); break;
  case PAI__BOOL: pai__yaml_boolean(&j->w, pai__tree_bool(t, n)); break;
  case PAI__INT: pai__yaml_int(&j->w, pai__tree_int(t, n)); break;
  case PAI__FLOAT: pai__yaml_double(&j->w, pai__tree_float(t, n)); break;
  case PAI__SEQUENCE:
    pai__yaml_begin_sequence(&j->w);
    while ((item = pai__tree_next(&w)) != PAI__NO_NODE)
      put_node(j, item);
    pai__yaml_end_sequence(&j->w);
    break;
  case PAI__MAPPING:
    pai__yaml_begin_mapping(&j->w);
    put_entries(j, n, NULL);
    pai__yaml_end_mapping(&j->w);
    break;
  default:
    s = pai__conv_text(&j->c, n);
    pai__yaml_text(&j->w, s.s, s.len);
    break;
  }
}

/* --- places ------------------------------------------------------------- */

static void open_extras(v1_job *j)
{
  if (j->in_extras)
    return;
  pai__v1_key(j, "extras");
  pai__yaml_begin_mapping(&j->w);
  put_entries(j, j->extras, "openpai");
  j->in_extras = true;
}

/* The job's own extras.openpai, when ours can stand beside its entries. */
static pai__node mixed(const v1_job *j)
{
  pai__node own = pai__conv_get(&j->c, j->extras, "openpai");

  return pai__conv_is(&j->c, own, PAI__MAPPING) &&
             pai__conv_count(&j->c, own) != 0 &&
             pai__conv_get(&j->c, own, "v1") == PAI__NO_NODE
           ? own
           : PAI__NO_NODE;
}

/* Goes to where the value of a kept field comes. */
static void keep(v1_job *j, const char *field)
{
  if (!j->in_kept) {
    open_extras(j);
    pai__v1_key(j, "openpai");
    pai__yaml_begin_mapping(&j->w);
    put_entries(j, mixed(j), NULL);
    pai__v1_key(j, "v1");
    pai__yaml_begin_mapping(&j->w);
    j->in_kept = true;
  }
  pai__v1_key(j, field);
}

static void keep_text(v1_job *j, const char *field, text value)
{
  keep(j, field);
  pai__yaml_text(&j->w, value.s, value.len);
}

static void keep_in_role(v1_job *j, size_t role, const char *field)
{
  if (!j->in_roles) {
    keep(j, "taskRoles");
    pai__yaml_begin_mapping(&j->w);
    j->in_roles = true;
  }
  if (!j->in_role) {
    pai__yaml_key(&j->w, j->names[role].s, j->names[role].len);
    pai__yaml_begin_mapping(&j->w);
    j->in_role = true;
  }
  pai__v1_key(j, field);
}

/* --- the job ------------------------------------------------------------ */

static void note_name(v1_job *j, pai__node at, const char *code,
                      const char *what, text name, text now)
{
  char from[PAI__EXCERPT], to[PAI__EXCERPT];

  pai__conv_note(&j->c, at, PAI__CONVERT_WARNING, code, NULL,
                 "v2 does not allow the name '%s' here; %s is called '%s'",
                 pai__excerpt(from, name.s, name.len), what,
                 pai__excerpt(to, now.s, now.len));
}

static void keep_job_name(v1_job *j)
{
  pai__node n = pai__v1_get(j, "jobName");
  text name = pai__conv_text(&j->c, n), now = pai__conv_job_name(&j->c, name);

  if (j->c.rc < 0 || pai__conv_same(name, now))
    return;
  note_name(j, n, "job-name", "the job", name, now);
  keep_text(j, "jobName", name);
}

/* Fields that are kept when they say something, and why they are. */
static void keep_strings(v1_job *j)
{
  static const struct {
    const char *field, *code, *message, *help;
  } fields[] = {
    { "authFile", "auth-file",
      "v2 reads no file with the registry's credentials",
      "give the image in prerequisites an 'auth', its password in secrets" },
    { "gpuType", "gpu-type", "v2 has no type of GPU for a whole job",
      "with hived, set extras.hivedScheduler.taskRoles.ROLE.skuType" },
  };
  pai__node n = pai__v1_get(j, "virtualCluster");

  for (size_t i = 0; i < PAI__LEN(fields); i++) {
    pai__node at = pai__v1_get(j, fields[i].field);
    text value = pai__conv_text(&j->c, at);

    if (value.len == 0)
      continue;
    pai__conv_note(&j->c, at, PAI__CONVERT_WARNING, fields[i].code,
                   fields[i].help, "%s; it is kept", fields[i].message);
    keep_text(j, fields[i].field, value);
  }
  if (n != PAI__NO_NODE && pai__conv_text(&j->c, n).len == 0)
    keep_text(j, "virtualCluster", (text){ "", 0 });
}

static void keep_numbers(v1_job *j)
{
  pai__node kill = pai__v1_get(j, "killAllOnCompletedTaskNumber");
  pai__node n = pai__v1_get(j, "retryCount");
  int64_t retries = pai__conv_int(&j->c, n, 0);

  if (kill != PAI__NO_NODE) {
    pai__conv_note(&j->c, kill, PAI__CONVERT_INFO, "kill-all",
                   "to end the job with its first task, set "
                   "completion.minSucceededInstances to 1",
                   "OpenPAI ignored killAllOnCompletedTaskNumber since v0.8, "
                   "and v2 has no such field; it is kept");
    keep(j, "killAllOnCompletedTaskNumber");
    pai__yaml_int(&j->w, pai__conv_int(&j->c, kill, 0));
  }
  if (retries >= 0)
    return;
  pai__conv_note(&j->c, n, PAI__CONVERT_WARNING, "retry-count", NULL,
                 "v2 has no retryCount %lld, %s; %lld retries stand for it",
                 (long long)retries,
                 retries == -2 ? "which tries again after success too"
                               : "which tries again for ever",
                 (long long)pai__conv_retries(retries));
  keep(j, "retryCount");
  pai__yaml_int(&j->w, retries);
}

bool pai__v1_exports(v1_job *j, pai__node key)
{
  text value = pai__conv_string(&j->c, pai__tree_value(j->c.tree, key));

  return pai__conv_is_name(pai__conv_text(&j->c, key)) &&
         (value.len == 0 || memchr(value.s, '\0', value.len) == NULL);
}

static void note_variable(v1_job *j, pai__node key, bool exports)
{
  static const char *const acted_on[] = { "paiAzRDMA", "isDebug" };
  pai__node value = pai__tree_value(j->c.tree, key);
  text name = pai__conv_text(&j->c, key);
  char part[PAI__EXCERPT];

  if (!exports)
    pai__conv_note(&j->c, value, PAI__CONVERT_WARNING, "env-name", NULL,
                   "a shell cannot set the variable '%s'; it is only kept",
                   pai__excerpt(part, name.s, name.len));
  for (size_t i = 0; i < PAI__LEN(acted_on); i++)
    if (pai__conv_equals(name, acted_on[i]) &&
        pai__conv_is(&j->c, value, PAI__BOOL) &&
        pai__tree_bool(j->c.tree, value))
      pai__conv_note(&j->c, value, PAI__CONVERT_WARNING, "env-acted-on", NULL,
                     "OpenPAI itself acted on %s; in v2 it is a variable like "
                     "any other",
                     acted_on[i]);
}

/* Variables that no command of the deployment sets; also that there are none
 * of any kind. */
static void keep_variables(v1_job *j)
{
  pai__tree_walk w = pai__conv_walk(&j->c, j->envs);
  size_t exported = 0, others = 0;
  pai__node key;

  while ((key = pai__tree_next(&w)) != PAI__NO_NODE) {
    bool exports = pai__v1_exports(j, key);

    note_variable(j, key, exports);
    *(exports ? &exported : &others) += 1;
  }
  if (j->envs == PAI__NO_NODE || (exported != 0 && others == 0))
    return;
  keep(j, "jobEnvs");
  pai__yaml_begin_mapping(&j->w);
  w = pai__conv_walk(&j->c, j->envs);
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE)
    if (!pai__v1_exports(j, key))
      pai__v1_entry(j, key);
  pai__yaml_end_mapping(&j->w);
}

/* --- task roles --------------------------------------------------------- */

static void note_ports(v1_job *j, pai__node list, const conv_ports *ports)
{
  pai__tree_walk w = pai__conv_walk(&j->c, list);

  for (size_t i = 0; i < ports->n; i++) {
    pai__node port = pai__tree_next(&w);
    pai__node label = pai__conv_get(&j->c, port, "label");
    pai__node begin = pai__conv_get(&j->c, port, "beginAt");
    text name = pai__conv_text(&j->c, label);

    if (ports->counts[i] < 1)
      pai__conv_note(&j->c, port, PAI__CONVERT_WARNING, "port-count", NULL,
                     "v2 has no label with %lld ports; it is kept",
                     (long long)ports->counts[i]);
    else if (!pai__conv_same(name, ports->labels[i]))
      note_name(j, label, "port-label", "the label", name, ports->labels[i]);
    if (pai__conv_int(&j->c, begin, 0) != 0)
      pai__conv_note(&j->c, begin, PAI__CONVERT_WARNING, "port-begin", NULL,
                     "v2 chooses the numbers of ports; beginAt is kept");
  }
}

static void keep_ports(v1_job *j, size_t role, pai__node list)
{
  conv_ports ports = pai__conv_ports(&j->c, list);
  pai__tree_walk w = pai__conv_walk(&j->c, list);
  pai__node port;

  if (ports.all_said)
    return;
  note_ports(j, list, &ports);
  keep_in_role(j, role, "portList");
  pai__yaml_begin_sequence(&j->w);
  while ((port = pai__tree_next(&w)) != PAI__NO_NODE) {
    text label = pai__conv_text(&j->c, pai__conv_get(&j->c, port, "label"));
    pai__node begin = pai__conv_get(&j->c, port, "beginAt");
    pai__node number = pai__conv_get(&j->c, port, "portNumber");

    pai__yaml_begin_mapping(&j->w);
    pai__v1_key(j, "label");
    pai__yaml_text(&j->w, label.s, label.len);
    pai__v1_int(j, "beginAt", pai__conv_int(&j->c, begin, 0));
    pai__v1_int(j, "portNumber", pai__conv_int(&j->c, number, 1));
    pai__yaml_end_mapping(&j->w);
  }
  pai__yaml_end_sequence(&j->w);
}

/* More than there are tasks: v1's server refused it, but not its schema. */
static void keep_minimum(v1_job *j, size_t i, pai__node role,
                         const char *field, int64_t missing, int64_t tasks)
{
  pai__node n = pai__conv_get(&j->c, role, field);
  int64_t value = n != PAI__NO_NODE ? pai__conv_int(&j->c, n, -1) : missing;

  if (value <= tasks || value < 1)
    return;
  keep_in_role(j, i, field);
  pai__yaml_int(&j->w, value);
}

static void keep_role(v1_job *j, size_t i, pai__node role)
{
  pai__node at = pai__conv_get(&j->c, role, "name");
  pai__node tasks = pai__conv_get(&j->c, role, "taskNumber");
  pai__node shm = pai__conv_get(&j->c, role, "shmMB");
  int64_t ntasks = pai__conv_int(&j->c, tasks, 1);
  text name = pai__conv_text(&j->c, at);

  if (!pai__conv_same(name, j->names[i])) {
    note_name(j, at, "role-name", "the task role", name, j->names[i]);
    keep_in_role(j, i, "name");
    pai__yaml_text(&j->w, name.s, name.len);
  }
  if (ntasks < 1) {
    pai__conv_note(&j->c, tasks, PAI__CONVERT_WARNING, "no-tasks", NULL,
                   "v2 has no task role without tasks; it gets one");
    keep_in_role(j, i, "taskNumber");
    pai__yaml_int(&j->w, ntasks);
  }
  keep_minimum(j, i, role, "minFailedTaskCount", 1, ntasks);
  keep_minimum(j, i, role, "minSucceededTaskCount", -1, ntasks);
  if (pai__conv_int(&j->c, shm, 64) == 0) {
    keep_in_role(j, i, "shmMB");
    pai__yaml_int(&j->w, 0);
  }
  keep_ports(j, i, pai__conv_get(&j->c, role, "portList"));
  if (j->in_role)
    pai__yaml_end_mapping(&j->w);
  j->in_role = false;
}

static void keep_roles(v1_job *j)
{
  pai__tree_walk w = pai__conv_walk(&j->c, j->roles);

  for (size_t i = 0; i < j->nroles && j->c.rc == PAI_OK; i++)
    keep_role(j, i, pai__tree_next(&w));
  if (j->in_roles)
    pai__yaml_end_mapping(&j->w);
}

/* --- extras ------------------------------------------------------------- */

static void note_extras(v1_job *j)
{
  for (size_t i = 0; pai__conv_meanings[i] != NULL; i++) {
    pai__node n = pai__conv_get(&j->c, j->extras, pai__conv_meanings[i]);

    if (n != PAI__NO_NODE)
      pai__conv_note(&j->c, n, PAI__CONVERT_WARNING, "extras", NULL,
                     "v1 did not act on %s in extras, v2 does",
                     pai__conv_meanings[i]);
  }
}

void pai__v1_keep(v1_job *j)
{
  pai__node own = pai__conv_get(&j->c, j->extras, "openpai");

  note_extras(j);
  if (j->extras != PAI__NO_NODE)
    open_extras(j);
  keep_job_name(j);
  keep_strings(j);
  keep_numbers(j);
  keep_variables(j);
  keep_roles(j);
  if (own != PAI__NO_NODE && mixed(j) == PAI__NO_NODE) {
    keep(j, "extras");
    pai__yaml_begin_mapping(&j->w);
    pai__v1_key(j, "openpai");
    put_node(j, own);
    pai__yaml_end_mapping(&j->w);
  } else if (own != PAI__NO_NODE && !j->in_kept) {
    pai__v1_key(j, "openpai");
    put_node(j, own);
  } else if (j->extras != PAI__NO_NODE && j->in_kept &&
             pai__conv_count(&j->c, j->extras) == 0) {
    keep(j, "extras"); /* that it was there */
    pai__yaml_begin_mapping(&j->w);
    pai__yaml_end_mapping(&j->w);
  }
  if (j->in_kept) {
    pai__yaml_end_mapping(&j->w); /* v1 */
    pai__yaml_end_mapping(&j->w); /* openpai */
  }
  if (j->in_extras)
    pai__yaml_end_mapping(&j->w);
}
