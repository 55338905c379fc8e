/* facade_follow.c - who follows a platform's scheduler; what is to be durable */
#include "facade_platform.h"

#include <stdlib.h>
#include <string.h>

/* --- followers ---------------------------------------------------------------- */

struct Follower {
  Platform *platform; /* NULL: it was freed */
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
    w->platform = p;
    w->next = p->followers;
    p->followers = w;
  }
  platform_give(p);
  return w;
}

void followers_leave(Platform *p)
{
  while (p->followers != NULL) {
    Follower *w = p->followers;

    p->followers = w->next;
    w->platform = NULL;
  }
}

/* A script may forget it in any thread. */
void facade_follow_free(Follower *w)
{
  Platform *p = w->platform;
  Follower **at;

  if (p == NULL) {
    pai_platform_unfollow(w->follower);
  } else {
    (void)pthread_mutex_lock(&p->owner);
    for (at = &p->followers; *at != w; at = &(*at)->next) {
    }
    *at = w->next;
    pai_platform_unfollow(w->follower);
    (void)pthread_mutex_unlock(&p->owner);
  }
  free(w);
}

job_text facade_follow_read(Follower *w, failure *f)
{
  job_text t = { NULL, 0 };
  bool open = w->platform != NULL && !facade_is_closed(w->platform);
  int rc = facade_collect(&t, "", 0);

  if (rc == PAI_OK && open && !platform_take(w->platform, f)) {
    free(t.bytes);
    return (job_text){ NULL, 0 };
  }
  if (rc == PAI_OK)
    rc = pai_follower_read(w->follower, facade_collect, &t, &f->err);
  else
    facade_fail(f, rc, "out of memory");
  f->code = rc < 0 ? rc : PAI_OK;
  if (open)
    platform_give(w->platform);
  return facade_finished(t, f);
}

/* --- promises ------------------------------------------------------------------- */

/* Of who has asked, and of the platform, which answers once, in any thread. */
struct Promise {
  atomic_int refs;
  atomic_bool over;
  int status;
  char *text;
};

void facade_promise_free(Promise *w)
{
  if (atomic_fetch_sub(&w->refs, 1) > 1)
    return;
  free(w->text);
  free(w);
}

static void on_durable(void *user_data, int status, const pai_error *err)
{
  Promise *w = user_data;

  w->status = status;
  if (status < 0)
    w->text = strdup(pai_error_message(err));
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
  } else if (w->status < 0) {
    f->code = w->status;
    f->made = w->text != NULL ? strdup(w->text) : NULL;
  }
}
