/*
 * The life of a job: it ends well or badly, is tried again, loses its room, as
 * a gang and with tasks that have rooms of their own; a role gets more tasks or
 * fewer; and what states are called elsewhere.
 *
 * Codes: -210 the user stopped it, -220 the job was over without the task, -230
 * the role has fewer tasks now.
 */
#include "cases.h"
#include "by_hand.h"

#include <openpai/platform.h>

static const hand_case gangs[] = {
  { "all succeed",
    { .tasks = 2 },
    " -> ... | state=waiting\n"
    "up\n"
    "end 1 0 | 1.state=succeeded\n"
    "end 0 0 -> release, finish | state=succeeded code=0 inner=done" },
  { "the first failure decides and stops the rest",
    { .tasks = 2, .others = 2 },
    "up\n"
    "end 2 7 -> stop 0-1, stop 3 | 0.state=stopping\n"
    "end 0 143\n" /* how it died says nothing about it */
    "end 3 1\n"
    "end 1 0 -> release, finish | state=failed code=7 trigger=2 0.code=-220 "
    "1.code=-220" },
  { "a start that was none: the host starts the task again by itself",
    { .tasks = 2 },
    "up\n"
    "undone 0 | state=running 0.state=waiting\n"
    "undone 0 = PAI_EINVAL\n"
    "undone 1 | state=waiting\n"
    "started 0-1 | state=running\n"
    "end 0 0\n"
    "end 1 0 -> release, finish | state=succeeded" },
  { "a second stop is a kill, once",
    { .tasks = 2, .retries = 5 },
    "up\n"
    "end 0 0\n"
    "stop -> stop 1 | state=stopping\n"
    "stop -> kill 1\n"
    "stop\n"
    "impatient\n"
    "end 1 137 -> release, finish | state=stopped code=-210 1.code=-210 "
    "0.code=0\n"
    "stop = PAI_EINVAL" },
  { "what does not end in time is killed",
    { .tasks = 2 },
    "up\n"
    "end 0 1 -> ...\n"
    "impatient -> stop 1\n" /* it was not asked yet */
    "impatient -> kill 1\n"
    "end 1 137 -> release, finish | code=1 stop_asked=0" },
  { "stopped with a code, as a limit of time does, it is not tried again",
    { .tasks = 1, .retries = PAI__RETRY_FAILED },
    "up\n"
    "stop -1000 -> stop 0\n"
    "end 0 0 -> release, finish | code=-1000 0.code=-220 state=failed" },
  { "stopped before it started",
    { .tasks = 1, .retries = 5 },
    " -> queue\n"
    "stop -> release, finish | state=stopped inner=done" },
  { "stopped before anybody was asked for room",
    { .tasks = 1, .retries = 5 },
    "stop -> finish" },
  { "without tasks it never completes",
    { .tasks = 0 },
    " -> queue\n"
    "placed | decided=0\n"
    "stop -> release, finish" },
  { "a retry returns the room and waits for it in its turn",
    { .tasks = 1, .retries = 2 },
    "up | attempt=0\n"
    "end 0 1 -> return | 0.state=failed\n"
    "up | attempt=1\n"
    "end 0 1 -> return | 0.state=failed\n"
    "up | attempt=2\n"
    "end 0 1 -> release, finish | retries=2 counted=2 state=failed" },
  { "a delay holds it until it is due, also where a clock is early",
    { .tasks = 1 },
    "up\n"
    "end 0 201 -> return +?, wait +? | inner=backoff\n"
    "early -> wait +1e-06\n"
    "placed = PAI_EINVAL\n"
    "due -> ...\n"
    "placed = PAI_EINVAL -> resume\n"
    "up\n"
    "end 0 0 -> release, finish | attempt=1 counted=0" },
  { "what is due before the room is given back is not held",
    { .tasks = 1 },
    "up\n"
    "end 0 201 -> ...\n"
    "due -> return\n"
    "up\n"
    "end 0 0 -> release, finish" },
  { "stopped during a delay: as a new attempt that is stopped at once",
    { .tasks = 1 },
    "up\n"
    "end 0 201 -> return +?, wait +?\n"
    "stop -> release, finish | code=-210 attempt=1 retries=1 0.code=-220 "
    "trigger=-1\n"
    "due = PAI_EINVAL" },
  { "stopped before it returned its room",
    { .tasks = 1, .retries = 1 },
    "up\n"
    "end 0 1 -> ...\n"
    "stop -> release, finish" },
  { "stopped when the delay is over, before it waits for room",
    { .tasks = 1 },
    "up\n"
    "end 0 201 -> return +?, wait +?\n"
    "due -> ...\n"
    "stop -> release, finish" },
  { "a stop ends retries but not a result",
    { .tasks = 2, .retries = 9 },
    "up\n"
    "end 0 5 -> ...\n"
    "stop -> stop 1\n"
    "end 1 0 -> release, finish | code=5 retries=0" },
  { "preemption costs no retry, and all tasks begin anew",
    { .tasks = 3 },
    "up\n"
    "end 2 0\n"
    "preempt -> ...\n"
    "preempt = PAI_EINVAL -> stop 0-1\n"
    "end 1 143\n"
    "end 0 1 -> return | inner=queued\n" /* being stopped, not failing */
    "up | attempt=1 preempted=1 retries=0 done=0\n"
    "end 0-2 0 -> release, finish | code=0" },
  { "what ends before it is asked to goes before preemption",
    { .tasks = 2 },
    "up\n"
    "preempt 0-1 -> ...\n"
    "end 1 9 -> stop 0\n"
    "preempt\n" /* it is on its way */
    "end 0 143 -> release, finish | code=9 preempted=0" },
  { "preempted before it starts, and while it is stopped",
    { .tasks = 2 },
    " -> queue\n"
    "placed -> ...\n"
    "preempt -> return\n"
    "up\n"
    "preempt -> stop 0-1\n"
    "stop | 0.phase=AttemptDeletionRequested\n" /* it does not come back */
    "end 0 0\n"
    "end 1 0 -> release, finish | code=-210" },
};

TEST(gangs_live_as_told)
{
  hand_play_all(gangs, PAI__LEN(gangs));
}

static const hand_case partial[] = {
  { "tasks come up as there is room",
    { .tasks = 4, .partial = true, .retry = { true, 1 } },
    "placed 0 = PAI_EINVAL -> queue 0-3\n"
    "placed 1-2 -> ...\n"
    "placed 0-1 = PAI_EINVAL -> start 1-2 | inner=starting\n"
    "started 2 | inner=running\n"
    "end 2 0 -> release 2\n"       /* it needs its room no more */
    "placed -> start 0, start 3\n" /* the rest */
    "placed = PAI_EINVAL\n"
    "end 0 0 -> ...\n"
    "end 1 0 -> ...\n"
    "end 3 0 -> release 0-1, release 3, finish | code=0" },
  { "a retried task may go elsewhere",
    { .tasks = 2, .partial = true, .retry = { true, 1 } },
    " -> queue 0-1\n"
    "placed 0-1 -> start 0-1\n"
    "started 0-1\n"
    "end 1 1 -> return 1\n"
    "placed 1 -> start 1\n"
    "end 1 200 -> return 1\n"
    "placed 1 -> start 1\n"
    "end 1 200 -> return 1 +1, wait +1\n" /* again so soon: it is held */
    "due -> resume 1\n"
    "placed 1 -> start 1 | 1.retries=3 1.counted=1\n"
    "end 1 5 -> stop 0, release 1\n"
    "end 0 0 -> release 0, finish | code=5" },
  { "a retried job asks for each task anew",
    { .tasks = 3, .retries = 1, .partial = true },
    " -> queue 0-2\n"
    "placed 0 -> start 0\n"
    "end 0 1 -> ... | inner=queued attempt=0 0.code=1\n" /* still to be seen */
    " -> return, return 0-2 | inner=queued attempt=1 0.code=0\n"
    "placed 0 -> start 0\n"
    "end 0 201 -> release 0-2, wait +? | inner=backoff\n"
    "due -> return, queue 0-2\n"
    "stop -> release 0-2, finish | retries=2 code=-210" },
  { "tasks are preempted one by one",
    { .tasks = 3, .partial = true, .retry = { true, 1 } },
    " -> queue 0-2\n"
    "placed 0-2 -> start 0-2\n"
    "started 0-2\n"
    "preempt 1-2 -> stop 1-2\n"
    "end 2 143 -> return 2\n"
    "preempt 2 = PAI_EINVAL\n"
    "placed 2 -> ...\n"
    "preempt 2 -> return 2\n" /* before it has started */
    "end 1 0 -> return 1\n"
    "end 0 0 -> release 0\n"
    "preempt = PAI_EINVAL | inner=running\n"
    "placed 1-2 -> start 1-2 | 1.retries=0 preempted=2\n"
    "end 1-2 0 -> release 1-2, finish | code=0" },
  { "a failure goes before preemption, and the room goes all the same",
    { .tasks = 1, .partial = true, .retry = { true, 1 } },
    " -> queue 0\n"
    "placed 0 -> start 0\n"
    "preempt 0 -> ...\n"
    "end 0 1 -> return 0 | 0.counted=1\n"
    "placed 0 -> start 0\n"
    "end 0 0 -> release 0, finish" },
};

TEST(tasks_with_rooms_of_their_own_live_as_told)
{
  hand_play_all(partial, PAI__LEN(partial));
}

/* The host starts tasks one by one; what was decided meanwhile counts. */
TEST(a_task_whose_turn_has_not_come_is_not_started)
{
  pai__action a;
  by_hand h;

  hand_start(&h, 3, 0, 0);
  hand_play(&h, " -> queue\nplaced 0-2 -> ...");
  assert_true(pai__job_next(&h.job, 1, &a));
  assert_int_equal(a.count, 1);
  hand_play(&h, "started 0 -> ...");
  assert_true(pai__job_next(&h.job, 1, &a));
  assert_int_equal(a.task, 1); /* it comes up while the user stops it */
  assert_true(pai__job_has_next(&h.job));
  hand_play(&h, "stop -> stop 0-1 | 2.state=stopped\n"
                "started 1\n"
                "end 0 143\n"
                "end 1 143 -> release, finish");
  hand_dispose(&h);
}

TEST(events_out_of_place_change_nothing)
{
  static const struct {
    enum pai__event_kind kind;
    uint32_t task, count;
  } rows[] = {
    { PAI__EV_TASK_STARTED, 0, 1 }, { PAI__EV_TASK_ENDED, 0, 1 },
    { PAI__EV_TASK_ENDED, 2, 1 },   { PAI__EV_TASK_ENDED, 1, UINT32_MAX },
    { PAI__EV_DUE, 0, 0 },          { PAI__EV_PREEMPTED, 0, 0 },
    { PAI__EV_PLACED, 0, 1 }, /* not a whole gang */
  };
  by_hand h;

  hand_start(&h, 2, 0, 0);
  hand_play(&h, "placed = PAI_EINVAL -> queue"); /* it was not asked for */
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    assert_int_equal(
      hand_event(&h, rows[i].kind, rows[i].task, rows[i].count, 0),
      PAI_EINVAL);
  hand_play(&h, "up\n"
                "started 0-1 = PAI_EINVAL\n"
                "end 0 0\n"
                "end 0-1 0 = PAI_EINVAL | 1.inner=running");
  assert_int_equal(hand_event(&h, PAI__EV_TASK_ENDED, 1, 0, 0), PAI_EINVAL);
  hand_play(&h, "end 1 0 -> release, finish");
  hand_dispose(&h);
}

TEST_FAULTS(failing_memory)
{
  pai__job job;
  by_hand h;
  pai__action a;
  int rc;

  hand_form(&h, 3, 1, 0);
  rc = pai__job_init(&job, alloc, &h.form, 1);
  if (rc == PAI_OK) {
    assert_true(pai__job_next(&job, 9, &a));
    assert_int_equal(a.count, 4);
  }
  pai__job_dispose(&job);
  return rc;
}

/* A million jobs are alive in a simulation. */
TEST(a_job_of_one_task_is_small)
{
  test_tally tally;
  by_hand h;

  test_tally_init(&tally);
  hand_form(&h, 1, 0, 0);
  assert_ok(pai__job_init(&h.job, &tally.alloc, &h.form, 1));
  assert_int_equal(tally.calls, 0);
  assert_true(sizeof(h.job) <= 136);
  pai__job_dispose(&h.job);
}

/* --- more tasks or fewer -------------------------------------------------- */

static const hand_case rescaled[] = {
  /* A job of one task, which begins without memory of its own. */
  { "a running gang grows",
    { .tasks = 1, .never_succeeds = true },
    "up\n"
    "scale 0 3 -> queue 1-2\n" /* these alone */
    "end 0 0\n"                /* it goes on */
    "placed 1-2 -> start 1-2 | 2.index=2\n"
    "end 1-2 0 -> release, finish" },
  { "new tasks stand behind all others, and numbers stay what they are",
    { .tasks = 1, .others = 1 },
    "scale 0 2 -> queue\n" /* before it is queued: only more to be placed */
    "scale 1 2\n"
    "up | tasks=4 1.role=1 2.role=0 2.index=1 3.role=1\n"
    "end 3 6 -> stop 0-2\n"
    "scale 0 5 = PAI_EBUSY\n"
    "end 0-2 0 -> release, finish\n"
    "scale 0 5 = PAI_EINVAL\n"
    "scale 2 5 = PAI_EINVAL" },
  { "a running gang shrinks",
    { .tasks = 4, .never_succeeds = true },
    "up\n"
    "end 3 0\n"
    "scale 0 2 -> stop 2, release 3 | done=0 3.code=-230\n" /* it had ended */
    "end 2 1 -> release 2 | decided=0 2.inner=gone\n"
    "end 0 0\n"
    "scale 0 1 -> stop 1 | decided=1\n" /* with which all have completed */
    "end 1 0 -> release, finish | code=0" },
  { "an index that is wanted again is another instance",
    { .tasks = 3 },
    "up\n"
    "scale 0 1 -> stop 1-2\n"
    "end 1 143 -> release 1\n"
    "scale 0 3 -> queue 1\n"
    "end 2 143 -> start 2 | 2.retries=0 tasks=3\n" /* its room is there */
    "scale 0 2 -> stop 2\n"
    "end 2 0 -> ...\n"
    "scale 0 3 -> return 2\n" /* before its room was given back */
    "preempt -> stop 0\n"
    "scale 0 9 = PAI_EBUSY\n"
    "end 0 1 -> return\n"
    "up\n"
    "end 0-2 0 -> release, finish" },
  { "removed, preempted and wanted again",
    { .tasks = 2, .partial = true },
    " -> queue 0-1\n"
    "placed -> start 0-1\n"
    "scale 0 1 -> stop 1\n"
    "preempt 1\n"
    "scale 0 2\n"
    "end 1 143 -> return 1\n"
    "placed 1 -> start 1" },
  { "decided before what was removed has ended",
    { .tasks = 3 },
    "up\n"
    "scale 0 2 -> stop 2\n"
    "end 0 4 -> stop 1\n" /* the other one knows already */
    "end 2 143 | 2.inner=gone 2.code=-230\n"
    "end 1 143 -> release, finish" },
  { "a gang that shrinks to nothing goes on",
    { .tasks = 2 },
    "up\n"
    "end 1 0\n"
    "scale 0 0 -> stop 0, release 1\n"
    "end 0 0 -> release 0 | decided=0\n"
    "scale 0 1 -> queue 0" },
};

TEST(roles_get_more_tasks_or_fewer)
{
  hand_play_all(rescaled, PAI__LEN(rescaled));
}

static int rescale_body(const pai_alloc *alloc, void *user_data)
{
  pai__job job;
  by_hand h;
  int rc;

  hand_form(&h, *(const uint32_t *)user_data, 0, 0);
  rc = pai__job_init(&job, alloc, &h.form, 1);
  if (rc == PAI_OK)
    rc = pai__job_rescale(&job, 0, 5, 0);
  if (rc < 0 && job.ntasks == h.roles[0].tasks)
    assert_int_equal(job.wanted, job.ntasks); /* nothing has changed */
  pai__job_dispose(&job);
  return rc;
}

TEST(failing_memory_while_roles_grow)
{
  uint32_t tasks[] = { 0, 1, 2 };

  for (size_t i = 0; i < PAI__LEN(tasks); i++)
    test_faults(rescale_body, &tasks[i]);
}

/* The nine states of FrameworkController. */
static const hand_case phases[] = {
  { "through a life",
    { .tasks = 2, .retry = { true, 0 } },
    " -> ... | phase=AttemptCreationPending 0.phase=AttemptCreationPending\n"
    " -> queue | phase=AttemptPreparing 0.phase=AttemptPreparing\n"
    "placed -> ... | phase=AttemptPreparing 0.phase=AttemptPreparing\n"
    " -> start 0-1\n"
    "started 0-1 | phase=AttemptRunning 0.phase=AttemptRunning\n"
    "end 0 200 -> start 0\n"
    "end 0 200 -> wait +1 | phase=AttemptRunning 0.phase=AttemptCompleted\n"
    "due -> start 0\n"
    "preempt -> ... | phase=AttemptDeleting 0.phase=AttemptDeleting\n"
    " -> stop 0-1\n"
    "end 0-1 1 -> ... | phase=AttemptCompleted 0.phase=AttemptPreparing\n"
    " -> return | phase=AttemptPreparing 0.phase=AttemptPreparing\n"
    "up\n"
    "end 1 201 -> start 1\n" /* a task does not wait for conflicts */
    "end 1 210 -> ... | phase=AttemptDeletionPending "
    "0.phase=AttemptDeletionPending\n"
    " -> stop 0 | phase=AttemptDeletionRequested "
    "0.phase=AttemptDeletionRequested\n"
    "impatient -> kill 0 | phase=AttemptDeletionRequested "
    "0.phase=AttemptDeleting\n"
    "end 0 137 -> ... | phase=AttemptCompleted 0.phase=Completed\n"
    " -> release, finish | phase=Completed 0.phase=Completed" },
  { "while a job waits to be tried again",
    { .tasks = 1 },
    "up\n"
    "end 0 201 -> ... | phase=AttemptCompleted 0.phase=Completed\n"
    " -> return +?, wait +? | phase=AttemptCompleted 0.phase=Completed\n"
    "due -> ... | phase=AttemptPreparing 0.phase=Completed\n"
    " -> resume" },
  { "of a task that has a room of its own",
    { .tasks = 2, .partial = true },
    " -> ... | phase=AttemptCreationPending 0.phase=AttemptCreationPending\n"
    " -> queue 0-1 | phase=AttemptPreparing 0.phase=AttemptPreparing\n"
    "placed 0 -> ...\n"
    "preempt 0 -> ... | phase=AttemptPreparing 0.phase=AttemptCompleted\n"
    " -> return 0" },
};

TEST(states_in_the_contract_s_words)
{
  hand_play_all(phases, PAI__LEN(phases));
}
