/* vcs_write.c - virtual clusters, what comes with a GPU, and the machine, as
 * the API's JSON */
#include "platform/records.h"
#include "platform/vcs.h"

#include "resource/part.h"

#include <openpai/vc.h>

/* --- what there is ------------------------------------------------------------ */

typedef struct amounts {
  uint64_t gpus, cpus, memory;
} amounts;

/* All of the machine, and of one virtual cluster. */
typedef struct looking {
  pai__reply a;
  pai_sched_node_view node;
  amounts all;
  uint64_t healthy; /* GPUs; of a node that is out of use none */
} looking;

static int begin(looking *x, pai_platform *p, pai_write_cb write,
                 void *user_data, pai_error **err)
{
  int rc = pai__reply_begin(&x->a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  x->node = (pai_sched_node_view){ .struct_size = sizeof(x->node) };
  (void)pai_sched_view_node(p->sched, 0, &x->node);
  x->all = (amounts){ x->node.gpus, x->node.cpus, x->node.memory };
  x->healthy = x->node.gpus - x->node.sick_gpus;
  return PAI_OK;
}

/* By its name: the scheduler has them all as soon as there are several, and
 * else `default` alone. */
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

/* Without parts, all of what is in use is of the only one that there is. */
static amounts used_of(const looking *x, const pai_sched_vc_view *v)
{
  uint64_t gpus = v->used + v->lent;

  if (v->parted)
    return (amounts){ gpus, v->used_cpus, v->used_memory };
  return (amounts){ gpus, x->node.cpus - x->node.free_cpus,
                    x->node.memory - x->node.free_memory };
}

static amounts own_of(const looking *x, const pai_sched_vc_view *v)
{
  return v->parted ? (amounts){ v->gpus, v->cpus, v->memory } : x->all;
}

/* --- writing ------------------------------------------------------------------ */

static void member_part(pai__reply *a, const char *key, uint64_t part)
{
  char text[PAI__PART_TEXT];

  pai__part_text(text, (uint32_t)part);
  pai__member(a, key);
  pai__json_ready(&a->w, text, strlen(text) - 1); /* without the % */
}

static void member_amounts(pai__reply *a, const char *key, const amounts *n)
{
  pai__member(a, key);
  pai__json_begin_object(&a->w);
  pai__member_int(a, "cpu", (int64_t)n->cpus);
  pai__member_int(a, "memory", (int64_t)(n->memory >> 20));
  pai__member_int(a, "gpu", (int64_t)n->gpus);
  pai__member_int(a, "vCores", (int64_t)n->cpus);
  pai__member_int(a, "GPUs", (int64_t)n->gpus);
  pai__json_end_object(&a->w);
}

/* In hundredths of a percent; of GPUs, and where there are none of CPUs. */
static uint64_t used_part(const looking *x, const amounts *used)
{
  uint64_t n = x->all.gpus != 0 ? used->gpus : used->cpus;
  uint64_t all = x->all.gpus != 0 ? x->all.gpus : x->all.cpus;

  n = all != 0 ? n * PAI_VC_WHOLE / all : 0;
  return n < PAI_VC_WHOLE ? n : PAI_VC_WHOLE;
}

/* What the others leave. */
static uint32_t rest_of(const pai__vcs *vcs)
{
  uint32_t left = PAI_VC_WHOLE;

  for (size_t i = 0; i < vcs->n; i++)
    left -= vcs->list[i].part;
  return left;
}

/* Those that wait, or those that run or stop. */
static int64_t count_jobs(const pai_platform *p, const char *vc, bool wait)
{
  const pai__map_entry *e;
  int64_t n = 0;

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    const pai__pjob *j = e->value;
    int state = pai__job_public_state(&j->job);

    if (pai__vcs_index(p->vcs, j->vc) == pai__vcs_index(p->vcs, vc))
      n += wait ? state == PAI_STATE_WAITING
                : state == PAI_STATE_RUNNING || state == PAI_STATE_STOPPING;
  }
  return n;
}

static void write_vc(looking *x, const char *name)
{
  pai__reply *a = &x->a;
  const pai__vcs *vcs = a->p->vcs;
  const pai__vc_entry *e = pai__vcs_find(vcs, name);
  uint32_t part = e != NULL ? e->part : rest_of(vcs);
  pai_sched_vc_view v;
  amounts used, own, well;

  (void)find(a->p, name, &v);
  used = used_of(x, &v);
  own = well = own_of(x, &v);
  if (x->node.gpus != 0)
    well.gpus = own.gpus * x->healthy / x->node.gpus;
  pai__json_begin_object(&a->w);
  member_part(a, "capacity", part);
  member_part(a, "usedCapacity", used_part(x, &used));
  member_part(a, "maxCapacity", e != NULL ? e->most : part);
  pai__member(a, "dedicated");
  pai__json_bool(&a->w, false);
  member_amounts(a, "resourcesUsed", &used);
  member_amounts(a, "resourcesGuaranteed", &well);
  member_amounts(a, "resourcesTotal", &own);
  pai__member_text(a, "state",
                   e != NULL && e->stopped ? "stopped" : "running");
  pai__member_int(a, "waitingJobs", count_jobs(a->p, name, true));
  pai__member_int(a, "runningJobs", count_jobs(a->p, name, false));
  pai__member_text(a, "description", e != NULL ? e->description : "");
  pai__member_text(a, "externalName", e != NULL ? e->external : "");
  pai__json_end_object(&a->w);
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
    pai__member(&x.a, pai_platform_vc_name(p, i));
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
  pai__member(&x.a, x.node.name);
  pai__json_begin_object(&x.a.w);
  pai__member_int(&x.a, "gpuUsed",
                  (int64_t)x.node.gpus - x.node.free_gpus - x.node.sick_gpus);
  pai__member_int(&x.a, "gpuAvailable", x.node.free_gpus);
  pai__member_int(&x.a, "gpuTotal", x.node.gpus);
  pai__json_end_object(&x.a.w);
  pai__json_end_object(&x.a.w);
  return pai__reply_end(&x.a, PAI_OK);
}

/* --- what comes with a GPU ------------------------------------------------------ */

/* GPUs of one machine are of one kind here. */
static void write_sku(looking *x, const char *name, uint64_t gpus,
                      uint64_t parts)
{
  pai__reply *a = &x->a;

  pai__member(a, name);
  pai__json_begin_object(&a->w);
  pai__member_int(a, "cpu", (int64_t)(x->all.cpus / parts));
  pai__member_int(a, "memory", (int64_t)((x->all.memory >> 20) / parts));
  pai__member_int(a, "gpu", (int64_t)gpus);
  pai__json_end_object(&a->w);
}

int pai_platform_write_skus(pai_platform *p, const char *name,
                            pai_write_cb write, void *user_data,
                            pai_error **err)
{
  pai_sched_vc_view v;
  amounts own;
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
    write_sku(&x, "cpu", 0, x.all.cpus);
  pai__json_end_object(&x.a.w);
  return pai__reply_end(&x.a, PAI_OK);
}
