/*
 * Random worlds under each policy, and one that asks for random things: nothing
 * is given twice, each decision succeeds, decisions of one time come to an end,
 * what is saved can be loaded, whoever waits can be told why, a fork goes the
 * same way, and in the end all is free.
 *
 * OPENPAI_SEED begins with another world; OPENPAI_SOAK goes through many.
 * OPENPAI_WORLDS=1 and OPENPAI_VARIANT play one of them, whose log goes to the
 * file that OPENPAI_LOG names.
 */
#include "random_world.h"
#include "scribe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef WORLDS /* fewer with sanitizers, which take long */
#define WORLDS 30
#endif

enum { SOAK_WORLDS = 3000, STEPS = 120 };

static void step(random_world *w, int i)
{
  random_world_happen(w);
  if (random_below(w, 3) != 0)
    (void)random_world_decide(w);
  random_world_check(w);
  if (i % 8 == 7 && w->variant->table == NULL)
    (void)random_world_settle(w);
  if (i % 24 == 23)
    random_world_explain(w);
}

/* A fork, to which the same happens, is the same then; and what happens to it
 * changes nothing in the other. */
static void fork_and_go_on(random_world *w)
{
  random_world copy = *w;
  pai__buf before, after;

  assert_ok(pai_sched_fork(&copy.s, w->s, NULL));
  scribe_save(w->s, &before);
  for (int i = 0; i < 25; i++)
    step(&copy, 0);
  scribe_save(w->s, &after);
  scribe_same(&before, &after);
  for (int i = 0; i < 25; i++)
    step(w, 0);
  pai__buf_dispose(&before);
  pai__buf_dispose(&after);
  scribe_save(w->s, &before);
  scribe_save(copy.s, &after);
  scribe_same(&before, &after);
  pai__buf_dispose(&before);
  pai__buf_dispose(&after);
  pai_sched_free(copy.s);
}

static void live(random_world *w)
{
  random_world_submit(w);
  for (int i = 0; i < STEPS; i++)
    step(w, i);
  fork_and_go_on(w);
  random_world_end_all(w);
}

TEST(whatever_happens)
{
  uint64_t first = random_number_of("OPENPAI_SEED", 1);
  uint64_t worlds = getenv("OPENPAI_SOAK") != NULL
                      ? SOAK_WORLDS
                      : random_number_of("OPENPAI_WORLDS", WORLDS);
  const char *only = getenv("OPENPAI_VARIANT"), *log = getenv("OPENPAI_LOG");
  size_t taken = 0, kinds[PAI_DECISION_SHRINK + 1] = { 0 };

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
      for (size_t k = 0; k < PAI__LEN(kinds); k++)
        kinds[k] += w.kinds[k];
      random_world_end(&w);
    }
  print_message("%zu events, %zu starts, %zu stops, %zu times grown, %zu "
                "shrunk\n",
                taken, kinds[PAI_DECISION_START], kinds[PAI_DECISION_STOP],
                kinds[PAI_DECISION_GROW], kinds[PAI_DECISION_SHRINK]);
  if (only == NULL && worlds >= 30)
    for (size_t k = PAI_DECISION_START; k < PAI__LEN(kinds); k++)
      assert_true(kinds[k] != 0);
  assert_true(only != NULL || kinds[PAI_DECISION_START] > worlds * 20);
}
