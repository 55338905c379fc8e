/* sample_tasks.c - what processes used since the look before, and their groups
 */
#include "resource/sample.h"

#include <stdlib.h>

static int by_pid(const void *a, const void *b)
{
  const pai__task *x = a, *y = b;

  return (x->pid > y->pid) - (x->pid < y->pid);
}

static uint64_t more(uint64_t before, uint64_t now)
{
  return now > before ? now - before : 0;
}

void pai__tasks_compare(pai__tasks *t)
{
  bool sorted = true; /* the kernel lists them by pid */
  size_t b = 0;

  for (size_t i = 1; i < t->now_count && sorted; i++)
    sorted = t->now[i - 1].pid < t->now[i].pid;
  if (!sorted)
    qsort(t->now, t->now_count, sizeof(*t->now), by_pid);
  for (size_t i = 0; i < t->now_count; i++) {
    pai__task *now = &t->now[i];
    const pai__task *old;

    while (b < t->before_count && t->before[b].pid < now->pid)
      b++;
    old = b < t->before_count ? &t->before[b] : NULL;
    if (old != NULL && (old->pid != now->pid || old->started != now->started))
      old = NULL; /* another process had this number */
    now->ticks_more = more(old != NULL ? old->ticks : 0, now->ticks);
    if (old != NULL && !old->has_io)
      continue; /* how much of it is new, nobody knows */
    now->read_more = more(old != NULL ? old->read_bytes : 0, now->read_bytes);
    now->write_more =
      more(old != NULL ? old->write_bytes : 0, now->write_bytes);
  }
}

void pai__tasks_turn(pai__tasks *t)
{
  pai__tasks was = *t;

  t->before = was.now;
  t->before_count = was.now_count;
  t->before_cap = was.now_cap;
  t->now = was.before;
  t->now_count = 0;
  t->now_cap = was.before_cap;
}

const pai__task *pai__tasks_find(const pai__tasks *t, int32_t pid)
{
  size_t low = 0, high = t->now_count;

  while (low < high) {
    size_t mid = low + (high - low) / 2;

    if (t->now[mid].pid < pid)
      low = mid + 1;
    else
      high = mid;
  }
  return low < t->now_count && t->now[low].pid == pid ? &t->now[low] : NULL;
}

void pai__tasks_dispose(pai__tasks *t, const pai_alloc *alloc)
{
  pai__free(alloc, t->now, t->now_cap * sizeof(*t->now));
  pai__free(alloc, t->before, t->before_cap * sizeof(*t->before));
}

void pai__group_begin(pai__group *g, bool gpus)
{
  g->view.processes = 0;
  g->view.memory = 0;
  g->view.gpu_memory = gpus ? 0 : -1;
  g->cpu_more = g->read_more = g->write_more = 0;
  g->has_io = g->seen = false;
}

void pai__group_add(pai__group *g, const pai__task *task, uint32_t page)
{
  if (g->view.processes == 0 || task->pid == g->view.id)
    memcpy(g->name, task->name, sizeof(g->name));
  g->seen = true;
  g->view.processes++;
  if (task->rss_pages > 0 &&
      task->rss_pages <= (INT64_MAX - g->view.memory) / (int64_t)page)
    g->view.memory += task->rss_pages * (int64_t)page;
  g->cpu_more += g->fresh ? task->ticks : task->ticks_more;
  if (!task->has_io || g->view.watched == 0)
    return;
  g->has_io = true;
  g->read_more += g->fresh ? task->read_bytes : task->read_more;
  g->write_more += g->fresh ? task->write_bytes : task->write_more;
}

void pai__group_end(pai__group *g, pai_time now, uint32_t tick)
{
  pai_sample_group *v = &g->view;
  int64_t elapsed = g->fresh ? 0 : now - g->time;
  uint64_t cpu = g->cpu_more * tick;
  int64_t rate = pai__rate(0, cpu, elapsed);

  v->cpu += cpu;
  v->cpu_rate = rate < 0 ? -1 : (int32_t)(rate / 1000 % INT32_MAX);
  if (v->read_bytes < 0 && g->has_io)
    v->read_bytes = v->write_bytes = 0;
  if (v->read_bytes >= 0) {
    v->read_bytes += (int64_t)(g->read_more & INT64_MAX);
    v->write_bytes += (int64_t)(g->write_more & INT64_MAX);
  }
  v->read_bytes_rate =
    v->read_bytes >= 0 ? pai__rate(0, g->read_more, elapsed) : -1;
  v->write_bytes_rate =
    v->read_bytes >= 0 ? pai__rate(0, g->write_more, elapsed) : -1;
  g->time = now;
  g->fresh = false;
}
