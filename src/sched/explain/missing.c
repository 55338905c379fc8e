/* missing.c - errors for unknown names, with similar names */
#include "sched/log/event.h"

#include "base/findings.h"

static void begin(const pai_sched *s, pai__names *n, const char *name)
{
  pai__names_init(n, &s->alloc, name, strlen(name));
}

static void add(pai__names *n, const char *name)
{
  pai__names_add(n, name, strlen(name));
}

int pai__missing_node(const pai_sched *s, const char *name, pai_error **err)
{
  pai__names names;

  begin(s, &names, name);
  for (uint32_t i = 0; i < s->cluster->nnodes; i++)
    add(&names, s->cluster->nodes[i].name);
  (void)pai__fail(err, PAI_ENOTFOUND, "there is no node '%s'", name);
  pai__names_tell(&names, err, "there are");
  return PAI_ENOTFOUND;
}

int pai__missing_vc(const pai_sched *s, const char *name, pai_error **err)
{
  pai__names names;

  begin(s, &names, name != NULL ? name : "default");
  for (uint32_t i = 0; i < s->cluster->nvcs; i++)
    add(&names, s->cluster->vcs[i].name);
  if (name != NULL)
    (void)pai__fail(err, PAI_ENOTFOUND, "there is no virtual cluster '%s'",
                    name);
  else
    (void)pai__fail(err, PAI_ENOTFOUND,
                    "the request names no virtual cluster, and none is called "
                    "'default'");
  pai__names_tell(&names, err, "there are");
  return PAI_ENOTFOUND;
}

int pai__missing_type(const pai_sched *s, const char *name, pai_error **err)
{
  pai__names names;

  begin(s, &names, name);
  for (uint32_t i = 0; i < s->cluster->nkinds; i++)
    add(&names, s->cluster->kinds[i]);
  for (uint32_t i = 0; i < s->cluster->nskus; i++)
    add(&names, s->cluster->skus[i].name);
  (void)pai__fail(err, PAI_ENOTFOUND, "there are no GPUs and no SKU '%s'",
                  name);
  pai__names_tell(&names, err, "there are");
  return PAI_ENOTFOUND;
}

int pai__missing_pin(const pai_sched *s, const char *name, pai_error **err)
{
  pai__names names;

  begin(s, &names, name);
  for (uint32_t i = 0; i < s->cluster->npins; i++)
    add(&names, s->cluster->pins[i].name);
  (void)pai__fail(
    err, PAI_ENOROOM,
    "it does not fit the cluster: nothing in the cluster that it could "
    "use is pinned as '%s'",
    name);
  pai__names_tell(&names, err, "names of what is pinned");
  return PAI_ENOROOM;
}

/* Adds the locality levels of all nodes, each once.  Returns whether `name` is
 * one of them. */
static bool add_groups(const pai__sched_cluster *cluster, pai__names *n,
                       const char *name)
{
  bool found = false;

  for (uint32_t b = 0; b < cluster->nskus; b++)
    for (uint32_t i = 0; i < cluster->skus[b].nlocalities; i++) {
      const char *here = cluster->skus[b].localities[i].name;
      bool told = false;

      for (uint32_t k = 0; k < b && !told; k++)
        for (uint32_t j = 0; j < cluster->skus[k].nlocalities && !told; j++)
          told = strcmp(cluster->skus[k].localities[j].name, here) == 0;
      if (!told)
        add(n, here);
      found = found || strcmp(here, name) == 0;
    }
  return found;
}

int pai__missing_group(const pai_sched *s, const char *name, pai_error **err)
{
  pai__names names;
  bool found = strcmp(name, "node") == 0;

  begin(s, &names, name);
  add(&names, "node");
  if (s->cluster->nracks != 0) {
    add(&names, "rack");
    found = found || strcmp(name, "rack") == 0;
  }
  if (add_groups(s->cluster, &names, name) || found) {
    pai__buf_dispose(&names.list);
    return PAI_OK;
  }
  (void)pai__fail(
    err, PAI_ENOROOM,
    "it does not fit the cluster: nothing in the cluster is a \"%s\" "
    "that tasks could be within",
    name);
  pai__names_tell(&names, err, "there are");
  return PAI_ENOROOM;
}
