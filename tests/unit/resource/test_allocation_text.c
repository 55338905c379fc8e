/* test_allocation_text.c - allocation sets as text and as JSON */
#include "resource/sets.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

static void texts_are_read_and_written(void **state)
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

  (void)state;
  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    pai_allocation *set = test_set(cases[i][0]);

    test_set_is(set, cases[i][cases[i][1] != NULL ? 1 : 0]);
    pai_allocation_free(set);
  }
}

static void bad_texts_are_told(void **state)
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

  (void)state;
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

static void json_is_written(void **state)
{
  pai_allocation *set =
    test_set("node 3: gpu 0-3,7 cpu 0-31 mem 64G port 15000;"
             "node 7: gpu 0");

  (void)state;
  test_set_written(
    set, pai_allocation_write_json,
    "{\"nodes\":[{\"node\":3,\"gpu\":\"0-3,7\",\"cpu\":\"0-31\","
    "\"memory\":68719476736,\"port\":\"15000\"},"
    "{\"node\":7,\"gpu\":\"0\"}]}");
  pai_allocation_clear(set);
  test_set_written(set, pai_allocation_write_json, "{\"nodes\":[]}");
  pai_allocation_free(set);
}

static int refuse(void *user_data, const char *bytes, size_t len)
{
  (void)bytes;
  (void)len;
  return --*(int *)user_data < 0 ? PAI_EUSER : 7;
}

/* Long texts come in pieces, and the writer ends where it is told to. */
static void writers_can_be_stopped(void **state)
{
  static const test_set_writer fns[] = { pai_allocation_write,
                                         pai_allocation_write_json };
  pai_allocation *set = test_set("");

  (void)state;
  for (uint32_t node = 0; node < 3000; node++)
    assert_int_equal(
      pai_allocation_add(set, node, PAI_ALLOCATION_GPU, 0, 7, NULL), 0);
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

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(texts_are_read_and_written),
    cmocka_unit_test(bad_texts_are_told),
    cmocka_unit_test(json_is_written),
    cmocka_unit_test(writers_can_be_stopped),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
