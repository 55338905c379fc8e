/* outage.c - nodes fail and are repaired, at times that are drawn for each */
#include "sim/distribution.h"
#include "sim/sim.h"

enum { MOST_OUTAGES = 4000 }; /* of each node, with nothing else */
#define FOUR_HOURS (INT64_C(4) * 3600 * 1000000)

static int set(pai_sim *sim, uint32_t node)
{
  pai__outage *o = &sim->outages[node];
  pai_time mean = o->down ? sim->o.node_down : sim->o.node_up;
  pai_time in = pai__draw_time(&o->prng, mean);
  pai_time now = sim->drive.now;

  return pai__drive_node_timer(&sim->drive, &o->timer, node,
                               now < 0 || in < INT64_MAX - now ? now + in
                                                               : INT64_MAX);
}

int pai__outages_begin(pai_sim *sim)
{
  uint32_t n = sim->sched->park->nspots;
  int rc = PAI_OK;

  if (sim->o.node_up == 0)
    return PAI_OK;
  if (sim->o.node_down == 0)
    sim->o.node_down = FOUR_HOURS;
  sim->outages = pai__zalloc(&sim->alloc, n * sizeof(*sim->outages));
  if (sim->outages == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < n; i++) {
    sim->outages[i].timer = PAI__NO_TIMER;
    sim->outages[i].prng = pai__draw(sim->o.seed, PAI__DRAW_NODE, i);
  }
  for (uint32_t i = 0; i < n && rc == PAI_OK; i++)
    rc = set(sim, i);
  return rc;
}

/* Where nodes fail faster than jobs end, time would go on for ever. */
static int check_progress(pai_sim *sim)
{
  const pai__group *all = &sim->stats.all.sums;
  uint64_t progress = all->started + all->finished + all->killed;
  int rc;

  if (progress != sim->progress || sim->drive.njobs == 0)
    sim->outage_count = 0;
  sim->progress = progress;
  if (sim->outage_count++ / MOST_OUTAGES < sim->sched->park->nspots)
    return PAI_OK;
  rc = pai__fail(sim->err, PAI_ELIMIT,
                 "each node has failed %d times since a job started or ended: "
                 "they fail before any job can end",
                 (int)MOST_OUTAGES);
  pai__error_help(sim->err, "let nodes fail less often, jobs save their work, "
                            "or the simulation end at some time: --mtbf, "
                            "--checkpoint, --until");
  return rc;
}

int pai__outage_due(pai_sim *sim, uint32_t node)
{
  pai__outage *o = &sim->outages[node];
  int state = o->down ? PAI_NODE_UP : PAI_NODE_SICK;
  int rc = o->down ? PAI_OK : check_progress(sim);

  if (rc < 0)
    return rc;
  o->down = !o->down;
  sim->down += o->down ? 1 : -1u;
  rc = set(sim, node);
  if (rc < 0)
    return pai__oom(sim->err);
  pai__stats_node(&sim->stats, node);
  rc = pai__tell_node(sim, node, state);
  return rc < 0 ? rc
                : pai__drive_node(&sim->drive, node, state,
                                  o->down ? "it failed" : NULL, sim->err);
}
