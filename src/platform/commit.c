/*
 * commit.c - commits of recorded changes to the database
 *
 * One commit is under way at a time, on libuv's threads; changes meanwhile are
 * collected for the next one.  A commit that fails is tried again with the same
 * changes.  Until it succeeds nothing goes on that has to be durable: no job is
 * accepted or started, and nothing is reported.  Jobs that were not durable
 * before are withdrawn.
 */
#include "platform/files/code.h"
#include "platform/follow.h"
#include "platform/place/placing.h"
#include "platform/records/record.h"
#include "platform/sched_file.h"
#include "platform/place/vcs.h"

#include <inttypes.h>
#include <stdio.h>

enum {
  MANY = 32, /* waiting syncs with which a commit begins before the step */
  SOME = 8, /* waiting syncs with which it begins right after another commit */
  SNAPSHOT = 1 << 16, /* least bytes of log between two snapshots */
  FIRST_DELAY = 100000,
  LAST_DELAY = 30000000,
  LAST_TRIES = 5 /* of a platform that closes */
};

struct pai__sync {
  pai__sync *next;
  uint64_t commit; /* number of the commit that has to be done */
  pai_sync_cb cb;
  void *user_data;
};

/* --- syncs ---------------------------------------------------------------- */

static bool is_dirty(const pai_platform *p)
{
  return p->lists[PAI__CHANGED].first != NULL || p->lines.len != 0 ||
         p->incomplete || p->vcs->changed || !pai__batch_is_empty(p->batch);
}

/* Tells whether enough syncs wait for a commit that has not begun. */
static bool some_wait(const pai_platform *p)
{
  size_t n = 0;

  for (const pai__sync *s = p->syncs; s != NULL && n < SOME; s = s->next)
    n++;
  return n >= SOME;
}

int pai_platform_sync(pai_platform *p, pai_sync_cb cb, void *user_data)
{
  pai__sync **at, *s;
  size_t n = 0;

  PAI__CHECK_ARG(p != NULL && cb != NULL);
  PAI__CHECK_PROCESS(p, NULL);
  s = pai__zalloc(&p->alloc, sizeof(*s));
  if (s == NULL)
    return PAI_ENOMEM;
  s->cb = cb;
  s->user_data = user_data;
  s->commit = p->commits;
  if (p->store != NULL && (!p->committing || p->tidying || is_dirty(p)))
    s->commit++;
  for (at = &p->syncs; *at != NULL; n++)
    at = &(*at)->next;
  *at = s;
  pai__platform_hurry(p);
  if (n + 1 >= MANY)
    pai__platform_record_now(p);
  return PAI_OK;
}

/* Calls back for syncs that wait for no later commit than `last`. */
static void call_syncs(pai_platform *p, uint64_t last, int status)
{
  pai__sync *end = NULL, *s;

  for (s = p->syncs; s != NULL && s->commit <= last; s = s->next)
    end = s;
  while (end != NULL && (s = p->syncs) != NULL) {
    pai__sync call = *s;
    bool was_last = s == end;

    p->syncs = s->next;
    pai__free(&p->alloc, s, sizeof(*s));
    call.cb(call.user_data, status, status < 0 ? p->trouble : NULL);
    if (was_last)
      break;
  }
}

void pai__commit_told(pai_platform *p)
{
  bool nothing_left =
    p->store == NULL || ((!p->committing || p->tidying) && !is_dirty(p));

  /* On a full disk all callers wait for a removal under way: after openpai rm
   * the next job must find room. */
  if (p->full && pai__code_is_removing(p))
    return;
  if (p->lost)
    call_syncs(p, UINT64_MAX, p->trouble_rc < 0 ? p->trouble_rc : PAI_ENOMEM);
  else
    call_syncs(p, nothing_left ? UINT64_MAX : p->commits, PAI_OK);
}

void pai__commit_refuse(pai_platform *p)
{
  if (p->failing)
    call_syncs(p, UINT64_MAX, p->trouble_rc);
}

/* --- the scheduler's log -------------------------------------------------- */

static int on_line(void *user_data, const char *bytes, size_t len)
{
  pai_platform *p = user_data;

  pai__buf_add(&p->lines, bytes, len);
  if (!p->beginning)
    pai__followers_line(p, bytes, len);
  p->unheard = !pai__buf_ok(&p->lines);
  return p->unheard ? PAI_ENOMEM : PAI_OK;
}

/* Begins the log at the present state; the lines are then a snapshot. */
static int begin_log(pai_platform *p)
{
  int rc;

  pai__buf_clear(&p->lines);
  if (p->unheard)
    pai__followers_miss(p);
  p->beginning = true;
  rc = pai_sched_set_log(p->sched, on_line, p, NULL);
  p->beginning = false;
  p->unlogged = p->unheard = rc < 0;
  return rc;
}

static int take_lines(pai_platform *p)
{
  size_t most = p->snapshot > SNAPSHOT / 2 ? 2 * p->snapshot : SNAPSHOT;
  int rc = PAI_OK;

  if (!pai__buf_ok(&p->lines))
    p->unlogged = p->sched_file_gap = true;
  if (p->unlogged || p->logged + p->lines.len > most) {
    pai__sched_file_add(p, p->lines.data, p->lines.len);
    rc = begin_log(p);
    p->sched_file_gap |= rc < 0;
    if (rc == PAI_OK)
      rc = pai__batch_put_snapshot(p->batch, p->lines.data, p->lines.len);
    p->unlogged = rc < 0;
    if (rc == PAI_OK) {
      pai__sched_file_snapshot(p, p->lines.data, p->lines.len);
      p->snapshot = p->lines.len;
      p->logged = 0;
    }
  } else if (p->lines.len != 0) {
    rc = pai__batch_put_log(p->batch, p->lines.data, p->lines.len);
    if (rc == PAI_OK) {
      pai__sched_file_add(p, p->lines.data, p->lines.len);
      p->logged += p->lines.len;
    }
  }
  if (rc == PAI_OK)
    pai__buf_clear(&p->lines);
  return rc;
}

/* --- committing ----------------------------------------------------------- */

static void run_commit(void *user_data)
{
  pai_platform *p = user_data;
  pai_time begun = pai__loop_time();

  pai__fork_hold();
  if (p->tidying)
    p->commit_rc = pai__store_tidy(p->store, &p->commit_err);
  else
    p->commit_rc = pai__store_commit(p->store, p->flight, &p->commit_err);
  p->reserve_fell = !pai__store_reserve(p->store);
  pai__fork_release();
  p->commit_took = pai__loop_time() - begun;
}

static void try_commit(void *user_data)
{
  pai_platform *p = user_data;

  pai_error_free(p->commit_err);
  p->commit_err = NULL;
  p->counts.begun = pai__loop_time();
  pai__work_start(p->commit);
}

/* A platform that closes does not wait for a disk or memory for ever. */
static void give_up(pai_platform *p)
{
  pai__log_line(
    &p->log, PAI_LOG_ERROR,
    "closing: the last changes could not be written to the database");
  p->committing = p->failing = p->incomplete = false;
  pai__batch_clear(p->flight);
  pai__batch_clear(p->batch);
  pai__buf_clear(&p->lines);
  while (pai__platform_pop(p, PAI__RECORDED) != NULL)
    ;
  while (pai__platform_pop(p, PAI__CHANGED) != NULL)
    ;
  p->lost = true;
  pai__loop_step_ask(p->kick);
}

/* Overwrites removed secrets and jobs in the database.  A failure is not tried
 * again before the next removal. */
static void tidy(pai_platform *p)
{
  p->untidy = false;
  p->tidying = true;
  p->committing = true;
  try_commit(p);
}

bool pai__commit_begin(pai_platform *p, bool whole)
{
  pai__batch *full = p->batch;

  if (p->lost)
    return false;
  if (take_lines(p) < 0 || pai__vcs_record(p) < 0)
    whole = false;
  p->incomplete = !whole;
  p->stalls = whole ? 0 : p->stalls + 1;
  if (!whole) { /* changes of one step are committed together or not at all */
    if (p->closing && p->stalls >= LAST_TRIES)
      give_up(p);
    else
      pai__timer_start(p->again, p->closing ? FIRST_DELAY / 10 : FIRST_DELAY);
    return true;
  }
  if (pai__batch_is_empty(p->batch)) {
    if (p->untidy && !p->closing)
      tidy(p);
    return false;
  }
  p->batch = p->flight;
  p->flight = full;
  p->commits++;
  p->committing = true;
  p->tries = 0;
  try_commit(p);
  return true;
}

/* Withdraws jobs that are not durable: their submission was not confirmed. */
static void withdraw(pai_platform *p)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    pai__pjob *j = e->value;

    if (!j->fresh)
      continue;
    (void)pai__batch_drop_job(j->commit == p->commits ? p->flight : p->batch,
                              j->id);
    pai__platform_withdraw(j);
  }
}

static void on_failed(pai_platform *p)
{
  const char *help = pai_error_help(p->commit_err);

  pai_error_free(p->trouble);
  p->trouble = p->commit_err;
  p->trouble_rc = p->commit_rc;
  p->commit_err = NULL;
  p->delay = p->failing ? 2 * p->delay : FIRST_DELAY;
  if (p->delay > LAST_DELAY)
    p->delay = LAST_DELAY;
  if (!p->failing)
    pai__log_line(&p->log, PAI_LOG_ERROR,
                  "cannot write the database, jobs wait: %s%s%s",
                  pai_error_message(p->trouble), help != NULL ? "; " : "",
                  help != NULL ? help : "");
  p->failing = true;
  withdraw(p);
  call_syncs(p, UINT64_MAX, p->trouble_rc);
  if (p->closing && ++p->tries >= LAST_TRIES)
    give_up(p);
  else
    pai__timer_start(p->again, p->delay);
}

static void on_tidied(pai_platform *p)
{
  if (p->commit_rc < 0)
    pai__log_line(&p->log, PAI_LOG_WARNING, "cannot clean up the database: %s",
                  pai_error_message(p->commit_err));
  p->tidying = p->committing = false;
  pai__loop_step_ask(p->kick);
}

/* On a full disk there is a reserve for the ends and the removal of jobs.  New
 * jobs would use it up. */
static void note_reserve(pai_platform *p, bool full)
{
  if (full && !p->full)
    pai__log_line(
      &p->log, PAI_LOG_ERROR,
      "the disk of %s is full: no job is accepted or started until there is "
      "free space; openpai stop and openpai rm work",
      p->root);
  else if (!full && p->full)
    pai__log_line(&p->log, PAI_LOG_INFO, "the disk of %s has room again",
                  p->root);
  p->full = full;
}

bool pai__commit_disk_is_full(pai_platform *p)
{
  if (p->full) /* beside a commit as well: both only allocate blocks */
    note_reserve(p, !pai__store_reserve(p->store));
  return p->full;
}

static void on_committed(void *user_data)
{
  pai_platform *p = user_data;

  if (p->tidying) {
    on_tidied(p);
    return;
  }
  p->counts.commit_us += pai__loop_time() - p->counts.begun;
  p->counts.commit_failures += p->commit_rc < 0;
  if (p->commit_rc < 0) {
    on_failed(p);
    return;
  }
  p->counts.commits++;
  if (p->failing)
    pai__log_line(&p->log, PAI_LOG_INFO, "the database can be written again");
  note_reserve(p, p->reserve_fell);
  pai__store_committed(p->store, p->flight);
  pai__batch_clear(p->flight);
  p->committing = p->failing = false;
  if (pai__batch_is_empty(p->batch))
    pai__map_dispose(&p->dropped); /* leaves an empty, usable map */
  pai__platform_durable(p);
  pai__loop_step_ask(p->kick);
  if (some_wait(p)) /* answers are sent while the commit is under way */
    pai__platform_record_now(p);
}

static void on_again(void *user_data)
{
  pai_platform *p = user_data;

  if (p->failing)
    try_commit(p);
  else
    pai__platform_hurry(p);
}

static void on_lazy(void *user_data)
{
  pai__platform_hurry(user_data);
}

bool pai__commit_is_idle(const pai_platform *p)
{
  return p->store == NULL || p->lost || !is_dirty(p);
}

/* Records facts for the next platform of this root. */
static int put_metas(pai_platform *p)
{
  char seed[20];

  if (p->uid_seed == 0)
    p->uid_seed = pai__loop_seed();
  (void)snprintf(seed, sizeof(seed), "%" PRIx64, p->uid_seed);
  return pai__batch_put_meta(p->batch, "uid", seed) < 0
           ? PAI_ENOMEM
           : pai__batch_put_meta(p->batch, "boot", p->boot);
}

int pai__commit_open(pai_platform *p, pai_error **err)
{
  int rc = pai__batch_new(&p->batch, p->store, err);

  if (rc == PAI_OK)
    rc = pai__batch_new(&p->flight, p->store, err);
  if (rc < 0)
    return rc;
  if (pai__work_new(&p->commit, &p->alloc, p->loop, run_commit, on_committed,
                    p) < 0 ||
      pai__timer_new(&p->again, &p->alloc, p->loop, on_again, p) < 0 ||
      pai__timer_new(&p->lazy, &p->alloc, p->loop, on_lazy, p) < 0 ||
      put_metas(p) < 0)
    return pai__oom(err);
  /* A new scheduler has no time yet; its log is to begin with now. */
  rc = pai__placing_tell(p, &(pai_sched_event){ .kind = PAI_SCHED_TIME }, err);
  if (rc < 0)
    return rc;
  if (begin_log(p) < 0)
    return pai__oom(err);
  pai__sched_file_open(p);
  pai__sched_file_snapshot(p, p->lines.data, p->lines.len);
  pai__buf_clear(&p->lines);
  p->unlogged = true; /* the first lines in the database are a snapshot */
  return PAI_OK;
}

void pai__commit_close(pai_platform *p)
{
  pai__sched_file_close(p);
  call_syncs(p, UINT64_MAX, PAI_ECANCELED);
  pai__work_close(p->commit);
  pai__timer_close(p->again);
  pai__timer_close(p->lazy);
  pai__batch_free(p->batch);
  pai__batch_free(p->flight);
  pai__buf_dispose(&p->lines);
  pai_error_free(p->commit_err);
  pai_error_free(p->trouble);
  p->commit_err = p->trouble = NULL;
}
