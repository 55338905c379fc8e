/* vcs_write.c - virtual clusters, their nodes and SKUs as the API's JSON */
#include "platform/records/records.h"
#include "platform/place/vcs.h"

#include <openpai/vc.h>

/* --- amounts -------------------------------------------------------------- */

/* A reply, with the machine and its amounts; memory in bytes. */
typedef struct looking {
  pai__reply a;
  pai__node_row node;
  pai__amounts_row all;
} looking;

static int begin(looking *x, pai_platform *p, pai_write_cb write,
                 void *user_data, pai_error **err)
{
  int rc = pai__reply_begin(&x->a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  x->node = pai__node_of(p);
  x->all = (pai__amounts_row){ .gpus = x->node.gpus,
                               .cpus = (uint64_t)x->node.cpus * 1000,
                               .memory = x->node.memory };
  return PAI_OK;
}

/* Finds the scheduler's view of a virtual cluster by its name; `default` always
 * exists. */
static bool find(const pai_platform *p, const char *name,
                 pai_sched_vc_view *view)
{
  for (size_t i = 0;; i++) {
    *view = (pai_sched_vc_view){ .struct_size = sizeof(*view) };
    if (pai_sched_view_vc(p->sched, i, view) < 0)
      return false;
    if (strcmp(view->name, name) == 0)
      return true;
  }
}

/* If there is only one virtual cluster, all that is in use belongs to it. */
static pai__amounts_row used_of(const looking *x, const pai_sched_vc_view *v)
{
  uint64_t gpus = v->used + v->lent;

  if (v->parted)
    return (pai__amounts_row){ .gpus = gpus,
                               .cpus =
                                 v->used_cpus * 1000 + v->used_cpu_millis,
                               .memory = v->used_memory };
  return (pai__amounts_row){ .gpus = gpus,
                             .cpus = x->all.cpus - x->node.free_cpus,
                             .memory = x->node.memory - x->node.free_memory };
}

static pai__amounts_row own_of(const looking *x, const pai_sched_vc_view *v)
{
  return v->parted ? (pai__amounts_row){ .gpus = v->gpus,
                                         .cpus = v->cpus * 1000,
                                         .memory = v->memory }
                   : x->all;
}

/* --- writing -------------------------------------------------------------- */

/* Memory in MiB, as records have it. */
static pai__amounts_row in_mib(pai__amounts_row n)
{
  n.memory >>= 20;
  return n;
}

/* Returns hundredths of a percent of the GPUs, or without GPUs of the CPUs. */
static uint64_t used_part(const looking *x, const pai__amounts_row *used)
{
  uint64_t n = x->all.gpus != 0 ? used->gpus : used->cpus;
  uint64_t all = x->all.gpus != 0 ? x->all.gpus : x->all.cpus;

  n = all != 0 ? n * PAI_VC_WHOLE / all : 0;
  return n < PAI_VC_WHOLE ? n : PAI_VC_WHOLE;
}

/* Returns the capacity of `default`: what the others leave. */
static uint32_t rest_of(const pai__vcs *vcs)
{
  uint32_t left = PAI_VC_WHOLE;

  for (size_t i = 0; i < vcs->n; i++)
    left -= vcs->list[i].part;
  return left;
}

/* Counts the jobs that wait, and those that run or stop. */
static void count_jobs(pai__vc_row *row, const pai_platform *p, const char *vc)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    const pai__pjob *j = e->value;
    int state = pai__job_public_state(&j->job);

    if (pai__vcs_index(p->vcs, j->vc) != pai__vcs_index(p->vcs, vc))
      continue;
    row->waiting += state == PAI_STATE_WAITING;
    row->running += state == PAI_STATE_RUNNING || state == PAI_STATE_STOPPING;
  }
}

static void write_vc(looking *x, const char *name)
{
  const pai_platform *p = x->a.p;
  const pai__vc_entry *e = pai__vcs_find(p->vcs, name);
  uint64_t part = e != NULL ? e->part : rest_of(p->vcs);
  pai__amounts_row used, well;
  pai_sched_vc_view v;
  pai__vc_row row;

  (void)find(p, name, &v);
  used = used_of(x, &v);
  well = own_of(x, &v);
  row =
    (pai__vc_row){ .capacity = part * 10, /* from hundredths */
                   .used_capacity = used_part(x, &used) * 10,
                   .max_capacity = (e != NULL ? e->most : part) * 10,
                   .used = in_mib(used),
                   .total = in_mib(well),
                   .state = e != NULL && e->stopped ? "stopped" : "running",
                   .description = e != NULL ? e->description : "",
                   .external_name = e != NULL ? e->external : "",
                   .idle_warn = e != NULL ? e->idle_warn : PAI__VC_IDLE_WARN,
                   .idle_stop = e != NULL ? e->idle_stop : 0 };
  if (x->node.gpus != 0)
    well.gpus = well.gpus * (x->node.gpus - x->node.sick_gpus) / x->node.gpus;
  row.guaranteed = in_mib(well);
  count_jobs(&row, p, name);
  (void)pai__api_object(&x->a.w, &pai__api_VirtualCluster, &row, NULL, NULL);
}

static bool is_there(const pai_platform *p, const char *name)
{
  size_t i = 0;
  const char *at;

  while ((at = pai_platform_vc_name(p, i)) != NULL && strcmp(at, name) != 0)
    i++;
  return at != NULL;
}

static int missing(const char *name, pai_error **err)
{
  return pai__fail(err, PAI_ENOTFOUND, "there is no virtual cluster '%.64s'",
                   name);
}

int pai_platform_write_vcs(pai_platform *p, const char *name,
                           pai_write_cb write, void *user_data,
                           pai_error **err)
{
  looking x;
  int rc = begin(&x, p, write, user_data, err);

  if (rc < 0)
    return rc;
  if (name != NULL && !is_there(p, name))
    return pai__reply_end(&x.a, missing(name, err));
  if (name != NULL) {
    write_vc(&x, name);
    return pai__reply_end(&x.a, PAI_OK);
  }
  pai__json_begin_object(&x.a.w);
  for (size_t i = 0; pai_platform_vc_name(p, i) != NULL; i++) {
    pai__json_member(&x.a.w, pai_platform_vc_name(p, i));
    write_vc(&x, pai_platform_vc_name(p, i));
  }
  pai__json_end_object(&x.a.w);
  return pai__reply_end(&x.a, PAI_OK);
}

int pai_platform_write_vc_nodes(pai_platform *p, pai_write_cb write,
                                void *user_data, pai_error **err)
{
  looking x;
  int rc = begin(&x, p, write, user_data, err);

  if (rc < 0)
    return rc;
  pai__json_begin_object(&x.a.w);
  pai__json_member(&x.a.w, x.node.name);
  (void)pai__api_object(&x.a.w, &pai__api_NodeGpus, &x.node, NULL, NULL);
  pai__json_end_object(&x.a.w);
  return pai__reply_end(&x.a, PAI_OK);
}

/* --- SKUs ----------------------------------------------------------------- */

/* All GPUs of the machine count as one kind: each gets an equal part. */
static void write_sku(looking *x, const char *name, uint64_t gpus,
                      uint64_t parts)
{
  const pai__sku_row row = { .cpus = x->node.cpus / parts,
                             .memory = (x->all.memory >> 20) / parts,
                             .gpus = gpus };

  pai__json_member(&x->a.w, name);
  (void)pai__api_object(&x->a.w, &pai__api_Sku, &row, NULL, NULL);
}

int pai_platform_write_skus(pai_platform *p, const char *name,
                            pai_write_cb write, void *user_data,
                            pai_error **err)
{
  pai_sched_vc_view v;
  pai__amounts_row own;
  looking x;
  int rc = begin(&x, p, write, user_data, err);

  if (rc < 0)
    return rc;
  own = x.all;
  if (name != NULL) {
    if (!is_there(p, name) || !find(p, name, &v))
      return pai__reply_end(&x.a, missing(name, err));
    own = own_of(&x, &v);
  }
  pai__json_begin_object(&x.a.w);
  if (own.gpus != 0)
    write_sku(&x, "gpu", 1, x.all.gpus);
  else if (x.all.gpus == 0 && own.cpus != 0)
    write_sku(&x, "cpu", 0, x.node.cpus);
  pai__json_end_object(&x.a.w);
  return pai__reply_end(&x.a, PAI_OK);
}
