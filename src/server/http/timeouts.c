/*
 * timeouts.c - time limits of connections
 *
 * A client that sends a byte a minute must not keep its connection for ever.
 * So each phase has a time limit.  Bodies and answers may take longer, as long
 * as enough bytes move.  All connections of a phase have the same limit, so
 * the oldest one is checked first.
 */
#include "server/http/listener.h"

enum { PROGRESS = 64 << 10 };

static void unlist(pai__server_deadline *l)
{
  pai__server_listener *d = l->listener;

  if (l->phase == PAI__AWAITED)
    return;
  if (l->before != NULL)
    l->before->after = l->after;
  else
    d->phases[l->phase].first = l->after;
  if (l->after != NULL)
    l->after->before = l->before;
  else
    d->phases[l->phase].last = l->before;
  l->before = l->after = NULL;
  l->phase = PAI__AWAITED;
}

static pai_time limit_of(const pai_server *s, enum pai__phase phase)
{
  return phase == PAI__IDLE ? s->idle_timeout : s->request_timeout;
}

/* Returns whether sent or received bytes are counted here.  How much of an
 * answer has arrived over TCP only the kernel knows. */
static bool is_counted(const pai__server_deadline *l, enum pai__phase phase)
{
  return phase == PAI__BODY || (phase == PAI__SEND && !l->listener->remote);
}

/* Not too often, as a sweep covers all connections of the listener. */
static void sweep_later(pai__server_listener *d)
{
  const pai_server *s = d->server;
  pai_time delay = s->idle_timeout < s->request_timeout ? s->idle_timeout
                                                        : s->request_timeout;

  if (d->sweeping || d->sweep == NULL)
    return;
  d->sweeping = true;
  pai__timer_start(d->sweep, delay / 4);
}

void pai__server_deadline_enter(pai__server_deadline *l, enum pai__phase phase)
{
  pai__server_listener *d;

  if (l == NULL)
    return;
  d = l->listener;
  if (phase != l->phase)
    l->mark = is_counted(l, phase) ? l->moved : 0;
  unlist(l);
  l->phase = phase;
  if (phase == PAI__AWAITED)
    return;
  l->since = d->now;
  l->before = d->phases[phase].last;
  if (l->before != NULL)
    l->before->after = l;
  else
    d->phases[phase].first = l;
  d->phases[phase].last = l;
  sweep_later(d);
}

void pai__server_deadline_moved(pai__server_deadline *l, size_t bytes)
{
  if (l != NULL)
    l->moved += bytes;
}

pai__server_deadline *pai__server_deadline_new(pai__server_listener *listener,
                                               int fd)
{
  pai__server_deadline *l = pai__zalloc(&listener->server->alloc, sizeof(*l));

  if (l == NULL)
    return NULL;
  l->listener = listener;
  l->fd = fd;
  l->phase = PAI__AWAITED;
  pai__server_deadline_enter(l, PAI__IDLE);
  return l;
}

void pai__server_deadline_free(pai__server_deadline *l)
{
  if (l == NULL)
    return;
  unlist(l);
  pai__free(&l->listener->server->alloc, l, sizeof(*l));
}

/* The connection notices that its socket is shut down. */
static void hang_up(pai__server_deadline *l)
{
  /* Unsent bytes of a client that does not read are dropped. */
  bool drop = l->phase == PAI__SEND;

  unlist(l);
  pai__tcp_hang_up(l->fd, drop);
}

/* Returns whether enough bytes moved since the last check. */
static bool has_moved(pai__server_deadline *l)
{
  uint64_t moved;

  if (l->phase != PAI__BODY && l->phase != PAI__SEND)
    return false;
  moved = is_counted(l, l->phase) ? l->moved : pai__tcp_sent(l->fd);
  if (moved - l->mark < PROGRESS)
    return false;
  l->mark = moved;
  return true;
}

bool pai__server_deadlines_sweep(pai__server_listener *d, pai_time now)
{
  bool left = false;

  d->now = now;
  for (int phase = 0; phase < PAI__PHASES; phase++) {
    pai_time limit = limit_of(d->server, (enum pai__phase)phase);
    pai__server_deadline *l;
    while ((l = d->phases[phase].first) != NULL && now - l->since >= limit)
      if (has_moved(l))
        pai__server_deadline_enter(l, l->phase);
      else
        hang_up(l);
    left = left || l != NULL;
  }
  d->sweeping = false;
  if (left)
    sweep_later(d);
  return left;
}

bool pai__server_deadlines_drop_idle(pai__server_listener *d)
{
  pai__server_deadline *l = d->phases[PAI__IDLE].first;

  /* Next, drop a client that never completes its request's head. */
  if (l == NULL)
    l = d->phases[PAI__HEAD].first;
  if (l == NULL)
    return false;
  hang_up(l);
  return true;
}
