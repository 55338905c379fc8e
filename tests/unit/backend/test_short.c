/* Whether memory was short while a task ran, from files as the kernel has
 * them. */
#include "backend/tree.h"

#include "task/task.h"

#include <stdio.h>
#include <stdlib.h>

static void groups(const char *text)
{
  make("/proc/self/cgroup", text);
}

static int begin(void **state)
{
  static const char *const folders[] = { "/proc",
                                         "/proc/self",
                                         "/proc/pressure",
                                         "/sys",
                                         "/sys/fs",
                                         "/sys/fs/cgroup",
                                         "/sys/fs/cgroup/a.slice",
                                         "/sys/fs/cgroup/memory",
                                         "/sys/fs/cgroup/memory/a" };

  (void)state;
  (void)strcpy(root, "/tmp/openpai-short-XXXXXX");
  if (mkdtemp(root) == NULL)
    return -1;
  for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
    make(folders[i], NULL);
  return 0;
}

static int end(void **state)
{
  char command[128];

  (void)state;
  (void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
  return system(command);
}

static void nothing_is_known(void **state)
{
  (void)state;
  short_note(root);
  assert_false(short_since(root));
}

static void the_machine_counts(void **state)
{
  (void)state;
  make("/proc/vmstat",
       "nr_free_pages 12\nmemcg_oom_kill 9\noom_kill 3\nx 1\n");
  short_note(root);
  assert_false(short_since(root));
  make("/proc/vmstat", "nr_free_pages 12\nmemcg_oom_kill 99\noom_kill 3\n");
  assert_false(short_since(root));
  make("/proc/vmstat", "nr_free_pages 12\nmemcg_oom_kill 9\noom_kill 4\n");
  assert_true(short_since(root));
}

static void its_group_counts(void **state)
{
  (void)state;
  groups("0::/a.slice\n");
  make("/sys/fs/cgroup/a.slice/memory.events", "oom 0\noom_kill 0\n");
  short_note(root);
  assert_false(short_since(root));
  make("/sys/fs/cgroup/a.slice/memory.events", "oom 7\noom_kill 1\n");
  assert_true(short_since(root));
}

static void a_group_of_version_1_counts(void **state)
{
  (void)state;
  groups("9:name=systemd:/\n4:memory:/a\n0::/\n");
  make("/sys/fs/cgroup/memory/a/memory.oom_control",
       "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  short_note(root);
  assert_false(short_since(root));
  make("/sys/fs/cgroup/memory/a/memory.oom_control",
       "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n");
  assert_true(short_since(root));
}

static void memory_under_pressure(void **state)
{
  (void)state;
  short_note(root);
  make("/proc/pressure/memory",
       "some avg10=80.00 avg60=0.00 avg300=0.00 total=0\n"
       "full avg10=9.99 avg60=0.00 avg300=0.00 total=0\n");
  assert_false(short_since(root));
  make("/proc/pressure/memory",
       "some avg10=80.00 avg60=0.00 avg300=0.00 total=0\n"
       "full avg10=10.00 avg60=0.00 avg300=0.00 total=0\n");
  assert_true(short_since(root));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(nothing_is_known, begin, end),
    cmocka_unit_test_setup_teardown(the_machine_counts, begin, end),
    cmocka_unit_test_setup_teardown(its_group_counts, begin, end),
    cmocka_unit_test_setup_teardown(a_group_of_version_1_counts, begin, end),
    cmocka_unit_test_setup_teardown(memory_under_pressure, begin, end),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
