/* Which CPUs a task is given, of those that are free. */
#include "made.h"

#include "resource/cpus.h"

static pai__cpus set_of(const char *list)
{
  pai__cpus cpus = { { 0 } };
  pai__bits_fault fault;
  size_t n;

  assert_int_equal(pai__bits_read_list(cpus.at, &n, PAI__MAX_CPUS, list,
                                       strlen(list), &fault),
                   PAI_OK);
  return cpus;
}

/* "" for nothing chosen; and the nodes that they are next to. */
static void expect(const pai_topology *t, uint64_t gpus, const char *free,
                   uint32_t n, const char *cpus, const char *nodes)
{
  pai__cpus from = set_of(free), got;
  pai__buf text, near;

  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_init(&near, &pai__libc_alloc);
  if (pai__cpus_choose(&got, t, gpus, &from, n)) {
    pai__bits_write_list(&text, got.at, PAI__LEN(got.at));
    pai__cpus_nodes(&near, t, &got);
  }
  if (strcmp(pai__buf_text(&text), cpus) != 0 ||
      strcmp(pai__buf_text(&near), nodes) != 0)
    fail_msg("%u of %s: %s instead of %s, nodes %s", n, free,
             pai__buf_text(&text), cpus, pai__buf_text(&near));
  pai__buf_dispose(&text);
  pai__buf_dispose(&near);
}

static void next_to_gpus(void **state)
{
  pai_topology *t = test_machine("p(ncc h(b(gg))) p(ncc h(b(g)))");

  (void)state;
  expect(t, 1, "0-7", 2, "0-1", "0");
  expect(t, 4, "0-7", 2, "4-5", "1");
  expect(t, 4, "0-7", 4, "4-7", "1");
  expect(t, 4, "0-7", 5, "0,4-7", "0-1"); /* more than are there */
  expect(t, 4, "0-5", 2, "4-5", "1");
  expect(t, 4, "0-3", 2, "0-1", "0");
  expect(t, 5, "0-7", 4, "0-1,4-5", "0-1"); /* as many for each */
  expect(t, 1u << 9, "0-7", 2, "0-1", "0"); /* nobody knows that one */
  pai_topology_unref(t);
}

static void whole_cores(void **state)
{
  pai_topology *t = test_machine("p(ncc) p(ncc)");

  (void)state;
  expect(t, 0, "0-7", 2, "0-1", "0");
  expect(t, 0, "1-3", 2, "2-3", "0");
  expect(t, 0, "0-1,3", 1, "3", "0"); /* of a core that is begun */
  expect(t, 0, "1-3", 3, "1-3", "0");
  expect(t, 0, "1,3", 2, "1,3", "0");
  expect(t, 0, "1,3-7", 4, "4-7", "1"); /* of one node */
  expect(t, 0, "0-5", 2, "4-5", "1");   /* that has hardly more */
  expect(t, 0, "0-2,4-6", 4, "0-1,4-5", "0-1");
  pai_topology_unref(t);
}

static void odd_machines(void **state)
{
  pai_topology *t = test_machine("p(ncc)");

  (void)state;
  expect(NULL, 1, "3,9-11", 3, "3,9-10", "");
  expect(NULL, 0, "3", 2, "", "");
  expect(t, 0, "3,900", 2, "3,900", ""); /* more than the topology knows */
  pai_topology_unref(t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(next_to_gpus),
    cmocka_unit_test(whole_cores),
    cmocka_unit_test(odd_machines),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
