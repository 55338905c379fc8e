/* top_json.c - a sample for programs: an object on one line */
#include "top.h"

#include <string.h>

static void text(const char *key, const char *value)
{
  (void)printf("\"%s\":", key);
  cli_json_string(stdout, value, strlen(value));
}

/* -1 is null. */
static void number(const char *key, int64_t value)
{
  if (value < 0)
    (void)printf(",\"%s\":null", key);
  else
    (void)printf(",\"%s\":%lld", key, (long long)value);
}

static void count(const char *key, uint64_t value)
{
  (void)printf(",\"%s\":%llu", key, (unsigned long long)value);
}

static void print_load(const pai_sample_machine *m)
{
  (void)printf(",\"load\":[");
  for (int i = 0; i < 3; i++) {
    if (m->load[i] < 0)
      (void)printf("%snull", i != 0 ? "," : "");
    else
      (void)printf("%s%d.%02d", i != 0 ? "," : "", m->load[i] / 100,
                   m->load[i] % 100);
  }
  (void)printf("]");
}

static void print_shares(const pai_sample_cpu *c)
{
  number("busyMilli", c->busy_rate);
  number("userMilli", c->user_rate);
  number("systemMilli", c->system_rate);
  number("iowaitMilli", c->iowait_rate);
}

static void print_cpus(const top *t)
{
  pai_sample_cpu c = { .struct_size = sizeof(c) };

  (void)printf(",\"cpu\":{\"count\":%u", (unsigned)t->machine.cpus);
  if (pai_sample_get_cpu(t->sample, PAI_SAMPLE_SUM, &c) == PAI_OK)
    print_shares(&c);
  print_load(&t->machine);
  (void)printf(",\"each\":[");
  for (size_t i = 0; pai_sample_get_cpu(t->sample, i, &c) == PAI_OK; i++) {
    (void)printf("%s{\"number\":%u", i != 0 ? "," : "", (unsigned)c.number);
    print_shares(&c);
    (void)printf("}");
  }
  (void)printf("]}");
}

static void print_memory(const pai_sample_machine *m)
{
  (void)printf(",\"memory\":{\"total\":%lld", (long long)m->memory_total);
  number("available", m->memory_available);
  number("free", m->memory_free);
  number("buffers", m->buffers);
  number("cached", m->cached);
  number("swapTotal", m->swap_total);
  number("swapFree", m->swap_free);
  number("limit", m->memory_limit);
  number("limitUsed", m->memory_used);
  (void)printf("}");
}

static void print_disk(const pai_sample_disk *d)
{
  count("readBytes", d->read_bytes);
  count("writeBytes", d->write_bytes);
  number("readBytesPerSecond", d->read_bytes_rate);
  number("writeBytesPerSecond", d->write_bytes_rate);
  number("readsPerSecond", d->reads_rate);
  number("writesPerSecond", d->writes_rate);
}

static void print_disks(const top *t)
{
  pai_sample_disk d = { .struct_size = sizeof(d) };

  (void)printf(",\"disks\":{\"count\":%zu", t->machine.disks);
  if (pai_sample_get_disk(t->sample, PAI_SAMPLE_SUM, &d) == PAI_OK)
    print_disk(&d);
  (void)printf(",\"each\":[");
  for (size_t i = 0; pai_sample_get_disk(t->sample, i, &d) == PAI_OK; i++) {
    (void)printf("%s{", i != 0 ? "," : "");
    text("name", d.name);
    print_disk(&d);
    number("busyPermille", d.busy_permille);
    (void)printf(",\"counted\":%s}", d.counted ? "true" : "false");
  }
  (void)printf("]}");
}

static void print_network(const pai_sample_network *n)
{
  count("rxBytes", n->rx_bytes);
  count("txBytes", n->tx_bytes);
  number("rxBytesPerSecond", n->rx_bytes_rate);
  number("txBytesPerSecond", n->tx_bytes_rate);
  number("rxPacketsPerSecond", n->rx_packets_rate);
  number("txPacketsPerSecond", n->tx_packets_rate);
  number("rxErrorsPerSecond", n->rx_errors_rate);
  number("txErrorsPerSecond", n->tx_errors_rate);
}

static void print_networks(const top *t)
{
  pai_sample_network n = { .struct_size = sizeof(n) };

  (void)printf(",\"networks\":{\"count\":%zu", t->machine.networks);
  if (pai_sample_get_network(t->sample, PAI_SAMPLE_SUM, &n) == PAI_OK)
    print_network(&n);
  (void)printf(",\"each\":[");
  for (size_t i = 0; pai_sample_get_network(t->sample, i, &n) == PAI_OK; i++) {
    (void)printf("%s{", i != 0 ? "," : "");
    text("name", n.name);
    print_network(&n);
    (void)printf(",\"counted\":%s}", n.counted ? "true" : "false");
  }
  (void)printf("]}");
}

static void print_file_systems(const top *t)
{
  pai_sample_file_system f = { .struct_size = sizeof(f) };

  (void)printf(",\"fileSystems\":[");
  for (size_t i = 0; pai_sample_get_file_system(t->sample, i, &f) == PAI_OK;
       i++) {
    (void)printf("%s{", i != 0 ? "," : "");
    text("path", f.path);
    number("total", f.total);
    number("free", f.free);
    (void)printf("}");
  }
  (void)printf("]");
}

static void print_gpu(const top *t, size_t i)
{
  static const char *const healths[] = { "?", "healthy", "worn", "sick",
                                         "lost" };
  pai_gpu_view g = { .struct_size = sizeof(g) };
  pai_sample_gpu v = { .struct_size = sizeof(v) };

  if (pai_gpus_get(t->gpus, i, &g) < 0 ||
      pai_sample_get_gpu(t->sample, i, &v) < 0)
    return;
  (void)printf("%s{", i != 0 ? "," : "");
  text("model", g.model);
  (void)printf(",");
  text("uuid", g.uuid);
  (void)printf(",");
  text("pci", g.pci);
  number("number", g.number);
  number("parent", g.parent == PAI_NO_GPU ? -1 : (int64_t)g.parent);
  (void)printf(",\"health\":\"%s\",",
               healths[v.lost ? PAI_GPU_LOST : g.health]);
  text("reason", g.reason);
  number("busyPercent", v.busy_percent);
  number("memoryBusyPercent", v.memory_busy_percent);
  number("memoryTotal", v.memory_total);
  number("memoryUsed", v.memory_used);
  number("temperature", v.temperature);
  number("powerMilliwatts", v.power_mw);
  number("powerLimitMilliwatts", v.power_limit_mw);
  (void)printf("}");
}

static void print_groups(const top *t)
{
  (void)printf(",\"groups\":[");
  for (size_t i = 0; i < t->group_count; i++) {
    const pai_sample_group *g = &t->groups[i];

    (void)printf("%s{\"group\":%lld,", i != 0 ? "," : "", (long long)g->id);
    text("name", g->name);
    number("processes", g->processes);
    number("cpuMilli", g->cpu_rate);
    number("memory", g->memory);
    number("gpuMemory", g->gpu_memory);
    (void)printf("}");
  }
  (void)printf("]");
}

void top_print_json(const top *t, pai_time time)
{
  (void)printf("{");
  text("host", t->host);
  number("timeUs", time);
  number("elapsedUs", t->machine.elapsed);
  print_cpus(t);
  print_memory(&t->machine);
  print_disks(t);
  print_networks(t);
  print_file_systems(t);
  (void)printf(",\"gpus\":[");
  for (size_t i = 0; i < t->machine.gpus; i++)
    print_gpu(t, i);
  (void)printf("],\"notes\":[");
  for (size_t i = 0; pai_gpus_note(t->gpus, i) != NULL; i++) {
    const char *note = pai_gpus_note(t->gpus, i);

    (void)printf("%s", i != 0 ? "," : "");
    cli_json_string(stdout, note, strlen(note));
  }
  (void)printf("]");
  print_groups(t);
  (void)printf("}\n");
  (void)cli_written();
}
