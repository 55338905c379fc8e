/* listen.c - listeners of a platform's events */
#include "platform/listen.h"

struct pai_listener {
  pai_platform *platform;
  pai_listener *next;
  pai_job_id job; /* 0: events of all jobs */
  pai_event_cb cb;
  void *user_data;
  bool ended; /* freed when no listener is being called */
};

int pai_platform_listen(pai_listener **out, pai_platform *p, pai_job_id job,
                        pai_event_cb cb, void *user_data, pai_error **err)
{
  pai_listener *l;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  l = pai__zalloc(&p->alloc, sizeof(*l));
  if (l == NULL)
    return pai__oom(err);
  *l = (pai_listener){ p, p->listeners, job, cb, user_data, false };
  p->listeners = l;
  *out = l;
  return PAI_OK;
}

static void free_ended(pai_platform *p)
{
  pai_listener **at = &p->listeners, *l;

  while ((l = *at) != NULL)
    if (l->ended) {
      *at = l->next;
      pai__free(&p->alloc, l, sizeof(*l));
    } else
      at = &l->next;
}

void pai_platform_unlisten(pai_listener *l)
{
  if (l == NULL)
    return;
  l->ended = true;
  if (l->platform->hearing == 0)
    free_ended(l->platform);
}

void pai__listeners_hear(pai_platform *p, const pai_event *event)
{
  p->hearing++;
  for (pai_listener *l = p->listeners; l != NULL; l = l->next)
    if (!l->ended && (l->job == 0 || l->job == event->job))
      (void)l->cb(l->user_data, event);
  if (--p->hearing == 0)
    free_ended(p);
}

void pai__listeners_free(pai_platform *p)
{
  for (pai_listener *l = p->listeners; l != NULL; l = l->next)
    l->ended = true;
  free_ended(p);
}
