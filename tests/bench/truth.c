/* truth.c - a trace runs, as it is or from its middle on */
#include "truth.h"

#include "sim/drive.h"

#include <stdlib.h>

/* --- reading -------------------------------------------------------------- */

static const char *keep(truth *t, const char *text)
{
  return text != NULL ? pai__arena_strndup(&t->arena, text, strlen(text))
                      : NULL;
}

/* One in eight is urgent, one in eight gives way to all. */
static int priority_of(uint64_t job)
{
  uint64_t random = job * UINT64_C(0x9e3779b97f4a7c15) >> 61;

  return random == 0 ? 10 : random == 1 ? PAI_SCHED_OPPORTUNISTIC : 0;
}

static int add(truth *t, const pai_trace_record *r, bool vcs, bool mixed)
{
  pai_want *wants = pai__arena_zalloc(&t->arena, r->nwants, sizeof(*wants));
  truth_job *job;

  if (wants == NULL ||
      PAI__VEC_ROOM(&pai__libc_alloc, t->jobs, t->n, t->cap) < 0)
    return PAI_ENOMEM;
  memcpy(wants, r->wants, r->nwants * sizeof(*wants));
  for (size_t i = 0; i < r->nwants; i++) {
    wants[i].name = keep(t, wants[i].name);
    wants[i].type = keep(t, wants[i].type);
  }
  job = &t->jobs[t->n++];
  *job = (truth_job){ .request = { .struct_size = sizeof(pai_request),
                                   .id = t->n,
                                   .name = keep(t, r->name),
                                   .user = keep(t, r->user),
                                   .vc = vcs ? keep(t, r->vc) : NULL,
                                   .priority = mixed ? priority_of(t->n) : 0,
                                   .duration = r->estimate,
                                   .wants = wants,
                                   .nwants = r->nwants },
                      .time = r->time,
                      .lasts = r->attempts[r->nattempts - 1].duration };
  return PAI_OK;
}

int truth_read(truth *t, pai_trace *trace, bool vcs, bool mixed)
{
  pai_trace_record r = { .struct_size = sizeof(r) };
  int rc;

  *t = (truth){ 0 };
  pai__arena_init(&t->arena, &pai__libc_alloc);
  while ((rc = pai_trace_next(trace, &r, NULL)) > 0)
    if (r.kind == PAI_RECORD_JOB && (rc = add(t, &r, vcs, mixed)) < 0)
      break;
  pai_trace_free(trace);
  return rc;
}

void truth_free(truth *t)
{
  pai__free(&pai__libc_alloc, t->jobs, t->cap * sizeof(*t->jobs));
  pai__arena_dispose(&t->arena);
}

/* --- driving -------------------------------------------------------------- */

typedef struct running {
  const truth *t;
  pai__drive drive;
  pai_history *history; /* that learns; NULL: none does */
  pai_time *starts;     /* of the first `came`; NULL: nobody asks */
  size_t came, left;
} running;

static int lasts(void *data, pai__driven_job *job)
{
  job->lasts = ((const running *)data)->t->jobs[job->id - 1].lasts;
  return PAI_OK;
}

static int started(void *data, pai__driven_job *job)
{
  running *r = data;

  if (r->starts == NULL || job->id > r->came ||
      r->starts[job->id - 1] != INT64_MAX)
    return PAI_OK;
  r->starts[job->id - 1] = r->drive.now;
  r->left--;
  return PAI_OK;
}

static int ended(void *data, pai__driven_job *job)
{
  running *r = data;
  const truth_job *x = &r->t->jobs[job->id - 1];
  pai_past past = { .struct_size = sizeof(past),
                    .user = x->request.user,
                    .vc = x->request.vc,
                    .name = x->request.name,
                    .estimate = x->request.duration,
                    .duration = job->ran,
                    .ended = r->drive.now };

  if (r->history == NULL || job->doing == PAI__LEAVES)
    return PAI_OK;
  for (size_t i = 0; i < x->request.nwants; i++)
    past.gpus +=
      (uint64_t)x->request.wants[i].tasks * x->request.wants[i].gpus;
  return pai_history_add(r->history, &past, NULL);
}

static const pai__drive_ops ops = { .lasts = lasts,
                                    .started = started,
                                    .ended = ended };

static int begin(running *r, pai_sched *sched)
{
  const pai__drive_options o = { .ops = &ops,
                                 .data = r,
                                 .job_size = sizeof(pai__driven_job) };

  return pai__drive_init(&r->drive, &pai__libc_alloc, sched, &o);
}

static int moment(running *r, pai_time now, const truth_job *comes)
{
  pai__waiting_job *wait;
  int rc = pai__drive_begin(&r->drive, now, NULL);

  /* One that is larger than the cluster is refused. */
  if (rc >= 0 && comes != NULL &&
      pai__drive_come(&r->drive, &comes->request, &wait, NULL) == PAI_OK &&
      r->history != NULL)
    rc = pai_history_came(r->history, &comes->request, now, NULL);
  return rc < 0 ? rc : pai__drive_end(&r->drive, NULL);
}

static int take(running *r, const truth_job *job)
{
  pai_time next;
  int rc = PAI_OK;

  while (rc >= 0 && (next = pai__drive_next(&r->drive)) < job->time)
    rc = moment(r, next, NULL);
  return rc < 0 ? rc : moment(r, job->time, job);
}

int truth_run(truth_now *now, const truth *t, const pai_cluster *cluster,
              const char *policy, size_t jobs)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  running r = { .t = t };
  int rc;

  *now = (truth_now){ 0 };
  o.policy = policy;
  rc = pai_sched_new(&now->sched, cluster, &o, NULL);
  if (rc == PAI_OK)
    rc = pai_history_new(&now->history, NULL, NULL);
  if (rc < 0)
    return rc;
  r.history = now->history;
  rc = begin(&r, now->sched);
  while (rc >= 0 && now->came < jobs && now->came < t->n)
    rc = take(&r, &t->jobs[now->came++]);
  pai__drive_dispose(&r.drive);
  return rc < 0 ? rc : PAI_OK;
}

void truth_close(truth_now *now)
{
  pai_history_free(now->history);
  pai_sched_free(now->sched);
}

static size_t waiting(const pai_sched *s, pai_time *starts, size_t came)
{
  pai_request_view v = { .struct_size = sizeof(v) };
  size_t n = 0;

  for (size_t i = 0; i < came; i++)
    starts[i] = TRUTH_RUNS;
  for (uint64_t id = 0; (id = pai_sched_next(s, id)) != 0;)
    if (pai_sched_view_request(s, id, &v) == PAI_OK && v.waiting != 0 &&
        v.state != PAI_REQUEST_STOPPING) {
      starts[id - 1] = INT64_MAX;
      n++;
    }
  return n;
}

int truth_go_on(const truth *t, pai_sched *fork, size_t came, pai_time *starts)
{
  running r = { .t = t, .starts = starts, .came = came };
  pai_time next;
  int rc = begin(&r, fork);

  r.left = waiting(fork, starts, came);
  if (rc >= 0)
    rc = pai__drive_adopt(&r.drive, NULL);
  if (rc >= 0)
    rc = moment(&r, r.drive.now, NULL);
  for (size_t i = came; rc >= 0 && r.left != 0 && i < t->n; i++)
    rc = take(&r, &t->jobs[i]);
  while (rc >= 0 && r.left != 0 &&
         (next = pai__drive_next(&r.drive)) != INT64_MAX)
    rc = moment(&r, next, NULL);
  pai__drive_dispose(&r.drive);
  return rc < 0 ? rc : PAI_OK;
}
