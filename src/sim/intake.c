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
                        "%s", why);
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
const pai__job_form *pai__sim_form(pai_sim *sim, uint32_t retries)
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
    uint32_t number = pai__ids_find(&sim->ids, key);

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

/* Does anybody want to know its name? */
static bool is_named(const pai_sim *sim, const pai_trace_record *r)
{
  return r->name != NULL && (sim->o.on_job != NULL || sim->o.events != NULL);
}

static size_t rest_size(uint32_t more, uint32_t name)
{
  return sizeof(pai__rest) + more * sizeof(pai_trace_attempt) + name;
}

/* What few jobs have. */
static int take_rest(const pai_sim *sim, const pai_trace_record *r,
                     pai__told *told)
{
  uint32_t more = r->nattempts > 1 ? (uint32_t)r->nattempts - 1 : 0;
  uint32_t name = is_named(sim, r) ? (uint32_t)strlen(r->name) + 1 : 0;

  if (more == 0 && name == 0)
    return PAI_OK;
  told->rest = pai__zalloc(&sim->alloc, rest_size(more, name));
  if (told->rest == NULL)
    return pai__oom(sim->err);
  told->rest->more = more;
  told->rest->name = name;
  for (uint32_t i = 0; i < more; i++) {
    pai_trace_attempt *to = &told->rest->attempts[i];

    *to = r->attempts[i + 1];
    to->duration = stretched(sim, to->duration, i + 1);
  }
  if (name != 0)
    memcpy(&told->rest->attempts[more], r->name, name);
  return PAI_OK;
}

static int take_told(const pai_sim *sim, const pai_trace_record *r,
                     pai__told *told)
{
  *told = (pai__told){ .line = r->line };
  told->retries = r->retries < INT32_MAX ? r->retries : INT32_MAX;
  if (r->nattempts > (uint64_t)told->retries + 1)
    told->retries = (uint32_t)r->nattempts - 1;
  if (r->id != NULL)
    told->key = pai__id_key(r->id);
  if (r->nattempts != 0) {
    told->duration = stretched(sim, r->attempts[0].duration, 0);
    told->code = r->attempts[0].code;
  }
  return take_rest(sim, r, told);
}

const char *pai__sim_name(const pai__told *told)
{
  return told->rest != NULL && told->rest->name != 0
           ? (const char *)&told->rest->attempts[told->rest->more]
           : NULL;
}

void pai__sim_forget(const pai_sim *sim, pai__told *told)
{
  if (told->rest != NULL)
    pai__free(&sim->alloc, told->rest,
              rest_size(told->rest->more, told->rest->name));
  told->rest = NULL;
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

void pai__sim_fill(const pai_sim *sim, const pai__sim_wait *wait,
                   pai__sim_job *job)
{
  if (job->c.d.id == 0) { /* it has not begun to live */
    job->c.d.id = wait->d.id;
    job->c.d.req = pai__req_find(sim->sched, wait->d.id);
  }
  job->c.waits = true;
  job->c.pair = wait->pair;
  job->told = wait->told;
  pai__stats_whose_again(&sim->stats, job->c.d.req, wait->pair, &job->c.of);
}

/* It could never start.  It is counted, and told. */
static int reject(pai_sim *sim, const pai_trace_record *r,
                  const pai_request *q, uint32_t vc, const char *why)
{
  pai__sim_job job = { 0 };
  int rc = complain(sim, r, false, PAI_EINVAL, why);

  if (rc == PAI_OK)
    rc = take_told(sim, r, &job.told);
  if (rc == PAI_OK && pai__stats_whose(&sim->stats, q, vc, &job.c.of) < 0)
    rc = pai__oom(sim->err);
  if (rc < 0) {
    pai__sim_forget(sim, &job.told);
    return rc;
  }
  job.c.d.id = q->id;
  job.c.d.submitted = sim->drive.now;
  job.c.d.started = -1;
  pai__stats_refused(&sim->stats, &job.c.of);
  rc = pai__tell_reject(sim, &job, why);
  if (rc == PAI_OK)
    rc = pai__sim_show(sim, &job, 0);
  pai__sim_forget(sim, &job.told);
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

static int settle(pai_sim *sim, const pai_trace_record *r,
                  const pai__whose *of, pai__sim_wait *wait)
{
  pai_time patience = patience_of(sim, r), now = sim->drive.now;
  int rc = pai__stats_come(&sim->stats, of, &wait->pair);

  if (rc == PAI_OK && wait->told.key != 0)
    rc = pai__ids_add(&sim->ids, &sim->alloc, wait->told.key,
                      (uint32_t)wait->d.id);
  if (rc == PAI_OK && patience != 0 && (now < 0 || patience < INT64_MAX - now))
    rc = pai__drive_patience(&sim->drive, &wait->d, now + patience);
  if (rc < 0)
    return pai__oom(sim->err);
  return pai__tell_come(sim, wait);
}

static int submit(pai_sim *sim, const pai_trace_record *r, pai_request *q,
                  uint32_t vc)
{
  pai__told told;
  pai__whose of;
  pai__dwait *wait;
  pai_error *err = NULL;
  int rc = take_told(sim, r, &told);

  if (rc < 0)
    return rc;
  if (q->duration == 0 && sim->o.estimates)
    q->duration = told.duration > 0 ? told.duration : 1;
  rc = pai__drive_come(&sim->drive, q, &wait, &err);
  if (rc < 0) {
    pai__sim_forget(sim, &told);
    rc = refused(sim, r, q, vc, rc, err);
    pai_error_free(err);
    return rc;
  }
  ((pai__sim_wait *)wait)->told = told;
  if (pai__stats_whose(&sim->stats, q, vc, &of) < 0)
    return pai__oom(sim->err);
  return settle(sim, r, &of, (pai__sim_wait *)wait);
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
    sim->skipped++;
    return complain(sim, r, false, PAI_EINVAL, why);
  }
  pai__stats_node(&sim->stats, node);
  rc = pai__tell_node(sim, node, r->state);
  return rc < 0
           ? rc
           : pai__drive_node(&sim->drive, node, r->state, r->why, sim->err);
}

static uint64_t *came_at(const pai_sim *sim, uint64_t key, uint64_t *bits)
{
  *bits = UINT64_C(1) << (key & 63) | UINT64_C(1) << (key >> 6 & 63) |
          UINT64_C(1) << (key >> 12 & 63);
  return &sim->came[key >> 18 & (PAI__CAME - 1)];
}

/* That such an id has come, in a little memory for however many.  PAI_OK or
 * PAI_ENOMEM. */
static int note_came(pai_sim *sim, const char *id)
{
  uint64_t bits, *at;

  if (sim->came == NULL)
    sim->came = pai__zalloc(&sim->alloc, PAI__CAME * sizeof(*sim->came));
  if (sim->came == NULL)
    return pai__oom(sim->err);
  at = came_at(sim, pai__id_key(id), &bits);
  *at |= bits;
  return PAI_OK;
}

/* Of many millions some are taken for known. */
static bool has_come(const pai_sim *sim, const char *id)
{
  uint64_t bits, *at;

  if (sim->came == NULL)
    return false;
  at = came_at(sim, pai__id_key(id), &bits);
  return (*at & bits) == bits;
}

static int refuse_kill(pai_sim *sim, const pai_trace_record *r)
{
  const char *id = r->id != NULL ? r->id : "";
  char why[160], shown[PAI__EXCERPT];

  (void)snprintf(why, sizeof(why), "no job '%s' has come that could be killed",
                 pai__excerpt(shown, id, strlen(id)));
  sim->skipped++;
  return complain(sim, r, false, PAI_EINVAL, why);
}

/* Of one that is over already it makes no difference. */
static int take_kill(pai_sim *sim, const pai_trace_record *r)
{
  uint32_t number =
    pai__ids_find(&sim->ids, pai__id_key(r->id != NULL ? r->id : ""));

  return number != PAI__NONE ? pai__drive_kill(&sim->drive, number, sim->err)
                             : PAI_OK;
}

int pai__sim_take(pai_sim *sim, const pai_trace_record *r)
{
  int rc = PAI_OK;

  if (r->kind == PAI_RECORD_JOB && r->id != NULL)
    rc = note_came(sim, r->id);
  if (rc < 0)
    return rc;
  if (r->kind == PAI_RECORD_KILL && !has_come(sim, r->id != NULL ? r->id : ""))
    return refuse_kill(sim, r);
  switch (r->kind) {
  case PAI_RECORD_JOB: return take_job(sim, r);
  case PAI_RECORD_NODE: return take_node(sim, r);
  default: return take_kill(sim, r);
  }
}
