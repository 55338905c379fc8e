/* A task in a control group of the machine's own, where one can be made. */
#define _GNU_SOURCE
#include "cases.h"

#include "backend/local/order.h"
#include "backend/local/posix_launch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VERSION_2 = 0x63677270 };

/* A new group of version 2; false: none can be made here. */
static bool make_group(char *dir, size_t size)
{
  static const char *const mounts[] = { "/sys/fs/cgroup",
                                        "/sys/fs/cgroup/unified" };
  struct statfs info;

  for (size_t i = 0; i < PAI__LEN(mounts); i++) {
    (void)snprintf(dir, size, "%s/openpai-test-%d", mounts[i], (int)getpid());
    if (statfs(mounts[i], &info) == 0 && info.f_type == VERSION_2 &&
        mkdir(dir, 0700) == 0)
      return true;
  }
  return false;
}

static void read_out(char *text, size_t size, const char *dir,
                     const char *name)
{
  char path[256];
  ssize_t n;
  int fd;

  (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
  fd = open(path, O_RDONLY);
  n = fd >= 0 ? read(fd, text, size - 1) : 0;
  text[n > 0 ? n : 0] = '\0';
  if (fd >= 0)
    (void)close(fd);
  (void)unlink(path);
}

/* Runs one whose order names these groups; what it, and what its supervisor
 * said. */
static void run(const char *const *procs, const char *const *groups, char *out,
                char *runtime, size_t size)
{
  static const char *const argv[] = { "/bin/bash", "/dev/fd/3", NULL };
  static const char *const env[] = { NULL };
  static const char *const files[] = { "status", "streams", "times" };
  pai__backend_order order = { .argv = argv,
                               .env = env,
                               .procs = procs,
                               .groups = groups,
                               .script =
                                 "while read -r x; do echo \"$x\"; done "
                                 "</proc/self/cgroup\n" };
  char dir[] = "/tmp/openpai-XXXXXX";
  char *program;
  pai__buf b = test_buf();
  int pid;

  assert_non_null(mkdtemp(dir));
  assert_ok(pai__order_write(&b, &order));
  assert_ok(pai__local_find_program(&program, NULL, &pai__libc_alloc, NULL));
  assert_ok(pai__local_spawn(&pid, program, dir, false, NULL, NULL, b.data,
                             b.len, NULL));
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  read_out(out, size, dir, "all");
  read_out(runtime, size, dir, "runtime");
  for (size_t i = 0; i < PAI__LEN(files); i++)
    read_out((char[2]){ 0 }, 2, dir, files[i]);
  assert_int_equal(rmdir(dir), 0);
  pai__strfree(&pai__libc_alloc, program);
  pai__buf_dispose(&b);
}

/* It is in it when it begins, and the group goes with it. */
TEST(a_task_begins_in_its_group)
{
  char dir[128], procs[160], out[4096], runtime[4096];
  const char *const list[] = { procs, NULL }, *const groups[] = { dir, NULL };

  if (!make_group(dir, sizeof(dir))) {
    print_message("skipped: no control group can be made here\n");
    skip();
  }
  (void)snprintf(procs, sizeof(procs), "%s/cgroup.procs", dir);
  run(list, groups, out, runtime, sizeof(out));
  assert_has(out, "0::/");
  assert_has(out, strrchr(dir, '/'));
  assert_string_equal(runtime, "");
  assert_int_equal(access(dir, F_OK), -1);
}

/* No group is there: it starts, and its log says so. */
TEST(a_group_that_is_not_there)
{
  static const char *const list[] = { "/nowhere/cgroup.procs", NULL };
  char out[4096], runtime[4096];

  run(list, NULL, out, runtime, sizeof(out));
  assert_true(out[0] != '\0');
  assert_string_equal(runtime, "no limit by control group: /nowhere/"
                               "cgroup.procs: No such file or directory\n");
}
