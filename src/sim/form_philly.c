/* form_philly.c - Philly's cluster_job_log: jobs with what each attempt was
 * given */
#include "sim/documents.h"
#include "sim/forms.h"

/* So many GPUs on each of the nodes of an attempt: equal ones are one want. */
static int add_wants(pai_trace *t, const pai__tree *tree, pai__node detail)
{
  pai__tree_walk walk = pai__tree_iter(tree, detail);
  pai__draft *d = &t->draft;
  pai__node n;
  int rc = PAI_OK;

  while (rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node gpus = pai__at(tree, n, "gpus");
    pai__draft_want want = { .tasks = 1 };
    size_t i = 0;

    if (gpus != PAI__NO_NODE && pai__tree_type(tree, gpus) == PAI__SEQUENCE)
      want.gpus = pai__tree_count(tree, gpus);
    while (i < d->nwants && d->wants[i].gpus != want.gpus)
      i++;
    if (i < d->nwants)
      d->wants[i].tasks++;
    else
      rc = pai__draft_add_want(d, &t->alloc, &want);
  }
  return rc;
}

/* The last attempt that tells where it was counts. */
static int find_wants(pai_trace *t, const pai__tree *tree, pai__node attempts)
{
  pai__tree_walk walk = pai__tree_iter(tree, attempts);
  pai__node n, last = PAI__NO_NODE;

  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node detail = pai__at(tree, n, "detail");

    if (detail != PAI__NO_NODE &&
        pai__tree_type(tree, detail) == PAI__SEQUENCE &&
        pai__tree_count(tree, detail) > 0)
      last = detail;
  }
  return last == PAI__NO_NODE ? PAI_OK : add_wants(t, tree, last);
}

static int add_attempts(pai_trace *t, const pai__tree *tree,
                        pai__node attempts, uint64_t line, bool *runs)
{
  pai__tree_walk walk = pai__tree_iter(tree, attempts);
  pai__draft *d = &t->draft;
  pai__node n;
  int rc = PAI_OK;

  *runs = false;
  while (rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai_time start, end;
    bool has_start = pai__date_at(tree, n, "start_time", &start);

    *runs = has_start && !pai__date_at(tree, n, "end_time", &end);
    if (!has_start || *runs) {
      pai__trace_alter(t, line, "an attempt without its times is left out");
      continue;
    }
    if (d->started == -1)
      d->started = start;
    rc = pai__draft_add_attempt(d, &t->alloc, end - start, PAI__CODE_FAILED);
  }
  if (d->nattempts > 0)
    d->retries = (uint32_t)(d->nattempts - 1);
  return rc;
}

static int philly_code(const pai__tree *tree)
{
  pai__slice status = pai__string_at(tree, 0, "status");

  if (pai__text_is(status, "Pass"))
    return 0;
  return pai__text_is(status, "Killed") ? PAI__CODE_KILLED : PAI__CODE_FAILED;
}

static int put_job(pai_trace *t, const pai__tree *tree, uint64_t line,
                   pai_error **err)
{
  pai__node attempts = pai__at(tree, 0, "attempts");
  pai__draft *d = &t->draft;
  bool runs;
  int rc;

  pai__draft_clear(d);
  if (!pai__date_at(tree, 0, "submitted_time", &d->time))
    return pai__trace_skip(t, line, err, "\"submitted_time\" is no time");
  if (attempts == PAI__NO_NODE ||
      pai__tree_type(tree, attempts) != PAI__SEQUENCE)
    return pai__trace_skip(t, line, err, "\"attempts\" is no list");
  d->texts[PAI__TEXT_ID] = pai__string_at(tree, 0, "jobid");
  d->texts[PAI__TEXT_USER] = pai__string_at(tree, 0, "user");
  d->texts[PAI__TEXT_VC] = pai__string_at(tree, 0, "vc");
  rc = add_attempts(t, tree, attempts, line, &runs);
  if (rc == PAI_OK)
    rc = find_wants(t, tree, attempts);
  if (rc < 0)
    return pai__oom(err);
  if (runs)
    return pai__trace_skip(t, line, err,
                           "it had not ended: nobody knows how "
                           "long it takes");
  if (d->nwants == 0 || d->nattempts == 0)
    return pai__trace_skip(t, line, err,
                           "it never started: nobody knows what it asked "
                           "for, and how long it takes");
  d->attempts[d->nattempts - 1].code = philly_code(tree);
  return pai__trace_put(t, line, err);
}

int pai__philly_begin(pai_trace *t, pai_error **err)
{
  return pai__documents_begin(t, "jobs", put_job, err);
}
