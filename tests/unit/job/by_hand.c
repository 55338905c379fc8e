/* by_hand.c - a job moved by hand */
#include "by_hand.h"

#include <openpai/platform.h>

pai_spec *job_spec(made_spec *m, uint32_t first, uint32_t second,
                   uint32_t retries)
{
  *m = (made_spec){ .spec = { .alloc = pai__libc_alloc,
                              .name = "job",
                              .retry_count = retries,
                              .roles = m->roles,
                              .nroles = second > 0 ? 2 : 1,
                              .ntasks = first + second } };
  m->roles[0] = (pai__role){ .name = "a",
                             .instances = first,
                             .min_failed = 1,
                             .min_succeeded = (int32_t)first };
  m->roles[1] = (pai__role){ .name = "b",
                             .instances = second,
                             .min_failed = 1,
                             .min_succeeded = (int32_t)second };
  atomic_init(&m->spec.refs, 1);
  return &m->spec;
}

int job_event(pai__job *job, enum pai__event_kind kind, uint32_t task,
              int code)
{
  return pai__job_handle(job, &(pai__job_event){ kind, task, code });
}

pai_time job_expect(pai__job *job, enum pai__action_kind kind, uint32_t task)
{
  pai__action a;

  assert_true(pai__job_next(job, &a));
  assert_int_equal(a.kind, kind);
  assert_int_equal(a.task, task);
  return a.delay;
}

void job_expect_nothing(pai__job *job)
{
  pai__action a;

  assert_false(pai__job_next(job, &a));
}

pai__job *job_start(made_spec *m, uint32_t first, uint32_t second,
                    uint32_t retries)
{
  pai__job *job;

  assert_int_equal(pai__job_new(&job, &pai__libc_alloc,
                                job_spec(m, first, second, retries), 1),
                   PAI_OK);
  return job;
}

void job_bring_up(pai__job *job)
{
  job_expect(job, PAI__DO_QUEUE, 0);
  assert_int_equal(job_event(job, PAI__EV_PLACED, 0, 0), PAI_OK);
  for (uint32_t i = 0; i < job->ntasks; i++) {
    job_expect(job, PAI__DO_START, i);
    assert_int_equal(job_event(job, PAI__EV_TASK_STARTED, i, 0), PAI_OK);
  }
  job_expect_nothing(job);
  assert_int_equal(pai__job_public_state(job), PAI_STATE_RUNNING);
}

void job_end(pai__job *job, uint32_t task, int code)
{
  assert_int_equal(job_event(job, PAI__EV_TASK_ENDED, task, code), PAI_OK);
}
