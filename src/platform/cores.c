/*
 * cores.c - each task that runs has as many CPUs as it asked for, and no other
 * one has those
 *
 * The scheduler counts CPUs, so there are enough of them, unless this process
 * may not use all or other platforms have some: then a task has all, as
 * without any of this.  Which a task has stands before its fold in its row,
 * for it goes on having them when another process takes it up.
 */
#include "platform/cores.h"

#include "base/fork.h"
#include "platform/gpus.h"

#include <pthread.h>

struct pai__cores {
  pai__cpus allowed, used;
  pai_topology *topology;      /* NULL: nobody knows */
  int8_t place[PAI__MAX_GPUS]; /* there, of each GPU, or -1 */
  bool placed;                 /* they are known */
  int fd;                      /* of the locks, or -1 */
  pai__work *work; /* looks for the topology while nobody waits for it */
  bool busy;
  pthread_mutex_t lock; /* of both: */
  pai_topology *found;
  bool looked;
};

/* Where it is on the bus tells which it is there: numbers of device files and
 * of drivers may differ.  If nobody knows, they are the same. */
static int find_place(const pai_topology *t, const char *pci, uint32_t number)
{
  pai_topology_gpu v = { .struct_size = sizeof(v) };
  int same = -1;

  for (uint32_t i = 0;
       i < PAI__MAX_GPUS && pai_topology_view_gpu(t, i, &v) == PAI_OK; i++) {
    if (pci != NULL && pci[0] != '\0' && strcmp(v.pci, pci) == 0)
      return (int)i;
    if (v.index == number && strcmp(v.vendor, "NVIDIA") == 0)
      same = (int)i;
  }
  return pci == NULL || pci[0] == '\0' ? same : -1;
}

static void find_places(pai_platform *p, const pai_gpus *found)
{
  pai__cores *c = p->cores;

  for (uint32_t gpu = 0; gpu < PAI__MAX_GPUS; gpu++)
    c->place[gpu] = (int8_t)find_place(c->topology, NULL, gpu);
  for (size_t i = 0; found != NULL && i < pai_gpus_count(found); i++) {
    pai_gpu_view v = { .struct_size = sizeof(v) };
    int gpu = pai_gpus_get(found, i, &v) < 0 ? -1 : pai__gpus_number(p, &v);

    if (gpu >= 0)
      c->place[gpu] = (int8_t)find_place(c->topology, v.pci, v.number);
  }
}

static uint64_t in_topology(const pai__cores *c, uint64_t gpus)
{
  uint64_t places = 0;

  for (uint32_t gpu = 0; gpu < PAI__MAX_GPUS; gpu++)
    if ((gpus >> gpu & 1) != 0 && c->place[gpu] >= 0)
      places |= UINT64_C(1) << c->place[gpu];
  return places;
}

/* Once, by whoever comes first: it takes 40 ms and more. */
static void discover(pai__cores *c, const pai_gpus *gpus)
{
  pai_topology_options o = PAI_TOPOLOGY_OPTIONS_INIT;

  o.gpus = gpus;
  pai__fork_hold(); /* hwloc has a lock that a child would find held */
  (void)pthread_mutex_lock(&c->lock);
  if (!c->looked)
    (void)!pai_topology_discover(&c->found, &o, NULL);
  c->looked = true;
  (void)pthread_mutex_unlock(&c->lock);
  pai__fork_release();
}

/* Without a topology all CPUs are alike. */
static void look(pai_platform *p)
{
  pai__cores *c = p->cores;
  const pai_gpus *gpus = pai__gpus_found(p);

  if (c->placed)
    return;
  c->placed = true;
  discover(c, gpus);
  c->topology = c->found;
  memset(c->place, -1, sizeof(c->place));
  if (c->topology != NULL)
    find_places(p, gpus);
}

int pai__cores_open(pai_platform *p, pai_error **err)
{
  pai__cores *c = pai__zalloc(&p->alloc, sizeof(*c));

  if (c == NULL)
    return pai__oom(err);
  p->cores = c;
  (void)pthread_mutex_init(&c->lock, NULL);
  c->fd = pai__cpus_open();
  c->looked = !pai__cpus_allowed(&c->allowed);
  if (p->gpus != NULL) /* just looked at: their numbers are known */
    look(p);
  return PAI_OK;
}

static void on_look(void *user_data)
{
  discover(((pai_platform *)user_data)->cores, NULL);
}

static void on_looked(void *user_data)
{
  pai_platform *p = user_data;

  p->cores->busy = false;
  pai__turn_ask(p->kick);
}

/* Whoever starts a task before it is done waits for the rest of it. */
void pai__cores_begin(pai_platform *p)
{
  pai__cores *c = p->cores;

  if (c->placed || c->looked ||
      pai__work_new(&c->work, &p->alloc, p->loop, on_look, on_looked, p) < 0)
    return;
  c->busy = true;
  pai__work_start(c->work);
}

bool pai__cores_is_idle(const pai_platform *p)
{
  return !p->cores->busy;
}

/* The platform closes when nothing is looked for any more. */
void pai__cores_close(pai_platform *p)
{
  pai__cores *c = p->cores;

  if (c == NULL)
    return;
  pai__work_close(c->work);
  pai__cpus_close(c->fd);
  pai_topology_unref(c->found);
  (void)pthread_mutex_destroy(&c->lock);
  pai__free(&p->alloc, c, sizeof(*c));
  p->cores = NULL;
}

/* --- sets ------------------------------------------------------------------------- */

static bool read_list(pai__cpus *out, const char *list)
{
  pai__bits_fault fault;
  size_t n;

  memset(out, 0, sizeof(*out));
  return list != NULL && pai__bits_read_list(out->at, &n, PAI__MAX_CPUS, list,
                                             strlen(list), &fault) == PAI_OK;
}

static bool next_cpu(const pai__cpus *cpus, uint32_t *cpu)
{
  uint32_t last;

  return pai__bits_run(cpus->at, PAI__LEN(cpus->at), *cpu, cpu, &last);
}

static void unlock(const pai__cores *c, const pai__cpus *cpus, uint32_t end)
{
  for (uint32_t cpu = 0; next_cpu(cpus, &cpu) && cpu < end; cpu++)
    pai__cpu_unlock(c->fd, cpu);
}

/* All or none; false: another platform has *cpu. */
static bool lock(const pai__cores *c, const pai__cpus *cpus, uint32_t *cpu)
{
  for (*cpu = 0; next_cpu(cpus, cpu); (*cpu)++)
    if (!pai__cpu_lock(c->fd, *cpu)) {
      unlock(c, cpus, *cpu);
      return false;
    }
  return true;
}

/* --- taking and giving ------------------------------------------------------------ */

static bool choose(pai__cpus *out, const pai__cores *c, uint64_t gpus,
                   uint32_t n)
{
  pai__cpus free;
  uint32_t cpu;

  for (size_t i = 0; i < PAI__LEN(free.at); i++)
    free.at[i] = c->allowed.at[i] & ~c->used.at[i];
  while (pai__cpus_choose(out, c->topology, in_topology(c, gpus), &free, n)) {
    if (lock(c, out, &cpu))
      return true;
    free.at[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
  }
  return false;
}

void pai__cores_take(pai__pjob *j, uint32_t task)
{
  const pai__role *role = &j->spec->roles[pai__job_tasks(&j->job)[task].role];
  pai_platform *p = j->platform;
  pai__ptask *t = &j->tasks[task];
  pai__cpus cpus;
  pai__buf text;

  if (role->cpus == 0 || t->cpus != NULL)
    return;
  look(p);
  if (!choose(&cpus, p->cores, j->places[task].gpus, role->cpus))
    return;
  pai__buf_init(&text, &p->alloc);
  pai__bits_write_list(&text, cpus.at, PAI__LEN(cpus.at));
  t->cpus =
    pai__buf_ok(&text) ? pai__strdup(&p->alloc, pai__buf_text(&text)) : NULL;
  pai__buf_dispose(&text);
  if (t->cpus == NULL) {
    unlock(p->cores, &cpus, PAI__MAX_CPUS);
    return;
  }
  for (size_t i = 0; i < PAI__LEN(cpus.at); i++)
    p->cores->used.at[i] |= cpus.at[i];
}

void pai__cores_keep(pai__pjob *j, uint32_t task)
{
  pai__cores *c = j->platform->cores;
  pai__cpus cpus;

  if (!read_list(&cpus, j->tasks[task].cpus))
    return;
  for (size_t i = 0; i < PAI__LEN(cpus.at); i++)
    c->used.at[i] |= cpus.at[i];
  for (uint32_t cpu = 0; next_cpu(&cpus, &cpu); cpu++)
    (void)pai__cpu_lock(c->fd, cpu); /* it runs there, whoever has it, too */
}

void pai__cores_give(pai__pjob *j, uint32_t task)
{
  pai_platform *p = j->platform;
  pai__cpus cpus;

  if (read_list(&cpus, j->tasks[task].cpus)) {
    for (size_t i = 0; i < PAI__LEN(cpus.at); i++)
      p->cores->used.at[i] &= ~cpus.at[i];
    unlock(p->cores, &cpus, PAI__MAX_CPUS);
  }
  pai__strfree(&p->alloc, j->tasks[task].cpus);
  j->tasks[task].cpus = NULL;
}

void pai__cores_nodes(pai__buf *out, const pai__pjob *j, uint32_t task)
{
  pai__cpus cpus;

  if (read_list(&cpus, j->tasks[task].cpus))
    pai__cpus_nodes(out, j->platform->cores->topology, &cpus);
}
