/*
 * step.c - a step of a platform's loop: record, commit, act, notify
 *
 * Persist, then act, then notify.  Events change folds and the scheduler at
 * once.  Actions on tasks, and notifications, wait for the commit.  During a
 * commit nothing is placed and no fold is asked for actions, so that the last
 * recorded state is the durable one.  Without a database everything is durable
 * at once.
 */
#include "platform/accounts.h"
#include "platform/restore/database_copies.h"
#include "platform/files/code.h"
#include "platform/records/estimate.h"
#include "platform/records/why.h"
#include "platform/files/files.h"
#include "platform/files/folders.h"
#include "platform/place/cores.h"
#include "platform/place/gpus.h"
#include "platform/restore/keep.h"
#include "platform/records/record.h"

enum {
  LAZY = 4000, /* microseconds in which changes that are not urgent gather */
  QUICK = 1500 /* microseconds; faster commits are better small and frequent */
};

void pai__platform_put(pai__pjob *j, enum pai__list which)
{
  pai__pjob_list *list = &j->platform->lists[which];

  if (!j->in[which]) {
    j->in[which] = true;
    j->next[which] = NULL;
    if (list->first != NULL)
      list->last->next[which] = j;
    else
      list->first = j;
    list->last = j;
  }
  pai__platform_hurry(j->platform);
}

void pai__platform_hurry(pai_platform *p)
{
  p->urgent = true;
  pai__loop_step_ask(p->kick);
}

pai__pjob *pai__platform_pop(pai_platform *p, enum pai__list which)
{
  pai__pjob_list *list = &p->lists[which];
  pai__pjob *j = list->first;

  if (j != NULL) {
    list->first = j->next[which];
    j->in[which] = false;
  }
  return j;
}

/* --- acting --------------------------------------------------------------- */

/* Gives each ready job one turn of limited length, not to block the loop. */
static void perform(pai_platform *p)
{
  pai__pjob *last = p->lists[PAI__READY].first != NULL
                      ? p->lists[PAI__READY].last
                      : NULL,
            *j = NULL;

  while (j != last) {
    j = pai__platform_pop(p, PAI__READY);
    if (!j->forgotten)
      pai__platform_perform(j);
  }
}

/* --- recording ------------------------------------------------------------ */

static void drive_changed(pai_platform *p)
{
  for (pai__pjob *j = p->lists[PAI__CHANGED].first; j != NULL;
       j = j->next[PAI__CHANGED])
    if (!j->forgotten)
      pai__platform_drive(j);
}

/* False: out of memory; the jobs that are left are recorded later. */
static bool record_changed(pai_platform *p)
{
  bool urgent = p->urgent;
  pai__pjob *j;

  while ((j = p->lists[PAI__CHANGED].first) != NULL) {
    if (!j->forgotten) {
      pai__platform_note(j);
      if (p->store != NULL && !p->lost && pai__record_job(j) < 0)
        return false;
      pai__platform_put(j, PAI__RECORDED);
    }
    (void)pai__platform_pop(p, PAI__CHANGED);
  }
  p->urgent = urgent; /* pai__platform_put() has set it */
  return true;
}

/* Records all changes.  True: a commit is under way. */
static bool begin_commit(pai_platform *p)
{
  bool whole;

  p->urgent = p->waiting = false;
  drive_changed(p);
  if (!p->closing)
    pai__platform_schedule(p);
  drive_changed(p);
  whole = record_changed(p);
  return p->store != NULL && pai__commit_begin(p, whole);
}

static void record(pai_platform *p)
{
  if (!begin_commit(p))
    pai__platform_durable(p);
}

/* Called within an API call, so it reports nothing; without a commit the step
 * does that.  When many callers wait, two smaller commits keep both this thread
 * and the committing one busy.  On a slow disk one commit of all is better. */
void pai__platform_record_now(pai_platform *p)
{
  if (p->store == NULL || p->committing || p->stepping || p->closing ||
      p->lost || p->failing || p->commit_took > QUICK)
    return;
  if (!begin_commit(p))
    pai__platform_hurry(p);
}

/* --- notifying ------------------------------------------------------------ */

/* The actions on a job's tasks are durable now. */
static void make_ready(pai__pjob *j)
{
  bool some = false;

  for (uint32_t t = 0; t < j->job.ntasks; t++) {
    uint8_t next = j->tasks[t].todo >> PAI__TODO_NEXT;

    j->tasks[t].todo = (uint8_t)((j->tasks[t].todo & PAI__TODO_ALL) | next);
    some |= j->tasks[t].todo != 0;
  }
  if (some)
    pai__platform_put(j, PAI__READY);
}

void pai__platform_durable(pai_platform *p)
{
  pai__pjob *last = p->lists[PAI__RECORDED].first != NULL
                      ? p->lists[PAI__RECORDED].last
                      : NULL,
            *j = NULL;
  bool stepping = p->stepping;

  p->stepping = true;
  while (j != last) {
    j = pai__platform_pop(p, PAI__RECORDED);
    if (j->forgotten)
      continue;
    j->fresh = false;
    pai__platform_tell(j);
    if (j->forgotten)
      continue;
    make_ready(j);
    if (pai__job_has_next(&j->job))
      pai__platform_put(j, PAI__CHANGED);
    else if (p->store != NULL && j->told >= PAI_STATE_SUCCEEDED)
      pai__platform_let_go(j);
  }
  pai__commit_told(p);
  p->stepping = stepping;
}

/* --- ending --------------------------------------------------------------- */

static void free_gone(pai_platform *p)
{
  pai__pjob_list *root_gone = &p->lists[PAI__GONE];
  pai__pjob *last = root_gone->first != NULL ? root_gone->last : NULL,
            *j = NULL;

  while (j != last) {
    j = pai__platform_pop(p, PAI__GONE);
    if (j->in[PAI__CHANGED] || j->in[PAI__RECORDED] || j->in[PAI__READY] ||
        j->in[PAI__PLACED] || j->in[PAI__LOOKING])
      pai__platform_put(j, PAI__GONE);
    else
      pai__platform_free_job(j);
  }
}

static void on_backend_closed(void *user_data)
{
  pai_platform *p = user_data;

  p->backend_closed = true;
  pai__loop_step_ask(p->kick);
}

static void close_backend(pai_platform *p)
{
  const pai__map_entry *e;

  p->backend_closing = true;
  if (!p->leaving)
    for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;)
      if (((pai__pjob *)e->value)->job.state != PAI__JOB_DONE)
        pai__platform_event(e->value, PAI__EV_STOP, 0, 0);
  p->ops->close(p->backend, p->leaving ? PAI_CLOSE_DETACH : PAI_CLOSE_STOP,
                on_backend_closed);
}

/* Tells whether a closing platform has no work left, in any thread. */
static bool is_over(const pai_platform *p)
{
  return p->backend_closed && !p->committing &&
         (p->leaving || p->lists[PAI__READY].first == NULL) &&
         p->lists[PAI__CHANGED].first == NULL &&
         p->lists[PAI__RECORDED].first == NULL && pai__commit_is_idle(p) &&
         pai__gpus_is_idle(p) && pai__cores_is_idle(p) &&
         pai__keep_is_idle(p) && pai__care_is_idle(p) &&
         pai__code_is_idle(p) && pai__listings_are_idle(p) &&
         pai__folders_are_idle(p) && pai__estimates_are_idle(p) &&
         pai__answers_are_idle(p) && pai__accounts_is_idle(p->accounts);
}

static void end(pai_platform *p)
{
  pai_closed_cb closed = p->closed;
  void *closed_data = p->closed_data;

  pai__platform_free(p);
  if (closed != NULL)
    closed(closed_data);
}

/* Tidying waits until there is nothing else to write. */
static bool is_to_be_tidied(const pai_platform *p)
{
  return p->untidy && p->store != NULL && pai__commit_is_idle(p);
}

void pai__platform_step(void *user_data)
{
  pai_platform *p = user_data;

  p->stepping = true;
  if (p->accounts != NULL) {
    if (p->closing)
      pai__accounts_stop(p->accounts);
    pai__accounts_step(p->accounts);
  }
  if (!p->leaving)
    perform(p);
  if (!p->committing &&
      (p->urgent || p->store == NULL || p->closing || is_to_be_tidied(p)))
    record(p);
  else if (!p->committing && !p->waiting && !pai__commit_is_idle(p)) {
    p->waiting = true;
    pai__timer_start(p->lazy, LAZY);
  }
  pai__commit_refuse(p);
  pai__estimates_step(p);
  pai__answers_step(p);
  free_gone(p);
  if (p->closing && !p->backend_closing)
    close_backend(p);
  p->stepping = false;
  if (is_over(p))
    end(p);
}
