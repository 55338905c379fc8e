/* intake.c - applies the records of a trace: submits jobs, changes nodes,
 * kills jobs */
#include "sim/scale.h"
#include "sim/sim.h"

#include "base/text/utf8.h"

#include <stdio.h>

/* --- problems of records ------------------------------------------------- */

/* Reports a problem of a record to the callback; an error if `strict`. */
static int complain(pai_sim *sim, const pai_trace_record *r, bool used,
                    const char *why)
{
  if (sim->o.strict)
    return pai__fail_at(sim->err, PAI_EINVAL,
                        (pai__pos){ (uint32_t)r->line, 0 }, "%s", why);
  if (sim->o.on_line != NULL)
    sim->o.on_line(sim->o.user_data, r->line, used, why);
  return PAI_OK;
}

/* The same with a name in the message. */
static int complain_of(pai_sim *sim, const pai_trace_record *r, bool used,
                       const char *before, const char *name,
                       const char *behind)
{
  char why[160], shown[PAI__EXCERPT];

  if (!sim->o.strict && sim->o.on_line == NULL)
    return PAI_OK;
  (void)snprintf(why, sizeof(why), "%s '%s'%s", before,
                 pai__excerpt(shown, name, strlen(name)), behind);
  return complain(sim, r, used, why);
}

/* --- folds --------------------------------------------------------------- */

typedef struct made_form {
  pai__job_form form;
  pai__form_role role;
} made_form;

/* The tasks of a job start and end together, so the form has one task. */
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

/* --- the request --------------------------------------------------------- */

/* Maps an unknown virtual cluster to "default", or to the first one. */
static int map_vc(pai_sim *sim, const pai_trace_record *r, pai_request *q,
                  uint32_t *vc)
{
  const pai__sched_cluster *cluster = pai__sched_cluster_of(sim->sched);
  const char *unknown = q->vc != NULL ? q->vc : "default";

  *vc = pai__sched_vc_of(sim->sched, q->vc);
  if (*vc != PAI__NONE)
    return PAI_OK;
  *vc = pai__sched_cluster_vc(cluster, "default");
  *vc = *vc != PAI__NONE ? *vc : 0;
  q->vc = cluster->vcs[*vc].name;
  sim->mapped_vcs++;
  return complain_of(sim, r, true, "there is no virtual cluster", unknown, "");
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

/* Maps an unknown kind of GPU to any. */
static int map_types(pai_sim *sim, const pai_trace_record *r, pai_request *q)
{
  const pai__sched_cluster *cluster = pai__sched_cluster_of(sim->sched);
  const char *unknown = NULL;
  int rc;

  for (size_t i = 0; i < r->nwants; i++)
    if (r->wants[i].type != NULL &&
        pai__sched_cluster_type(cluster, r->wants[i].type) == PAI__NONE)
      unknown = r->wants[i].type;
  if (unknown == NULL)
    return PAI_OK;
  rc = copy_wants(sim, r);
  for (size_t i = 0; i < r->nwants && rc == PAI_OK; i++)
    if (r->wants[i].type != NULL &&
        pai__sched_cluster_type(cluster, r->wants[i].type) == PAI__NONE)
      sim->wants[i].type = NULL;
  if (rc < 0)
    return rc;
  q->wants = sim->wants;
  sim->mapped_types++;
  return complain_of(sim, r, true, "there is no kind of GPU or SKU", unknown,
                     "");
}

/* Lists the jobs that this job waits for and that are present.  Returns 1; 0:
 * it could never start, and *why is set; or a code. */
static int find_after(pai_sim *sim, const pai_trace_record *r, pai_request *q,
                      const char **why)
{
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
    uint32_t number = pai__ids_find(&sim->ids, r->after[i]);
    bool own = r->id != NULL && strcmp(r->after[i], r->id) == 0;

    *why = own ? "the job depends on itself"
               : "a job that it depends on has failed";
    if (number != PAI__NONE)
      sim->after[n++] = (pai_after){ number, PAI_AFTER_OK };
    else if (own || pai__ids_failed(&sim->ids, r->after[i]))
      return 0;
  }
  q->after = sim->after;
  q->nafter = n;
  return 1;
}

/* --- durations ----------------------------------------------------------- */

/* Applies the options `stretch` and `spread`. */
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

/* Returns whether a callback needs the job's name. */
static bool is_named(const pai_sim *sim, const pai_trace_record *r)
{
  return r->name != NULL && (sim->o.on_job != NULL || sim->o.events != NULL);
}

static size_t rest_size(const pai__rest *rest)
{
  return sizeof(*rest) + rest->more * sizeof(*rest->attempts) + rest->name +
         rest->id;
}

/* Copies further attempts, the name and a long id, if any. */
static int take_rest(const pai_sim *sim, const pai_trace_record *r,
                     pai__sim_recorded *recorded)
{
  pai__rest head = { .more = r->nattempts > 1 ? (uint32_t)r->nattempts - 1 : 0,
                     .name =
                       is_named(sim, r) ? (uint32_t)strlen(r->name) + 1 : 0,
                     .id = r->id != NULL && recorded->id[0] == '\0'
                             ? (uint32_t)strlen(r->id) + 1
                             : 0 };
  char *text;

  if (head.more == 0 && head.name == 0 && head.id == 0)
    return PAI_OK;
  recorded->rest = pai__zalloc(&sim->alloc, rest_size(&head));
  if (recorded->rest == NULL)
    return pai__oom(sim->err);
  *recorded->rest = head;
  for (uint32_t i = 0; i < head.more; i++) {
    pai_trace_attempt *to = &recorded->rest->attempts[i];

    *to = r->attempts[i + 1];
    to->duration = stretched(sim, to->duration, i + 1);
  }
  text = (char *)&recorded->rest->attempts[head.more];
  if (head.name != 0)
    memcpy(text, r->name, head.name);
  if (head.id != 0)
    memcpy(text + head.name, r->id, head.id);
  return PAI_OK;
}

static int take_recorded(const pai_sim *sim, const pai_trace_record *r,
                         pai__sim_recorded *recorded)
{
  *recorded = (pai__sim_recorded){ .line = r->line };
  recorded->retries = r->retries < INT32_MAX ? r->retries : INT32_MAX;
  if (r->nattempts > (uint64_t)recorded->retries + 1)
    recorded->retries = (uint32_t)r->nattempts - 1;
  if (r->id != NULL && strlen(r->id) < sizeof(recorded->id))
    memcpy(recorded->id, r->id, strlen(r->id));
  if (r->nattempts != 0) {
    recorded->duration = stretched(sim, r->attempts[0].duration, 0);
    recorded->code = r->attempts[0].code;
  }
  return take_rest(sim, r, recorded);
}

const char *pai__sim_name(const pai__sim_recorded *recorded)
{
  return recorded->rest != NULL && recorded->rest->name != 0
           ? (const char *)&recorded->rest->attempts[recorded->rest->more]
           : NULL;
}

const char *pai__sim_id(const pai__sim_recorded *recorded)
{
  const pai__rest *rest = recorded->rest;

  if (recorded->id[0] != '\0')
    return recorded->id;
  return rest != NULL && rest->id != 0
           ? (const char *)&rest->attempts[rest->more] + rest->name
           : NULL;
}

void pai__sim_forget(const pai_sim *sim, pai__sim_recorded *recorded)
{
  if (recorded->rest != NULL)
    pai__free(&sim->alloc, recorded->rest, rest_size(recorded->rest));
  recorded->rest = NULL;
}

static pai_time patience_of(const pai_sim *sim, const pai_trace_record *r)
{
  pai__prng prng;

  if (r->patience != 0 || sim->o.patience == 0)
    return r->patience;
  prng = pai__draw(sim->o.seed, PAI__DRAW_PATIENCE, sim->number);
  return pai__draw_time(&prng, sim->o.patience);
}

/* --- jobs ---------------------------------------------------------------- */

void pai__sim_fill(const pai_sim *sim, const pai__sim_wait *wait,
                   pai__sim_job *job)
{
  job->c.d.id = wait->d.id;
  job->c.waits = true;
  job->c.pair = wait->pair;
  job->recorded = wait->recorded;
  pai__stats_whose_again(&sim->stats, wait->d.id, wait->pair, &job->c.of);
}

/* Counts and reports a job that could never start. */
static int reject(pai_sim *sim, const pai_trace_record *r,
                  const pai_request *q, uint32_t vc, const char *why)
{
  pai__sim_job job = { 0 };
  int rc = complain(sim, r, false, why);

  if (rc == PAI_OK)
    rc = take_recorded(sim, r, &job.recorded);
  if (rc == PAI_OK && pai__stats_whose(&sim->stats, q, vc, &job.c.of) < 0)
    rc = pai__oom(sim->err);
  if (rc < 0) {
    pai__sim_forget(sim, &job.recorded);
    return rc;
  }
  job.c.d.id = q->id;
  job.c.d.submitted = sim->drive.now;
  job.c.d.started = -1;
  pai__stats_refused(&sim->stats, &job.c.of);
  rc = pai__tell_reject(sim, &job, why);
  if (rc == PAI_OK)
    rc = pai__sim_show(sim, &job, 0);
  pai__sim_forget(sim, &job.recorded);
  return rc;
}

/* Handles a refusal by the scheduler; the message is without the number of the
 * event. */
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

  if (rc == PAI_OK && r->id != NULL)
    rc = pai__ids_add(&sim->ids, r->id, (uint32_t)wait->d.id);
  if (rc == PAI_OK && patience != 0 && (now < 0 || patience < INT64_MAX - now))
    rc = pai__drive_patience(&sim->drive, &wait->d, now + patience);
  if (rc < 0)
    return pai__oom(sim->err);
  return pai__tell_come(sim, wait);
}

static int submit(pai_sim *sim, const pai_trace_record *r, pai_request *q,
                  uint32_t vc)
{
  pai__sim_recorded recorded;
  pai__whose of;
  pai__waiting_job *wait;
  pai_error *err = NULL;
  int rc = take_recorded(sim, r, &recorded);

  if (rc < 0)
    return rc;
  if (q->duration == 0 && sim->o.estimates)
    q->duration = recorded.duration > 0 ? recorded.duration : 1;
  rc = pai__drive_come(&sim->drive, q, &wait, &err);
  if (rc < 0) {
    pai__sim_forget(sim, &recorded);
    rc = refused(sim, r, q, vc, rc, err);
    pai_error_free(err);
    return rc;
  }
  ((pai__sim_wait *)wait)->recorded = recorded;
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

/* --- records ------------------------------------------------------------- */

static int take_node(pai_sim *sim, const pai_trace_record *r)
{
  uint32_t node =
    pai__sched_cluster_node(pai__sched_cluster_of(sim->sched), r->node);
  int rc;

  if (node == PAI__NONE) {
    sim->skipped++;
    return complain_of(sim, r, false, "there is no node", r->node, "");
  }
  pai__stats_node(&sim->stats, node);
  rc = pai__tell_node(sim, node, r->state);
  return rc < 0
           ? rc
           : pai__drive_node(&sim->drive, node, r->state, r->why, sim->err);
}

/* Ids that differ in the last character only share eight words: most traces
 * count their ids, and each job would read another line of the memory. */
static uint64_t *came_at(const pai_sim *sim, const char *id, uint64_t *bits)
{
  size_t len = strlen(id);
  uint64_t key = pai__map_hash(id, len);
  uint64_t near = pai__map_hash(id, len != 0 ? len - 1 : 0);

  *bits = UINT64_C(1) << (key & 63) | UINT64_C(1) << (key >> 6 & 63) |
          UINT64_C(1) << (key >> 12 & 63);
  return &sim->arrived[(near << 3 | (key >> 18 & 7)) &
                       (PAI__ARRIVED_WORDS - 1)];
}

/* Adds an id to the Bloom filter of ids that have come.  Returns PAI_OK or
 * PAI_ENOMEM. */
static int note_came(pai_sim *sim, const char *id)
{
  uint64_t bits, *at;

  if (sim->arrived == NULL)
    sim->arrived =
      pai__zalloc(&sim->alloc, PAI__ARRIVED_WORDS * sizeof(*sim->arrived));
  if (sim->arrived == NULL)
    return pai__oom(sim->err);
  at = came_at(sim, id, &bits);
  *at |= bits;
  return PAI_OK;
}

/* Returns whether the id has come.  Among many millions of ids, some get a
 * false yes. */
static bool has_come(const pai_sim *sim, const char *id)
{
  uint64_t bits, *at;

  if (sim->arrived == NULL)
    return false;
  at = came_at(sim, id, &bits);
  return (*at & bits) == bits;
}

/* A job that is over is ignored. */
static int take_kill(pai_sim *sim, const pai_trace_record *r)
{
  uint32_t number = pai__ids_find(&sim->ids, r->id != NULL ? r->id : "");

  return number != PAI__NONE ? pai__drive_kill(&sim->drive, number, sim->err)
                             : PAI_OK;
}

int pai__sim_take(pai_sim *sim, const pai_trace_record *r)
{
  const char *id = r->id != NULL ? r->id : "";
  int rc = PAI_OK;

  if (r->kind == PAI_RECORD_JOB && r->id != NULL)
    rc = note_came(sim, r->id);
  if (rc < 0)
    return rc;
  if (r->kind == PAI_RECORD_KILL && !has_come(sim, id)) {
    sim->skipped++;
    return complain_of(sim, r, false, "there is no job", id, " to kill");
  }
  switch (r->kind) {
  case PAI_RECORD_JOB: return take_job(sim, r);
  case PAI_RECORD_NODE: return take_node(sim, r);
  default: return take_kill(sim, r);
  }
}
