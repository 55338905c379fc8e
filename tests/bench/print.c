/* print.c - a result as a line, for people or as JSON; and the clocks */
#include "bench.h"

#include <stdio.h>

int bench_by_size(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

void bench_print(const bench *b, double ours, double base, bool json)
{
  double ratio = base / ours;

  if (json)
    printf("{\"name\":\"%s\",\"ours_ns\":%.1f,\"baseline_ns\":%.1f,"
           "\"ratio\":%.3f,\"goal\":%.2f,\"unit\":\"%s\"}\n",
           b->name, ours, base, ratio, b->goal, b->unit);
  else if (base <= 0)
    printf("%-30s %14.0f ns a %s\n", b->name, ours, b->unit);
  else if (b->goal <= 0)
    printf("%-30s %14.0f ns a %-5s baseline %14.0f ns   ratio %6.2f\n",
           b->name, ours, b->unit, base, ratio);
  else
    printf("%-30s %14.0f ns a %-5s baseline %14.0f ns   ratio %6.2f   "
           "goal %5.2f%s\n",
           b->name, ours, b->unit, base, ratio, b->goal,
           ratio < b->goal ? "   missed" : "");
  fflush(stdout);
}

void bench_print_limit(const char *name, double value, double limit,
                       const char *unit, bool json)
{
  if (json)
    printf("{\"name\":\"%s\",\"value\":%.3f,\"limit\":%.3f,\"unit\":\"%s\"}\n",
           name, value, limit, unit);
  else
    printf("%-30s %14.1f %s, at most %.0f%s\n", name, value, unit, limit,
           value > limit ? "   missed" : "");
  fflush(stdout);
}

double bench_seconds(clockid_t clock)
{
  struct timespec t;

  (void)clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
