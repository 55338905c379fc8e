/*
 * cores.c - CPUs of tasks: each running task gets as many as it asks for, for
 * itself; tasks that ask for fractions share some (cores_shared.h)
 *
 * The scheduler counts CPUs, so there are enough, unless this process may not
 * use all or other platforms have some: then a task is not bound to CPUs.  The
 * list of a task's CPUs is saved with its fold, because the task keeps them
 * when another process adopts it.
 */
#include "platform/place/cores.h"

#include "base/os/fork.h"
#include "platform/place/cores_shared.h"
#include "platform/place/gpus.h"

#include <pthread.h>

struct pai__cores {
  pai__cpus allowed, used; /* used: those that belong to one task */
  pai__shared_cpus shared;
  pai_topology *topology;      /* NULL: unknown */
  int8_t place[PAI__MAX_GPUS]; /* index of each GPU in `topology`, or -1 */
  bool placed;                 /* `topology` and `place` are set */
  int fd;                      /* file of the CPU locks, or -1 */
  pai__work *work;             /* discovers the topology ahead of its use */
  bool busy;
  pthread_mutex_t lock; /* of the following fields */
  pai_topology *found;
  bool looked;
};

/* Finds a GPU by its PCI address, because numbers of device files and of
 * drivers may differ; without an address, by its number. */
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

/* Discovers the topology, in the first thread that calls this: it takes 40 ms
 * or more. */
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

/* Sets topology and places.  Without a topology all CPUs are alike. */
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
  if (p->gpus != NULL) /* just checked: their numbers are known */
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
  pai__loop_step_ask(p->kick);
}

/* A task that starts before this is done waits for it in discover(). */
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

/* No work is under way: see pai__cores_is_idle(). */
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

/* --- sets ----------------------------------------------------------------- */

static bool read_list(pai__cpus *out, const char *list)
{
  pai__bits_fault fault;
  size_t n;

  memset(out, 0, sizeof(*out));
  return list != NULL && pai__bits_read_list(out->at, &n, PAI__MAX_CPUS, list,
                                             strlen(list), &fault) == PAI_OK;
}

static void unlock(const pai__cores *c, const pai__cpus *cpus, uint32_t end)
{
  for (uint32_t cpu = 0; pai__cpus_next(cpus, &cpu) && cpu < end; cpu++)
    pai__cpu_unlock(c->fd, cpu);
}

/* Locks all or none; false: another platform has *cpu. */
static bool lock(const pai__cores *c, const pai__cpus *cpus, uint32_t *cpu)
{
  for (*cpu = 0; pai__cpus_next(cpus, cpu); (*cpu)++)
    if (!pai__cpu_lock(c->fd, *cpu)) {
      unlock(c, cpus, *cpu);
      return false;
    }
  return true;
}

/* --- taking and giving ---------------------------------------------------- */

static bool choose(pai__cpus *out, const pai__cores *c, uint64_t gpus,
                   uint32_t n)
{
  pai__cpus free;
  uint32_t cpu;

  for (size_t i = 0; i < PAI__LEN(free.at); i++)
    free.at[i] = c->allowed.at[i] & ~(c->used.at[i] | c->shared.set.at[i]);
  while (pai__cpus_choose(out, c->topology, in_topology(c, gpus), &free, n)) {
    if (lock(c, out, &cpu))
      return true;
    free.at[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
  }
  return false;
}

/* Chooses shared CPUs.  *fresh gets those that were not shared before,
 * locked. */
static bool choose_shared(pai__cpus *out, pai__cpus *fresh,
                          const pai__cores *c, uint64_t gpus, uint64_t millis)
{
  uint32_t more = pai__shared_more(&c->shared, millis);

  memset(fresh, 0, sizeof(*fresh));
  while (more > 0 && !choose(fresh, c, gpus, more)) {
    memset(fresh, 0, sizeof(*fresh));
    more--;
  }
  if (!pai__shared_choose(out, &c->shared, fresh, millis))
    return false;
  for (uint32_t cpu = 0; pai__cpus_next(fresh, &cpu); cpu++)
    if (!pai__bits_has(out->at, PAI__LEN(out->at), cpu)) {
      pai__cpu_unlock(c->fd, cpu);
      fresh->at[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
    }
  return true;
}

/* Returns the thousandths of a CPU of a task that asks for a fraction, or 0. */
static uint64_t fraction_of(const pai__pjob *j, uint32_t task)
{
  uint64_t millis =
    j->spec->roles[pai__job_tasks(&j->job)[task].role].cpu_millis;

  return millis % 1000 != 0 ? millis : 0;
}

/* Notes that a task uses these CPUs. */
static void enter(pai__pjob *j, uint32_t task, const pai__cpus *cpus)
{
  pai__cores *c = j->platform->cores;
  uint64_t millis = fraction_of(j, task);

  if (millis != 0)
    pai__shared_add(&c->shared, cpus, millis);
  for (size_t i = 0; millis == 0 && i < PAI__LEN(cpus->at); i++)
    c->used.at[i] |= cpus->at[i];
}

static char *list_of(const pai_platform *p, const pai__cpus *cpus)
{
  pai__buf text;
  char *list;

  pai__buf_init(&text, &p->alloc);
  pai__bits_write_list(&text, cpus->at, PAI__LEN(cpus->at));
  list =
    pai__buf_ok(&text) ? pai__strdup(&p->alloc, pai__buf_text(&text)) : NULL;
  pai__buf_dispose(&text);
  return list;
}

void pai__cores_take(pai__pjob *j, uint32_t task)
{
  const pai__role *role = &j->spec->roles[pai__job_tasks(&j->job)[task].role];
  uint64_t gpus = j->places[task].gpus, millis = fraction_of(j, task);
  pai_platform *p = j->platform;
  pai__ptask *t = &j->tasks[task];
  pai__cpus cpus, fresh;

  if (role->cpus == 0 || t->cpus != NULL)
    return;
  look(p);
  if (millis != 0 ? !choose_shared(&cpus, &fresh, p->cores, gpus, millis)
                  : !choose(&cpus, p->cores, gpus, role->cpus))
    return;
  t->cpus = list_of(p, &cpus);
  if (t->cpus == NULL)
    unlock(p->cores, millis != 0 ? &fresh : &cpus, PAI__MAX_CPUS);
  else
    enter(j, task, &cpus);
}

void pai__cores_keep(pai__pjob *j, uint32_t task)
{
  pai__cores *c = j->platform->cores;
  pai__cpus cpus;

  if (!read_list(&cpus, j->tasks[task].cpus))
    return;
  enter(j, task, &cpus);
  for (uint32_t cpu = 0; pai__cpus_next(&cpus, &cpu); cpu++)
    (void)pai__cpu_lock(c->fd, cpu); /* kept even if another has the lock */
}

void pai__cores_give(pai__pjob *j, uint32_t task)
{
  uint64_t millis = fraction_of(j, task);
  pai_platform *p = j->platform;
  pai__cpus cpus;

  if (read_list(&cpus, j->tasks[task].cpus)) {
    if (millis != 0)
      pai__shared_drop(&p->cores->shared, &cpus, millis);
    for (size_t i = 0; millis == 0 && i < PAI__LEN(cpus.at); i++)
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
