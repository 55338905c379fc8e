/* Control groups, on a tree of files that is made for it. */
#include "backend/tree.h"

#include "backend/local/groups.h"

#include <stdio.h>
#include <string.h>

static const pai_launch_plan limited = { .struct_size = sizeof(limited),
                                         .dir = "/jobs/1",
                                         .cpus = 2,
                                         .memory = 1 << 20,
                                         .cpu_list = "1-2" };

static const char *told(const pai__groups *g)
{
  static char text[256];
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  pai__groups_tell(g, &b);
  (void)snprintf(text, sizeof(text), "%s", pai__buf_text(&b));
  pai__buf_dispose(&b);
  return text;
}

static void version_2(void **state)
{
  pai__groups g;
  pai__group group;
  pai__buf failed;

  (void)state;
  pai__buf_init(&failed, &pai__libc_alloc);
  make("/cgroup.controllers", "cpu memory cpuset\n");
  make("/user", NULL);
  make("/user/mine", NULL);
  make("/user/mine/cgroup.procs", "77\n");
  make("/user/mine/cgroup.subtree_control", "memory cpu pids\n");
  assert_int_equal(pai__groups_find(&g, &pai__libc_alloc, root,
                                    "3:cpu:/no\n0::/user/mine\n", 77),
                   PAI_OK);
  assert_int_equal(g.version, 2);
  assert_null(g.base[PAI__GROUPS_CPUSET]);
  assert_string_equal(told(&g),
                      "control groups, version 2, hold memory, cpu, pids");
  pai__group_init(&group, &pai__libc_alloc);
  assert_int_equal(pai__group_make(&group, &g, &limited, &failed), PAI_OK);
  assert_int_equal(failed.len, 0);
  assert_int_equal(group.dirs.len, 1);
  assert_int_equal(group.procs.len, 1);
  assert_string_equal(
    content("/user/mine/openpai-1c8e0c019d01e42e/memory.max"), "1048576");
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
static void version_2_delegated(void **state)
{
  pai__groups g;

  (void)state;
  make("/cgroup.controllers", "cpu memory cpuset\n");
  make("/mine", NULL);
  make("/mine/cgroup.type", "domain\n");
  make("/mine/cgroup.procs", "77\n");
  make("/mine/cgroup.subtree_control", "");
  assert_int_equal(
    pai__groups_find(&g, &pai__libc_alloc, root, "0::/mine\n", 77), PAI_OK);
  assert_string_equal(content("/mine/openpai-self/cgroup.procs"), "77");
  /* A real one has all then; a file has what was written last, over the rest
   * of what was before. */
  assert_memory_equal(content("/mine/cgroup.subtree_control"), "+pids", 5);
  pai__groups_dispose(&g, &pai__libc_alloc);
  /* The next platform finds itself in that leaf. */
  make("/mine/cgroup.subtree_control", "memory cpu cpuset");
  assert_int_equal(pai__groups_find(&g, &pai__libc_alloc, root,
                                    "0::/mine/openpai-self\n", 78),
                   PAI_OK);
  assert_string_equal(g.base[PAI__GROUPS_MEMORY] + strlen(root), "/mine");
  pai__groups_dispose(&g, &pai__libc_alloc);
  /* Among others it touches nothing. */
  make("/shared", NULL);
  make("/shared/cgroup.type", "domain\n");
  make("/shared/cgroup.procs", "1\n77\n");
  make("/shared/cgroup.subtree_control", "");
  assert_int_equal(
    pai__groups_find(&g, &pai__libc_alloc, root, "0::/shared\n", 77), PAI_OK);
  assert_int_equal(g.version, 0);
  assert_string_equal(content("/shared/openpai-self/cgroup.procs"), "missing");
  assert_string_equal(told(&g),
                      "no control groups, for other processes are in that of "
                      "this one: CPUs by affinity, memory by looking at it");
}

/* The first group of all may have processes: nobody is moved. */
static void version_2_first(void **state)
{
  pai__groups g;

  (void)state;
  make("/cgroup.controllers", "cpu memory cpuset\n");
  make("/cgroup.procs", "1\n77\n");
  make("/cgroup.subtree_control", "");
  assert_int_equal(pai__groups_find(&g, &pai__libc_alloc, root, "0::/\n", 77),
                   PAI_OK);
  assert_string_equal(content("/openpai-self/cgroup.procs"), "missing");
  assert_memory_equal(content("/cgroup.subtree_control"), "+pids", 5);
  pai__groups_dispose(&g, &pai__libc_alloc);
}

static void version_1(void **state)
{
  pai__groups g;
  pai__group group;
  pai__buf failed;

  (void)state;
  pai__buf_init(&failed, &pai__libc_alloc);
  make("/memory", NULL);
  make("/memory/a", NULL);
  make("/cpu,cpuacct", NULL);
  make("/cpuset", NULL);
  make("/cpuset/cpuset.mems", "0-1\n");
  assert_int_equal(
    pai__groups_find(&g, &pai__libc_alloc, root,
                     "9:memory:/a\n4:cpuset:/\n1:cpu,cpuacct:/\n0::/\n", 77),
    PAI_OK);
  assert_int_equal(g.version, 1);
  pai__group_init(&group, &pai__libc_alloc);
  assert_int_equal(pai__group_make(&group, &g, &limited, &failed), PAI_OK);
  assert_int_equal(failed.len, 0);
  assert_int_equal(group.dirs.len, 3);
  assert_string_equal(
    content("/memory/a/openpai-1c8e0c019d01e42e/memory.limit_in_bytes"),
    "1048576");
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
  assert_int_equal(pai__groups_find(&g, &pai__libc_alloc, root,
                                    "9:memory:/b\n4:cpu:/\nodd\n:\n", 77),
                   PAI_OK);
  assert_int_equal(g.version, 0);
  pai__buf_dispose(&failed);
}

/* What bounds all tasks of an owner is above their groups: with version 1 of
 * those that count processes. */
static void owners(void **state)
{
  pai_launch_plan plan = limited;
  pai__groups g;
  pai__group group;
  pai__buf failed;

  (void)state;
  plan.owner = "/root~ann";
  plan.owner_processes = 50;
  plan.processes = 40;
  pai__buf_init(&failed, &pai__libc_alloc);
  make("/pids", NULL);
  make("/memory", NULL);
  assert_int_equal(
    pai__groups_find(&g, &pai__libc_alloc, root, "9:memory:/\n8:pids:/\n", 77),
    PAI_OK);
  for (int version = 1; version <= 2; version++) {
    const char *task = "openpai-1c8e0c019d01e42e";
    char path[256], above[128];

    pai__group_init(&group, &pai__libc_alloc);
    assert_int_equal(pai__group_make(&group, &g, &plan, &failed), PAI_OK);
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
        "1048576");
      make("/cgroup.controllers", "memory pids\n");
      make("/cgroup.subtree_control", "memory pids\n");
      pai__groups_dispose(&g, &pai__libc_alloc);
      assert_int_equal(
        pai__groups_find(&g, &pai__libc_alloc, root, "0::/\n", 77), PAI_OK);
      assert_int_equal(g.version, 2);
    } else {
      assert_int_equal(group.dirs.len, 1);
      (void)snprintf(path, sizeof(path), "%s/%s/memory.max", above, task);
      assert_string_equal(content(path), "1048576");
      (void)snprintf(path, sizeof(path), "%s/cgroup.subtree_control", above);
      assert_memory_equal(content(path), "+pids", 5);
    }
    pai__group_dispose(&group);
  }
  /* Who has no limit has no such group. */
  plan.owner_processes = 0;
  pai__group_init(&group, &pai__libc_alloc);
  assert_int_equal(pai__group_make(&group, &g, &plan, &failed), PAI_OK);
  assert_null(group.above);
  pai__group_dispose(&group);
  pai__groups_dispose(&g, &pai__libc_alloc);
  pai__buf_dispose(&failed);
}

/* What cannot be made is said, and the task starts all the same. */
static void a_group_that_fails_is_said(void **state)
{
  pai__groups g;
  pai__group group;
  pai__buf failed;

  (void)state;
  pai__buf_init(&failed, &pai__libc_alloc);
  make("/memory", NULL);
  make("/cpu", NULL);
  make("/memory/openpai-1c8e0c019d01e42e", ""); /* in the way */
  assert_int_equal(
    pai__groups_find(&g, &pai__libc_alloc, root, "9:memory:/\n1:cpu:/\n", 77),
    PAI_OK);
  pai__group_init(&group, &pai__libc_alloc);
  assert_int_equal(pai__group_make(&group, &g, &limited, &failed), PAI_OK);
  assert_string_equal(pai__buf_text(&failed), "memory: Not a directory");
  assert_null(group.oom_file);
  assert_int_equal(group.dirs.len, 1);
  assert_int_equal(group.procs.len, 1);
  pai__group_dispose(&group);
  pai__groups_dispose(&g, &pai__libc_alloc);
  pai__buf_dispose(&failed);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(version_2, make_tree, remove_tree),
    cmocka_unit_test_setup_teardown(version_2_delegated, make_tree,
                                    remove_tree),
    cmocka_unit_test_setup_teardown(version_2_first, make_tree, remove_tree),
    cmocka_unit_test_setup_teardown(version_1, make_tree, remove_tree),
    cmocka_unit_test_setup_teardown(owners, make_tree, remove_tree),
    cmocka_unit_test_setup_teardown(a_group_that_fails_is_said, make_tree,
                                    remove_tree),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
