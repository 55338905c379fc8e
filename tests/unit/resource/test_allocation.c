/* test_allocation.c - allocation sets by example, and without memory */
#include "resource/sets.h"

#include "base/buf.h"
#include "base/prng.h"
#include "resource/allocation.h"

#include <stdio.h>
#include <stdlib.h>

/* --- by example --------------------------------------------------------- */

static void sets_hold_what_was_added(void **state)
{
  pai_allocation *set;

  (void)state;
  assert_int_equal(pai_allocation_new(&set, NULL, NULL), PAI_OK);
  test_set_is(set, "");
  assert_true(pai_allocation_is_empty(set));
  assert_int_equal(pai_allocation_add(set, 7, PAI_ALLOCATION_GPU, 0, 3, NULL),
                   0);
  assert_int_equal(
    pai_allocation_add(set, 3, PAI_ALLOCATION_CPU, 60, 130, NULL), 0);
  assert_int_equal(
    pai_allocation_add(set, 7, PAI_ALLOCATION_PORT, 65535, 65535, NULL), 0);
  assert_int_equal(pai_allocation_set_memory(set, 7, 3 << 20, NULL), 0);
  test_set_is(set, "node 3: cpu 60-130; node 7: gpu 0-3 mem 3M port 65535");
  assert_int_equal(pai_allocation_nodes(set), 2);
  assert_int_equal(pai_allocation_total(set, PAI_ALLOCATION_CPU), 71);
  assert_int_equal(pai_allocation_count(set, 7, PAI_ALLOCATION_GPU), 4);
  assert_int_equal(pai_allocation_count(set, 3, PAI_ALLOCATION_GPU), 0);
  assert_int_equal(pai_allocation_count(set, 5, PAI_ALLOCATION_GPU), 0);
  assert_int_equal(pai_allocation_count(set, 7, 9), 0);
  assert_int_equal(pai_allocation_total(set, PAI_ALLOCATION_PORT), 1);
  assert_int_equal(pai_allocation_total(set, 0), 0);
  assert_int_equal(pai_allocation_total_memory(set), 3 << 20);
  assert_true(pai_allocation_has(set, 3, PAI_ALLOCATION_CPU, 130));
  assert_false(pai_allocation_has(set, 3, PAI_ALLOCATION_CPU, 131));
  assert_false(pai_allocation_has(set, 3, PAI_ALLOCATION_CPU, UINT32_MAX));
  assert_true(pai_allocation_has(set, 7, PAI_ALLOCATION_PORT, 65535));
  assert_false(pai_allocation_has(set, 7, PAI_ALLOCATION_PORT, 65536));
  assert_false(pai_allocation_has(set, 7, 4, 0));
  assert_false(pai_allocation_has(set, UINT32_MAX, PAI_ALLOCATION_GPU, 0));
  assert_int_equal(
    pai_allocation_remove(set, 3, PAI_ALLOCATION_CPU, 0, 4095, NULL), 0);
  assert_int_equal(pai_allocation_set_memory(set, 7, 1, NULL), 0);
  test_set_is(set, "node 7: gpu 0-3 mem 1 port 65535");
  assert_int_equal(pai_allocation_set_memory(set, 7, 0, NULL), 0);
  test_set_is(set, "node 7: gpu 0-3 port 65535");
  pai_allocation_clear(set);
  test_set_is(set, "");
  pai_allocation_free(set);
  pai_allocation_free(NULL);
}

static void two_sets_make_one(void **state)
{
  static const char *const cases[][5] = {
    /* a, b, union, intersection, difference */
    { "node 1: gpu 0-3 mem 4G", "node 1: gpu 2-5 mem 6G",
      "node 1: gpu 0-5 mem 6G", "node 1: gpu 2-3 mem 4G", "node 1: gpu 0-1" },
    { "node 1: gpu 0; node 3: gpu 0", "node 2: gpu 0",
      "node 1: gpu 0; node 2: gpu 0; node 3: gpu 0", "",
      "node 1: gpu 0; node 3: gpu 0" },
    { "node 1: cpu 0-200", "node 1: cpu 100-300 gpu 1",
      "node 1: gpu 1 cpu 0-300", "node 1: cpu 100-200", "node 1: cpu 0-99" },
    { "node 1: port 10-20,30-40", "node 1: port 15-35", "node 1: port 10-40",
      "node 1: port 15-20,30-35", "node 1: port 10-14,36-40" },
    { "node 1: port 10-99", "node 1: port 20,30,40,50", "node 1: port 10-99",
      "node 1: port 20,30,40,50",
      "node 1: port 10-19,21-29,31-39,41-49,51-99" },
    { "node 1: port 1-2", "node 1: port 3-4", "node 1: port 1-4", "",
      "node 1: port 1-2" },
    { "", "node 9: mem 1K", "node 9: mem 1K", "", "" },
  };
  static int (*const fns[])(
    pai_allocation **, const pai_allocation *, const pai_allocation *,
    pai_error **) = { pai_allocation_union, pai_allocation_intersection,
                      pai_allocation_difference };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    pai_allocation *a = test_set(cases[i][0]), *b = test_set(cases[i][1]);

    for (size_t j = 0; j < PAI__LEN(fns); j++) {
      pai_allocation *c;

      assert_int_equal(fns[j](&c, a, b, NULL), PAI_OK);
      test_set_is(c, cases[i][2 + j]);
      test_set_is(a, cases[i][0]);
      pai_allocation_free(c);
    }
    pai_allocation_free(a);
    pai_allocation_free(b);
  }
}

static void jobs_take_and_give_back(void **state)
{
  static const char all[] =
    "node 2: gpu 0-7 cpu 0-127 mem 512G port 15000-15999";
  pai_allocation *free = test_set(all);
  pai_allocation *job =
    test_set("node 2: gpu 0-3 cpu 0-31 mem 200G port 15000");
  pai_allocation *big = test_set("node 2: mem 400G"), *other;
  pai_error *err = NULL;

  (void)state;
  assert_int_equal(pai_allocation_take(free, job, NULL), PAI_OK);
  test_set_is(free, "node 2: gpu 4-7 cpu 32-127 mem 312G port 15001-15999");
  assert_int_equal(pai_allocation_take(free, job, &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "gpu 0 of node 2 is not there");
  assert_int_equal(pai_allocation_take(free, big, &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND,
                    "node 2 has 335007449088 bytes of memory, not");
  other = test_set("node 2: port 15000-15001");
  assert_int_equal(pai_allocation_take(free, other, &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "port 15000 of node 2 is not there");
  pai_allocation_free(other);
  other = test_set("node 2: port 15002-16000");
  assert_int_equal(pai_allocation_take(free, other, &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "port 16000 of node 2 is not there");
  pai_allocation_free(other);
  other = test_set("node 3: cpu 4");
  assert_int_equal(pai_allocation_take(free, other, &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "cpu 4 of node 3 is not there");
  pai_allocation_free(other);
  test_set_is(free, "node 2: gpu 4-7 cpu 32-127 mem 312G port 15001-15999");
  assert_int_equal(pai_allocation_give(free, job, NULL), PAI_OK);
  test_set_is(free, all);
  assert_int_equal(pai_allocation_give(free, job, &err), PAI_EEXISTS);
  test_expect_error(err, PAI_EEXISTS, "gpu 0 of node 2 is there already");
  other = test_set("node 2: port 14000,15999-20000");
  assert_int_equal(pai_allocation_give(free, other, &err), PAI_EEXISTS);
  test_expect_error(err, PAI_EEXISTS, "port 15999 of node 2 is there");
  pai_allocation_free(other);
  other = test_set("node 2: mem 128T");
  assert_int_equal(pai_allocation_give(free, other, &err), PAI_ELIMIT);
  test_expect_error(err, PAI_ELIMIT, "node 2 would get more memory");
  pai_allocation_free(other);
  test_set_is(free, all);
  pai_allocation_free(free);
  pai_allocation_free(job);
  pai_allocation_free(big);
}

static void a_set_may_be_changed_by_itself(void **state)
{
  static const char text[] =
    "node 1: gpu 1,70 cpu 0-300 mem 5G port 1,3,5,7; node 4: gpu 0";
  pai_allocation *a = test_set(text);
  pai_error *err = NULL;

  (void)state;
  assert_int_equal(pai_allocation_unite(a, a, NULL), PAI_OK);
  test_set_is(a, text);
  assert_int_equal(pai_allocation_intersect(a, a, NULL), PAI_OK);
  test_set_is(a, text);
  assert_int_equal(pai_allocation_give(a, a, &err), PAI_EEXISTS);
  pai_error_free(err);
  test_set_is(a, text);
  assert_int_equal(pai_allocation_take(a, a, NULL), PAI_OK);
  test_set_is(a, "");
  pai_allocation_free(a);
  a = test_set("node 8: mem 5G");
  assert_int_equal(pai_allocation_give(a, a, NULL), PAI_OK);
  test_set_is(a, "node 8: mem 10G");
  assert_int_equal(pai_allocation_subtract(a, a, NULL), PAI_OK);
  test_set_is(a, "");
  pai_allocation_free(a);
}

static void nonsense_is_refused(void **state)
{
  static const struct {
    uint32_t node;
    int kind;
    uint32_t first, last;
    int code;
    const char *part;
  } cases[] = {
    { 100000, PAI_ALLOCATION_GPU, 0, 0, PAI_ELIMIT, "node 100000 is too" },
    { 0, 0, 0, 0, PAI_EINVAL, "0 is no kind" },
    { 0, 4, 0, 0, PAI_EINVAL, "4 is no kind" },
    { 0, PAI_ALLOCATION_GPU, 0, 4096, PAI_ELIMIT, "gpu 4096 is too large" },
    { 0, PAI_ALLOCATION_CPU, 0, UINT32_MAX, PAI_ELIMIT, "cpu 4294967295" },
    { 0, PAI_ALLOCATION_PORT, 65536, 65536, PAI_ELIMIT, "is 65535" },
    { 0, PAI_ALLOCATION_CPU, 4, 3, PAI_EINVAL, "cpu 4-3: the last" },
  };
  pai_allocation *set = test_set("node 1: gpu 0");
  pai_error *err = NULL;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    assert_int_equal(pai_allocation_add(set, cases[i].node, cases[i].kind,
                                        cases[i].first, cases[i].last, &err),
                     cases[i].code);
    test_expect_error(err, cases[i].code, cases[i].part);
    assert_int_equal(pai_allocation_remove(set, cases[i].node, cases[i].kind,
                                           cases[i].first, cases[i].last,
                                           NULL),
                     cases[i].code);
  }
  assert_int_equal(pai_allocation_set_memory(set, 100000, 1, &err),
                   PAI_ELIMIT);
  test_expect_error(err, PAI_ELIMIT, "node 100000");
  assert_int_equal(
    pai_allocation_set_memory(set, 1, PAI_ALLOCATION_MAX_MEMORY + 1, &err),
    PAI_ELIMIT);
  test_expect_error(err, PAI_ELIMIT, "140737488355329 bytes of memory");
  test_set_is(set, "node 1: gpu 0");
  assert_int_equal(pai_allocation_unite(set, NULL, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "pai_allocation_unite() was called");
  pai_allocation_free(set);
}

static void limits_are_within(void **state)
{
  pai_allocation *set = test_set("node 99999: mem 128T");

  (void)state;
  for (int kind = PAI_ALLOCATION_GPU; kind <= PAI_ALLOCATION_PORT; kind++) {
    uint32_t limit;

    (void)pai__allocation_kind(kind, &limit);
    assert_int_equal(pai_allocation_add(set, 99999, kind, 0, limit - 1, NULL),
                     PAI_OK);
    assert_int_equal(pai_allocation_count(set, 99999, kind), limit);
  }
  test_set_is(set, "node 99999: gpu 0-4095 cpu 0-4095 mem 128T port 0-65535");
  /* Each second port: as many ranges as can be. */
  for (uint32_t port = 0; port < 65536; port += 2)
    assert_int_equal(
      pai_allocation_remove(set, 99999, PAI_ALLOCATION_PORT, port, port, NULL),
      PAI_OK);
  assert_int_equal(pai_allocation_total(set, PAI_ALLOCATION_PORT), 32768);
  pai_allocation_free(set);
}

static void walks_go_node_by_node(void **state)
{
  pai_allocation *set = test_set("node 2: gpu 0-1,63-64 port 7,9-10,65535; "
                                 "node 5: cpu 4095; node 99999: mem 1");
  pai_allocation_iter it = PAI_ALLOCATION_ITER_INIT;
  char seen[256] = "";

  (void)state;
  assert_false(pai_allocation_next_range(set, &it, PAI_ALLOCATION_GPU));
  while (pai_allocation_next_node(set, &it)) {
    size_t len = strlen(seen);

    len += (size_t)sprintf(seen + len, "%u:", it.node);
    while (pai_allocation_next_range(set, &it, PAI_ALLOCATION_GPU))
      len += (size_t)sprintf(seen + len, " %u-%u", it.first, it.last);
    while (pai_allocation_next_item(set, &it, PAI_ALLOCATION_PORT))
      len += (size_t)sprintf(seen + len, " %u", it.first);
    while (pai_allocation_next_item(set, &it, PAI_ALLOCATION_CPU))
      len += (size_t)sprintf(seen + len, " c%u", it.last);
    assert_false(pai_allocation_next_range(set, &it, 7));
  }
  assert_string_equal(seen, "2: 0-1 63-64 7 9 10 655355: c409599999:");
  pai_allocation_free(set);
}

static void walks_survive_changes(void **state)
{
  pai_allocation *set =
    test_set("node 2: gpu 0-9; node 5: gpu 1; node 7: gpu 1");
  pai_allocation_iter it = PAI_ALLOCATION_ITER_INIT;

  (void)state;
  assert_true(pai_allocation_next_node(set, &it));
  assert_true(pai_allocation_next_item(set, &it, PAI_ALLOCATION_GPU));
  assert_int_equal(
    pai_allocation_remove(set, 2, PAI_ALLOCATION_GPU, 1, 5, NULL), 0);
  assert_int_equal(pai_allocation_add(set, 0, PAI_ALLOCATION_GPU, 4, 4, NULL),
                   0);
  assert_true(pai_allocation_next_item(set, &it, PAI_ALLOCATION_GPU));
  assert_int_equal(it.node, 2);
  assert_int_equal(it.first, 6);
  assert_int_equal(
    pai_allocation_remove(set, 2, PAI_ALLOCATION_GPU, 0, 9, NULL), 0);
  assert_false(pai_allocation_next_item(set, &it, PAI_ALLOCATION_GPU));
  assert_int_equal(
    pai_allocation_remove(set, 5, PAI_ALLOCATION_GPU, 1, 1, NULL), 0);
  assert_true(pai_allocation_next_node(set, &it));
  assert_int_equal(it.node, 7);
  assert_false(pai_allocation_next_node(set, &it));
  assert_int_equal(pai_allocation_add(set, 8, PAI_ALLOCATION_GPU, 4, 4, NULL),
                   0);
  assert_true(pai_allocation_next_node(set, &it));
  assert_int_equal(it.node, 8);
  pai_allocation_free(set);
  /* A node before its place goes away. */
  set = test_set("node 2: gpu 0; node 5: gpu 1; node 7: gpu 1; node 9: gpu 1");
  it = (pai_allocation_iter)PAI_ALLOCATION_ITER_INIT;
  assert_true(pai_allocation_next_node(set, &it));
  assert_true(pai_allocation_next_node(set, &it));
  assert_int_equal(
    pai_allocation_remove(set, 2, PAI_ALLOCATION_GPU, 0, 0, NULL), 0);
  assert_true(pai_allocation_next_item(set, &it, PAI_ALLOCATION_GPU));
  assert_int_equal(it.node, 5);
  assert_true(pai_allocation_next_node(set, &it));
  assert_int_equal(it.node, 7);
  pai_allocation_clear(set);
  assert_false(pai_allocation_next_item(set, &it, PAI_ALLOCATION_GPU));
  assert_false(pai_allocation_next_node(set, &it));
  pai_allocation_free(set);
}

static void all_of_a_set_tells_it_from_others(void **state)
{
  static const char *const sets[] = {
    "",
    "node 1: gpu 0",
    "node 2: gpu 0",
    "node 1: gpu 1",
    "node 1: cpu 0",
    "node 1: gpu 0 mem 1",
    "node 1: mem 1",
    "node 1: port 0",
    "node 1: port 1",
    "node 1: port 0,2,4",
    "node 1: port 0,2,5",
    "node 1: cpu 0,64",
    "node 1: cpu 0,65",
    "node 1: cpu 0,128",
    "node 1: gpu 0; node 2: gpu 0",
  };

  (void)state;
  for (size_t i = 0; i < PAI__LEN(sets); i++) {
    pai_allocation *a = test_set(sets[i]);

    for (size_t j = 0; j < PAI__LEN(sets); j++) {
      pai_allocation *b = test_set(sets[j]);

      assert_int_equal(pai_allocation_equal(a, b), i == j);
      assert_int_equal(pai_allocation_hash(a) == pai_allocation_hash(b),
                       i == j);
      assert_int_equal(pai_allocation_compare(a, b) < 0,
                       pai_allocation_compare(b, a) > 0);
      pai_allocation_free(b);
    }
    pai_allocation_free(a);
  }
}

/* Keys may be kept in files. */
static void hashes_stay_what_they_are(void **state)
{
  pai_allocation *set =
    test_set("node 3: gpu 0-3,70 cpu 0-31 mem 64G port 1,3,5");

  (void)state;
  assert_true(pai_allocation_hash(set) == 0x4ec2b31c4b898467u);
  pai_allocation_free(set);
}

/* A job's share of one node and a full one, as the design promises. */
static void shares_are_small(void **state)
{
  test_tally t;
  pai_allocation *set;

  (void)state;
  test_tally_init(&t);
  assert_int_equal(pai_allocation_new(&set, &t.alloc, NULL), PAI_OK);
  for (uint32_t node = 0; node < 1000; node++) {
    assert_int_equal(
      pai_allocation_add(set, node, PAI_ALLOCATION_GPU, 0, 7, NULL), 0);
    assert_int_equal(
      pai_allocation_add(set, node, PAI_ALLOCATION_CPU, 0, 31, NULL), 0);
    assert_int_equal(
      pai_allocation_add(set, node, PAI_ALLOCATION_PORT, 15000, 15003, NULL),
      0);
    assert_int_equal(pai_allocation_set_memory(set, node, 64 << 20, NULL), 0);
  }
  assert_true(sizeof(pai__share) <= 40);
  assert_true(t.live <= 1000 * 64);
  pai_allocation_free(set);
  assert_int_equal(t.live, 0);
}

/* --- without memory ----------------------------------------------------- */

static const char large[] =
  "node 1: gpu 0-3,70 cpu 0-255 mem 1G port 1,3,5,7,9; node 5: gpu 1; "
  "node 9: cpu 99 port 2,4,6,8";

/* Without memory of the set's own. */
static void expect_equal(const pai_allocation *set, const char *text)
{
  pai_allocation *want = test_set(text);

  assert_true(pai_allocation_equal(set, want));
  pai_allocation_free(want);
}

/* What is left of a call that failed: the set as it was. */
static int same_or(int rc, const pai_allocation *set, const char *was)
{
  if (rc < 0)
    expect_equal(set, was);
  return rc;
}

static int make_and_change(const pai_alloc *alloc, void *user_data)
{
  pai_allocation *a = NULL, *b = NULL, *c = NULL;
  pai_error *err = NULL;
  pai__buf out;
  int rc = pai_allocation_parse(&a, large, strlen(large), alloc, &err);

  (void)user_data;
  pai__buf_init(&out, &pai__libc_alloc);
  assert_true((rc < 0) == (a == NULL) && (rc < 0) == (err != NULL));
  if (rc == PAI_OK)
    rc = pai_allocation_copy(&b, a, NULL);
  if (rc == PAI_OK)
    rc = same_or(pai_allocation_add(b, 4, PAI_ALLOCATION_CPU, 9, 999, NULL), b,
                 large);
  if (rc == PAI_OK) {
    rc = same_or(pai_allocation_unite(a, b, NULL), a, large);
    assert_int_equal(pai_allocation_equal(a, b), rc == PAI_OK);
  }
  if (rc == PAI_OK)
    rc = pai_allocation_remove(a, 1, PAI_ALLOCATION_PORT, 3, 3, NULL);
  if (rc == PAI_OK)
    rc = pai_allocation_set_memory(a, 77, 1 << 20, NULL);
  if (rc == PAI_OK)
    rc = pai_allocation_union(&c, a, b, NULL);
  assert_int_equal(c != NULL, rc == PAI_OK);
  if (rc == PAI_OK)
    rc = pai_allocation_take(c, b, NULL);
  if (rc == PAI_OK) {
    expect_equal(c, "node 77: mem 1M");
    rc = pai_allocation_give(c, a, NULL);
  }
  if (rc == PAI_OK) {
    assert_int_equal(pai_allocation_memory(c, 77), 2 << 20);
    rc = pai_allocation_write_json(c, test_set_collect, &out, NULL);
  }
  if (rc == PAI_OK)
    rc = pai_allocation_write(c, test_set_collect, &out, NULL);
  if (rc == PAI_OK) {
    assert_non_null(strstr(out.data, "\"gpu\":\"0-3,70\",\"cpu\":\"0-255\""));
    assert_non_null(strstr(out.data, "}]}node 1: gpu 0-3,70 cpu 0-255"));
  }
  pai_error_free(err);
  pai__buf_dispose(&out);
  pai_allocation_free(a);
  pai_allocation_free(b);
  pai_allocation_free(c);
  return rc;
}

static void no_memory_is_survived(void **state)
{
  (void)state;
  test_faults(make_and_change, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(sets_hold_what_was_added),
    cmocka_unit_test(two_sets_make_one),
    cmocka_unit_test(jobs_take_and_give_back),
    cmocka_unit_test(a_set_may_be_changed_by_itself),
    cmocka_unit_test(nonsense_is_refused),
    cmocka_unit_test(limits_are_within),
    cmocka_unit_test(walks_go_node_by_node),
    cmocka_unit_test(walks_survive_changes),
    cmocka_unit_test(all_of_a_set_tells_it_from_others),
    cmocka_unit_test(hashes_stay_what_they_are),
    cmocka_unit_test(shares_are_small),
    cmocka_unit_test(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
