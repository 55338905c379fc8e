/*
 * logs.c - readers of job logs
 *
 * Data is kept until it is taken. A reader with much data is paused, so that a
 * log that nobody reads costs little memory.
 *
 * A script may free a reader in any thread, and must not wait there for the
 * thread that has the platform. In that case the platform's thread closes the
 * reader.
 */
#include "facade_platform.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

enum { MUCH = 256 << 10, LITTLE = 64 << 10 };

/* The lock of the platform guards all members that are not atomic. */
struct LogReader {
  _Atomic(Platform *) platform; /* NULL: closed */
  atomic_int users;             /* references: the platform and the script */
  LogReader *next;
  pai_log_reader *reader;
  char *bytes;
  size_t len, cap;
  bool paused, over;
  int status;
};

typedef struct log_wish {
  int attempt, retry, follow;
  const char *role, *name;
  uint32_t index;
  pai_time offset, tail, since; /* tail: lines; -1: not given */
  pai_time last;                /* bytes from the end; 0: all */
} log_wish;

static const option log_options[] = { OPTION(log_wish, attempt),
                                      OPTION(log_wish, role),
                                      OPTION(log_wish, index),
                                      OPTION(log_wish, retry),
                                      OPTION(log_wish, name),
                                      OPTION(log_wish, offset),
                                      OPTION(log_wish, tail),
                                      OPTION(log_wish, follow),
                                      OPTION(log_wish, since),
                                      OPTION(log_wish, last),
                                      OPTION_END };

static bool read_wish(pai_log_options *o, const words *fields, failure *f)
{
  log_wish w = { -1, -1, 0, NULL, NULL, 0, 0, -1, 0, 0 };

  if (!options_read(&w, log_options, fields, f))
    return false;
  o->attempt = w.attempt;
  o->role = w.role;
  o->index = w.index;
  o->retry = w.retry;
  o->name = w.name;
  o->offset = w.tail == 0 ? INT64_MAX : w.last > 0 ? -w.last : w.offset;
  o->tail = w.tail > 0 ? (uint64_t)w.tail : 0;
  o->since = w.since;
  o->follow = w.follow;
  return true;
}

static bool keep(LogReader *r, const char *bytes, size_t len)
{
  size_t cap = r->cap > 0 ? r->cap : 4096;
  char *larger;

  while (cap < r->len + len)
    cap *= 2;
  if (cap > r->cap) {
    larger = realloc(r->bytes, cap);
    if (larger == NULL)
      return false;
    r->bytes = larger;
    r->cap = cap;
  }
  memcpy(r->bytes + r->len, bytes, len);
  r->len += len;
  return true;
}

static void on_data(void *user_data, int status, uint64_t offset,
                    const char *bytes, size_t len)
{
  LogReader *r = user_data;

  (void)offset;
  if (len == 0) {
    r->over = true;
    r->status = status;
    return;
  }
  if (!keep(r, bytes, len)) {
    r->over = true;
    r->status = PAI_ENOMEM;
    pai_log_pause(r->reader, 1);
    return;
  }
  if (r->len >= MUCH && !r->paused) {
    r->paused = true;
    pai_log_pause(r->reader, 1);
  }
}

LogReader *facade_log(Platform *p, pai_job_id job, words fields, failure *f)
{
  pai_log_options options = PAI_LOG_OPTIONS_INIT;
  LogReader *r;

  if (!read_wish(&options, &fields, f) || !platform_take(p, f))
    return NULL;
  r = calloc(1, sizeof(*r));
  if (r == NULL)
    facade_fail(f, PAI_ENOMEM, "out of memory");
  else
    f->code = pai_log_open(&r->reader, p->platform, job, &options, on_data, r,
                           &f->err);
  if (f->code < 0) {
    free(r);
    r = NULL;
  } else {
    atomic_store(&r->platform, p);
    atomic_store(&r->users, 2);
    r->next = p->logs;
    p->logs = r;
  }
  platform_give(p);
  return r;
}

static void leave(LogReader *r)
{
  if (atomic_fetch_sub(&r->users, 1) > 1)
    return;
  free(r->bytes);
  free(r);
}

static void detach(LogReader *r)
{
  LogReader **at = &atomic_load(&r->platform)->logs;

  while (*at != r)
    at = &(*at)->next;
  *at = r->next;
  pai_log_close(r->reader);
  r->reader = NULL;
  if (!r->over)
    r->status = PAI_ECANCELED;
  r->over = true;
  atomic_store(&r->platform, NULL);
  leave(r);
}

void logs_close(Platform *p)
{
  while (p->logs != NULL)
    detach(p->logs);
}

void logs_forget(Platform *p)
{
  for (LogReader *r = p->logs, *next; r != NULL; r = next) {
    next = r->next;
    if (atomic_load(&r->users) == 1)
      detach(r);
  }
}

void facade_log_free(LogReader *r)
{
  Platform *p = atomic_load(&r->platform);

  if (p != NULL && pthread_mutex_trylock(&p->owner) == 0) {
    if (atomic_load(&r->platform) != NULL)
      detach(r);
    (void)pthread_mutex_unlock(&p->owner);
  }
  leave(r);
}

static log_bytes take(LogReader *r, failure *f)
{
  log_bytes taken = { r->bytes, r->len };

  if (r->len == 0 && r->over && r->status < 0) {
    facade_fail(f, r->status,
                r->status == PAI_ECANCELED
                  ? "the log was not read to its end: its platform is closed"
                  : "the log broke off");
    r->status = PAI_OK;
    return taken;
  }
  r->bytes = NULL;
  r->len = r->cap = 0;
  if (r->paused && r->reader != NULL) {
    r->paused = false;
    pai_log_pause(r->reader, 0);
  }
  return taken;
}

log_bytes facade_log_take(LogReader *r, failure *f)
{
  Platform *p = atomic_load(&r->platform);
  log_bytes taken = { NULL, 0 };

  if (p != NULL && !platform_take(p, f))
    return taken;
  taken = take(r, f);
  if (p != NULL)
    platform_give(p);
  return taken;
}

static int state_of(const LogReader *r)
{
  if (r->len > 0 || r->status < 0)
    return 1;
  return r->over ? -1 : 0;
}

int facade_log_state(LogReader *r)
{
  Platform *p = atomic_load(&r->platform);
  int state;

  if (p != NULL && pthread_mutex_trylock(&p->owner) != 0)
    return 0; /* the thread with the platform brings more */
  state = state_of(r);
  if (p != NULL)
    (void)pthread_mutex_unlock(&p->owner);
  return state;
}
