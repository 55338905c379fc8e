/* convert_roles.c - task roles of v2 as those of v1 */
#include "spec/convert_v2.h"

/* What the conversion from v1 kept of a role. */
static pai__node kept_role(const v2_job *j, text name)
{
  pai__node roles = pai__conv_get(&j->c, j->kept, "taskRoles"), key;

  key = roles != PAI__NO_NODE
          ? pai__tree_find(j->c.tree, roles, name.s, name.len)
          : PAI__NO_NODE;
  return key != PAI__NO_NODE ? pai__tree_value(j->c.tree, key) : PAI__NO_NODE;
}

static int64_t get_int(v2_job *j, pai__node mapping, const char *field,
                       int64_t missing)
{
  return pai__conv_int(&j->c, pai__conv_get(&j->c, mapping, field), missing);
}

/* --- completion --------------------------------------------------------- */

/* A number of tasks, or -1 for null: never.  0 is v2's default; `kept` is what
 * v1 had, if it was more than there are tasks. */
static int64_t minimum(v2_job *j, pai__node role, const char *field,
                       int64_t missing, int64_t tasks, int64_t kept)
{
  pai__node n =
    pai__conv_get(&j->c, pai__conv_get(&j->c, role, "completion"), field);
  int64_t value = pai__conv_int(&j->c, n, 0);

  if (value == 0 || (value > tasks && value == kept))
    return value == 0 ? missing : kept;
  if (value < -1)
    pai__conv_note(&j->c, n, PAI__CONVERT_WARNING, "completion", NULL,
                   "OpenPAI runs no job with a %s of %lld; v1 gets null, for "
                   "never",
                   field, (long long)value);
  else if (value > tasks)
    pai__conv_note(&j->c, n, PAI__CONVERT_INFO, "completion", NULL,
                   "%s is more than there are tasks, which v1 does not allow; "
                   "it gets null, for never",
                   field);
  return value > 0 && value <= tasks ? value : -1;
}

static void put_minimum(v2_job *j, const char *field, int64_t value)
{
  pai__v2_key(j, field);
  if (value < 0)
    pai__json_null(&j->w);
  else
    pai__json_int(&j->w, value);
}

static void put_tasks(v2_job *j, pai__node role, pai__node kept)
{
  int64_t tasks = get_int(j, role, "instances", 1);
  int64_t had = get_int(j, kept, "taskNumber", 1);
  int64_t had_failed = get_int(j, kept, "minFailedTaskCount", -1);
  int64_t had_done = get_int(j, kept, "minSucceededTaskCount", -1);
  int64_t failed =
    minimum(j, role, "minFailedInstances", 1, tasks, had_failed);
  int64_t done =
    minimum(j, role, "minSucceededInstances", tasks, tasks, had_done);

  if (had < 1 && tasks == 1 && (failed < 0 || failed == had_failed) &&
      (done < 0 || done == had_done))
    tasks = had;
  pai__v2_int(j, "taskNumber", tasks);
  if (failed != 1)
    put_minimum(j, "minFailedTaskCount", failed);
  if (done >= 0)
    put_minimum(j, "minSucceededTaskCount", done);
}

/* --- resources ---------------------------------------------------------- */

/* v1's default is 64, v2's 512; v1 takes no more than memoryMB, but does not
 * look at its default. */
static void put_shm(v2_job *j, pai__node role, pai__node kept, int64_t memory)
{
  pai__node options = pai__conv_get(&j->c, role, "extraContainerOptions");
  pai__node n = pai__conv_get(&j->c, options, "shmMB");
  int64_t shm = pai__conv_int(&j->c, n, 0);

  if (shm == 0)
    shm = 512;
  if (shm == 64) {
    if (get_int(j, kept, "shmMB", 64) == 0 && memory >= 0)
      pai__v2_int(j, "shmMB", 0);
    return;
  }
  if (shm > memory) {
    pai__conv_note(&j->c,
                   n != PAI__NO_NODE
                     ? n
                     : pai__conv_get(&j->c, role, "resourcePerInstance"),
                   PAI__CONVERT_WARNING, "shm-size", NULL,
                   "v1 allows no more shared memory than memory: %lld instead "
                   "of %lld MB",
                   (long long)memory, (long long)shm);
    shm = memory;
  }
  pai__v2_int(j, "shmMB", shm);
}

/* Whether v2's ports are what the conversion makes of a portList. */
static bool ports_match(v2_job *j, pai__node ports, pai__node list)
{
  conv_ports made = pai__conv_ports(&j->c, list);
  pai__tree_walk w = pai__conv_walk(&j->c, ports);
  pai__node key;

  for (size_t i = 0; i < made.n; i++) {
    if (made.counts[i] < 1)
      continue;
    key = pai__tree_next(&w);
    if (key == PAI__NO_NODE ||
        !pai__conv_same(made.labels[i], pai__conv_text(&j->c, key)) ||
        pai__conv_int(&j->c, pai__tree_value(j->c.tree, key), 0) !=
          made.counts[i])
      return false;
  }
  return pai__tree_next(&w) == PAI__NO_NODE;
}

static void put_port(v2_job *j, text label, int64_t begin, int64_t count)
{
  pai__json_begin_object(&j->w);
  pai__v2_text(j, "label", label);
  pai__v2_int(j, "beginAt", begin);
  pai__v2_int(j, "portNumber", count);
  pai__json_end_object(&j->w);
}

static void put_ports(v2_job *j, pai__node resources, pai__node kept)
{
  pai__node ports = pai__conv_only(
    &j->c, pai__conv_get(&j->c, resources, "ports"), PAI__MAPPING);
  pai__node list = pai__conv_get(&j->c, kept, "portList");
  bool as_kept =
    pai__conv_is(&j->c, list, PAI__SEQUENCE) && ports_match(j, ports, list);
  pai__tree_walk w = pai__conv_walk(&j->c, as_kept ? list : ports);
  pai__node n;

  if (pai__conv_count(&j->c, as_kept ? list : ports) == 0)
    return;
  pai__v2_key(j, "portList");
  pai__json_begin_array(&j->w);
  while ((n = pai__tree_next(&w)) != PAI__NO_NODE) {
    if (as_kept)
      put_port(j, pai__conv_text(&j->c, pai__conv_get(&j->c, n, "label")),
               get_int(j, n, "beginAt", 0), get_int(j, n, "portNumber", 1));
    else
      put_port(j, pai__conv_text(&j->c, n), 0,
               pai__conv_int(&j->c, pai__tree_value(j->c.tree, n), 1));
  }
  pai__json_end_array(&j->w);
}

/* --- what v1 has no field for ------------------------------------------- */

/* As JavaScript takes it: false, 0, "" and null are not. */
static bool is_true(v2_job *j, pai__node n)
{
  if (n == PAI__NO_NODE || pai__conv_is(&j->c, n, PAI__NULL))
    return false;
  if (pai__conv_is(&j->c, n, PAI__BOOL))
    return pai__tree_bool(j->c.tree, n);
  if (pai__conv_is(&j->c, n, PAI__STRING))
    return pai__conv_text(&j->c, n).len != 0;
  return !pai__conv_is(&j->c, n, PAI__INT) || pai__tree_int(j->c.tree, n) != 0;
}

static void note_role(v2_job *j, pai__node role)
{
  static const char *const known[] = { "shmMB", "infiniband", NULL };
  pai__node options = pai__conv_get(&j->c, role, "extraContainerOptions");
  pai__node retries = pai__conv_get(&j->c, role, "taskRetryCount");
  pai__node names = pai__conv_get(&j->c, role, "prerequisites");
  pai__node infiniband = pai__conv_get(&j->c, options, "infiniband");

  if (pai__conv_int(&j->c, retries, 0) != 0)
    pai__conv_note(&j->c, retries, PAI__CONVERT_ERROR, "task-retries", NULL,
                   "v1 retries jobs, not tasks");
  if (pai__conv_count(&j->c, names) != 0)
    pai__conv_note(&j->c, names, PAI__CONVERT_ERROR, "role-prerequisites",
                   NULL, "v1 has no prerequisites of a task role");
  if (is_true(j, infiniband))
    pai__conv_note(&j->c, infiniband, PAI__CONVERT_ERROR, "infiniband", NULL,
                   "v1 has no devices but GPUs");
  pai__v2_note_others(j, options, "container-option", "a container's", known);
}

static void put_role(v2_job *j, pai__node key)
{
  pai__node role = pai__tree_value(j->c.tree, key);
  pai__node res = pai__conv_get(&j->c, role, "resourcePerInstance");
  text name = pai__conv_text(&j->c, key);
  pai__node kept = kept_role(j, name);
  text was = pai__conv_text(&j->c, pai__conv_get(&j->c, kept, "name"));
  int64_t memory = get_int(j, res, "memoryMB", 100);

  pai__json_begin_object(&j->w);
  pai__v2_text(j, "name", was.len != 0 ? was : name);
  put_tasks(j, role, kept);
  pai__v2_int(j, "cpuNumber", get_int(j, res, "cpu", 1));
  pai__v2_int(j, "memoryMB", memory);
  put_shm(j, role, kept, memory);
  pai__v2_int(j, "gpuNumber", get_int(j, res, "gpu", 0));
  put_ports(j, res, kept);
  pai__v2_text(j, "command", pai__v2_command(j, key));
  pai__json_end_object(&j->w);
  note_role(j, role);
}

void pai__v2_put_roles(v2_job *j)
{
  pai__tree_walk w = pai__conv_walk(&j->c, j->roles);
  pai__node key;

  pai__v2_key(j, "taskRoles");
  pai__json_begin_array(&j->w);
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE && j->c.rc == PAI_OK)
    put_role(j, key);
  pai__json_end_array(&j->w);
}
