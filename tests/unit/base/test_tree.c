/* What a tree knows of places, pointers and keys; the memory it takes. */
#include "cases.h"
#include "documents.h"

#include "base/prng.h"
#include "base/text/utf8.h"

/* --- places ------------------------------------------------------------- */

/* Lines and columns as one would count them by hand. */
static pai__pos count_to(const char *text, size_t offset)
{
  pai__pos at = { 1, 1 };
  size_t bom = memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

  for (size_t i = bom; i < offset; i++) {
    if (text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n')) {
      at.line++;
      at.column = 1;
    } else if (pai__utf8_first(text[i])) {
      at.column++;
    }
  }
  return at;
}

TEST(places_agree_with_counting)
{
  static const char *const pieces[] = { "x",     "yz12345678", "\n",
                                        "\r\n",  "\r",         "é",
                                        "日本",  "😀",          "        ",
                                        "\n\n\n" };
  pai__prng r = { 5 };

  for (int round = 0; round < 8; round++) {
    pai__buf b = test_buf();
    pai__tree *t;

    if (round == 7)
      pai__buf_str(&b, "\xef\xbb\xbf");
    while (b.len < 10000)
      pai__buf_str(&b, pieces[pai__prng_below(
                         &r, round % 2 != 0 ? 10 : PAI__LEN(pieces) - 1)]);
    assert_ok(pai__tree_new(&t, &pai__libc_alloc, b.data, b.len, NULL));
    for (size_t i = round == 7 ? 3 : 0; i <= b.len; i += i < 9000 ? 7 : 1) {
      pai__pos want = count_to(b.data, i), got = pai__tree_pos(t, i);
      assert_int_equal(got.line, want.line);
      assert_int_equal(got.column, want.column);
      if (i < b.len && pai__utf8_first(b.data[i]) && b.data[i] != '\n')
        assert_int_equal(pai__tree_offset(t, got), i);
    }
    pai__tree_free(t);
    pai__buf_dispose(&b);
  }
}

TEST(offsets_of_strange_places_are_near)
{
  pai__tree *t = test_json_parse("[1,\n\"\xc3\xa9\"]", NULL);

  assert_int_equal(pai__tree_offset(t, (pai__pos){ 1, 2 }), 1);
  assert_int_equal(pai__tree_offset(t, (pai__pos){ 1, 99 }), 3);
  assert_int_equal(pai__tree_offset(t, (pai__pos){ 2, 3 }), 7);
  assert_int_equal(pai__tree_offset(t, (pai__pos){ 9, 1 }), 9);
  assert_int_equal(pai__tree_offset(t, (pai__pos){ 0, 1 }), 0);
  assert_int_equal(pai__tree_pos(t, 1000).line, 2);
  pai__tree_free(t);
}

TEST(bom_takes_no_column)
{
  pai__tree *t = test_json_parse("\xef\xbb\xbf[1]", NULL);

  assert_int_equal(t->nodes[0].start, 3);
  assert_int_equal(pai__tree_where(t, 0).column, 1);
  assert_int_equal(pai__tree_where(t, 1).column, 2);
  assert_int_equal(pai__tree_pos(t, 0).column, 1);
  assert_int_equal(pai__tree_offset(t, (pai__pos){ 1, 1 }), 3);
  pai__tree_free(t);
}

/* --- pointers and lookup ------------------------------------------------ */

TEST(pointers_lead_there_and_back)
{
  static const char text[] =
    "{\"a\": [10, {\"b/c\": 1, \"m~n\": 2, \"\": 3}], \"z\": null}";
  static const struct {
    const char *pointer, *source;
  } rows[] = {
    { "", text },     { "/a", NULL },       { "/a/0", "10" },
    { "/a/1", NULL }, { "/a/1/b~1c", "1" }, { "/a/1/m~0n", "2" },
    { "/a/1/", "3" }, { "/z", "null" },
  };
  static const char *const nowhere[] = {
    "a",    "/b",     "/a/2",      "/a/01",         "/a/-",   "/a/",
    "/z/x", "/a/0/0", "/a/1/m~2n", "/a/9999999999", "/a/1/m~"
  };
  pai__tree *t = test_json_parse(text, NULL);

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__node n = pai__tree_resolve(t, rows[i].pointer);

    assert_int_not_equal(n, PAI__NO_NODE);
    if (rows[i].source != NULL)
      assert_memory_equal(t->text + t->nodes[n].start, rows[i].source,
                          t->nodes[n].end - t->nodes[n].start);
    test_pointer(t, n, rows[i].pointer);
  }
  for (size_t i = 0; i < PAI__LEN(nowhere); i++)
    assert_int_equal(pai__tree_resolve(t, nowhere[i]), PAI__NO_NODE);
  pai__tree_free(t);
}

TEST(keys_have_their_values_pointer)
{
  pai__tree *t = test_json_parse("{\"a\": {\"b\": 1}}", NULL);
  pai__buf b = test_buf();

  pai__tree_pointer(t, pai__tree_find(t, 2, "b", 1), &b);
  assert_string_equal(pai__buf_text(&b), "/a/b");
  pai__pointer_add(&b, "~c/", 3);
  assert_string_equal(pai__buf_text(&b), "/a/b/~0c~1");
  pai__buf_dispose(&b);
  pai__tree_free(t);
}

/* n entries, in an order that is not sorted. */
static pai__tree *large(unsigned n, const pai_alloc *alloc)
{
  pai__json_options opts = { .alloc = alloc };
  pai__tree *t = NULL;
  pai__buf b = test_buf();

  for (unsigned i = 0; i < n; i++)
    pai__buf_printf(&b, "%s\"k%u\":%u", i == 0 ? "{" : ",", i * 7919 % n, i);
  pai__buf_char(&b, '}');
  (void)pai__json_parse(&t, b.data, b.len, &opts, NULL);
  pai__buf_dispose(&b);
  return t;
}

TEST(lookup_works_in_small_and_large_mappings)
{
  static const unsigned sizes[] = { 1, 2, 31, 32, 33, 34, 100, 5000 };

  for (size_t i = 0; i < PAI__LEN(sizes); i++) {
    pai__tree *t = large(sizes[i], NULL);
    pai__tree_walk w = pai__tree_iter(t, 0);
    unsigned at = 0;
    pai__node key;

    test_check_tree(t);
    assert_int_equal(pai__tree_count(t, 0), sizes[i]);
    for (; (key = pai__tree_next(&w)) != PAI__NO_NODE; at++)
      assert_int_equal(pai__tree_int(t, pai__tree_value(t, key)), at);
    assert_int_equal(pai__tree_find(t, 0, "k", 1), PAI__NO_NODE);
    assert_int_equal(pai__tree_find(t, 0, "k0\0", 3), PAI__NO_NODE);
    assert_int_equal(pai__tree_get(t, 0, "zz"), PAI__NO_NODE);
    assert_int_equal(pai__tree_find(t, 1, "k0", 2), PAI__NO_NODE);
    pai__tree_free(t);
  }
}

TEST(looks_take_what_there_is)
{
  pai__tree *t = test_json_parse(
    "{\"s\": \"x\", \"e\": \"\", \"n\": 7.0, \"z\": null, \"l\": []}", NULL);
  pai__node list = pai__tree_look(t, 0, "l");

  assert_string_equal(pai__tree_look_text(t, 0, "s", "-"), "x");
  assert_string_equal(pai__tree_look_text(t, 0, "e", "-"), "");
  assert_string_equal(pai__tree_look_text(t, 0, "n", "-"), "-");
  assert_null(pai__tree_look_text(t, 0, "none", NULL));
  assert_int_equal(pai__tree_look_int(t, 0, "n"), 7);
  assert_int_equal(pai__tree_look_int(t, 0, "s"), 0);
  assert_int_equal(pai__tree_look(t, 0, "z"), PAI__NO_NODE);
  assert_true(pai__tree_is(t, list, PAI__SEQUENCE));
  assert_false(pai__tree_is(t, list, PAI__MAPPING));
  /* What is no mapping, or nothing, has no members. */
  assert_int_equal(pai__tree_look(t, list, "s"), PAI__NO_NODE);
  assert_int_equal(pai__tree_look(t, PAI__NO_NODE, "s"), PAI__NO_NODE);
  assert_false(pai__tree_is(t, PAI__NO_NODE, PAI__NULL));
  assert_string_equal(pai__tree_text(t, PAI__NO_NODE, "-"), "-");
  pai__tree_free(t);
}

TEST(last_duplicate_counts_where_asked)
{
  pai__json_options opts = { .flags = PAI__JSON_DUPLICATES };
  pai__tree *t = test_json_parse("{\"a\":1,\"b\":2,\"a\":3}", &opts);

  test_shows(t, "{a: 3, b: 2}");
  assert_int_equal(pai__tree_int(t, pai__tree_get(t, 0, "a")), 3);
  pai__tree_free(t);
}

TEST(whole_numbers_are_recognized)
{
  pai__tree *t = test_json_parse("[2, 2.0, 1e3, 1.5, 1e300, \"2\", "
                                 "-9223372036854775808, 9223372036854775808]",
                                 NULL);
  static const int64_t want[] = { 2, 2, 1000, 0, 0, 0, INT64_MIN, 0 };
  static const bool is[] = {
    true, true, true, false, false, false, true, false
  };
  pai__tree_walk w = pai__tree_iter(t, 0);
  int64_t v;

  for (size_t i = 0; i < PAI__LEN(want); i++) {
    assert_int_equal(pai__tree_whole(t, pai__tree_next(&w), &v), is[i]);
    if (is[i])
      assert_int_equal(v, want[i]);
  }
  pai__tree_free(t);
}

/* --- memory ------------------------------------------------------------- */

TEST_FAULTS(trees_survive_failing_memory)
{
  pai__tree *t = large(200, alloc);

  if (t == NULL)
    return PAI_ENOMEM;
  test_check_tree(t);
  pai__tree_free(t);
  return PAI_OK;
}

/* Peak memory: at most 64 bytes a node, and little for ordinary texts. */
TEST(memory_is_bounded)
{
  test_tally tally;
  pai__json_options opts = { .alloc = &tally.alloc };
  pai__tree *t;
  pai__buf b = test_buf();

  pai__buf_char(&b, '[');
  for (int i = 0; i < 300000; i++)
    pai__buf_str(&b, "1,");
  pai__buf_str(&b, "1]");
  test_tally_init(&tally);
  assert_ok(pai__json_parse(&t, b.data, b.len, &opts, NULL));
  assert_in_range(tally.peak, 1, t->count * 64);
  pai__tree_free(t);
  assert_int_equal(tally.live, 0);
  pai__buf_clear(&b);
  for (int i = 0; i < 20000; i++)
    pai__buf_printf(&b, "%s{\"name\": \"job_%d\", \"gpus\": %d}\n",
                    i == 0 ? "[" : ",", i, i % 8);
  pai__buf_char(&b, ']');
  test_tally_init(&tally);
  assert_ok(pai__json_parse(&t, b.data, b.len, &opts, NULL));
  assert_in_range(tally.peak, 1, b.len * 12 + 256 * 1024);
  pai__tree_free(t);
  pai__buf_dispose(&b);
}
