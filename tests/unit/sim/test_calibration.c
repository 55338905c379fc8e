/*
 * test_calibration.c - do nine of ten start before P90?
 *
 * Traces that are made up after published ones run under a policy; now and then
 * a job that comes and has to wait asks when it will start.  The first third
 * only teaches.  Soak runs, see docs/internals/soak.md, take all rows, and
 * seeds of their own.
 */
#include "testing.h"

#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>

/* Clusters of 256 GPUs, with loads that make queues. */
static const struct row {
  int like;
  const char *policy;
  uint32_t load;
  uint64_t jobs, every;
  bool all, quick; /* also in a short run */
} rows[] = {
  { PAI_LIKE_PHILLY, "fifo", 700, 20000, 8, false, true },
  { PAI_LIKE_HELIOS, "fifo", 750, 20000, 20, false, true },
  { PAI_LIKE_PHILLY, "backfill", 850, 30000, 5, false, true },
  { PAI_LIKE_HELIOS, "backfill", 900, 20000, 10, false, true },
  { PAI_LIKE_PHILLY, "fifo", 680, 40000, 20, false, false },
  { PAI_LIKE_HELIOS, "fifo", 700, 40000, 20, false, false },
  { PAI_LIKE_PHILLY, "backfill", 900, 40000, 5, false, false },
  { PAI_LIKE_HELIOS, "backfill", 850, 40000, 10, false, false },
};

static void tell(const struct row *row, uint64_t seed, const world_result *r)
{
  if (r->told == 0)
    return;
  print_message(
    "%s %s %u seed %llu: %llu asked; before P10 %llu, P50 %llu, P90 %llu of "
    "1000; without what had come true P50 %llu, P90 %llu; P90 is %llu "
    "hundredths of P50\n",
    row->like == PAI_LIKE_PHILLY ? "philly" : "helios", row->policy, row->load,
    (unsigned long long)seed, (unsigned long long)r->told,
    (unsigned long long)(r->by10 * 1000 / r->told),
    (unsigned long long)(r->by50 * 1000 / r->told),
    (unsigned long long)(r->by90 * 1000 / r->told),
    (unsigned long long)(r->raw50 * 1000 / r->told),
    (unsigned long long)(r->raw90 * 1000 / r->told),
    (unsigned long long)(r->width / r->told / 10));
}

static void run(const struct row *row, uint64_t seed, world_result *r)
{
  pai_generate_options g = PAI_GENERATE_OPTIONS_INIT;
  const world_options o = { .cluster = "nodes:32 gpu:8 cpus:64 mem:1T",
                            .policy = row->policy,
                            .seed = seed,
                            .jobs = row->jobs,
                            .every = row->every,
                            .learn = row->jobs / 3,
                            .runs = 20,
                            .all = row->all };
  pai_trace *t;

  g.like = row->like;
  g.gpus = 256;
  g.load = row->load;
  g.jobs = row->jobs;
  g.seed = seed;
  assert_int_equal(pai_trace_generate(&t, &g, NULL), PAI_OK);
  world_run(t, &o, r);
  pai_trace_free(t);
}

static void nine_of_ten_start_before_p90(void **state)
{
  const char *soak = getenv("OPENPAI_SOAK"), *from = getenv("OPENPAI_SEED");
  uint64_t seed = from != NULL ? strtoull(from, NULL, 10) : 1;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    world_result r;

    if (soak == NULL && !rows[i].quick)
      continue;
    for (uint64_t k = 0; k < (soak != NULL ? 3 : 1); k++) {
      run(&rows[i], seed + k, &r);
      tell(&rows[i], seed + k, &r);
      if (soak != NULL && r.told < 150)
        continue; /* there was hardly a queue: nothing can be said */
      assert_true(r.told > 150);
      assert_in_range(r.by90 * 1000 / r.told, 850, 950);
      assert_in_range(r.by50 * 1000 / r.told, 400, 600);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(nine_of_ten_start_before_p90),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
