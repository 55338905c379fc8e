/*
 * Random worlds under each policy: nothing is given twice, each decision
 * succeeds, decisions of one time come to an end, what is saved can be loaded,
 * and whoever waits can be told why.
 *
 * OPENPAI_SEED begins with another world; OPENPAI_SOAK goes through many.
 * OPENPAI_WORLDS=1 and OPENPAI_VARIANT play one of them, whose log goes to the
 * file that OPENPAI_LOG names.
 */
#include "random_world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef WORLDS /* fewer with sanitizers, which take long */
#define WORLDS 30
#endif

enum { SOAK_WORLDS = 3000, STEPS = 120 };

static uint64_t number_of(const char *name, uint64_t otherwise)
{
  const char *text = getenv(name);

  return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void live(random_world *w)
{
  random_world_submit(w);
  for (int i = 0; i < STEPS; i++) {
    random_world_happen(w);
    if (random_below(w, 3) != 0)
      (void)random_world_decide(w);
    random_world_check(w);
    if (i % 8 == 7)
      (void)random_world_settle(w);
    if (i % 24 == 23)
      random_world_explain(w);
  }
}

static void whatever_happens(void **state)
{
  uint64_t first = number_of("OPENPAI_SEED", 1);
  uint64_t worlds = getenv("OPENPAI_SOAK") != NULL
                      ? SOAK_WORLDS
                      : number_of("OPENPAI_WORLDS", WORLDS);
  const char *only = getenv("OPENPAI_VARIANT"), *log = getenv("OPENPAI_LOG");
  size_t taken = 0, decisions = 0;

  (void)state;
  for (uint64_t seed = first; seed < first + worlds; seed++)
    for (size_t i = 0; i < random_nvariants; i++) {
      random_world w;

      if (only != NULL && (size_t)atoi(only) != i)
        continue;
      random_world_begin(&w, seed, &random_variants[i]);
      if (log != NULL)
        random_world_log(&w, log);
      live(&w);
      taken += w.taken;
      decisions += w.decisions;
      random_world_end(&w);
    }
  print_message("%zu events, %zu decisions\n", taken, decisions);
  assert_true(only != NULL || decisions > worlds * 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(whatever_happens),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
