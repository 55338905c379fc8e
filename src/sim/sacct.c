/* sacct.c - a job of Slurm: what its states and resources mean */
#include "sim/sacct.h"

#include "base/utf8.h"
#include "resource/read.h"

enum slurm_end { ENDED, NOT_ENDED, NOT_OURS, AGAIN };

typedef struct slurm_state {
  const char *name;
  int code;
  enum slurm_end end;
} slurm_state;

/* The first word of a state. */
static const slurm_state *find_state(pai__slice state)
{
  static const slurm_state states[] = {
    { "COMPLETED", 0, ENDED },
    { "FAILED", PAI__CODE_FAILED, ENDED },
    { "CANCELLED", PAI__CODE_KILLED, ENDED },
    { "TIMEOUT", PAI__CODE_TIMEOUT, ENDED },
    { "DEADLINE", PAI__CODE_KILLED, ENDED },
    { "OUT_OF_MEMORY", 137, ENDED },
    { "BOOT_FAIL", 0, NOT_OURS },
    { "NODE_FAIL", 0, NOT_OURS },
    { "PREEMPTED", 0, NOT_OURS },
    { "REQUEUED", 0, AGAIN },
    { "RUNNING", 0, NOT_ENDED },
    { "PENDING", 0, NOT_ENDED },
    { "SUSPENDED", 0, NOT_ENDED },
    { "RESIZING", 0, NOT_ENDED },
    { "COMPLETING", 0, NOT_ENDED },
    { "CONFIGURING", 0, NOT_ENDED },
  };
  size_t len = 0;

  while (len < state.len && state.s[len] != ' ' && state.s[len] != '+')
    len++;
  for (size_t i = 0; i < PAI__LEN(states); i++)
    if (strlen(states[i].name) == len &&
        memcmp(states[i].name, state.s, len) == 0)
      return &states[i];
  return NULL;
}

static int code_of(const pai__sacct_job *job, const slurm_state *state)
{
  if (state->code != PAI__CODE_FAILED)
    return state->code;
  if (job->code > 0 && job->code < 256)
    return (int)job->code;
  if (job->signal > 0 && job->signal < 65)
    return 128 + (int)job->signal;
  return PAI__CODE_FAILED;
}

/* What it is that cannot be used; NULL: it can. */
static const char *bad_state(const slurm_state *state)
{
  if (state->end == NOT_ENDED)
    return "it had not ended: nobody knows how long it takes";
  if (state->end == AGAIN)
    return "it was requeued: another line tells what became of it";
  return NULL;
}

static void set_times(pai_trace *t, const pai__sacct_job *job, uint64_t line,
                      pai_time *duration)
{
  pai__draft *d = &t->draft;

  d->time = job->submit;
  d->limit = job->limit > 0 ? job->limit : 0;
  d->estimate = d->limit;
  *duration = job->elapsed;
  if (*duration < 0 && job->start != -1 && job->end != -1)
    *duration = job->end - job->start;
  if (job->start != -1 && *duration >= 0) {
    d->started = job->start;
    return;
  }
  *duration = 0;
  if (job->end != -1)
    d->patience = job->end - job->submit;
  pai__trace_alter(t, line,
                   "it never ran: it takes no time, and is killed "
                   "when it has waited as long");
}

int pai__sacct_put(pai_trace *t, pai__sacct_job *job, uint64_t line,
                   pai_error **err)
{
  const slurm_state *state = find_state(job->state);
  pai__draft *d = &t->draft;
  pai_time duration;
  char shown[PAI__EXCERPT];

  if (state == NULL)
    return pai__trace_skip(
      t, line, err, "\"%s\" is no state of Slurm's",
      pai__excerpt(shown, job->state.s != NULL ? job->state.s : "",
                   job->state.len));
  if (bad_state(state) != NULL)
    return pai__trace_skip(t, line, err, "%s", bad_state(state));
  if (state->end == NOT_OURS)
    pai__trace_alter(t, line,
                     "the cluster ended it: it counts as if it had "
                     "ended well then");
  set_times(t, job, line, &duration);
  if (job->all.cpus > PAI__MOST_CPUS || job->all.gpus > PAI__MOST_GPUS ||
      job->nodes > PAI_SCHED_TASKS)
    return pai__trace_skip(t, line, err,
                           "it has more than a million CPUs or GPUs");
  if (pai__draft_spread(d, &t->alloc, &job->all, job->nodes) < 0 ||
      pai__draft_add_attempt(d, &t->alloc, duration, code_of(job, state)) < 0)
    return pai__oom(err);
  return pai__trace_put(t, line, err);
}

/* --- resources ------------------------------------------------------------- */

static uint32_t narrow(uint64_t count)
{
  return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static bool is(pai__slice s, const char *name)
{
  return strlen(name) == s.len && memcmp(name, s.s, s.len) == 0;
}

void pai__sacct_resource(pai__sacct_job *job, pai__slice name, uint64_t count)
{
  static const char typed[] = "gres/gpu:";

  if (is(name, "cpu")) {
    job->all.cpus = narrow(count);
  } else if (is(name, "mem")) {
    job->all.memory = count;
  } else if (is(name, "node")) {
    job->nodes = narrow(count);
  } else if (is(name, "gres/gpu")) {
    if (job->all.gpus < narrow(count))
      job->all.gpus = narrow(count);
  } else if (name.len >= sizeof(typed) &&
             memcmp(name.s, typed, sizeof(typed) - 1) == 0) {
    if (job->all.gpus < narrow(count))
      job->all.gpus = narrow(count);
    job->all.type = (pai__slice){ name.s + sizeof(typed) - 1,
                                  name.len - (sizeof(typed) - 1) };
  }
}

void pai__sacct_tres(pai__sacct_job *job, pai__slice tres)
{
  const char *s = tres.s, *end = s + tres.len;

  while (s < end) {
    const char *comma = memchr(s, ',', (size_t)(end - s));
    const char *stop = comma != NULL ? comma : end;
    const char *equals = memchr(s, '=', (size_t)(stop - s));
    uint64_t count;

    if (equals != NULL &&
        pai__size_parse(&count, equals + 1, (size_t)(stop - equals - 1)))
      pai__sacct_resource(job, (pai__slice){ s, (size_t)(equals - s) }, count);
    s = stop + (stop < end);
  }
}
