/* Schedulers that are saved and loaded go on as if nothing had happened. */
#include "sched/random_world.h"
#include "sched/script.h"
#include "sched/scribe.h"
#include "sched/wild.h"

enum { STEPS = 600 };

/* --- comparing ------------------------------------------------------------ */

/* What follows from what was saved is as it was. */
static void check_views(const pai_sched *a, const pai_sched *b)
{
  pai_sched_node_view m = { .struct_size = sizeof(m) }, n = m;
  pai_sched_vc_view v = { .struct_size = sizeof(v) }, u = v;

  for (size_t i = 0; pai_sched_view_node(a, i, &m) == PAI_OK; i++) {
    assert_ok(pai_sched_view_node(b, i, &n));
    assert_true(m.free_mask == n.free_mask && m.sick_mask == n.sick_mask);
    assert_int_equal(m.free_gpus, n.free_gpus);
    assert_int_equal(m.free_cpus, n.free_cpus);
    assert_int_equal(m.free_memory, n.free_memory);
  }
  for (size_t i = 0; pai_sched_view_vc(a, i, &v) == PAI_OK; i++) {
    assert_ok(pai_sched_view_vc(b, i, &u));
    assert_int_equal(v.used, u.used);
    assert_int_equal(v.lent, u.lent);
    assert_int_equal(v.waiting, u.waiting);
    assert_int_equal(v.running, u.running);
  }
  assert_true(pai_sched_next_time(a) == pai_sched_next_time(b));
}

static void same_saved(const pai_sched *a, const pai_sched *b)
{
  pai__buf first, again;

  scribe_save(a, &first);
  scribe_save(b, &again);
  scribe_same(&first, &again);
  pai__buf_dispose(&first);
  pai__buf_dispose(&again);
  check_views(a, b);
}

/* Nothing but the text tells the two apart. */
static void check_saved(const random_world *w)
{
  for (int i = 0; i < RANDOM_BESIDE; i++)
    if (w->beside[i] != NULL)
      same_saved(w->s, w->beside[i]);
}

/* What was in one of the snapshots: else these stories prove nothing of it. */
static const char *const parts[] = {
  "\"state\":\"claimed\"",
  "\"state\":\"placed\"",
  "\"state\":\"started\"",
  "\"state\":\"stopping\"",
  "\"state\":\"returned\"",
  "\"cause\":\"limit\"",
  "\"cause\":\"preempted\"",
  "\"by\":",
  "\"borrowed\":",
  "\"never\":",
  "\"done\":",
  "\"when\":\"failed\"",
  "\"cancelled\":true",
  "\"lost\":",
  "\"sick\":[",
  "\"next_port\":",
  "\"reservations\":",
  "\"decisions\":[",
  "\"shadow\":",
  "\"failed\":{",
  "\"next_limit\":",
  "\"text\":",
  "\"at\":",
  "\"alike\":{",
  "\"whys\":[{",
  "]]]]", /* a row with a run */
};
static bool seen[PAI__LEN(parts)];

static void look_for_parts(const char *saved)
{
  for (size_t i = 0; i < PAI__LEN(parts); i++)
    seen[i] = seen[i] || strstr(saved, parts[i]) != NULL;
}

static void look_at(const random_world *w)
{
  pai__buf saved;

  scribe_save(w->s, &saved);
  look_for_parts(pai__buf_text(&saved));
  pai__buf_dispose(&saved);
}

/* What is short tells as much: of it the same is made, and written again. */
static pai_sched *load_lean(const random_world *w)
{
  pai__buf saved, again;
  pai_sched *s;

  scribe_save_lean(w->s, &saved);
  look_for_parts(pai__buf_text(&saved));
  s = random_world_load(w, pai__buf_text(&saved));
  scribe_save_lean(s, &again);
  scribe_same(&saved, &again);
  pai__buf_dispose(&again);
  pai__buf_dispose(&saved);
  return s;
}

/* [0] is one that was saved and loaded, [1] the same of [0], [2] a fork. */
static void part(random_world *w, bool shadows)
{
  pai__buf saved;

  for (int i = 0; i < RANDOM_BESIDE; i++) {
    pai_sched_free(w->beside[i]);
    w->beside[i] = NULL;
  }
  w->beside[0] = load_lean(w);
  scribe_save(w->beside[0], &saved);
  w->beside[1] = random_world_load(w, pai__buf_text(&saved));
  pai__buf_dispose(&saved);
  if (!shadows)
    assert_ok(pai_sched_fork(&w->beside[2], w->s, NULL));
}

/* What was decided comes out again when the log is read. */
static void check_log(const random_world *w, const pai__buf *log,
                      const pai__buf *decisions)
{
  pai__buf got = test_buf();
  pai_error *err = NULL;
  size_t line;
  pai_sched *s;

  s = scribe_replay(pai__buf_text(log), w->variant->table, &got, &line, &err);
  if (s == NULL)
    fail_msg("line %zu: %s", line, pai_error_message(err));
  scribe_same(decisions, &got);
  same_saved(w->s, s);
  pai_sched_free(s);
  pai__buf_dispose(&got);
}

/* A shrunk run holds the places of what leaves, until that is told. */
TEST(tasks_that_leave_are_saved)
{
  pai_sched *s =
    scene_new("nodes:1 gpu:4 cpus:16 mem:1G", "priority", NULL, NULL);
  pai_sched *loaded;
  pai__buf lean;

  scene_script(s, "submit 1 gpus=1 priority=1 tasks=4 min_tasks=2 => start 1\n"
                  "submit 2 gpus=1 priority=1 => shrink 1 to 3; load\n");
  scribe_save_lean(s, &lean);
  assert_has(pai__buf_text(&lean), "\"leaving\":1");
  assert_ok(
    pai_sched_load(&loaded, pai__buf_text(&lean), lean.len, NULL, NULL));
  pai__buf_dispose(&lean);
  same_saved(s, loaded);
  scene_script(s, "resized 1 => start 2");
  scene_script(loaded, "resized 1 => start 2");
  pai_sched_free(loaded);
  pai_sched_free(s);
}

/* --- stories -------------------------------------------------------------- */

/* Another policy decides beside it, or instead of it. */
static void swap_policies(random_world *w)
{
  static const char *const options[] = { NULL, "{ \"greedy\" : true }",
                                         "{\"place\":\"spread\"}" };
  static const char *const policies[] = { "fifo", "backfill", "capacity",
                                          NULL };
  pai_sched_event e = { .kind = PAI_SCHED_SHADOW,
                        .text = policies[random_below(w, 4)],
                        .options = options[random_below(w, 3)] };

  if (random_below(w, 8) == 0 && e.text != NULL)
    e.kind = PAI_SCHED_POLICY;
  (void)random_world_tell(w, e);
}

static void tell_story(uint64_t seed, const random_variant *variant)
{
  bool shadows = variant->table == NULL && seed % 2 == 0;
  pai__buf log = test_buf(), decisions = test_buf();
  random_world w;

  random_world_begin(&w, seed, variant);
  w.may_fail = shadows;
  assert_ok(pai_sched_set_log(w.s, scribe_write, &log, NULL));
  w.decided = &decisions;
  for (int i = 0; i < STEPS; i++) {
    if (i % 5 == 4)
      look_at(&w);
    if (i % 50 == 49) {
      check_saved(&w);
      part(&w, shadows);
      check_saved(&w);
    }
    if (shadows && random_below(&w, 12) == 0)
      swap_policies(&w);
    random_world_happen(&w);
    if (random_below(&w, 3) == 0)
      (void)random_world_decide(&w);
  }
  check_log(&w, &log, &decisions);
  /* It was no quiet story. */
  assert_true(w.taken > 100 && w.last > 20);
  random_world_end(&w);
  pai__buf_dispose(&log);
  pai__buf_dispose(&decisions);
}

TEST(what_was_saved_goes_on_alike)
{
  /* With an even one there are shadows. */
  uint64_t seeds = random_number_of("OPENPAI_SCHED_SEEDS", 4);

  for (uint64_t seed = 1; seed <= seeds; seed++)
    for (size_t i = 0; i < random_nvariants; i++)
      tell_story(seed, &random_variants[i]);
}

TEST(the_stories_told_of_everything)
{
  for (size_t i = 0; i < PAI__LEN(parts); i++)
    if (!seen[i])
      fail_msg("no snapshot had %s", parts[i]);
}
