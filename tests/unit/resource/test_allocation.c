/* test_allocation.c - allocation sets by example, as text and as JSON, and
 * without memory */
#include "cases.h"

#include "base/buf.h"
#include "base/prng.h"
#include "resource/allocation/allocation.h"

#include <stdio.h>
#include <stdlib.h>

static pai_allocation *set_of(const char *text)
{
  pai_allocation *set;
  pai_error *err = NULL;

  if (pai_allocation_parse(&set, text, strlen(text), NULL, &err) < 0)
    fail_msg("%s: %s", text, pai_error_message(err));
  assert_null(err);
  return set;
}

typedef int (*set_writer)(const pai_allocation *set, pai_write_cb write,
                          void *user_data, pai_error **err);

/* What is written of a set. */
static void expect_written(const pai_allocation *set, set_writer fn,
                           const char *want)
{
  pai__buf out = test_buf();

  assert_ok(fn(set, test_collect, &out, NULL));
  assert_string_equal(pai__buf_text(&out), want);
  pai__buf_dispose(&out);
}

static void expect_set(const pai_allocation *set, const char *want)
{
  expect_written(set, pai_allocation_write, want);
}

/* --- by example --------------------------------------------------------- */

static void add(pai_allocation *set, uint32_t node, int kind, uint32_t first,
                uint32_t last)
{
  assert_ok(pai_allocation_add(set, node, kind, first, last, NULL));
}

static void take_out(pai_allocation *set, uint32_t node, int kind,
                     uint32_t first, uint32_t last)
{
  assert_ok(pai_allocation_remove(set, node, kind, first, last, NULL));
}

TEST(sets_hold_what_was_added)
{
  pai_allocation *set;

  assert_ok(pai_allocation_new(&set, NULL, NULL));
  expect_set(set, "");
  assert_true(pai_allocation_is_empty(set));
  add(set, 7, PAI_ALLOCATION_GPU, 0, 3);
  add(set, 3, PAI_ALLOCATION_CPU, 60, 130);
  add(set, 7, PAI_ALLOCATION_PORT, 65535, 65535);
  assert_int_equal(pai_allocation_set_memory(set, 7, 3 << 20, NULL), 0);
  expect_set(set, "node 3: cpu 60-130; node 7: gpu 0-3 mem 3M port 65535");
  assert_int_equal(pai_allocation_nodes(set), 2);
  assert_int_equal(pai_allocation_total(set, PAI_ALLOCATION_CPU), 71);
  assert_int_equal(pai_allocation_total(set, 0), 0);
  assert_int_equal(pai_allocation_count(set, 7, PAI_ALLOCATION_GPU), 4);
  assert_int_equal(pai_allocation_count(set, 5, PAI_ALLOCATION_GPU), 0);
  assert_int_equal(pai_allocation_count(set, 7, 9), 0);
  assert_int_equal(pai_allocation_total_memory(set), 3 << 20);
  assert_true(pai_allocation_has(set, 3, PAI_ALLOCATION_CPU, 130));
  assert_false(pai_allocation_has(set, 3, PAI_ALLOCATION_CPU, UINT32_MAX));
  assert_true(pai_allocation_has(set, 7, PAI_ALLOCATION_PORT, 65535));
  assert_false(pai_allocation_has(set, 7, PAI_ALLOCATION_PORT, 65536));
  assert_false(pai_allocation_has(set, 7, 4, 0));
  assert_false(pai_allocation_has(set, UINT32_MAX, PAI_ALLOCATION_GPU, 0));
  take_out(set, 3, PAI_ALLOCATION_CPU, 0, 4095);
  assert_int_equal(pai_allocation_set_memory(set, 7, 0, NULL), 0);
  expect_set(set, "node 7: gpu 0-3 port 65535");
  pai_allocation_clear(set);
  expect_set(set, "");
  pai_allocation_free(set);
  pai_allocation_free(NULL);
}

typedef int (*change)(pai_allocation *set, const pai_allocation *other,
                      pai_error **err);

#define ALL "node 2: gpu 0-7 cpu 0-127 mem 512G port 15000-15999"
#define JOB "node 2: gpu 0-3 cpu 0-31 mem 200G port 15000"
#define LEFT "node 2: gpu 4-7 cpu 32-127 mem 312G port 15001-15999"
#define MANY "node 1: gpu 1,70 cpu 0-300 mem 5G port 1,3,5,7; node 4: gpu 0"

TEST(jobs_take_and_give_back)
{
  static const struct {
    const char *set;
    change fn;
    const char *other; /* NULL: the set itself */
    int code;
    const char *want; /* the set then, or what the error says */
  } rows[] = {
    { ALL, pai_allocation_take, JOB, PAI_OK, LEFT },
    { LEFT, pai_allocation_take, JOB, PAI_ENOTFOUND,
      "gpu 0 of node 2 is not there" },
    { LEFT, pai_allocation_take, "node 2: mem 400G", PAI_ENOTFOUND,
      "node 2 has 335007449088 bytes of memory, not" },
    { LEFT, pai_allocation_take, "node 2: port 15000-15001", PAI_ENOTFOUND,
      "port 15000 of node 2 is not there" },
    { LEFT, pai_allocation_take, "node 2: port 15002-16000", PAI_ENOTFOUND,
      "port 16000 of node 2 is not there" },
    { LEFT, pai_allocation_take, "node 3: cpu 4", PAI_ENOTFOUND,
      "cpu 4 of node 3 is not there" },
    { LEFT, pai_allocation_give, JOB, PAI_OK, ALL },
    { ALL, pai_allocation_give, JOB, PAI_EEXISTS,
      "gpu 0 of node 2 already exists" },
    { ALL, pai_allocation_give, "node 2: port 14000,15999-20000", PAI_EEXISTS,
      "port 15999 of node 2 already exists" },
    { ALL, pai_allocation_give, "node 2: mem 128T", PAI_ELIMIT,
      "node 2 would get more memory" },
    { MANY, pai_allocation_unite, NULL, PAI_OK, MANY },
    { MANY, pai_allocation_intersect, NULL, PAI_OK, MANY },
    { MANY, pai_allocation_give, NULL, PAI_EEXISTS, "already exists" },
    { MANY, pai_allocation_take, NULL, PAI_OK, "" },
    { "node 8: mem 5G", pai_allocation_give, NULL, PAI_OK, "node 8: mem 10G" },
    { "node 8: mem 5G", pai_allocation_subtract, NULL, PAI_OK, "" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_allocation *set = set_of(rows[i].set);
    pai_allocation *other =
      rows[i].other != NULL ? set_of(rows[i].other) : NULL;
    pai_error *err;

    assert_int_equal(rows[i].fn(set, other != NULL ? other : set, &err),
                     rows[i].code);
    expect_set(set, rows[i].code == PAI_OK ? rows[i].want : rows[i].set);
    if (rows[i].code != PAI_OK)
      test_expect_error(err, rows[i].code, rows[i].want);
    pai_allocation_free(set);
    pai_allocation_free(other);
  }
}

TEST(nonsense_is_refused)
{
  static const struct {
    uint32_t node;
    int kind;
    uint32_t first, last;
    int code;
    const char *part;
  } cases[] = {
    { 100000, PAI_ALLOCATION_GPU, 0, 0, PAI_ELIMIT, "node 100000 is too" },
    { 0, 0, 0, 0, PAI_EINVAL, "unknown kind of device 0" },
    { 0, 4, 0, 0, PAI_EINVAL, "unknown kind of device 4" },
    { 0, PAI_ALLOCATION_GPU, 0, 4096, PAI_ELIMIT, "gpu 4096 is too large" },
    { 0, PAI_ALLOCATION_CPU, 0, UINT32_MAX, PAI_ELIMIT, "cpu 4294967295" },
    { 0, PAI_ALLOCATION_PORT, 65536, 65536, PAI_ELIMIT, "is 65535" },
    { 0, PAI_ALLOCATION_CPU, 4, 3, PAI_EINVAL, "cpu 4-3: the last" },
  };
  pai_allocation *set = set_of("node 1: gpu 0");
  pai_error *err = NULL;

  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    assert_fails(pai_allocation_add(set, cases[i].node, cases[i].kind,
                                    cases[i].first, cases[i].last, &err),
                 err, cases[i].code, cases[i].part);
    assert_int_equal(pai_allocation_remove(set, cases[i].node, cases[i].kind,
                                           cases[i].first, cases[i].last,
                                           NULL),
                     cases[i].code);
  }
  assert_fails(pai_allocation_set_memory(set, 100000, 1, &err), err,
               PAI_ELIMIT, "node 100000");
  assert_fails(
    pai_allocation_set_memory(set, 1, PAI_ALLOCATION_MAX_MEMORY + 1, &err),
    err, PAI_ELIMIT, "140737488355329 bytes of memory");
  expect_set(set, "node 1: gpu 0");
  assert_fails(pai_allocation_unite(set, NULL, &err), err, PAI_EINVAL,
               "pai_allocation_unite() was called");
  pai_allocation_free(set);
}

TEST(limits_are_within)
{
  pai_allocation *set = set_of("node 99999: mem 128T");

  for (int kind = PAI_ALLOCATION_GPU; kind <= PAI_ALLOCATION_PORT; kind++) {
    uint32_t limit;

    (void)pai__allocation_kind(kind, &limit);
    add(set, 99999, kind, 0, limit - 1);
    assert_int_equal(pai_allocation_count(set, 99999, kind), limit);
  }
  expect_set(set, "node 99999: gpu 0-4095 cpu 0-4095 mem 128T port 0-65535");
  /* Each second port: as many ranges as can be. */
  for (uint32_t port = 0; port < 65536; port += 2)
    take_out(set, 99999, PAI_ALLOCATION_PORT, port, port);
  assert_int_equal(pai_allocation_total(set, PAI_ALLOCATION_PORT), 32768);
  pai_allocation_free(set);
}

TEST(walks_go_node_by_node)
{
  pai_allocation *set = set_of("node 2: gpu 0-1,63-64 port 7,9-10,65535; "
                               "node 5: cpu 4095; node 99999: mem 1");
  pai_allocation_iter it = PAI_ALLOCATION_ITER_INIT;
  char seen[256] = "";

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

TEST(walks_survive_changes)
{
  pai_allocation *set =
    set_of("node 2: gpu 0-9; node 5: gpu 1; node 7: gpu 1");
  pai_allocation_iter it = PAI_ALLOCATION_ITER_INIT;

  assert_true(pai_allocation_next_node(set, &it));
  assert_true(pai_allocation_next_item(set, &it, PAI_ALLOCATION_GPU));
  take_out(set, 2, PAI_ALLOCATION_GPU, 1, 5);
  add(set, 0, PAI_ALLOCATION_GPU, 4, 4);
  assert_true(pai_allocation_next_item(set, &it, PAI_ALLOCATION_GPU));
  assert_int_equal(it.node, 2);
  assert_int_equal(it.first, 6);
  take_out(set, 2, PAI_ALLOCATION_GPU, 0, 9);
  assert_false(pai_allocation_next_item(set, &it, PAI_ALLOCATION_GPU));
  take_out(set, 5, PAI_ALLOCATION_GPU, 1, 1);
  assert_true(pai_allocation_next_node(set, &it));
  assert_int_equal(it.node, 7);
  take_out(set, 0, PAI_ALLOCATION_GPU, 4, 4); /* a node before its place */
  assert_true(pai_allocation_next_item(set, &it, PAI_ALLOCATION_GPU));
  assert_int_equal(it.node, 7);
  assert_false(pai_allocation_next_node(set, &it));
  add(set, 8, PAI_ALLOCATION_GPU, 4, 4);
  assert_true(pai_allocation_next_node(set, &it));
  assert_int_equal(it.node, 8);
  pai_allocation_clear(set);
  assert_false(pai_allocation_next_item(set, &it, PAI_ALLOCATION_GPU));
  assert_false(pai_allocation_next_node(set, &it));
  pai_allocation_free(set);
}

/* Keys may be kept in files. */
TEST(hashes_stay_what_they_are)
{
  pai_allocation *set =
    set_of("node 3: gpu 0-3,70 cpu 0-31 mem 64G port 1,3,5");

  assert_true(pai_allocation_hash(set) == 0x4ec2b31c4b898467u);
  pai_allocation_free(set);
}

/* A job's share of one node and a full one, as the design promises. */
TEST(shares_are_small)
{
  test_tally t;
  pai_allocation *set;

  test_tally_init(&t);
  assert_ok(pai_allocation_new(&set, &t.alloc, NULL));
  for (uint32_t node = 0; node < 1000; node++) {
    add(set, node, PAI_ALLOCATION_GPU, 0, 7);
    add(set, node, PAI_ALLOCATION_CPU, 0, 31);
    add(set, node, PAI_ALLOCATION_PORT, 15000, 15003);
    assert_int_equal(pai_allocation_set_memory(set, node, 64 << 20, NULL), 0);
  }
  assert_true(sizeof(pai__set_share) <= 40);
  assert_true(t.live <= 1000 * 64);
  pai_allocation_free(set);
  assert_int_equal(t.live, 0);
}

/* --- as text and as JSON ------------------------------------------------- */

TEST(texts_are_read_and_written)
{
  static const char *const cases[][2] = {
    { "", "" },
    { " \n;; \r\n", "" },
    { "node 3: gpu 0-3,7 cpu 0-31 mem 64G port 15000-15003; node 7: gpu 0",
      NULL },
    { "node 7:gpu 0\nnode 3: mem 1\n", "node 3: mem 1; node 7: gpu 0" },
    { "node 1: port 9,8,7 gpu 5,1,3,1-2;", "node 1: gpu 1-3,5 port 7-9" },
    { "node 1: mem 1024", "node 1: mem 1K" },
    { "node 1: mem 1048577", NULL },
    { "node 1: mem 3Ki", "node 1: mem 3K" },
    { "node 1: mem 3MiB cpu 64", "node 1: cpu 64 mem 3M" },
    { "node 1: mem 131072G", "node 1: mem 128T" },
    { "node 1: mem 0", "" },
    { "node 1: mem 0; node 2: gpu 4095", "node 2: gpu 4095" },
    { "node 00099999:\tgpu 0000", "node 99999: gpu 0" },
    { "node 1: cpu 0-63 gpu 64", "node 1: gpu 64 cpu 0-63" },
    { "node 1: port 1,3,5,7,9", NULL },
    { "node 3:gpu 1;node 2:gpu 100;node 1:port 1,3,5",
      "node 1: port 1,3,5; node 2: gpu 100; node 3: gpu 1" },
  };

  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    pai_allocation *set = set_of(cases[i][0]);

    expect_set(set, cases[i][cases[i][1] != NULL ? 1 : 0]);
    pai_allocation_free(set);
  }
}

TEST(bad_texts_are_told)
{
  static const struct {
    const char *text;
    int code;
    uint32_t line, column;
    const char *part;
  } cases[] = {
    { "nod 3: gpu 0", PAI_EINVAL, 1, 1, "expected 'node', not 'nod'" },
    { "node 1: gpu 0 node 2: gpu 0", PAI_EINVAL, 1, 15,
      "expected gpu, cpu, mem or port, not 'node'" },
    { "node x: gpu 0", PAI_EINVAL, 1, 6, "the number of a node, not 'x'" },
    { "node 100000: gpu 0", PAI_ELIMIT, 1, 6, "'100000' is too large" },
    { "node 99999999999999999999: gpu 0", PAI_ELIMIT, 1, 6, "99999999999" },
    { "node 1 gpu 0", PAI_EINVAL, 1, 8, "expected ':', not 'gpu'" },
    { "node 1", PAI_EINVAL, 1, 7, "the text ends where ':'" },
    { "node 1:", PAI_EINVAL, 1, 8, "the text ends where gpu" },
    { "node 1:; node 2: gpu 0", PAI_EINVAL, 1, 8, "not ';'" },
    { "node 1: gpu 0\nnode 2: gup 1", PAI_EINVAL, 2, 9, "not 'gup'" },
    { "node 1: gpux 0", PAI_EINVAL, 1, 9, "not 'gpux'" },
    { "node 1: gpu", PAI_EINVAL, 1, 12, "the text ends where a list" },
    { "node 1: gpu all", PAI_EINVAL, 1, 13, "a list of numbers, as 0-3,7" },
    { "node 1: gpu 4096", PAI_ELIMIT, 1, 13, "gpu '4096' is too large" },
    { "node 1: cpu 1,5-5000", PAI_ELIMIT, 1, 17, "cpu '5000'" },
    { "node 1: port 65536", PAI_ELIMIT, 1, 14,
      "the last that can be is 65535" },
    { "node 1: gpu 3-1", PAI_EINVAL, 1, 13,
      "gpu '3-1': the last number is below the first" },
    { "node 1: gpu 3,", PAI_EINVAL, 1, 15, "gpu '3,': a number is missing" },
    { "node 1: gpu 1-2-3", PAI_EINVAL, 1, 16, "a comma is missing" },
    { "node 1: gpu -1", PAI_EINVAL, 1, 13, "a number is missing" },
    { "node 1: gpu 1, 2", PAI_EINVAL, 1, 15, "a number is missing" },
    { "node 1: gpu 1cpu 2", PAI_EINVAL, 1, 14, "expected a space" },
    { "node 1: gpu 1 gpu 2", PAI_EINVAL, 1, 15, "'gpu' stands twice" },
    { "node 1: gpu 1;\n node 2: gpu 1; node 1: cpu 1", PAI_EINVAL, 2, 22,
      "node 1 stands twice: first in line 1" },
    { "node 1: mem", PAI_EINVAL, 1, 12, "an amount of memory" },
    { "node 1: mem G", PAI_EINVAL, 1, 13, "an amount of memory, not 'G'" },
    { "node 1: mem 1.5G", PAI_EINVAL, 1, 14, "expected a space, not '.5G'" },
    { "node 1: mem 1X", PAI_EINVAL, 1, 14, "a unit" },
    { "node 1: mem 1GB", PAI_EINVAL, 1, 15, "a unit" },
    { "node 1: mem 129T", PAI_ELIMIT, 1, 13, "'129T' is too much" },
    { "node 1: mem 18446744073709551616", PAI_ELIMIT, 1, 13, "is too large" },
    { "node 1: gpu 0 \xc3\xa9 \xff", PAI_EINVAL, 1, 15, "not '\xc3\xa9'" },
    { "node 1: gpu 0; \xc3\xa9", PAI_EINVAL, 1, 16, "expected 'node'" },
  };

  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    pai_allocation *set = (pai_allocation *)&set;
    pai_error *err = NULL;
    int rc = pai_allocation_parse(&set, cases[i].text, strlen(cases[i].text),
                                  NULL, &err);

    assert_null(set);
    if (rc != cases[i].code || pai_error_line(err) != cases[i].line ||
        pai_error_column(err) != cases[i].column)
      fail_msg("%s: %s at %u:%u: %s", cases[i].text, pai_code_name(rc),
               pai_error_line(err), pai_error_column(err),
               pai_error_message(err));
    test_expect_error(err, cases[i].code, cases[i].part);
  }
}

TEST(json_is_written)
{
  pai_allocation *set = set_of("node 3: gpu 0-3,7 cpu 0-31 mem 64G port 15000;"
                               "node 7: gpu 0");

  expect_written(set, pai_allocation_write_json,
                 "{\"nodes\":[{\"node\":3,\"gpu\":\"0-3,7\",\"cpu\":\"0-31\","
                 "\"memory\":68719476736,\"port\":\"15000\"},"
                 "{\"node\":7,\"gpu\":\"0\"}]}");
  pai_allocation_clear(set);
  expect_written(set, pai_allocation_write_json, "{\"nodes\":[]}");
  pai_allocation_free(set);
}

static int refuse(void *user_data, const char *bytes, size_t len)
{
  (void)bytes;
  (void)len;
  return --*(int *)user_data < 0 ? PAI_EUSER : 7;
}

/* Long texts come in pieces, and the writer ends where it is told to. */
TEST(writers_can_be_stopped)
{
  static const set_writer fns[] = { pai_allocation_write,
                                    pai_allocation_write_json };
  pai_allocation *set = set_of("");

  for (uint32_t node = 0; node < 3000; node++)
    add(set, node, PAI_ALLOCATION_GPU, 0, 7);
  for (size_t i = 0; i < PAI__LEN(fns); i++) {
    int rc, pieces = 0, left;

    do {
      left = pieces;
      rc = fns[i](set, refuse, &left, NULL);
      assert_true(rc == PAI_OK || (rc == PAI_EUSER && left == -1));
      pieces++;
    } while (rc == PAI_EUSER);
    assert_true(pieces > 3 && left == 0);
  }
  pai_allocation_free(set);
}

/* --- without memory ----------------------------------------------------- */

static const char large[] =
  "node 1: gpu 0-3,70 cpu 0-255 mem 1G port 1,3,5,7,9; node 5: gpu 1; "
  "node 9: cpu 99 port 2,4,6,8";

/* The set is what the text says; which needs no memory of its own. */
static void expect_equal(const pai_allocation *set, const char *text)
{
  pai_allocation *want = set_of(text);

  assert_true(pai_allocation_equal(set, want));
  pai_allocation_free(want);
}

/* A set, a changed copy, and what makes one of both. */
static int change_sets(pai_allocation *a, pai_allocation *b,
                       pai_allocation **c)
{
  int rc = pai_allocation_add(b, 4, PAI_ALLOCATION_CPU, 9, 999, NULL);

  if (rc < 0) {
    expect_equal(b, large); /* as it was */
    return rc;
  }
  rc = pai_allocation_unite(a, b, NULL);
  assert_int_equal(pai_allocation_equal(a, b), rc == PAI_OK);
  if (rc < 0) {
    expect_equal(a, large);
    return rc;
  }
  rc = pai_allocation_remove(a, 1, PAI_ALLOCATION_PORT, 3, 3, NULL);
  if (rc == PAI_OK)
    rc = pai_allocation_set_memory(a, 77, 1 << 20, NULL);
  if (rc == PAI_OK)
    rc = pai_allocation_union(c, a, b, NULL);
  assert_int_equal(*c != NULL, rc == PAI_OK);
  if (rc == PAI_OK)
    rc = pai_allocation_take(*c, b, NULL);
  if (rc < 0)
    return rc;
  expect_equal(*c, "node 77: mem 1M");
  return pai_allocation_give(*c, a, NULL);
}

TEST_FAULTS(no_memory_is_survived)
{
  pai_allocation *a = NULL, *b = NULL, *c = NULL;
  pai_error *err = NULL;
  pai__buf out = test_buf();
  int rc = pai_allocation_parse(&a, large, strlen(large), alloc, &err);

  assert_true((rc < 0) == (a == NULL) && (rc < 0) == (err != NULL));
  if (rc == PAI_OK)
    rc = pai_allocation_copy(&b, a, NULL);
  if (rc == PAI_OK)
    rc = change_sets(a, b, &c);
  if (rc == PAI_OK)
    rc = pai_allocation_write_json(c, test_collect, &out, NULL);
  if (rc == PAI_OK)
    rc = pai_allocation_write(c, test_collect, &out, NULL);
  if (rc == PAI_OK) {
    assert_has(out.data, "\"gpu\":\"0-3,70\",\"cpu\":\"0-255\"");
    assert_has(out.data, "}]}node 1: gpu 0-3,70 cpu 0-255");
    assert_has(out.data, "node 77: mem 2M");
  }
  pai_error_free(err);
  pai__buf_dispose(&out);
  pai_allocation_free(a);
  pai_allocation_free(b);
  pai_allocation_free(c);
  return rc;
}
