/*
 * A model checker: forms, events and hosts at random, against a host that
 * keeps its own book of rooms and processes.
 *
 * A slice runs with all tests; soak runs, see docs/internals/soak.md, do more.
 */
#include "by_hand.h"

#include "job/inside.h"
#include "job/save.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROLES = 3, MOST = 16, NAMES = 8 };

/* What the host knows of a task. */
typedef struct told {
  bool asked, room, held;
  bool alive, started, stopped, killed;
  bool has_begun;
  uint32_t attempt, retries; /* of its last start */
} told;

typedef struct world {
  pai__prng rng;
  pai__form_role roles[ROLES];
  pai__job_form form;
  pai__job *job, jobs[2]; /* it moves from one to the other */
  pai_time now, due;      /* 0: nothing is waited for */
  bool asked, room, held; /* the whole gang */
  bool stopped, finished;
  told tasks[MOST];
  uint32_t ntasks;
} world;

/* What was ever seen, of all runs. */
static struct {
  unsigned long steps, ends, refused, taken[PAI__EV_DUE + 1];
  unsigned long actions[PAI__DO_KILL + 1];
  unsigned long jobs[PAI__JOB_DONE + 1], tasks[PAI__TASK_GONE + 1];
  unsigned long rescaled, busy, rules, all, stops, back;
  const char *names[NAMES], *task_names[NAMES];
} seen;

static uint32_t below(world *w, uint32_t n)
{
  return (uint32_t)pai__prng_below(&w->rng, n);
}

static void see_name(const char **names, const char *name)
{
  for (int i = 0; i < NAMES; i++) {
    if (names[i] == NULL)
      names[i] = name;
    if (names[i] == name)
      return;
  }
  fail_msg("a ninth name: %s", name);
}

/* --- what must hold at any time --------------------------------------------- */

static bool holds(const world *w, uint32_t r)
{
  const pai__job_role *role = &pai__job_roles(w->job)[r];
  const pai__form_role *rule = &w->roles[r];

  return (rule->min_failed > 0 && role->badly >= (uint32_t)rule->min_failed) ||
         (rule->min_succeeded > 0 &&
          role->well >= (uint32_t)rule->min_succeeded);
}

/* Counts, and that nothing is overdue to be decided. */
static void check_up(const world *w)
{
  const pai__job *job = w->job;
  const pai__task *tasks = pai__job_tasks(job);
  uint32_t done = 0;

  for (uint32_t r = 0; r < w->form.nroles; r++) {
    uint32_t well = 0, badly = 0;

    for (uint32_t i = 0; i < job->ntasks; i++)
      if (tasks[i].role == r && tasks[i].state == PAI__TASK_DONE) {
        well += tasks[i].code == 0;
        badly += tasks[i].code != 0;
      }
    assert_int_equal(pai__job_roles(job)[r].well, well);
    assert_int_equal(pai__job_roles(job)[r].badly, badly);
    assert_false(holds(w, r));
    done += well + badly;
  }
  assert_int_equal(job->done, done);
  assert_true(done < job->wanted || job->wanted == 0);
  assert_false(job->decided);
}

static void check_task(const world *w, uint32_t i)
{
  const pai__task *t = &pai__job_tasks(w->job)[i];
  int32_t max = w->roles[t->role].retry.max;
  const told *k = &w->tasks[i];

  assert_int_equal(pai__task_is_alive(t), k->alive);
  assert_true(t->counted <= t->retries);
  assert_true(max < 0 || t->counted <= (uint32_t)max);
  if (w->form.partial || w->job->todo == 0) /* a gang's rooms go together */
    assert_int_equal((t->flags & PAI__TASK_ROOM) != 0, k->asked);
  assert_true(!k->alive || k->room);
  assert_true(t->todo == PAI__DO_NOTHING || i >= w->job->cursor);
  assert_int_equal(t->todo == PAI__DO_START, t->state == PAI__TASK_PLACED);
  if (t->todo == PAI__DO_STOP || t->todo == PAI__DO_KILL)
    assert_int_equal(t->state, PAI__TASK_ENDING);
  seen.tasks[t->state]++;
  see_name(seen.task_names, pai__job_task_contract_state(w->job, i));
}

static void check(world *w)
{
  const pai__job *job = w->job;
  uint32_t busy = 0, alive = 0, wanted = 0;

  for (uint32_t i = 0; i < job->ntasks; i++) {
    check_task(w, i);
    busy += pai__job_tasks(job)[i].todo != PAI__DO_NOTHING;
    alive += w->tasks[i].alive;
  }
  for (uint32_t r = 0; r < w->form.nroles; r++)
    wanted += pai__job_roles(job)[r].tasks;
  assert_int_equal(job->busy, busy);
  assert_int_equal(job->alive, alive);
  assert_int_equal(job->wanted, wanted);
  assert_true(job->counted <= job->retries);
  assert_true(w->form.retry.max < 0 ||
              job->counted <= (uint32_t)w->form.retry.max);
  assert_int_equal(job->asked, w->asked);
  if (job->state == PAI__JOB_STARTING || job->state == PAI__JOB_RUNNING)
    check_up(w);
  if (job->state == PAI__JOB_ENDING)
    assert_true(job->decided && alive > 0);
  if (job->preempting)
    assert_true(alive > 0);
  seen.jobs[job->state]++;
  see_name(seen.names, pai__job_contract_state(job));
}

/* --- the host carries out ----------------------------------------------------- */

static void on_start(world *w, uint32_t i)
{
  const pai__task *t = &pai__job_tasks(w->job)[i];
  told *k = &w->tasks[i];

  assert_true(k->room && !k->held && !k->alive && !w->stopped);
  assert_false(k->has_begun && k->attempt == w->job->attempt &&
               k->retries == t->retries); /* once in each attempt */
  k->alive = k->has_begun = true;
  k->started = k->stopped = k->killed = false;
  k->attempt = w->job->attempt;
  k->retries = t->retries;
}

static void on_task(world *w, const pai__action *a, uint32_t i)
{
  told *k = &w->tasks[i];

  switch (a->kind) {
  case PAI__DO_QUEUE:
    assert_false(k->asked);
    k->asked = true;
    break;
  case PAI__DO_RETURN:
    assert_true(k->asked && !k->alive);
    k->room = k->has_begun = false;
    k->held = a->until != 0;
    break;
  case PAI__DO_RESUME:
    assert_true(k->asked && !k->room && k->held);
    k->held = false;
    break;
  case PAI__DO_RELEASE:
    assert_true(k->asked && !k->alive);
    k->asked = k->room = k->held = k->has_begun = false;
    break;
  case PAI__DO_START: on_start(w, i); break;
  case PAI__DO_STOP:
    assert_true(k->alive && !k->stopped && !k->killed);
    k->stopped = true;
    break;
  case PAI__DO_KILL:
    assert_true(k->alive && !k->killed && (k->stopped || w->stopped));
    k->killed = true;
    break;
  default: fail_msg("action %d of a task", (int)a->kind);
  }
}

static void rooms_go(world *w)
{
  for (uint32_t i = 0; i < w->ntasks; i++) {
    assert_false(w->tasks[i].alive);
    w->tasks[i].asked = w->tasks[i].room = w->tasks[i].held = false;
  }
  w->room = false;
}

static void on_whole(world *w, const pai__action *a)
{
  switch (a->kind) {
  case PAI__DO_QUEUE:
    assert_false(w->asked);
    w->asked = true;
    break;
  case PAI__DO_RETURN:
    assert_true(w->form.partial || (w->asked && w->room));
    if (w->form.partial)
      break; /* each task follows alone */
    rooms_go(w);
    w->held = a->until != 0;
    break;
  case PAI__DO_RESUME:
    assert_true(w->asked && w->held && !w->room);
    w->held = false;
    break;
  case PAI__DO_RELEASE:
    assert_true(w->asked);
    rooms_go(w);
    w->asked = w->held = false;
    break;
  case PAI__DO_WAIT:
    assert_true(a->until >= w->now || a->until == w->job->due);
    w->due = a->until;
    break;
  default:
    assert_int_equal(a->kind, PAI__DO_FINISH);
    assert_false(w->finished || w->asked);
    for (uint32_t i = 0; i < w->ntasks; i++)
      assert_false(w->tasks[i].asked || w->tasks[i].alive);
    w->finished = true;
    seen.ends++;
  }
}

/* Takes one action; false when there is none. */
static bool act(world *w)
{
  bool has = pai__job_has_next(w->job);
  uint32_t most = 1 + below(w, 5);
  pai__action a;

  assert_int_equal(pai__job_next(w->job, most, &a), has);
  if (!has)
    return false;
  seen.actions[a.kind]++;
  if (a.whole) {
    assert_false(a.kind >= PAI__DO_START);
    on_whole(w, &a);
    return true;
  }
  assert_true(a.count > 0 && a.count <= most);
  for (uint32_t i = a.task; i < a.task + a.count; i++)
    on_task(w, &a, i);
  return true;
}

/* --- and tells ---------------------------------------------------------------- */

static const int codes[] = { 0, 0, 0, 1, 1, 137, 200, 201, 210, -101, -210 };

/* All of a job's state, to see that a wrong event changes none of it. */
typedef struct picture {
  pai__job job;
  pai__task tasks[MOST];
  pai__job_role roles[ROLES];
} picture;

static void take_picture(picture *p, const world *w)
{
  memset(p, 0, sizeof(*p));
  memcpy(&p->job, w->job, sizeof(p->job));
  memcpy(p->tasks, pai__job_tasks(w->job), w->job->ntasks * sizeof(*p->tasks));
  memcpy(p->roles, pai__job_roles(w->job), w->form.nroles * sizeof(*p->roles));
}

/* What the host knows must agree with what was taken. */
static void after_event(world *w, const pai__job_event *e, int rc, bool alive,
                        bool unheard, const picture *before)
{
  uint32_t end = e->count == 0 ? w->ntasks : e->task + e->count;
  bool whole = !w->form.partial && w->job->state == PAI__JOB_STARTING &&
               !w->room && w->asked;

  if (e->kind == PAI__EV_TASK_ENDED)
    assert_int_equal(rc == PAI_OK, alive);
  if (e->kind == PAI__EV_TASK_STARTED)
    assert_true(rc == PAI_OK ? alive : !(alive && unheard));
  if (rc < 0)
    return;
  if (e->kind == PAI__EV_DUE && w->due <= w->now)
    w->due = 0;
  if (e->kind == PAI__EV_STOP)
    w->stopped = true;
  if (e->kind == PAI__EV_PLACED && whole) {
    assert_false(w->held);
    w->room = true;
  }
  for (uint32_t i = e->task; i < end && i < w->ntasks; i++) {
    told *k = &w->tasks[i];

    if (e->kind == PAI__EV_TASK_ENDED) {
      k->alive = false;
      if ((before->tasks[i].flags & PAI__TASK_REMOVED) != 0)
        k->has_begun = false; /* who has its number now is another */
    } else if (e->kind == PAI__EV_TASK_STARTED) {
      k->started = true;
    } else if (e->kind == PAI__EV_PLACED &&
               pai__job_tasks(w->job)[i].state == PAI__TASK_PLACED &&
               !k->room) {
      assert_true(whole || (k->asked && !k->held));
      k->asked = k->room = true;
    }
  }
}

static int tell(world *w, pai__job_event e)
{
  bool alive =
    e.count > 0 && e.task < w->ntasks && e.count <= w->ntasks - e.task;
  bool unheard = true;
  static picture before, after;
  int rc;

  for (uint32_t i = e.task; alive && i < e.task + e.count; i++) {
    unheard &= !w->tasks[i].started;
    alive = w->tasks[i].alive;
  }
  take_picture(&before, w);
  rc = pai__job_handle(w->job, &e);
  if (rc < 0) {
    take_picture(&after, w);
    assert_memory_equal(&before, &after, sizeof(before));
    seen.refused++;
  } else {
    seen.taken[e.kind]++;
  }
  after_event(w, &e, rc, alive, unheard, &before);
  if (w->job->decided && !before.job.decided) {
    seen.rules += pai__job_trigger(w->job) != NULL;
    seen.all += w->job->done >= w->job->wanted;
    seen.stops += w->job->code == PAI__CODE_STOPPED;
  }
  return rc;
}

static void rescale(world *w)
{
  uint32_t role = below(w, ROLES), tasks = below(w, 5);
  int rc = pai__job_rescale(w->job, role, tasks, w->now);

  if (role >= w->form.nroles || w->job->state == PAI__JOB_DONE)
    assert_true(rc == PAI_EINVAL || rc == PAI_OK);
  seen.rescaled += rc == PAI_OK;
  seen.busy += rc == PAI_EBUSY;
  w->ntasks = w->job->ntasks;
  assert_true(w->ntasks <= MOST);
}

static void any_event(world *w)
{
  uint32_t n = below(w, 100);
  pai__job_event e = { .task = below(w, w->ntasks + 1),
                       .count = below(w, 3) == 0 ? below(w, w->ntasks + 2) : 1,
                       .code = codes[below(w, PAI__LEN(codes))],
                       .time = w->now };

  if (n < 4) {
    rescale(w);
    return;
  }
  if (n < 25) {
    e.kind = PAI__EV_PLACED;
    e.count = below(w, 2) * e.count;
  } else if (n < 50) {
    e.kind = PAI__EV_TASK_STARTED;
  } else if (n < 75) {
    e.kind = PAI__EV_TASK_ENDED;
  } else if (n < 82) {
    e.kind = PAI__EV_PREEMPTED;
    e.count = below(w, 2) * e.count;
  } else if (n < 84) {
    e.kind = PAI__EV_STOP;
  } else if (n < 90) {
    e.kind = PAI__EV_IMPATIENT;
  } else {
    e.kind = PAI__EV_DUE;
    if (w->due > w->now && below(w, 2) == 0)
      e.time = w->now = w->due;
  }
  if (e.count == 0)
    e.task = 0;
  (void)tell(w, e);
}

/* --- runs ----------------------------------------------------------------- */

static int32_t any_minimum(world *w)
{
  return (int32_t)below(w, 5) - 1;
}

static pai__retry_policy any_policy(world *w)
{
  return (pai__retry_policy){ below(w, 2) == 0, (int32_t)below(w, 6) - 2 };
}

static void begin(world *w, uint64_t seed)
{
  *w = (world){ .rng = { seed }, .now = 1 };
  w->form = (pai__job_form){ .roles = w->roles,
                             .nroles = 1 + below(w, ROLES),
                             .retry = any_policy(w),
                             .partial = below(w, 3) == 0,
                             .raw = below(w, 4) == 0 };
  for (uint32_t r = 0; r < w->form.nroles; r++)
    w->roles[r] =
      (pai__form_role){ .tasks = below(w, 8) == 0 ? 0 : 1 + below(w, 3),
                        .min_failed = any_minimum(w),
                        .min_succeeded = any_minimum(w),
                        .retry = any_policy(w) };
  w->job = &w->jobs[0];
  assert_int_equal(pai__job_init(w->job, &pai__libc_alloc, &w->form, seed),
                   PAI_OK);
  w->ntasks = w->job->ntasks;
}

static void save(pai__buf *head, pai__buf tasks[MOST], const pai__job *job)
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

/* All that decides what it will do. */
static void expect_alike(const pai__job *a, const pai__task *tasks,
                         const pai__job *b)
{
  assert_memory_equal(tasks, pai__job_tasks(b), b->ntasks * sizeof(*tasks));
  assert_true(a->prng.state == b->prng.state && a->began == b->began &&
              a->due == b->due);
  assert_int_equal(a->wanted, b->wanted);
  assert_int_equal(a->alive, b->alive);
  assert_int_equal(a->done, b->done);
  assert_int_equal(a->busy, b->busy);
  assert_int_equal(a->attempt, b->attempt);
  assert_int_equal(a->retries, b->retries);
  assert_int_equal(a->counted, b->counted);
  assert_int_equal(a->preempted, b->preempted);
  assert_int_equal(a->trigger, b->trigger);
  assert_int_equal(a->code, b->code);
  assert_int_equal(a->todo, b->todo);
  assert_int_equal(a->state, b->state);
  assert_int_equal(a->hasty, b->hasty);
  assert_true(a->asked == b->asked && a->decided == b->decided &&
              a->stop_asked == b->stop_asked &&
              a->preempting == b->preempting);
}

/* Its host has died: what comes back from a disk goes on as it would have. */
static void come_back(world *w, pai__job *to)
{
  uint32_t ntasks = w->job->ntasks;
  pai__buf head, heads, tasks[MOST], again[MOST];
  pai__bytes list[MOST];
  pai__task were[MOST] = { { 0 } };

  save(&head, tasks, w->job);
  memcpy(were, pai__job_tasks(w->job), ntasks * sizeof(*were));
  for (uint32_t i = 0; i < ntasks; i++)
    list[i] = bytes_of(&tasks[i]);
  pai__job_dispose(w->job);
  assert_int_equal(pai__job_restore(to, &pai__libc_alloc, &w->form,
                                    bytes_of(&head), list, ntasks, NULL),
                   PAI_OK);
  expect_alike(w->job, were, to);
  save(&heads, again, to);
  expect_same(&head, &heads);
  for (uint32_t i = 0; i < ntasks; i++)
    expect_same(&tasks[i], &again[i]);
  seen.back++;
}

/* To another place in memory, as it is or by way of its bytes. */
static void move(world *w)
{
  pai__job *to = w->job == &w->jobs[0] ? &w->jobs[1] : &w->jobs[0];

  if (below(w, 3) == 0)
    come_back(w, to);
  else
    memcpy(to, w->job, sizeof(*to));
  memset(w->job, 0xee, sizeof(*to));
  w->job = to;
}

/* A host that does what it can: places, ends well, waits.  False when there
 * was nothing that it could. */
static bool help(world *w)
{
  bool done = false;
  pai__job_event e = { .count = 1, .time = w->now };

  if (w->asked && !w->room && !w->held) {
    e.kind = PAI__EV_PLACED;
    e.count = 0;
    assert_int_equal(tell(w, e), PAI_OK);
    return true;
  }
  for (uint32_t i = 0; i < w->ntasks; i++) {
    const told *k = &w->tasks[i];

    e.task = i;
    e.kind = k->alive ? PAI__EV_TASK_ENDED : PAI__EV_PLACED;
    if (k->alive || (k->asked && !k->room && !k->held))
      done |= tell(w, e) == PAI_OK;
  }
  if (done || w->due == 0)
    return done;
  w->now = w->due > w->now ? w->due : w->now;
  e = (pai__job_event){ .kind = PAI__EV_DUE, .time = w->now };
  return tell(w, e) == PAI_OK;
}

/* From wherever it is a job comes to its end. */
static void drain(world *w)
{
  for (int step = 0; !w->finished; step++) {
    assert_true(step < 1000);
    while (act(w))
      check(w);
    if (step % 4 == 3)
      move(w);
    if (w->finished)
      break;
    if (!help(w) || step == 300) { /* it may be meant to run for ever */
      assert_true(w->job->wanted == 0 || step == 300);
      assert_int_equal(
        tell(w, (pai__job_event){ .kind = PAI__EV_STOP, .time = w->now }),
        PAI_OK);
    }
    check(w);
  }
  assert_false(pai__job_has_next(w->job));
  assert_int_equal(w->job->state, PAI__JOB_DONE);
}

static void run(uint64_t seed)
{
  static world w;

  begin(&w, seed);
  for (uint32_t step = below(&w, 150); step > 0 && !w.finished; step--) {
    w.now += below(&w, 4) == 0 ? below(&w, 3000000) : 0;
    any_event(&w);
    check(&w);
    for (uint32_t n = below(&w, 3); n > 0 && act(&w); n--)
      check(&w);
    if (below(&w, 4) == 0)
      move(&w);
    seen.steps++;
  }
  drain(&w);
  pai__job_dispose(w.job);
}

static void no_state_is_stuck_and_no_count_wrong(void **state)
{
  const char *soak = getenv("OPENPAI_SOAK"), *from = getenv("OPENPAI_SEED");
  unsigned long runs = soak != NULL ? 1000000 : 10000;
  uint64_t seed = from != NULL ? strtoull(from, NULL, 10) : 1;

  (void)state;
  for (unsigned long i = 0; i < runs; i++)
    run(seed + i);
  print_message(
    "%lu jobs, %lu steps, %lu events refused, %lu rescaled, %lu back\n", runs,
    seen.steps, seen.refused, seen.rescaled, seen.back);
  assert_int_equal(seen.ends, runs);
  for (size_t i = 1; i < PAI__LEN(seen.jobs); i++)
    assert_true(seen.jobs[i] > runs / 10);
  for (size_t i = 1; i < PAI__LEN(seen.tasks); i++)
    assert_true(seen.tasks[i] > runs / 10);
  for (size_t i = 1; i < PAI__LEN(seen.actions); i++)
    assert_true(seen.actions[i] > runs / 100);
  for (size_t i = 0; i < PAI__LEN(seen.taken); i++)
    assert_true(seen.taken[i] > runs / 100);
  for (int i = 0; i < NAMES; i++)
    assert_true(seen.names[i] != NULL && seen.task_names[i] != NULL);
  assert_true(seen.back > runs / 10);
  assert_true(seen.rescaled > runs / 10 && seen.busy > runs / 100 &&
              seen.rules > runs / 10 && seen.all > runs / 100 &&
              seen.stops > runs / 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_state_is_stuck_and_no_count_wrong),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
