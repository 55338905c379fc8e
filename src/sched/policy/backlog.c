/* backlog.c - waiting requests in groups, such as virtual clusters or users,
 * from which the policy picks the next */
#include "sched/policy/waiters.h"

/* First waiter of a line, from i on, that may begin. */
static uint32_t first_of(const pai__backlog *b, uint32_t i)
{
  const pai__waiters *w = b->lines;

  i = pai__waiters_first(w, b->s, i);
  while (i != PAI__NONE && b->each &&
         !pai__is_looked_at(b->s, pai__waiter_at(w, i)->req))
    i = pai__waiters_first(w, b->s, pai__waiter_at(w, i)->next);
  return i;
}

int pai__backlog_begin(pai__backlog *b, pai_sched *s, pai__waiters *w,
                       bool each)
{
  int rc = pai__waiters_ready(w, s);

  *b = (pai__backlog){ .s = s, .lines = w, .each = each || rc == 0 };
  if (rc >= 0)
    rc = pai__waiters_line_up(w, s);
  if (rc < 0 || b->each)
    return rc;
  pai__alike_begin(s, w->alike);
  s->effort += w->heads.len - (uint64_t)s->m.nqueued;
  return PAI_OK;
}

int pai__backlog_fill(pai__backlog *b, void *ctx,
                      uint32_t (*group_of)(void *ctx, const pai__req *r),
                      pai__pending *(*pending_of)(void *ctx, uint32_t group))
{
  const uint32_t *heads = b->lines->heads.data;

  for (uint32_t i = 0; i < b->lines->heads.len; i++) {
    uint32_t head = first_of(b, heads[i]), group;
    const pai__req *r;
    pai__pending *p;

    if (head == PAI__NONE)
      continue;
    r = pai__req_at(b->s, pai__waiter_at(b->lines, head)->req);
    group = group_of(ctx, r);
    if (group == PAI__NONE)
      return PAI_ENOMEM;
    p = pending_of(ctx, group);
    *(r->priority < 0 ? &p->end : &p->at) = head;
  }
  return PAI_OK;
}

static uint32_t *line_of(pai__pending *p)
{
  return p->at != PAI__NONE ? &p->at : &p->end;
}

void pai__backlog_pass(const pai__backlog *b, pai__pending *p)
{
  *line_of(p) = first_of(b, pai__waiter_at(b->lines, *line_of(p))->next);
}

int pai__backlog_pass_all(const pai__backlog *b, pai__pending *p)
{
  uint32_t req = pai__backlog_head(b, p)->req, *line = line_of(p);
  pai__sched_reason reason = pai__no_reason;

  if (b->each) {
    while ((*line = first_of(b, pai__waiter_at(b->lines, *line)->next)) !=
           PAI__NONE)
      pai__refuse_turn(b->s, pai__waiter_at(b->lines, *line)->req, req);
    return PAI_OK;
  }
  *line = PAI__NONE;
  reason.lack = PAI_LACK_TURN;
  reason.behind = pai__req_at(b->s, req)->id;
  return pai__alike_refuse(b->s, req, &reason);
}
