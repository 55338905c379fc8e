/* Whether memory was short while a task ran, from files as the kernel has
 * them. */
#include "cases.h"
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

  if (make_tree(state) != 0)
    return -1;
  for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
    make(folders[i], NULL);
  return 0;
}

TEST(nothing_is_known)
{
  short_note(root);
  assert_false(short_since(root));
}

TEST(the_machine_counts)
{
  make("/proc/vmstat",
       "nr_free_pages 12\nmemcg_oom_kill 9\noom_kill 3\nx 1\n");
  short_note(root);
  assert_false(short_since(root));
  make("/proc/vmstat", "nr_free_pages 12\nmemcg_oom_kill 99\noom_kill 3\n");
  assert_false(short_since(root));
  make("/proc/vmstat", "nr_free_pages 12\nmemcg_oom_kill 9\noom_kill 4\n");
  assert_true(short_since(root));
}

TEST(its_group_counts)
{
  groups("0::/a.slice\n");
  make("/sys/fs/cgroup/a.slice/memory.events", "oom 0\noom_kill 0\n");
  short_note(root);
  assert_false(short_since(root));
  make("/sys/fs/cgroup/a.slice/memory.events", "oom 7\noom_kill 1\n");
  assert_true(short_since(root));
}

TEST(a_group_of_version_1_counts)
{
  groups("9:name=systemd:/\n4:memory:/a\n0::/\n");
  make("/sys/fs/cgroup/memory/a/memory.oom_control",
       "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  short_note(root);
  assert_false(short_since(root));
  make("/sys/fs/cgroup/memory/a/memory.oom_control",
       "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n");
  assert_true(short_since(root));
}

TEST(memory_under_pressure)
{
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

TEST_AROUND_EACH(begin, remove_tree);
