/* intake.c - what a trace tells happens: jobs come, nodes change, owners kill */
#include "sim/distribution.h"
#include "sim/sim.h"

#include "base/utf8.h"
#include "sched/queue.h"

#include <inttypes.h>
#include <stdio.h>

/* --- what is wrong with it ------------------------------------------------ */

/* Does anybody want to know? */
static bool is_told(const pai_sim *sim)
{
  return sim->o.strict || sim->o.on_line != NULL;
}

/* Somebody is told of a line; if options say so, it is an error. */
static int complain(pai_sim *sim, const pai_trace_record *r, bool used,
                    int code, const char *why)
{
  if (sim->o.strict)
    return pai__fail_at(sim->err, code, (pai__pos){ (uint32_t)r->line, 0 },
                        "line %" PRIu64 " of the trace: %s", r->line, why);
  if (sim->o.on_line != NULL)
    sim->o.on_line(sim->o.user_data, r->line, used, why);
  return PAI_OK;
}

/* --- lives ---------------------------------------------------------------- */

typedef struct made_form {
  pai__job_form form;
  pai__form_role role;
} made_form;

/* The tasks of a job start and end together, so one stands for all. */
static const pai__job_form *form_for(pai_sim *sim, uint32_t retries)
{
  made_form *f;

  if (sim->form != NULL && sim->form->retry.max == (int32_t)retries)
    return sim->form;
  f = pai__map_get(&sim->forms, &retries, sizeof(retries));
  if (f != NULL)
    return sim->form = &f->form;
  f = pai__zalloc(&sim->alloc, sizeof(*f));
  if (f == NULL)
    return NULL;
  f->role = (pai__form_role){ .tasks = 1, .min_failed = 1 };
  f->form = (pai__job_form){ .roles = &f->role,
                             .nroles = 1,
                             .retry = { true, (int32_t)retries },
                             .raw = true };
  if (pai__map_set(&sim->forms, &retries, sizeof(retries), f) == PAI_OK)
    return sim->form = &f->form;
  pai__free(&sim->alloc, f, sizeof(*f));
  return NULL;
}

void pai__sim_free_forms(pai_sim *sim)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&sim->forms, &i)) != NULL;)
    pai__free(&sim->alloc, e->value, sizeof(made_form));
  pai__map_dispose(&sim->forms);
}

/* --- its request ---------------------------------------------------------- */

/* Where there is no such virtual cluster, it belongs to the default one, or to
 * the first. */
static int map_vc(pai_sim *sim, const pai_trace_record *r, pai_request *q,
                  uint32_t *vc)
{
  const pai__park *park = sim->sched->park;
  char why[160], shown[PAI__EXCERPT];

  *vc = pai__tenant_of(sim->sched, q->vc);
  if (*vc != PAI__NONE)
    return PAI_OK;
  if (is_told(sim))
    (void)snprintf(why, sizeof(why), "there is no virtual cluster '%s'",
                   q->vc != NULL ? pai__excerpt(shown, q->vc, strlen(q->vc))
                                 : "default");
  *vc = pai__park_tenant(park, "default");
  *vc = *vc != PAI__NONE ? *vc : 0;
  q->vc = park->tenants[*vc].name;
  sim->mapped_vcs++;
  return complain(sim, r, true, PAI_EINVAL, why);
}

static int copy_wants(pai_sim *sim, const pai_trace_record *r)
{
  if (r->nwants > sim->want_cap) {
    pai_want *wants = pai__realloc(&sim->alloc, sim->wants, sim->want_cap,
                                   r->nwants, sizeof(*wants));

    if (wants == NULL)
      return pai__oom(sim->err);
    sim->wants = wants;
    sim->want_cap = r->nwants;
  }
  for (size_t i = 0; i < r->nwants; i++)
    sim->wants[i] = r->wants[i];
  return PAI_OK;
}

/* Where there are no such GPUs, any will do. */
static int map_types(pai_sim *sim, const pai_trace_record *r, pai_request *q)
{
  const char *unknown = NULL;
  char why[160], shown[PAI__EXCERPT];
  int rc;

  for (size_t i = 0; i < r->nwants; i++)
    if (r->wants[i].type != NULL &&
        pai__park_type(sim->sched->park, r->wants[i].type) == PAI__NONE)
      unknown = r->wants[i].type;
  if (unknown == NULL)
    return PAI_OK;
  rc = copy_wants(sim, r);
  for (size_t i = 0; i < r->nwants && rc == PAI_OK; i++)
    if (r->wants[i].type != NULL &&
        pai__park_type(sim->sched->park, r->wants[i].type) == PAI__NONE)
      sim->wants[i].type = NULL;
  if (rc < 0)
    return rc;
  q->wants = sim->wants;
  sim->mapped_types++;
  if (is_told(sim))
    (void)snprintf(why, sizeof(why), "there is no kind of GPU or SKU '%s'",
                   pai__excerpt(shown, unknown, strlen(unknown)));
  return complain(sim, r, true, PAI_EINVAL, why);
}

/* Those that are there.  1; 0: it could never start, since *why; or a code. */
static int find_after(pai_sim *sim, const pai_trace_record *r, pai_request *q,
                      const char **why)
{
  uint64_t own = r->id != NULL ? pai__id_key(r->id) : 0;
  size_t n = 0;

  if (r->nafter > sim->after_cap) {
    pai_after *list = pai__realloc(&sim->alloc, sim->after, sim->after_cap,
                                   r->nafter, sizeof(*list));

    if (list == NULL)
      return pai__oom(sim->err);
    sim->after = list;
    sim->after_cap = r->nafter;
  }
  for (size_t i = 0; i < r->nafter; i++) {
    uint64_t key = pai__id_key(r->after[i]);
    uint32_t number = pai__lookup_get(&sim->ids.there, key);

    *why = key == own ? "it is to come after itself"
                      : "a job that has to end well before it did not";
    if (number != PAI__NONE)
      sim->after[n++] = (pai_after){ number, PAI_AFTER_OK };
    else if (key == own || pai__lookup_get(&sim->ids.bad, key) != PAI__NONE)
      return 0;
  }
  q->after = sim->after;
  q->nafter = n;
  return 1;
}

/* --- its work ------------------------------------------------------------- */

/* As options stretch it, and by what is drawn for it. */
static pai_time stretched(const pai_sim *sim, pai_time duration, uint32_t i)
{
  if (sim->o.stretch != 0)
    duration = pai__scale(duration, sim->o.stretch, 1000);
  if (sim->o.spread != 0) {
    pai__prng r =
      pai__draw_again(sim->o.seed, PAI__DRAW_SPREAD, sim->number, i);
    uint32_t part = sim->o.spread < 1000 ? sim->o.spread : 1000;

    duration = pai__scale(
      duration, 1000 - part + pai__prng_below(&r, 2 * part + 1), 1000);
  }
  return duration;
}

static int take_attempts(const pai_sim *sim, const pai_trace_record *r,
                         pai__attempts *all)
{
  *all = (pai__attempts){ .count = (uint32_t)r->nattempts };
  if (all->count > 1) {
    all->more =
      pai__zalloc(&sim->alloc, (all->count - 1) * sizeof(*all->more));
    if (all->more == NULL)
      return pai__oom(sim->err);
  }
  for (uint32_t i = 0; i < all->count; i++) {
    pai_trace_attempt *to = i == 0 ? &all->first : &all->more[i - 1];

    *to = r->attempts[i];
    to->duration = stretched(sim, to->duration, i);
  }
  return PAI_OK;
}

static pai_time patience_of(const pai_sim *sim, const pai_trace_record *r)
{
  pai__prng prng;

  if (r->patience != 0 || sim->o.patience == 0)
    return r->patience;
  prng = pai__draw(sim->o.seed, PAI__DRAW_PATIENCE, sim->number);
  return pai__draw_time(&prng, sim->o.patience);
}

/* --- jobs ----------------------------------------------------------------- */

static int fill_job(pai_sim *sim, const pai_trace_record *r,
                    const pai_request *q, uint32_t vc, pai__sim_job *job)
{
  job->line = r->line;
  if (pai__stats_place(&sim->stats, &job->c, q, vc) < 0)
    return pai__oom(sim->err);
  if (r->name != NULL && (sim->o.on_job != NULL || sim->o.events != NULL)) {
    job->name = pai__strdup(&sim->alloc, r->name);
    if (job->name == NULL)
      return pai__oom(sim->err);
  }
  return PAI_OK;
}

/* It could never start.  It is counted, and told. */
static int reject(pai_sim *sim, const pai_trace_record *r,
                  const pai_request *q, uint32_t vc, const char *why)
{
  pai__sim_job job = { 0 };
  int rc = complain(sim, r, false, PAI_EINVAL, why);

  if (rc == PAI_OK)
    rc = fill_job(sim, r, q, vc, &job);
  if (rc < 0)
    return rc;
  job.c.d.id = q->id;
  job.c.d.submitted = sim->drive.now;
  job.c.d.started = -1;
  rc = pai__stats_come(&sim->stats, &job.c, true);
  if (rc == PAI_OK)
    rc = pai__tell_reject(sim, &job, why);
  if (rc == PAI_OK)
    rc = pai__sim_show(sim, &job, 0);
  pai__sim_forget(sim, &job);
  return rc;
}

/* What the scheduler said, without the number of its event. */
static int refused(pai_sim *sim, const pai_trace_record *r,
                   const pai_request *q, uint32_t vc, int code, pai_error *err)
{
  const pai_error *why =
    pai_error_cause(err) != NULL ? pai_error_cause(err) : err;
  int rc = code;

  if (code == PAI_ENOMEM)
    return pai__oom(sim->err);
  if (code == PAI_ENOROOM || code == PAI_ENOTFOUND || code == PAI_EINVAL ||
      code == PAI_ELIMIT)
    rc = reject(sim, r, q, vc, pai_error_message(why));
  else
    (void)pai__fail(sim->err, code, "%s", pai_error_message(err));
  return rc;
}

static int settle(pai_sim *sim, const pai_trace_record *r, pai__sim_job *job)
{
  pai_time patience = patience_of(sim, r), now = sim->drive.now;
  int rc = pai__stats_come(&sim->stats, &job->c, false);

  if (rc == PAI_OK && r->id != NULL) {
    job->key = pai__id_key(r->id);
    rc = pai__ids_add(&sim->ids, &sim->alloc, job->key, (uint32_t)job->c.d.id);
  }
  if (rc == PAI_OK && patience != 0 && patience < INT64_MAX - now)
    rc = pai__drive_patience(&sim->drive, &job->c.d, now + patience);
  if (rc < 0)
    return pai__oom(sim->err);
  return pai__tell_come(sim, job);
}

static int submit(pai_sim *sim, const pai_trace_record *r, pai_request *q,
                  uint32_t vc)
{
  uint32_t retries = r->retries < INT32_MAX ? r->retries : INT32_MAX;
  const pai__job_form *form;
  pai__attempts attempts;
  pai__sim_job *job;
  pai__djob *made;
  pai_error *err = NULL;
  int rc;

  if (r->nattempts > (uint64_t)retries + 1)
    retries = (uint32_t)r->nattempts - 1;
  form = form_for(sim, retries);
  if (form == NULL)
    return pai__oom(sim->err);
  rc = take_attempts(sim, r, &attempts);
  if (rc < 0)
    return rc;
  if (q->duration == 0 && sim->o.estimates)
    q->duration = attempts.first.duration > 0 ? attempts.first.duration : 1;
  rc = pai__drive_come(&sim->drive, q, form, &made, &err);
  if (rc < 0) {
    pai__sim_drop_attempts(sim, &attempts);
    rc = refused(sim, r, q, vc, rc, err);
    pai_error_free(err);
    return rc;
  }
  job = (pai__sim_job *)made;
  job->attempts = attempts;
  job->retries = retries;
  rc = fill_job(sim, r, q, vc, job);
  return rc < 0 ? rc : settle(sim, r, job);
}

static int take_job(pai_sim *sim, const pai_trace_record *r)
{
  pai_request q = { .struct_size = sizeof(q),
                    .id = ++sim->number,
                    .name = r->name,
                    .vc = r->vc,
                    .user = r->user,
                    .pin = r->pin,
                    .within = r->within,
                    .priority = r->priority,
                    .duration = r->estimate,
                    .limit = r->limit,
                    .wants = r->wants,
                    .nwants = r->nwants };
  const char *why = NULL;
  uint32_t vc;
  int rc = map_vc(sim, r, &q, &vc);

  if (rc == PAI_OK)
    rc = map_types(sim, r, &q);
  if (rc == PAI_OK && r->nafter != 0)
    rc = find_after(sim, r, &q, &why);
  else if (rc == PAI_OK)
    rc = 1;
  if (rc < 0)
    return rc;
  return rc == 0 ? reject(sim, r, &q, vc, why) : submit(sim, r, &q, vc);
}

/* --- the rest ------------------------------------------------------------- */

static int take_node(pai_sim *sim, const pai_trace_record *r)
{
  uint32_t node = pai__park_node(sim->sched->park, r->node);
  char why[160], shown[PAI__EXCERPT];
  int rc;

  if (node == PAI__NONE) {
    (void)snprintf(why, sizeof(why), "there is no node '%s'",
                   pai__excerpt(shown, r->node, strlen(r->node)));
    return complain(sim, r, false, PAI_EINVAL, why);
  }
  pai__stats_node(&sim->stats, node);
  rc = pai__tell_node(sim, node, r->state);
  return rc < 0
           ? rc
           : pai__drive_node(&sim->drive, node, r->state, r->why, sim->err);
}

/* Of one that is over already it makes no difference. */
static int take_kill(pai_sim *sim, const pai_trace_record *r)
{
  uint32_t number =
    pai__lookup_get(&sim->ids.there, pai__id_key(r->id != NULL ? r->id : ""));
  pai__djob *job =
    number != PAI__NONE ? pai__drive_find(&sim->drive, number, 0) : NULL;

  return job != NULL ? pai__drive_kill(&sim->drive, job, sim->err) : PAI_OK;
}

int pai__sim_take(pai_sim *sim, const pai_trace_record *r)
{
  switch (r->kind) {
  case PAI_RECORD_JOB: return take_job(sim, r);
  case PAI_RECORD_NODE: return take_node(sim, r);
  default: return take_kill(sim, r);
  }
}
