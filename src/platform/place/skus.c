/*
 * skus.c - SKU types that jobs ask for
 *
 * This machine has one type: "gpu" if it has GPUs, else "cpu".  HiveD's job
 * files name a type for each role.  An unknown type is refused, because the job
 * would get other hardware than it asks for.
 */
#include "platform/place/skus.h"

static const char *here(const pai_platform *p)
{
  return p->here.gpus != 0 ? "gpu" : "cpu";
}

/* Returns the role's SKU type, or NULL; as in HiveD, "" is no type. */
static const char *named(const pai_spec *spec, const pai__role *role)
{
  static const char *const path[] = { "extras", "hivedScheduler",
                                      "taskRoles" };
  const pai__tree *t = spec->tree;
  pai__node n = 0;
  const char *type;

  for (size_t i = 0; i < PAI__LEN(path) && n != PAI__NO_NODE; i++)
    n = pai__tree_get(t, n, path[i]);
  if (n != PAI__NO_NODE)
    n = pai__tree_get(t, n, role->name);
  if (n != PAI__NO_NODE)
    n = pai__tree_get(t, n, "skuType");
  if (n == PAI__NO_NODE || pai__tree_type(t, n) != PAI__STRING)
    return NULL;
  type = pai__tree_str(t, n, NULL);
  return type[0] != '\0' ? type : NULL;
}

static int missing(const pai_platform *p, const pai__role *role,
                   const char *type, pai_error **err)
{
  (void)pai__fail(
    err, PAI_EINVAL,
    "task role %.64s asks for the SKU type '%.64s', which is not "
    "here",
    role->name, type);
  pai__error_help(err,
                  "the only type of this machine is '%s': name that, or "
                  "none",
                  here(p));
  return PAI_EINVAL;
}

int pai__skus_check(const pai_platform *p, const pai_spec *spec,
                    pai_error **err)
{
  for (size_t r = 0; p->store != NULL && r < spec->nroles; r++) {
    const char *type = named(spec, &spec->roles[r]);

    if (type != NULL && strcmp(type, here(p)) != 0)
      return missing(p, &spec->roles[r], type, err);
  }
  return PAI_OK;
}

/* A restored job may name a type that this machine does not have any more; it
 * then gets any. */
const char *pai__sku_wanted(const pai__pjob *j, const pai__role *role)
{
  const char *type = role->gpus != 0 ? named(j->spec, role) : NULL;

  return type != NULL && strcmp(type, here(j->platform)) == 0 ? type : NULL;
}
