/* why.c - why the last of a long queue waits, under each policy, against
 * building the queue by events: a decision that looks at each would show */
#include "bench.h"

#include "base/prng.h"

#include <openpai/sched.h>

#define HOUR INT64_C(3600000000)

enum { NODES = 64, WAITING = 20000 };

typedef struct queue {
  pai_cluster *cluster;
  pai_sched *s;
  uint64_t last;
} queue;

static int submit(queue *q, uint32_t gpus, pai_time duration)
{
  pai_want want = {
    .struct_size = sizeof(want), .tasks = 1, .gpus = gpus, .cpus = gpus * 4
  };
  pai_request r = { .struct_size = sizeof(r),
                    .id = ++q->last,
                    .wants = &want,
                    .nwants = 1,
                    .duration = duration };
  pai_sched_event e = { .struct_size = sizeof(e),
                        .kind = PAI_SCHED_SUBMIT,
                        .request = &r };

  return pai_sched_send(q->s, &e, NULL);
}

static int fill(queue *q)
{
  pai__prng random = { 1 };
  int rc = PAI_OK;

  for (int i = 0; i < NODES + WAITING && rc >= 0; i++) {
    uint32_t gpus = i < NODES ? 8 : 1u << pai__prng_below(&random, 4);

    rc = submit(q, gpus,
                HOUR / 60 + (pai_time)pai__prng_below(&random, 48 * HOUR));
  }
  return rc >= 0 ? pai_sched_decide(q->s, 0, NULL) : rc;
}

static void teardown(void *data)
{
  queue *q = data;

  pai_sched_free(q->s);
  pai_cluster_free(q->cluster);
  *q = (queue){ 0 };
}

static void *setup(const char *policy)
{
  static queue q;
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;

  q = (queue){ 0 };
  o.policy = policy;
  if (pai_cluster_synthetic(&q.cluster, "nodes:64 gpu:8 cpus:64 mem:512G",
                            NULL, NULL) == PAI_OK &&
      pai_sched_new(&q.s, q.cluster, &o, NULL) == PAI_OK && fill(&q) >= 0)
    return &q;
  teardown(&q);
  return NULL;
}

static void *setup_fifo(void)
{
  return setup("fifo");
}

static void *setup_backfill(void)
{
  return setup("backfill");
}

static void *setup_priority(void)
{
  return setup("priority");
}

static void *setup_fair(void)
{
  return setup("fair");
}

static void *setup_k8s(void)
{
  return setup("k8s");
}

static void *setup_capacity(void)
{
  return setup("capacity");
}

static void *setup_hived(void)
{
  return setup("hived");
}

static int drop(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return PAI_OK;
}

/* A fork remembers no answers. */
static int explain(void *data)
{
  const queue *q = data;
  pai_sched *fork;
  int rc = pai_sched_fork(&fork, q->s, NULL);

  if (rc == PAI_OK)
    rc = pai_sched_explain(fork, q->last, PAI_FORMAT_JSON, drop, NULL, NULL);
  pai_sched_free(fork);
  return rc;
}

/* The same queue anew. */
static int build(void *data)
{
  const queue *q = data;
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  queue other = { 0 };
  int rc;

  o.policy = "fifo";
  rc = pai_sched_new(&other.s, q->cluster, &o, NULL);
  if (rc == PAI_OK)
    rc = fill(&other);
  pai_sched_free(other.s);
  return rc;
}

#define WHY(policy)                                                       \
  {                                                                       \
    "sched-why-" #policy,                                                 \
      "why the last of 20,000 waits, against submitting them all", "why", \
      GOAL, setup_##policy, teardown, explain, build                      \
  }

#define GOAL 0.02

const bench bench_why[] = {
  WHY(fifo),     WHY(backfill),
  WHY(priority), WHY(fair),
  WHY(k8s),      WHY(capacity),
  WHY(hived),    { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};
