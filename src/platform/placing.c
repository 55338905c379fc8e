/*
 * placing.c - jobs ask for their places; what is placed is started, if its
 * ports are free
 *
 * The scheduler does not know what other programs of this machine listen on.
 * Ports found in use are lost for this round of placing only: who used them
 * may be gone the next time, and a job that could have no others is not to
 * wait for ever.
 */
#include "platform/platform.h"

enum { LOOK_AGAIN = 1000000 }; /* microseconds */

/* What happened just now; size and time of the event are filled in. */
static int tell(pai_platform *p, pai_sched_event *event, pai_error **err)
{
  event->struct_size = sizeof(*event);
  event->time = pai__loop_time();
  return pai_sched_send(p->sched, event, err);
}

/* --- asking --------------------------------------------------------------- */

uint32_t pai__platform_role_ports(const pai__role *role)
{
  uint32_t count = 0;

  for (size_t l = 0; l < role->nports; l++)
    count += role->ports[l].count;
  return count;
}

/* The user knows of no events: what is said is the error below the number. */
static int refused(int rc, pai_error **err)
{
  const pai_error *why = err != NULL ? pai_error_cause(*err) : NULL;
  pai_error *event;

  if (rc != PAI_ENOROOM || why == NULL)
    return rc;
  event = *err;
  *err = NULL;
  (void)pai__fail(err, rc, "the job cannot run here: %s",
                  pai_error_message(why));
  if (pai_error_help(why) != NULL)
    pai__error_help(err, "%s", pai_error_help(why));
  pai_error_free(event);
  return rc;
}

int pai__platform_queue(pai__pjob *j, pai_error **err)
{
  pai_platform *p = j->platform;
  const pai_spec *spec = j->spec;
  pai_want *wants = pai__zalloc(&p->alloc, spec->nroles * sizeof(*wants));
  pai_request request = { .struct_size = sizeof(request),
                          .id = j->id,
                          .wants = wants,
                          .nwants = spec->nroles };
  int rc;

  if (wants == NULL)
    return pai__oom(err);
  for (size_t r = 0; r < spec->nroles; r++) {
    const pai__role *role = &spec->roles[r];

    wants[r] = (pai_want){ .struct_size = sizeof(*wants),
                           .tasks = role->instances,
                           .gpus = role->gpus,
                           .cpus = role->cpus,
                           .ports = pai__platform_role_ports(role),
                           .memory = (uint64_t)role->memory_mb << 20 };
  }
  rc = tell(
    p, &(pai_sched_event){ .kind = PAI_SCHED_SUBMIT, .request = &request },
    err);
  p->schedule_due = true;
  pai__free(&p->alloc, wants, spec->nroles * sizeof(*wants));
  return rc < 0 ? refused(rc, err) : PAI_OK;
}

static int hold(pai__pjob *j, bool held)
{
  pai_sched_event e = {
    .kind = PAI_SCHED_CHANGE, .id = j->id, .key = "held", .number = held
  };

  return tell(j->platform, &e, NULL);
}

int pai__platform_return(pai__pjob *j, bool held)
{
  pai_sched_event e = { .kind = PAI_SCHED_RETURNED, .id = j->id };

  int rc = tell(j->platform, &e, NULL);

  if (rc < 0)
    return rc;
  j->placed = false;
  j->platform->schedule_due = true;
  return held ? hold(j, true) : PAI_OK;
}

int pai__platform_resume(pai__pjob *j)
{
  j->platform->schedule_due = true;
  return hold(j, false);
}

void pai__platform_unqueue(pai__pjob *j)
{
  pai_sched_event gone = { .kind = PAI_SCHED_CANCEL,
                           .id = j->id,
                           .instance = PAI_SCHED_ALL };
  pai_sched_event over = { .kind = PAI_SCHED_FINISHED, .id = j->id };

  (void)!tell(j->platform, j->placed ? &over : &gone, NULL);
  j->placed = false;
  j->platform->schedule_due = true;
}

/* --- being placed --------------------------------------------------------- */

/* Fills in where its tasks are to be. */
static void take_places(pai__pjob *j)
{
  const pai_platform *p = j->platform;
  uint32_t *ports = j->ports;

  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    pai_task_place place = { .struct_size = sizeof(place) };

    (void)pai_sched_task(p->sched, j->id, 0, t, &place);
    if (place.nports != 0)
      memcpy(ports, place.ports, place.nports * sizeof(*ports));
    j->places[t] = (pai__task_place){ p->here.ip, place.gpus, ports };
    ports += place.nports;
  }
}

/* All that was decided, before anything is done about it.  Nothing but what
 * waits is ever cancelled here, so that there are only places. */
static void read_decisions(pai_platform *p)
{
  pai_decision d = { .struct_size = sizeof(d) };

  p->placed = (pai__pjob_list){ NULL, NULL };
  for (size_t i = 0; pai_sched_decision(p->sched, i, &d) == PAI_OK; i++) {
    pai__pjob *j = pai__platform_find_job(p, d.id);

    take_places(j);
    j->next_placed = NULL;
    if (p->placed.first != NULL)
      p->placed.last->next_placed = j;
    else
      p->placed.first = j;
    p->placed.last = j;
  }
}

/* Takes the ports that others use from the scheduler.  How many; or a code. */
static int lose_ports_in_use(const pai__pjob *j)
{
  pai_platform *p = j->platform;
  uint32_t one = 0;
  int lost = 0;

  for (size_t i = 0; i < j->nports; i++)
    if (!p->ops->port_is_free(p->backend, j->ports[i])) {
      pai_sched_event e = { .kind = PAI_SCHED_LOSE_PORT,
                            .node = p->here.name,
                            .number = j->ports[i] };
      int rc = tell(p, &e, NULL);

      if (rc < 0)
        return rc;
      one = j->ports[i];
      lost++;
    }
  if (lost > 0)
    pai__log_line(&p->log, PAI_LOG_INFO,
                  "other programs use port %u and %d more that %s was to have",
                  one, lost - 1, pai_spec_name(j->spec));
  return lost;
}

/* How many were to have ports that are lost, and must be placed anew; or a
 * code, and then some other time. */
static int start_placed(pai_platform *p)
{
  int anew = 0, failed = PAI_OK;
  pai__pjob *next;

  for (pai__pjob *j = p->placed.first; j != NULL; j = next) {
    pai_sched_event e = { .kind = PAI_SCHED_STARTED, .id = j->id };
    int lost = lose_ports_in_use(j);

    next = j->next_placed;
    if (lost != 0)
      e.kind = PAI_SCHED_RETURNED;
    (void)!tell(p, &e, NULL);
    if (lost == 0) {
      j->placed = true;
      pai__platform_event(j, PAI__EV_PLACED, 0, 0);
    }
    anew += lost > 0;
    failed = lost < 0 ? lost : failed;
  }
  return failed < 0 ? failed : anew;
}

/* As start_placed(). */
static int place_once(pai_platform *p)
{
  pai_error *err = NULL;
  int rc = pai_sched_decide(p->sched, pai__loop_time(), &err), started;

  if (rc < 0)
    pai__log_line(&p->log, PAI_LOG_ERROR, "cannot place jobs: %s",
                  pai_error_message(err));
  pai_error_free(err);
  read_decisions(p); /* those before a failure stand */
  started = start_placed(p);
  return rc < 0 ? rc : started;
}

/* Nothing could be placed for want of memory, and nothing runs that would give
 * some back: the first of those that wait ends rather than waits for ever. */
static void give_up_one(pai_platform *p)
{
  pai__pjob *j = pai__platform_find_job(p, pai_sched_next(p->sched, 0));

  if (j != NULL)
    pai__platform_event(j, PAI__EV_STOP, 0, 0);
}

void pai__platform_schedule(pai_platform *p)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  bool lost = false;
  int rc = PAI_OK;

  if (!p->schedule_due)
    return;
  while (p->schedule_due && rc >= 0) {
    p->schedule_due = false;
    rc = place_once(p);
    lost |= rc != 0;
    p->schedule_due |= rc > 0;
  }
  if (lost)
    (void)!tell(p, &(pai_sched_event){ .kind = PAI_SCHED_REGAIN_PORTS }, NULL);
  (void)pai_sched_view_sums(p->sched, &sums);
  if (rc < 0 && sums.running == 0)
    give_up_one(p);
  else if (sums.waiting == 0)
    pai__timer_stop(p->ports);
  else if (lost)
    pai__timer_start(p->ports, LOOK_AGAIN);
}
