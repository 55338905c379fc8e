/* model_host.c - a host of jobs that keeps its own book */
#include "model_host.h"

seen model_seen;

uint32_t model_below(model *w, uint32_t n)
{
  return (uint32_t)pai__prng_below(&w->rng, n);
}

static void see_name(const char **names, const char *name)
{
  for (int i = 0; i < MODEL_NAMES; i++) {
    if (names[i] == NULL)
      names[i] = name;
    if (names[i] == name)
      return;
  }
  fail_msg("a ninth name: %s", name);
}

/* --- what must hold at any time --------------------------------------------- */

static bool holds(const model *w, uint32_t r)
{
  const pai__job_role *role = &pai__job_roles(w->job)[r];
  const pai__form_role *rule = &w->roles[r];

  return (rule->min_failed > 0 && role->badly >= (uint32_t)rule->min_failed) ||
         (rule->min_succeeded > 0 &&
          role->well >= (uint32_t)rule->min_succeeded);
}

/* Counts, and that nothing is overdue to be decided. */
static void check_up(const model *w)
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

static void check_task(const model *w, uint32_t i)
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
  model_seen.tasks[t->state]++;
  see_name(model_seen.task_names, pai__job_task_contract_state(w->job, i));
}

void model_check(model *w)
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
  model_seen.jobs[job->state]++;
  see_name(model_seen.names, pai__job_contract_state(job));
}

/* --- the host carries out ----------------------------------------------------- */

static void on_start(model *w, uint32_t i)
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

static void on_task(model *w, const pai__action *a, uint32_t i)
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

static void rooms_go(model *w)
{
  for (uint32_t i = 0; i < w->ntasks; i++) {
    assert_false(w->tasks[i].alive);
    w->tasks[i].asked = w->tasks[i].room = w->tasks[i].held = false;
  }
  w->room = false;
}

static void on_whole(model *w, const pai__action *a)
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
    model_seen.ends++;
  }
}

bool model_act(model *w)
{
  bool has = pai__job_has_next(w->job);
  uint32_t most = 1 + model_below(w, 5);
  pai__action a;

  assert_int_equal(pai__job_next(w->job, most, &a), has);
  if (!has)
    return false;
  model_seen.actions[a.kind]++;
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

/* All of a job's state, to see that a wrong event changes none of it. */
typedef struct picture {
  pai__job job;
  pai__task tasks[MODEL_MOST];
  pai__job_role roles[MODEL_ROLES];
} picture;

static void take_picture(picture *p, const model *w)
{
  memset(p, 0, sizeof(*p));
  memcpy(&p->job, w->job, sizeof(p->job));
  memcpy(p->tasks, pai__job_tasks(w->job), w->job->ntasks * sizeof(*p->tasks));
  memcpy(p->roles, pai__job_roles(w->job), w->form.nroles * sizeof(*p->roles));
}

/* What the host knows must agree with what was taken. */
static void after_event(model *w, const pai__job_event *e, int rc, bool alive,
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

int model_tell(model *w, pai__job_event e)
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
    model_seen.refused++;
  } else {
    model_seen.taken[e.kind]++;
  }
  after_event(w, &e, rc, alive, unheard, &before);
  if (w->job->decided && !before.job.decided) {
    model_seen.rules += pai__job_trigger(w->job) != NULL;
    model_seen.all += w->job->done >= w->job->wanted;
    model_seen.stops += w->job->code == PAI__CODE_STOPPED;
  }
  return rc;
}
