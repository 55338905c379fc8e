/* series.c - how much there was of what, over time */
#include "sim/series.h"

#include "sim/scale.h"

enum { FIRST_WIDTH = 1000000 };

void pai__series_begin(pai__series *s, pai_time at)
{
  *s = (pai__series){ .begin = at, .at = at, .width = FIRST_WIDTH };
}

static void add(pai__bin *to, const pai__bin *from)
{
  to->busy = pai__sum(to->busy, from->busy);
  to->up = pai__sum(to->up, from->up);
  to->fragmented = pai__sum(to->fragmented, from->fragmented);
  to->wanted = pai__sum(to->wanted, from->wanted);
  to->waiting = pai__sum(to->waiting, from->waiting);
  to->running = pai__sum(to->running, from->running);
  to->came += from->came;
  to->started += from->started;
  to->ended += from->ended;
  to->preempted += from->preempted;
}

/* Each two become one. */
static void widen(pai__series *s)
{
  for (size_t i = 0; i < PAI__BINS; i++) {
    pai__bin both = s->bins[i];

    s->bins[i] = (pai__bin){ 0 };
    add(&s->bins[i / 2], &both);
  }
  s->width *= 2;
}

static void count(pai__bin *bin, pai_time time, const pai__levels *level)
{
  add(bin, &(pai__bin){ .busy = pai__times(level->busy, time),
                        .up = pai__times(level->up, time),
                        .fragmented = pai__times(level->fragmented, time),
                        .wanted = pai__times(level->wanted, time),
                        .waiting = pai__times(level->waiting, time),
                        .running = pai__times(level->running, time) });
}

static void fit(pai__series *s, pai_time to)
{
  while ((to - s->begin) / s->width >= PAI__BINS)
    widen(s);
}

void pai__series_pass(pai__series *s, pai_time to, const pai__levels *level)
{
  if (s->width == 0 || to <= s->at)
    return;
  fit(s, to);
  while (s->at < to) {
    int64_t i = (s->at - s->begin) / s->width;
    pai_time end = s->begin + (i + 1) * s->width;

    end = end < to ? end : to;
    count(&s->bins[i], end - s->at, level);
    s->at = end;
  }
}

pai__bin *pai__series_bin(pai__series *s)
{
  return &s->bins[(s->at - s->begin) / s->width];
}

size_t pai__series_count(const pai__series *s)
{
  return s->width == 0 ? 0 : (size_t)((s->at - s->begin) / s->width) + 1;
}
