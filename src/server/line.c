/*
 * line.c - how long a connection may be at what
 *
 * Who sends a byte a minute would have his connection for ever, if that was
 * enough.  So each phase has its time.  Bodies and answers may take longer, as long as enough of them moves.
 * All lines of a phase have equally long, so the oldest is the first to be
 * looked at.
 */
#include "server/door.h"

enum { PROGRESS = 64 << 10 };

static void unlist(pai__line *l)
{
  pai__door *d = l->door;

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

/* Whether its bytes are counted here: how many of an answer have arrived, only
 * the kernel knows, but for a UNIX socket. */
static bool is_counted(const pai__line *l, enum pai__phase phase)
{
  return phase == PAI__BODY || (phase == PAI__SEND && !l->door->remote);
}

/* Not too often, as it is for all lines of the door. */
static void sweep_later(pai__door *d)
{
  const pai_server *s = d->server;
  pai_time delay = s->idle_timeout < s->request_timeout ? s->idle_timeout
                                                        : s->request_timeout;

  if (d->sweeping || d->sweep == NULL)
    return;
  d->sweeping = true;
  pai__timer_start(d->sweep, delay / 4);
}

void pai__line_enter(pai__line *l, enum pai__phase phase)
{
  pai__door *d;

  if (l == NULL)
    return;
  d = l->door;
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

void pai__line_moved(pai__line *l, size_t bytes)
{
  if (l != NULL)
    l->moved += bytes;
}

pai__line *pai__line_new(pai__door *door, int fd)
{
  pai__line *l = pai__zalloc(&door->server->alloc, sizeof(*l));

  if (l == NULL)
    return NULL;
  l->door = door;
  l->fd = fd;
  l->phase = PAI__AWAITED;
  pai__line_enter(l, PAI__IDLE);
  return l;
}

void pai__line_free(pai__line *l)
{
  if (l == NULL)
    return;
  unlist(l);
  pai__free(&l->door->server->alloc, l, sizeof(*l));
}

/* Its connection sees that. */
static void hang_up(pai__line *l)
{
  /* What he does not read shall not wait in the kernel, either. */
  bool drop = l->phase == PAI__SEND;

  unlist(l);
  pai__tcp_hang_up(l->fd, drop);
}

/* Whether enough was moved since it was last looked at. */
static bool has_moved(pai__line *l)
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

bool pai__lines_sweep(pai__door *d, pai_time now)
{
  bool left = false;

  d->now = now;
  for (int phase = 0; phase < PAI__PHASES; phase++) {
    pai_time limit = limit_of(d->server, (enum pai__phase)phase);
    pai__line *l;
    while ((l = d->phases[phase].first) != NULL && now - l->since >= limit)
      if (has_moved(l))
        pai__line_enter(l, l->phase);
      else
        hang_up(l);
    left = left || l != NULL;
  }
  d->sweeping = false;
  if (left)
    sweep_later(d);
  return left;
}

bool pai__lines_drop_idle(pai__door *d)
{
  pai__line *l = d->phases[PAI__IDLE].first;

  /* Who never ends a request's first lines does not keep the others out. */
  if (l == NULL)
    l = d->phases[PAI__HEAD].first;
  if (l == NULL)
    return false;
  hang_up(l);
  return true;
}
