/*
 * placing.c - what the scheduler placed is started, if its ports are free
 *
 * The scheduler does not know what other programs of this machine listen on.
 * Ports found in use are lost for this round of placing only: who used them
 * may be gone the next time, and a job that could have no others is not to
 * wait for ever.
 */
#include "platform/platform.h"

enum { LOOK_AGAIN = 1000000 }; /* microseconds */

static void on_place(void *user_data, const pai__placement *place)
{
  pai_platform *p = user_data;
  pai__pjob *j = pai__platform_find_job(p, place->id);

  j->slots = place->slots;
  j->next_placed = NULL;
  if (p->placed.first != NULL)
    p->placed.last->next_placed = j;
  else
    p->placed.first = j;
  p->placed.last = j;
}

static uint32_t count_ports(const pai__role *role)
{
  uint32_t count = 0;

  for (size_t l = 0; l < role->nports; l++)
    count += role->ports[l].count;
  return count;
}

/* Takes the ports that others use from the scheduler; how many. */
static uint32_t lose_ports_in_use(pai__pjob *j)
{
  pai_platform *p = j->platform;
  uint32_t lost = 0, one = 0;

  for (size_t t = 0; t < j->job->ntasks; t++) {
    const pai__slot *slot = &j->slots[t];
    uint32_t n = count_ports(&j->job->spec->roles[j->job->tasks[t].role]);

    for (uint32_t i = 0; i < n; i++)
      if (!p->ops->port_is_free(p->backend, slot->ports[i])) {
        pai__sched_lose_port(p->sched, slot->node, slot->ports[i]);
        one = slot->ports[i];
        lost++;
      }
  }
  if (lost > 0)
    pai__log_line(&p->log, PAI_LOG_INFO,
                  "other programs use port %u and %u more that %s was to have",
                  one, lost - 1, pai_spec_name(j->job->spec));
  return lost;
}

/* True when ports were lost and what was to have them must be placed anew. */
static bool start_placed(pai_platform *p)
{
  pai__pjob *j = p->placed.first, *next;
  bool lost = false;

  p->placed = (pai__pjob_list){ NULL, NULL };
  for (; j != NULL; j = next) {
    next = j->next_placed;
    if (lose_ports_in_use(j) > 0) {
      (void)pai__sched_requeue(p->sched, j->id);
      j->slots = NULL;
      lost = true;
      continue;
    }
    for (size_t t = 0; t < j->job->ntasks; t++)
      j->nodes[t] = pai__sched_node(p->sched, j->slots[t].node);
    pai__platform_event(j, PAI__EV_PLACED, 0, 0);
  }
  p->schedule_due |= lost;
  return lost;
}

void pai__platform_schedule(pai_platform *p)
{
  bool lost = false;

  if (!p->schedule_due)
    return;
  while (p->schedule_due) {
    p->schedule_due = false;
    pai__sched_run(p->sched, on_place, p);
    lost |= start_placed(p);
  }
  pai__sched_regain_ports(p->sched);
  if (!pai__sched_has_waiting(p->sched))
    pai__timer_stop(p->ports);
  else if (lost)
    pai__timer_start(p->ports, LOOK_AGAIN);
}
