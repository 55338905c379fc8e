/*
 * gpus.c - checks and leases of GPUs: GPUs in foreign use are not given out
 *
 * Foreign use is by processes that this platform did not start, which the
 * driver lists, or by platforms of other users, which hold leases.  The
 * scheduler gets such a GPU as sick, with the reason, until it is free again.
 * Another thread asks the drivers, while jobs wait and before a GPU is given
 * out whose last check is old.  Until the answer is there, the job that was
 * placed on it keeps its place and does not start; other jobs go on.
 */
#include "platform/place/gpus.h"

#include "platform/place/placing.h"
#include "platform/place/single.h"

#include <stdio.h>

enum {
  LOOK_EVERY = 5000000, /* microseconds */
  WHY = 120,            /* bytes */
  IDLE_MEMORY = 1 << 30 /* bytes that a driver may use itself */
};

struct pai__gpus {
  pai_platform *p;
  pai__timer *timer;
  pai__work *look;
  bool looking;
  bool watching;                 /* the timer runs */
  pai_gpus *found;               /* result of the last check */
  uint64_t nvidia;               /* GPUs that drivers have listed so far */
  uint64_t bad;                  /* GPUs that are sick for the scheduler */
  uint64_t unknown;              /* restored bits of `bad`, not checked yet */
  uint64_t held;                 /* our GPUs when the check began */
  pai_time until[PAI__MAX_GPUS]; /* when the last check is too old */
  char why[PAI__MAX_GPUS][WHY];
  int leases[PAI__MAX_GPUS];
  uint32_t users[PAI__MAX_GPUS]; /* jobs of ours on each */
  uint64_t memory[PAI__MAX_GPUS];
};

/* --- events for the scheduler --------------------------------------------- */

static uint64_t bit(uint32_t gpu)
{
  return UINT64_C(1) << gpu;
}

static int tell_bad(pai__gpus *g, uint32_t gpu, bool bad)
{
  pai_platform *p = g->p;
  pai_sched_event e = { .struct_size = sizeof(e),
                        .kind = PAI_SCHED_NODE,
                        .time = pai__platform_now(p),
                        .node = p->here.name,
                        .gpu = (int32_t)gpu,
                        .number = bad ? PAI_NODE_SICK : PAI_NODE_UP,
                        .text = bad ? g->why[gpu] : NULL };
  int rc = PAI_OK;

  if ((g->bad >> gpu & 1) != bad)
    rc = pai_sched_send(p->sched, &e, NULL);
  if (rc < 0)
    return rc;
  g->bad = bad ? g->bad | bit(gpu) : g->bad & ~bit(gpu);
  p->schedule_due = true;
  pai__platform_hurry(p);
  return PAI_OK;
}

/* Notifies the scheduler and logs, if the state of a GPU has changed. */
static void tell_state(pai__gpus *g, uint32_t gpu, bool bad, const char *why)
{
  bool unknown = g->unknown >> gpu & 1;

  if (bad)
    (void)snprintf(g->why[gpu], WHY, "%s", why);
  if ((g->bad >> gpu & 1) == bad && !unknown)
    return;
  if (tell_bad(g, gpu, bad) < 0)
    return; /* tried again at the next check */
  g->unknown &= ~bit(gpu);
  if (bad || !unknown)
    pai__log_line(&g->p->log, PAI_LOG_INFO, "GPU %u: %s", gpu,
                  bad ? why : "free again");
}

/* --- checking ------------------------------------------------------------- */

static bool is_ours(const pai__gpus *g, uint32_t gpu)
{
  return g->users[gpu] > 0;
}

/* The processes on such a GPU may be our own tasks. */
static bool was_ours(const pai__gpus *g, uint32_t gpu)
{
  return is_ours(g, gpu) || (g->held >> gpu & 1) != 0;
}

/* Writes why a GPU is not to be given out; false: it may be given out. */
static bool judge(const pai__gpus *g, const pai_gpu_view *v, uint32_t gpu,
                  char *why, size_t size)
{
  if (v->health == PAI_GPU_SICK || v->health == PAI_GPU_LOST)
    (void)snprintf(why, size, "%s", v->reason);
  else if (was_ours(g, gpu))
    return false;
  else if (v->processes == 1)
    (void)snprintf(why, size, "a process of somebody else uses it");
  else if (v->processes > 1)
    (void)snprintf(why, size, "%zu processes of others use it", v->processes);
  else if (v->memory_used > IDLE_MEMORY)
    (void)snprintf(why, size, "others use %lld MiB of its memory",
                   (long long)(v->memory_used >> 20));
  else
    return false;
  return true;
}

/* Tells whether another platform has leased a GPU that is not ours. */
static bool is_leased(pai__gpus *g, uint32_t gpu)
{
  int fd = is_ours(g, gpu) ? -2 : pai__lease_take(gpu);

  pai__lease_give(fd);
  return fd == -1;
}

int pai__gpus_number(const pai_platform *p, const pai_gpu_view *v)
{
  uint32_t gpu = v->device >= 0 ? (uint32_t)v->device : v->number;

  return v->parent == PAI_NO_GPU && v->vendor == PAI_GPU_NVIDIA &&
             gpu < p->here.gpus
           ? (int)gpu
           : -1;
}

/* Notes the constant facts: memory, and which GPUs drivers list. */
static void learn(pai__gpus *g)
{
  for (size_t i = 0; i < pai_gpus_count(g->found); i++) {
    pai_gpu_view v = { .struct_size = sizeof(v) };
    int gpu =
      pai_gpus_get(g->found, i, &v) < 0 ? -1 : pai__gpus_number(g->p, &v);

    if (gpu < 0)
      continue;
    g->memory[gpu] = v.memory_total > 0 ? (uint64_t)v.memory_total : 0;
    g->nvidia |= bit((uint32_t)gpu);
  }
}

/* A GPU that we gave back during the check must be checked again. */
static void apply(pai__gpus *g)
{
  bool seen[PAI__MAX_GPUS] = { false };
  pai_time until = pai__loop_time() + LOOK_EVERY;
  char why[WHY];

  learn(g);
  for (size_t i = 0; i < pai_gpus_count(g->found); i++) {
    pai_gpu_view v = { .struct_size = sizeof(v) };
    int gpu =
      pai_gpus_get(g->found, i, &v) < 0 ? -1 : pai__gpus_number(g->p, &v);

    if (gpu < 0)
      continue;
    seen[gpu] = judge(g, &v, (uint32_t)gpu, why, sizeof(why));
    if (seen[gpu])
      tell_state(g, (uint32_t)gpu, true, why);
  }
  for (uint32_t i = 0; i < g->p->here.gpus; i++) {
    if (!was_ours(g, i))
      g->until[i] = until;
    else if (!is_ours(g, i))
      continue;
    if (!seen[i] && is_leased(g, i))
      tell_state(g, i, true, "another platform uses it");
    else if (!seen[i])
      tell_state(g, i, false, NULL);
  }
}

static void look(void *user_data)
{
  pai__gpus *g = user_data;
  pai_gpus_options o = PAI_GPUS_OPTIONS_INIT;

  pai_gpus_free(g->found);
  (void)!pai_gpus_new(&g->found, &o, NULL);
}

static void begin_look(pai__gpus *g)
{
  if (g->p->closing || g->looking)
    return;
  g->looking = true;
  g->held = 0;
  for (uint32_t i = 0; i < PAI__MAX_GPUS; i++)
    g->held |= is_ours(g, i) ? bit(i) : 0;
  pai__work_start(g->look);
}

/* A running timer is not restarted, or a busy platform would never check. */
static void look_later(pai__gpus *g)
{
  if (!g->watching)
    pai__timer_start(g->timer, LOOK_EVERY);
  g->watching = true;
}

static void on_looked(void *user_data)
{
  pai__gpus *g = user_data;

  g->looking = false;
  apply(g);
  if (g->bad != 0) /* jobs may wait for these GPUs */
    look_later(g);
  pai__placing_go_on(g->p);
  pai__loop_step_ask(g->p->kick);
}

static void on_due(void *user_data)
{
  pai__gpus *g = user_data;

  g->watching = false;
  begin_look(g);
}

/* Its last check is too old to rule out foreign use. */
static bool is_stale(const pai__gpus *g, uint32_t gpu)
{
  return (g->nvidia >> gpu & 1) != 0 && !is_ours(g, gpu) &&
         pai__loop_time() >= g->until[gpu];
}

bool pai__gpus_are_known(pai_platform *p, uint64_t gpus)
{
  pai__gpus *g = p->gpus;
  bool known = true;

  for (uint32_t i = 0; g != NULL && i < p->here.gpus; i++)
    known &= (gpus >> i & 1) == 0 || !is_stale(g, i);
  if (!known)
    begin_look(g);
  return known;
}

/* --- life ----------------------------------------------------------------- */

int pai__gpus_open(pai_platform *p, pai_error **err)
{
  pai_sched_node_view node = { .struct_size = sizeof(node) };
  pai__gpus *g;

  if (p->here.gpus == 0)
    return PAI_OK;
  g = pai__zalloc(&p->alloc, sizeof(*g));
  if (g == NULL)
    return pai__oom(err);
  p->gpus = g;
  g->p = p;
  (void)pai_sched_view_node(p->sched, 0, &node);
  g->bad = node.sick_mask; /* restored with the scheduler */
  g->unknown = g->bad;
  for (size_t i = 0; i < PAI__MAX_GPUS; i++)
    g->leases[i] = -1;
  if (pai__timer_new(&g->timer, &p->alloc, p->loop, on_due, g) < 0 ||
      pai__work_new(&g->look, &p->alloc, p->loop, look, on_looked, g) < 0)
    return pai__oom(err);
  look(g); /* before any GPU is given out */
  learn(g);
  return PAI_OK;
}

void pai__gpus_begin(pai_platform *p)
{
  if (p->gpus != NULL)
    apply(p->gpus);
}

/* No check is under way: see pai__gpus_is_idle(). */
void pai__gpus_close(pai_platform *p)
{
  pai__gpus *g = p->gpus;

  if (g == NULL)
    return;
  pai__timer_close(g->timer);
  pai__work_close(g->look);
  for (size_t i = 0; i < PAI__MAX_GPUS; i++)
    pai__lease_give(g->leases[i]);
  pai_gpus_free(g->found);
  pai__free(&p->alloc, g, sizeof(*g));
  p->gpus = NULL;
}

uint64_t pai__gpus_memory(const pai_platform *p, uint32_t gpu)
{
  return p->gpus != NULL ? p->gpus->memory[gpu] : 0;
}

const char *pai__gpus_why(const pai_platform *p, uint32_t gpu)
{
  return p->gpus != NULL && (p->gpus->bad >> gpu & 1) != 0 ? p->gpus->why[gpu]
                                                           : NULL;
}

const pai_gpus *pai__gpus_found(const pai_platform *p)
{
  return p->gpus != NULL && !p->gpus->looking ? p->gpus->found : NULL;
}

bool pai__gpus_is_idle(const pai_platform *p)
{
  return p->gpus == NULL || !p->gpus->looking;
}

void pai__gpus_watch(pai_platform *p)
{
  if (p->gpus != NULL && p->gpus->bad != 0 && !p->gpus->looking)
    look_later(p->gpus);
}

/* --- leases --------------------------------------------------------------- */

static uint64_t gpus_of(const pai__pjob *j)
{
  uint64_t gpus = 0;

  for (uint32_t t = 0; t < j->job.ntasks; t++)
    gpus |= pai__is_single(j, t) ? 0 : j->places[t].gpus;
  return gpus;
}

static void give(pai__gpus *g, uint32_t gpu)
{
  pai__lease_give(g->leases[gpu]);
  g->leases[gpu] = -1;
}

int pai__gpus_take_mask(pai_platform *p, uint64_t gpus)
{
  pai__gpus *g = p->gpus;
  int lost = 0;

  if (g == NULL)
    return 0;
  for (uint32_t i = 0; i < PAI__MAX_GPUS; i++)
    lost += (gpus & g->bad & bit(i)) != 0; /* sick since the decision */
  for (uint32_t i = 0; i < PAI__MAX_GPUS; i++)
    if ((gpus >> i & 1) != 0 && g->leases[i] < 0) {
      g->leases[i] = pai__lease_take(i);
      if (g->leases[i] == -1) {
        tell_state(g, i, true, "another platform uses it");
        lost++;
      }
    }
  for (uint32_t i = 0; i < PAI__MAX_GPUS; i++)
    if ((gpus >> i & 1) != 0) {
      g->users[i] += lost == 0;
      if (g->users[i] == 0)
        give(g, i);
    }
  return lost;
}

void pai__gpus_keep_mask(pai_platform *p, uint64_t gpus)
{
  pai__gpus *g = p->gpus;

  if (g == NULL)
    return;
  for (uint32_t i = 0; i < PAI__MAX_GPUS; i++)
    if ((gpus >> i & 1) != 0 && g->users[i]++ == 0)
      g->leases[i] = pai__lease_take(i);
}

void pai__gpus_give_mask(pai_platform *p, uint64_t gpus)
{
  pai__gpus *g = p->gpus;

  if (g == NULL)
    return;
  for (uint32_t i = 0; i < PAI__MAX_GPUS; i++)
    if ((gpus >> i & 1) != 0 && g->users[i] > 0 && --g->users[i] == 0)
      give(g, i);
}

bool pai__gpus_of_are_known(const pai__pjob *j)
{
  return pai__gpus_are_known(j->platform, gpus_of(j));
}

int pai__gpus_take(pai__pjob *j)
{
  return pai__gpus_take_mask(j->platform, gpus_of(j));
}

void pai__gpus_keep(pai__pjob *j)
{
  pai__gpus_keep_mask(j->platform, gpus_of(j));
}

void pai__gpus_give(pai__pjob *j)
{
  pai__gpus_give_mask(j->platform, gpus_of(j));
}
