/*
 * convert.c - converts job config v1 to protocol v2 (job-spec 2.4, 8.3, 8.6)
 *
 * OpenPAI's converter wrote files that v2 refuses or that run differently.
 * Here the result is valid, commands see the same environment, and fields that
 * v2 lacks are kept (convert_keep.c).
 */
#include "spec/convert/convert_parts.h"

enum { DEFAULT_SHM = 64 };

/* --- the job ------------------------------------------------------------ */

static void put_prerequisites(pai__conv *c)
{
  pai__conv_key(c, "prerequisites");
  pai__yaml_begin_sequence(&c->w);
  pai__yaml_begin_mapping(&c->w);
  pai__conv_put_string(c, "name", "default_image");
  pai__conv_put_string(c, "type", "dockerimage");
  pai__conv_put_text(c, "uri",
                     pai__conv_text(c, pai__tree_get(c->tree, 0, "image")));
  pai__yaml_end_mapping(&c->w);
  for (size_t i = 0; i < PAI__CONV_DIRS; i++) {
    const pai__conv_dir *dir = &pai__conv_dirs[i];
    pai__conv_str uri = pai__conv_folder(c, i);

    if (uri.len == 0)
      continue;
    pai__yaml_begin_mapping(&c->w);
    pai__conv_put_string(c, "name", dir->name);
    pai__conv_put_string(c, "type", dir->type);
    if (dir->list) {
      pai__conv_key(c, "uri");
      pai__yaml_begin_sequence(&c->w);
      pai__yaml_text(&c->w, uri.s, uri.len);
      pai__yaml_end_sequence(&c->w);
    } else {
      pai__conv_put_text(c, "uri", uri);
    }
    pai__yaml_end_mapping(&c->w);
  }
  pai__yaml_end_sequence(&c->w);
}

/* --- task roles --------------------------------------------------------- */

static void put_completion(pai__conv *c, pai__node role)
{
  pai__node failed = pai__tree_get(c->tree, role, "minFailedTaskCount");
  pai__node done = pai__tree_get(c->tree, role, "minSucceededTaskCount");
  /* null switches a condition off; v2 has -1 for that. */
  bool off = pai__tree_is(c->tree, failed, PAI__NULL);

  pai__conv_key(c, "completion");
  pai__yaml_begin_mapping(&c->w);
  pai__conv_put_int(c, "minFailedInstances",
                    off ? -1 : pai__conv_int(c, failed, 1));
  pai__conv_put_int(c, "minSucceededInstances", pai__conv_int(c, done, -1));
  pai__yaml_end_mapping(&c->w);
}

static void put_ports(pai__conv *c, pai__node role)
{
  pai__node list = pai__tree_get(c->tree, role, "portList");
  pai__conv_port_list ports = pai__conv_ports(c, list);
  bool any = false;

  for (size_t i = 0; i < ports.n; i++)
    any = any || ports.counts[i] >= 1;
  if (!any)
    return; /* v2 refuses an empty mapping */
  pai__conv_key(c, "ports");
  pai__yaml_begin_mapping(&c->w);
  for (size_t i = 0; i < ports.n; i++) {
    if (ports.counts[i] < 1)
      continue;
    pai__yaml_key(&c->w, ports.labels[i].s, ports.labels[i].len);
    pai__yaml_int(&c->w, ports.counts[i]);
  }
  pai__yaml_end_mapping(&c->w);
}

static void put_resources(pai__conv *c, pai__node role)
{
  static const char *const fields[][2] = { { "cpu", "cpuNumber" },
                                           { "memoryMB", "memoryMB" },
                                           { "gpu", "gpuNumber" } };
  static const int missing[] = { 1, 100, 0 };

  pai__conv_key(c, "resourcePerInstance");
  pai__yaml_begin_mapping(&c->w);
  for (size_t i = 0; i < PAI__LEN(fields); i++) {
    pai__node n = pai__tree_get(c->tree, role, fields[i][1]);

    pai__conv_put_int(c, fields[i][0], pai__conv_int(c, n, missing[i]));
  }
  put_ports(c, role);
  pai__yaml_end_mapping(&c->w);
}

static void put_command(pai__conv *c, pai__node role)
{
  pai__node n = pai__tree_get(c->tree, role, "command");
  pai__conv_str command = pai__conv_literally(c, pai__conv_text(c, n));

  pai__conv_key(c, "commands");
  pai__yaml_begin_sequence(&c->w);
  pai__yaml_text(&c->w, command.s, command.len);
  pai__yaml_end_sequence(&c->w);
}

static void put_role(pai__conv *c, pai__node role)
{
  int64_t tasks =
    pai__conv_int(c, pai__tree_get(c->tree, role, "taskNumber"), 1);
  int64_t shm =
    pai__conv_int(c, pai__tree_get(c->tree, role, "shmMB"), DEFAULT_SHM);

  pai__yaml_begin_mapping(&c->w);
  pai__conv_put_int(c, "instances", tasks >= 1 ? tasks : 1);
  put_completion(c, role);
  pai__conv_put_string(c, "dockerImage", "default_image");
  for (size_t i = 0; i < PAI__CONV_DIRS; i++)
    if (pai__conv_folder(c, i).len != 0)
      pai__conv_put_string(c, pai__conv_dirs[i].type, pai__conv_dirs[i].name);
  pai__conv_key(c, "extraContainerOptions");
  pai__yaml_begin_mapping(&c->w);
  /* 0 means Docker's default in v1, but another default in v2. */
  pai__conv_put_int(c, "shmMB", shm != 0 ? shm : DEFAULT_SHM);
  pai__yaml_end_mapping(&c->w);
  put_resources(c, role);
  put_command(c, role);
  pai__yaml_end_mapping(&c->w);
}

static void put_roles(pai__conv *c)
{
  pai__tree_walk w = pai__tree_iter(c->tree, c->roles);

  pai__conv_key(c, "taskRoles");
  pai__yaml_begin_mapping(&c->w);
  for (size_t i = 0; i < c->nroles && c->rc == PAI_OK; i++) {
    pai__yaml_key(&c->w, c->names[i].s, c->names[i].len);
    put_role(c, pai__tree_next(&w));
  }
  pai__yaml_end_mapping(&c->w);
}

/* --- all of it ---------------------------------------------------------- */

static void put_defaults(pai__conv *c)
{
  pai__conv_str cluster =
    pai__conv_text(c, pai__tree_get(c->tree, 0, "virtualCluster"));

  pai__conv_key(c, "defaults");
  pai__yaml_begin_mapping(&c->w);
  if (cluster.len != 0)
    pai__conv_put_text(c, "virtualCluster", cluster);
  else
    pai__conv_put_string(c, "virtualCluster", "default");
  pai__conv_put_string(c, "deployment", "default");
  pai__yaml_end_mapping(&c->w);
}

static void read_names(pai__conv *c)
{
  pai__tree_walk w;

  c->roles =
    pai__conv_only(c, pai__tree_get(c->tree, 0, "taskRoles"), PAI__SEQUENCE);
  c->envs =
    pai__conv_only(c, pai__tree_get(c->tree, 0, "jobEnvs"), PAI__MAPPING);
  c->extras =
    pai__conv_only(c, pai__tree_get(c->tree, 0, "extras"), PAI__MAPPING);
  c->nroles = pai__tree_size(c->tree, c->roles);
  pai__conv_name_open(c);
  c->names = pai__conv_alloc(c, c->nroles, sizeof(*c->names));
  if (c->names == NULL)
    return;
  w = pai__tree_iter(c->tree, c->roles);
  for (size_t i = 0; i < c->nroles; i++)
    c->names[i] =
      pai__conv_text(c, pai__tree_get(c->tree, pai__tree_next(&w), "name"));
  pai__conv_unique(c, c->names, c->nroles);
}

static void put_job(pai__conv *c)
{
  pai__node retries = pai__tree_get(c->tree, 0, "retryCount");
  pai__conv_str name = pai__conv_text(c, pai__tree_get(c->tree, 0, "jobName"));

  read_names(c);
  if (c->rc < 0)
    return;
  pai__yaml_begin_mapping(&c->w);
  pai__conv_put_string(c, "protocolVersion", "2");
  pai__conv_put_text(c, "name", pai__conv_job_name(c, name));
  pai__conv_put_string(c, "type", "job");
  put_prerequisites(c);
  pai__conv_put_int(c, "jobRetryCount",
                    pai__conv_retries(pai__conv_int(c, retries, 0)));
  put_roles(c);
  pai__conv_put_deployments(c);
  put_defaults(c);
  pai__conv_put_parameters(c);
  pai__conv_keep(c);
  pai__yaml_end_mapping(&c->w);
}

int pai__convert_v1_to_v2(pai__buf *out, pai__findings *f)
{
  pai__conv c = { .found = f, .tree = f->tree, .alloc = out->alloc };
  int rc;

  pai__arena_init(&c.arena, c.alloc);
  pai__yaml_writer_init(&c.w, out);
  put_job(&c);
  rc = c.rc < 0 ? c.rc : pai__yaml_finish(&c.w);
  pai__arena_dispose(&c.arena);
  return rc;
}
