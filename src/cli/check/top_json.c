/* top_json.c - `cluster top`: a sample as a JSON object on one line */
#include "json.h"
#include "top.h"

/* Prints a member; -1 as null. */
static void number(const char *key, int64_t value)
{
  cli_json_print(stdout, ",%s:%lld", key, (long long)cli_known_or_null(value));
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
  cli_json_print(stdout, ",\"readBytes\":%llu,\"writeBytes\":%llu",
                 (unsigned long long)d->read_bytes,
                 (unsigned long long)d->write_bytes);
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
    (void)printf("%s", i != 0 ? "," : "");
    cli_json_print(stdout, "{\"name\":%s", d.name);
    print_disk(&d);
    number("busyPermille", d.busy_permille);
    (void)printf(",\"counted\":%s}", d.counted ? "true" : "false");
  }
  (void)printf("]}");
}

static void print_network(const pai_sample_network *n)
{
  cli_json_print(stdout, ",\"rxBytes\":%llu,\"txBytes\":%llu",
                 (unsigned long long)n->rx_bytes,
                 (unsigned long long)n->tx_bytes);
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
    (void)printf("%s", i != 0 ? "," : "");
    cli_json_print(stdout, "{\"name\":%s", n.name);
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
    (void)printf("%s", i != 0 ? "," : "");
    cli_json_print(stdout, "{\"path\":%s,\"total\":%lld,\"free\":%lld}",
                   f.path, (long long)cli_known_or_null(f.total),
                   (long long)cli_known_or_null(f.free));
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
  (void)printf("%s", i != 0 ? "," : "");
  cli_json_print(stdout,
                 "{\"model\":%s,\"uuid\":%s,\"pci\":%s,\"number\":%u,"
                 "\"parent\":%lld,\"health\":%s,\"reason\":%s",
                 g.model, g.uuid, g.pci, (unsigned)g.number,
                 g.parent == PAI_NO_GPU ? (long long)CLI_NULL
                                        : (long long)g.parent,
                 healths[v.lost ? PAI_GPU_LOST : g.health], g.reason);
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

    (void)printf("%s", i != 0 ? "," : "");
    cli_json_print(stdout, "{\"group\":%lld,\"name\":%s", (long long)g->id,
                   g->name);
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
  cli_json_print(stdout, "{\"host\":%s", t->host);
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
    (void)printf("%s", i != 0 ? "," : "");
    cli_json_print(stdout, "%s", pai_gpus_note(t->gpus, i));
  }
  (void)printf("]");
  print_groups(t);
  (void)printf("}\n");
  (void)cli_written();
}
