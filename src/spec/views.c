/* views.c - fields of a spec with their defaults, as views */
#include "spec/check.h"
#include "spec/scan/index.h"
#include "spec/spec.h"
#include "spec/values.h"

enum { DEFAULT_SHM = 512 };

static const char *text(const pai_spec *spec, pai__node n, const char *field)
{
  size_t len;

  return pai__text_at(spec->tree, pai__tree_get(spec->tree, n, field), &len);
}

static uint32_t number(const pai_spec *spec, pai__node n, uint32_t missing)
{
  int64_t value;

  if (n == PAI__NO_NODE || !pai__whole(spec->tree, n, false, &value) ||
      value < 0)
    return missing;
  return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* Returns item i of a list, or PAI__NO_NODE. */
static pai__node item(const pai_spec *spec, pai__node list, size_t i)
{
  pai__tree_walk walk;
  pai__node n = PAI__NO_NODE;

  if (i >= pai__tree_size(spec->tree, list))
    return PAI__NO_NODE;
  walk = pai__tree_iter(spec->tree, list);
  do
    n = pai__tree_next(&walk);
  while (i-- > 0);
  return n;
}

int pai_spec_view_job(const pai_spec *spec, pai_job_view *view)
{
  pai__node defaults;
  const char *cluster;
  pai_job_view full;

  PAI__CHECK_ARG(spec != NULL && view != NULL);
  defaults = pai__tree_get(spec->tree, 0, "defaults");
  cluster = text(spec, defaults, "virtualCluster");
  full = (pai_job_view){
    .name = spec->name,
    .contributor = text(spec, 0, "contributor"),
    .description = text(spec, 0, "description"),
    .retry_count = spec->retry_count,
    .virtual_cluster = cluster != NULL ? cluster : "default",
    .deployment = text(spec, defaults, "deployment"),
    .gang = pai__spec_gang(spec->tree),
    .roles = spec->nroles,
    .tasks = spec->ntasks,
    .prerequisites = pai__tree_size(
      spec->tree, pai__tree_get(spec->tree, 0, "prerequisites")),
  };

  return PAI__FILL_VIEW(view, full, pai_job_view, prerequisites);
}

int pai_spec_view_role(const pai_spec *spec, size_t role, pai_role_view *view)
{
  const pai__role *r;
  pai__node n, container;
  uint32_t shm;

  PAI__CHECK_ARG(spec != NULL && view != NULL);
  if (role >= spec->nroles)
    return PAI_ENOTFOUND;
  r = &spec->roles[role];
  n = r->node;
  container = pai__tree_get(spec->tree, n, "extraContainerOptions");
  shm =
    number(spec, pai__tree_get(spec->tree, container, "shmMB"), DEFAULT_SHM);
  return PAI__FILL_VIEW(
    view,
    ((pai_role_view){
      .name = r->name,
      .instances = r->instances,
      .min_failed = r->min_failed,
      .min_succeeded = r->min_succeeded,
      .task_retry_count =
        number(spec, pai__tree_get(spec->tree, n, "taskRetryCount"), 0),
      .cpus = r->cpus,
      .memory_mb = r->memory_mb,
      .gpus = r->gpus,
      .shm_mb = shm != 0 ? shm : DEFAULT_SHM,
      .infiniband = pai__js_true(
        spec->tree, pai__tree_get(spec->tree, container, "infiniband")),
      .image = text(spec, n, "dockerImage"),
      .data = text(spec, n, "data"),
      .output = text(spec, n, "output"),
      .script_name = text(spec, n, "script"),
      .script = r->script,
      .ports = r->nports,
      .prerequisites = pai__tree_size(
        spec->tree, pai__tree_get(spec->tree, n, "prerequisites")),
      .milli_cpus = r->cpu_millis }),
    pai_role_view, prerequisites);
}

int pai_spec_view_port(const pai_spec *spec, size_t role, size_t port,
                       pai_port_view *view)
{
  pai_port_view full = { 0 };

  PAI__CHECK_ARG(spec != NULL && view != NULL);
  if (role >= spec->nroles || port >= spec->roles[role].nports)
    return PAI_ENOTFOUND;
  full.label = spec->roles[role].ports[port].label;
  full.count = spec->roles[role].ports[port].count;
  return PAI__FILL_VIEW(view, full, pai_port_view, count);
}

int pai_spec_view_prerequisite(const pai_spec *spec, size_t i,
                               pai_prerequisite_view *view)
{
  pai__node n, uri;
  pai_prerequisite_view full = { 0 };

  PAI__CHECK_ARG(spec != NULL && view != NULL);
  n = item(spec, pai__tree_get(spec->tree, 0, "prerequisites"), i);
  if (n == PAI__NO_NODE)
    return PAI_ENOTFOUND;
  uri = pai__tree_get(spec->tree, n, "uri");
  full.type = text(spec, n, "type");
  full.name = text(spec, n, "name");
  full.uri = pai_spec_prerequisite_uri(spec, i, 0);
  full.uris = pai__tree_is(spec->tree, uri, PAI__SEQUENCE)
                ? pai__tree_size(spec->tree, uri)
                : uri != PAI__NO_NODE;
  full.plugin = text(spec, n, "plugin");
  full.has_auth = pai__tree_get(spec->tree, n, "auth") != PAI__NO_NODE;
  return PAI__FILL_VIEW(view, full, pai_prerequisite_view, has_auth);
}

const char *pai_spec_role_prerequisite(const pai_spec *spec, size_t role,
                                       size_t i)
{
  size_t len;
  pai__node list;

  if (spec == NULL || role >= spec->nroles)
    return NULL;
  list = pai__tree_get(spec->tree, spec->roles[role].node, "prerequisites");
  return pai__text_at(spec->tree, item(spec, list, i), &len);
}

const char *pai_spec_prerequisite_uri(const pai_spec *spec,
                                      size_t prerequisite, size_t i)
{
  pai__node n =
    item(spec, pai__tree_get(spec->tree, 0, "prerequisites"), prerequisite);
  size_t len;

  n = pai__tree_get(spec->tree, n, "uri");
  if (pai__tree_is(spec->tree, n, PAI__SEQUENCE))
    n = item(spec, n, i);
  else if (i > 0)
    n = PAI__NO_NODE;
  return pai__text_at(spec->tree, n, &len);
}
