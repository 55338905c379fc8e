/*
 * convert_v1.c - job config v1 into protocol v2 (job-spec 2.4, 8.3, 8.6)
 *
 * The original's converter gave files that v2 refuses, or that ran otherwise.
 * Here the result is valid, the commands see what they saw, and what has no
 * place in v2 is kept (convert_keep.c).
 */
#include "spec/convert_v1.h"

enum { MAX_RESULT = 64 << 20 }; /* what the YAML reader takes */

static void put_string(v1_job *j, const char *key, const char *value)
{
  pai__v1_key(j, key);
  pai__yaml_text(&j->w, value, strlen(value));
}

static void put_text(v1_job *j, const char *key, text value)
{
  pai__v1_key(j, key);
  pai__yaml_text(&j->w, value.s, value.len);
}

/* A command whose "<%" v2 does not take for a template. */
static text literally(v1_job *j, text command)
{
  text hidden = pai__conv_hide_tags(&j->c, command, j->open);

  j->hides = j->hides || hidden.s != command.s;
  return hidden;
}

/* --- the job ------------------------------------------------------------ */

static text folder(const v1_job *j, size_t i)
{
  return pai__conv_text(&j->c, pai__v1_get(j, pai__conv_dirs[i].field));
}

static void put_prerequisites(v1_job *j)
{
  pai__v1_key(j, "prerequisites");
  pai__yaml_begin_sequence(&j->w);
  pai__yaml_begin_mapping(&j->w);
  put_string(j, "name", "default_image");
  put_string(j, "type", "dockerimage");
  put_text(j, "uri", pai__conv_text(&j->c, pai__v1_get(j, "image")));
  pai__yaml_end_mapping(&j->w);
  for (size_t i = 0; i < PAI__CONV_DIRS; i++) {
    const conv_dir *dir = &pai__conv_dirs[i];
    text uri = folder(j, i);

    if (uri.len == 0)
      continue;
    pai__yaml_begin_mapping(&j->w);
    put_string(j, "name", dir->name);
    put_string(j, "type", dir->type);
    if (dir->list) {
      pai__v1_key(j, "uri");
      pai__yaml_begin_sequence(&j->w);
      pai__yaml_text(&j->w, uri.s, uri.len);
      pai__yaml_end_sequence(&j->w);
    } else {
      put_text(j, "uri", uri);
    }
    pai__yaml_end_mapping(&j->w);
  }
  pai__yaml_end_sequence(&j->w);
}

/* --- task roles --------------------------------------------------------- */

static void put_completion(v1_job *j, pai__node role)
{
  pai__node failed = pai__conv_get(&j->c, role, "minFailedTaskCount");
  pai__node done = pai__conv_get(&j->c, role, "minSucceededTaskCount");
  /* null switches a condition off; v2 says so by -1. */
  bool off = pai__conv_is(&j->c, failed, PAI__NULL);

  pai__v1_key(j, "completion");
  pai__yaml_begin_mapping(&j->w);
  pai__v1_int(j, "minFailedInstances",
              off ? -1 : pai__conv_int(&j->c, failed, 1));
  pai__v1_int(j, "minSucceededInstances", pai__conv_int(&j->c, done, -1));
  pai__yaml_end_mapping(&j->w);
}

static void put_ports(v1_job *j, pai__node role)
{
  pai__node list = pai__conv_get(&j->c, role, "portList");
  conv_ports ports = pai__conv_ports(&j->c, list);
  bool any = false;

  for (size_t i = 0; i < ports.n; i++)
    any = any || ports.counts[i] >= 1;
  if (!any)
    return; /* v2 wants no empty mapping */
  pai__v1_key(j, "ports");
  pai__yaml_begin_mapping(&j->w);
  for (size_t i = 0; i < ports.n; i++) {
    if (ports.counts[i] < 1)
      continue;
    pai__yaml_key(&j->w, ports.labels[i].s, ports.labels[i].len);
    pai__yaml_int(&j->w, ports.counts[i]);
  }
  pai__yaml_end_mapping(&j->w);
}

static void put_resources(v1_job *j, pai__node role)
{
  static const char *const fields[][2] = { { "cpu", "cpuNumber" },
                                           { "memoryMB", "memoryMB" },
                                           { "gpu", "gpuNumber" } };
  static const int missing[] = { 1, 100, 0 };

  pai__v1_key(j, "resourcePerInstance");
  pai__yaml_begin_mapping(&j->w);
  for (size_t i = 0; i < PAI__LEN(fields); i++) {
    pai__node n = pai__conv_get(&j->c, role, fields[i][1]);

    pai__v1_int(j, fields[i][0], pai__conv_int(&j->c, n, missing[i]));
  }
  put_ports(j, role);
  pai__yaml_end_mapping(&j->w);
}

static void put_command(v1_job *j, pai__node role)
{
  pai__node n = pai__conv_get(&j->c, role, "command");
  text command = pai__conv_text(&j->c, n), hidden = literally(j, command);

  if (hidden.s != command.s)
    pai__conv_note(&j->c, n, PAI__CONVERT_INFO, "template-mark", NULL,
                   "v2 reads <%% as a template; the parameter '%s' stands for "
                   "it",
                   j->open.s);
  pai__v1_key(j, "commands");
  pai__yaml_begin_sequence(&j->w);
  pai__yaml_text(&j->w, hidden.s, hidden.len);
  pai__yaml_end_sequence(&j->w);
}

static void put_role(v1_job *j, pai__node role)
{
  pai__node instances = pai__conv_get(&j->c, role, "taskNumber");
  pai__node shm = pai__conv_get(&j->c, role, "shmMB");

  pai__yaml_begin_mapping(&j->w);
  pai__v1_int(j, "instances",
              pai__v1_instances(pai__conv_int(&j->c, instances, 1)));
  put_completion(j, role);
  put_string(j, "dockerImage", "default_image");
  for (size_t i = 0; i < PAI__CONV_DIRS; i++)
    if (folder(j, i).len != 0)
      put_string(j, pai__conv_dirs[i].type, pai__conv_dirs[i].name);
  pai__v1_key(j, "extraContainerOptions");
  pai__yaml_begin_mapping(&j->w);
  pai__v1_int(j, "shmMB", pai__v1_shm(pai__conv_int(&j->c, shm, 64)));
  pai__yaml_end_mapping(&j->w);
  put_resources(j, role);
  put_command(j, role);
  pai__yaml_end_mapping(&j->w);
}

static void put_roles(v1_job *j)
{
  pai__tree_walk w = pai__conv_walk(&j->c, j->roles);

  pai__v1_key(j, "taskRoles");
  pai__yaml_begin_mapping(&j->w);
  for (size_t i = 0; i < j->nroles && j->c.rc == PAI_OK; i++) {
    pai__yaml_key(&j->w, j->names[i].s, j->names[i].len);
    put_role(j, pai__tree_next(&w));
  }
  pai__yaml_end_mapping(&j->w);
}

/* --- the deployment ----------------------------------------------------- */

static text export_folder(v1_job *j, size_t i)
{
  const conv_dir *dir = &pai__conv_dirs[i];
  pai__node n = pai__v1_get(j, dir->field);
  text uri = folder(j, i), command;
  bool literal;

  command = pai__conv_export_dir(&j->c, dir, uri, &literal);
  if (literal)
    pai__conv_note(&j->c, n, PAI__CONVERT_INFO, "folder-literal", NULL,
                   "%s is set literally, since a shell would not take the "
                   "folder as it is",
                   dir->variable);
  if (strstr(uri.s, "$PAI_DEFAULT_FS_URI") != NULL ||
      strstr(uri.s, "$PAI_JOB_NAME") != NULL)
    pai__conv_note(&j->c, n, PAI__CONVERT_WARNING, "folder-variables",
                   "write the folder's whole address",
                   "a shell fills in the variables of %s: PAI_DEFAULT_FS_URI "
                   "is empty now, PAI_JOB_NAME begins with the user's name",
                   dir->field);
  if (i == PAI__CONV_DIRS - 1)
    pai__conv_note(&j->c, n, PAI__CONVERT_WARNING, "code-dir",
                   "fetch it by a command, or put it on a storage",
                   "v2 does not copy the code's folder to the task, it only "
                   "sets PAI_CODE_DIR");
  return literal ? literally(j, command) : command;
}

/* The commands before those of every role. */
static text *list_exports(v1_job *j, size_t *count)
{
  size_t room = 1 + PAI__CONV_DIRS + pai__conv_count(&j->c, j->envs), n = 0;
  text *list = pai__conv_alloc(&j->c, room, sizeof(*list));
  pai__tree_walk w = pai__conv_walk(&j->c, j->envs);
  pai__node key;

  *count = 0;
  if (list == NULL)
    return NULL;
  list[n++] = (text){ PAI__CONV_OPTIONS_OFF, strlen(PAI__CONV_OPTIONS_OFF) };
  for (size_t i = 0; i < PAI__CONV_DIRS; i++)
    if (folder(j, i).len != 0)
      list[n++] = export_folder(j, i);
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE && j->c.rc == PAI_OK) {
    text name = pai__conv_text(&j->c, key);
    text value = pai__conv_string(&j->c, pai__tree_value(j->c.tree, key));

    if (pai__v1_exports(j, key))
      list[n++] = literally(j, pai__conv_export(&j->c, name, value));
  }
  *count = n;
  return list;
}

static void put_deployment(v1_job *j)
{
  size_t n;
  text *list = list_exports(j, &n);

  pai__v1_key(j, "deployments");
  pai__yaml_begin_sequence(&j->w);
  pai__yaml_begin_mapping(&j->w);
  put_string(j, "name", "default");
  pai__v1_key(j, "taskRoles");
  pai__yaml_begin_mapping(&j->w);
  for (size_t i = 0; i < j->nroles && j->c.rc == PAI_OK; i++) {
    pai__yaml_key(&j->w, j->names[i].s, j->names[i].len);
    pai__yaml_begin_mapping(&j->w);
    pai__v1_key(j, "preCommands");
    pai__yaml_begin_sequence(&j->w);
    for (size_t k = 0; k < n; k++)
      pai__yaml_text(&j->w, list[k].s, list[k].len);
    pai__yaml_end_sequence(&j->w);
    pai__yaml_end_mapping(&j->w);
    if (j->w.out->len > MAX_RESULT) /* every role times every variable */
      j->c.rc = PAI_ELIMIT;
  }
  pai__yaml_end_mapping(&j->w);
  pai__yaml_end_mapping(&j->w);
  pai__yaml_end_sequence(&j->w);
}

static void put_defaults(v1_job *j)
{
  text cluster = pai__conv_text(&j->c, pai__v1_get(j, "virtualCluster"));

  pai__v1_key(j, "defaults");
  pai__yaml_begin_mapping(&j->w);
  if (cluster.len != 0)
    put_text(j, "virtualCluster", cluster);
  else
    put_string(j, "virtualCluster", "default");
  put_string(j, "deployment", "default");
  pai__yaml_end_mapping(&j->w);
}

static void put_parameters(v1_job *j)
{
  pai__tree_walk w = pai__conv_walk(&j->c, j->envs);
  bool any = j->hides;
  pai__node key;

  while (!any && (key = pai__tree_next(&w)) != PAI__NO_NODE)
    any = pai__v1_exports(j, key);
  if (!any)
    return;
  pai__v1_key(j, "parameters");
  pai__yaml_begin_mapping(&j->w);
  w = pai__conv_walk(&j->c, j->envs);
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE) {
    if (!pai__v1_exports(j, key))
      continue;
    pai__v1_entry(j, key);
  }
  if (j->hides)
    put_string(j, j->open.s, "<%");
  pai__yaml_end_mapping(&j->w);
}

/* --- all of it ---------------------------------------------------------- */

/* A name that no variable of the job has. */
static text name_for_open(v1_job *j)
{
  text name = { "template_open", 13 };

  for (unsigned n = 2;
       j->envs != PAI__NO_NODE && j->c.rc == PAI_OK &&
       pai__tree_find(j->c.tree, j->envs, name.s, name.len) != PAI__NO_NODE;
       n++) {
    pai__buf b;

    pai__buf_init(&b, j->c.alloc);
    pai__buf_printf(&b, "template_open_%u", n);
    name = pai__conv_take(&j->c, &b);
  }
  return name;
}

static void read_names(v1_job *j)
{
  pai__tree_walk w;

  j->roles = pai__conv_only(&j->c, pai__v1_get(j, "taskRoles"), PAI__SEQUENCE);
  j->envs = pai__conv_only(&j->c, pai__v1_get(j, "jobEnvs"), PAI__MAPPING);
  j->extras = pai__conv_only(&j->c, pai__v1_get(j, "extras"), PAI__MAPPING);
  j->nroles = pai__conv_count(&j->c, j->roles);
  j->open = name_for_open(j);
  j->names = pai__conv_alloc(&j->c, j->nroles, sizeof(*j->names));
  if (j->names == NULL)
    return;
  w = pai__conv_walk(&j->c, j->roles);
  for (size_t i = 0; i < j->nroles; i++)
    j->names[i] =
      pai__conv_text(&j->c, pai__conv_get(&j->c, pai__tree_next(&w), "name"));
  pai__conv_unique(&j->c, j->names, j->nroles);
}

static void put_job(v1_job *j)
{
  pai__node retries = pai__v1_get(j, "retryCount");
  text name = pai__conv_text(&j->c, pai__v1_get(j, "jobName"));

  read_names(j);
  if (j->c.rc < 0)
    return;
  pai__yaml_begin_mapping(&j->w);
  put_string(j, "protocolVersion", "2");
  put_text(j, "name", pai__conv_job_name(&j->c, name));
  put_string(j, "type", "job");
  put_prerequisites(j);
  pai__v1_int(j, "jobRetryCount",
              pai__conv_retries(pai__conv_int(&j->c, retries, 0)));
  put_roles(j);
  put_deployment(j);
  put_defaults(j);
  put_parameters(j);
  pai__v1_keep(j);
  pai__yaml_end_mapping(&j->w);
}

int pai__convert_v1_to_v2(pai__buf *out, const pai__tree *v1,
                          pai__convert_note_cb note, void *user_data)
{
  v1_job j = { .hides = false };
  int rc;

  pai__conv_init(&j.c, v1, out->alloc, note, user_data);
  pai__yaml_writer_init(&j.w, out);
  put_job(&j);
  rc = j.c.rc < 0 ? j.c.rc : pai__yaml_finish(&j.w);
  pai__conv_dispose(&j.c);
  return rc;
}
