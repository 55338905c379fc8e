/*
 * Shelves of equal nodes are a short cut: whoever goes the long way, and asks
 * each node, decides the same and tells the same reasons.
 */
#include "random_world.h"
#include "script.h"

#include "sched/node_class.h"

enum { WORLDS_EACH = 8, STEPS = 400 };

static void check_reasons(const pai_sched *a, const pai_sched *b)
{
  for (uint64_t id = 0; (id = pai_sched_next(a, id)) != 0;) {
    pai_reason x = { .struct_size = sizeof(x) }, y = x;

    assert_int_equal(pai_sched_reason(a, id, &x), pai_sched_reason(b, id, &y));
    /* Names lie in the memory of each. */
    assert_true((x.node == NULL) == (y.node == NULL));
    if (x.node != NULL)
      assert_string_equal(x.node, y.node);
    x.node = y.node = x.text = y.text = NULL;
    assert_memory_equal(&x, &y, sizeof(x));
    for (int lack = 0; lack < PAI_LACKS; lack++)
      assert_int_equal(pai_sched_failed(a, id, lack),
                       pai_sched_failed(b, id, lack));
  }
}

static size_t built; /* times that there were shelves */

/* Decisions are compared by random_world_decide(). */
static void live(uint64_t seed, const random_variant *variant)
{
  random_world w;

  random_world_begin(&w, seed, variant);
  w.beside[0] = random_world_make(&w);
  w.beside[0]->node_classes.away = 1;
  for (int i = 0; i < STEPS; i++) {
    random_world_happen(&w);
    if (random_below(&w, 3) != 0)
      (void)random_world_decide(&w);
    check_reasons(w.s, w.beside[0]);
    built += w.s->node_classes.built;
  }
  random_world_end(&w);
}

TEST(decide_alike)
{
  for (size_t i = 0; i < random_nvariants; i++) {
    const random_variant *v = &random_variants[i];
    bool plain = strcmp(v->policy, "priority") == 0 && v->options == NULL;

    if (plain || strcmp(v->policy, "fifo") == 0 ||
        strcmp(v->policy, "backfill") == 0)
      for (uint64_t seed = 1; seed <= WORLDS_EACH; seed++)
        live(seed, v);
  }
  assert_true(built > STEPS);
}

/* What is on the shelves is what there is. */
TEST(count_all_nodes)
{
  pai_sched *s = scene_new("skus: {box: {gpu: t4, gpus: 8}}\n"
                           "nodes: [{name: \"n[01-24]\", sku: box}]\n",
                           "fifo", NULL, NULL);
  uint32_t n = 0;

  scene_script(s, "submit 1 tasks=3 gpus=5 => start 1");
  assert_true(pai__node_classes_ready(s));
  for (uint32_t i = s->node_classes.first; i != PAI__NONE;
       i = pai__node_class_at(s, i)->next)
    n += pai__node_class_at(s, i)->count;
  assert_int_equal(n, 24);
  assert_int_equal(s->node_classes.live, 2);
  pai_sched_free(s);
}
