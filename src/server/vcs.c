/* vcs.c - virtual clusters, what comes with a GPU, and nodes */
#include "server/server.h"

#include <openpai/vc.h>

/* --- names ------------------------------------------------------------------------------ */

static bool is_name(const char *s)
{
  size_t n = 0;

  while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
         (s[n] >= '0' && s[n] <= '9') || s[n] == '_')
    n++;
  return n > 0 && s[n] == '\0';
}

/* Whether the path names what could be one; if not, that is the answer. */
static bool check_name(pai__request *r)
{
  if (is_name(r->params[0]))
    return true;
  pai__answer_error(r, 400, "InvalidParametersError",
                    "child \"vcName\" fails because [\"vcName\" with value "
                    "\"%s\" fails to match the required pattern: "
                    "/^[A-Za-z0-9_]+$/]",
                    r->params[0]);
  return false;
}

/* And what may be changed. */
static bool check_change(pai__request *r)
{
  if (!check_name(r))
    return false;
  if (strcmp(r->params[0], "default") != 0)
    return true;
  pai__answer_error(r, 403, "ForbiddenUserError",
                    "Virtual cluster default has the capacity that no other "
                    "has, and cannot be changed.");
  return false;
}

static void missing(pai__request *r, const char *name)
{
  pai__answer_error(r, 404, "NoVirtualClusterError",
                    "Virtual cluster %s is not found.", name);
}

/* --- bodies ----------------------------------------------------------------------------- */

static const pai__field part_fields[] = {
  { .name = "vcCapacity",
    .kind = PAI__IS_NUMBER,
    .flags = PAI__NEEDED,
    .most = 100 },
  { .name = "vcMaxCapacity",
    .kind = PAI__IS_NUMBER,
    .most = 100,
    .not_below = "vcCapacity" },
  { .name = "description", .kind = PAI__IS_TEXT, .flags = PAI__MAY_BE_EMPTY },
  { .name = "externalName", .kind = PAI__IS_TEXT, .flags = PAI__MAY_BE_EMPTY },
  { 0 }
};

static const char *const vc_states[] = { "stopped", "running", NULL };
static const pai__field vc_status_fields[] = { { .name = "vcStatus",
                                                 .kind = PAI__IS_TEXT,
                                                 .flags = PAI__NEEDED,
                                                 .choices = vc_states },
                                               { 0 } };

static const char *const node_states[] = { "drained", "up", NULL };
static const pai__field node_status_fields[] = {
  { .name = "state",
    .kind = PAI__IS_TEXT,
    .flags = PAI__NEEDED,
    .choices = node_states },
  { .name = "reason", .kind = PAI__IS_TEXT, .flags = PAI__MAY_BE_EMPTY },
  { 0 }
};

/* A text of the body, or NULL. */
static const char *text_of(const pai__request *r, const char *name)
{
  pai__node n = pai__tree_get(r->form, 0, name);

  return n != PAI__NO_NODE ? pai__tree_str(r->form, n, NULL) : NULL;
}

/* A percentage, as hundredths; it stays as it is if there is none.  False: that
 * is refused. */
static bool read_part(pai__request *r, const char *name, uint32_t *out)
{
  enum { SMALL = 1000000 }; /* of a hundredth, what a double may be off by */
  pai__node n = pai__tree_get(r->form, 0, name);
  double percent;

  if (n == PAI__NO_NODE)
    return true;
  percent = pai__tree_type(r->form, n) == PAI__INT
              ? (double)pai__tree_int(r->form, n)
              : pai__tree_float(r->form, n);
  *out = (uint32_t)(percent * 100 + 0.5);
  if ((percent * 100 - *out) * SMALL <= 1 &&
      (*out - percent * 100) * SMALL <= 1)
    return true;
  pai__answer_error(r, 400, "InvalidParametersError",
                    "child \"%s\" fails because [\"%s\" must have no more "
                    "than 2 decimal places]",
                    name, name);
  return false;
}

/* --- asking ----------------------------------------------------------------------------- */

static void do_list(pai__request *r)
{
  pai_platform *p = r->server->platform;
  pai_error *err = NULL;
  int rc =
    pai__request_query(r, "nodes") != NULL
      ? pai_platform_write_vc_nodes(p, pai__answer_write, &r->answer, &err)
      : pai_platform_write_vcs(p, NULL, pai__answer_write, &r->answer, &err);

  pai__answer_written(r, rc, err);
}

static void do_show(pai__request *r)
{
  pai_error *err = NULL;
  int rc;

  if (!check_name(r))
    return;
  rc = pai_platform_write_vcs(r->server->platform, r->params[0],
                              pai__answer_write, &r->answer, &err);
  if (rc == PAI_ENOTFOUND) {
    missing(r, r->params[0]);
    pai_error_free(err);
  } else {
    pai__answer_written(r, rc, err);
  }
}

static void do_skus(pai__request *r)
{
  const char *vc = pai__request_query(r, "vc");
  pai_error *err = NULL;
  int rc = pai_platform_write_skus(r->server->platform, vc, pai__answer_write,
                                   &r->answer, &err);

  if (rc == PAI_ENOTFOUND) {
    missing(r, vc);
    pai_error_free(err);
  } else {
    pai__answer_written(r, rc, err);
  }
}

/* --- changing --------------------------------------------------------------------------- */

static const struct {
  int rc, status;
  const char *code;
} failures[] = {
  { PAI_ENOTFOUND, 404, "NoVirtualClusterError" },
  { PAI_EPERM, 403, "ForbiddenUserError" },
  { PAI_ENOROOM, 403, "NoEnoughQuotaError" },
  { PAI_EEXISTS, 409, "ConflictVcError" }, /* a group of another kind */
  { PAI_EBUSY, 409, "RemoveRunningVcError" },
};

static void failed(pai__request *r, int rc, pai_error *err)
{
  for (size_t i = 0; i < PAI__LEN(failures); i++)
    if (failures[i].rc == rc) {
      pai__answer_error(r, failures[i].status, failures[i].code, "%s",
                        pai_error_message(err));
      pai_error_free(err);
      return;
    }
  pai__answer_failure(r, rc, err);
}

static void do_put(pai__request *r)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_error *err = NULL;
  int rc;

  if (!check_change(r) || !read_part(r, "vcCapacity", &o.capacity))
    return;
  o.max_capacity = o.capacity;
  if (!read_part(r, "vcMaxCapacity", &o.max_capacity))
    return;
  o.description = text_of(r, "description");
  o.external_name = text_of(r, "externalName");
  rc = pai_platform_put_vc(r->server->platform, r->params[0], &o, &err);
  if (rc < 0) {
    failed(r, rc, err);
    return;
  }
  pai__answer_done(r, 201, "Update vc %s to capacity %u.%02u%% successfully.",
                   r->params[0], o.capacity / 100, o.capacity % 100);
  pai__answer_when_safe(r);
}

static void do_remove(pai__request *r)
{
  pai_error *err = NULL;
  int rc;

  if (!check_change(r))
    return;
  if (strcmp(r->params[0], "admingroup") == 0) {
    pai__answer_error(r, 403, "ForbiddenUserError",
                      "Group admingroup is the administrators': it cannot be "
                      "removed.");
    return;
  }
  rc = pai_platform_remove_vc(r->server->platform, r->params[0], &err);
  if (rc < 0) {
    failed(r, rc, err);
    return;
  }
  pai__answer_done(r, 201, "Remove vc %s successfully.", r->params[0]);
  pai__answer_when_safe(r);
}

static void do_status(pai__request *r)
{
  const char *state = text_of(r, "vcStatus");
  pai_error *err = NULL;
  int rc;

  if (!check_change(r))
    return;
  rc = pai_platform_stop_vc(r->server->platform, r->params[0],
                            strcmp(state, "stopped") == 0, &err);
  if (rc < 0) {
    failed(r, rc, err);
    return;
  }
  pai__answer_done(r, 201, "Update vc %s to status %s successfully.",
                   r->params[0], state);
  pai__answer_when_safe(r);
}

/* --- nodes, which OpenPAI's API has not ------------------------------------------------- */

static void do_nodes(pai__request *r)
{
  pai_error *err = NULL;
  int rc = pai_platform_write_nodes(r->server->platform, r->params[0],
                                    pai__answer_write, &r->answer, &err);

  if (rc == PAI_ENOTFOUND) {
    pai__answer_error(r, 404, "NoNodeError", "%s", pai_error_message(err));
    pai_error_free(err);
  } else {
    pai__answer_written(r, rc, err);
  }
}

static void do_node_status(pai__request *r)
{
  const char *state = text_of(r, "state");
  pai_error *err = NULL;
  int rc = pai_platform_drain(r->server->platform, r->params[0],
                              strcmp(state, "drained") == 0,
                              text_of(r, "reason"), &err);

  if (rc == PAI_ENOTFOUND) {
    pai__answer_error(r, 404, "NoNodeError", "%s", pai_error_message(err));
    pai_error_free(err);
  } else if (rc < 0) {
    pai__answer_failure(r, rc, err);
  } else {
    pai__answer_done(r, 201, "Update node %s to state %s successfully.",
                     r->params[0], state);
    pai__answer_when_safe(r);
  }
}

/* --- answers --- */

static const pai__field amounts_fields[] = {
  PAI__HAS(WHOLE, "cpu"),    PAI__HAS(WHOLE, "memory"), PAI__HAS(WHOLE, "gpu"),
  PAI__HAS(WHOLE, "vCores"), PAI__HAS(WHOLE, "GPUs"),   { 0 }
};

static const pai__shape amounts_shape = { "Amounts", amounts_fields };

static const pai__field cluster_fields[] = {
  PAI__HAS(NUMBER, "capacity"),
  PAI__HAS(NUMBER, "usedCapacity"),
  PAI__HAS(NUMBER, "maxCapacity"),
  PAI__HAS(FLAG, "dedicated"),
  PAI__HAS_OF(OBJECT, "resourcesUsed", &amounts_shape),
  PAI__HAS_OF(OBJECT, "resourcesGuaranteed", &amounts_shape),
  PAI__HAS_OF(OBJECT, "resourcesTotal", &amounts_shape),
  PAI__HAS(TEXT, "state"),
  PAI__HAS(WHOLE, "waitingJobs"),
  PAI__HAS(WHOLE, "runningJobs"),
  PAI__HAS_OR_NULL(TEXT, "description"),
  PAI__HAS_OR_NULL(TEXT, "externalName"),
  { 0 }
};

static const pai__shape cluster_shape = { "VirtualCluster", cluster_fields };

static const pai__result cluster = { .kind = PAI__IS_OBJECT,
                                     .shape = &cluster_shape };

static const pai__field gpus_fields[] = { PAI__HAS(WHOLE, "gpuUsed"),
                                          PAI__HAS(WHOLE, "gpuAvailable"),
                                          PAI__HAS(WHOLE, "gpuTotal"),
                                          { 0 } };

static const pai__shape gpus_shape = { "NodeGpus", gpus_fields };

static const pai__result node_gpus = { .kind = PAI__IS_MAP,
                                       .shape = &gpus_shape };

static const pai__result clusters = { .kind = PAI__IS_MAP,
                                      .shape = &cluster_shape,
                                      .other = &node_gpus };

static const pai__field sku_fields[] = { PAI__HAS(WHOLE, "cpu"),
                                         PAI__HAS(WHOLE, "memory"),
                                         PAI__HAS(WHOLE, "gpu"),
                                         { 0 } };

static const pai__shape sku_shape = { "Sku", sku_fields };

static const pai__result skus = { .kind = PAI__IS_MAP, .shape = &sku_shape };

static const pai__field node_fields[] = {
  PAI__HAS(TEXT, "name"),        PAI__HAS(TEXT, "state"),
  PAI__HAS_OR_NULL(TEXT, "why"), PAI__HAS(TEXT, "address"),
  PAI__HAS(WHOLE, "gpus"),       PAI__HAS(WHOLE, "freeGpus"),
  PAI__HAS(WHOLE, "sickGpus"),   PAI__HAS(WHOLE, "cpus"),
  PAI__HAS(WHOLE, "freeCpus"),   PAI__HAS(WHOLE, "memory"),
  PAI__HAS(WHOLE, "freeMemory"), { 0 }
};

static const pai__shape node_shape = { "Node", node_fields };

static const pai__result node = { .kind = PAI__IS_OBJECT,
                                  .shape = &node_shape };

static const pai__result nodes = { .kind = PAI__IS_LIST,
                                   .shape = &node_shape };

/* --- queries --- */

static const pai__field node_queries[] = {
  { .name = "nodes",
    .kind = PAI__IS_FLAG,
    .what = "the GPUs of each node, in place of the virtual clusters; "
            "whatever its value" },
  { 0 }
};

static const pai__field sku_queries[] = {
  PAI__TAKES(TEXT, "vc", "what this virtual cluster has"), { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/virtual-clusters",
    .packs = true,
    .handle = do_list,
    .right = PAI__OF_USERS,
    .result = &clusters,
    .queries = node_queries,
    .summary =
      "List virtual clusters and their use; with ?nodes, the GPUs of nodes" },
  { .method = "GET",
    .path = "/api/v2/virtual-clusters/:vc",
    .handle = do_show,
    .right = PAI__OF_USERS,
    .result = &cluster,
    .summary = "Get a virtual cluster",
    .errors = "400 InvalidParametersError, 404 NoVirtualClusterError" },
  { .method = "PUT",
    .path = "/api/v2/virtual-clusters/:vc",
    .handle = do_put,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = part_fields,
    .status = 201,
    .summary = "Create or change a virtual cluster",
    .errors = "403 NoEnoughQuotaError, 409 ConflictVcError" },
  { .method = "DELETE",
    .path = "/api/v2/virtual-clusters/:vc",
    .handle = do_remove,
    .right = PAI__OF_ADMIN_PERSONS,
    .status = 201,
    .summary = "Remove a virtual cluster",
    .errors = "400 InvalidParametersError, 404 NoVirtualClusterError, "
              "409 RemoveRunningVcError" },
  { .method = "PUT",
    .path = "/api/v2/virtual-clusters/:vc/status",
    .handle = do_status,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = vc_status_fields,
    .status = 201,
    .summary = "Stop a virtual cluster, or let its jobs start again",
    .errors = "404 NoVirtualClusterError" },
  { .method = "GET",
    .path = "/api/v2/cluster/sku-types",
    .packs = true,
    .handle = do_skus,
    .right = PAI__OF_USERS,
    .result = &skus,
    .queries = sku_queries,
    .summary = "Get the CPUs and memory that come with a GPU of each type",
    .errors = "404 NoVirtualClusterError" },
  { .method = "GET",
    .path = "/api/v2/nodes",
    .packs = true,
    .handle = do_nodes,
    .right = PAI__OF_USERS,
    .result = &nodes,
    .summary = "List nodes" },
  { .method = "GET",
    .path = "/api/v2/nodes/:node",
    .handle = do_nodes,
    .right = PAI__OF_USERS,
    .result = &node,
    .summary = "Get a node",
    .errors = "404 NoNodeError" },
  { .method = "PUT",
    .path = "/api/v2/nodes/:node/status",
    .handle = do_node_status,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = node_status_fields,
    .status = 201,
    .summary = "Drain or resume a node",
    .errors = "404 NoNodeError" },
};

const pai__routes pai__vcs_routes = { routes, PAI__LEN(routes) };
