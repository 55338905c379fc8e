/*
 * follow.c - followers of a platform's scheduler log, and promises of
 * durability
 *
 * A script may free a follower in any thread, and must not wait there for the
 * thread that has the platform. In that case the platform's thread detaches
 * the follower.
 */
#include "facade_platform.h"

#include <stdlib.h>
#include <string.h>

/* --- followers ---------------------------------------------------------------- */

struct Follower {
  _Atomic(Platform *) platform; /* NULL: the platform was freed */
  atomic_int users;             /* references: the platform and the script */
  Follower *next;
  pai_follower *follower;
};

Follower *facade_follow(Platform *p, failure *f)
{
  Follower *w;

  if (!platform_take(p, f))
    return NULL;
  w = calloc(1, sizeof(*w));
  if (w == NULL)
    facade_fail(f, PAI_ENOMEM, "out of memory");
  else
    f->code = pai_platform_follow(&w->follower, p->platform, &f->err);
  if (f->code < 0) {
    free(w);
    w = NULL;
  } else {
    atomic_store(&w->platform, p);
    atomic_store(&w->users, 2);
    w->next = p->followers;
    p->followers = w;
  }
  platform_give(p);
  return w;
}

/* The last caller has the platform locked, unless the platform is freed. */
static void leave(Follower *w)
{
  if (atomic_fetch_sub(&w->users, 1) > 1)
    return;
  pai_platform_unfollow(w->follower);
  free(w);
}

static void detach(Follower *w)
{
  Follower **at = &atomic_load(&w->platform)->followers;

  while (*at != w)
    at = &(*at)->next;
  *at = w->next;
  atomic_store(&w->platform, NULL);
  leave(w);
}

void followers_leave(Platform *p)
{
  while (p->followers != NULL)
    detach(p->followers);
}

void followers_forget(Platform *p)
{
  for (Follower *w = p->followers, *next; w != NULL; w = next) {
    next = w->next;
    if (atomic_load(&w->users) == 1)
      detach(w);
  }
}

void facade_follow_free(Follower *w)
{
  Platform *p = atomic_load(&w->platform);
  bool taken = p != NULL && pthread_mutex_trylock(&p->owner) == 0;

  if (taken && atomic_load(&w->platform) != NULL)
    detach(w);
  leave(w);
  if (taken)
    (void)pthread_mutex_unlock(&p->owner);
}

job_text facade_follow_read(Follower *w, failure *f)
{
  job_text t = { NULL, 0 };
  Platform *p = atomic_load(&w->platform);
  bool open = p != NULL && !facade_is_closed(p);
  int rc = facade_collect(&t, "", 0);

  if (rc < 0) {
    facade_fail(f, rc, "out of memory");
    return facade_finished(t, f);
  }
  if (open && !platform_take(p, f)) {
    free(t.bytes);
    return (job_text){ NULL, 0 };
  }
  rc = pai_follower_read(w->follower, facade_collect, &t, &f->err);
  f->code = rc < 0 ? rc : PAI_OK;
  if (open)
    platform_give(p);
  return facade_finished(t, f);
}

/* --- promises ------------------------------------------------------------------- */

/* Shared by the script and the platform, which calls back once, in any
 * thread. */
struct Promise {
  atomic_int refs;
  atomic_bool over;
  failure failed;
};

void facade_promise_free(Promise *w)
{
  if (atomic_fetch_sub(&w->refs, 1) > 1)
    return;
  facade_failure_dispose(&w->failed);
  free(w);
}

static void on_durable(void *user_data, int status, const pai_error *err)
{
  Promise *w = user_data;

  if (status < 0)
    facade_keep(&w->failed, status, err);
  atomic_store(&w->over, true);
  facade_promise_free(w);
}

Promise *facade_promise(Platform *p, failure *f)
{
  Promise *w;

  if (!platform_take(p, f))
    return NULL;
  w = calloc(1, sizeof(*w));
  if (w != NULL)
    atomic_init(&w->refs, 2);
  if (w == NULL || pai_platform_sync(p->platform, on_durable, w) < 0) {
    free(w);
    w = NULL;
    facade_fail(f, PAI_ENOMEM, "out of memory");
  }
  platform_give(p);
  return w;
}

int facade_promise_state(const Promise *w)
{
  return atomic_load(&w->over);
}

void facade_promise_take(const Promise *w, failure *f)
{
  if (!atomic_load(&w->over)) {
    facade_fail(f, PAI_EBUSY, "it is not known yet");
  } else if (w->failed.code < 0) {
    facade_fail_as(f, &w->failed);
  }
}
