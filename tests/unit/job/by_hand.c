/* by_hand.c - a job moved by hand */
#include "by_hand.h"

#include <openpai/platform.h>

void hand_form(by_hand *h, uint32_t first, uint32_t second, int32_t retries)
{
  *h = (by_hand){ .now = 1000 };
  h->roles[0] = (pai__form_role){ .tasks = first,
                                  .min_failed = 1,
                                  .min_succeeded = (int32_t)first };
  h->roles[1] = (pai__form_role){ .tasks = second,
                                  .min_failed = 1,
                                  .min_succeeded = (int32_t)second };
  h->form = (pai__job_form){ .roles = h->roles,
                             .nroles = second > 0 ? 2 : 1,
                             .retry = { true, retries } };
}

void hand_begin(by_hand *h)
{
  assert_int_equal(pai__job_init(&h->job, &pai__libc_alloc, &h->form, 1),
                   PAI_OK);
}

void hand_start(by_hand *h, uint32_t first, uint32_t second, int32_t retries)
{
  hand_form(h, first, second, retries);
  hand_begin(h);
}

void hand_dispose(by_hand *h)
{
  hand_expect_nothing(h);
  pai__job_dispose(&h->job);
}

int hand_event(by_hand *h, enum pai__event_kind kind, uint32_t task,
               uint32_t count, int code)
{
  return pai__job_handle(&h->job,
                         &(pai__job_event){ kind, task, count, code, h->now });
}

void hand_take(by_hand *h, enum pai__event_kind kind, uint32_t task,
               uint32_t count)
{
  assert_int_equal(hand_event(h, kind, task, count, 0), PAI_OK);
}

void hand_end(by_hand *h, uint32_t task, int code)
{
  assert_int_equal(hand_event(h, PAI__EV_TASK_ENDED, task, 1, code), PAI_OK);
}

static pai_time expect(by_hand *h, enum pai__action_kind kind, bool whole,
                       uint32_t task, uint32_t count)
{
  pai__action a;

  assert_true(pai__job_has_next(&h->job));
  assert_true(pai__job_next(&h->job, UINT32_MAX, &a));
  assert_int_equal(a.kind, kind);
  assert_int_equal(a.task, task);
  assert_int_equal(a.count, count);
  assert_int_equal(a.whole, whole);
  return a.until;
}

pai_time hand_expect(by_hand *h, enum pai__action_kind kind, uint32_t task,
                     uint32_t count)
{
  return expect(h, kind, false, task, count);
}

pai_time hand_expect_whole(by_hand *h, enum pai__action_kind kind)
{
  return expect(h, kind, true, 0, h->job.ntasks);
}

void hand_expect_nothing(by_hand *h)
{
  pai__action a;

  assert_false(pai__job_has_next(&h->job));
  assert_false(pai__job_next(&h->job, UINT32_MAX, &a));
}

void hand_expect_finish(by_hand *h)
{
  hand_expect_whole(h, PAI__DO_RELEASE);
  hand_expect_whole(h, PAI__DO_FINISH);
  hand_expect_nothing(h);
  assert_int_equal(h->job.state, PAI__JOB_DONE);
}

void hand_place(by_hand *h)
{
  uint32_t n = h->job.ntasks;

  hand_take(h, PAI__EV_PLACED, 0, 0);
  hand_expect(h, PAI__DO_START, 0, n);
  hand_take(h, PAI__EV_TASK_STARTED, 0, n);
  hand_expect_nothing(h);
  assert_int_equal(pai__job_public_state(&h->job), PAI_STATE_RUNNING);
}

void hand_bring_up(by_hand *h)
{
  hand_expect_whole(h, PAI__DO_QUEUE);
  hand_place(h);
}
