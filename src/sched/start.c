/* start.c - instances get, claim and give back their places */
#include "sched/start.h"

#include "resource/bits.h"

#include <stdio.h>

uint32_t pai__run_tasks(const pai_sched *s, const pai__run *run, uint32_t want,
                        uint32_t *first)
{
  const pai__slot *slots = pai__slots_of(s, run);
  uint32_t n = 0;

  *first = 0;
  while (*first < run->tasks && slots[*first].want < want)
    ++*first;
  while (*first + n < run->tasks && slots[*first + n].want == want)
    n++;
  return n;
}

uint64_t pai__run_gpus(const pai_sched *s, const pai__run *run)
{
  const pai__slot *slots = pai__slots_of(s, run);
  uint64_t n = 0;

  for (uint32_t i = 0; i < run->tasks; i++)
    n += pai__bits_ones(slots[i].gpus);
  return n;
}

static void add(uint64_t *sum, uint64_t n, int sign)
{
  *sum += sign > 0 ? n : -n;
}

void pai__shares_count(pai_sched *s, const pai__run *run, int sign)
{
  uint32_t nkinds = s->cluster->nkinds;
  const pai__req *r = pai__req_at(s, run->req);
  const pai__want *wants = pai__wants_of(s, r);
  bool parted = pai__sched_vc_at(s, r->vc_index)->parted;
  uint64_t *of = pai__shares_of(
    s, run->borrowed ? &s->shares_lent : &s->shares_used, r->vc_index);
  const pai__slot *slots = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++) {
    const pai__want *w = &wants[slots[i].want];

    for (uint32_t k = 0; slots[i].gpus != 0 && k < nkinds; k++)
      add(&of[k], pai__slot_share(s, &slots[i], w, k), sign);
    for (uint32_t k = nkinds;
         parted && k < pai__sched_cluster_shares(s->cluster); k++)
      add(&of[k], pai__slot_share(s, &slots[i], w, k), sign);
  }
}

void pai__run_lift(pai_sched *s, uint32_t run, bool up)
{
  const pai__run *x = pai__run_at(s, run);
  const pai__want *wants = pai__wants_of(s, pai__req_at(s, x->req));
  const pai__slot *slots = pai__slots_of(s, x);

  for (uint32_t i = 0; i < x->tasks; i++) {
    pai__free_capacity *capacity = pai__free_capacity_touch(s, slots[i].node);

    if (!up)
      pai__free_capacity_count(capacity, &wants[slots[i].want], slots[i].gpus);
    else if (x->state == PAI__RUN_CLAIMED)
      pai__free_capacity_uncount(capacity, &wants[slots[i].want],
                                 slots[i].gpus);
    else
      pai__free_capacity_return(capacity, &wants[slots[i].want],
                                slots[i].gpus);
  }
  pai__shares_count(s, x, up ? -1 : 1);
}

void pai__shares_recount(pai_sched *s)
{
  const pai__flat *sums[] = { &s->shares_used, &s->shares_lent };

  for (size_t i = 0; i < PAI__LEN(sums); i++)
    if (sums[i]->len != 0)
      memset(sums[i]->data, 0, (size_t)sums[i]->len * sums[i]->size);
  for (uint32_t i = 0; i < s->runs.len; i++)
    if (pai__run_holds(pai__run_at(s, i)))
      pai__shares_count(s, pai__run_at(s, i), 1);
}

void pai__decide(pai_sched *s, const pai__run *run, int kind)
{
  uint32_t i = pai__flat_push(&s->decisions, 1);

  ((pai__decision *)s->decisions.data)[i] =
    (pai__decision){ .id = pai__req_at(s, run->req)->id,
                     .by = run->by,
                     .instance = run->instance,
                     .tasks = run->tasks,
                     .kind = (uint8_t)kind,
                     .cause = run->cause };
}

/* Makes a run of the first n of s->slots, without CPUs and ports yet.  Returns
 * PAI__NONE without memory; then the slots are uncounted. */
static uint32_t keep(pai_sched *s, uint32_t req, uint32_t n)
{
  pai__req *r = pai__req_at(s, req);
  uint32_t run = PAI__NONE;

  if (pai__flat_reserve(&s->decisions, &s->alloc, 1) == PAI_OK)
    run = pai__run_next(s, req);
  if (run == PAI__NONE || pai__slots_keep(s, r, pai__run_at(s, run), n) < 0) {
    pai__unfit(s, r, n);
    return PAI__NONE;
  }
  pai__run_at(s, run)->borrowed =
    r->priority < 0 && !pai__req_keeps_share(s, r);
  r->returned--;
  r->active++;
  pai__shares_count(s, pai__run_at(s, run), 1);
  return run;
}

/* Checks and records a run.  Returns PAI_OK, or PAI_EINTERNAL with the
 * error. */
static int pass(pai_sched *s, uint32_t run)
{
  const char *wrong = pai__check_start(s, pai__run_at(s, run));

  return PAI__UNLIKELY(wrong != NULL)
           ? s->host.give_up(&s->host, PAI_EINTERNAL, wrong)
           : PAI_OK;
}

static int pass_share(pai_sched *s, uint32_t run)
{
  return pai__check_share(s, pai__run_at(s, run))
           ? PAI_OK
           : s->host.give_up(&s->host, PAI_EINTERNAL,
                             "a virtual cluster has more than its share");
}

int pai__set_aside(pai_sched *s, uint32_t req, int rc)
{
  pai__sched_reason reason = { .lack = PAI_LACK_POLICY, .node = PAI__NONE };
  char text[160];

  if (rc >= 0 || rc == PAI_ENOMEM)
    return rc;
  s->set_aside++;
  (void)snprintf(text, sizeof(text),
                 "set aside: the scheduler failed on this request (%s); "
                 "others are not held up",
                 s->failure != NULL ? s->failure : pai_code_name(rc));
  pai__strfree(&s->alloc, s->failure);
  s->failure = NULL;
  if (pai__texts_add(&s->names, &s->alloc, text, &reason.text) < 0)
    return PAI_ENOMEM;
  *pai__sched_reason_make(s, req) = reason;
  return 0;
}

static void give(pai_sched *s, uint32_t run, bool numbered)
{
  pai__run *x = pai__run_at(s, run);
  pai__req *r = pai__req_at(s, x->req);

  if (x->state >= PAI__RUN_PLACED) {
    pai_time end = pai__run_expected(s, x);

    pai__check_given(s, x, 0, x->tasks);
    pai__ends_remove(s, run);
    s->m.left_before = end > s->m.left_before ? end : s->m.left_before;
  }
  pai__shares_count(s, x, -1);
  pai__slots_give(s, r, x, numbered);
  x->state = PAI__RUN_RETURNED;
  x->cause = 0;
  x->by = 0;
  x->leaving = 0;
  r->active--;
  r->returned++;
}

static void begin(pai_sched *s, uint32_t run)
{
  pai__run *x = pai__run_at(s, run);

  x->state = PAI__RUN_PLACED;
  x->order = ++s->m.orders;
  x->since = s->m.now;
  x->by = 0;
  s->m.nrunning++;
  pai__ends_add(s, run);
  if (pai__req_at(s, x->req)->instances == 1)
    pai__sched_reason_drop(s, x->req);
  pai__decide(s, x, PAI_DECISION_START);
}

int pai__start(pai_sched *s, uint32_t req, uint32_t n)
{
  uint32_t run = keep(s, req, n);
  int rc;

  if (run == PAI__NONE)
    return PAI_ENOMEM;
  if (pai__slots_number(s, pai__req_at(s, req), pai__run_at(s, run)) < 0) {
    give(s, run, false);
    return PAI_ENOMEM;
  }
  rc = pass_share(s, run);
  if (rc == PAI_OK)
    rc = pass(s, run);
  if (rc < 0)
    give(s, run, true);
  else
    begin(s, run);
  pai__req_update(s, req);
  return rc;
}

/* --- claims --------------------------------------------------------------- */

static bool is_settled(const pai_sched *s, const pai__run *run)
{
  const pai__slot *slots = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++)
    if (!pai__free_capacity_settled(pai__free_capacity_at(s, slots[i].node),
                                    slots[i].gpus))
      return false;
  return true;
}

/* Returns whether another run of the same virtual cluster is stopping. */
static bool has_leaver(const pai_sched *s, const pai__run *run)
{
  uint32_t vc_index = pai__req_at(s, run->req)->vc_index, i = 0;

  while (i < s->runs.len &&
         (pai__run_at(s, i)->req == PAI__NONE ||
          pai__run_at(s, i)->state != PAI__RUN_STOPPING ||
          pai__req_at(s, pai__run_at(s, i)->req)->vc_index != vc_index))
    i++;
  return i < s->runs.len;
}

/* Returns 1 if a claimed run may start; 0 if it waits for its place or its
 * share; -1 if it has to give up: its share has become smaller since, or its
 * virtual cluster was stopped. */
static int is_due(const pai_sched *s, const pai__run *run)
{
  if (pai__sched_vc_at(s, pai__req_at(s, run->req)->vc_index)->stopped)
    return -1;
  if (!is_settled(s, run))
    return 0;
  if (pai__check_share(s, run))
    return 1;
  return has_leaver(s, run) ? 0 : -1;
}

static void set_claimed(pai_sched *s, uint32_t run)
{
  uint32_t i = pai__flat_push(&s->claims, 1);

  ((uint32_t *)s->claims.data)[i] = run;
  pai__run_at(s, run)->state = PAI__RUN_CLAIMED;
  pai__run_at(s, run)->order = ++s->m.orders;
}

static void unclaim(pai_sched *s, uint32_t run)
{
  uint32_t *list = s->claims.data, i = 0;

  while (list[i] != run)
    i++;
  s->claims.len--;
  memmove(list + i, list + i + 1, (s->claims.len - i) * sizeof(*list));
}

int pai__claim(pai_sched *s, uint32_t req, uint32_t n)
{
  uint32_t run;
  int rc;

  if (pai__flat_reserve(&s->claims, &s->alloc, 1) < 0) {
    pai__unfit(s, pai__req_at(s, req), n);
    return PAI_ENOMEM;
  }
  run = keep(s, req, n);
  if (run == PAI__NONE)
    return PAI_ENOMEM;
  set_claimed(s, run);
  pai__req_update(s, req);
  if (is_due(s, pai__run_at(s, run)) <= 0)
    return 0;
  if (pai__slots_number(s, pai__req_at(s, req), pai__run_at(s, run)) < 0) {
    pai__release(s, run);
    pai__req_update(s, req);
    return PAI_ENOMEM;
  }
  unclaim(s, run);
  rc = pass(s, run);
  if (rc < 0) {
    give(s, run, true);
    pai__req_update(s, req);
    return rc;
  }
  begin(s, run);
  return 1;
}

static void drop_claim(pai_sched *s, uint32_t run, bool numbered)
{
  uint32_t req = pai__run_at(s, run)->req;

  unclaim(s, run);
  give(s, run, numbered);
  pai__req_update(s, req);
}

static int start_one(pai_sched *s, uint32_t run)
{
  const pai__run *x = pai__run_at(s, run);
  uint32_t req = x->req;
  int rc;

  if (pai__flat_reserve(&s->decisions, &s->alloc, 1) < 0 ||
      pai__slots_number(s, pai__req_at(s, x->req), x) < 0)
    return PAI_ENOMEM;
  rc = pass(s, run);
  if (rc < 0) {
    drop_claim(s, run, true);
    return pai__set_aside(s, req, rc);
  }
  unclaim(s, run);
  begin(s, run);
  return PAI_OK;
}

int pai__start_claimed(pai_sched *s)
{
  int rc = PAI_OK;

  for (uint32_t i = 0; i < s->claims.len && rc == PAI_OK;) {
    uint32_t run = ((uint32_t *)s->claims.data)[i];
    int due = is_due(s, pai__run_at(s, run));

    if (due > 0)
      rc = start_one(s, run);
    else if (due < 0)
      drop_claim(s, run, false);
    else
      i++;
  }
  return rc;
}

/* --- the end -------------------------------------------------------------- */

int pai__stop(pai_sched *s, uint32_t run, int cause, uint64_t by)
{
  pai__run *x = pai__run_at(s, run);

  if (x->state == PAI__RUN_CLAIMED) {
    pai__release(s, run);
    pai__req_update(s, x->req);
    return PAI_OK;
  }
  if (x->state == PAI__RUN_STOPPING)
    return PAI_OK;
  if (pai__flat_reserve(&s->decisions, &s->alloc, 1) < 0)
    return PAI_ENOMEM;
  x->state = PAI__RUN_STOPPING;
  x->cause = (uint8_t)cause;
  x->by = by;
  pai__decide(s, x, PAI_DECISION_STOP);
  return PAI_OK;
}

void pai__release(pai_sched *s, uint32_t run)
{
  bool claimed = pai__run_at(s, run)->state == PAI__RUN_CLAIMED;

  if (claimed)
    unclaim(s, run);
  else
    s->m.nrunning--;
  give(s, run, !claimed);
}
