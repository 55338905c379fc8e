/* sample.c - samplers, and samples as JSON */
#include "facade_fields.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- life ------------------------------------------------------------------ */

static void open_sampler(Sampler *s, pai_sampler_options *options, words paths,
                         failure *f)
{
  const char **list = facade_word_list(&paths, &options->path_count, f);

  options->paths = list;
  if (list != NULL)
    f->code = pai_sampler_new(&s->sampler, options, &f->err);
  free(list);
}

Sampler *facade_sampler_make(const char *root, const char *nvml, words paths,
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

bool sampler_is_open(const Sampler *s, failure *f)
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

void facade_sampler_watch(Sampler *s, const char *kind, int64_t id, failure *f)
{
  if (!sampler_is_open(s, f))
    return;
  if (kind_of(kind) == 0)
    facade_fail(f, PAI_EINVAL, "what is watched is a group or a session");
  else
    f->code = pai_sampler_watch(s->sampler, kind_of(kind), id, &f->err);
}

static void unwatch(Sampler *s, int kind, int64_t id, const char *path,
                    failure *f)
{
  if (!sampler_is_open(s, f))
    return;
  f->code = pai_sampler_unwatch(s->sampler, kind, id, path);
  if (f->code < 0)
    f->text = "that is not watched";
}

void facade_sampler_unwatch(Sampler *s, const char *kind, int64_t id,
                            failure *f)
{
  unwatch(s, kind_of(kind), id, NULL, f);
}

void facade_sampler_unwatch_cgroup(Sampler *s, const char *path, failure *f)
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
  json_fields(j, fields_CpuSample, c);
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

static void put_disks(json *j, const pai_sample *sample)
{
  pai_sample_disk d = { .struct_size = sizeof(d) };

  if (pai_sample_get_disk(sample, PAI_SAMPLE_SUM, &d) == PAI_OK)
    json_record(j, "disk", fields_DiskSample, &d);
  json_begin(j, "disks", '[');
  for (size_t i = 0; pai_sample_get_disk(sample, i, &d) == PAI_OK; i++)
    json_record(j, NULL, fields_DiskSample, &d);
  json_end(j, ']');
}

static void put_networks(json *j, const pai_sample *sample)
{
  pai_sample_network n = { .struct_size = sizeof(n) };

  if (pai_sample_get_network(sample, PAI_SAMPLE_SUM, &n) == PAI_OK)
    json_record(j, "network", fields_NetworkSample, &n);
  json_begin(j, "networks", '[');
  for (size_t i = 0; pai_sample_get_network(sample, i, &n) == PAI_OK; i++)
    json_record(j, NULL, fields_NetworkSample, &n);
  json_end(j, ']');
}

static void put_file_systems(json *j, const pai_sample *sample)
{
  pai_sample_file_system fs = { .struct_size = sizeof(fs) };

  json_begin(j, "file_systems", '[');
  for (size_t i = 0; pai_sample_get_file_system(sample, i, &fs) == PAI_OK;
       i++) {
    json_record(j, NULL, fields_FileSystemSample, &fs);
  }
  json_end(j, ']');
}

static void put_gpus(json *j, const pai_sample *sample)
{
  pai_sample_gpu g = { .struct_size = sizeof(g) };

  json_begin(j, "gpus", '[');
  for (size_t i = 0; pai_sample_get_gpu(sample, i, &g) == PAI_OK; i++) {
    json_record(j, NULL, fields_GpuSample, &g);
  }
  json_end(j, ']');
}

static void put_group(json *j, const pai_sample_group *g)
{
  json_begin(j, NULL, '{');
  json_text(j, "kind", group_name(g->kind));
  json_fields(j, fields_GroupSample, g);
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
  json_fields(&j, fields_Sample, &m);
  put_load(&j, &m);
  put_cpus(&j, sample);
  json_record(&j, "memory", fields_MemorySample, &m);
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

listing facade_sampler_take(Sampler *s, int64_t now, failure *f)
{
  const pai_sample *sample = NULL;

  if (sampler_is_open(s, f))
    f->code = pai_sampler_take(&sample, s->sampler,
                               now < 0 ? clock_now() : now, &f->err);
  return sample != NULL ? put_sample(sample, f) : (listing){ { NULL, 0 } };
}
