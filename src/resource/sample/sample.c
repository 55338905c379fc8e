/* sample.c - compute rates from counters; public views of a sample */
#include "resource/sample/sample.h"

#include <stdlib.h>

enum { SECOND = 1000000 };

/* --- rates --------------------------------------------------------------- */

/* Computes the increase of a counter; returns false if it went backwards. */
static bool more(uint64_t before, uint64_t now, uint64_t *out)
{
  const uint64_t quarter = (uint64_t)1 << 30, most = UINT32_MAX;

  if (now >= before) {
    *out = now - before;
    return true;
  }
  *out = now - before; /* of 64 bits */
  if (before > UINT64_MAX - UINT64_MAX / 4 && now < UINT64_MAX / 4)
    return true;
  *out = now + (most - before) + 1;
  return before <= most && before > most - quarter && now < quarter;
}

/* Returns n / elapsed * SECOND without an overflow. */
static int64_t per_second(uint64_t n, int64_t elapsed)
{
  uint64_t span = (uint64_t)elapsed, whole = n / span, rest = n % span;

  if (whole > INT64_MAX / SECOND - 1)
    return INT64_MAX;
  if (span > UINT64_MAX / SECOND)
    return (int64_t)(n / (span / SECOND));
  return (int64_t)(whole * SECOND + rest * SECOND / span);
}

int64_t pai__rate(uint64_t before, uint64_t now, int64_t elapsed)
{
  uint64_t n;

  return elapsed > 0 && more(before, now, &n) ? per_second(n, elapsed) : -1;
}

/* Sets new counts and rates; `old`: there were counts before. */
static void update(pai__device *d, bool old, const uint64_t *count,
                   pai_time now)
{
  for (int i = 0; i < PAI__COUNTERS; i++) {
    d->rate[i] = old ? pai__rate(d->count[i], count[i], now - d->time) : -1;
    d->count[i] = count[i];
  }
  d->time = now;
}

/* --- devices ------------------------------------------------------------- */

void pai__devices_begin(pai__devices *d)
{
  d->at = 0;
}

/* Moves the device at `from` to `to`, which is before it. */
static void move(pai__device *list, size_t from, size_t to)
{
  pai__device moved = list[from];

  memmove(&list[to + 1], &list[to], (from - to) * sizeof(*list));
  list[to] = moved;
}

pai__device *pai__devices_put(pai__devices *d, const pai_alloc *alloc,
                              const char *name, const uint64_t *count,
                              pai_time now, bool *is_new)
{
  size_t i = d->at;
  pai__device *p;

  while (i < d->count && strcmp(d->list[i].name, name) != 0)
    i++; /* usually the first one matches */
  *is_new = i == d->count;
  if (*is_new) {
    if (PAI__VEC_ROOM(alloc, d->list, d->count, d->cap) < 0)
      return NULL;
    d->list[d->count] = (pai__device){ .counted = false };
    memcpy(d->list[d->count++].name, name, strlen(name) + 1);
  }
  if (i != d->at)
    move(d->list, i, d->at);
  p = &d->list[d->at++];
  update(p, !*is_new, count, now);
  return p;
}

void pai__devices_end(pai__devices *d, pai_time now, bool first)
{
  pai__device sum = { .time = now };

  d->count = d->at;
  for (int c = 0; c < PAI__COUNTERS; c++)
    sum.rate[c] = first ? -1 : 0;
  for (size_t i = 0; i < d->count; i++) {
    const pai__device *p = &d->list[i];

    for (int c = 0; p->counted && c < PAI__COUNTERS; c++) {
      sum.count[c] += p->count[c];
      if (!first && p->rate[c] > 0)
        sum.rate[c] = sum.rate[c] < INT64_MAX - p->rate[c]
                        ? sum.rate[c] + p->rate[c]
                        : INT64_MAX;
    }
  }
  d->sum = sum;
}

void pai__devices_dispose(pai__devices *d, const pai_alloc *alloc)
{
  pai__free(alloc, d->list, d->cap * sizeof(*d->list));
}

/* --- from texts ---------------------------------------------------------- */

/* More devices of a kind are ignored, because lists are searched linearly. */
enum { MOST_DEVICES = 16384 };

enum { CPU_USER, CPU_SYSTEM, CPU_IOWAIT, CPU_IDLE, CPU_STEAL };
enum { READS, READ_BYTES, WRITES, WRITE_BYTES, BUSY_MS };
enum { RX_BYTES, RX_PACKETS, RX_ERRORS, TX_BYTES, TX_PACKETS, TX_ERRORS };

/* Writes "cpu12" without a slow printf; "" for -1. */
static void cpu_name(char out[PAI__DEVICE_NAME], int32_t number)
{
  char digits[12];
  size_t n = 0, at = 0;

  for (; number >= 0; number /= 10) {
    digits[n++] = (char)('0' + number % 10);
    if (number < 10)
      break;
  }
  while (n > 0)
    out[at++] = digits[--n];
  out[at] = '\0';
}

int pai__sample_cpus(pai__devices *d, const pai_alloc *alloc, const char *text,
                     size_t len, pai_time now, bool first,
                     uint32_t ticks_a_second)
{
  pai__proc_walk w = pai__proc_walk_of(text, len);
  uint64_t tick = SECOND / ticks_a_second;
  char name[PAI__DEVICE_NAME];
  pai__device all = d->sum;
  pai__proc_cpu cpu;
  bool is_new, whole = false;

  pai__devices_begin(d);
  while (d->at < MOST_DEVICES && pai__proc_next_cpu(&w, &cpu)) {
    uint64_t count[PAI__COUNTERS] = { cpu.user * tick, cpu.system * tick,
                                      cpu.iowait * tick, cpu.idle * tick,
                                      cpu.steal * tick };

    if (cpu.number < 0) {
      update(&all, !first, count, now);
      whole = true;
      continue;
    }
    cpu_name(name, cpu.number);
    if (pai__devices_put(d, alloc, name, count, now, &is_new) == NULL)
      return PAI_ENOMEM;
  }
  if (!whole)
    return PAI_EIO;
  pai__devices_end(d, now, first);
  /* the kernel's sum, which includes CPUs that are offline now */
  d->sum = all;
  return PAI_OK;
}

int pai__sample_disks(pai__devices *d, const pai_alloc *alloc,
                      const char *text, size_t len, pai_time now, bool first)
{
  pai__proc_walk w = pai__proc_walk_of(text, len);
  char whole[PAI__DEVICE_NAME] = "";
  pai__proc_disk disk;
  bool is_new;

  pai__devices_begin(d);
  while (d->at < MOST_DEVICES && pai__proc_next_disk(&w, &disk)) {
    uint64_t count[PAI__COUNTERS] = { disk.reads, disk.read_bytes, disk.writes,
                                      disk.write_bytes, disk.busy_ms };
    pai__device *p;

    if (pai__proc_is_part(whole, disk.name))
      continue; /* a partition, which follows its disk */
    memcpy(whole, disk.name, sizeof(whole));
    if (disk.reads == 0 && disk.writes == 0 &&
        pai__proc_is_stacked_disk(disk.name))
      continue; /* an unused one, as loop0 */
    p = pai__devices_put(d, alloc, disk.name, count, now, &is_new);
    if (p == NULL)
      return PAI_ENOMEM;
    if (is_new)
      p->counted = !pai__proc_is_stacked_disk(disk.name);
  }
  pai__devices_end(d, now, first);
  return PAI_OK;
}

int pai__sample_networks(pai__devices *d, const pai_alloc *alloc,
                         const char *text, size_t len, pai_time now,
                         bool first)
{
  pai__proc_walk w = pai__proc_walk_of(text, len);
  pai__proc_net net;
  bool is_new;

  pai__devices_begin(d);
  while (d->at < MOST_DEVICES && pai__proc_next_net(&w, &net)) {
    uint64_t count[PAI__COUNTERS] = { net.rx_bytes,   net.rx_packets,
                                      net.rx_errors,  net.tx_bytes,
                                      net.tx_packets, net.tx_errors };
    pai__device *p = pai__devices_put(d, alloc, net.name, count, now, &is_new);

    if (p == NULL)
      return PAI_ENOMEM;
    if (is_new)
      p->counted = !pai__proc_is_stacked_net(net.name);
  }
  pai__devices_end(d, now, first);
  return PAI_OK;
}

/* --- reading ------------------------------------------------------------- */

int pai_sample_get(const pai_sample *sample, pai_sample_machine *view)
{
  PAI__CHECK_ARG(sample != NULL && view != NULL);
  return PAI__FILL_VIEW(view, sample->machine, pai_sample_machine, groups);
}

/* Returns device i or the sum, NULL if there is none. */
static const pai__device *get(const pai__devices *d, size_t i)
{
  if (i == PAI_SAMPLE_SUM)
    return &d->sum;
  return i < d->count ? &d->list[i] : NULL;
}

/* Returns thousandths of a processor; 0 if time ran backwards, as iowait
 * may. */
static int32_t share(int64_t rate, bool known)
{
  if (!known)
    return -1;
  return rate < 0                    ? 0
         : rate > INT32_MAX * 1000ll ? INT32_MAX
                                     : (int32_t)(rate / 1000);
}

int pai_sample_get_cpu(const pai_sample *sample, size_t i,
                       pai_sample_cpu *view)
{
  pai_sample_cpu full = { .struct_size = sizeof(full) };
  const pai__device *d;
  bool known = false;
  int64_t number;

  PAI__CHECK_ARG(sample != NULL && view != NULL);
  d = get(&sample->cpus, i);
  if (d == NULL)
    return PAI_ENOTFOUND;
  for (int c = 0; c <= CPU_STEAL; c++)
    known = known || d->rate[c] >= 0;
  number = pai__proc_number(d->name, strlen(d->name));
  full.number = number < 0 ? 0 : (uint32_t)number;
  full.user = d->count[CPU_USER];
  full.system = d->count[CPU_SYSTEM];
  full.iowait = d->count[CPU_IOWAIT];
  full.idle = d->count[CPU_IDLE];
  full.user_rate = share(d->rate[CPU_USER], known);
  full.system_rate = share(d->rate[CPU_SYSTEM], known);
  full.iowait_rate = share(d->rate[CPU_IOWAIT], known);
  full.busy_rate = known ? full.user_rate + full.system_rate +
                             share(d->rate[CPU_STEAL], known)
                         : -1;
  return PAI__FILL_VIEW(view, full, pai_sample_cpu, iowait_rate);
}

int pai_sample_get_disk(const pai_sample *sample, size_t i,
                        pai_sample_disk *view)
{
  pai_sample_disk full = { .struct_size = sizeof(full) };
  const pai__device *d;

  PAI__CHECK_ARG(sample != NULL && view != NULL);
  d = get(&sample->disks, i);
  if (d == NULL)
    return PAI_ENOTFOUND;
  full.name = d->name;
  full.counted = d->counted;
  full.read_bytes = d->count[READ_BYTES];
  full.write_bytes = d->count[WRITE_BYTES];
  full.reads = d->count[READS];
  full.writes = d->count[WRITES];
  full.read_bytes_rate = d->rate[READ_BYTES];
  full.write_bytes_rate = d->rate[WRITE_BYTES];
  full.reads_rate = d->rate[READS];
  full.writes_rate = d->rate[WRITES];
  full.busy_permille = -1; /* meaningless for a sum */
  if (i != PAI_SAMPLE_SUM && d->rate[BUSY_MS] >= 0)
    full.busy_permille =
      d->rate[BUSY_MS] > 1000 ? 1000 : (int32_t)d->rate[BUSY_MS];
  return PAI__FILL_VIEW(view, full, pai_sample_disk, busy_permille);
}

int pai_sample_get_network(const pai_sample *sample, size_t i,
                           pai_sample_network *view)
{
  pai_sample_network full = { .struct_size = sizeof(full) };
  const pai__device *d;

  PAI__CHECK_ARG(sample != NULL && view != NULL);
  d = get(&sample->networks, i);
  if (d == NULL)
    return PAI_ENOTFOUND;
  full.name = d->name;
  full.counted = d->counted;
  full.rx_bytes = d->count[RX_BYTES];
  full.tx_bytes = d->count[TX_BYTES];
  full.rx_packets = d->count[RX_PACKETS];
  full.tx_packets = d->count[TX_PACKETS];
  full.rx_errors = d->count[RX_ERRORS];
  full.tx_errors = d->count[TX_ERRORS];
  full.rx_bytes_rate = d->rate[RX_BYTES];
  full.tx_bytes_rate = d->rate[TX_BYTES];
  full.rx_packets_rate = d->rate[RX_PACKETS];
  full.tx_packets_rate = d->rate[TX_PACKETS];
  full.rx_errors_rate = d->rate[RX_ERRORS];
  full.tx_errors_rate = d->rate[TX_ERRORS];
  return PAI__FILL_VIEW(view, full, pai_sample_network, tx_errors_rate);
}

int pai_sample_get_file_system(const pai_sample *sample, size_t i,
                               pai_sample_file_system *view)
{
  PAI__CHECK_ARG(sample != NULL && view != NULL);
  if (i >= sample->machine.file_systems)
    return PAI_ENOTFOUND;
  return PAI__FILL_VIEW(view, sample->file_systems[i], pai_sample_file_system,
                        free);
}

int pai_sample_get_gpu(const pai_sample *sample, size_t i,
                       pai_sample_gpu *view)
{
  PAI__CHECK_ARG(sample != NULL && view != NULL);
  if (i >= sample->machine.gpus)
    return PAI_ENOTFOUND;
  return PAI__FILL_VIEW(view, sample->gpus[i], pai_sample_gpu, power_limit_mw);
}

int pai_sample_get_group(const pai_sample *sample, size_t i,
                         pai_sample_group *view)
{
  const pai__group *g;
  pai_sample_group full;

  PAI__CHECK_ARG(sample != NULL && view != NULL);
  if (i >= sample->machine.groups)
    return PAI_ENOTFOUND;
  g = i < sample->watched_count ? &sample->watched[i]
                                : &sample->others[i - sample->watched_count];
  full = g->view;
  full.name = g->path != NULL ? g->path : g->name;
  return PAI__FILL_VIEW(view, full, pai_sample_group, gpu_memory);
}

/* --- processes and their groups ------------------------------------------ */

static int by_pid(const void *a, const void *b)
{
  const pai__sample_task *x = a, *y = b;

  return (x->pid > y->pid) - (x->pid < y->pid);
}

static uint64_t beyond(uint64_t before, uint64_t now)
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
    pai__sample_task *now = &t->now[i];
    const pai__sample_task *old;

    while (b < t->before_count && t->before[b].pid < now->pid)
      b++;
    old = b < t->before_count ? &t->before[b] : NULL;
    if (old != NULL && (old->pid != now->pid || old->started != now->started))
      old = NULL; /* another process had this number */
    now->ticks_more = beyond(old != NULL ? old->ticks : 0, now->ticks);
    if (old != NULL && !old->has_io)
      continue; /* the increase of I/O is unknown */
    now->read_more =
      beyond(old != NULL ? old->read_bytes : 0, now->read_bytes);
    now->write_more =
      beyond(old != NULL ? old->write_bytes : 0, now->write_bytes);
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

const pai__sample_task *pai__tasks_find(const pai__tasks *t, int32_t pid)
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

void pai__sample_group_init(pai__group *g, int kind, int64_t id, bool watched)
{
  *g = (pai__group){ .view = { .struct_size = sizeof(g->view),
                               .kind = kind,
                               .watched = watched,
                               .id = id,
                               .read_bytes = -1,
                               .write_bytes = -1 },
                     .fresh = true };
  for (int i = 0; i < PAI__CGROUP_FILES; i++)
    g->fd[i] = -1;
}

void pai__group_begin(pai__group *g, bool gpus)
{
  g->view.processes = 0;
  g->view.memory = 0;
  g->view.gpu_memory = gpus ? 0 : -1;
  g->cpu_more = g->read_more = g->write_more = 0;
  g->has_io = g->seen = false;
}

void pai__group_add(pai__group *g, const pai__sample_task *task, uint32_t page)
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
