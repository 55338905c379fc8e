/* The JSON writer: golden bytes, misuse, sinks, round trips. */
#include "documents.h"

#include "json/node.h"
#include "json/writer.h"

#include <math.h>
#include <stdio.h>

/* A small document with everything in it. */
static void write_sample(pai__json_writer *w)
{
  pai__json_begin_object(w);
  pai__json_key(w, "text", 4);
  pai__json_text(w, "a\"\\\b\f\n\r\t\x01\x7fé\xff\xf0\x9f\x98/", 17);
  pai__json_key(w, "numbers", 7);
  pai__json_begin_array(w);
  pai__json_int(w, INT64_MIN);
  pai__json_double(w, 0.1);
  pai__json_double(w, 1e21);
  pai__json_double(w, 3);
  pai__json_double(w, (double)INFINITY);
  pai__json_double(w, (double)NAN);
  pai__json_end_array(w);
  pai__json_key(w, "", 0);
  pai__json_begin_object(w);
  pai__json_end_object(w);
  pai__json_key(w, "empty", 5);
  pai__json_begin_array(w);
  pai__json_end_array(w);
  pai__json_key(w, "words", 5);
  pai__json_begin_array(w);
  pai__json_bool(w, true);
  pai__json_bool(w, false);
  pai__json_null(w);
  pai__json_end_array(w);
  pai__json_end_object(w);
}

static const char compact[] =
  "{\"text\":\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\x7fé\xef\xbf\xbd\xef\xbf\xbd/"
  "\","
  "\"numbers\":[-9223372036854775808,0.1,1e+21,3,null,null],"
  "\"\":{},\"empty\":[],\"words\":[true,false,null]}";

static const char pretty[] =
  "{\n"
  "  \"text\": "
  "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\x7fé\xef\xbf\xbd\xef\xbf\xbd/\","
  "\n"
  "  \"numbers\": [\n"
  "    -9223372036854775808,\n"
  "    0.1,\n"
  "    1e+21,\n"
  "    3,\n"
  "    null,\n"
  "    null\n"
  "  ],\n"
  "  \"\": {},\n"
  "  \"empty\": [],\n"
  "  \"words\": [\n"
  "    true,\n"
  "    false,\n"
  "    null\n"
  "  ]\n"
  "}\n";

static void bytes_are_as_promised(void **state)
{
  (void)state;
  for (int p = 0; p <= 1; p++) {
    pai__json_writer w;
    pai__buf b;

    pai__buf_init(&b, &pai__libc_alloc);
    pai__json_writer_init(&w, &b, p != 0);
    write_sample(&w);
    assert_int_equal(pai__json_finish(&w), PAI_OK);
    assert_string_equal(pai__buf_text(&b), p != 0 ? pretty : compact);
    pai__buf_dispose(&b);
  }
}

/* Each letter is a call: o and a begin, O and A end, k key, v value. */
static int drive(const char *calls)
{
  pai__json_writer w;
  pai__buf b;
  int rc;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__json_writer_init(&w, &b, false);
  for (; *calls != '\0'; calls++) {
    switch (*calls) {
    case 'o': pai__json_begin_object(&w); break;
    case 'O': pai__json_end_object(&w); break;
    case 'a': pai__json_begin_array(&w); break;
    case 'A': pai__json_end_array(&w); break;
    case 'k': pai__json_key(&w, "k", 1); break;
    default: pai__json_int(&w, 1); break;
    }
  }
  rc = pai__json_finish(&w);
  pai__buf_dispose(&b);
  return rc;
}

static void misuse_is_refused(void **state)
{
  static const char *const wrong[] = { "",    "o",   "a",    "ok",  "okO",
                                       "ov",  "k",   "ak",   "akv", "okk",
                                       "A",   "O",   "oA",   "aO",  "vv",
                                       "aAv", "aAA", "okvv", "vk",  "okvOO" };
  static const char *const right[] = { "v", "aA", "oO", "okvO", "aavAoOvA" };
  char deep[2 * PAI__NEST_MAX + 3];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(wrong); i++)
    if (drive(wrong[i]) != PAI_EINVAL)
      fail_msg("\"%s\" was accepted", wrong[i]);
  for (size_t i = 0; i < PAI__LEN(right); i++)
    if (drive(right[i]) != PAI_OK)
      fail_msg("\"%s\" was refused", right[i]);
  memset(deep, 'a', sizeof(deep));
  memset(deep + PAI__NEST_MAX, 'A', PAI__NEST_MAX);
  deep[2 * PAI__NEST_MAX] = '\0';
  assert_int_equal(drive(deep), PAI_OK);
  memset(deep, 'a', PAI__NEST_MAX + 1);
  assert_int_equal(drive(deep), PAI_ELIMIT);
}

typedef struct sink {
  pai__buf all;
  size_t fail_after, calls;
} sink;

static int take(void *user_data, const char *bytes, size_t len)
{
  sink *s = user_data;

  if (s->fail_after != 0 && ++s->calls >= s->fail_after)
    return PAI_ECANCELED;
  pai__buf_add(&s->all, bytes, len);
  return PAI_OK;
}

static int write_to(sink *s, const pai_alloc *alloc, size_t *peak)
{
  pai__json_writer w;
  pai__buf b;
  int rc;

  pai__buf_init(&b, alloc);
  pai__json_writer_init(&w, &b, false);
  pai__json_writer_to(&w, take, s);
  pai__json_begin_array(&w);
  for (int i = 0; i < 20000; i++)
    pai__json_int(&w, i);
  pai__json_end_array(&w);
  rc = pai__json_finish(&w);
  *peak = b.cap;
  pai__buf_dispose(&b);
  return rc;
}

static void sinks_get_all_of_it_in_pieces(void **state)
{
  sink s = { .fail_after = 0 };
  pai__tree *t;
  size_t peak;

  (void)state;
  pai__buf_init(&s.all, &pai__libc_alloc);
  assert_int_equal(write_to(&s, &pai__libc_alloc, &peak), PAI_OK);
  assert_in_range(peak, 1, 20000);
  assert_int_equal(pai__json_parse(&t, s.all.data, s.all.len, NULL, NULL),
                   PAI_OK);
  assert_int_equal(pai__tree_count(t, 0), 20000);
  pai__tree_free(t);
  s.fail_after = 2;
  assert_int_equal(write_to(&s, &pai__libc_alloc, &peak), PAI_ECANCELED);
  pai__buf_dispose(&s.all);
}

static void what_is_written_is_read_back(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 4000; seed++) {
    pai__json_writer w;
    pai_error *err = NULL;
    pai__buf b, again;
    pai__tree *t;

    pai__buf_init(&b, &pai__libc_alloc);
    pai__buf_init(&again, &pai__libc_alloc);
    pai__json_writer_init(&w, &b, seed % 2 != 0);
    test_write_random(&test_json_table, &w, seed);
    assert_int_equal(pai__json_finish(&w), PAI_OK);
    if (pai__json_parse(&t, b.data, b.len, NULL, &err) < 0)
      fail_msg("seed %llu: %s\n%s", (unsigned long long)seed,
               pai_error_message(err), b.data);
    test_check_tree(t);
    pai__json_writer_init(&w, &again, seed % 2 != 0);
    if (seed % 4 < 2)
      test_write_tree(&test_json_table, &w, t, 0);
    else
      pai__json_node(&w, t, 0);
    assert_int_equal(pai__json_finish(&w), PAI_OK);
    assert_string_equal(pai__buf_text(&again), pai__buf_text(&b));
    pai__tree_free(t);
    pai__buf_dispose(&again);
    pai__buf_dispose(&b);
  }
}

static int write_body(const pai_alloc *alloc, void *user_data)
{
  sink s = { .fail_after = 0 };
  pai__json_writer w;
  pai__buf b;
  int rc;

  pai__buf_init(&s.all, alloc);
  pai__buf_init(&b, alloc);
  pai__json_writer_init(&w, &b, true);
  if (user_data != NULL)
    pai__json_writer_to(&w, take, &s);
  write_sample(&w);
  rc = pai__json_finish(&w);
  if (user_data != NULL && rc == PAI_OK && !pai__buf_ok(&s.all))
    rc = PAI_ENOMEM;
  if (rc == PAI_OK)
    assert_string_equal(pai__buf_text(user_data != NULL ? &s.all : &b),
                        pretty);
  pai__buf_dispose(&b);
  pai__buf_dispose(&s.all);
  return rc;
}

static void writer_survives_failing_memory(void **state)
{
  int yes;

  (void)state;
  test_faults(write_body, NULL);
  test_faults(write_body, &yes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(bytes_are_as_promised),
    cmocka_unit_test(misuse_is_refused),
    cmocka_unit_test(sinks_get_all_of_it_in_pieces),
    cmocka_unit_test(what_is_written_is_read_back),
    cmocka_unit_test(writer_survives_failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
