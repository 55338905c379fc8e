/*
 * sampling.c - samples of the machine, its GPUs, tasks, virtual clusters and
 * the queue, each second, as time series
 *
 * A sample takes at most a hundredth of the time: with very many jobs samples
 * are rarer.
 */
#include "server/monitor/sampling.h"

#include "base/text/milli.h"

#include <openpai/vc.h>

#include <stdio.h>

#define SECOND INT64_C(1000000)
/* The longest time between two samples. */
#define MOST_INTERVAL (60 * SECOND)

enum {
  SHARE = 100,   /* of the time that a sample may take: one part */
  FLUSH = 10,    /* seconds after which each series is flushed */
  SETTINGS = 60, /* seconds between looks at virtual clusters and the name */
  RECENT = 120   /* seconds for which a value is the latest one */
};

/* --- the machine and its GPUs --------------------------------------------- */

static int64_t used(int64_t total, int64_t free)
{
  return total < 0 || free < 0 ? -1 : total - free;
}

/* Keeps a series; one without a place is left out. */
static void put(pai__sampling *u, enum pai__series_kind kind, const char *name,
                pai_time now, const int64_t *values)
{
  (void)!pai__series_put(u->series, kind, name, now / SECOND, values);
}

static void put_machine(pai__sampling *u, const pai_sample *sample,
                        pai_time now)
{
  pai_sample_machine m = { .struct_size = sizeof(m) };
  pai_sample_cpu c = { .struct_size = sizeof(c), .busy_rate = -1 };
  pai_sample_disk d = { .struct_size = sizeof(d),
                        .read_bytes_rate = -1,
                        .write_bytes_rate = -1 };
  pai_sample_network n = { .struct_size = sizeof(n),
                           .rx_bytes_rate = -1,
                           .tx_bytes_rate = -1 };
  pai_sample_file_system f = { .struct_size = sizeof(f), .total = -1 };

  if (pai_sample_get(sample, &m) < 0)
    return;
  (void)!pai_sample_get_cpu(sample, PAI_SAMPLE_SUM, &c);
  (void)!pai_sample_get_disk(sample, PAI_SAMPLE_SUM, &d);
  (void)!pai_sample_get_network(sample, PAI_SAMPLE_SUM, &n);
  (void)!pai_sample_get_file_system(sample, 0, &f);
  const int64_t values[PAI__SERIES_METRICS] = {
    c.busy_rate,           used(m.memory_total, m.memory_available),
    used(f.total, f.free), d.read_bytes_rate,
    d.write_bytes_rate,    n.rx_bytes_rate,
    n.tx_bytes_rate,       m.load[0]
  };
  put(u, PAI__SERIES_MACHINE, u->node, now, values);
}

static void put_gpus(pai__sampling *u, const pai_sample *sample, pai_time now)
{
  pai_sample_gpu g = { .struct_size = sizeof(g) };
  char name[PAI__NODE_NAME + 16];

  for (size_t i = 0; pai_sample_get_gpu(sample, i, &g) == PAI_OK; i++) {
    int number = pai__usage_sampler_gpu(u->sampler, i);
    const int64_t values[PAI__SERIES_METRICS] = {
      g.busy_percent < 0 ? -1 : (int64_t)g.busy_percent * 10, g.memory_used,
      g.temperature < 0 ? -1 : (int64_t)g.temperature * 10
    };

    if (number < 0 || g.lost)
      continue;
    (void)snprintf(name, sizeof(name), "%s/%d", u->node, number);
    put(u, PAI__SERIES_GPU, name, now, values);
  }
}

/* --- tasks ---------------------------------------------------------------- */

int64_t pai__sampling_gpus(const pai__sampling *u, const pai_sample *sample,
                           uint64_t gpus, int64_t *memory)
{
  pai_sample_gpu g = { .struct_size = sizeof(g) };
  int64_t busy = 0, n = 0;

  for (size_t i = 0; pai_sample_get_gpu(sample, i, &g) == PAI_OK; i++) {
    int number = pai__usage_sampler_gpu(u->sampler, i);

    if (number < 0 || number >= 64 || (gpus >> number & 1) == 0)
      continue;
    if (g.lost || g.busy_percent < 0)
      return -1;
    busy += g.busy_percent;
    *memory += g.memory_used > 0 ? g.memory_used : 0;
    gpus &= ~(UINT64_C(1) << number);
    n++;
  }
  return n == 0 || gpus != 0 ? -1 : busy * 10 / n;
}

static void put_tasks(pai__sampling *u, const pai_sample *sample,
                      const pai__observed_tasks *tasks, pai_time now)
{
  char name[PAI__SERIES_NAME];
  pai_sample_group g;

  for (size_t i = 0; i < tasks->n; i++) {
    const pai_task_view *t = &tasks->at[i];
    int64_t memory = 0, busy = -1;

    if (!pai__usage_sampler_of(u->sampler, sample, t, &g))
      g = (pai_sample_group){ .cpu_rate = -1,
                              .memory = -1,
                              .read_bytes_rate = -1,
                              .write_bytes_rate = -1 };
    if (t->gpus != 0)
      busy = pai__sampling_gpus(u, sample, t->gpus, &memory);
    const int64_t values[PAI__SERIES_METRICS] = {
      g.cpu_rate,        g.memory,          busy, t->gpus != 0 ? memory : -1,
      g.read_bytes_rate, g.write_bytes_rate
    };
    (void)snprintf(name, sizeof(name), "%llu/%s/%u",
                   (unsigned long long)t->job, t->role, (unsigned)t->index);
    put(u, PAI__SERIES_TASK, name, now, values);
  }
}

static int on_task(void *user_data, const pai_task_view *t)
{
  return t->state == PAI_STATE_RUNNING || t->state == PAI_STATE_STOPPING
           ? pai__observed_tasks_add(user_data, t)
           : PAI_OK;
}

/* --- virtual clusters and the queue --------------------------------------- */

static int64_t milli_at(const pai__tree *t, pai__node of, const char *key)
{
  pai__node n = pai__tree_get(t, of, key);
  uint64_t out = 0;

  return n != PAI__NO_NODE && pai__milli_of(&out, t, n) == PAI_OK
           ? (int64_t)out
           : -1;
}

static pai_time minutes(const pai__tree *t, pai__node vc, const char *key,
                        pai_time usual)
{
  return pai__tree_get(t, vc, key) == PAI__NO_NODE
           ? usual
           : pai__tree_look_int(t, vc, key) * 60 * SECOND;
}

static void put_vc(pai__sampling *u, const pai__tree *t, pai__node vc,
                   const char *name, pai_time now)
{
  pai__node has = pai__tree_get(t, vc, "resourcesGuaranteed");
  pai__node in = pai__tree_get(t, vc, "resourcesUsed");
  const int64_t values[PAI__SERIES_METRICS] = {
    milli_at(t, in, "gpu"),
    milli_at(t, has, "gpu"),
    milli_at(t, in, "cpu"),
    milli_at(t, has, "cpu"),
    pai__tree_look_int(t, vc, "waitingJobs") * 10,
    pai__tree_look_int(t, vc, "runningJobs") * 10
  };

  put(u, PAI__SERIES_VC, name, now, values);
  (void)!pai__idle_set_vc(
    &u->idle, name,
    (pai__idle_limits){
      .warn = minutes(t, vc, "idleWarnMinutes", PAI__IDLE_WARN_AFTER),
      .stop = minutes(t, vc, "idleStopMinutes", 0) });
}

static void put_vcs(pai__sampling *u, pai_time now)
{
  pai_server *s = u->server;
  pai__tree *tree;
  pai__tree_walk walk;
  pai__node n;
  pai__buf json;

  pai__buf_init(&json, &s->alloc);
  if (pai_platform_write_vcs(s->platform, NULL, pai__answer_write, &json,
                             NULL) < 0)
    pai__buf_cut(&json, 0);
  tree = pai__written_tree(&json);
  if (tree == NULL || pai__tree_type(tree, 0) != PAI__MAPPING) {
    pai__tree_free(tree);
    return;
  }
  pai__idle_forget_vcs(&u->idle);
  walk = pai__tree_iter(tree, 0);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    put_vc(u, tree, pai__tree_value(tree, n), pai__tree_str(tree, n, NULL),
           now);
  pai__tree_free(tree);
}

static void put_queue(pai__sampling *u, pai_time now)
{
  pai_platform_counts c = { .struct_size = sizeof(c) };

  if (pai_platform_count(u->server->platform, &c) < 0)
    return;
  const int64_t values[PAI__SERIES_METRICS] = { (int64_t)c.waiting * 10,
                                                (int64_t)c.running * 10 };
  put(u, PAI__SERIES_QUEUE, "queue", now, values);
}

/* --- a sample ------------------------------------------------------------- */

static void learn_name(pai__sampling *u)
{
  pai__observed_machine m;

  if (pai__observed_machine_read(&m, u->server, NULL) == PAI_OK)
    (void)snprintf(u->node, sizeof(u->node), "%s", m.name);
  pai__observed_machine_dispose(&m);
}

/* What fails is tried again with the next sample. */
static void sample_all(pai__sampling *u, pai_time now)
{
  pai_server *s = u->server;
  pai__observed_tasks tasks;
  const pai_sample *sample = NULL;

  if (u->ticks % SETTINGS == 0 || u->node[0] == '\0') {
    learn_name(u);
    put_vcs(u, now);
  }
  put_queue(u, now);
  pai__observed_tasks_init(&tasks, s);
  if (pai_platform_tasks(s->platform, on_task, &tasks, NULL) == PAI_OK &&
      pai__usage_sampler_take(&sample, &u->sampler, s, &tasks, NULL) ==
        PAI_OK &&
      sample != NULL) {
    if (u->node[0] != '\0') {
      put_machine(u, sample, now);
      put_gpus(u, sample, now);
    }
    put_tasks(u, sample, &tasks, now);
    pai__sampling_jobs(u, sample, &tasks, now);
  }
  pai__observed_tasks_dispose(&tasks);
}

static void tell(pai__sampling *u)
{
  for (pai__sampling_reader *r = u->readers, *next; r != NULL; r = next) {
    next = r->after;
    r->on_sample(r->user_data);
  }
}

static void on_tick(void *user_data)
{
  pai__sampling *u = user_data;
  pai_time begin = pai__loop_time(), now = pai__loop_wall_time();

  if (u->server->closing > 0)
    return;
  sample_all(u, now);
  pai__series_flush(u->series, (uint32_t)(u->ticks % FLUSH), FLUSH);
  if (u->ticks % FLUSH == 0)
    (void)!pai__series_use_flush(
      u->usage); /* what fails stays to be written */
  u->ticks++;
  u->last = now;
  tell(u);
  u->cost = (7 * u->cost + pai__loop_time() - begin) / 8;
  u->interval = u->cost * SHARE;
  if (u->interval < SECOND)
    u->interval = SECOND;
  if (u->interval > MOST_INTERVAL)
    u->interval = MOST_INTERVAL;
  pai__timer_start(u->timer, u->interval);
}

/* --- begin and end -------------------------------------------------------- */

static int open_series(pai__sampling *u, bool kept)
{
  const pai_server *s = u->server;
  pai__buf folder;
  int rc = PAI_ENOMEM;

  pai__buf_init(&folder, &s->alloc);
  pai__buf_add(&folder, s->uploads,
               (size_t)(strrchr(s->uploads, '/') - s->uploads));
  pai__buf_str(&folder, "/series");
  if (pai__buf_ok(&folder))
    rc = pai__series_open(&u->series, &s->alloc, &s->log,
                          kept ? folder.data : NULL);
  if (rc == PAI_OK)
    rc = pai__series_use_open(&u->usage, &s->alloc, kept ? folder.data : NULL,
                              pai__loop_wall_time() / 1000);
  pai__buf_dispose(&folder);
  return rc;
}

int pai__sampling_begin(pai_server *s, bool kept)
{
  pai__sampling *u = pai__zalloc(&s->alloc, sizeof(*u));
  int rc;

  if (u == NULL)
    return PAI_ENOMEM;
  s->sampling = u;
  u->server = s;
  pai__idle_init(&u->idle, &s->alloc);
  rc = open_series(u, kept);
  if (rc == PAI_OK)
    rc = pai__timer_new(&u->timer, &s->alloc, s->loop, on_tick, u);
  if (rc < 0)
    return PAI_ENOMEM; /* the server is freed */
  pai__timer_start(u->timer, SECOND);
  return PAI_OK;
}

void pai__sampling_free(pai_server *s)
{
  pai__sampling *u = s->sampling;

  if (u == NULL)
    return;
  pai__timer_close(u->timer);
  pai__usage_sampler_free(u->sampler);
  pai__series_close(u->series);
  pai__series_use_close(u->usage);
  pai__idle_dispose(&u->idle);
  pai__free(&s->alloc, u, sizeof(*u));
  s->sampling = NULL;
}

void pai__sampling_join(pai_server *s, pai__sampling_reader *r)
{
  r->before = NULL;
  r->after = s->sampling->readers;
  if (r->after != NULL)
    r->after->before = r;
  s->sampling->readers = r;
}

void pai__sampling_leave(pai_server *s, pai__sampling_reader *r)
{
  if (r->before != NULL)
    r->before->after = r->after;
  else
    s->sampling->readers = r->after;
  if (r->after != NULL)
    r->after->before = r->before;
}

/* --- a value by its name -------------------------------------------------- */

static const char *const kinds[PAI__SERIES_KINDS] = {
  [PAI__SERIES_MACHINE] = "node/", [PAI__SERIES_GPU] = "gpu/",
  [PAI__SERIES_TASK] = "task/",    [PAI__SERIES_VC] = "vc/",
  [PAI__SERIES_QUEUE] = "queue",
};

bool pai__sampling_value(const pai_server *s, const char *name, double *value)
{
  const char *metric = strrchr(name, '/');
  char subject[PAI__SERIES_NAME];

  for (int kind = 0; metric != NULL && kind < PAI__SERIES_KINDS; kind++) {
    size_t len = strlen(kinds[kind]);
    int64_t at;
    int number;

    if (strncmp(name, kinds[kind], len) != 0)
      continue;
    len = kind == PAI__SERIES_QUEUE ? 0 : len;
    (void)snprintf(subject, sizeof(subject), "%.*s",
                   (int)(metric - name - (ptrdiff_t)len), name + len);
    number = pai__series_metric_of((enum pai__series_kind)kind, metric + 1);
    at = pai__series_last(s->sampling->series, (enum pai__series_kind)kind,
                          subject, number,
                          pai__loop_wall_time() / SECOND - RECENT);
    if (at < 0)
      return false;
    *value = (double)at / pai__series_forms[kind].metrics[number].fine;
    return true;
  }
  return false;
}
