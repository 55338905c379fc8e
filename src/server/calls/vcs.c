/* vcs.c - virtual clusters, SKUs and nodes */
#include "server/server.h"

#include <openpai/vc.h>

/* --- names --------------------------------------------------------------- */

static bool is_name(const char *s)
{
  size_t n = 0;

  while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
         (s[n] >= '0' && s[n] <= '9') || s[n] == '_')
    n++;
  return n > 0 && s[n] == '\0';
}

/* Checks that the path has a valid name; if not, answers and returns false. */
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

/* As check_name(); also refuses the virtual cluster "default". */
static bool check_change(pai__request *r)
{
  if (!check_name(r))
    return false;
  if (strcmp(r->params[0], "default") != 0)
    return true;
  pai__answer_error(r, 403, "ForbiddenUserError",
                    "Virtual cluster default has the remaining capacity and "
                    "cannot be changed.");
  return false;
}

/* Answers with what was written; ENOTFOUND means the virtual cluster. */
static void answer_written(pai__request *r, int rc, const char *name)
{
  if (rc == PAI_ENOTFOUND)
    pai__answer_error(r, 404, "NoVirtualClusterError",
                      "Virtual cluster %s is not found.", name);
  else
    pai__answer_written(r, rc);
}

/* Reads a percentage in hundredths; if it is missing, *out stays as it is.
 * Returns false if it is invalid, which is then the answer. */
static bool read_part(pai__request *r, const char *name, uint32_t *out)
{
  /* accepts a rounding error of 1/SMALL of a hundredth */
  enum { SMALL = 1000000 };
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

/* --- reading ------------------------------------------------------------- */

void pai__do_vcs_list(pai__request *r)
{
  pai_platform *p = r->server->platform;

  pai__answer_written(r, pai__request_query(r, "nodes") != NULL
                           ? pai_platform_write_vc_nodes(p, pai__answer_write,
                                                         &r->answer, &r->err)
                           : pai_platform_write_vcs(p, NULL, pai__answer_write,
                                                    &r->answer, &r->err));
}

void pai__do_vcs_show(pai__request *r)
{
  if (check_name(r))
    answer_written(r,
                   pai_platform_write_vcs(r->server->platform, r->params[0],
                                          pai__answer_write, &r->answer,
                                          &r->err),
                   r->params[0]);
}

void pai__do_cluster_sku_types(pai__request *r)
{
  const char *vc = pai__request_query(r, "vc");

  answer_written(r,
                 pai_platform_write_skus(r->server->platform, vc,
                                         pai__answer_write, &r->answer,
                                         &r->err),
                 vc);
}

/* --- updates ------------------------------------------------------------- */

static const struct {
  int rc, status;
  const char *code;
} failures[] = {
  { PAI_ENOTFOUND, 404, "NoVirtualClusterError" },
  { PAI_EPERM, 403, "ForbiddenUserError" },
  { PAI_ENOROOM, 403, "NoEnoughQuotaError" },
  /* a group of that name that is not the virtual cluster's */
  { PAI_EEXISTS, 409, "ConflictVcError" },
  { PAI_EBUSY, 409, "RemoveRunningVcError" },
};

static void failed(pai__request *r, int rc)
{
  for (size_t i = 0; i < PAI__LEN(failures); i++)
    if (failures[i].rc == rc) {
      pai__answer_error(r, failures[i].status, failures[i].code, "%s",
                        pai_error_message(r->err));
      return;
    }
  pai__answer_failure(r, rc);
}

/* Reads minutes; 0 is never, and none leaves them as they are. */
static int32_t read_minutes(const pai__request *r, const char *name)
{
  pai__node n = pai__tree_get(r->form, 0, name);
  int64_t minutes =
    n != PAI__NO_NODE ? pai__tree_look_int(r->form, 0, name) : 0;

  if (n != PAI__NO_NODE && minutes == 0)
    return PAI_VC_NEVER;
  return (int32_t)minutes;
}

void pai__do_vcs_put(pai__request *r)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  int rc;

  if (!check_change(r) || !read_part(r, "vcCapacity", &o.capacity))
    return;
  o.max_capacity = o.capacity;
  if (!read_part(r, "vcMaxCapacity", &o.max_capacity))
    return;
  o.description = pai__body_text(r, "description");
  o.external_name = pai__body_text(r, "externalName");
  o.idle_warn_minutes = read_minutes(r, "idleWarnMinutes");
  o.idle_stop_minutes = read_minutes(r, "idleStopMinutes");
  rc = pai_platform_put_vc(r->server->platform, r->params[0], &o, &r->err);
  if (rc < 0) {
    failed(r, rc);
    return;
  }
  pai__answer_done(r, 201, "Update vc %s to capacity %u.%02u%% successfully.",
                   r->params[0], o.capacity / 100, o.capacity % 100);
  pai__answer_when_safe(r);
}

void pai__do_vcs_remove(pai__request *r)
{
  int rc;

  if (!check_change(r))
    return;
  if (strcmp(r->params[0], "admingroup") == 0) {
    pai__answer_error(r, 403, "ForbiddenUserError",
                      "Group admingroup is the group of administrators and "
                      "cannot be removed.");
    return;
  }
  rc = pai_platform_remove_vc(r->server->platform, r->params[0], &r->err);
  if (rc < 0) {
    failed(r, rc);
    return;
  }
  pai__answer_done(r, 201, "Remove vc %s successfully.", r->params[0]);
  pai__answer_when_safe(r);
}

void pai__do_vcs_set_status(pai__request *r)
{
  const char *state = pai__body_text(r, "vcStatus");
  int rc;

  if (!check_change(r))
    return;
  rc = pai_platform_stop_vc(r->server->platform, r->params[0],
                            strcmp(state, "stopped") == 0, &r->err);
  if (rc < 0) {
    failed(r, rc);
    return;
  }
  pai__answer_done(r, 201, "Update vc %s to status %s successfully.",
                   r->params[0], state);
  pai__answer_when_safe(r);
}

/* --- nodes, which OpenPAI's API does not have ---------------------------- */

void pai__do_nodes_list(pai__request *r)
{
  r->missing = "NoNodeError";
  pai__answer_written(
    r, pai_platform_write_nodes(r->server->platform, r->params[0],
                                pai__answer_write, &r->answer, &r->err));
}

void pai__do_nodes_set_status(pai__request *r)
{
  const char *state = pai__body_text(r, "state");
  int rc = pai_platform_drain(r->server->platform, r->params[0],
                              strcmp(state, "drained") == 0,
                              pai__body_text(r, "reason"), &r->err);

  r->missing = "NoNodeError";
  if (rc < 0) {
    pai__answer_failure(r, rc);
    return;
  }
  pai__answer_done(r, 201, "Update node %s to state %s successfully.",
                   r->params[0], state);
  pai__answer_when_safe(r);
}
