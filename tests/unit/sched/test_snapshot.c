/* Schedulers that are saved and loaded go on as if nothing had happened. */
#include "scribe.h"
#include "wild.h"

#include "base/prng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Two kinds, two racks, a node without GPUs. */
#define NODES(more)                                                      \
  "gpus: {v100: {memory: 16Gi}}\n"                                       \
  "skus:\n"                                                              \
  "  one: {gpu: t4, gpus: 4, near: {switch: 2}, cpus: 8, memory: 1Gi}\n" \
  "  two: {gpu: v100, gpus: 4, cpus: 70, memory: 4Gi, numa: 2}\n"        \
  "  none: {cpus: 4, memory: 1Gi}\n"                                     \
  "nodes:\n"                                                             \
  "  - {name: node0001, sku: one, rack: r1}\n"                           \
  "  - {name: node0002, sku: one, rack: r1, sick: broken, pin: mine}\n"  \
  "  - {name: node0003, sku: two, rack: r2}\n"                           \
  "  - {name: node0004, sku: none, rack: r2}\n" more
#define CELLS                                                               \
  "physicalCluster:\n"                                                      \
  "  cellTypes:\n"                                                          \
  "    NODE: {childCellType: GPU, childCellNumber: 4, isNodeLevel: true}\n" \
  "    RACK: {childCellType: NODE, childCellNumber: 2}\n"                   \
  "  physicalCells:\n"                                                      \
  "  - {cellType: RACK, cellChildren: [{cellAddress: node0001}, "           \
  "{cellAddress: node0002}]}\n"                                             \
  "  - {cellType: RACK, cellChildren: [{cellAddress: node0003}, "           \
  "{cellAddress: node0004}]}\n"                                             \
  "virtualClusters:\n"                                                      \
  "  a: {virtualCells: [{cellType: RACK.NODE, cellNumber: 2}]}\n"           \
  "  default: {virtualCells: [{cellType: RACK.NODE, cellNumber: 2}]}\n"

static const char *const clusters[] = {
  NODES(""), NODES("  - {name: node0005, sku: two}\n"), CELLS
};

/* --- a world where anything may happen ------------------------------------ */

enum { SCHEDS = 4 };

typedef struct world {
  pai__prng prng;
  pai_cluster *clusters[PAI__LEN(clusters)];
  pai_sched *all[SCHEDS]; /* driven alike; [0] has a log */
  pai__buf decisions[SCHEDS];
  pai__buf log;
  const char *policy; /* built in, or NULL: */
  const pai_policy *table;
  pai_time now;
  uint64_t last; /* id */
  bool shadows;
  size_t taken, refused, failed;
} world;

static uint32_t below(world *w, uint32_t n)
{
  return (uint32_t)pai__prng_below(&w->prng, n);
}

static bool rarely(world *w)
{
  return below(w, 8) == 0;
}

/* The same for all of them. */
static int send(world *w, pai_sched_event e)
{
  int first = 0;

  e.struct_size = sizeof(e);
  e.time = w->now;
  for (int i = 0; i < SCHEDS; i++) {
    int rc;

    if (w->all[i] == NULL)
      continue;
    rc = pai_sched_send(w->all[i], &e, NULL);
    if (i != 0)
      assert_int_equal(rc, first);
    else
      first = rc;
  }
  if (first == PAI_OK)
    w->taken++;
  else
    w->refused++;
  return first;
}

/* One that is there, mostly. */
static uint64_t any_id(world *w)
{
  uint64_t list[64], id = 0;
  uint32_t n = 0;

  while (n < PAI__LEN(list) && (id = pai_sched_next(w->all[0], id)) != 0)
    list[n++] = id;
  return n == 0 || rarely(w) ? 1 + below(w, (uint32_t)w->last + 1)
                             : list[below(w, n)];
}

/* An instance that runs, mostly. */
static void any_instance(world *w, pai_sched_event *e)
{
  pai_sched_event list[64];
  uint32_t n = 0, instance;
  uint64_t id = 0;

  while ((id = pai_sched_next(w->all[0], id)) != 0)
    for (instance = PAI_SCHED_ALL;
         n < PAI__LEN(list) &&
         pai_sched_next_running(w->all[0], id, &instance, NULL) == PAI_OK;
         n++)
      list[n] = (pai_sched_event){ .id = id, .instance = instance };
  *e = (pai_sched_event){ .id = any_id(w), .instance = below(w, 3) };
  if (n != 0 && !rarely(w))
    *e = list[below(w, n)];
}

static const char *any_text(world *w, const char *const *list, uint32_t n)
{
  uint32_t i = below(w, n + 4);

  return i < n ? list[i] : NULL;
}

static const char *const users[] = { "ann", "bob", "c \"d\" \xc3\xa9\n" };
static const char *const withins[] = { "node", "rack", "switch" };
static const char *const pins[] = { "mine", "node0001" };
static const char *const types[] = { "t4", "v100", "GPU", "one" };
static const char *const names[] = { "node0001", "node0002", "node0003",
                                     "node0004", "node0005" };

static pai_want any_want(world *w)
{
  pai_want want = { .struct_size = sizeof(want) };

  want.name = rarely(w) ? "worker" : NULL;
  want.type = rarely(w) ? any_text(w, types, 4) : NULL;
  want.tasks = 1 + below(w, 4);
  want.min_tasks = below(w, 2) ? 1 + below(w, want.tasks) : 0;
  want.gpus = below(w, 4);
  want.cpus = below(w, 3);
  want.ports = below(w, 3);
  want.memory = (uint64_t)below(w, 3) << 27;
  return want;
}

static void submit(world *w)
{
  pai_want wants[2] = { any_want(w), any_want(w) };
  pai_after after = { any_id(w), 1 + (int)below(w, 3) };
  pai_request q = { .struct_size = sizeof(q),
                    .id = w->last + 1,
                    .name = below(w, 2) ? "a job" : NULL,
                    .vc = rarely(w) ? "a" : NULL,
                    .user = any_text(w, users, 3),
                    .within = rarely(w) ? any_text(w, withins, 3) : NULL,
                    .pin = rarely(w) ? any_text(w, pins, 2) : NULL,
                    .priority = (int)below(w, 6) - 1,
                    .duration = below(w, 50),
                    .limit = below(w, 3) == 0 ? 1 + below(w, 60) : 0,
                    .instances = rarely(w) ? 1 + below(w, 5) : 0,
                    .at_once = rarely(w) ? 1 + below(w, 3) : 0,
                    .held = rarely(w),
                    .lazy = rarely(w),
                    .wants = wants,
                    .nwants = 1 + rarely(w) };

  if (rarely(w)) {
    q.after = &after;
    q.nafter = 1;
  }
  if (send(w, (pai_sched_event){ .kind = PAI_SCHED_SUBMIT, .request = &q }) ==
      PAI_OK)
    w->last++;
}

static void change(world *w)
{
  static const char *const keys[] = { "priority", "duration",  "at_once",
                                      "held",     "limit",     "instances",
                                      "tasks",    "gpus",      "cpus",
                                      "ports",    "min_tasks", "after",
                                      "memory",   "user" };
  static const struct {
    const char *key;
    const char *const *list;
    uint32_t n;
  } texts[] = { { "pin", pins, 2 },
                { "within", withins, 3 },
                { "type", types, 4 },
                { "name", users, 3 } };
  pai_sched_event e = { .kind = PAI_SCHED_CHANGE, .id = any_id(w) };
  uint32_t i = below(w, 4);

  if (below(w, 2)) {
    e.key = keys[below(w, PAI__LEN(keys))];
    e.number = (int64_t)below(w, 6) - 1;
  } else {
    e.key = texts[i].key;
    e.text = any_text(w, texts[i].list, texts[i].n);
  }
  e.want = below(w, 2);
  (void)send(w, e);
}

static void of_node(world *w)
{
  pai_sched_event e = { .kind = PAI_SCHED_NODE,
                        .node = names[below(w, 5)],
                        .gpu = (int32_t)below(w, 6) - 2,
                        .number = below(w, 2) ? 0 : below(w, 3) };
  const char *kept[] = { names[below(w, 5)], names[below(w, 5)] };
  pai_reservation r = { .struct_size = sizeof(r),
                        .name = below(w, 2) ? "r" : "s",
                        .from = w->now + below(w, 20),
                        .to = below(w, 3) ? w->now + 1 + below(w, 40) : 0,
                        .vc = rarely(w) ? "a" : NULL,
                        .user = any_text(w, users, 3),
                        .nodes = below(w, 3) ? kept : NULL,
                        .nnodes = below(w, 3) };

  e.gpu = e.gpu < 0 ? -1 : e.gpu;
  e.text = e.number != 0 ? "why\xe2\x82\xac" : NULL;
  switch (below(w, 6)) {
  case 0: (void)send(w, e); break;
  case 1:
    e.kind = PAI_SCHED_LOSE_PORT;
    e.number = 20000 + below(w, 10);
    (void)send(w, e);
    break;
  case 2:
    (void)send(w, (pai_sched_event){ .kind = PAI_SCHED_REGAIN_PORTS });
    break;
  case 3:
    (void)send(
      w, (pai_sched_event){ .kind = PAI_SCHED_RESERVE, .reservation = &r });
    break;
  case 4:
    (void)send(w,
               (pai_sched_event){ .kind = PAI_SCHED_UNRESERVE, .text = "r" });
    break;
  default:
    if (rarely(w))
      (void)send(w, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER,
                                       .cluster = w->clusters[below(w, 2)] });
  }
}

static void of_policy(world *w)
{
  static const char *const options[] = { NULL, "{ \"greedy\" : true }",
                                         "{\"place\":\"spread\"}" };
  static const char *const policies[] = { "fifo", "backfill", "capacity" };
  pai_sched_event e = { .kind = PAI_SCHED_SHADOW,
                        .text = any_text(w, policies, 3),
                        .options = options[below(w, 3)] };

  if (!w->shadows)
    return;
  if (rarely(w) && e.text != NULL)
    e.kind = PAI_SCHED_POLICY;
  (void)send(w, e);
}

/* A wild policy claims more than a share, and so does one that lends before it
 * is swapped for one that does not: that fails, for all of them. */
static void decide(world *w)
{
  int first = 0;

  for (int i = 0; i < SCHEDS; i++)
    if (w->all[i] != NULL) {
      int n = pai_sched_decide(w->all[i], w->now, NULL);

      first = i == 0 ? n : first;
      assert_int_equal(n, first);
      assert_true(n >= 0 ||
                  ((w->table != NULL || w->shadows) && n == PAI_EINTERNAL));
      scribe_decisions(w->all[i], &w->decisions[i]);
    }
  w->failed += first < 0;
}

static void happen(world *w)
{
  pai_sched_event e;

  any_instance(w, &e);
  w->now += below(w, 3);
  switch (below(w, 16)) {
  case 0:
  case 1:
  case 2: submit(w); return;
  case 3: change(w); return;
  case 4: e.kind = PAI_SCHED_CANCEL; break;
  case 5:
  case 6: e.kind = PAI_SCHED_STARTED; break;
  case 7:
  case 8:
    e.kind = PAI_SCHED_FINISHED;
    e.number = below(w, 2);
    break;
  case 9: e.kind = PAI_SCHED_RETURNED; break;
  case 10: e.kind = PAI_SCHED_RESIZED; break;
  case 11: of_node(w); return;
  case 12: of_policy(w); return;
  default: decide(w); return;
  }
  if (e.kind == PAI_SCHED_CANCEL)
    e.id = any_id(w);
  if (e.kind == PAI_SCHED_CANCEL && below(w, 2))
    e.instance = PAI_SCHED_ALL;
  (void)send(w, e);
}

/* --- comparing ------------------------------------------------------------ */

static pai_sched *load(const world *w, const pai__buf *saved)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_sched *s = NULL;

  o.table = w->table;
  if (pai_sched_load(&s, pai__buf_text(saved), saved->len, &o, &err) < 0)
    print_error("%s\n%u: %s\n", pai__buf_text(saved), pai_error_column(err),
                pai_error_message(err));
  assert_null(err);
  return s;
}

/* What follows from what was saved is as it was. */
static void check_views(const pai_sched *a, const pai_sched *b)
{
  pai_sched_node_view m = { .struct_size = sizeof(m) }, n = m;
  pai_sched_vc_view v = { .struct_size = sizeof(v) }, u = v;

  for (size_t i = 0; pai_sched_view_node(a, i, &m) == PAI_OK; i++) {
    assert_int_equal(pai_sched_view_node(b, i, &n), PAI_OK);
    assert_true(m.free_mask == n.free_mask && m.sick_mask == n.sick_mask);
    assert_int_equal(m.free_gpus, n.free_gpus);
    assert_int_equal(m.free_cpus, n.free_cpus);
    assert_int_equal(m.free_memory, n.free_memory);
  }
  for (size_t i = 0; pai_sched_view_vc(a, i, &v) == PAI_OK; i++) {
    assert_int_equal(pai_sched_view_vc(b, i, &u), PAI_OK);
    assert_int_equal(v.used, u.used);
    assert_int_equal(v.lent, u.lent);
    assert_int_equal(v.waiting, u.waiting);
    assert_int_equal(v.running, u.running);
  }
  assert_true(pai_sched_next_time(a) == pai_sched_next_time(b));
}

/* Nothing but the text tells the two apart. */
static void check_saved(const world *w)
{
  pai__buf first, again;

  scribe_save(w->all[0], &first);
  for (int i = 1; i < SCHEDS; i++)
    if (w->all[i] != NULL) {
      scribe_save(w->all[i], &again);
      scribe_same(&first, &again);
      pai__buf_dispose(&again);
      check_views(w->all[0], w->all[i]);
    }
  pai__buf_dispose(&first);
}

static void check_decisions(world *w)
{
  for (int i = 1; i < SCHEDS; i++)
    if (w->all[i] != NULL)
      scribe_same(&w->decisions[0], &w->decisions[i]);
  for (int i = 0; i < SCHEDS; i++)
    pai__buf_clear(&w->decisions[i]);
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
  "\"leaving\":",
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

/* What is short tells as much: of it the same is made, and written again. */
static pai_sched *load_lean(const world *w)
{
  pai__buf saved, again;
  pai_sched *s;

  scribe_save_lean(w->all[0], &saved);
  look_for_parts(pai__buf_text(&saved));
  s = load(w, &saved);
  scribe_save_lean(s, &again);
  scribe_same(&saved, &again);
  pai__buf_dispose(&again);
  pai__buf_dispose(&saved);
  return s;
}

/* [1] is one that was saved and loaded, [2] the same of [1], [3] a fork. */
static void part(world *w)
{
  pai__buf saved;

  for (int i = 1; i < SCHEDS; i++) {
    pai_sched_free(w->all[i]);
    w->all[i] = NULL;
  }
  scribe_save(w->all[0], &saved);
  look_for_parts(pai__buf_text(&saved));
  pai__buf_dispose(&saved);
  w->all[1] = load_lean(w);
  scribe_save(w->all[1], &saved);
  w->all[2] = load(w, &saved);
  pai__buf_dispose(&saved);
  if (!w->shadows)
    assert_int_equal(pai_sched_fork(&w->all[3], w->all[0], NULL), PAI_OK);
}

static void check_log(const world *w, const pai__buf *decisions)
{
  pai__buf got, end, again;
  pai_error *err = NULL;
  size_t line;
  pai_sched *s;

  pai__buf_init(&got, &pai__libc_alloc);
  s = scribe_replay(pai__buf_text(&w->log), w->table, &got, &line, &err);
  if (s == NULL)
    print_error("line %zu: %s\n", line, pai_error_message(err));
  assert_non_null(s);
  scribe_same(decisions, &got);
  scribe_save(w->all[0], &end);
  scribe_save(s, &again);
  scribe_same(&end, &again);
  pai_sched_free(s);
  pai__buf_dispose(&got);
  pai__buf_dispose(&end);
  pai__buf_dispose(&again);
}

/* --- stories -------------------------------------------------------------- */

static void begin(world *w, uint64_t seed, size_t cluster, const char *policy)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;

  *w = (world){ .prng = { seed },
                .policy = policy,
                .table = policy == NULL ? &wild_policy : NULL,
                .shadows = policy != NULL && seed % 2 == 0 };
  for (size_t i = 0; i < PAI__LEN(clusters); i++)
    assert_int_equal(pai_cluster_parse(&w->clusters[i], clusters[i],
                                       strlen(clusters[i]), NULL, NULL),
                     PAI_OK);
  o.table = w->table;
  o.policy = policy;
  o.first_port = 20000;
  o.last_port = 20019;
  assert_int_equal(pai_sched_new(&w->all[0], w->clusters[cluster], &o, NULL),
                   PAI_OK);
  pai__buf_init(&w->log, &pai__libc_alloc);
  for (int i = 0; i < SCHEDS; i++)
    pai__buf_init(&w->decisions[i], &pai__libc_alloc);
  assert_int_equal(pai_sched_set_log(w->all[0], scribe_write, &w->log, NULL),
                   PAI_OK);
}

static void end(world *w)
{
  for (int i = 0; i < SCHEDS; i++) {
    pai_sched_free(w->all[i]);
    pai__buf_dispose(&w->decisions[i]);
  }
  for (size_t i = 0; i < PAI__LEN(clusters); i++)
    pai_cluster_free(w->clusters[i]);
  pai__buf_dispose(&w->log);
}

static void tell_story(uint64_t seed, size_t cluster, const char *policy)
{
  world w;
  pai__buf all;

  begin(&w, seed, cluster, policy);
  pai__buf_init(&all, &pai__libc_alloc);
  for (int i = 0; i < 600; i++) {
    if (i % 50 == 49) {
      pai__buf_add(&all, w.decisions[0].data, w.decisions[0].len);
      if (w.all[1] != NULL)
        check_decisions(&w);
      else
        pai__buf_clear(&w.decisions[0]);
      check_saved(&w);
      part(&w);
      check_saved(&w);
    }
    happen(&w);
  }
  pai__buf_add(&all, w.decisions[0].data, w.decisions[0].len);
  check_log(&w, &all);
  /* It was no quiet story. */
  assert_true(w.taken > 100 && w.last > 20);
  pai__buf_dispose(&all);
  end(&w);
}

/* With an even one there are shadows.  Two tell of all that is looked for. */
static uint64_t seeds(void)
{
  const char *asked = getenv("OPENPAI_SCHED_SEEDS");

  return asked != NULL ? (uint64_t)strtoull(asked, NULL, 10) : 2;
}

static void tell_stories(const char *policy)
{
  for (uint64_t seed = 1; seed <= seeds(); seed++)
    for (size_t c = 0; c < PAI__LEN(clusters); c++)
      tell_story(seed, c, policy);
}

static void what_was_saved_goes_on_alike(void **state)
{
  const pai_policy *p;

  (void)state;
  for (size_t i = 0; (p = pai_policy_builtin(i)) != NULL; i++)
    if (p->save != NULL)
      tell_stories(p->name);
}

static void whatever_a_policy_does_is_saved(void **state)
{
  (void)state;
  tell_stories(NULL);
}

static void the_stories_told_of_everything(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(parts); i++) {
    if (!seen[i])
      print_error("no snapshot had %s\n", parts[i]);
    assert_true(seen[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_was_saved_goes_on_alike),
    cmocka_unit_test(whatever_a_policy_does_is_saved),
    cmocka_unit_test(the_stories_told_of_everything),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
