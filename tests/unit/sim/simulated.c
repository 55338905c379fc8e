/* simulated.c - simulations of records that a test makes up */
#include "simulated.h"

enum { SECOND = 1000000 };

static void fill(test_sim *t, const test_job *j, pai_trace_record *r)
{
  *r = (pai_trace_record){ .struct_size = sizeof(*r),
                           .kind = j->kind != 0 ? j->kind : PAI_RECORD_JOB,
                           .line = t->next,
                           .time = j->time * SECOND,
                           .id = j->id,
                           .user = j->user,
                           .vc = j->vc,
                           .priority = j->priority,
                           .estimate = j->estimate * SECOND,
                           .limit = j->limit * SECOND,
                           .patience = j->patience * SECOND,
                           .started = -1,
                           .retries = j->retries,
                           .wants = &t->want,
                           .nwants = 1,
                           .attempts = t->attempts,
                           .nattempts = j->then != 0 ? 2 : 1,
                           .after = t->after,
                           .nafter = j->after != NULL,
                           .node = j->node,
                           .state = j->code };
  t->want = (pai_want){ .struct_size = sizeof(t->want),
                        .tasks = j->tasks,
                        .gpus = j->gpus,
                        .cpus = 1 };
  t->attempts[0] = (pai_trace_attempt){ j->duration * SECOND, j->code };
  t->attempts[1] = (pai_trace_attempt){ j->then * SECOND, 0 };
  t->after[0] = j->after;
}

static int next(void *data, pai_trace_record *record, pai_error **err)
{
  test_sim *t = data;
  const test_job *j = &t->jobs[t->next];

  (void)err;
  if (t->next == t->count)
    return 0;
  t->next++;
  fill(t, j, record);
  if (record->kind == PAI_RECORD_JOB)
    t->numbers[++t->njobs] = t->next - 1;
  return 1;
}

static void on_job(void *data, const pai_sim_job *job)
{
  test_sim *t = data;
  test_fate *fate = &t->fates[t->numbers[job->id]];

  *fate = (test_fate){ job->started,  job->ended,       job->state, job->code,
                       job->attempts, job->preemptions, job->lost };
}

static void on_line(void *data, uint64_t line, int used, const char *why)
{
  test_sim *t = data;

  (void)line;
  assert_non_null(why);
  t->told++;
  t->lines_used += used != 0;
}

static int write_log(void *data, const char *bytes, size_t len)
{
  return test_collect(&((test_sim *)data)->log, bytes, len);
}

static int write_event(void *data, const char *bytes, size_t len)
{
  return test_collect(&((test_sim *)data)->events, bytes, len);
}

int test_sim_new(test_sim *t, const char *cluster, const test_job *jobs,
                 size_t count, const pai_sim_options *opts, pai_error **err)
{
  pai_sim_options o = *opts;
  pai_cluster_options co = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  int rc;

  memset(t, 0, sizeof(*t));
  pai__buf_init(&t->log, &pai__libc_alloc);
  pai__buf_init(&t->events, &pai__libc_alloc);
  t->jobs = jobs;
  t->count = count;
  co.alloc = opts->alloc;
  rc = strstr(cluster, "nodes:") == cluster
         ? pai_cluster_synthetic(&c, cluster, &co, err)
         : pai_cluster_parse(&c, cluster, strlen(cluster), &co, err);
  if (rc < 0)
    return rc;
  o.user_data = t;
  o.on_job = on_job;
  o.on_line = on_line;
  o.log = o.log != NULL ? write_log : NULL;
  o.events = o.events != NULL ? write_event : NULL;
  rc = pai__sim_new(&t->sim, c, next, t, &o, err);
  pai_cluster_free(c);
  return rc;
}

int test_sim_run(test_sim *t, pai_sim_report **report, pai_error **err)
{
  int rc = pai_sim_step(t->sim, INT64_MAX, err);

  *report = NULL;
  return rc < 0 ? rc : pai_sim_report_of(report, t->sim, err);
}

void test_sim_dispose(test_sim *t)
{
  pai_sim_free(t->sim);
  pai__buf_dispose(&t->log);
  pai__buf_dispose(&t->events);
}

pai_sim_report *test_sim_all(test_sim *t, const char *cluster,
                             const test_job *jobs, size_t n,
                             const pai_sim_options *o)
{
  pai_sim_report *report = NULL;
  pai_error *err = NULL;

  if (test_sim_new(t, cluster, jobs, n, o, &err) < 0 ||
      test_sim_run(t, &report, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  return report;
}

void test_sim_done(test_sim *t, pai_sim_report *report)
{
  pai_sim_report_free(report);
  test_sim_dispose(t);
}
