/* Control groups, on a tree of files that is made for it. */
#include "cases.h"
#include "backend/tree.h"

#include "backend/local/groups.h"

#include <stdio.h>
#include <string.h>

static const pai_launch_plan limited = { .struct_size = sizeof(limited),
                                         .dir = "/jobs/1",
                                         .cpus = 2,
                                         .memory = 100 << 20,
                                         .cpu_list = "1-2" };

static const char *told(const pai__backend_groups *g)
{
  static char text[256];
  pai__buf b = test_buf();

  pai__groups_tell(g, &b);
  (void)snprintf(text, sizeof(text), "%s", pai__buf_text(&b));
  pai__buf_dispose(&b);
  return text;
}

/* What a task is held to where it asks for so many thousandths of a CPU. */
static void expect_quota(const char *base, const char *file, int version,
                         uint64_t milli_cpus, const char *quota)
{
  pai_launch_plan plan = limited;
  char path[300], groups[300];
  pai__backend_groups g;
  pai__backend_group group;
  pai__buf failed = test_buf();

  plan.cpus = (uint32_t)((milli_cpus + 999) / 1000);
  plan.milli_cpus = milli_cpus;
  plan.cpu_list = NULL;
  (void)snprintf(groups, sizeof(groups), "%s:/%s\n",
                 version == 2 ? "0:" : "1:cpu,cpuacct", base);
  assert_ok(pai__groups_find(&g, &pai__libc_alloc, root, groups, 77));
  assert_int_equal(g.version, version);
  pai__group_init(&group, &pai__libc_alloc);
  assert_ok(pai__group_make(&group, &g, &plan, &failed));
  (void)snprintf(path, sizeof(path), "%s/openpai-1c8e0c019d01e42e/%s",
                 version == 2 ? "/half" : "/cpu,cpuacct", file);
  assert_string_equal(content(path), quota);
  (void)snprintf(path, sizeof(path), "%s%s/openpai-1c8e0c019d01e42e/%s", root,
                 version == 2 ? "/half" : "/cpu,cpuacct", file);
  assert_int_equal(remove(path), 0); /* the next one writes it anew */
  pai__group_dispose(&group);
  pai__groups_dispose(&g, &pai__libc_alloc);
  pai__buf_dispose(&failed);
}

TEST(parts_of_cpus)
{
  make("/cgroup.controllers", "cpu memory cpuset\n");
  make("/half", NULL);
  make("/half/cgroup.procs", "77\n");
  make("/half/cgroup.subtree_control", "memory cpu pids\n");
  expect_quota("half", "cpu.max", 2, 500, "50000 100000");
  expect_quota("half", "cpu.max", 2, 1250, "125000 100000");
  /* The kernel's least. */
  expect_quota("half", "cpu.max", 2, 1, "1000 100000");
  expect_quota("half", "cpu.max", 2, 2000, "200000 100000");
}

TEST(parts_of_cpus_of_version_1)
{
  make("/cpu,cpuacct", NULL);
  expect_quota("", "cpu.cfs_quota_us", 1, 500, "50000");
  expect_quota("", "cpu.cfs_quota_us", 1, 1, "1000");
}

TEST(version_2)
{
  pai__backend_groups g;
  pai__backend_group group;
  pai__buf failed = test_buf();

  make("/cgroup.controllers", "cpu memory cpuset\n");
  make("/user", NULL);
  make("/user/mine", NULL);
  make("/user/mine/cgroup.procs", "77\n");
  make("/user/mine/cgroup.subtree_control", "memory cpu pids\n");
  assert_ok(pai__groups_find(&g, &pai__libc_alloc, root,
                             "3:cpu:/no\n0::/user/mine\n", 77));
  assert_int_equal(g.version, 2);
  assert_null(g.base[PAI__GROUPS_CPUSET]);
  assert_string_equal(told(&g),
                      "control groups, version 2, limit memory, cpu, pids");
  pai__group_init(&group, &pai__libc_alloc);
  assert_ok(pai__group_make(&group, &g, &limited, &failed));
  assert_int_equal(failed.len, 0);
  assert_int_equal(group.dirs.len, 1);
  assert_int_equal(group.procs.len, 1);
  assert_string_equal(
    content("/user/mine/openpai-1c8e0c019d01e42e/memory.max"), "104857600");
  assert_string_equal(
    content("/user/mine/openpai-1c8e0c019d01e42e/memory.oom.group"), "1");
  assert_string_equal(content("/user/mine/openpai-1c8e0c019d01e42e/cpu.max"),
                      "200000 100000");
  assert_string_equal(group.procs.at[0] + strlen(root),
                      "/user/mine/openpai-1c8e0c019d01e42e/cgroup.procs");
  assert_string_equal(group.oom_file + strlen(root),
                      "/user/mine/openpai-1c8e0c019d01e42e/memory.events");
  pai__group_dispose(&group);
  pai__groups_dispose(&g, &pai__libc_alloc);
  pai__buf_dispose(&failed);
}

/* Alone in a group that was handed to it, the process makes room below. */
TEST(version_2_delegated)
{
  pai__backend_groups g;

  make("/cgroup.controllers", "cpu memory cpuset\n");
  make("/mine", NULL);
  make("/mine/cgroup.type", "domain\n");
  make("/mine/cgroup.procs", "77\n");
  make("/mine/cgroup.subtree_control", "");
  assert_ok(pai__groups_find(&g, &pai__libc_alloc, root, "0::/mine\n", 77));
  assert_string_equal(content("/mine/openpai-self/cgroup.procs"), "77");
  /* A real one has all then; a file has what was written last, over the rest
   * of what was before. */
  assert_memory_equal(content("/mine/cgroup.subtree_control"), "+pids", 5);
  pai__groups_dispose(&g, &pai__libc_alloc);
  /* The next platform finds itself in that leaf. */
  make("/mine/cgroup.subtree_control", "memory cpu cpuset");
  assert_ok(pai__groups_find(&g, &pai__libc_alloc, root,
                             "0::/mine/openpai-self\n", 78));
  assert_string_equal(g.base[PAI__GROUPS_MEMORY] + strlen(root), "/mine");
  pai__groups_dispose(&g, &pai__libc_alloc);
  /* Among others it touches nothing. */
  make("/shared", NULL);
  make("/shared/cgroup.type", "domain\n");
  make("/shared/cgroup.procs", "1\n77\n");
  make("/shared/cgroup.subtree_control", "");
  assert_ok(pai__groups_find(&g, &pai__libc_alloc, root, "0::/shared\n", 77));
  assert_int_equal(g.version, 0);
  assert_string_equal(content("/shared/openpai-self/cgroup.procs"), "missing");
  assert_string_equal(
    told(&g),
    "no control groups, for other processes are in the control group of this "
    "process: CPUs are limited by affinity, memory by sampling");
}

/* The first group of all may have processes: nobody is moved. */
TEST(version_2_first)
{
  pai__backend_groups g;

  make("/cgroup.controllers", "cpu memory cpuset\n");
  make("/cgroup.procs", "1\n77\n");
  make("/cgroup.subtree_control", "");
  assert_ok(pai__groups_find(&g, &pai__libc_alloc, root, "0::/\n", 77));
  assert_string_equal(content("/openpai-self/cgroup.procs"), "missing");
  assert_memory_equal(content("/cgroup.subtree_control"), "+pids", 5);
  pai__groups_dispose(&g, &pai__libc_alloc);
}

/* A task that asks for next to nothing starts: its shell and its sandbox are
 * counted, too. */
TEST(a_small_limit_leaves_room_for_the_shell)
{
  static const uint64_t rows[][2] = { { 0, 0 },
                                      { 1, 16 << 20 },
                                      { 1 << 20, 16 << 20 },
                                      { 16 << 20, 16 << 20 },
                                      { 17 << 20, 17 << 20 } };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_launch_plan plan = limited;
    plan.memory = rows[i][0];
    assert_int_equal(pai__group_memory(&plan), rows[i][1]);
  }
}

TEST(version_1)
{
  pai__backend_groups g;
  pai__backend_group group;
  pai__buf failed = test_buf();

  make("/memory", NULL);
  make("/memory/a", NULL);
  make("/cpu,cpuacct", NULL);
  make("/cpuset", NULL);
  make("/cpuset/cpuset.mems", "0-1\n");
  assert_ok(
    pai__groups_find(&g, &pai__libc_alloc, root,
                     "9:memory:/a\n4:cpuset:/\n1:cpu,cpuacct:/\n0::/\n", 77));
  assert_int_equal(g.version, 1);
  pai__group_init(&group, &pai__libc_alloc);
  assert_ok(pai__group_make(&group, &g, &limited, &failed));
  assert_int_equal(failed.len, 0);
  assert_int_equal(group.dirs.len, 3);
  assert_string_equal(
    content("/memory/a/openpai-1c8e0c019d01e42e/memory.limit_in_bytes"),
    "104857600");
  assert_string_equal(
    content("/cpu,cpuacct/openpai-1c8e0c019d01e42e/cpu.cfs_quota_us"),
    "200000");
  assert_string_equal(content("/cpuset/openpai-1c8e0c019d01e42e/cpuset.mems"),
                      "0-1\n");
  assert_string_equal(content("/cpuset/openpai-1c8e0c019d01e42e/cpuset.cpus"),
                      "1-2");
  assert_int_equal(group.procs.len, 3);
  assert_string_equal(group.procs.at[0] + strlen(root),
                      "/memory/a/openpai-1c8e0c019d01e42e/tasks");
  pai__group_dispose(&group);
  pai__groups_dispose(&g, &pai__libc_alloc);
  /* Not those that this process is not in, or that are not there. */
  assert_ok(pai__groups_find(&g, &pai__libc_alloc, root,
                             "9:memory:/b\n4:cpu:/\nodd\n:\n", 77));
  assert_int_equal(g.version, 0);
  pai__buf_dispose(&failed);
}

/* What bounds all tasks of an owner is above their groups: with version 1 of
 * those that count processes. */
TEST(owners)
{
  pai_launch_plan plan = limited;
  pai__backend_groups g;
  pai__backend_group group;
  pai__buf failed = test_buf();

  plan.owner = "/root~ann";
  plan.owner_processes = 50;
  plan.processes = 40;
  make("/pids", NULL);
  make("/memory", NULL);
  assert_ok(pai__groups_find(&g, &pai__libc_alloc, root,
                             "9:memory:/\n8:pids:/\n", 77));
  for (int version = 1; version <= 2; version++) {
    const char *task = "openpai-1c8e0c019d01e42e";
    char path[256], above[128];

    pai__group_init(&group, &pai__libc_alloc);
    assert_ok(pai__group_make(&group, &g, &plan, &failed));
    assert_string_equal(pai__buf_text(&failed), "");
    assert_non_null(group.above);
    (void)snprintf(above, sizeof(above), "%s", group.above + strlen(root));
    assert_memory_equal(above, version == 1 ? "/pids/openpai-of-" : "/openpai",
                        8);
    (void)snprintf(path, sizeof(path), "%s/pids.max", above);
    assert_string_equal(content(path), "50");
    (void)snprintf(path, sizeof(path), "%s/%s/pids.max", above, task);
    assert_string_equal(content(path), "40");
    if (version == 1) {
      assert_string_equal(
        content("/memory/openpai-1c8e0c019d01e42e/memory.limit_in_bytes"),
        "104857600");
      make("/cgroup.controllers", "memory pids\n");
      make("/cgroup.subtree_control", "memory pids\n");
      pai__groups_dispose(&g, &pai__libc_alloc);
      assert_ok(pai__groups_find(&g, &pai__libc_alloc, root, "0::/\n", 77));
      assert_int_equal(g.version, 2);
    } else {
      assert_int_equal(group.dirs.len, 1);
      (void)snprintf(path, sizeof(path), "%s/%s/memory.max", above, task);
      assert_string_equal(content(path), "104857600");
      (void)snprintf(path, sizeof(path), "%s/cgroup.subtree_control", above);
      assert_memory_equal(content(path), "+pids", 5);
    }
    pai__group_dispose(&group);
  }
  /* Who has no limit has no such group. */
  plan.owner_processes = 0;
  pai__group_init(&group, &pai__libc_alloc);
  assert_ok(pai__group_make(&group, &g, &plan, &failed));
  assert_null(group.above);
  pai__group_dispose(&group);
  pai__groups_dispose(&g, &pai__libc_alloc);
  pai__buf_dispose(&failed);
}

/* What cannot be made is said, and the task starts all the same. */
TEST(a_group_that_fails_is_said)
{
  pai__backend_groups g;
  pai__backend_group group;
  pai__buf failed = test_buf();

  make("/memory", NULL);
  make("/cpu", NULL);
  make("/memory/openpai-1c8e0c019d01e42e", ""); /* in the way */
  assert_ok(
    pai__groups_find(&g, &pai__libc_alloc, root, "9:memory:/\n1:cpu:/\n", 77));
  pai__group_init(&group, &pai__libc_alloc);
  assert_ok(pai__group_make(&group, &g, &limited, &failed));
  assert_string_equal(pai__buf_text(&failed), "memory: Not a directory");
  assert_null(group.oom_file);
  assert_int_equal(group.dirs.len, 1);
  assert_int_equal(group.procs.len, 1);
  pai__group_dispose(&group);
  pai__groups_dispose(&g, &pai__libc_alloc);
  pai__buf_dispose(&failed);
}

TEST_AROUND_EACH(make_tree, remove_tree);
