/*
 * Allocation sets against plain arrays of bools, by operations at random, some
 * of them without memory.  Soak runs, see docs/internals/soak.md, do more.
 */
#include "cases.h"

#include "base/buf.h"
#include "base/prng.h"
#include "resource/allocation/allocation.h"

#include <stdio.h>
#include <stdlib.h>

/* Small enough to be met often, and over all limits of the form. */
enum { NODES = 6, NUMBERS = 300, SETS = 4, KINDS = 3 };

static const uint32_t nodes[NODES] = { 0, 1, 2, 77, 5000, 99999 };

/* Ports end with the last there is, the others where they begin. */
static uint32_t number_of(int kind, uint32_t i)
{
  return kind == PAI_ALLOCATION_PORT && i >= NUMBERS / 2
           ? PAI_ALLOCATION_PORTS - NUMBERS + i
           : i;
}

typedef struct plain {
  bool has[KINDS + 1][NUMBERS]; /* [0] is not used */
  uint64_t memory;
} plain;

typedef struct model {
  plain node[NODES];
} model;

typedef struct world {
  test_tally tally;
  pai__prng r;
  pai_allocation *sets[SETS];
  model models[SETS];
  unsigned done, refused, failed;
} world;

/* --- the set and the model say the same ---------------------------------- */

static void read_node(model *m, const pai_allocation *set,
                      pai_allocation_iter *it)
{
  size_t n = 0;

  while (n < NODES && nodes[n] != it->node)
    n++;
  assert_true(n < NODES);
  for (int kind = 1; kind <= KINDS; kind++) {
    uint32_t before = 0;
    bool first = true;

    for (; pai_allocation_next_range(set, it, kind); first = false) {
      assert_true(it->first <= it->last);
      assert_true(first || it->first > before + 1);
      before = it->last;
      for (uint32_t i = 0; i < NUMBERS; i++)
        if (number_of(kind, i) >= it->first && number_of(kind, i) <= it->last)
          m->node[n].has[kind][i] = true;
    }
  }
  m->node[n].memory = pai_allocation_memory(set, it->node);
}

static bool is_empty(const plain *p)
{
  static const plain nothing;

  return memcmp(p->has, nothing.has, sizeof(p->has)) == 0 && p->memory == 0;
}

static void check_counts(const model *m, const pai_allocation *set)
{
  uint64_t total[KINDS + 1] = { 0 };
  uint32_t count = 0;

  for (size_t n = 0; n < NODES; n++) {
    count += !is_empty(&m->node[n]);
    total[0] += m->node[n].memory;
    for (int kind = 1; kind <= KINDS; kind++) {
      uint32_t here = 0;

      for (uint32_t i = 0; i < NUMBERS; i++) {
        here += m->node[n].has[kind][i];
        assert_int_equal(
          pai_allocation_has(set, nodes[n], kind, number_of(kind, i)),
          m->node[n].has[kind][i]);
      }
      assert_int_equal(pai_allocation_count(set, nodes[n], kind), here);
      total[kind] += here;
    }
  }
  assert_int_equal(pai_allocation_nodes(set), count);
  assert_int_equal(pai_allocation_is_empty(set), count == 0);
  assert_int_equal(pai_allocation_total_memory(set), total[0]);
  for (int kind = 1; kind <= KINDS; kind++)
    assert_int_equal(pai_allocation_total(set, kind), total[kind]);
}

/* The same set, made from the model number by number, from the last on. */
static pai_allocation *build(const model *m)
{
  pai_allocation *set;

  assert_ok(pai_allocation_new(&set, NULL, NULL));
  for (size_t n = NODES; n-- > 0;) {
    assert_int_equal(
      pai_allocation_set_memory(set, nodes[n], m->node[n].memory, NULL), 0);
    for (int kind = KINDS; kind > 0; kind--)
      for (uint32_t i = NUMBERS; i-- > 0;)
        if (m->node[n].has[kind][i])
          assert_ok(pai_allocation_add(set, nodes[n], kind, number_of(kind, i),
                                       number_of(kind, i), NULL));
  }
  return set;
}

static void check_text(const pai_allocation *set)
{
  pai_allocation *back;
  pai__buf out = test_buf(), again = test_buf();

  assert_ok(pai_allocation_write(set, test_collect, &out, NULL));
  assert_ok(
    pai_allocation_parse(&back, pai__buf_text(&out), out.len, NULL, NULL));
  assert_true(pai_allocation_equal(set, back));
  assert_int_equal(pai_allocation_hash(set), pai_allocation_hash(back));
  assert_ok(pai_allocation_write(back, test_collect, &again, NULL));
  assert_string_equal(pai__buf_text(&out), pai__buf_text(&again));
  pai_allocation_free(back);
  pai__buf_dispose(&out);
  pai__buf_dispose(&again);
}

static void check(const world *w, size_t i)
{
  const pai_allocation *set = w->sets[i];
  pai_allocation_iter it = PAI_ALLOCATION_ITER_INIT;
  static model seen; /* large for a stack */
  pai_allocation *built;

  memset(&seen, 0, sizeof(seen));
  while (pai_allocation_next_node(set, &it)) {
    read_node(&seen, set, &it);
    assert_false(pai__share_is_empty(pai__allocation_at(set, it.node)));
  }
  assert_memory_equal(&seen, &w->models[i], sizeof(seen));
  if (w->done % 16 != 0)
    return;
  check_counts(&seen, set);
  check_text(set);
  built = build(&seen);
  assert_true(pai_allocation_equal(set, built));
  assert_int_equal(pai_allocation_hash(set), pai_allocation_hash(built));
  pai_allocation_free(built);
}

/* --- relations ---------------------------------------------------------- */

static void check_relations(const world *w, size_t i, size_t j)
{
  const pai_allocation *a = w->sets[i], *b = w->sets[j];
  bool contains = true, overlaps = false;
  int order = pai_allocation_compare(a, b);

  for (size_t n = 0; n < NODES; n++) {
    const plain *p = &w->models[i].node[n], *q = &w->models[j].node[n];

    contains = contains && p->memory >= q->memory;
    for (int kind = 1; kind <= KINDS; kind++)
      for (uint32_t k = 0; k < NUMBERS; k++) {
        contains = contains && (p->has[kind][k] || !q->has[kind][k]);
        overlaps = overlaps || (p->has[kind][k] && q->has[kind][k]);
      }
  }
  assert_int_equal(pai_allocation_contains(a, b), contains);
  assert_int_equal(pai_allocation_overlaps(a, b), overlaps);
  assert_int_equal(order == 0, memcmp(&w->models[i], &w->models[j],
                                      sizeof(w->models[i])) == 0);
  assert_int_equal(pai_allocation_equal(a, b), order == 0);
  assert_int_equal(pai_allocation_hash(a) == pai_allocation_hash(b),
                   order == 0);
  assert_true((pai_allocation_compare(b, a) < 0) == (order > 0));
}

/* --- operations --------------------------------------------------------- */

enum { UNITE, INTERSECT, SUBTRACT, GIVE, TAKE, OPERATIONS };

/* What the operation makes of a model; false when it has to be refused. */
static bool apply(model *m, const model *other, int operation)
{
  for (size_t n = 0; n < NODES; n++) {
    plain *p = &m->node[n];
    const plain *q = &other->node[n];
    uint64_t less = p->memory < q->memory ? p->memory : q->memory;

    for (int kind = 1; kind <= KINDS; kind++)
      for (uint32_t i = 0; i < NUMBERS; i++) {
        bool x = p->has[kind][i], y = q->has[kind][i];

        if ((operation == GIVE && x && y) || (operation == TAKE && !x && y))
          return false;
        p->has[kind][i] = operation == UNITE || operation == GIVE ? x || y
                          : operation == INTERSECT                ? x && y
                                                                  : x && !y;
      }
    if (operation == TAKE && p->memory < q->memory)
      return false;
    switch (operation) {
    case UNITE: p->memory += q->memory - less; break;
    case INTERSECT: p->memory = less; break;
    case GIVE: p->memory += q->memory; break;
    default: p->memory -= less; break;
    }
    if (p->memory > PAI_ALLOCATION_MAX_MEMORY)
      return false;
  }
  return true;
}

static int operate(pai_allocation *a, const pai_allocation *b, int operation)
{
  static int (*const fns[OPERATIONS])(pai_allocation *, const pai_allocation *,
                                      pai_error **) = {
    pai_allocation_unite, pai_allocation_intersect, pai_allocation_subtract,
    pai_allocation_give, pai_allocation_take
  };

  return fns[operation](a, b, NULL);
}

/* A result for set i: taken over, or the set must be as it was. */
static void settle(world *w, size_t i, int rc, bool good, const model *result)
{
  if (rc == PAI_ENOMEM)
    w->failed++;
  else if (!good)
    w->refused++;
  else
    w->models[i] = *result;
  if (good)
    assert_true(rc == PAI_OK || rc == PAI_ENOMEM);
  else
    assert_true(rc == PAI_EEXISTS || rc == PAI_ENOTFOUND || rc == PAI_ELIMIT ||
                rc == PAI_ENOMEM);
}

static void change_by_set(world *w, size_t i, size_t j)
{
  int operation = (int)pai__prng_below(&w->r, OPERATIONS);
  static model result;
  bool good;

  result = w->models[i];
  good = apply(&result, &w->models[j], operation);
  settle(w, i, operate(w->sets[i], w->sets[j], operation), good, &result);
}

/* As change_by_set(), into a set of its own, which then is set i. */
static void combine(world *w, size_t i, size_t j, size_t k)
{
  static int (*const fns[])(
    pai_allocation **, const pai_allocation *, const pai_allocation *,
    pai_error **) = { pai_allocation_union, pai_allocation_intersection,
                      pai_allocation_difference };
  int operation = (int)pai__prng_below(&w->r, PAI__LEN(fns));
  pai_allocation *out;
  static model result;
  int rc = fns[operation](&out, w->sets[j], w->sets[k], NULL);

  assert_int_equal(out != NULL, rc == PAI_OK);
  result = w->models[j];
  (void)apply(&result, &w->models[k], operation);
  settle(w, i, rc, true, &result);
  if (rc < 0)
    return;
  pai_allocation_free(w->sets[i]);
  w->sets[i] = out;
}

static void change_by_range(world *w, size_t i)
{
  size_t n = (size_t)pai__prng_below(&w->r, NODES);
  int kind = 1 + (int)pai__prng_below(&w->r, KINDS);
  uint32_t half = NUMBERS / 2, of = (uint32_t)pai__prng_below(&w->r, 2) * half;
  uint32_t first = (uint32_t)pai__prng_below(&w->r, half);
  uint32_t len = 1 + (uint32_t)pai__prng_below(&w->r, half - first);
  bool add = pai__prng_below(&w->r, 3) != 0;
  static model result;
  int rc;

  if (pai__prng_below(&w->r, 2) == 0)
    len = 1;
  first += of;
  rc = (add ? pai_allocation_add : pai_allocation_remove)(
    w->sets[i], nodes[n], kind, number_of(kind, first),
    number_of(kind, first + len - 1), NULL);
  result = w->models[i];
  for (uint32_t k = first; k < first + len; k++)
    result.node[n].has[kind][k] = add;
  settle(w, i, rc, true, &result);
}

static void change_memory(world *w, size_t i)
{
  size_t n = (size_t)pai__prng_below(&w->r, NODES);
  uint64_t bytes = pai__prng_below(&w->r, 3) *
                   pai__prng_below(&w->r, PAI_ALLOCATION_MAX_MEMORY / 3);
  static model result;

  result = w->models[i];
  result.node[n].memory = bytes;
  settle(w, i, pai_allocation_set_memory(w->sets[i], nodes[n], bytes, NULL),
         true, &result);
}

static void step(world *w)
{
  size_t i = (size_t)pai__prng_below(&w->r, SETS);
  size_t j = (size_t)pai__prng_below(&w->r, SETS);
  size_t k = (size_t)pai__prng_below(&w->r, SETS);

  w->tally.fail_at = pai__prng_below(&w->r, 4) == 0
                       ? w->tally.calls + 1 + (size_t)pai__prng_below(&w->r, 4)
                       : 0;
  switch (pai__prng_below(&w->r, 12)) {
  case 0: change_memory(w, i); break;
  case 1: combine(w, i, j, k); break;
  case 2:
  case 3: change_by_set(w, i, j); break;
  case 4:
    if (pai__prng_below(&w->r, 8) == 0) {
      pai_allocation_clear(w->sets[i]);
      memset(&w->models[i], 0, sizeof(w->models[i]));
    }
    break;
  default: change_by_range(w, i); break;
  }
  w->tally.fail_at = 0;
  w->done++;
  check(w, i);
  if (w->done % 4 == 0)
    check_relations(w, j, k);
}

TEST(sets_are_what_bools_say)
{
  static world w;
  const char *seed = getenv("OPENPAI_SEED");
  unsigned steps = getenv("OPENPAI_SOAK") != NULL ? 5000000 : 60000;

  test_tally_init(&w.tally);
  w.r.state = seed != NULL ? strtoull(seed, NULL, 10) : 1;
  for (size_t i = 0; i < SETS; i++)
    assert_int_equal(pai_allocation_new(&w.sets[i], &w.tally.alloc, NULL), 0);
  while (w.done < steps)
    step(&w);
  printf("%u operations, %u refused, %u without memory\n", w.done, w.refused,
         w.failed);
  assert_true(w.refused > steps / 100 && w.failed > steps / 100);
  for (size_t i = 0; i < SETS; i++)
    pai_allocation_free(w.sets[i]);
  assert_int_equal(w.tally.live, 0);
}

/* --- many nodes ---------------------------------------------------------- */

enum { MANY = 1500 };

/* Nodes in runs and alone, dense or far between. */
static pai_allocation *scatter(pai__prng *r, bool has[MANY])
{
  uint64_t gap = 1 + pai__prng_below(r, 200), run = pai__prng_below(r, 30);
  pai_allocation *set;

  memset(has, 0, MANY * sizeof(*has));
  assert_ok(pai_allocation_new(&set, NULL, NULL));
  for (uint64_t n = pai__prng_below(r, gap); n < MANY;
       n += 1 + pai__prng_below(r, gap))
    for (uint64_t end = n + 1 + pai__prng_below(r, run + 1);
         n < end && n < MANY; n++) {
      has[n] = true;
      assert_ok(pai_allocation_add(set, (uint32_t)n * 66, PAI_ALLOCATION_GPU,
                                   3, 3, NULL));
    }
  return set;
}

static void expect_nodes(const pai_allocation *set, const bool has[MANY])
{
  size_t i = 0;

  for (uint32_t n = 0; n < MANY; n++) {
    if (has[n])
      assert_int_equal(set->shares[i++].node, n * 66);
    assert_int_equal(pai_allocation_has(set, n * 66, PAI_ALLOCATION_GPU, 3),
                     has[n]);
  }
  assert_int_equal(set->len, i);
}

static void expect_search(pai__prng *r, const pai_allocation *set)
{
  size_t at = (size_t)pai__prng_below(r, set->len + 2), want = at;
  uint32_t node = (uint32_t)pai__prng_below(r, PAI_ALLOCATION_NODES);

  while (want < set->len && set->shares[want].node < node)
    want++;
  assert_int_equal(pai__allocation_search(set, at, node), want);
}

TEST(many_nodes_are_found)
{
  pai__prng r = { 5 };

  for (int round = 0; round < 400; round++) {
    bool a[MANY], b[MANY], want[MANY];
    pai_allocation *x = scatter(&r, a), *y = scatter(&r, b), *z;
    int operation = (int)pai__prng_below(&r, 3); /* UNITE, ... */

    expect_nodes(x, a);
    for (int i = 0; i < 50; i++)
      expect_search(&r, x);
    for (size_t n = 0; n < MANY; n++)
      want[n] = operation == UNITE       ? a[n] || b[n]
                : operation == INTERSECT ? a[n] && b[n]
                                         : a[n] && !b[n];
    assert_ok(pai_allocation_copy(&z, x, NULL));
    assert_ok(operate(z, y, operation));
    expect_nodes(z, want);
    assert_int_equal(pai_allocation_contains(x, z),
                     operation != UNITE || memcmp(a, want, MANY) == 0);
    pai_allocation_free(x);
    pai_allocation_free(y);
    pai_allocation_free(z);
  }
}
