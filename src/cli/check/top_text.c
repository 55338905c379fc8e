/* top_text.c - `cluster top`: a sample as text, with bars that fill the
 * width */
#include "top.h"

#include "cells.h"

#include "screen.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 9, BAR_LEAST = 10, BAR_MOST = 50, LINE = 4096, CELL = 64 };

typedef struct screen {
  const top *t;
  FILE *out;
  char line[LINE];
  size_t len;
} screen;

/* --- a line -------------------------------------------------------------- */

static void add(screen *s, const char *fmt, ...)
#ifdef __GNUC__
  __attribute__((format(printf, 2, 3)))
#endif
  ;

static void add(screen *s, const char *fmt, ...)
{
  size_t room = sizeof(s->line) - s->len;
  va_list ap;
  int n;

  va_start(ap, fmt);
  n = vsnprintf(s->line + s->len, room, fmt, ap);
  va_end(ap);
  if (n > 0)
    s->len += (size_t)n < room ? (size_t)n : room - 1;
}

static const char *style(const char *sgr)
{
  return cli_style(stdout, sgr);
}

/* Replaces control characters in a name by '?'. */
static const char *clean(char *out, size_t size, const char *text)
{
  size_t len = strlen(text), at = 0;

  for (size_t i = 0; i < len;) {
    const unsigned char *p = (const unsigned char *)text + i;
    size_t n = cli_utf8_len(text + i, len - i);
    bool acts =
      n == 0 || *p < ' ' || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0);

    if (at + (acts ? 1 : n) >= size)
      break;
    if (acts)
      out[at++] = '?';
    else
      for (size_t k = 0; k < n; k++)
        out[at++] = text[i + k];
    i += n == 0 ? 1 : n;
  }
  out[at] = '\0';
  return out;
}

/* Prints the line and begins the next one. */
static void end_line(screen *s)
{
  while (s->len > 0 && s->line[s->len - 1] == ' ')
    s->len--;
  (void)fwrite(s->line, 1, s->len, s->out);
  (void)fputc('\n', s->out);
  s->len = 0;
  s->line[0] = '\0';
}

/* --- metrics ------------------------------------------------------------- */

static const char *bytes(char out[CELL], int64_t n)
{
  return cli_bytes(out, CELL, n);
}

static const char *rate(char out[CELL], int64_t n)
{
  char text[CELL];

  if (n < 0)
    return "?";
  (void)snprintf(out, CELL, "%s/s", bytes(text, n));
  return out;
}

static const char *number(char out[CELL], int64_t n, const char *unit)
{
  if (n < 0)
    return "?";
  (void)snprintf(out, CELL, "%lld%s", (long long)n, unit);
  return out;
}

/* Returns a part as a percentage of a whole, or -1. */
static int percent(int64_t part, int64_t whole)
{
  if (part < 0 || whole <= 0)
    return -1;
  if (part >= whole)
    return 100;
  return whole > INT64_MAX / 100 ? (int)(part / (whole / 100))
                                 : (int)(part * 100 / whole);
}

static void bar(screen *s, int value, unsigned width)
{
  unsigned full = value > 0 ? ((unsigned)value * width + 50) / 100 : 0;
  const char *color = value >= 85   ? "\033[31m"
                      : value >= 60 ? "\033[33m"
                                    : "\033[32m";

  if (value > 0 && full == 0)
    full = 1;
  add(s, "[%s", style(color));
  for (unsigned i = 0; i < full; i++)
    add(s, "|");
  add(s, "%s", style("\033[0m"));
  for (unsigned i = full; i < width; i++)
    add(s, " ");
  add(s, "] ");
  if (value < 0)
    add(s, "  ? ");
  else
    add(s, "%3d%%", value);
}

static void label(screen *s, const char *text)
{
  add(s, "%s%-*s%s", style("\033[1m"), LABEL, text, style("\033[0m"));
}

/* Returns the width of each bar, when the line has `others` other cells. */
static unsigned room(const top *t, unsigned others, unsigned bars)
{
  unsigned width = t->width > others ? (t->width - others) / bars : 0;

  return width < BAR_LEAST ? BAR_LEAST : width > BAR_MOST ? BAR_MOST : width;
}

/* --- parts --------------------------------------------------------------- */

static void print_head(screen *s)
{
  const pai_sample_machine *m = &s->t->machine;
  char host[CELL];

  add(s, "%s%s%s  %u CPUs", style("\033[1m"),
      clean(host, sizeof(host), s->t->host), style("\033[0m"),
      (unsigned)m->cpus);
  if (m->load[2] >= 0)
    add(s, "  load %d.%02d %d.%02d %d.%02d", m->load[0] / 100,
        m->load[0] % 100, m->load[1] / 100, m->load[1] % 100, m->load[2] / 100,
        m->load[2] % 100);
  if (m->threads >= 0)
    add(s, "  %d threads, %d running", m->threads, m->running);
  end_line(s);
}

static void print_cpu(screen *s)
{
  pai_sample_cpu c = { .struct_size = sizeof(c) };
  int64_t all = (int64_t)s->t->machine.cpus * 1000;

  if (pai_sample_get_cpu(s->t->sample, PAI_SAMPLE_SUM, &c) < 0)
    return;
  label(s, "CPU");
  bar(s, percent(c.busy_rate, all), room(s->t, 56, 1));
  if (c.busy_rate >= 0)
    add(s, "  user %d%%  system %d%%  waiting %d%%", percent(c.user_rate, all),
        percent(c.system_rate, all), percent(c.iowait_rate, all));
  end_line(s);
}

static void print_memory(screen *s)
{
  const pai_sample_machine *m = &s->t->machine;
  int64_t free =
    m->memory_available >= 0 ? m->memory_available : m->memory_free;
  char a[CELL], b[CELL];

  label(s, "Memory");
  bar(s, percent(m->memory_total - free, m->memory_total), room(s->t, 56, 1));
  add(s, "  %s of %s", bytes(a, m->memory_total - free),
      bytes(b, m->memory_total));
  if (m->swap_total > 0)
    add(s, "  swap %s of %s", bytes(a, m->swap_total - m->swap_free),
        bytes(b, m->swap_total));
  end_line(s);
  if (m->memory_limit < 0)
    return;
  label(s, "  limit");
  bar(s, percent(m->memory_used, m->memory_limit), room(s->t, 56, 1));
  add(s, "  %s of %s, by cgroup", bytes(a, m->memory_used),
      bytes(b, m->memory_limit));
  end_line(s);
}

static void print_gpu(screen *s, size_t i)
{
  pai_gpu_view g = { .struct_size = sizeof(g) };
  pai_sample_gpu v = { .struct_size = sizeof(v) };
  char a[CELL], b[CELL], name[CELL];
  unsigned width = room(s->t, 74, 2);

  if (pai_gpus_get(s->t->gpus, i, &g) < 0 ||
      pai_sample_get_gpu(s->t->sample, i, &v) < 0)
    return;
  (void)snprintf(name, sizeof(name), "%s %u",
                 g.parent == PAI_NO_GPU ? "GPU" : "  MIG", g.number);
  label(s, name);
  if (v.lost) {
    add(s, "%slost%s  ", style("\033[1;31m"), style("\033[0m"));
  } else {
    bar(s, v.busy_percent, width);
    add(s, "  ");
    bar(s, percent(v.memory_used, v.memory_total), width);
    add(s, "  %s of %s  ", bytes(a, v.memory_used), bytes(b, v.memory_total));
    if (v.temperature >= 0)
      add(s, "%d C  ", v.temperature);
    if (v.power_mw >= 0)
      add(s, "%lld of %s W  ", (long long)(v.power_mw / 1000),
          number(b, v.power_limit_mw < 0 ? -1 : v.power_limit_mw / 1000, ""));
  }
  add(s, "%s", clean(name, sizeof(name), g.model));
  if (g.health != PAI_GPU_HEALTHY)
    add(s, "  %s%s%s", style("\033[31m"), clean(name, sizeof(name), g.reason),
        style("\033[0m"));
  end_line(s);
}

static void print_disk(screen *s, size_t i)
{
  pai_sample_disk d = { .struct_size = sizeof(d) };
  char a[CELL], b[CELL], c[CELL];

  if (pai_sample_get_disk(s->t->sample, i, &d) < 0)
    return;
  label(s, i == PAI_SAMPLE_SUM ? "Disk" : "");
  add(s, "read %-12s  write %-12s", rate(a, d.read_bytes_rate),
      rate(b, d.write_bytes_rate));
  if (i != PAI_SAMPLE_SUM)
    add(s, "  busy %3s  %s",
        number(c, d.busy_permille < 0 ? -1 : d.busy_permille / 10, "%"),
        clean(a, sizeof(a), d.name));
  end_line(s);
}

static void print_network(screen *s, size_t i)
{
  pai_sample_network n = { .struct_size = sizeof(n) };
  char a[CELL], b[CELL];

  if (pai_sample_get_network(s->t->sample, i, &n) < 0)
    return;
  label(s, i == PAI_SAMPLE_SUM ? "Network" : "");
  add(s, "in   %-12s  out   %-12s", rate(a, n.rx_bytes_rate),
      rate(b, n.tx_bytes_rate));
  if (i != PAI_SAMPLE_SUM)
    add(s, "  %9s  %s", "", clean(a, sizeof(a), n.name));
  end_line(s);
}

/* Prints the totals, and of several devices of a kind the active ones. */
static void print_devices(screen *s)
{
  print_disk(s, PAI_SAMPLE_SUM);
  for (size_t i = 0; i < s->t->machine.disks; i++) {
    pai_sample_disk d = { .struct_size = sizeof(d) };

    if (pai_sample_get_disk(s->t->sample, i, &d) == PAI_OK &&
        (d.read_bytes_rate > 0 || d.write_bytes_rate > 0))
      print_disk(s, i);
  }
  print_network(s, PAI_SAMPLE_SUM);
  for (size_t i = 0; i < s->t->machine.networks; i++) {
    pai_sample_network n = { .struct_size = sizeof(n) };

    if (pai_sample_get_network(s->t->sample, i, &n) == PAI_OK &&
        (n.rx_bytes_rate > 0 || n.tx_bytes_rate > 0))
      print_network(s, i);
  }
}

static void print_file_systems(screen *s)
{
  for (size_t i = 0; i < s->t->machine.file_systems; i++) {
    pai_sample_file_system f = { .struct_size = sizeof(f) };
    char a[CELL], b[CELL], path[CELL];

    if (pai_sample_get_file_system(s->t->sample, i, &f) < 0 || f.total <= 0)
      continue;
    label(s, i == 0 ? "Files" : "");
    bar(s, percent(f.total - f.free, f.total), room(s->t, 56, 1));
    add(s, "  %s of %s in %s", bytes(a, f.total - f.free), bytes(b, f.total),
        clean(path, sizeof(path), f.path));
    end_line(s);
  }
}

static void print_groups(screen *s)
{
  bool gpus = s->t->machine.gpus != 0;

  end_line(s);
  add(s, "%s%10s  %-16s %7s %11s %5s%s%s", style("\033[1m"), "GROUP", "NAME",
      "CPU", "MEMORY", "PROCS", gpus ? "  GPU MEMORY" : "", style("\033[0m"));
  end_line(s);
  for (size_t i = 0; i < s->t->group_count; i++) {
    const pai_sample_group *g = &s->t->groups[i];
    char a[CELL], b[CELL], name[CELL];

    add(s, "%10lld  %-16s %7s %11s %5d", (long long)g->id,
        clean(name, sizeof(name), g->name),
        number(a, g->cpu_rate < 0 ? -1 : g->cpu_rate / 10, "%"),
        bytes(b, g->memory), g->processes);
    if (gpus)
      add(s, "  %10s", bytes(a, g->gpu_memory));
    end_line(s);
  }
}

static void print(void *data, FILE *out)
{
  const top *t = data;
  screen s = { .t = t, .out = out };

  print_head(&s);
  print_cpu(&s);
  print_memory(&s);
  for (size_t i = 0; i < t->machine.gpus; i++)
    print_gpu(&s, i);
  for (size_t i = 0; pai_gpus_note(t->gpus, i) != NULL; i++) {
    char note[LINE / 4];

    add(&s, "note: %s", clean(note, sizeof(note), pai_gpus_note(t->gpus, i)));
    end_line(&s);
  }
  print_devices(&s);
  print_file_systems(&s);
  print_groups(&s);
}

void top_print(top *t)
{
  if (t->screen)
    cli_screen_draw(print, t);
  else
    print(t, stdout);
  (void)cli_written();
}
