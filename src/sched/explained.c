/* explained.c - what was told of requests at the present state */
#include "sched/explained.h"

#include "sched/policy.h"

enum { MOST = 64 };

static pai__explanation *at(const struct pai__explained *x, uint32_t i)
{
  return (pai__explanation *)x->list.data + i;
}

static void forget_all(const pai_sched *s, struct pai__explained *x)
{
  for (uint32_t i = 0; i < x->list.len; i++) {
    pai__strfree(&s->alloc, at(x, i)->text);
    pai__strfree(&s->alloc, at(x, i)->json);
  }
  x->list.len = 0;
}

int pai__explained_new(pai_sched *s)
{
  s->explained = pai__zalloc(&s->alloc, sizeof(*s->explained));
  if (s->explained == NULL)
    return PAI_ENOMEM;
  pai__flat_init(&s->explained->list, sizeof(pai__explanation));
  return PAI_OK;
}

void pai__explained_free(pai_sched *s)
{
  if (s->explained == NULL)
    return;
  forget_all(s, s->explained);
  pai__flat_dispose(&s->explained->list, &s->alloc);
  pai__free(&s->alloc, s->explained, sizeof(*s->explained));
}

/* A caller's own policy may go by what this scheduler does not know of. */
static bool keeps(const pai_sched *s)
{
  return s->explained != NULL && pai__policy_is_builtin(s);
}

const pai__explanation *pai__explained_find(const pai_sched *s, uint64_t id)
{
  const struct pai__explained *x = s->explained;

  if (!keeps(s) || x->events != s->m.events)
    return NULL;
  for (uint32_t i = 0; i < x->list.len; i++)
    if (at(x, i)->id == id)
      return at(x, i);
  return NULL;
}

void pai__explained_keep(const pai_sched *s, uint64_t id, const char *text,
                         const char *json)
{
  struct pai__explained *x = s->explained;
  pai__explanation e = { .id = id };

  if (!keeps(s))
    return;
  if (x->events != s->m.events || x->list.len == MOST)
    forget_all(s, x);
  x->events = s->m.events;
  e.text = pai__strdup(&s->alloc, text);
  e.json = pai__strdup(&s->alloc, json);
  if (e.text != NULL && e.json != NULL &&
      pai__flat_reserve(&x->list, &s->alloc, 1) == PAI_OK) {
    *at(x, pai__flat_push(&x->list, 1)) = e;
    return;
  }
  pai__strfree(&s->alloc, e.text);
  pai__strfree(&s->alloc, e.json);
}
