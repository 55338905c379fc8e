/* replay.c - any second of a month's log, against reading the log once */
#include "bench.h"

#include "base/prng.h"

#include <openpai/replay.h>

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)
#define MONTH (30 * 86400 * SECOND)

enum { JOBS = 100000, RUNNING = 8192 };

/* Jobs that run, the one that ends first at the front. */
typedef struct month {
  pai__buf log;
  pai__prng random;
  struct {
    pai_time end;
    uint64_t id;
  } heap[RUNNING];
  size_t n;
  int longer; /* jobs take so many tenths of what the cluster is used to */
} month;

static int collect(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return pai__buf_ok(user_data) ? PAI_OK : PAI_ENOMEM;
}

static void push(month *m, pai_time end, uint64_t id)
{
  size_t i = m->n++;

  for (; i != 0 && m->heap[(i - 1) / 2].end > end; i = (i - 1) / 2)
    m->heap[i] = m->heap[(i - 1) / 2];
  m->heap[i].end = end;
  m->heap[i].id = id;
}

static void pop(month *m)
{
  pai_time end = m->heap[--m->n].end;
  uint64_t id = m->heap[m->n].id;
  size_t i = 0, child;

  while ((child = 2 * i + 1) < m->n) {
    child += child + 1 < m->n && m->heap[child + 1].end < m->heap[child].end;
    if (m->heap[child].end >= end)
      break;
    m->heap[i] = m->heap[child];
    i = child;
  }
  m->heap[i].end = end;
  m->heap[i].id = id;
}

/* Most are short and few are long: 7 hours in the mean. */
static pai_time any_duration(month *m)
{
  pai_time most = (SECOND * 50) << pai__prng_below(&m->random, 10);

  most *= m->longer;
  return SECOND + (pai_time)pai__prng_below(&m->random, (uint64_t)most);
}

static int tell(pai_sched *s, int kind, uint64_t id, pai_time now)
{
  pai_sched_event e = {
    .struct_size = sizeof(e), .kind = kind, .time = now, .id = id
  };

  return pai_sched_send(s, &e, NULL);
}

static int submit(month *m, pai_sched *s, uint64_t id, pai_time now)
{
  char user[16];
  pai_want want = { .struct_size = sizeof(want),
                    .name = "worker",
                    .tasks = 1,
                    .gpus = 1u << pai__prng_below(&m->random, 4) };
  pai_request q = { .struct_size = sizeof(q),
                    .id = id,
                    .name = "train",
                    .user = user,
                    .wants = &want,
                    .nwants = 1 };
  pai_sched_event e = { .struct_size = sizeof(e),
                        .kind = PAI_SCHED_SUBMIT,
                        .time = now,
                        .request = &q };

  want.cpus = want.gpus * 4;
  (void)snprintf(user, sizeof(user), "user%d",
                 (int)pai__prng_below(&m->random, 300));
  return pai_sched_send(s, &e, NULL);
}

static int decide(month *m, pai_sched *s, pai_time now)
{
  pai_decision d = { .struct_size = sizeof(d) };
  int n = pai_sched_decide(s, now, NULL), rc = n < 0 ? n : PAI_OK;

  for (int i = 0; i < n && rc == PAI_OK; i++) {
    (void)pai_sched_decision(s, (size_t)i, &d);
    rc = tell(s, PAI_SCHED_STARTED, d.id, now);
    push(m, now + any_duration(m), d.id);
  }
  return m->n < RUNNING ? rc : PAI_ELIMIT;
}

static int live(month *m, pai_sched *s)
{
  int rc = PAI_OK;

  for (uint64_t id = 1; id <= JOBS && rc == PAI_OK; id++) {
    pai_time now = (pai_time)id * (MONTH / JOBS);

    while (m->n != 0 && m->heap[0].end <= now && rc == PAI_OK) {
      pai_time end = m->heap[0].end;

      rc = tell(s, PAI_SCHED_FINISHED, m->heap[0].id, end);
      pop(m);
      if (rc == PAI_OK)
        rc = decide(m, s, end);
    }
    if (rc == PAI_OK)
      rc = submit(m, s, id, now);
    if (rc == PAI_OK)
      rc = decide(m, s, now);
  }
  return rc;
}

static void close_month(void *data)
{
  month *m = data;

  pai__buf_dispose(&m->log);
  free(m);
}

static void *open_any(int longer)
{
  pai_sched_log_options o = { .struct_size = sizeof(o), .snapshots = 1 };
  pai_cluster *cluster = NULL;
  pai_sched *s = NULL;
  month *m = calloc(1, sizeof(*m));
  int rc;

  if (m == NULL)
    return NULL;
  m->random = (pai__prng){ 5 };
  m->longer = longer;
  pai__buf_init(&m->log, &pai__libc_alloc);
  rc = pai_cluster_synthetic(
    &cluster, "nodes:1000 gpu:8 cpus:64 mem:512G racks:50", NULL, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_new(&s, cluster, NULL, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_set_log_options(s, &o, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_set_log(s, collect, &m->log, NULL);
  if (rc == PAI_OK)
    rc = live(m, s);
  pai_sched_free(s);
  pai_cluster_free(cluster);
  if (rc == PAI_OK)
    return m;
  close_month(m);
  return NULL;
}

/* Hardly anybody waits. */
static void *open_month(void)
{
  return open_any(10);
}

/* More comes than can be done: 10,000 wait in the mean, 20,000 in the end. */
static void *open_crowded(void)
{
  return open_any(27);
}

static ptrdiff_t read_month(void *user_data, uint64_t offset, char *buffer,
                            size_t size)
{
  const month *m = user_data;

  memcpy(buffer, m->log.data + offset, size);
  return (ptrdiff_t)size;
}

/* As a program that is asked once: nothing is known from before. */
static int any_second(void *data)
{
  month *m = data;
  pai_replay *r;
  int rc = pai_replay_new(&r, read_month, m, (uint64_t)m->log.len, NULL, NULL);

  if (rc == PAI_OK)
    rc = pai_replay_to(
      r, (pai_time)pai__prng_below(&m->random, (uint64_t)MONTH), NULL);
  pai_replay_free(r);
  return rc;
}

static int read_once(void *data)
{
  month *m = data;
  pai_replay *r;
  int rc = pai_replay_new(&r, read_month, m, (uint64_t)m->log.len, NULL, NULL);

  if (rc == PAI_OK)
    do
      rc = pai_replay_step(r, NULL);
    while (rc == 1);
  pai_replay_free(r);
  return rc;
}

const bench bench_replay[] = {
  { "replay-at",
    "any second of a month of 100,000 jobs, against reading the log once",
    "look", 20, open_month, close_month, any_second, read_once },
  { "replay-at-crowded",
    "any second of such a month in which 10,000 jobs wait, against reading "
    "the log once",
    "look", 20, open_crowded, close_month, any_second, read_once },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};
