/*
 * A model checker: forms, events and hosts at random, against a host that
 * keeps its own book of rooms and processes.
 *
 * A slice runs with all tests; soak runs, see docs/internals/soak.md, do more.
 */
#include "cases.h"
#include "model_host.h"

#include "job/save.h"

#include <stdio.h>
#include <stdlib.h>

static const int codes[] = { 0, 0, 0, 1, 1, 137, 200, 201, 210, -101, -210 };

static void rescale(model *w)
{
  uint32_t role = model_below(w, MODEL_ROLES), tasks = model_below(w, 5);
  int rc = pai__job_rescale(w->job, role, tasks, w->now);

  if (role >= w->form.nroles || w->job->state == PAI__JOB_DONE)
    assert_true(rc == PAI_EINVAL || rc == PAI_OK);
  model_seen.rescaled += rc == PAI_OK;
  model_seen.busy += rc == PAI_EBUSY;
  w->ntasks = w->job->ntasks;
  assert_true(w->ntasks <= MODEL_MOST);
}

static void any_event(model *w)
{
  uint32_t n = model_below(w, 100);
  pai__job_event e = { .task = model_below(w, w->ntasks + 1),
                       .count = model_below(w, 3) == 0
                                  ? model_below(w, w->ntasks + 2)
                                  : 1,
                       .code = codes[model_below(w, PAI__LEN(codes))],
                       .time = w->now };

  if (n < 4) {
    rescale(w);
    return;
  }
  if (n < 25) {
    e.kind = PAI__EV_PLACED;
    e.count = model_below(w, 2) * e.count;
  } else if (n < 50) {
    e.kind = PAI__EV_TASK_STARTED;
  } else if (n < 75) {
    e.kind = PAI__EV_TASK_ENDED;
  } else if (n < 82) {
    e.kind = PAI__EV_PREEMPTED;
    e.count = model_below(w, 2) * e.count;
  } else if (n < 84) {
    e.kind = PAI__EV_STOP;
  } else if (n < 90) {
    e.kind = PAI__EV_IMPATIENT;
  } else {
    e.kind = PAI__EV_DUE;
    if (w->due > w->now && model_below(w, 2) == 0)
      e.time = w->now = w->due;
  }
  if (e.count == 0)
    e.task = 0;
  (void)model_tell(w, e);
}

/* --- runs ----------------------------------------------------------------- */

static int32_t any_minimum(model *w)
{
  return (int32_t)model_below(w, 5) - 1;
}

static pai__retry_policy any_policy(model *w)
{
  return (pai__retry_policy){ model_below(w, 2) == 0,
                              (int32_t)model_below(w, 6) - 2 };
}

static void begin(model *w, uint64_t seed)
{
  *w = (model){ .rng = { seed }, .now = 1 };
  w->form = (pai__job_form){ .roles = w->roles,
                             .nroles = 1 + model_below(w, MODEL_ROLES),
                             .retry = any_policy(w),
                             .partial = model_below(w, 3) == 0,
                             .raw = model_below(w, 4) == 0 };
  for (uint32_t r = 0; r < w->form.nroles; r++)
    w->roles[r] =
      (pai__form_role){ .tasks =
                          model_below(w, 8) == 0 ? 0 : 1 + model_below(w, 3),
                        .min_failed = any_minimum(w),
                        .min_succeeded = any_minimum(w),
                        .retry = any_policy(w) };
  w->job = &w->jobs[0];
  assert_ok(pai__job_init(w->job, &pai__libc_alloc, &w->form, seed));
  w->ntasks = w->job->ntasks;
}

static void save(pai__buf *head, pai__buf tasks[MODEL_MOST],
                 const pai__job *job)
{
  pai__buf_init(head, &pai__libc_alloc);
  pai__job_save_head(head, job);
  for (uint32_t i = 0; i < job->ntasks; i++) {
    pai__buf_init(&tasks[i], &pai__libc_alloc);
    pai__job_save_task(&tasks[i], job, i);
  }
}

static pai__bytes bytes_of(const pai__buf *b)
{
  return (pai__bytes){ pai__buf_text(b), b->len };
}

static void expect_same(pai__buf *a, pai__buf *b)
{
  assert_int_equal(a->len, b->len);
  assert_memory_equal(a->data, b->data, a->len);
  pai__buf_dispose(a);
  pai__buf_dispose(b);
}

/* Its host has died: what comes back from a disk goes on as it would have. */
static void come_back(model *w, pai__job *to)
{
  uint32_t ntasks = w->job->ntasks;
  pai__buf head, heads, tasks[MODEL_MOST], again[MODEL_MOST];
  pai__bytes list[MODEL_MOST];
  pai__task were[MODEL_MOST] = { { 0 } };

  save(&head, tasks, w->job);
  memcpy(were, pai__job_tasks(w->job), ntasks * sizeof(*were));
  for (uint32_t i = 0; i < ntasks; i++)
    list[i] = bytes_of(&tasks[i]);
  pai__job_dispose(w->job);
  assert_ok(pai__job_restore(to, &pai__libc_alloc, &w->form, bytes_of(&head),
                             list, ntasks, NULL));
  assert_memory_equal(were, pai__job_tasks(to), ntasks * sizeof(*were));
  save(&heads, again, to);
  expect_same(&head, &heads);
  for (uint32_t i = 0; i < ntasks; i++)
    expect_same(&tasks[i], &again[i]);
  model_seen.back++;
}

/* To another place in memory, as it is or by way of its bytes. */
static void move(model *w)
{
  pai__job *to = w->job == &w->jobs[0] ? &w->jobs[1] : &w->jobs[0];

  if (model_below(w, 3) == 0)
    come_back(w, to);
  else
    memcpy(to, w->job, sizeof(*to));
  memset(w->job, 0xee, sizeof(*to));
  w->job = to;
}

/* A host that does what it can: places, ends well, waits.  False when there
 * was nothing that it could. */
static bool help(model *w)
{
  bool done = false;
  pai__job_event e = { .count = 1, .time = w->now };

  if (w->asked && !w->room && !w->held) {
    e.kind = PAI__EV_PLACED;
    e.count = 0;
    assert_ok(model_tell(w, e));
    return true;
  }
  for (uint32_t i = 0; i < w->ntasks; i++) {
    const told *k = &w->tasks[i];

    e.task = i;
    e.kind = k->alive ? PAI__EV_TASK_ENDED : PAI__EV_PLACED;
    if (k->alive || (k->asked && !k->room && !k->held))
      done |= model_tell(w, e) == PAI_OK;
  }
  if (done || w->due == 0)
    return done;
  w->now = w->due > w->now ? w->due : w->now;
  e = (pai__job_event){ .kind = PAI__EV_DUE, .time = w->now };
  return model_tell(w, e) == PAI_OK;
}

/* From wherever it is a job comes to its end. */
static void drain(model *w)
{
  for (int step = 0; !w->finished; step++) {
    assert_true(step < 1000);
    while (model_act(w))
      model_check(w);
    if (step % 4 == 3)
      move(w);
    if (w->finished)
      break;
    if ((!help(w) || step == 300) && /* it may be meant to run for long */
        w->job->state != PAI__JOB_DONE) {
      assert_true(w->job->wanted == 0 || step == 300);
      assert_ok(model_tell(
        w, (pai__job_event){ .kind = PAI__EV_STOP, .time = w->now }));
    }
    model_check(w);
  }
  assert_false(pai__job_has_next(w->job));
  assert_int_equal(w->job->state, PAI__JOB_DONE);
}

static void run(uint64_t seed)
{
  static model w;

  begin(&w, seed);
  for (uint32_t step = model_below(&w, 150); step > 0 && !w.finished; step--) {
    w.now += model_below(&w, 4) == 0 ? model_below(&w, 3000000) : 0;
    any_event(&w);
    model_check(&w);
    for (uint32_t n = model_below(&w, 3); n > 0 && model_act(&w); n--)
      model_check(&w);
    if (model_below(&w, 4) == 0)
      move(&w);
    model_seen.steps++;
  }
  drain(&w);
  pai__job_dispose(w.job);
}

TEST(no_state_is_stuck_and_no_count_wrong)
{
  const char *soak = getenv("OPENPAI_SOAK"), *from = getenv("OPENPAI_SEED");
  unsigned long runs = soak != NULL ? 1000000 : 10000;
  uint64_t seed = from != NULL ? strtoull(from, NULL, 10) : 1;

  for (unsigned long i = 0; i < runs; i++)
    run(seed + i);
  print_message(
    "%lu jobs, %lu steps, %lu events refused, %lu rescaled, %lu back\n", runs,
    model_seen.steps, model_seen.refused, model_seen.rescaled,
    model_seen.back);
  assert_int_equal(model_seen.ends, runs);
  for (size_t i = 1; i < PAI__LEN(model_seen.jobs); i++)
    assert_true(model_seen.jobs[i] > runs / 10);
  for (size_t i = 1; i < PAI__LEN(model_seen.tasks); i++)
    assert_true(model_seen.tasks[i] > runs / 10);
  for (size_t i = 1; i < PAI__LEN(model_seen.actions); i++)
    assert_true(model_seen.actions[i] > runs / 100);
  for (size_t i = 0; i < PAI__LEN(model_seen.taken); i++)
    assert_true(model_seen.taken[i] > runs / 100);
  for (int i = 0; i < MODEL_NAMES; i++)
    assert_true(model_seen.names[i] != NULL &&
                model_seen.task_names[i] != NULL);
  assert_true(model_seen.back > runs / 10);
  assert_true(model_seen.rescaled > runs / 10 &&
              model_seen.busy > runs / 100 && model_seen.rules > runs / 10 &&
              model_seen.all > runs / 100 && model_seen.stops > runs / 100);
}
