/*
 * cmd_cluster_top.c - `cluster top`: live usage of this machine
 *
 * On a terminal it uses a screen of its own, which it always restores;
 * otherwise it prints plain lines or JSON.
 */
#include "quantity.h"
#include "screen.h"
#include "top.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 250, LEAST_MS = 50, MOST_MS = 3600 * 1000 };

static pai_time clock_us(clockid_t clock)
{
  struct timespec now;

  (void)clock_gettime(clock, &now);
  return (pai_time)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* --- samples ------------------------------------------------------------- */

/* Whether group a is shown before b. */
static bool is_busier(const pai_sample_group *a, const pai_sample_group *b)
{
  if (a->cpu_rate != b->cpu_rate)
    return a->cpu_rate > b->cpu_rate;
  if (a->gpu_memory != b->gpu_memory)
    return a->gpu_memory > b->gpu_memory;
  if (a->memory != b->memory)
    return a->memory > b->memory;
  return a->id < b->id;
}

static void keep_group(top *t, const pai_sample_group *g)
{
  size_t at = t->group_count;

  while (at > 0 && is_busier(g, &t->groups[at - 1]))
    at--;
  if (at == TOP_GROUPS)
    return;
  if (t->group_count < TOP_GROUPS)
    t->group_count++;
  memmove(&t->groups[at + 1], &t->groups[at],
          (t->group_count - at - 1) * sizeof(*g));
  t->groups[at] = *g;
}

/* Reads the machine's metrics and the busiest process groups. */
static void read_sample(top *t)
{
  t->machine = (pai_sample_machine){ .struct_size = sizeof(t->machine) };
  t->group_count = 0;
  if (pai_sample_get(t->sample, &t->machine) < 0)
    return;
  for (size_t i = 0; i < t->machine.groups; i++) {
    pai_sample_group g = { .struct_size = sizeof(g) };

    if (pai_sample_get_group(t->sample, i, &g) == PAI_OK)
      keep_group(t, &g);
  }
}

static bool take(top *t)
{
  pai_error *err;

  if (pai_sampler_take(&t->sample, t->sampler, clock_us(CLOCK_MONOTONIC),
                       &err) < 0) {
    (void)cli_fail_with(NULL, err);
    return false;
  }
  read_sample(t);
  return true;
}

static void on_size(void *user_data)
{
  top *t = user_data;

  cli_screen_size(&t->width, &t->height);
  if (t->sample != NULL && t->machine.elapsed > 0)
    top_print(t);
}

/* Takes a first sample, which has no rates, and shows `count` further ones; 0:
 * until it is interrupted. */
static bool show(top *t, unsigned long count, int interval_ms, bool json)
{
  int wait_ms = interval_ms < FIRST_MS ? interval_ms : FIRST_MS;

  if (!take(t))
    return false;
  for (unsigned long shown = 0; count == 0 || shown < count; shown++) {
    if (!cli_screen_wait(wait_ms, on_size, t))
      break;
    if (!take(t))
      return false;
    if (json)
      top_print_json(t, clock_us(CLOCK_REALTIME));
    else {
      if (!t->screen && shown != 0)
        (void)putchar('\n');
      top_print(t);
    }
    if (ferror(stdout))
      break; /* cli_written() reports it at the end */
    wait_ms = interval_ms;
  }
  return true;
}

/* --- the verb ------------------------------------------------------------ */

/* Parses "0.5" into 500; -1: not a number of seconds. */
static int parse_ms(const char *text)
{
  int64_t ms;
  const char *rest = cli_read_decimal(text, 3, &ms);

  return rest != NULL && *rest == '\0' && ms >= LEAST_MS && ms <= MOST_MS
           ? (int)ms
           : -1;
}

static bool open_sampler(top *t)
{
  static const char *const paths[] = { "/" };
  pai_sampler_options o = PAI_SAMPLER_OPTIONS_INIT;
  pai_error *err;

  o.all_groups = 1;
  o.paths = paths;
  o.path_count = 1;
  if (pai_sampler_new(&t->sampler, &o, &err) < 0) {
    (void)cli_fail_with(NULL, err);
    return false;
  }
  t->gpus = pai_sampler_gpus(t->sampler);
  if (gethostname(t->host, sizeof(t->host) - 1) != 0)
    t->host[0] = '\0';
  return true;
}

static int watch(unsigned long count, int interval_ms, bool json)
{
  static top t;
  bool good;

  if (!open_sampler(&t))
    return CLI_NO;
  cli_screen_size(&t.width, &t.height);
  t.screen = !json && count == 0 && cli_is_terminal(stdout);
  cli_screen_catch();
  if (t.screen)
    cli_screen_enter();
  good = show(&t, count, interval_ms, json);
  cli_screen_leave();
  pai_sampler_free(t.sampler);
  cli_screen_over();
  return good ? CLI_OK : CLI_NO;
}

int cli_do_cluster_top(const cli_cluster_top_args *a)
{
  int interval = parse_ms(a->interval);

  if (interval < 0)
    return cli_misused("--interval needs seconds from 0.05 to 3600",
                       a->interval);
  return watch(a->once ? 1 : cli_number(a->count_, 0), interval, a->json);
}
