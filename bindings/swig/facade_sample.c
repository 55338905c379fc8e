/* facade_sample.c - a sampler, and its samples as tables */
#include "shared.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct Sampler {
  pai_sampler *sampler; /* NULL: closed */
};

/* --- life ------------------------------------------------------------------ */

static void open_sampler(Sampler *s, pai_sampler_options *options, words paths,
                         failure *f)
{
  const char **list = calloc(paths.len + 1, sizeof(*list)); /* or fewer */
  size_t count = 0;
  const char *path;

  if (list == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return;
  }
  for (size_t at = 0; (path = facade_word(&paths, &at)) != NULL;)
    list[count++] = path;
  options->paths = list;
  options->path_count = count;
  f->code = pai_sampler_new(&s->sampler, options, &f->err);
  free(list);
}

Sampler *facade_sampler(const char *root, const char *nvml, words paths,
                        bool all_groups, failure *f)
{
  pai_sampler_options options = PAI_SAMPLER_OPTIONS_INIT;
  Sampler *s = calloc(1, sizeof(*s));

  options.root = root;
  options.nvml = nvml;
  options.all_groups = all_groups;
  if (s == NULL)
    facade_fail(f, PAI_ENOMEM, "out of memory");
  else
    open_sampler(s, &options, paths, f);
  if (f->code == PAI_OK)
    return s;
  free(s);
  return NULL;
}

void facade_sampler_close(Sampler *s)
{
  pai_sampler_free(s->sampler);
  s->sampler = NULL;
}

void facade_sampler_free(Sampler *s)
{
  facade_sampler_close(s);
  free(s);
}

static bool is_open(const Sampler *s, failure *f)
{
  if (s->sampler == NULL)
    facade_fail(f, PAI_EINVAL, "the sampler is closed");
  return s->sampler != NULL;
}

/* --- groups of processes ---------------------------------------------------- */

static int kind_of(const char *name)
{
  if (strcmp(name, "group") == 0)
    return PAI_SAMPLE_GROUP;
  return strcmp(name, "session") == 0 ? PAI_SAMPLE_SESSION : 0;
}

static const char *group_name(int kind)
{
  switch (kind) {
  case PAI_SAMPLE_GROUP: return "group";
  case PAI_SAMPLE_SESSION: return "session";
  default: return "cgroup";
  }
}

void facade_watch(Sampler *s, const char *kind, int64_t id, failure *f)
{
  if (!is_open(s, f))
    return;
  if (kind_of(kind) == 0)
    facade_fail(f, PAI_EINVAL, "what is watched is a group or a session");
  else
    f->code = pai_sampler_watch(s->sampler, kind_of(kind), id, &f->err);
}

void facade_watch_cgroup(Sampler *s, const char *path, failure *f)
{
  if (is_open(s, f))
    f->code = pai_sampler_watch_cgroup(s->sampler, path, &f->err);
}

static void unwatch(Sampler *s, int kind, int64_t id, const char *path,
                    failure *f)
{
  if (!is_open(s, f))
    return;
  f->code = pai_sampler_unwatch(s->sampler, kind, id, path);
  if (f->code < 0)
    f->text = "that is not watched";
}

void facade_unwatch(Sampler *s, const char *kind, int64_t id, failure *f)
{
  unwatch(s, kind_of(kind), id, NULL, f);
}

void facade_unwatch_cgroup(Sampler *s, const char *path, failure *f)
{
  unwatch(s, PAI_SAMPLE_CGROUP, 0, path, f);
}

/* --- samples ----------------------------------------------------------------- */

static void put_cpu(json *j, const char *name, const pai_sample_cpu *c,
                    bool sum)
{
  json_begin(j, name, '{');
  if (!sum)
    json_number(j, "number", c->number);
  json_number(j, "user", (int64_t)c->user);
  json_number(j, "system", (int64_t)c->system);
  json_number(j, "iowait", (int64_t)c->iowait);
  json_number(j, "idle", (int64_t)c->idle);
  json_known(j, "busy_rate", c->busy_rate);
  json_known(j, "user_rate", c->user_rate);
  json_known(j, "system_rate", c->system_rate);
  json_known(j, "iowait_rate", c->iowait_rate);
  json_end(j, '}');
}

static void put_cpus(json *j, const pai_sample *sample)
{
  pai_sample_cpu c = { .struct_size = sizeof(c) };

  if (pai_sample_get_cpu(sample, PAI_SAMPLE_SUM, &c) == PAI_OK)
    put_cpu(j, "cpu", &c, true);
  json_begin(j, "cpus", '[');
  for (size_t i = 0; pai_sample_get_cpu(sample, i, &c) == PAI_OK; i++)
    put_cpu(j, NULL, &c, false);
  json_end(j, ']');
}

static void put_memory(json *j, const pai_sample_machine *m)
{
  json_begin(j, "memory", '{');
  json_known(j, "total", m->memory_total);
  json_known(j, "available", m->memory_available);
  json_known(j, "free", m->memory_free);
  json_known(j, "buffers", m->buffers);
  json_known(j, "cached", m->cached);
  json_known(j, "swap_total", m->swap_total);
  json_known(j, "swap_free", m->swap_free);
  json_known(j, "limit", m->memory_limit);
  json_known(j, "used", m->memory_used);
  json_end(j, '}');
}

static void put_disk(json *j, const char *name, const pai_sample_disk *d)
{
  json_begin(j, name, '{');
  json_text(j, "name", d->name);
  json_bool(j, "counted", d->counted != 0);
  json_number(j, "read_bytes", (int64_t)d->read_bytes);
  json_number(j, "write_bytes", (int64_t)d->write_bytes);
  json_number(j, "reads", (int64_t)d->reads);
  json_number(j, "writes", (int64_t)d->writes);
  json_known(j, "read_bytes_rate", d->read_bytes_rate);
  json_known(j, "write_bytes_rate", d->write_bytes_rate);
  json_known(j, "reads_rate", d->reads_rate);
  json_known(j, "writes_rate", d->writes_rate);
  json_known(j, "busy_permille", d->busy_permille);
  json_end(j, '}');
}

static void put_disks(json *j, const pai_sample *sample)
{
  pai_sample_disk d = { .struct_size = sizeof(d) };

  if (pai_sample_get_disk(sample, PAI_SAMPLE_SUM, &d) == PAI_OK)
    put_disk(j, "disk", &d);
  json_begin(j, "disks", '[');
  for (size_t i = 0; pai_sample_get_disk(sample, i, &d) == PAI_OK; i++)
    put_disk(j, NULL, &d);
  json_end(j, ']');
}

static void put_network(json *j, const char *name, const pai_sample_network *n)
{
  json_begin(j, name, '{');
  json_text(j, "name", n->name);
  json_bool(j, "counted", n->counted != 0);
  json_number(j, "rx_bytes", (int64_t)n->rx_bytes);
  json_number(j, "tx_bytes", (int64_t)n->tx_bytes);
  json_number(j, "rx_packets", (int64_t)n->rx_packets);
  json_number(j, "tx_packets", (int64_t)n->tx_packets);
  json_number(j, "rx_errors", (int64_t)n->rx_errors);
  json_number(j, "tx_errors", (int64_t)n->tx_errors);
  json_known(j, "rx_bytes_rate", n->rx_bytes_rate);
  json_known(j, "tx_bytes_rate", n->tx_bytes_rate);
  json_known(j, "rx_packets_rate", n->rx_packets_rate);
  json_known(j, "tx_packets_rate", n->tx_packets_rate);
  json_known(j, "rx_errors_rate", n->rx_errors_rate);
  json_known(j, "tx_errors_rate", n->tx_errors_rate);
  json_end(j, '}');
}

static void put_networks(json *j, const pai_sample *sample)
{
  pai_sample_network n = { .struct_size = sizeof(n) };

  if (pai_sample_get_network(sample, PAI_SAMPLE_SUM, &n) == PAI_OK)
    put_network(j, "network", &n);
  json_begin(j, "networks", '[');
  for (size_t i = 0; pai_sample_get_network(sample, i, &n) == PAI_OK; i++)
    put_network(j, NULL, &n);
  json_end(j, ']');
}

static void put_file_systems(json *j, const pai_sample *sample)
{
  pai_sample_file_system fs = { .struct_size = sizeof(fs) };

  json_begin(j, "file_systems", '[');
  for (size_t i = 0; pai_sample_get_file_system(sample, i, &fs) == PAI_OK;
       i++) {
    json_begin(j, NULL, '{');
    json_text(j, "path", fs.path);
    json_known(j, "total", fs.total);
    json_known(j, "free", fs.free);
    json_end(j, '}');
  }
  json_end(j, ']');
}

static void put_gpus(json *j, const pai_sample *sample)
{
  pai_sample_gpu g = { .struct_size = sizeof(g) };

  json_begin(j, "gpus", '[');
  for (size_t i = 0; pai_sample_get_gpu(sample, i, &g) == PAI_OK; i++) {
    json_begin(j, NULL, '{');
    json_bool(j, "lost", g.lost != 0);
    json_known(j, "busy_percent", g.busy_percent);
    json_known(j, "memory_busy_percent", g.memory_busy_percent);
    json_known(j, "memory_total", g.memory_total);
    json_known(j, "memory_used", g.memory_used);
    json_known(j, "temperature", g.temperature);
    json_known(j, "power_mw", g.power_mw);
    json_known(j, "power_limit_mw", g.power_limit_mw);
    json_end(j, '}');
  }
  json_end(j, ']');
}

static void put_group(json *j, const pai_sample_group *g)
{
  json_begin(j, NULL, '{');
  json_text(j, "kind", group_name(g->kind));
  json_bool(j, "watched", g->watched != 0);
  json_number(j, "id", g->id);
  json_text(j, "name", g->name);
  json_known(j, "processes", g->processes);
  json_number(j, "cpu", (int64_t)g->cpu);
  json_known(j, "cpu_rate", g->cpu_rate);
  json_known(j, "memory", g->memory);
  json_known(j, "read_bytes", g->read_bytes);
  json_known(j, "write_bytes", g->write_bytes);
  json_known(j, "read_bytes_rate", g->read_bytes_rate);
  json_known(j, "write_bytes_rate", g->write_bytes_rate);
  json_known(j, "gpu_memory", g->gpu_memory);
  json_end(j, '}');
}

static void put_groups(json *j, const pai_sample *sample)
{
  pai_sample_group g = { .struct_size = sizeof(g) };

  json_begin(j, "groups", '[');
  for (size_t i = 0; pai_sample_get_group(sample, i, &g) == PAI_OK; i++)
    put_group(j, &g);
  json_end(j, ']');
}

static void put_load(json *j, const pai_sample_machine *m)
{
  json_begin(j, "load", '[');
  for (int i = 0; i < 3 && m->load[0] >= 0; i++)
    json_hundredths(j, NULL, m->load[i]);
  json_end(j, ']');
}

static listing put_sample(const pai_sample *sample, failure *f)
{
  pai_sample_machine m = { .struct_size = sizeof(m) };
  json j;

  f->code = pai_sample_get(sample, &m);
  json_start(&j);
  json_begin(&j, NULL, '{');
  json_number(&j, "time", m.time);
  json_number(&j, "elapsed", m.elapsed);
  json_number(&j, "online", m.cpus);
  put_load(&j, &m);
  json_known(&j, "threads", m.threads);
  json_known(&j, "running", m.running);
  put_cpus(&j, sample);
  put_memory(&j, &m);
  put_disks(&j, sample);
  put_networks(&j, sample);
  put_file_systems(&j, sample);
  put_gpus(&j, sample);
  put_groups(&j, sample);
  json_end(&j, '}');
  return json_finish(&j, f);
}

static int64_t clock_now(void)
{
  struct timespec now = { 0 };

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

listing facade_take(Sampler *s, int64_t now, failure *f)
{
  const pai_sample *sample = NULL;

  if (is_open(s, f))
    f->code = pai_sampler_take(&sample, s->sampler,
                               now < 0 ? clock_now() : now, &f->err);
  return sample != NULL ? put_sample(sample, f) : (listing){ { NULL, 0 } };
}

listing facade_sampler_gpus(Sampler *s, failure *f)
{
  if (!is_open(s, f))
    return (listing){ { NULL, 0 } };
  return facade_put_gpus(pai_sampler_gpus(s->sampler), f);
}
